#include "runtime/lapack_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace parakeet::runtime {
namespace {

// How builds of LAPACK spell a routine, and how wide their integers are: those of NumPy's and
// SciPy's wheels, older ones, and those of distributions.
struct Spelling {
  const char* prefix;
  const char* suffix;
  bool has_wide_integers;
};

constexpr Spelling kSpellings[] = {
    {"scipy_", "_64_", true}, {"", "_64_", true}, {"", "64_", true},
    {"scipy_", "_", false},   {"", "_", false},
};

// A routine that every LAPACK has, by which the spelling is found.
constexpr const char* kProbe = "dgesv";

struct LapackLibrary {
  void* handle = nullptr;
  const Spelling* spelling = nullptr;
};

const void* FindSpelled(void* handle, const Spelling& spelling, const char* name) {
  const std::string symbol = std::string(spelling.prefix) + name + spelling.suffix;
  return dlsym(handle, symbol.c_str());
}

int CopyLinalgFile(dl_phdr_info* object, size_t, void* file) {
  if (std::string_view(object->dlpi_name).find("/_umath_linalg.") == std::string_view::npos)
    return 0;
  *static_cast<std::string*>(file) = object->dlpi_name;
  return 1;
}

// A handle finds what the object's own dependencies have, so that NumPy's is asked and no other.
LapackLibrary OpenLibrary() {
  std::string file;
  dl_iterate_phdr(CopyLinalgFile, &file);
  if (file.empty()) return {};
  LapackLibrary library;
  library.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library.handle == nullptr) return {};
  for (const Spelling& spelling : kSpellings) {
    if (FindSpelled(library.handle, spelling, kProbe) == nullptr) continue;
    library.spelling = &spelling;
    return library;
  }
  return {};
}

const LapackLibrary& Lapack() {
  static const LapackLibrary library = OpenLibrary();
  return library;
}

// The arguments of one call, by reference. Where LAPACK's integers have 32 bits, scalars and arrays
// of them stand in its own width while it runs.
class Arguments {
 public:
  Arguments(const char* signature, const uint64_t* operands, bool is_wide) : is_wide_(is_wide) {
    const size_t count = std::strlen(signature);
    words_.reserve(count + 1);
    for (const char* letter = signature; *letter != 0; ++letter) {
      if (*letter == 'n' || *letter == 'u') {
        words_.push_back(*operands++);
        addresses_.push_back(&words_.back());
        continue;
      }
      void* data = reinterpret_cast<void*>(operands[0]);
      if (*letter == 'K' && !is_wide) Narrow(static_cast<int64_t*>(data), operands[1]);
      addresses_.push_back(data);
      operands += 2;
    }
    words_.push_back(0);
    addresses_.push_back(&words_.back());
  }

  void** addresses() { return addresses_.data(); }
  size_t count() const { return addresses_.size(); }

  // The status, once the routine has run.
  int64_t Finish() {
    for (const auto& [data, count] : narrowed_) {
      const auto* narrow = reinterpret_cast<const int32_t*>(data);
      for (uint64_t i = count; i-- > 0;) data[i] = narrow[i];
    }
    return is_wide_ ? int64_t(words_.back()) : int64_t(int32_t(words_.back()));
  }

 private:
  void Narrow(int64_t* data, uint64_t count) {
    auto* narrow = reinterpret_cast<int32_t*>(data);
    for (uint64_t i = 0; i < count; ++i) {
      const auto value = int32_t(data[i]);
      std::memcpy(narrow + i, &value, sizeof value);
    }
    narrowed_.emplace_back(data, count);
  }

  const bool is_wide_;
  std::vector<uint64_t> words_;  // Little-endian: the low half of a word is its narrow integer.
  std::vector<void*> addresses_;
  std::vector<std::pair<int64_t*, uint64_t>> narrowed_;
};

template <size_t... kIndexes>
void CallWith(const void* routine, void** a, std::index_sequence<kIndexes...>) {
  using Function = void (*)(decltype(static_cast<void*>(a[kIndexes]))...);
  reinterpret_cast<Function>(const_cast<void*>(routine))(a[kIndexes]...);
}

// As many arguments as the longest routine takes, and the lengths of its strings behind them, which
// some compilers of Fortran expect: a function of C's conventions does not see what it does not
// take.
constexpr size_t kMostArguments = 24;

}  // namespace

const void* FindLapack(const char* name, std::string* error) {
  const LapackLibrary& lapack = Lapack();
  if (lapack.spelling == nullptr) {
    *error = "the installed NumPy carries no LAPACK that can be called from outside";
    return nullptr;
  }
  const void* address = FindSpelled(lapack.handle, *lapack.spelling, name);
  if (address == nullptr) *error = std::string("NumPy's LAPACK has no ") + name;
  return address;
}

bool LapackHasWideIntegers() { return Lapack().spelling->has_wide_integers; }

int64_t CallFortran(const void* routine, const char* signature, const uint64_t* operands,
                    bool has_wide_integers) {
  Arguments arguments(signature, operands, has_wide_integers);
  void* addresses[kMostArguments];
  const size_t count = arguments.count();
  for (size_t i = 0; i < kMostArguments; ++i) {
    // A string's length is 1.
    addresses[i] = i < count ? arguments.addresses()[i] : reinterpret_cast<void*>(1);
  }
  CallWith(routine, addresses, std::make_index_sequence<kMostArguments>());
  return arguments.Finish();
}

}  // namespace parakeet::runtime
