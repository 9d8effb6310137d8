#include "runtime/cuda_modules.h"

#include <algorithm>
#include <cstring>

#include "runtime/device_error.h"
#include "runtime/image.h"

namespace parakeet::runtime {
namespace {

// What every block may have.
constexpr int64_t kSharedOfAll = 48 * 1024;

// A log's lines as one.
std::string JoinLines(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == 0)) text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

bool IsPtx(const std::string& code) {
  return !code.starts_with(
      "\x7f"
      "ELF");
}

// What helps where the driver refuses code.
std::string AdviceFor(CuResult result, const std::string& code) {
  if (result != kCuPtxTooNew) return "";
  const bool is_of_libnvvm = code.find("NVIDIA NVVM Compiler") != code.npos;
  return std::string("; the driver is older than this code: update it") +
         (is_of_libnvvm ? ", set parakeet.config.gpu_assembler to 'nvptx', or install an older "
                          "libNVVM (nvidia-cuda-nvcc-cu12)"
                        : "");
}

}  // namespace

int32_t CudaModules::Load(const PkKernel& kernel, CuModule* module) {
  std::string code(static_cast<const char*>(kernel.code), size_t(kernel.code_bytes));
  // Text is to end with one zero, with which it lies or not.
  if (IsPtx(code)) code.resize(std::strlen(code.c_str()));
  assembled_.fetch_add(IsPtx(code), std::memory_order_relaxed);
  std::string log(4096, 0);
  int options[] = {kCuErrorLog, kCuErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const CuResult result = driver_.ModuleLoadDataEx(module, code.c_str(), 2, options, values);
  if (result == 0) return 0;
  log = JoinLines(log.substr(0, log.find('\0')));
  return NoteDeviceError(result, std::string("cannot load kernel ") + kernel.name + ": " +
                                     driver_.TextOf(result) + (log.empty() ? "" : ": ") + log +
                                     AdviceFor(result, code));
}

int32_t CudaModules::ReserveShared(const PkKernel& kernel, CuFunction function) {
  int64_t& reserved = shared_bytes_.try_emplace(function, kSharedOfAll).first->second;
  if (kernel.shared_bytes <= reserved) return 0;
  const CuResult result =
      driver_.FuncSetAttribute(function, kCuMostDynamicShared, int(kernel.shared_bytes));
  if (result != 0) {
    return NoteDeviceError(result, std::string("kernel ") + kernel.name + " cannot have " +
                                       std::to_string(kernel.shared_bytes) +
                                       " bytes of shared memory: " + driver_.TextOf(result));
  }
  reserved = kernel.shared_bytes;
  return 0;
}

int32_t CudaModules::Find(const PkKernel& kernel, CuFunction* function) {
  const Content content = {PkImageChecksum(kernel.code, size_t(kernel.code_bytes)),
                           kernel.code_bytes};
  const std::lock_guard lock(mutex_);
  auto module = modules_.find(content);
  if (module == modules_.end()) {
    CuModule loaded = nullptr;
    if (const int32_t error = Load(kernel, &loaded)) return error;
    module = modules_.emplace(content, loaded).first;
  }
  CuFunction& found = functions_[{module->second, kernel.name}];
  if (found == nullptr) {
    const CuResult result = driver_.ModuleGetFunction(&found, module->second, kernel.name);
    if (result != 0) {
      return NoteDeviceError(result, std::string("there is no kernel ") + kernel.name +
                                         " in its code: " + driver_.TextOf(result));
    }
  }
  *function = found;
  return ReserveShared(kernel, found);
}

int32_t CudaFunctions::Find(CudaModules& modules, const PkKernel& kernel, CuFunction* function) {
  const uint64_t unloads = CountImageUnloads();
  const auto found = known_.find(&kernel);
  const bool is_known = found != known_.end() && found->second.unloads == unloads &&
                        std::memcmp(&found->second.kernel, &kernel, sizeof kernel) == 0;
  if (is_known) {
    *function = found->second.function;
    return 0;
  }
  if (const int32_t error = modules.Find(kernel, function)) return error;
  known_[&kernel] = {unloads, kernel, *function};
  return 0;
}

}  // namespace parakeet::runtime
