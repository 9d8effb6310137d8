#include "runtime/cuda_assembler.h"

#include <algorithm>
#include <future>
#include <optional>

#include "runtime/cubin_store.h"
#include "runtime/device_error.h"
#include "runtime/team.h"

namespace parakeet::runtime {
namespace {

// A log's lines as one.
std::string JoinLines(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == 0)) text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

bool IsPtx(const std::string& code) { return !IsCubin(code); }

// What helps where the driver refuses code.
std::string AdviceFor(CuResult result, const std::string& code) {
  if (result != kCuPtxTooNew) return "";
  const bool is_of_libnvvm = code.find("NVIDIA NVVM Compiler") != code.npos;
  return std::string("; the driver is older than this code: update it") +
         (is_of_libnvvm ? ", set parakeet.config.gpu_assembler to 'nvptx', or install an older "
                          "libNVVM (nvidia-cuda-nvcc-cu12)"
                        : "");
}

// Calls `work` for each number below `count`, by so many threads at most, this one among them.
template <typename Work>
void ShareAmong(int threads, size_t count, const Work& work) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t k = next++; k < count; k = next++) work(k);
  };
  std::vector<std::future<void>> others;
  for (int k = 1; k < threads && size_t(k) < count; ++k)
    others.push_back(std::async(std::launch::async | std::launch::deferred, take));
  take();
  for (std::future<void>& other : others) other.get();
}

}  // namespace

bool IsCubin(std::string_view code) {
  return code.starts_with(
      "\x7f"
      "ELF");
}

// A text on its way.
struct CudaAssembler::Making {
  const std::string& text;
  CuCode loaded = {};
  CuResult result = 0;
  std::string log = {};
  std::string cubin = {};  // for the store
};

void CudaAssembler::Open(int architecture) {
  int version = 0;
  driver_.DriverGetVersion(&version);
  made_for_ =
      "architecture " + std::to_string(architecture) + ", driver " + std::to_string(version) + "\n";
}

int32_t CudaAssembler::Load(const std::vector<std::string>& texts, const char* kernel,
                            std::vector<CuCode>* loaded) {
  CubinStore* const store = TheCubinStore();
  const bool is_kept =
      store != nullptr && store->IsOpen() && std::all_of(texts.begin(), texts.end(), IsPtx);
  std::vector<Making> all;
  std::vector<Making*> missing;
  for (const std::string& text : texts) all.push_back({text});
  for (Making& making : all) {
    const auto kept = is_kept ? store->Find(made_for_ + making.text) : std::nullopt;
    if (!kept || !LoadCubin(*kept, &making.loaded)) missing.push_back(&making);
  }
  // What takes longest begins first.
  std::stable_sort(missing.begin(), missing.end(), [](const Making* a, const Making* b) {
    return a->text.size() > b->text.size();
  });
  CuContext context = nullptr;
  driver_.CtxGetCurrent(&context);
  ShareAmong(ThreadCount(), missing.size(), [&](size_t k) {
    CuContext current = nullptr;
    if (driver_.CtxGetCurrent(&current) == 0 && current != context) driver_.CtxSetCurrent(context);
    Make(missing[k], is_kept);
  });
  const auto refused =
      std::find_if(all.begin(), all.end(), [](const Making& making) { return making.result != 0; });
  if (refused != all.end()) {
    for (const Making& making : all) {
      if (making.loaded.module != nullptr) Unload(making.loaded);
    }
    return NoteRefusal(*refused, kernel);
  }
  for (const Making& making : all) {
    if (!making.cubin.empty()) store->Keep(made_for_ + making.text, making.cubin);
    loaded->push_back(making.loaded);
  }
  return 0;
}

void CudaAssembler::Make(Making* making, bool is_kept) {
  if (is_kept) {
    making->cubin = Assemble(making->text);
    if (!making->cubin.empty() && LoadCubin(making->cubin, &making->loaded)) return;
    making->cubin.clear();
  }
  assembled_.fetch_add(IsPtx(making->text), std::memory_order_relaxed);
  making->result = LoadAs(making->text, &making->loaded, &making->log);
}

CuResult CudaAssembler::LoadAs(const std::string& code, CuCode* loaded, std::string* log) const {
  log->assign(4096, 0);
  int options[] = {kCuErrorLog, kCuErrorLogBytes};
  void* values[] = {log->data(), reinterpret_cast<void*>(log->size())};
  if (driver_.LibraryLoadData == nullptr || driver_.LibraryGetModule == nullptr ||
      driver_.LibraryUnload == nullptr)
    return driver_.ModuleLoadDataEx(&loaded->module, code.c_str(), 2, options, values);
  CuLibrary library = nullptr;
  CuResult result =
      driver_.LibraryLoadData(&library, code.c_str(), options, values, 2, nullptr, nullptr, 0);
  if (result != 0) return result;
  result = driver_.LibraryGetModule(&loaded->module, library);
  if (result == 0) {
    loaded->library = library;
  } else {
    driver_.LibraryUnload(library);
  }
  return result;
}

bool CudaAssembler::LoadCubin(const std::string& cubin, CuCode* loaded) const {
  return driver_.ModuleLoadDataEx(&loaded->module, cubin.data(), 0, nullptr, nullptr) == 0;
}

// Empty where the driver cannot.
std::string CudaAssembler::Assemble(const std::string& ptx) {
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

int32_t CudaAssembler::NoteRefusal(const Making& making, const char* kernel) const {
  const std::string log = JoinLines(making.log.substr(0, making.log.find('\0')));
  return NoteDeviceError(making.result, std::string("cannot load kernel ") + kernel + ": " +
                                            driver_.TextOf(making.result) +
                                            (log.empty() ? "" : ": ") + log +
                                            AdviceFor(making.result, making.text));
}

void CudaAssembler::Unload(const CuCode& code) const {
  code.library != nullptr ? driver_.LibraryUnload(code.library) : driver_.ModuleUnload(code.module);
}

}  // namespace parakeet::runtime
