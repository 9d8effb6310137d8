#include "pylib/core/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace parakeet::pylib {
namespace {

constexpr size_t kNameSize = 34;
constexpr int64_t kHour = 3600;  // seconds
constexpr char kDigits[] = "0123456789abcdef";
constexpr char kNewPrefix[] = ".new-";
constexpr int kReadFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int Release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

bool IsEntryName(const char* name) {
  if (std::strlen(name) != kNameSize || name[kNameSize - 2] != '-') return false;
  for (size_t i = 0; i < kNameSize; ++i) {
    if (i != kNameSize - 2 && std::strchr(kDigits, name[i]) == nullptr) return false;
  }
  return true;
}

// Code is run from here: nobody else may have written it.
bool IsOurs(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The folder and those above it.
void MakeFolders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
  }
  mkdir(path.c_str(), 0700);
}

std::optional<std::string> ReadAll(int file, size_t size) {
  std::string bytes(size, 0);
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += size_t(got);
  }
  return bytes;
}

bool WriteAll(int file, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = write(file, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += size_t(put);
  }
  return true;
}

// Of this process and no other, also after a fork.
std::string NewName() {
  static std::atomic<uint32_t> count = 0;
  return kNewPrefix + std::to_string(getpid()) + "-" + std::to_string(count++);
}

int64_t Now() { return int64_t(std::time(nullptr)); }

}  // namespace

struct CacheFolder::File {
  std::string name;
  int64_t bytes;
  int64_t last_use;
  bool is_entry;  // else one that is being written, or was when its process died
};

std::unique_ptr<CacheFolder> CacheFolder::Open(const std::string& path, int64_t limit) {
  int number = open(path.c_str(), kReadFolder);
  if (number < 0) {
    MakeFolders(path);
    number = open(path.c_str(), kReadFolder);
  }
  Descriptor folder(number);
  struct stat status;
  if (!folder.is_open() || fstat(folder.get(), &status) != 0 || !IsOurs(status)) return nullptr;
  return std::unique_ptr<CacheFolder>(new CacheFolder(folder.Release(), limit));
}

CacheFolder::~CacheFolder() { close(folder_); }

int CacheFolder::OpenShard(const std::string& name, bool make) const {
  const std::string shard = name.substr(0, 2);
  const int number = openat(folder_, shard.c_str(), kReadFolder | O_NOFOLLOW);
  if (number >= 0 || !make) return number;
  mkdirat(folder_, shard.c_str(), 0700);
  return openat(folder_, shard.c_str(), kReadFolder | O_NOFOLLOW);
}

std::optional<std::string> CacheFolder::Read(const std::string& name) {
  const std::string path = name.substr(0, 2) + "/" + name;
  const Descriptor file(
      openat(folder_, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file.is_open() || fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || !IsOurs(status)) return std::nullopt;
  if (status.st_mtime + kHour < Now()) futimens(file.get(), nullptr);
  return ReadAll(file.get(), size_t(status.st_size));
}

bool CacheFolder::Write(const std::string& name, const std::string& bytes) {
  const Descriptor shard(OpenShard(name, true));
  if (!shard.is_open() || int64_t(bytes.size()) > limit_ / kShards) return false;
  MakeRoom(shard.get(), int64_t(bytes.size()));
  const std::string made = NewName();
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor file(openat(shard.get(), made.c_str(), flags, 0600));
  if (!file.is_open()) return false;
  const bool is_there = WriteAll(file.get(), bytes) &&
                        renameat(shard.get(), made.c_str(), shard.get(), name.c_str()) == 0;
  if (!is_there) unlinkat(shard.get(), made.c_str(), 0);
  return is_there;
}

void CacheFolder::Remove(const std::string& name) {
  unlinkat(folder_, (name.substr(0, 2) + "/" + name).c_str(), 0);
}

std::optional<int64_t> CacheFolder::LastUse(const std::string& name) {
  struct stat status;
  const std::string path = name.substr(0, 2) + "/" + name;
  if (fstatat(folder_, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return int64_t(status.st_mtime);
}

// What is ours in a subfolder.
std::vector<CacheFolder::File> CacheFolder::List(int shard) const {
  std::vector<File> files;
  const int copy = openat(shard, ".", kReadFolder);
  DIR* listing = copy < 0 ? nullptr : fdopendir(copy);
  if (listing == nullptr) {
    if (copy >= 0) close(copy);
    return files;
  }
  while (const dirent* found = readdir(listing)) {
    const bool is_entry = IsEntryName(found->d_name);
    if (!is_entry && std::strncmp(found->d_name, kNewPrefix, sizeof(kNewPrefix) - 1) != 0) continue;
    struct stat status;
    if (fstatat(shard, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    files.push_back({found->d_name, status.st_size, status.st_mtime, is_entry});
  }
  closedir(listing);
  return files;
}

// Removes the least recently used until `needed` bytes more keep the subfolder within its share,
// and what processes that died have left behind.
void CacheFolder::MakeRoom(int shard, int64_t needed) {
  std::vector<File> files = List(shard);
  int64_t total = needed;
  for (const File& file : files) total += file.bytes;
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.last_use < b.last_use; });
  for (const File& file : files) {
    const bool is_left_behind = !file.is_entry && file.last_use + kHour < Now();
    const bool must_go = file.is_entry && total > limit_ / kShards;
    if (!is_left_behind && !must_go) continue;
    if (unlinkat(shard, file.name.c_str(), 0) == 0) total -= file.bytes;
  }
}

CacheUsage CacheFolder::Measure() {
  CacheUsage usage;
  for (int i = 0; i < kShards; ++i) {
    const Descriptor shard(OpenShard({kDigits[i / 16], kDigits[i % 16]}, false));
    if (!shard.is_open()) continue;
    for (const File& file : List(shard.get())) {
      usage.entries += file.is_entry;
      usage.bytes += file.bytes;
    }
  }
  return usage;
}

void CacheFolder::Clear() {
  for (int i = 0; i < kShards; ++i) {
    const std::string name = {kDigits[i / 16], kDigits[i % 16]};
    const Descriptor shard(OpenShard(name, false));
    if (!shard.is_open()) continue;
    for (const File& file : List(shard.get())) {
      if (file.is_entry) unlinkat(shard.get(), file.name.c_str(), 0);
    }
    unlinkat(folder_, name.c_str(), AT_REMOVEDIR);  // where nothing else is in it
  }
}

}  // namespace parakeet::pylib
