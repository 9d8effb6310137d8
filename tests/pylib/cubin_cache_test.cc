#include "pylib/core/cubin_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/cubin_store.h"

namespace parakeet::pylib {
namespace {

namespace fs = std::filesystem;

// Bytes of every kind.
const std::string kKey("for a device\n.version 8.0\0...", 30);
const std::string kCubin(
    "\x7f"
    "ELF\0\1\2",
    7);

class CubinCacheTest : public testing::Test {
 protected:
  CubinCacheTest() {
    std::string place = testing::TempDir() + "cubins-XXXXXX";
    path_ = mkdtemp(place.data());
    StartCubinCache();
  }
  ~CubinCacheTest() override { fs::remove_all(path_); }

  std::shared_ptr<CacheFolder> Open(int64_t limit = 1 << 30) const {
    return CacheFolder::Open(path_.string(), limit);
  }
  // Of entries: the folder's own begin with a point.
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      const bool is_own = entry.path().filename().string().starts_with('.');
      if (entry.is_regular_file() && !is_own) files.push_back(entry.path());
    }
    return files;
  }
  static runtime::CubinStore& Store() { return *runtime::TheCubinStore(); }

  fs::path path_;
};

TEST_F(CubinCacheTest, AnotherProcessFindsWhatIsKept) {
  {
    const CubinFolder folder(Open());
    ASSERT_TRUE(Store().IsOpen());
    EXPECT_FALSE(Store().Find(kKey));
    Store().Keep(kKey, kCubin);
    EXPECT_EQ(Store().Find(kKey), kCubin);
  }
  const CubinFolder folder(Open());
  EXPECT_EQ(Store().Find(kKey), kCubin);
  EXPECT_FALSE(Store().Find(kKey + "."));
  ASSERT_EQ(Files().size(), 1u);
  EXPECT_EQ(fs::status(Files()[0]).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  Store().Keep(kKey, "other");
  EXPECT_EQ(Store().Find(kKey), "other");
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(CubinCacheTest, IsOpenInAScopeOfAThreadAlone) {
  EXPECT_FALSE(Store().IsOpen());
  const CubinFolder folder(Open());
  {
    const CubinFolder none(nullptr);
    EXPECT_FALSE(Store().IsOpen());
  }
  std::thread([] { EXPECT_FALSE(Store().IsOpen()); }).join();
  EXPECT_TRUE(Store().IsOpen());
  setenv("PARAKEET_DEBUG", "verify", 1);
  EXPECT_FALSE(Store().IsOpen());
  unsetenv("PARAKEET_DEBUG");
}

TEST_F(CubinCacheTest, DamagedEntriesGo) {
  const CubinFolder folder(Open());
  Store().Keep(kKey, kCubin);
  const fs::path file = Files().at(0);
  std::string whole;
  std::getline(std::ifstream(file), whole, '\xff');
  const auto write = [&](const std::string& bytes) { std::ofstream(file) << bytes; };
  write(whole);
  EXPECT_EQ(Store().Find(kKey), kCubin);
  std::string changed = whole;
  changed.back() ^= 1;
  for (const std::string& bytes : {std::string(), whole.substr(0, 20), whole + "x", changed}) {
    write(bytes);
    EXPECT_FALSE(Store().Find(kKey));
    EXPECT_TRUE(Files().empty()) << bytes.size();
  }
  Store().Keep(kKey, kCubin);
  EXPECT_EQ(Store().Find(kKey), kCubin);
}

TEST_F(CubinCacheTest, AnEntryUnderAnothersNameIsNoAnswer) {
  const CubinFolder folder(Open());
  Store().Keep(kKey, kCubin);
  const fs::path first = Files().at(0);
  Store().Keep("another key", "another");
  for (const fs::path& file : Files()) {
    if (file != first) fs::copy_file(file, first, fs::copy_options::overwrite_existing);
  }
  EXPECT_FALSE(Store().Find(kKey));
  EXPECT_EQ(Store().Find("another key"), "another");
}

TEST_F(CubinCacheTest, WhatDoesNotFitOrCannotBeWrittenIsNotKept) {
  {
    const CubinFolder folder(Open(10));
    Store().Keep(kKey, kCubin);
    EXPECT_FALSE(Store().Find(kKey));
  }
  const CubinFolder folder(Open());
  fs::remove_all(path_);
  Store().Keep(kKey, kCubin);
  EXPECT_FALSE(Store().Find(kKey));
}

}  // namespace
}  // namespace parakeet::pylib
