#include "runtime/symbols.h"

#include <dlfcn.h>

#include <cstring>
#include <string_view>

#include "runtime/clock.h"
#include "runtime/device_abi.h"
#include "runtime/lapack_library.h"
#include "runtime/openmp_library.h"
#include "runtime/sort_kernels.h"

// Of the compiler's own support library, which is linked statically: arithmetic that some targets
// lack instructions for. Only their addresses are taken, so the types do not matter.
extern "C" {
void __truncsfhf2();
void __truncdfhf2();
void __extendhfsf2();
void __divti3();
void __modti3();
void __udivti3();
void __umodti3();
}

namespace parakeet::runtime {
namespace {

struct Named {
  const char* name;
  const void* address;
};

template <typename Function>
const void* AddressOf(Function* function) {
  return reinterpret_cast<const void*>(function);
}

const Named kOwn[] = {
    {"pk_alloc", AddressOf(pk_alloc)},
    {"pk_free", AddressOf(pk_free)},
    {"pk_fail", AddressOf(pk_fail)},
    {"pk_fork", AddressOf(pk_fork)},
    {"pk_find_stack", AddressOf(pk_find_stack)},
    {"pk_too_deep", AddressOf(pk_too_deep)},
    {"pk_mark", AddressOf(pk_mark)},
    {"pk_library_call", AddressOf(pk_library_call)},
    {"pk_device_alloc", AddressOf(pk_device_alloc)},
    {"pk_device_free", AddressOf(pk_device_free)},
    {"pk_device_read", AddressOf(pk_device_read)},
    {"pk_device_write", AddressOf(pk_device_write)},
    {"pk_device_launch", AddressOf(pk_device_launch)},
    {"pk_device_copy_to_host", AddressOf(pk_device_copy_to_host)},
    {"pk_device_end_copies", AddressOf(pk_device_end_copies)},
    {"pk_device_library_call", AddressOf(pk_device_library_call)},
    {"pk_device_matmul", AddressOf(pk_device_matmul)},
    {"pk_thread_barrier", AddressOf(pk_thread_barrier)},
    {"pk_thread_warp_barrier", AddressOf(pk_thread_warp_barrier)},
    {"pk_thread_match", AddressOf(pk_thread_match)},
    {"pk_thread_shuffle", AddressOf(pk_thread_shuffle)},
    {"pk_thread_fail", AddressOf(pk_thread_fail)},
    {"pk_thread_alloc", AddressOf(pk_thread_alloc)},
    {"pk_thread_free", AddressOf(pk_thread_free)},
    {"pk_thread_check", AddressOf(pk_thread_check)},
};

const Named kSupport[] = {
    {"__truncsfhf2", AddressOf(__truncsfhf2)},   {"__truncdfhf2", AddressOf(__truncdfhf2)},
    {"__extendhfsf2", AddressOf(__extendhfsf2)}, {"__divti3", AddressOf(__divti3)},
    {"__modti3", AddressOf(__modti3)},           {"__udivti3", AddressOf(__udivti3)},
    {"__umodti3", AddressOf(__umodti3)},
};

template <size_t kCount>
const void* FindNamed(const Named (&table)[kCount], const char* name) {
  for (const Named& entry : table) {
    if (std::strcmp(entry.name, name) == 0) return entry.address;
  }
  return nullptr;
}

const void* FindIn(void* library, const char* name) {
  return library == nullptr ? nullptr : dlsym(library, name);
}

// The C libraries are asked by handle, not by global search: a library that someone preloads or
// links globally must not change what a compiled function computes.
const void* FindInCLibraries(const char* name) {
  static void* const math = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  static void* const c = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
  if (const void* address = FindIn(math, name)) return address;
  if (const void* address = FindIn(c, name)) return address;
  return FindNamed(kSupport, name);
}

const void* FindVectorMath(const char* name, std::string* error) {
  static void* const library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  const void* address = FindIn(library, name);
  if (library == nullptr) {
    *error = "cannot open libmvec.so.1";
  } else if (address == nullptr) {
    *error = std::string("libmvec.so.1 has no ") + name;
  }
  return address;
}

const void* FindOpenMp(const char* name, std::string* error) {
  *error = BindOpenMp();
  if (!error->empty()) return nullptr;
  const void* address = OpenMpSymbol(name);
  if (address == nullptr) *error = OpenMpLibraryFile() + " has no " + name;
  return address;
}

bool BeginsWith(std::string_view name, std::string_view prefix) {
  return name.substr(0, prefix.size()) == prefix;
}

bool IsOpenMpName(std::string_view name) {
  return BeginsWith(name, "__kmpc_") || BeginsWith(name, "kmp_") || BeginsWith(name, "omp_");
}

const void* TableSymbol(const char* name) {
  std::string error;
  return FindSymbol(name, &error);
}

const char* TableWhyMissing(const char* name) {
  thread_local std::string error;
  error.clear();
  FindSymbol(name, &error);
  return error.c_str();
}

int64_t TableNow() { return NowNanoseconds(); }

constexpr PkRuntime kTable = {kPkAbiId, TableSymbol, TableWhyMissing, TableNow};

}  // namespace

const void* FindSymbol(const char* name, std::string* error) {
  if (IsOpenMpName(name)) return FindOpenMp(name, error);
  if (const void* address = FindNamed(kOwn, name)) return address;
  if (BeginsWith(name, "_ZGV")) return FindVectorMath(name, error);
  if (BeginsWith(name, "pk_lapack_")) return FindLapack(name + 10, error);
  if (BeginsWith(name, "pk_numpy_")) return FindSortRoutine(name + 9, error);
  const void* address = FindInCLibraries(name);
  if (address == nullptr) *error = std::string("no library has ") + name;
  return address;
}

const PkRuntime* Table() { return &kTable; }

}  // namespace parakeet::runtime
