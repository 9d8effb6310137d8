#include "runtime/trip_costs.h"

#include <algorithm>

namespace parakeet::runtime {

TripCosts& TripCosts::OfProcess() {
  static TripCosts costs;
  return costs;
}

uint64_t TripCosts::PlaceOf(PkForkBody body) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;
  return reinterpret_cast<uintptr_t>(body) * kGoldenRatio >> (64 - kBits);
}

int64_t TripCosts::Of(PkForkBody body) const {
  const Entry& entry = entries_[PlaceOf(body)];
  if (entry.body.load(std::memory_order_relaxed) != body) return 0;
  return entry.cost.load(std::memory_order_relaxed);
}

bool TripCosts::IsDue(PkForkBody body) {
  constexpr uint32_t kRuns = 16;
  std::atomic<uint32_t>& runs = entries_[PlaceOf(body)].runs;
  const uint32_t before = runs.load(std::memory_order_relaxed);
  runs.store(before + 1, std::memory_order_relaxed);
  return before % kRuns == 0 || Of(body) == 0;
}

void TripCosts::Note(PkForkBody body, int64_t trips, int64_t cycles) {
  const int64_t before = Of(body), now = std::max<int64_t>(1, cycles / trips);
  Entry& entry = entries_[PlaceOf(body)];
  entry.cost.store(before == 0 || now < before ? now : before + (now - before + 3) / 4,
                   std::memory_order_relaxed);
  entry.body.store(body, std::memory_order_relaxed);
}

}  // namespace parakeet::runtime
