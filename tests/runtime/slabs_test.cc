#include "runtime/slabs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace parakeet::runtime {
namespace {

constexpr uint32_t kKind = kPlaceKinds - 1;  // No class of buffers has it.
constexpr uint64_t kBytes = 300'001;

uintptr_t SlabOf(const char* place) { return reinterpret_cast<uintptr_t>(place) / kSlabBytes; }

TEST(Slabs, PlacesDoNotOverlap) {
  std::vector<char*> places;
  std::set<uintptr_t> slabs;
  for (int i = 0; i < 40; ++i) {
    places.push_back(TakePlace(kKind, kBytes));
    ASSERT_NE(places.back(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(places.back()) % 64, 0u);
    EXPECT_EQ(SlabOf(places.back()), SlabOf(places.back() + kBytes - 1));
    slabs.insert(SlabOf(places.back()));
    std::memset(places.back(), i, kBytes);
  }
  EXPECT_EQ(slabs.size(), 4u);  // 13 places each
  for (int i = 0; i < 40; ++i) {
    for (uint64_t at = 0; at < kBytes; at += 100) ASSERT_EQ(places[i][at], i);
  }
  for (char* place : places) GivePlace(place);
}

TEST(Slabs, PlacesThatCameBackAreTakenBeforeNewSlabs) {
  std::vector<char*> places;
  for (int i = 0; i < 26; ++i) places.push_back(TakePlace(kKind, kBytes));
  GivePlace(places[3]);
  GivePlace(places[20]);
  std::set<char*> again = {TakePlace(kKind, kBytes), TakePlace(kKind, kBytes)};
  EXPECT_EQ(again, (std::set<char*>{places[3], places[20]}));
  for (char* place : places) GivePlace(place);
}

}  // namespace
}  // namespace parakeet::runtime
