#include "backends/nvvm/libnvvm.h"

#include <dlfcn.h>

#include <memory>
#include <mutex>

#include "ir/diagnostics.h"

namespace parakeet::backends {
namespace {

using Program = struct OpaqueProgram*;

// Of nvvmResult.
constexpr int kInvalidOption = 7;

// The architectures that some libNVVM writes code for, the newest first. From 100 on it reads no
// pointers with types (write_nvvm_ir.cc); drivers translate what is written for 90.
constexpr int kLibraryArchitectures[] = {90, 89, 88, 87, 86, 80, 75, 72,
                                         70, 62, 61, 60, 53, 52, 50};

// The functions of nvvm.h that are used.
struct Library {
  int (*create)(Program*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*add)(Program, const char*, size_t, const char*) = nullptr;
  int (*add_lazily)(Program, const char*, size_t, const char*) = nullptr;
  int (*compile)(Program, int, const char**) = nullptr;
  int (*result_size)(Program, size_t*) = nullptr;
  int (*result)(Program, char*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  std::string file;

  template <typename Function>
  static bool Find(void* handle, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(handle, name));
    return *function != nullptr;
  }

  bool FindFunctions(void* handle) {
    return Find(handle, "nvvmCreateProgram", &create) &&
           Find(handle, "nvvmDestroyProgram", &destroy) &&
           Find(handle, "nvvmAddModuleToProgram", &add) &&
           Find(handle, "nvvmLazyAddModuleToProgram", &add_lazily) &&
           Find(handle, "nvvmCompileProgram", &compile) &&
           Find(handle, "nvvmGetCompiledResultSize", &result_size) &&
           Find(handle, "nvvmGetCompiledResult", &result) &&
           Find(handle, "nvvmGetProgramLogSize", &log_size) &&
           Find(handle, "nvvmGetProgramLog", &log);
  }
};

const Library& Open(const std::vector<std::string>& files) {
  static std::mutex* const mutex = new std::mutex;
  static const Library* opened = nullptr;
  const std::lock_guard lock(*mutex);
  if (opened != nullptr) return *opened;
  std::string why;
  for (const std::string& file : files) {
    auto library = std::make_unique<Library>();
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr && library->FindFunctions(handle)) {
      library->file = file;
      return *(opened = library.release());
    }
    const char* problem = dlerror();
    why += std::string("\n  ") + (problem != nullptr ? problem : file.c_str());
  }
  ir::FailUser("DeviceError",
               "parakeet.config.gpu_assembler is 'libnvvm', and libNVVM is not there: install the "
               "package nvidia-cuda-nvcc-cu12 (nvidia-nvvm for a driver of CUDA 13), set CUDA_HOME "
               "to a CUDA toolkit, or set gpu_assembler to 'nvptx'; tried:" +
                   why,
               {});
}

// One program in the library.
class Assembly {
 public:
  Assembly(const Library& library, const NvvmProgram& source) : library_(library), source_(source) {
    const bool is_there =
        library_.create(&program_) == 0 &&
        library_.add(program_, source_.ir.data(), source_.ir.size(), "kernels") == 0 &&
        library_.add_lazily(program_, source_.libdevice.data(), source_.libdevice.size(),
                            "libdevice") == 0;
    if (!is_there) FailWithLog();
  }
  ~Assembly() {
    if (program_ != nullptr) library_.destroy(&program_);
  }
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  // False for an architecture that the library does not know.
  bool Compile(int architecture) {
    const std::string arch = "-arch=compute_" + std::to_string(architecture);
    const char* options[] = {arch.c_str(),   "-opt=3",
                             "-ftz=0",       "-prec-div=1",
                             "-prec-sqrt=1", source_.may_contract ? "-fma=1" : "-fma=0"};
    const int status = library_.compile(program_, int(std::size(options)), options);
    if (status == kInvalidOption) return false;
    if (status != 0) FailWithLog();
    return true;
  }

  std::string Ptx() {
    size_t size = 0;
    if (library_.result_size(program_, &size) != 0) FailWithLog();
    std::string ptx(size, '\0');
    if (library_.result(program_, ptx.data()) != 0) FailWithLog();
    while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
    return ptx;
  }

 private:
  [[noreturn]] void FailWithLog() {
    std::string log;
    size_t size = 0;
    if (program_ != nullptr && library_.log_size(program_, &size) == 0) {
      log.resize(size);
      library_.log(program_, log.data());
      log = log.c_str();
    }
    ir::FailBug(library_.file + " does not take a program: " + log);
  }

  const Library& library_;
  const NvvmProgram& source_;
  Program program_ = nullptr;
};

}  // namespace

std::string AssembleByLibNvvm(const NvvmProgram& program, const std::vector<std::string>& files) {
  const Library& library = Open(files);
  Assembly assembly(library, program);
  for (int architecture : kLibraryArchitectures) {
    if (architecture <= program.architecture && assembly.Compile(architecture))
      return assembly.Ptx();
  }
  ir::FailUser("DeviceError",
               library.file + " writes no code for compute capability " +
                   std::to_string(program.architecture / 10) + "." +
                   std::to_string(program.architecture % 10) +
                   "; set parakeet.config.gpu_assembler to 'nvptx'",
               {});
}

}  // namespace parakeet::backends
