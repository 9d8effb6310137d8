// The folder of the disk cache: files by name, bounded in size. It knows nothing of what they hold.
//
//   FOLDER/3f/3f0c...-0    an entry; the first two digits of its name are its subfolder
//   FOLDER/3f/.new-PID-N   one that is being written; renamed when it is whole
//   FOLDER/.count          how many bytes there are, by the count of those who write
//
// Any number of processes use one folder; readers take no lock: a file appears whole or not at all,
// and one that is removed while it is read stays readable. Who writes adds to the count first,
// under a lock on it. Where that would be more than the bound, it lists the folder and lets the
// least recently used go, of all subfolders, until an eighth of the bound is free: most writes look
// at one file. The count is taken anew then, and once a day, since files may also go in other ways.
#ifndef PARAKEET_PYLIB_CORE_CACHE_FOLDER_H_
#define PARAKEET_PYLIB_CORE_CACHE_FOLDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace parakeet::pylib {

struct CacheUsage {
  int64_t entries = 0;
  int64_t bytes = 0;
};

// Every function may be called by any thread, and leaves errno as it comes. A failure is no error:
// what cannot be read is not there, and what cannot be written is not kept.
class CacheFolder {
 public:
  // Makes the folder, and those above it, with mode 0700 where it is missing. Null where that
  // fails, and for a folder of another user or one that others may write to.
  static std::unique_ptr<CacheFolder> Open(const std::string& path, int64_t limit);
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  // Names consist of 32 hexadecimal digits, a dash and a digit. A file that is read counts as used
  // now, to the second.
  std::optional<std::string> Read(const std::string& name);
  bool Write(const std::string& name, const std::string& bytes);
  void Remove(const std::string& name);
  // When it was last used, in nanoseconds; nothing where there is no such file.
  std::optional<int64_t> LastUse(const std::string& name);

  CacheUsage Measure();
  // Removes every entry, and nothing else that lies in the folder.
  void Clear();

  static constexpr int kSubfolders = 256;

 private:
  CacheFolder(int folder, int64_t limit) : folder_(folder), limit_(limit) {}

  struct File;
  struct Count;
  std::vector<File> List(int shard) const;
  std::vector<File> ListAll() const;
  bool MakeRoom(int64_t size, int64_t replaced);
  int64_t Sweep();
  int64_t SizeOf(const std::string& name) const;
  int OpenShard(const std::string& name, bool make) const;

  const int folder_;
  const int64_t limit_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_CACHE_FOLDER_H_
