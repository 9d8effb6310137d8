#include "pylib/core/cubin_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pylib/archive.h"
#include "pylib/checked_file.h"
#include "pylib/core/disk_cache.h"
#include "pylib/core/question.h"
#include "runtime/cubin_store.h"

namespace parakeet::pylib {
namespace {

constexpr std::string_view kLine = "parakeet cache cubin 01\n";

thread_local CacheFolder* folder_of_thread = nullptr;

std::atomic<CubinUse> cubin_use = CubinUse::kWhereDriverKeepsNone;

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != 0;
}

// Whether the driver has no cache: one may switch it off, or its folder cannot be written.
bool DriverKeepsNone() {
  if (IsSet("CUDA_CACHE_DISABLE") && std::atoi(std::getenv("CUDA_CACHE_DISABLE")) != 0) return true;
  std::filesystem::path place;
  if (IsSet("CUDA_CACHE_PATH")) {
    place = std::getenv("CUDA_CACHE_PATH");
  } else if (IsSet("HOME")) {
    place = std::filesystem::path(std::getenv("HOME")) / ".nv/ComputeCache";
  }
  // What is not there yet is made in what is above it.
  std::error_code ignored;
  while (place.has_relative_path() && !std::filesystem::exists(place, ignored)) {
    place = place.parent_path();
  }
  const bool is_folder = std::filesystem::is_directory(place, ignored);
  return !is_folder || access(place.c_str(), W_OK) != 0;
}

bool IsUsed() {
  const CubinUse use = cubin_use.load(std::memory_order_relaxed);
  return use == CubinUse::kAlways || (use == CubinUse::kWhereDriverKeepsNone && DriverKeepsNone());
}

// There is one answer to a key, so one place.
std::string NameOf(const std::string& key) { return NameOfQuestion(key) + "-0"; }

class CubinCache : public runtime::CubinStore {
 public:
  bool IsOpen() override { return folder_of_thread != nullptr && !IsDebugging() && IsUsed(); }

  std::optional<std::string> Find(const std::string& key) override {
    const std::string name = NameOf(key);
    const std::optional<std::string> bytes = folder_of_thread->Read(name);
    if (!bytes) return std::nullopt;
    std::string_view key_there, cubin;
    const std::optional<std::string_view> content = ContentOf(kLine, *bytes);
    ArchiveReader reader(content.value_or(""));
    reader.Text(key_there);
    reader.Text(cubin);
    if (!content || !reader.ok() || !reader.at_end()) {
      folder_of_thread->Remove(name);
      return std::nullopt;
    }
    if (key_there != key) return std::nullopt;
    return std::string(cubin);
  }

  void Keep(const std::string& key, std::string_view cubin) override {
    ArchiveWriter writer;
    writer.Text(key);
    writer.Text(cubin);
    folder_of_thread->Write(NameOf(key), MakeCheckedFile(kLine, writer.Take()));
  }
};

}  // namespace

void StartCubinCache() {
  static auto* const cache = new CubinCache;  // Launches go on while the process ends.
  runtime::SetCubinStore(cache);
}

void SetCubinUse(CubinUse use) { cubin_use.store(use, std::memory_order_relaxed); }

CubinFolder::CubinFolder(std::shared_ptr<CacheFolder> folder)
    : folder_(std::move(folder)), before_(std::exchange(folder_of_thread, folder_.get())) {}

CubinFolder::~CubinFolder() { folder_of_thread = before_; }

}  // namespace parakeet::pylib
