#include "runtime/device_call.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/buffers.h"
#include "runtime/sort_kernels.h"

namespace parakeet::runtime {
namespace {

Device& Emulated() {
  std::string why;
  return *OpenDevice(DeviceKind::kEmulated, 0, &why);
}

// An argument that owns its sizes and strides.
struct Array {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  DeviceArgument Argument(void* data, bool is_written, int64_t element_bytes = 8) const {
    return {data, element_bytes, int32_t(sizes.size()), sizes.data(), strides.data(), is_written};
  }
};

class OnEmulated : public testing::Test {
 protected:
  ~OnEmulated() override {
    EXPECT_EQ(Emulated().Counters().live_buffers, before_.live_buffers);
    EXPECT_EQ(Emulated().Counters().live_bytes, before_.live_bytes);
  }
  DeviceCounters before_ = Emulated().Counters();
};

// What a launch of these tests takes: the runtime's words, then an array of numbers.
struct Captures {
  PkErrorRecord* record;
  PkErrorRecord* before;
  int64_t* numbers;
  int64_t count;
};

int32_t Launch(Call* call, PkEmulatedKernel code, Captures captures, int32_t flags,
               int64_t blocks = 1, int32_t threads = 1) {
  const PkKernel kernel = {
      kPkKernelEmulated, flags, 0, reinterpret_cast<const void*>(code), 0, "test"};
  return pk_device_launch(call, &kernel, blocks, threads, &captures, sizeof captures);
}

void AddTen(PkThread* thread, const void* captures) {
  const auto& at = *static_cast<const Captures*>(captures);
  if (thread->thread < at.count) at.numbers[thread->thread] += 10;
}

struct OrderedCaptures {
  PkErrorRecord* records[2];
  PkBlockOrder order;
  int64_t* numbers;
};

void NoteOrder(PkThread* thread, const void* captures) {
  const auto& at = *static_cast<const OrderedCaptures*>(captures);
  at.numbers[thread->block] = at.order.first + at.order.step * thread->block;
}

TEST_F(OnEmulated, GridsOfManyBlocksTakeTurnsInUpwardsAndDownwards) {
  std::vector<int64_t> numbers(5000);
  const Array many = {{5000}, {8}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  DeviceArgument arguments[] = {many.Argument(numbers.data(), true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  const PkKernel kernel = {
      kPkKernelEmulated, kPkKernelAnyOrder, 0, reinterpret_cast<const void*>(NoteOrder), 0, "test"};
  const auto seen = [&](int64_t blocks) {
    OrderedCaptures captures = {{}, {}, static_cast<int64_t*>(arguments[0].data)};
    EXPECT_EQ(pk_device_launch(&call, &kernel, blocks, 1, &captures, sizeof captures), 0);
    std::vector<int64_t> ends(2);
    pk_device_read(&call, &ends[0], captures.numbers, 8);
    pk_device_read(&call, &ends[1], captures.numbers + blocks - 1, 8);
    return ends;
  };
  using Ends = std::vector<int64_t>;
  EXPECT_EQ(seen(5000), (Ends{0, 4999}));
  EXPECT_EQ(seen(300), (Ends{0, 299}));
  EXPECT_EQ(seen(5000), (Ends{4999, 0}));
  EXPECT_EQ(seen(5000), (Ends{0, 4999}));
}

struct ManyCaptures {
  PkErrorRecord* records[2];
  PkBlockOrder order;
  const ManyCaptures* copy;
  int64_t* sum;
  int64_t numbers[1000];
};

void AddUp(PkThread*, const void* captures) {
  const ManyCaptures& many = *static_cast<const ManyCaptures*>(captures)->copy;
  *many.sum = std::accumulate(std::begin(many.numbers), std::end(many.numbers), int64_t{0});
}

TEST_F(OnEmulated, MoreCapturesThanAKernelTakesAreCopied) {
  int64_t sum = 0;
  const Array one = {{1}, {8}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  DeviceArgument arguments[] = {one.Argument(&sum, true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  const PkKernel kernel = {kPkKernelEmulated,
                           kPkKernelAnyOrder | kPkKernelCapturesElsewhere,
                           0,
                           reinterpret_cast<const void*>(AddUp),
                           0,
                           "test"};
  ManyCaptures captures = {};
  captures.sum = static_cast<int64_t*>(arguments[0].data);
  std::iota(std::begin(captures.numbers), std::end(captures.numbers), 1);
  static_assert(sizeof captures > kPkMostCaptureBytes);
  const int64_t buffers = Emulated().Counters().live_buffers;
  EXPECT_EQ(pk_device_launch(&call, &kernel, 1, 1, &captures, sizeof captures), 0);
  EXPECT_EQ(Emulated().Counters().live_buffers, buffers);
  EXPECT_TRUE(on_device.GiveBackArguments());
  EXPECT_EQ(sum, 500500);
}

TEST_F(OnEmulated, ArgumentsGoUpAndWrittenOnesComeBack) {
  std::vector<int64_t> read = {1, 2, 3}, written = {4, 5, 6};
  const Array three = {{3}, {8}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  EXPECT_EQ(call.device_call(), &on_device);
  DeviceArgument arguments[] = {three.Argument(read.data(), false),
                                three.Argument(written.data(), true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  for (DeviceArgument& argument : arguments) {
    EXPECT_EQ(
        Launch(&call, AddTen, {nullptr, nullptr, static_cast<int64_t*>(argument.data), 3}, 0, 1, 4),
        0);
  }
  EXPECT_NE(arguments[0].data, read.data());
  EXPECT_EQ(on_device.HostAddress(1, static_cast<char*>(arguments[1].data) + 8), &written[1]);
  EXPECT_TRUE(on_device.GiveBackArguments());
  EXPECT_EQ(read, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(written, (std::vector<int64_t>{14, 15, 16}));
  EXPECT_FALSE(call.has_failed());
}

TEST_F(OnEmulated, OfElementsWithGapsOnlyTheyAreWritten) {
  // Every second of a row, backwards, of every second row; a copy of a row, by a stride of 0.
  std::vector<int64_t> memory(24);
  std::iota(memory.begin(), memory.end(), 0);
  const Array spaced = {{3, 2, 2}, {64, -16, 0}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  DeviceArgument arguments[] = {spaced.Argument(&memory[3], true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  auto* data = static_cast<int64_t*>(arguments[0].data);
  EXPECT_EQ(data[0], 3);
  EXPECT_EQ(data[-2], 1);
  EXPECT_EQ(data[16], 19);
  for (int i = -2; i <= 16; ++i) data[i] += 100;
  std::vector<int64_t> expected = memory;
  for (const int i : {1, 3, 9, 11, 17, 19}) expected[i] += 100;
  // Of another thread, meanwhile.
  memory[2] = expected[2] = -1;
  EXPECT_TRUE(on_device.GiveBackArguments());
  EXPECT_EQ(memory, expected);
}

TEST_F(OnEmulated, ADenseArrayMayBeTransposedAndBackwards) {
  std::vector<int64_t> memory = {0, 1, 2, 3, 4, 5};
  const Array turned = {{3, 2, 1}, {8, -24, 1000}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  DeviceArgument arguments[] = {turned.Argument(&memory[3], true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  auto* data = static_cast<int64_t*>(arguments[0].data);
  for (int i = -3; i < 3; ++i) data[i] *= 2;
  EXPECT_TRUE(on_device.GiveBackArguments());
  EXPECT_EQ(memory, (std::vector<int64_t>{0, 2, 4, 6, 8, 10}));
}

TEST_F(OnEmulated, OverlappingArgumentsShareACopy) {
  std::vector<int64_t> memory(10), other(10);
  std::iota(memory.begin(), memory.end(), 0);
  const Array six = {{6}, {8}}, three = {{3}, {8}}, ten = {{10}, {8}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  DeviceArgument arguments[] = {six.Argument(&memory[4], true), ten.Argument(&other[0], true),
                                six.Argument(&memory[0], false), three.Argument(&memory[1], true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  auto* late = static_cast<int64_t*>(arguments[0].data);
  auto* early = static_cast<int64_t*>(arguments[2].data);
  EXPECT_EQ(late - early, 4);
  EXPECT_EQ(arguments[3].data, early + 1);
  // One copy of `memory`, one of `other`.
  EXPECT_EQ(Emulated().Counters().live_buffers - before_.live_buffers, 2);
  late[0] = -4;
  early[1] = -1;
  early[0] = -9;  // Of the argument that is only read.
  EXPECT_EQ(early[4], -4);
  EXPECT_TRUE(on_device.GiveBackArguments());
  EXPECT_EQ(memory, (std::vector<int64_t>{0, -1, 2, 3, -4, 5, 6, 7, 8, 9}));
}

TEST_F(OnEmulated, CopiesKeepTheAlignmentOfTheirElements) {
  alignas(64) char bytes[64] = {};
  for (const int offset : {0, 1, 8, 15}) {
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    const Array two = {{2}, {8}};
    DeviceArgument arguments[] = {two.Argument(bytes + offset, false)};
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arguments[0].data) % 16, uintptr_t(offset));
  }
}

TEST_F(OnEmulated, EmptyArgumentsAndThoseOnTheDeviceStayWhereTheyAre) {
  int64_t number = 7;
  void* const there = Emulated().Allocate(16);
  const Array empty = {{2, 0}, {8, -8}}, two = {{2}, {8}};
  {
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    DeviceArgument arguments[] = {empty.Argument(&number, true), two.Argument(there, true)};
    arguments[1].is_on_device = true;
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    EXPECT_EQ(arguments[0].data, &number);
    EXPECT_EQ(arguments[1].data, there);
    EXPECT_EQ(on_device.HostAddress(0, &number), &number);
    EXPECT_EQ(on_device.HostAddress(1, there), there);
    EXPECT_TRUE(on_device.GiveBackArguments());
  }
  Emulated().Free(there);
}

TEST_F(OnEmulated, OnlyWhatMattersGoesUp) {
  const Array three = {{3}, {8}};
  for (const bool fails : {false, true}) {
    std::vector<int64_t> replaced = {1, 2, 3}, unused = {4, 5, 6}, half = {7, 8, 9, 10};
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    DeviceArgument arguments[] = {
        three.Argument(replaced.data(), true), three.Argument(unused.data(), false),
        three.Argument(half.data(), true), three.Argument(half.data() + 1, false)};
    for (DeviceArgument& argument : arguments) argument.has_contents = false;
    arguments[3].has_contents = true;  // It shares memory with what has none.
    const int64_t before = Emulated().Counters().bytes_up;
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    EXPECT_EQ(Emulated().Counters().bytes_up - before, 32);
    EXPECT_EQ(arguments[1].data, unused.data());
    EXPECT_EQ(on_device.HostAddress(1, unused.data() + 1), unused.data() + 1);
    auto* there = static_cast<int64_t*>(arguments[0].data);
    for (int i = 0; i < 3; ++i) there[i] = 10 + i;
    static_cast<int64_t*>(arguments[2].data)[0] = 70;
    if (fails) call.Fail(3, 0, nullptr, 0, nullptr);
    EXPECT_TRUE(on_device.GiveBackArguments());
    EXPECT_EQ(replaced,
              fails ? (std::vector<int64_t>{1, 2, 3}) : (std::vector<int64_t>{10, 11, 12}));
    EXPECT_EQ(half, (std::vector<int64_t>{70, 8, 9, 10}));
  }
}

TEST_F(OnEmulated, ResultsAreTakenAndTheRestIsFreed) {
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  void* const result = pk_device_alloc(&call, 24);
  void* const nothing = pk_device_alloc(&call, 0);
  void* const temporary = pk_device_alloc(&call, 1 << 20);
  pk_device_alloc(&call, 100);  // The end of the call frees it.
  pk_device_free(&call, temporary);
  pk_device_free(&call, nullptr);
  const int64_t numbers[2] = {7, 8};
  EXPECT_EQ(pk_device_write(&call, static_cast<char*>(result) + 8, numbers, 16), 0);
  int64_t seen = 0;
  EXPECT_EQ(pk_device_read(&call, &seen, static_cast<char*>(result) + 16, 8), 0);
  EXPECT_EQ(seen, 8);
  auto* host = static_cast<int64_t*>(on_device.TakeResult(result, 8, 16));
  EXPECT_EQ(host[0], 7);
  EXPECT_EQ(host[1], 8);
  KeepResult(&call, host);
  Release(host);
  EXPECT_NE(on_device.TakeResult(nothing, 0, 0), nullptr);
  void* const kept = pk_device_alloc(&call, 8);
  EXPECT_EQ(on_device.KeepOnDevice(kept), 8);
  Emulated().Free(kept);
}

TEST_F(OnEmulated, RunningOutOfMemoryIsAnError) {
  Emulated().SetLimit(Emulated().Counters().live_bytes + 1000);
  std::vector<int64_t> memory(200);
  const Array all = {{200}, {8}};
  for (const int64_t bytes : {int64_t{1001}, int64_t{-1}, INT64_MAX}) {
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    EXPECT_NE(pk_device_alloc(&call, 500), nullptr);
    EXPECT_EQ(pk_device_alloc(&call, bytes), nullptr);
    ASSERT_TRUE(call.has_failed());
    EXPECT_EQ(call.error().site, kPkSiteMemory);
    EXPECT_EQ(call.error().scalars, std::vector<int64_t>{bytes});
  }
  {
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    DeviceArgument arguments[] = {all.Argument(memory.data(), true)};
    EXPECT_FALSE(on_device.TakeArguments(arguments));
    EXPECT_EQ(call.error().site, kPkSiteMemory);
    EXPECT_TRUE(on_device.GiveBackArguments());
  }
  Emulated().SetLimit(0);
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  EXPECT_NE(pk_device_alloc(&call, 100'000), nullptr);
}

void FailWhereNegative(PkThread* thread, const void* captures) {
  const auto& at = *static_cast<const Captures*>(captures);
  const int64_t i = thread->block * 4 + thread->thread;
  if (i >= at.count || at.numbers[i] >= 0) return;
  const int64_t place[2] = {3, i}, scalar = at.numbers[i];
  pk_thread_fail(thread, 12, 2, place, 1, &scalar);
}

TEST_F(OnEmulated, TheFirstFailingIterationIsTheCallsError) {
  std::vector<int64_t> memory = {1, 2, 3, 4, 5, -6, 7, -8, 9, -10};
  const Array ten = {{10}, {8}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  DeviceArgument arguments[] = {ten.Argument(memory.data(), true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  auto* numbers = static_cast<int64_t*>(arguments[0].data);
  const Captures none = {nullptr, nullptr, numbers, 5}, some = {nullptr, nullptr, numbers, 10};
  EXPECT_EQ(Launch(&call, FailWhereNegative, none, kPkKernelMayFail, 3, 4), 0);
  EXPECT_FALSE(call.has_failed());
  EXPECT_EQ(Launch(&call, FailWhereNegative, some, kPkKernelMayFail, 3, 4), 0);
  EXPECT_FALSE(on_device.Settle());
  ASSERT_TRUE(call.has_failed());
  EXPECT_EQ(call.error().site, 12);
  EXPECT_EQ(call.error().place, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(call.error().scalars, (std::vector<int64_t>{-6}));
  // What was launched later would not have happened.
  const int64_t launches = Emulated().Counters().launches;
  EXPECT_EQ(Launch(&call, FailWhereNegative, none, kPkKernelMayFail, 3, 4), 1);
  EXPECT_EQ(Emulated().Counters().launches, launches);
  EXPECT_TRUE(on_device.Settle());
  EXPECT_TRUE(on_device.GiveBackArguments());
}

// As compiled kernels begin.
bool Stops(const Captures& at) {
  if (at.before == nullptr || at.before->state == kPkRecordEmpty) return false;
  at.record->state |= kPkRecordStopped;
  return true;
}

// Fails with the first number, where that is negative, and doubles it else.
void DoubleOrFail(PkThread* thread, const void* captures) {
  const auto& at = *static_cast<const Captures*>(captures);
  if (Stops(at)) return;
  const int64_t place[1] = {at.count};
  if (at.numbers[0] < 0) return pk_thread_fail(thread, 7, 1, place, 1, at.numbers);
  at.numbers[0] *= 2;
}

// Waits for no kernel, but each looks whether the one before has failed or was stopped.
TEST_F(OnEmulated, BehindAFailureNothingHappens) {
  for (int failing = 0; failing < 5; ++failing) {
    std::vector<int64_t> memory(5, 1);
    memory[size_t(failing)] = -1;
    const Array five = {{5}, {8}};
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    DeviceArgument arguments[] = {five.Argument(memory.data(), true)};
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    auto* numbers = static_cast<int64_t*>(arguments[0].data);
    for (int64_t i = 0; i < 5; ++i) {
      // Those that cannot fail by themselves too.
      const int32_t flags = i == 0 || i == 3 || i == failing ? kPkKernelMayFail : 0;
      EXPECT_EQ(Launch(&call, DoubleOrFail, {nullptr, nullptr, numbers + i, i}, flags), 0);
    }
    EXPECT_FALSE(call.has_failed());
    EXPECT_FALSE(on_device.Settle());
    EXPECT_EQ(call.error().place, std::vector<int64_t>{failing});
    EXPECT_TRUE(on_device.GiveBackArguments());
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(memory[size_t(i)], i < failing ? 2 : i > failing ? 1 : -1);
  }
}

TEST_F(OnEmulated, AFailureIsFoundByWhatWaitsAnyway) {
  std::vector<int64_t> memory = {-1};
  const Array one = {{1}, {8}};
  const auto fails = [&](const auto& use) {
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    DeviceArgument arguments[] = {one.Argument(memory.data(), true)};
    EXPECT_TRUE(on_device.TakeArguments(arguments));
    auto* numbers = static_cast<int64_t*>(arguments[0].data);
    const Captures captures = {nullptr, nullptr, numbers, 4};
    EXPECT_EQ(Launch(&call, DoubleOrFail, captures, kPkKernelMayFail), 0);
    use(&call, captures);
    EXPECT_TRUE(call.has_failed());
    EXPECT_EQ(call.error().site, 7);
  };
  int64_t seen = 5;
  fails([&](PkCall* call, const Captures& at) {
    EXPECT_EQ(pk_device_read(call, &seen, at.numbers, 8), 1);
    EXPECT_EQ(seen, 5);
  });
  fails([&](PkCall* call, const Captures& at) {
    EXPECT_EQ(pk_device_write(call, at.numbers, &seen, 8), 1);
    EXPECT_EQ(*at.numbers, -1);
  });
  // What is missing, the program would not have asked for.
  fails([&](PkCall* call, const Captures&) { EXPECT_EQ(pk_device_alloc(call, -1), nullptr); });
  // A long loop ends.
  fails([&](PkCall* call, const Captures& at) {
    int launches = 0;
    while (Launch(static_cast<Call*>(call), DoubleOrFail, at, 0) == 0) ++launches;
    EXPECT_LT(launches, 1000);
  });
}

TEST_F(OnEmulated, AnEmptyGridRunsNothing) {
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  EXPECT_EQ(Launch(&call, nullptr, {}, kPkKernelMayFail, 0), 0);
  EXPECT_EQ(Launch(&call, nullptr, {}, 0, -5), 0);
  EXPECT_EQ(Emulated().Counters().launches, before_.launches);
}

TEST_F(OnEmulated, AKernelOfAnotherDeviceIsRefused) {
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  const PkKernel kernel = {kPkKernelCuda, 0, 0, "", 0, "elsewhere"};
  Captures captures = {};
  EXPECT_EQ(pk_device_launch(&call, &kernel, 1, 1, &captures, sizeof captures), 1);
  ASSERT_TRUE(call.has_failed());
  EXPECT_EQ(call.error().site, kPkSiteDevice);
  ASSERT_EQ(call.error().scalars.size(), 1u);
  EXPECT_EQ(DeviceErrorText(int32_t(call.error().scalars[0])),
            "kernel elsewhere is not for the emulated device");
  EXPECT_EQ(DeviceErrorText(700), "the device failed with code 700");
}

// As NumPy's kernels: sorts, and numbers in reverse order.
int Reverse(void* data, int64_t count, void*) {
  auto* numbers = static_cast<int64_t*>(data);
  for (int64_t i = 0; i < count / 2; ++i) std::swap(numbers[i], numbers[count - 1 - i]);
  return 5;
}

int CopyBackwards(void* data, int64_t* places, int64_t count, void*) {
  for (int64_t i = 0; i < count; ++i) places[i] = static_cast<int64_t*>(data)[count - 1 - i];
  return 0;
}

const void* FindTestKernel(const char* name) {
  if (std::string(name) == "sort_i64") return reinterpret_cast<const void*>(&Reverse);
  if (std::string(name) == "argsort_i64") return reinterpret_cast<const void*>(&CopyBackwards);
  return nullptr;
}

const void* TestRoutine(const char* name) {
  SetSortKernels(FindTestKernel);
  std::string error;
  return FindSortRoutine(name, &error);
}

// Fewer numbers are sorted without a kernel.
constexpr int64_t kSorted = 16;

TEST_F(OnEmulated, ALibrarySeesTheContentsOfDeviceBuffers) {
  std::vector<int64_t> memory(2 * kSorted);
  std::iota(memory.begin(), memory.end(), 1);
  const Array all = {{2 * kSorted}, {8}};
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  DeviceArgument arguments[] = {all.Argument(memory.data(), true)};
  ASSERT_TRUE(on_device.TakeArguments(arguments));
  auto* data = static_cast<int64_t*>(arguments[0].data);
  auto* buffer = static_cast<int64_t*>(pk_device_alloc(&call, 2 * kSorted * sizeof(int64_t)));
  const uint64_t sorted[] = {reinterpret_cast<uint64_t>(data + 1), 2 * kSorted - 1};
  EXPECT_EQ(pk_device_library_call(&call, TestRoutine("sort_i64"), "ST", sorted), 5);
  // Two arrays of one buffer are of one copy.
  const uint64_t both[] = {reinterpret_cast<uint64_t>(data), kSorted,
                           reinterpret_cast<uint64_t>(data + kSorted), kSorted};
  const void* copy_backwards = TestRoutine("argsort_i64");
  EXPECT_EQ(pk_device_library_call(&call, copy_backwards, "StK", both), 0);
  const uint64_t apart[] = {reinterpret_cast<uint64_t>(data), 2 * kSorted,
                            reinterpret_cast<uint64_t>(buffer), 2 * kSorted};
  EXPECT_EQ(pk_device_library_call(&call, copy_backwards, "StK", apart), 0);
  EXPECT_TRUE(on_device.GiveBackArguments());
  // 1, then the others backwards; of those, the second half by the first one backwards.
  std::vector<int64_t> expected = {1};
  for (int64_t k = 2 * kSorted; k > kSorted + 1; --k) expected.push_back(k);
  expected.insert(expected.end(), expected.rbegin(), expected.rend());
  EXPECT_EQ(memory, expected);
  EXPECT_EQ(buffer[0], 1);
  EXPECT_EQ(buffer[1], 2 * kSorted);
  EXPECT_FALSE(call.has_failed());
}

TEST_F(OnEmulated, TheHostWorksOnOneCopyOfABuffer) {
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  auto* read = static_cast<int64_t*>(pk_device_alloc(&call, 4 * sizeof(int64_t)));
  auto* written = static_cast<int64_t*>(pk_device_alloc(&call, 4 * sizeof(int64_t)));
  std::iota(read, read + 4, 1);
  std::iota(written, written + 4, 10);
  const auto host = [&](int64_t* device, bool is_written) {
    return static_cast<int64_t*>(pk_device_copy_to_host(&call, device, is_written));
  };
  int64_t* second = host(written + 1, false);
  EXPECT_EQ(*second, 11);
  EXPECT_EQ(host(written + 3, true), second + 2);
  int64_t* other = host(read, false);
  second[2] = other[0] = 7;
  EXPECT_EQ(written[3], 13);
  EXPECT_EQ(pk_device_end_copies(&call), 0);
  EXPECT_EQ(written[3], 7);
  EXPECT_EQ(read[0], 1);
  // The next copies begin with what is there then.
  EXPECT_EQ(*host(written + 3, false), 7);
  EXPECT_EQ(pk_device_end_copies(&call), 0);
}

TEST_F(OnEmulated, CopiesOfTheHostGoBackBehindAFailure) {
  Call call(1);
  DeviceCall on_device(&call, &Emulated());
  auto* buffer = static_cast<int32_t*>(pk_device_alloc(&call, sizeof(int32_t)));
  *buffer = 1;
  *static_cast<int32_t*>(pk_device_copy_to_host(&call, buffer, 1)) = 2;
  pk_fail(&call, 0, 0, nullptr, 0, nullptr);
  EXPECT_EQ(pk_device_end_copies(&call), 0);
  EXPECT_EQ(*buffer, 2);
}

TEST_F(OnEmulated, OverlappingArraysOfTheDeviceAreOneCopyForALibrary) {
  auto* there = static_cast<int64_t*>(Emulated().Allocate(4 * kSorted * sizeof(int64_t)));
  std::iota(there, there + 4 * kSorted, 0);
  {
    Call call(1);
    DeviceCall on_device(&call, &Emulated());
    const Array half = {{2 * kSorted}, {8}}, more = {{2 * kSorted + 1}, {8}};
    // The second and the third reach the first one through each other.
    DeviceArgument arguments[] = {half.Argument(there, true), more.Argument(there + kSorted, true),
                                  half.Argument(there + 2 * kSorted, true)};
    for (DeviceArgument& argument : arguments) argument.is_on_device = true;
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    const uint64_t operands[] = {reinterpret_cast<uint64_t>(there), kSorted,
                                 reinterpret_cast<uint64_t>(there + 3 * kSorted), kSorted};
    EXPECT_EQ(pk_device_library_call(&call, TestRoutine("argsort_i64"), "StK", operands), 0);
  }
  EXPECT_EQ(there[3 * kSorted], kSorted - 1);
  EXPECT_EQ(there[4 * kSorted - 1], 0);
  Emulated().Free(there);
}

}  // namespace
}  // namespace parakeet::runtime
