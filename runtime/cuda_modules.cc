#include "runtime/cuda_modules.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/cubin_store.h"
#include "runtime/device_error.h"
#include "runtime/image.h"

namespace parakeet::runtime {
namespace {

// What every block may have.
constexpr int64_t kSharedOfAll = 48 * 1024;

// So many modules are unloaded together: all work of the device is waited for before.
constexpr size_t kUnloadedTogether = 8;

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

void CudaModules::Open(int architecture) {
  int version = 0;
  driver_.DriverGetVersion(&version);
  made_for_ =
      "architecture " + std::to_string(architecture) + ", driver " + std::to_string(version) + "\n";
}

// Empty where the driver cannot.
std::string CudaModules::Assemble(const std::string& ptx) {
  CuLinker linker = nullptr;
  void* made = nullptr;
  size_t bytes = 0;
  if (driver_.LinkCreate(0, nullptr, nullptr, &linker) != 0) return "";
  assembled_.fetch_add(1, std::memory_order_relaxed);
  auto* const text = const_cast<char*>(ptx.c_str());  // which is read, with the zero at its end
  const bool is_made = driver_.LinkAddData(linker, kCuPtx, text, ptx.size() + 1, "kernels", 0,
                                           nullptr, nullptr) == 0 &&
                       driver_.LinkComplete(linker, &made, &bytes) == 0;
  std::string cubin;
  if (is_made) cubin.assign(static_cast<const char*>(made), bytes);
  driver_.LinkDestroy(linker);  // and what it has made
  return cubin;
}

// What the store has of the code, or gets now. False where that cannot be: there is no store, the
// code is no PTX, or the driver refuses it.
bool CudaModules::LoadKept(const std::string& code, CuModule* module) {
  CubinStore* const store = TheCubinStore();
  if (store == nullptr || !store->IsOpen() || !IsPtx(code)) return false;
  const auto load = [&](const std::string& cubin) {
    return driver_.ModuleLoadDataEx(module, cubin.data(), 0, nullptr, nullptr) == 0;
  };
  const std::string key = made_for_ + code;
  if (const std::optional<std::string> kept = store->Find(key); kept && load(*kept)) return true;
  const std::string cubin = Assemble(code);
  if (cubin.empty() || !load(cubin)) return false;
  store->Keep(key, cubin);
  return true;
}

int32_t CudaModules::Load(const PkKernel& kernel, CuModule* module) {
  std::string code(static_cast<const char*>(kernel.code), size_t(kernel.code_bytes));
  // Text is to end with one zero, with which it lies or not.
  if (IsPtx(code)) code.resize(std::strlen(code.c_str()));
  if (LoadKept(code, module)) return 0;
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

bool CudaModules::Module::IsLeft() const {
  return !stays && std::all_of(users.begin(), users.end(),
                               [](const CodeLife& life) { return life.expired(); });
}

void CudaModules::NoteUser(Module* module) {
  const CodeLife* const life = CodeOfThread::Current();
  if (life == nullptr) {
    module->stays = true;
    return;
  }
  std::erase_if(module->users, [](const CodeLife& user) { return user.expired(); });
  const bool is_known = std::any_of(
      module->users.begin(), module->users.end(),
      [&](const CodeLife& user) { return !user.owner_before(*life) && !life->owner_before(user); });
  if (!is_known) module->users.push_back(*life);
}

// With the lock held. No call is in code that has gone, so nothing more is launched of it.
void CudaModules::UnloadWhatIsLeft() {
  const uint64_t unloads = CountImageUnloads();
  if (unloads == unloads_seen_) return;
  unloads_seen_ = unloads;
  const auto is_left = [](const auto& each) { return each.second.IsLeft(); };
  const auto left = std::count_if(modules_.begin(), modules_.end(), is_left);
  if (size_t(left) < kUnloadedTogether || driver_.CtxSynchronize() != 0) return;
  for (auto at = modules_.begin(); at != modules_.end();) {
    if (!is_left(*at)) {
      ++at;
      continue;
    }
    Forget(at->second.module);
    driver_.ModuleUnload(at->second.module);
    at = modules_.erase(at);
  }
}

// Another module, or function, may get the same handle.
void CudaModules::Forget(CuModule module) {
  for (auto at = functions_.begin(); at != functions_.end();) {
    if (at->first.first != module) {
      ++at;
      continue;
    }
    shared_bytes_.erase(at->second);
    at = functions_.erase(at);
  }
}

void CudaModules::KeepForGraph(CuFunction function) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, its_function] : functions_) {
    if (its_function != function) continue;
    for (auto& [content, module] : modules_) module.stays |= module.module == name.first;
  }
}

int32_t CudaModules::Find(const PkKernel& kernel, CuFunction* function) {
  const Content content = {PkImageChecksum(kernel.code, size_t(kernel.code_bytes)),
                           kernel.code_bytes};
  const std::lock_guard lock(mutex_);
  auto at = modules_.find(content);
  if (at == modules_.end()) {
    UnloadWhatIsLeft();
    Module loaded;
    if (const int32_t error = Load(kernel, &loaded.module)) return error;
    at = modules_.emplace(content, loaded).first;
  }
  NoteUser(&at->second);
  const CuModule module = at->second.module;
  CuFunction& found = functions_[{module, kernel.name}];
  if (found == nullptr) {
    const CuResult result = driver_.ModuleGetFunction(&found, module, kernel.name);
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
