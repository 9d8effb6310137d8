#include "runtime/call.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <climits>
#include <thread>
#include <vector>

#include "runtime/buffers.h"

namespace parakeet::runtime {
namespace {

using Numbers = std::vector<int64_t>;

void Fail(PkCall* call, int32_t site, const Numbers& place, const Numbers& scalars = {}) {
  pk_fail(call, site, int32_t(place.size()), place.data(), int32_t(scalars.size()), scalars.data());
}

TEST(Call, BeginsWithItsTeamAndNoError) {
  Call call(5);
  EXPECT_EQ(call.team, 5);
  EXPECT_EQ(call.failed, 0);
  EXPECT_FALSE(call.has_failed());
  // Compiled code sees the two fields at the start of the object.
  PkCall* seen = &call;
  EXPECT_EQ(static_cast<void*>(seen), static_cast<void*>(&call));
}

TEST(Call, EndFreesWhatWasNotKept) {
  const BufferCounters before = ReadBufferCounters();
  void* kept;
  {
    Call call(1);
    std::vector<void*> buffers;
    for (int i = 0; i < 20; ++i) buffers.push_back(pk_alloc(&call, 100 * i));
    pk_free(&call, buffers[0]);
    pk_free(&call, buffers[19]);
    pk_free(&call, buffers[7]);
    pk_free(&call, nullptr);
    kept = buffers[10];
    KeepResult(&call, kept);
    EXPECT_EQ(ReadBufferCounters().live_buffers - before.live_buffers, 17);
  }
  EXPECT_EQ(ReadBufferCounters().live_buffers - before.live_buffers, 1);
  Release(kept);
  EXPECT_EQ(ReadBufferCounters().live_bytes, before.live_bytes);
}

TEST(Call, AProfileTellsRegionsApart) {
  Profile profile(2);
  {
    Call call(2);
    pk_mark(&call, 0, 80, 10);  // Nobody keeps account.
    call.set_profile(&profile);
    pk_alloc(&call, 5);
    pk_mark(&call, 1, Profile::kNoEntry, 0);  // An array is made for it.
    pk_alloc(&call, 20);
    pk_mark(&call, 1, 80, 10);
    std::thread([&] { pk_alloc(&call, 100); }).join();
    pk_mark(&call, 1, -1, 20);
    pk_mark(&call, 7, 1, 1);  // There is no such region.
    pk_alloc(&call, 1000);
    Fail(&call, 3, {1});
  }
  profile.End();
  const RegionTotals& second = profile.regions()[1];
  EXPECT_EQ(profile.regions()[0].entries, 0);
  EXPECT_EQ(second.entries, 2);
  EXPECT_EQ(second.bytes, 80);
  EXPECT_FALSE(second.knows_bytes);
  EXPECT_EQ(second.operations, 30);
  EXPECT_TRUE(second.knows_operations);
  EXPECT_EQ(second.allocated, 125);  // With what came before any region.
  EXPECT_EQ(profile.allocated(), 1125);
  RegionTotals sum = second;
  sum.Add(second);
  EXPECT_EQ(sum.entries, 4);
  EXPECT_EQ(sum.ns, 2 * second.ns);
}

TEST(Call, ARegionEndsWhenItsCallDid) {
  Profile profile(1);
  const int64_t before = NowNanoseconds();
  profile.Begin(0, 0, 0);
  profile.End(before);  // However long ago that is.
  EXPECT_LE(profile.regions()[0].ns, 0);
}

TEST(Call, AnErrorFreesEverything) {
  const BufferCounters before = ReadBufferCounters();
  {
    Call call(2);
    pk_alloc(&call, 1000000);
    pk_alloc(&call, 10);
    Fail(&call, 3, {1});
  }
  EXPECT_EQ(ReadBufferCounters().live_buffers, before.live_buffers);
}

TEST(Call, ImpossibleSizesAreMemoryErrors) {
  for (int64_t bytes : {int64_t{-1}, INT64_MIN, INT64_MAX}) {
    Call call(1);
    EXPECT_EQ(pk_alloc(&call, bytes), nullptr);
    EXPECT_EQ(call.failed, 1);
    ASSERT_TRUE(call.has_failed());
    EXPECT_EQ(call.error().site, kPkSiteMemory);
    EXPECT_TRUE(call.error().place.empty());
    EXPECT_EQ(call.error().scalars, Numbers{bytes});
  }
}

TEST(Call, WorkersKeepListsThatAnyThreadMayTakeFrom) {
  const BufferCounters before = ReadBufferCounters();
  {
    Call call(4);
    std::vector<std::thread> threads;
    std::atomic<void*> passed_on = nullptr;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&call, &passed_on, i] {
        void* last = nullptr;
        for (int k = 0; k < 5000; ++k) {
          void* buffer = pk_alloc(&call, 64 * (i + 1));
          if (k % 3 != 0) pk_free(&call, last);
          if (k % 7 == 0) buffer = passed_on.exchange(buffer);
          last = buffer;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    pk_free(&call, passed_on);
    EXPECT_GT(ReadBufferCounters().live_buffers, before.live_buffers);
  }
  EXPECT_EQ(ReadBufferCounters().live_buffers, before.live_buffers);
  EXPECT_EQ(ReadBufferCounters().live_bytes, before.live_bytes);
}

TEST(ErrorSlot, KeepsTheLeastPlace) {
  Call call(1);
  Fail(&call, 1, {2, 5, 0}, {7});
  EXPECT_EQ(call.error().site, 1);
  Fail(&call, 2, {2, 4, 9, 9}, {8, 9});
  EXPECT_EQ(call.error().site, 2);
  Fail(&call, 3, {2, 5});
  EXPECT_EQ(call.error().site, 2);
  Fail(&call, 4, {2, -1, 3});
  EXPECT_EQ(call.error().site, 4);
  EXPECT_EQ(call.error().place, (Numbers{2, -1, 3}));
  EXPECT_TRUE(call.error().scalars.empty());
}

TEST(ErrorSlot, APrefixIsLess) {
  Call call(1);
  Fail(&call, 1, {2, 5, 0});
  Fail(&call, 2, {2, 5});
  EXPECT_EQ(call.error().site, 2);
  Fail(&call, 3, {2, 5, -9});
  EXPECT_EQ(call.error().site, 2);
  Fail(&call, 4, {});
  EXPECT_EQ(call.error().site, 4);
}

TEST(ErrorSlot, OfEqualPlacesTheFirstStays) {
  Call call(1);
  Fail(&call, 1, {3, 3}, {10});
  Fail(&call, 2, {3, 3}, {20});
  EXPECT_EQ(call.error().site, 1);
  EXPECT_EQ(call.error().scalars, Numbers{10});
}

TEST(ErrorSlot, SeveralThreadsAgreeOnTheLeast) {
  for (int round = 0; round < 20; ++round) {
    Call call(4);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        // Falling places, so that the slot changes as often as it can.
        for (int64_t i = 500; i >= 0; --i) Fail(&call, thread, {1, i * 4 + thread}, {thread, i});
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(call.failed, 1);
    EXPECT_EQ(call.error().site, 0);
    EXPECT_EQ(call.error().place, (Numbers{1, 0}));
    EXPECT_EQ(call.error().scalars, (Numbers{0, 0}));
  }
}

// Recurses until refused; returns the depth reached. `kFrame` bytes of each frame are used.
template <int kFrame>
int64_t Recurse(const PkStack& stack, int32_t room, volatile char* outer) {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (room <= 0 || here < stack.floor) {
    pk_too_deep(stack.call, room);
    return 0;
  }
  volatile char frame[kFrame];
  frame[0] = outer == nullptr ? 1 : outer[0];
  return Recurse<kFrame>(stack, room - 1, frame) + frame[0];
}

template <int kFrame>
int64_t Recurse(PkCall* call) {
  PkStack stack;
  const int32_t room = pk_find_stack(call, &stack);
  EXPECT_EQ(stack.call, call);
  return Recurse<kFrame>(stack, room, nullptr);
}

TEST(Recursion, EndsAtTheLimit) {
  Call call(1);
  EXPECT_EQ(Recurse<16>(&call), RecursionLimit());
  EXPECT_EQ(call.error().site, kPkSiteRecursion);
  EXPECT_EQ(call.error().scalars, Numbers{RecursionLimit()});
}

TEST(Recursion, LimitCanBeSet) {
  const int32_t limit = RecursionLimit();
  SetRecursionLimit(10);
  Call call(1);
  EXPECT_EQ(Recurse<16>(&call), 10);
  SetRecursionLimit(limit);
}

struct Deep {
  int64_t depth = 0;
  int32_t site = 0;
};

void* RecurseOnSmallStack(void* result) {
  Call call(1);
  auto* deep = static_cast<Deep*>(result);
  deep->depth = Recurse<8192>(&call);
  deep->site = call.has_failed() ? call.error().site : 0;
  return nullptr;
}

TEST(Recursion, EndsBeforeTheStackDoes) {
  const int32_t limit = RecursionLimit();
  SetRecursionLimit(INT32_MAX);
  for (size_t stack : {256 * 1024, 1024 * 1024, 16 * 1024 * 1024}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    Deep deep;
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, RecurseOnSmallStack, &deep), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_EQ(deep.site, kPkSiteRecursion);
    EXPECT_GT(deep.depth, 0);
    EXPECT_LT(deep.depth, int64_t(stack / 8192));
  }
  SetRecursionLimit(limit);
}

}  // namespace
}  // namespace parakeet::runtime
