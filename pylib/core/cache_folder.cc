#include "pylib/core/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
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
constexpr int64_t kSecond = 1'000'000'000;  // nanoseconds
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kDay = 24 * kHour;
constexpr char kCountName[] = ".count";
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

// Waits for others, who hold it for microseconds or while they list the folder; not for one that
// has been stopped meanwhile.
bool Lock(int file) {
  for (int tries = 0; tries < 200; ++tries) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    usleep(1000);
  }
  return false;
}

// Of this process and no other, also after a fork.
std::string NewName() {
  static std::atomic<uint32_t> count = 0;
  return kNewPrefix + std::to_string(getpid()) + "-" + std::to_string(count++);
}

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

int64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now);
}

std::string PathOf(const std::string& name) { return name.substr(0, 2) + "/" + name; }

}  // namespace

struct CacheFolder::File {
  std::string name;
  int64_t bytes;
  int64_t last_use;
  bool is_entry;  // else one that is being written, or was when its process died
  std::string path;
};

// What lies in the file of that name.
struct CacheFolder::Count {
  int64_t bytes;
  int64_t taken;  // when all files were last listed for it
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
  const Descriptor file(
      openat(folder_, PathOf(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  if (!file.is_open() || fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || !IsOurs(status)) return std::nullopt;
  if (Nanoseconds(status.st_mtim) + kSecond < Now()) futimens(file.get(), nullptr);
  return ReadAll(file.get(), size_t(status.st_size));
}

// The file is there, by another name, before room is made: whoever sweeps meanwhile counts it.
bool CacheFolder::Write(const std::string& name, const std::string& bytes) {
  const int64_t size = int64_t(bytes.size());
  if (size > limit_) return false;
  const Descriptor shard(OpenShard(name, true));
  if (!shard.is_open()) return false;
  const std::string made = NewName();
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor file(openat(shard.get(), made.c_str(), flags, 0600));
  if (!file.is_open()) return false;
  const bool is_there = WriteAll(file.get(), bytes) && MakeRoom(size, SizeOf(name)) &&
                        renameat(shard.get(), made.c_str(), shard.get(), name.c_str()) == 0;
  if (!is_there) unlinkat(shard.get(), made.c_str(), 0);
  return is_there;
}

void CacheFolder::Remove(const std::string& name) { unlinkat(folder_, PathOf(name).c_str(), 0); }

std::optional<int64_t> CacheFolder::LastUse(const std::string& name) {
  struct stat status;
  if (fstatat(folder_, PathOf(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  return Nanoseconds(status.st_mtim);
}

// 0 where there is none.
int64_t CacheFolder::SizeOf(const std::string& name) const {
  struct stat status;
  const bool is_there = fstatat(folder_, PathOf(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  return is_there ? int64_t(status.st_size) : 0;
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
    files.push_back({found->d_name, status.st_size, Nanoseconds(status.st_mtim), is_entry, ""});
  }
  closedir(listing);
  return files;
}

std::vector<CacheFolder::File> CacheFolder::ListAll() const {
  std::vector<File> files;
  for (int i = 0; i < kSubfolders; ++i) {
    const std::string name = {kDigits[i / 16], kDigits[i % 16]};
    const Descriptor subfolder(OpenShard(name, false));
    if (!subfolder.is_open()) continue;
    for (File& file : List(subfolder.get())) {
      file.path = name + "/" + file.name;
      files.push_back(std::move(file));
    }
  }
  return files;
}

// Adds a file that is there now, in the place of another, to the count, or takes that anew, with
// room made where it is needed. False where the count cannot be written.
bool CacheFolder::MakeRoom(int64_t size, int64_t replaced) {
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor file(openat(folder_, kCountName, flags, 0600));
  if (!file.is_open() || !Lock(file.get())) return false;
  Count count = {};
  const bool is_read = pread(file.get(), &count, sizeof(count), 0) == sizeof(count);
  const int64_t now = Now();
  const bool is_recent = is_read && count.taken <= now && now < count.taken + kDay;
  const bool is_known = is_recent && count.bytes >= 0 && count.bytes + size - replaced <= limit_;
  count = is_known ? Count{std::max(size, count.bytes + size - replaced), count.taken}
                   : Count{Sweep(), now};
  return pwrite(file.get(), &count, sizeof(count), 0) == sizeof(count);
}

// Removes what processes that died have left behind and, where there are more bytes than may be,
// the least recently used until an eighth of the bound is free. Returns what is left.
int64_t CacheFolder::Sweep() {
  std::vector<File> files = ListAll();
  int64_t total = 0;
  for (const File& file : files) total += file.bytes;
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.last_use < b.last_use; });
  const int64_t least = total > limit_ ? limit_ - limit_ / 8 : limit_;
  for (const File& file : files) {
    const bool is_left_behind = !file.is_entry && file.last_use + kHour < Now();
    const bool must_go = file.is_entry && total > least;
    if (!is_left_behind && !must_go) continue;
    if (unlinkat(folder_, file.path.c_str(), 0) == 0) total -= file.bytes;
  }
  return total;
}

CacheUsage CacheFolder::Measure() {
  CacheUsage usage;
  for (const File& file : ListAll()) {
    usage.entries += file.is_entry;
    usage.bytes += file.bytes;
  }
  return usage;
}

void CacheFolder::Clear() {
  for (const File& file : ListAll()) {
    if (file.is_entry) unlinkat(folder_, file.path.c_str(), 0);
  }
  for (int i = 0; i < kSubfolders; ++i) {
    const std::string name = {kDigits[i / 16], kDigits[i % 16]};
    unlinkat(folder_, name.c_str(), AT_REMOVEDIR);  // where nothing else is in it
  }
  unlinkat(folder_, kCountName, 0);
}

}  // namespace parakeet::pylib
