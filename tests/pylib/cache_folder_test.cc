#include "pylib/core/cache_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace parakeet::pylib {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRoomy = 1 << 30;

// Names in one subfolder.
std::string Name(int number) {
  std::string digits = std::to_string(number);
  return "3f" + std::string(30 - digits.size(), '0') + digits + "-0";
}

// Names in many.
std::string Elsewhere(int number) {
  const char digits[] = "0123456789abcdef";
  return std::string{digits[number / 16], digits[number % 16]} + Name(number).substr(2);
}

class CacheFolderTest : public testing::Test {
 protected:
  CacheFolderTest() {
    std::string place = testing::TempDir() + "cache-XXXXXX";
    path_ = fs::path(mkdtemp(place.data())) / "some" / "cache";
  }
  ~CacheFolderTest() override { fs::remove_all(path_.parent_path().parent_path()); }

  std::unique_ptr<CacheFolder> Open(int64_t limit = kRoomy) {
    return CacheFolder::Open(path_.string(), limit);
  }
  fs::path File(int number) const { return path_ / "3f" / Name(number); }
  // As if it had last been used so many hours ago.
  void MakeOld(int number, int hours) const {
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time(File(number), now - std::chrono::hours(hours));
  }

  fs::path path_;
};

TEST_F(CacheFolderTest, IsMadeForItsOwnerAlone) {
  ASSERT_TRUE(Open());
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(path_.parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(CacheFolderTest, GivesBackWhatItWasGiven) {
  const auto folder = Open();
  EXPECT_FALSE(folder->Read(Name(1)));
  EXPECT_FALSE(folder->LastUse(Name(1)));
  const std::string bytes("one\0two", 7);
  ASSERT_TRUE(folder->Write(Name(1), bytes));
  EXPECT_EQ(folder->Read(Name(1)), bytes);
  EXPECT_EQ(Open()->Read(Name(1)), bytes);
  ASSERT_TRUE(folder->Write(Name(1), "other"));
  EXPECT_EQ(folder->Read(Name(1)), "other");
  EXPECT_EQ(folder->Measure().entries, 1);
  EXPECT_EQ(folder->Measure().bytes, 5);
  folder->Remove(Name(1));
  EXPECT_FALSE(folder->Read(Name(1)));
}

TEST_F(CacheFolderTest, OneThatOthersMayWriteToIsRefused) {
  ASSERT_TRUE(Open());
  for (const mode_t mode : {0770, 0702, 01777}) {
    chmod(path_.c_str(), mode);
    EXPECT_FALSE(Open()) << mode;
  }
  chmod(path_.c_str(), 0755);
  EXPECT_TRUE(Open());
}

TEST_F(CacheFolderTest, OneOfAnotherUserIsRefused) {
  ASSERT_TRUE(Open());
  if (chown(path_.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give a folder away";
  EXPECT_FALSE(Open());
}

TEST_F(CacheFolderTest, WhereNoFolderCanBeThereIsNone) {
  fs::create_directories(path_.parent_path());
  std::ofstream(path_) << "a file";
  EXPECT_FALSE(Open());
  EXPECT_FALSE(CacheFolder::Open(path_.string() + "/below", kRoomy));
}

TEST_F(CacheFolderTest, FilesThatOthersMayHaveMadeAreNotRead) {
  const auto folder = Open();
  ASSERT_TRUE(folder->Write(Name(1), "good"));
  chmod(File(1).c_str(), 0622);
  EXPECT_FALSE(folder->Read(Name(1)));
  ASSERT_TRUE(folder->Write(Name(2), "good"));
  fs::create_symlink(File(2), File(3));
  EXPECT_FALSE(folder->Read(Name(3)));
  ASSERT_EQ(mkfifo(File(4).c_str(), 0600), 0);
  EXPECT_FALSE(folder->Read(Name(4)));  // and does not wait for a writer
  EXPECT_TRUE(folder->Read(Name(2)));
}

TEST_F(CacheFolderTest, TheLeastRecentlyUsedOfAllSubfoldersGoFirst) {
  const auto folder = Open(1000);
  const std::string bytes(300, 'x');
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(folder->Write(Elsewhere(i), bytes));
    const fs::path file = path_ / Elsewhere(i).substr(0, 2) / Elsewhere(i);
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(10 - i));
  }
  EXPECT_TRUE(folder->Read(Elsewhere(0)));  // which makes 1 the oldest
  ASSERT_TRUE(folder->Write(Elsewhere(200), std::string(100, 'x')));
  EXPECT_TRUE(folder->Read(Elsewhere(1)));  // 1000 bytes are the bound
  fs::last_write_time(path_ / "01" / Elsewhere(1),
                      fs::file_time_type::clock::now() - std::chrono::minutes(10));
  ASSERT_TRUE(folder->Write(Elsewhere(3), std::string(150, 'x')));
  EXPECT_FALSE(folder->Read(Elsewhere(1)));
  for (int i : {0, 2, 3, 200}) EXPECT_TRUE(folder->Read(Elsewhere(i))) << i;
}

TEST_F(CacheFolderTest, OneEntryMayTakeTheWholeBound) {
  const auto folder = Open(1000);
  EXPECT_TRUE(folder->Write(Elsewhere(1), std::string(10, 'x')));
  EXPECT_TRUE(folder->Write(Elsewhere(2), std::string(1000, 'x')));
  EXPECT_FALSE(folder->Read(Elsewhere(1)));
  EXPECT_FALSE(folder->Write(Elsewhere(3), std::string(1001, 'x')));
  EXPECT_TRUE(folder->Read(Elsewhere(2)));
}

TEST_F(CacheFolderTest, TheBoundHoldsAfterEveryWrite) {
  const auto folder = Open(1000);
  for (int i = 0; i < 200; ++i) {
    const bool fits = i % 7 != 0;
    EXPECT_EQ(folder->Write(Elsewhere(i), std::string(fits ? 5 * i : 1001, 'x')), fits);
    EXPECT_LE(folder->Measure().bytes, 1000);
  }
}

TEST_F(CacheFolderTest, TheBoundHoldsForManyWritersAndACountThatIsWrong) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      const auto folder = Open(5000);
      for (int i = 0; i < 60; ++i) folder->Write(Elsewhere(60 * writer + i), std::string(99, 'x'));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto folder = Open(5000);
  EXPECT_LE(folder->Measure().bytes, 5000);
  EXPECT_GE(folder->Measure().entries, 40);
  std::ofstream(path_ / ".count") << "nonsense";
  ASSERT_TRUE(folder->Write(Elsewhere(250), std::string(99, 'x')));
  for (int i = 0; i < 30; ++i) folder->Write(Name(i), std::string(99, 'x'));
  EXPECT_LE(folder->Measure().bytes, 5000);
}

TEST_F(CacheFolderTest, WhatProcessesThatDiedLeftBehindGoesWithTheNextCount) {
  const auto folder = Open();
  ASSERT_TRUE(folder->Write(Name(1), "x"));
  const fs::path left = path_ / "3f" / ".new-1-0", fresh = path_ / "3f" / ".new-2-0";
  std::ofstream(left) << "half";
  std::ofstream(fresh) << "half";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::remove(path_ / ".count");
  ASSERT_TRUE(folder->Write(Name(2), "x"));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(CacheFolderTest, ClearingTakesEntriesAndNothingElse) {
  const auto folder = Open();
  ASSERT_TRUE(folder->Write(Name(1), "x"));
  ASSERT_TRUE(folder->Write("a0" + Name(1).substr(2), "x"));
  std::ofstream(path_ / "3f" / "letter.txt") << "mine";
  std::ofstream(path_ / "notes") << "mine";
  folder->Clear();
  EXPECT_EQ(folder->Measure().entries, 0);
  EXPECT_TRUE(fs::exists(path_ / "3f" / "letter.txt"));
  EXPECT_TRUE(fs::exists(path_ / "notes"));
  EXPECT_FALSE(fs::exists(path_ / "a0"));
  EXPECT_TRUE(folder->Write(Name(1), "x"));
}

TEST_F(CacheFolderTest, AFolderThatIsGoneIsNoError) {
  const auto folder = Open();
  fs::remove_all(path_);
  EXPECT_FALSE(folder->Write(Name(1), "x"));
  EXPECT_FALSE(folder->Read(Name(1)));
  folder->Clear();
}

TEST_F(CacheFolderTest, ReadersSeeWholeFilesWhileOthersWrite) {
  constexpr int kWriters = 3, kRounds = 100;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const auto folder = Open();
      for (int i = 0; i < kRounds; ++i) {
        EXPECT_TRUE(folder->Write(Name(1), std::string(size_t(5000 + i), char('a' + writer))));
      }
    });
  }
  const auto folder = Open();
  int torn = 0;
  for (int i = 0; i < 300; ++i) {
    const auto bytes = folder->Read(Name(1));
    if (bytes && *bytes != std::string(bytes->size(), bytes->front())) ++torn;
    if (bytes && bytes->size() < 5000) ++torn;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(folder->Measure().entries, 1);
}

}  // namespace
}  // namespace parakeet::pylib
