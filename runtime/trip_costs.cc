#include "runtime/trip_costs.h"

#include <algorithm>
#include <bit>

namespace parakeet::runtime {

TripCosts& TripCosts::OfProcess() {
  static TripCosts costs;
  return costs;
}

// Addresses leave the highest bits to the doubling.
uint64_t TripCosts::KeyOf(PkForkBody body, int64_t trips) {
  const auto doubling = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(trips)));
  return reinterpret_cast<uintptr_t>(body) ^ doubling << 56;
}

uint64_t TripCosts::PlaceOf(uint64_t key) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;
  return (key ^ key >> 50) * kGoldenRatio >> (64 - kBits);
}

int64_t TripCosts::Of(PkForkBody body, int64_t trips) const {
  const uint64_t key = KeyOf(body, trips);
  const Entry& entry = entries_[PlaceOf(key)];
  if (entry.key.load(std::memory_order_relaxed) != key) return 0;
  return entry.cost.load(std::memory_order_relaxed);
}

bool TripCosts::IsDue(PkForkBody body, int64_t trips) {
  constexpr uint32_t kRuns = 16;
  std::atomic<uint32_t>& runs = entries_[PlaceOf(KeyOf(body, trips))].runs;
  const uint32_t before = runs.load(std::memory_order_relaxed);
  runs.store(before + 1, std::memory_order_relaxed);
  return before % kRuns == 0 || Of(body, trips) == 0;
}

void TripCosts::Note(PkForkBody body, int64_t trips, int64_t cycles) {
  const int64_t before = Of(body, trips), now = std::max<int64_t>(1, cycles / trips);
  const uint64_t key = KeyOf(body, trips);
  Entry& entry = entries_[PlaceOf(key)];
  entry.cost.store(before == 0 || now < before ? now : before + (now - before + 3) / 4,
                   std::memory_order_relaxed);
  entry.key.store(key, std::memory_order_relaxed);
}

}  // namespace parakeet::runtime
