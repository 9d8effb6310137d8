#include "pylib/core/compiler_library.h"

#include <dlfcn.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "pylib/build_id.h"
#include "pylib/take_gil.h"
#include "runtime/clock.h"
#include "runtime/symbols.h"

namespace parakeet::pylib {
namespace {

std::atomic<const CompilerLibrary*> opened = nullptr;

template <typename T>
bool Find(void* handle, const char* name, T* function) {
  *function = reinterpret_cast<T>(dlsym(handle, name));
  if (*function == nullptr) PyErr_Format(PyExc_ImportError, "the compiler library has no %s", name);
  return *function != nullptr;
}

// The library, opened once by whoever comes first. Any thread may ask, without the GIL.
class Opening {
 public:
  explicit Opening(std::string path) : path_(std::move(path)) {}

  void* Handle() {
    std::call_once(once_, [this] { Open(); });
    return handle_;
  }
  // Why there is none.
  const std::string& why() const { return why_; }

 private:
  void Open() {
    handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) {
      why_ = dlerror();
      return;
    }
    const auto prepare =
        reinterpret_cast<PkCompilerPrepare>(dlsym(handle_, "parakeet_compiler_prepare"));
    if (prepare != nullptr) prepare();
  }

  std::string path_;
  std::once_flag once_;
  void* handle_ = nullptr;
  std::string why_;
};

// Another thread opens the library while this one imports what the front end asks for first: each
// takes some milliseconds. Where that thread has not come to run by then, this one opens it. Null
// with an exception set.
void* Load(const std::string& path) {
  const auto opening = std::make_shared<Opening>(path);
  try {
    std::thread([opening] { opening->Handle(); }).detach();
  } catch (const std::system_error&) {
    // No thread is to be had.
  }
  const Ref library = Ref::Steal(PyImport_ImportModule("parakeet.library"));
  if (!library) return nullptr;
  PyThreadState* state = PyEval_SaveThread();
  void* handle = opening->Handle();
  PkTakeGil(state);
  if (handle == nullptr) {
    PyErr_Format(PyExc_ImportError, "cannot open the compiler: %s", opening->why().c_str());
  }
  return handle;
}

}  // namespace

const std::string& PackageFolder() {
  static const std::string* const kFolder = [] {
    Dl_info info;
    const void* here = reinterpret_cast<const void*>(&PackageFolder);
    if (dladdr(here, &info) == 0 || info.dli_fname == nullptr) return new std::string();
    const std::string file = info.dli_fname;
    const size_t slash = file.rfind('/');
    return new std::string(slash == std::string::npos ? "." : file.substr(0, slash));
  }();
  return *kFolder;
}

const CompilerLibrary* OpenCompiler() {
  if (const CompilerLibrary* library = opened.load(std::memory_order_acquire)) return library;
  const int64_t start = runtime::NowNanoseconds();
  void* handle = Load(PackageFolder() + "/libparakeet_compiler.so");
  if (handle == nullptr) return nullptr;
  auto library = std::make_unique<CompilerLibrary>();
  PkCompilerInit init = nullptr;
  if (!Find(handle, "parakeet_compiler_init", &init) ||
      !Find(handle, "parakeet_compiler_compile", &library->compile) ||
      !Find(handle, "parakeet_compiler_interpret", &library->interpret) ||
      !Find(handle, "parakeet_compiler_free", &library->free) ||
      !Find(handle, "parakeet_compiler_dump", &library->dump)) {
    return nullptr;
  }
  if (init(runtime::Table(), BuildId()) != 0) return nullptr;
  library->open_ms = double(runtime::NowNanoseconds() - start) / 1e6;
  // Two threads may come here together: both open the same library, and the second's table is kept.
  opened.store(library.get(), std::memory_order_release);
  return library.release();
}

bool IsCompilerOpen() { return opened.load(std::memory_order_acquire) != nullptr; }

int32_t Interpret(void* program, PkCall* call, const uint64_t* args, uint64_t* results) {
  return opened.load(std::memory_order_acquire)->interpret(program, call, args, results);
}

void FreeProgram(void* program) { opened.load(std::memory_order_acquire)->free(program); }

}  // namespace parakeet::pylib
