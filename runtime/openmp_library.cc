#include "runtime/openmp_library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

namespace parakeet::runtime {
namespace {

// What regions are written with (openmp_calls.h). A library without one of them is passed over.
constexpr const char* kRequired[] = {
    "__kmpc_fork_call",          "__kmpc_push_num_threads", "__kmpc_global_thread_num",
    "__kmpc_for_static_init_8u", "__kmpc_for_static_fini",  "__kmpc_dispatch_init_8u",
    "__kmpc_dispatch_next_8u",   "omp_in_parallel",         "kmp_get_blocktime",
    "kmp_set_blocktime",
};

constexpr const char* kBlockTime = "KMP_BLOCKTIME";
constexpr const char* kBlockTimeMilliseconds = "2";

struct OpenMpLibrary {
  void* handle;
  std::string file;
};

// Never destroyed and never closed: workers may be inside the library while the process ends. The
// mutex is held across fork, so that a child finds the state whole.
struct Binding {
  std::mutex mutex;
  std::string own_path;
  std::atomic<const OpenMpLibrary*> library{nullptr};
};

Binding& TheBinding();
void BeforeFork() { TheBinding().mutex.lock(); }
void AfterFork() { TheBinding().mutex.unlock(); }

Binding& TheBinding() {
  static Binding* const binding = [] {
    pthread_atfork(BeforeFork, AfterFork, AfterFork);
    return new Binding;
  }();
  return *binding;
}

// The first required symbol that a library lacks; null when it has all.
const char* MissingSymbol(void* handle) {
  for (const char* name : kRequired) {
    if (dlsym(handle, name) == nullptr) return name;
  }
  return nullptr;
}

// A handle of a file that is loaded already, if it will do; else null.
const OpenMpLibrary* UseLoaded(const char* file) {
  void* handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  if (MissingSymbol(handle) == nullptr) return new OpenMpLibrary{handle, file};
  dlclose(handle);
  return nullptr;
}

// One whose symbols every library of the process sees.
const OpenMpLibrary* FindGlobal() {
  void* fork_call = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
  Dl_info info;
  if (fork_call == nullptr || dladdr(fork_call, &info) == 0) return nullptr;
  if (const OpenMpLibrary* library = UseLoaded(info.dli_fname)) return library;
  // Linked into the executable itself, whose name need not be a path.
  if (MissingSymbol(RTLD_DEFAULT) != nullptr) return nullptr;
  return new OpenMpLibrary{RTLD_DEFAULT, info.dli_fname};
}

bool IsOpenMpName(const char* file) {
  const char* slash = std::strrchr(file, '/');
  const char* name = slash == nullptr ? file : slash + 1;
  if (std::strncmp(name, "libiomp5", 8) == 0) return true;
  if (std::strncmp(name, "libomp", 6) != 0) return false;
  return name[6] == '.' || name[6] == '-' || name[6] == '5';  // not libompd, libomptarget
}

int CollectName(dl_phdr_info* info, size_t /*size*/, void* names) {
  if (info->dlpi_name != nullptr && IsOpenMpName(info->dlpi_name)) {
    static_cast<std::vector<std::string>*>(names)->push_back(info->dlpi_name);
  }
  return 0;
}

// One that some library opened for itself: its symbols are found through its own handle only.
const OpenMpLibrary* FindLocal() {
  std::vector<std::string> names;
  dl_iterate_phdr(CollectName, &names);
  for (const std::string& name : names) {
    if (const OpenMpLibrary* library = UseLoaded(name.c_str())) return library;
  }
  return nullptr;
}

// A variable of the environment while this lives; then as it was.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, /*overwrite=*/1);
  }
  ~Setting() { before_ ? setenv(name_, before_->c_str(), /*overwrite=*/1) : unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

// The library reads its environment at the first question, not when it is opened.
void MakeReadEnvironment(void* handle) {
  using ThreadNumber = int (*)(void* location);
  reinterpret_cast<ThreadNumber>(dlsym(handle, "__kmpc_global_thread_num"))(nullptr);
}

const OpenMpLibrary* OpenOwn(const std::string& path, std::string* error) {
  if (path.empty()) {
    *error = "no OpenMP library is loaded and the package has none of its own";
    return nullptr;
  }
  setenv("KMP_DUPLICATE_LIB_OK", "TRUE", /*overwrite=*/0);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    *error = std::string("cannot open the OpenMP library: ") + dlerror();
    return nullptr;
  }
  if (const char* missing = MissingSymbol(handle)) {
    *error = path + " is no OpenMP library that serves: it lacks " + missing;
    dlclose(handle);
    return nullptr;
  }
  const Setting starts_anew("KMP_INIT_AT_FORK", "TRUE");
  std::optional<Setting> block_time;
  if (std::getenv(kBlockTime) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
    block_time.emplace(kBlockTime, kBlockTimeMilliseconds);
  }
  MakeReadEnvironment(handle);
  return new OpenMpLibrary{handle, path};
}

}  // namespace

void SetOpenMpPath(const std::string& path) {
  Binding& binding = TheBinding();
  const std::lock_guard lock(binding.mutex);
  binding.own_path = path;
}

std::string BindOpenMp() {
  Binding& binding = TheBinding();
  if (binding.library.load(std::memory_order_acquire) != nullptr) return "";
  const std::lock_guard lock(binding.mutex);
  if (binding.library.load(std::memory_order_relaxed) != nullptr) return "";
  std::string error;
  const OpenMpLibrary* library = FindGlobal();
  if (library == nullptr) library = FindLocal();
  if (library == nullptr) library = OpenOwn(binding.own_path, &error);
  if (library == nullptr) return "cannot run in parallel: " + error;
  binding.library.store(library, std::memory_order_release);
  return "";
}

bool IsOpenMpBound() { return TheBinding().library.load(std::memory_order_acquire) != nullptr; }

void* OpenMpSymbol(const char* name) {
  const OpenMpLibrary* library = TheBinding().library.load(std::memory_order_acquire);
  return library == nullptr ? nullptr : dlsym(library->handle, name);
}

std::string OpenMpLibraryFile() {
  const OpenMpLibrary* library = TheBinding().library.load(std::memory_order_acquire);
  return library == nullptr ? "" : library->file;
}

}  // namespace parakeet::runtime
