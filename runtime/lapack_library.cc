#include "runtime/lapack_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/few_rows.h"

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

// As many arguments as the longest routine takes, and the lengths of its strings behind them, which
// some compilers of Fortran expect: a function of C's conventions does not see what it does not
// take.
constexpr size_t kMostArguments = 24;

// The arguments of one call, by reference. Where LAPACK's integers have 32 bits, scalars and arrays
// of them stand in its own width while it runs. Nothing is allocated: of small matrices, a call
// takes less than that would.
class Arguments {
 public:
  Arguments(const char* signature, const uint64_t* operands, bool is_wide) : is_wide_(is_wide) {
    for (const char* letter = signature; *letter != 0; ++letter) {
      if (*letter == 'n' || *letter == 'u') {
        AddWord(*operands++);
        continue;
      }
      void* data = reinterpret_cast<void*>(operands[0]);
      if (*letter == 'K' && !is_wide) Narrow(static_cast<int64_t*>(data), operands[1]);
      addresses_[count_++] = data;
      operands += 2;
    }
    AddWord(0);
    // A string's length is 1.
    for (size_t i = count_; i < kMostArguments; ++i) addresses_[i] = reinterpret_cast<void*>(1);
  }

  // Of the arguments, and behind them what is no argument.
  void** addresses() { return addresses_; }

  // The status, once the routine has run.
  int64_t Finish() {
    for (size_t k = 0; k < narrowed_count_; ++k) {
      const auto [data, count] = narrowed_[k];
      const auto* narrow = reinterpret_cast<const int32_t*>(data);
      for (uint64_t i = count; i-- > 0;) data[i] = narrow[i];
    }
    const uint64_t status = words_[count_ - 1];
    return is_wide_ ? int64_t(status) : int64_t(int32_t(status));
  }

 private:
  // A number stands at its own argument's place.
  void AddWord(uint64_t word) {
    words_[count_] = word;
    addresses_[count_] = &words_[count_];
    ++count_;
  }

  void Narrow(int64_t* data, uint64_t count) {
    auto* narrow = reinterpret_cast<int32_t*>(data);
    for (uint64_t i = 0; i < count; ++i) {
      const auto value = int32_t(data[i]);
      std::memcpy(narrow + i, &value, sizeof value);
    }
    narrowed_[narrowed_count_++] = {data, count};
  }

  const bool is_wide_;
  size_t count_ = 0;
  uint64_t words_[kMostArguments];  // Little-endian: a word's low half is its narrow integer.
  void* addresses_[kMostArguments];
  size_t narrowed_count_ = 0;
  std::pair<int64_t*, uint64_t> narrowed_[kMostArguments];
};

template <size_t... kIndexes>
void CallWith(const void* routine, void** a, std::index_sequence<kIndexes...>) {
  using Function = void (*)(decltype(static_cast<void*>(a[kIndexes]))...);
  reinterpret_cast<Function>(const_cast<void*>(routine))(a[kIndexes]...);
}

}  // namespace

const void* FindLapack(const char* name, std::string* error) {
  const LapackLibrary& lapack = Lapack();
  if (lapack.spelling == nullptr) {
    *error = "the installed NumPy carries no LAPACK that can be called from outside";
    return nullptr;
  }
  const void* address = FindSpelled(lapack.handle, *lapack.spelling, name);
  if (address == nullptr) *error = std::string("NumPy's LAPACK has no ") + name;
  if (address != nullptr) StandInForRoutine(name, address);
  return address;
}

bool LapackHasWideIntegers() { return Lapack().spelling->has_wide_integers; }

int64_t CallFortran(const void* routine, const char* signature, const uint64_t* operands,
                    bool has_wide_integers) {
  Arguments arguments(signature, operands, has_wide_integers);
  CallWith(routine, arguments.addresses(), std::make_index_sequence<kMostArguments>());
  return arguments.Finish();
}

}  // namespace parakeet::runtime
