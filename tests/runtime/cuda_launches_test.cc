// Rows of launches that go to the driver as graphs, on a driver that is none: what is done, and in
// which order, is as if each went by itself.
#include "runtime/cuda_launches.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "runtime/device_call.h"
#include "tests/runtime/fake_cuda_driver.h"

namespace parakeet::runtime {
namespace {

Device& Cuda() {
  static const bool is_set = (SetCudaDriver(FakeCudaDriver()), true);
  EXPECT_TRUE(is_set);
  std::string why;
  return *OpenDevice(DeviceKind::kCuda, 0, &why);
}

struct Captures {
  PkErrorRecord* records[2];
  int64_t* number;
  int64_t operand;
};

// No two of them may change places.
int64_t Mix(int64_t kernel, int64_t number, int64_t operand) {
  return int64_t(uint64_t(number) * 31 + uint64_t(operand) + uint64_t(kernel) * 1000);
}

// A call of launches of kernels "mix_0" to "mix_3", with a model of what they do.
class Mixing {
 public:
  Mixing() : call_(1), on_device_(&call_, &Cuda()) {
    for (int64_t k = 0; k < 4; ++k) {
      names_[k] = "mix_" + std::to_string(k);
      Fake().kernels[names_[k]] = [k](unsigned, unsigned, const void* captures) {
        const auto& at = *static_cast<const Captures*>(captures);
        *at.number = Mix(k, *at.number, at.operand);
      };
    }
    number_ = static_cast<int64_t*>(on_device_.AllocateBuffer(8));
    on_device_.Write(number_, &expected_, 8);
  }

  void Launch(int64_t kernel, int64_t operand, int64_t blocks = 1) {
    static const std::string code = "code of mix";
    const PkKernel described = {kPkKernelCuda,         0, 0, code.data(), int64_t(code.size()),
                                names_[kernel].c_str()};
    Captures captures = {{}, number_, operand};
    EXPECT_EQ(on_device_.Launch(described, blocks, 32, &captures, sizeof captures), 0);
    expected_ = Mix(kernel, expected_, operand);
  }

  void Check() {
    int64_t number = 0;
    EXPECT_EQ(on_device_.Read(&number, number_, 8), 0);
    EXPECT_EQ(number, expected_);
  }

  DeviceCall& call() { return on_device_; }

 private:
  Call call_;
  DeviceCall on_device_;
  std::string names_[4];
  int64_t* number_;
  int64_t expected_ = 1;
};

struct Counts {
  int launches = Fake().launches, graphs = Fake().graphs, graph_launches = Fake().graph_launches,
      node_changes = Fake().node_changes;
  int64_t replays = Cuda().Counters().replays, counted = Cuda().Counters().launches;
};

Counts Since(const Counts& before) {
  Counts now;
  now.launches -= before.launches;
  now.graphs -= before.graphs;
  now.graph_launches -= before.graph_launches;
  now.node_changes -= before.node_changes;
  now.replays -= before.replays;
  now.counted -= before.counted;
  return now;
}

TEST(CudaLaunches, ALoopOfOneKernelBecomesAGraph) {
  const Counts before;
  {
    Mixing mixing;
    for (int i = 0; i < 100; ++i) mixing.Launch(0, 5);
    mixing.Check();
  }
  const Counts first = Since(before);
  EXPECT_EQ(first.graphs, 1);
  EXPECT_GE(first.graph_launches, 4);
  EXPECT_EQ(first.launches + 16 * first.graph_launches, 100);
  EXPECT_EQ(first.replays, first.graph_launches);
  EXPECT_EQ(first.counted, 100);
  // The next call has it from its first launch on; what is left over goes one by one.
  const Counts again;
  {
    Mixing mixing;
    for (int i = 0; i < 35; ++i) mixing.Launch(0, 5);
    mixing.Check();
  }
  const Counts second = Since(again);
  EXPECT_EQ(second.graphs, 0);
  EXPECT_EQ(second.graph_launches, 2);
  EXPECT_EQ(second.launches, 3);
}

// Each kernel may begin before the one that it waits for has ended.
TEST(CudaLaunches, KernelsOverlapOneByOneAndInGraphs) {
  const int overlapping = Fake().overlapping, edges = Fake().overlapping_edges;
  const Counts before;
  {
    Mixing mixing;
    for (int i = 0; i < 100; ++i) mixing.Launch(0, i, /*blocks=*/77);
    mixing.Check();
  }
  const Counts done = Since(before);
  EXPECT_EQ(Fake().overlapping - overlapping, done.launches);
  EXPECT_EQ(done.graphs, 1);
  EXPECT_EQ(Fake().overlapping_edges - edges, 15);
}

// Of a train of three, by a driver that may be too old for such edges.
int EdgesOf(const CudaDriver& driver, bool overlaps) {
  CuModule module = nullptr;
  CuFunction function = nullptr;
  Fake().kernels["nothing"] = [](unsigned, unsigned, const void*) {};
  void* const entered = Cuda().Enter();
  EXPECT_EQ(driver.ModuleLoadDataEx(&module, "code", 0, nullptr, nullptr), 0);
  EXPECT_EQ(driver.ModuleGetFunction(&function, module, "nothing"), 0);
  const int before = Fake().overlapping_edges;
  LaunchTrain train(driver);
  EXPECT_EQ(train.Build(std::vector<CudaGrid>(3, {function, 1, 32, 0, 16, overlaps})), 0);
  Cuda().Leave(entered);
  return Fake().overlapping_edges - before;
}

TEST(LaunchTrain, NeedsNoEdgesOfNewDrivers) {
  CudaDriver driver = FakeCudaDriver();
  EXPECT_EQ(EdgesOf(driver, /*overlaps=*/true), 2);
  EXPECT_EQ(EdgesOf(driver, /*overlaps=*/false), 0);
  driver.GraphAddDependencies = nullptr;
  EXPECT_EQ(EdgesOf(driver, /*overlaps=*/true), 0);
}

TEST(CudaLaunches, CapturesThatStayAreNotSetAgain) {
  Mixing mixing;
  // Two buffers alternate, and an index runs.
  for (int i = 0; i < 64; ++i) mixing.Launch(1, i % 2);
  mixing.Check();
  for (int i = 0; i < 32; ++i) mixing.Launch(1, i % 2);
  const Counts before;
  for (int i = 0; i < 32; ++i) mixing.Launch(1, i % 2);
  EXPECT_EQ(Since(before).node_changes, 0);
  for (int i = 0; i < 32; ++i) mixing.Launch(1, i);
  EXPECT_GE(Since(before).node_changes, 28);
  mixing.Check();
}

TEST(CudaLaunches, ALoopOfSeveralKernelsBecomesAGraph) {
  const Counts before;
  Mixing mixing;
  // The same kernel with other grids is another.
  for (int i = 0; i < 60; ++i) {
    mixing.Launch(2, i);
    mixing.Launch(3, 1);
    mixing.Launch(2, i, /*blocks=*/2);
  }
  mixing.Check();
  const Counts done = Since(before);
  EXPECT_EQ(done.graphs, 1);
  EXPECT_EQ(done.launches + 18 * done.graph_launches, 180);
  EXPECT_GE(done.graph_launches, 7);
}

TEST(CudaLaunches, WhatEndsEarlyGoesOneByOne) {
  Mixing mixing;
  for (int i = 0; i < 50; ++i) mixing.Launch(0, i);
  mixing.Launch(1, 3);
  for (int i = 0; i < 7; ++i) mixing.Launch(0, i);
  const Counts before;
  mixing.Check();
  EXPECT_EQ(Since(before).launches, 7);
  // As before a copy, so before memory goes back to the driver, and at the end of the call.
  for (int i = 0; i < 7; ++i) mixing.Launch(0, i);
  void* large = mixing.call().AllocateBuffer(int64_t{100} << 20);
  EXPECT_EQ(Since(before).launches, 14);
  for (int i = 0; i < 7; ++i) mixing.Launch(0, i);
  EXPECT_EQ(Since(before).launches, 14);
  mixing.call().FreeBuffer(large);
  EXPECT_EQ(Since(before).launches, 21);
  mixing.Check();
}

// A call's kernels, from its fourth time on.
TEST(CudaLaunches, ShortCallsBecomeGraphs) {
  const auto run = [](int64_t last) {
    const Counts before;
    {
      Mixing mixing;
      for (const int64_t kernel : {int64_t{0}, int64_t{1}, int64_t{2}, last}) {
        mixing.Launch(kernel, 9, /*blocks=*/7);
      }
    }
    return Since(before);
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(3).launches, 4);
  EXPECT_EQ(run(3).launches, 0);
  EXPECT_EQ(run(3).graph_launches, 1);
  // Another one that begins so.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(2).launches, 4);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(2).graph_launches, 1);
    EXPECT_EQ(run(3).graph_launches, 1);
    EXPECT_EQ(run(3).launches, 0);
  }
}

// What a loop leaves over is such a call too.
TEST(CudaLaunches, TheEndOfALoopBecomesAGraph) {
  const auto run = [] {
    const Counts before;
    Mixing mixing;
    for (int i = 0; i < 70; ++i) mixing.Launch(i % 2, i, /*blocks=*/8);
    mixing.Check();
    return Since(before);
  };
  for (int i = 0; i < 4; ++i) EXPECT_GT(run().launches, 0);
  const Counts done = run();
  EXPECT_EQ(done.launches, 0);
  EXPECT_EQ(done.graph_launches, 5);
}

TEST(CudaLaunches, NothingIsHeldBehindACall) {
  const Counts before;
  {
    Mixing mixing;
    for (int i = 0; i < 40; ++i) mixing.Launch(0, i);
    mixing.Check();
    for (int i = 0; i < 3; ++i) mixing.Launch(0, i);
  }
  const Counts done = Since(before);
  EXPECT_EQ(done.launches + 16 * done.graph_launches, 43);
  // Nor outside of one.
  const std::string code = "code of mix";
  const PkKernel kernel = {kPkKernelCuda, 0, 0, code.data(), int64_t(code.size()), "mix_0"};
  int64_t number = 0;
  Captures captures = {{}, &number, 0};
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(Cuda().Launch(kernel, 1, 32, &captures, sizeof captures), 0);
  }
  EXPECT_EQ(Since(before).launches, done.launches + 40);
  EXPECT_EQ(Cuda().Wait(), 0);
}

TEST(CudaLaunches, NoGraphsWhereTheyAreOffOrCannotBeMade) {
  const auto run = [] {
    const Counts before;
    // Another grid each time: no graph is there from before.
    static int64_t blocks = 10;
    ++blocks;
    Mixing mixing;
    for (int i = 0; i < 100; ++i) mixing.Launch(0, i, blocks);
    mixing.Check();
    return Since(before);
  };
  UseGraphs(false);
  EXPECT_EQ(run().launches, 100);
  UseGraphs(true);
  EXPECT_LT(run().launches, 50);
}

TEST(CudaLaunches, AnyOrderIsKept) {
  std::mt19937 random(7);
  const auto below = [&](unsigned count) { return int64_t(random() % count); };
  for (int round = 0; round < 200; ++round) {
    Mixing mixing;
    for (int part = 0; part < 6; ++part) {
      std::vector<int64_t> loop(size_t(1 + below(4)));
      for (int64_t& kernel : loop) kernel = below(4);
      const int64_t trips = below(60), kinds = 1 + below(3);
      for (int64_t trip = 0; trip < trips; ++trip) {
        for (const int64_t kernel : loop) mixing.Launch(kernel, trip % kinds, 1 + kernel % 2);
      }
      if (below(4) == 0) mixing.Check();
      if (below(4) == 0) mixing.call().FreeBuffer(mixing.call().AllocateBuffer(below(100'000)));
    }
    mixing.Check();
  }
  EXPECT_GT(Cuda().Counters().replays, 200);
}

TEST(CudaLaunches, GoesOnWithoutGraphsWhereTheDriverRefusesThem) {
  Fake().graph_failure = 2;
  const Counts before;
  {
    Mixing mixing;
    for (int i = 0; i < 100; ++i) mixing.Launch(0, i, 99);
    mixing.Check();
  }
  Fake().graph_failure = 0;
  EXPECT_EQ(Since(before).launches, 100);
}

}  // namespace
}  // namespace parakeet::runtime
