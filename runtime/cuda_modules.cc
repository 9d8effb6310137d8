#include "runtime/cuda_modules.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/device_error.h"
#include "runtime/image.h"

namespace parakeet::runtime {
namespace {

// What every block may have.
constexpr int64_t kSharedOfAll = 48 * 1024;

// So many modules are unloaded together: all work of the device is waited for before.
constexpr size_t kUnloadedTogether = 8;

// A kernel's code is PTX texts behind one another, each ended by a zero, with which the last one
// lies or not; or a cubin.
std::vector<std::string> TextsOf(const PkKernel& kernel) {
  const std::string_view code(static_cast<const char*>(kernel.code), size_t(kernel.code_bytes));
  if (IsCubin(code)) return {std::string(code)};
  std::vector<std::string> texts;
  for (size_t at = 0; at < code.size();) {
    const size_t end = std::min(code.find('\0', at), code.size());
    if (end > at) texts.emplace_back(code.substr(at, end - at));
    at = end + 1;
  }
  return texts;
}

}  // namespace

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

bool CudaModules::Loaded::IsLeft() const {
  return !stays && std::all_of(users.begin(), users.end(),
                               [](const CodeLife& life) { return life.expired(); });
}

void CudaModules::NoteUser(Loaded* loaded) {
  const CodeLife* const life = CodeOfThread::Current();
  if (life == nullptr) {
    loaded->stays = true;
    return;
  }
  std::erase_if(loaded->users, [](const CodeLife& user) { return user.expired(); });
  const bool is_known = std::any_of(
      loaded->users.begin(), loaded->users.end(),
      [&](const CodeLife& user) { return !user.owner_before(*life) && !life->owner_before(user); });
  if (!is_known) loaded->users.push_back(*life);
}

// With the lock held. No call is in code that has gone, so nothing more is launched of it.
void CudaModules::UnloadWhatIsLeft() {
  const uint64_t unloads = CountImageUnloads();
  if (unloads == unloads_seen_) return;
  unloads_seen_ = unloads;
  const auto is_left = [](const auto& each) { return each.second.IsLeft(); };
  const auto left = std::count_if(loaded_.begin(), loaded_.end(), is_left);
  if (size_t(left) < kUnloadedTogether || driver_.CtxSynchronize() != 0) return;
  for (auto at = loaded_.begin(); at != loaded_.end();) {
    if (!is_left(*at)) {
      ++at;
      continue;
    }
    for (const CuCode& code : at->second.codes) {
      Forget(code.module);
      assembler_.Unload(code);
    }
    at = loaded_.erase(at);
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
    for (auto& [content, loaded] : loaded_) {
      loaded.stays |= std::any_of(loaded.codes.begin(), loaded.codes.end(),
                                  [&](const CuCode& code) { return code.module == name.first; });
    }
  }
}

// In the module that has it.
CuResult CudaModules::FindIn(const Loaded& loaded, const char* name, CuFunction* function) {
  CuResult result = kCuNotFound;
  for (const CuCode& code : loaded.codes) {
    const auto known = functions_.find({code.module, name});
    if (known != functions_.end()) return *function = known->second, 0;
    result = driver_.ModuleGetFunction(function, code.module, name);
    if (result == 0) functions_[{code.module, name}] = *function;
    if (result != kCuNotFound) return result;
  }
  return result;
}

int32_t CudaModules::Find(const PkKernel& kernel, CuFunction* function) {
  const Content content = {PkImageChecksum(kernel.code, size_t(kernel.code_bytes)),
                           kernel.code_bytes};
  const std::lock_guard lock(mutex_);
  auto at = loaded_.find(content);
  if (at == loaded_.end()) {
    UnloadWhatIsLeft();
    Loaded loaded;
    if (const int32_t error = assembler_.Load(TextsOf(kernel), kernel.name, &loaded.codes))
      return error;
    at = loaded_.emplace(content, std::move(loaded)).first;
  }
  NoteUser(&at->second);
  if (const CuResult result = FindIn(at->second, kernel.name, function)) {
    return NoteDeviceError(result, std::string("there is no kernel ") + kernel.name +
                                       " in its code: " + driver_.TextOf(result));
  }
  return ReserveShared(kernel, *function);
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
