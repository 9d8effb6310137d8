#include "pylib/core/cubin_cache.h"

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

// There is one answer to a key, so one place.
std::string NameOf(const std::string& key) { return NameOfQuestion(key) + "-0"; }

class CubinCache : public runtime::CubinStore {
 public:
  bool IsOpen() override { return folder_of_thread != nullptr && !IsDebugging(); }

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

CubinFolder::CubinFolder(std::shared_ptr<CacheFolder> folder)
    : folder_(std::move(folder)), before_(std::exchange(folder_of_thread, folder_.get())) {}

CubinFolder::~CubinFolder() { folder_of_thread = before_; }

}  // namespace parakeet::pylib
