// The operators new and delete of this program are those of the compiler's library.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace parakeet::pylib {
namespace {

// A block that knows what it was filled with.
class Filled {
 public:
  Filled(size_t size, unsigned char with) : bytes_(new unsigned char[size]), size_(size) {
    std::memset(bytes_.get(), with, size);
  }
  bool IsAll(unsigned char value) const {
    for (size_t k = 0; k < size_; ++k) {
      if (bytes_[k] != value) return false;
    }
    return true;
  }
  unsigned char First() const { return bytes_[0]; }
  const void* place() const { return bytes_.get(); }

 private:
  std::unique_ptr<unsigned char[]> bytes_;
  size_t size_;
};

TEST(SmallBlocks, NoneLiesInAnother) {
  std::mt19937 random(1);
  std::vector<Filled> blocks;
  for (int k = 0; k < 200'000; ++k) {
    if (!blocks.empty() && random() % 3 == 0) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      ASSERT_TRUE(blocks.back().IsAll(blocks.back().First()));
      blocks.pop_back();
    }
    blocks.emplace_back(1 + random() % 700, static_cast<unsigned char>(random()));
  }
  for (const Filled& block : blocks) ASSERT_TRUE(block.IsAll(block.First()));
}

TEST(SmallBlocks, AreAlignedForAnything) {
  for (size_t size = 0; size < 600; ++size) {
    const std::unique_ptr<char[]> block(new char[size]);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % alignof(std::max_align_t), 0u) << size;
  }
}

TEST(SmallBlocks, OneThatWasDroppedServesAgain) {
  const void* first = Filled(48, 1).place();
  EXPECT_EQ(Filled(40, 2).place(), first);
  EXPECT_NE(Filled(49, 3).place(), first);
}

// As nodes of a program that one thread makes and another takes apart.
TEST(SmallBlocks, GoFromThreadToThread) {
  std::mutex mutex;
  std::vector<Filled> shared;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int k = 0; k < 20'000; ++k) {
      Filled made(1 + random() % 520, static_cast<unsigned char>(seed));
      const std::lock_guard lock(mutex);
      shared.push_back(std::move(made));
      if (random() % 2 == 0) continue;
      std::swap(shared[random() % shared.size()], shared.back());
      EXPECT_TRUE(shared.back().IsAll(shared.back().First()));
      shared.pop_back();
    }
  };
  for (unsigned round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) threads.emplace_back(work, round * 4 + seed);
    for (std::thread& thread : threads) thread.join();
  }
  for (const Filled& block : shared) EXPECT_TRUE(block.IsAll(block.First()));
}

// Later threads go on with what earlier ones had: of the range no more is used.
TEST(SmallBlocks, ThreadsThatEndLeaveTheirs) {
  std::vector<const void*> places;
  for (int k = 0; k < 1000; ++k) {
    std::thread([&] { places.push_back(Filled(400, 1).place()); }).join();
  }
  for (const void* place : places) EXPECT_EQ(place, places[0]);
}

TEST(SmallBlocks, MoreThanTheRangeHolds) {
  std::vector<Filled> blocks;
  constexpr size_t kBlocks = (size_t{300} << 20) / 512;
  for (size_t k = 0; k < kBlocks; ++k) blocks.emplace_back(512, static_cast<unsigned char>(k));
  for (size_t k = 0; k < kBlocks; k += 7) ASSERT_TRUE(blocks[k].IsAll(blocks[k].First()));
}

TEST(SmallBlocks, AChildProcessGoesOn) {
  const Filled before(100, 7);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<Filled> blocks;
    for (int k = 0; k < 1000; ++k) blocks.emplace_back(100, 9);
    _exit(before.IsAll(7) && blocks.back().IsAll(9) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace parakeet::pylib
