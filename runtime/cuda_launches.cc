#include "runtime/cuda_launches.h"

#include <algorithm>
#include <utility>

namespace parakeet::runtime {
namespace {

// What a graph costs to make, launches cost three times over: 16 kernels take 46 us to become one,
// and then 17 us instead of 55 on an H200.
constexpr size_t kLengthOfLoops = 16;   // of a graph of a loop's turns, at least
constexpr size_t kMostPeriod = 32;      // launches in a turn
constexpr size_t kMatchesToMake = 32;   // launches that were those of the turn before
constexpr size_t kMostOfSegment = 32;   // launches between flushes
constexpr int kTimesToMake = 3;         // that the same segment came
constexpr size_t kMostCandidates = 16;  // segments that came less often
constexpr size_t kMostTrains = 32;
constexpr int kMostFailures = 4;

std::atomic<bool> is_used = true;

}  // namespace

void UseGraphs(bool is_on) { is_used.store(is_on, std::memory_order_relaxed); }

CuResult CudaLaunches::Add(const CudaGrid& grid, const void* captures, bool may_hold) {
  if (!may_hold || !is_used.load(std::memory_order_relaxed)) {
    const CuResult error = Flush();
    return error != 0 ? error : LaunchGrid(driver_, stream_, grid, captures);
  }
  if (Continues(grid)) return Hold(captures);
  if (const CuResult error = LaunchHeld()) return error;
  train_ = FindTrain(grid);
  if (train_ != nullptr) return Hold(captures);
  FollowLoop(grid);
  return LaunchGrid(driver_, stream_, grid, captures);
}

// As the train that is expected, or as another one that has begun like it.
bool CudaLaunches::Continues(const CudaGrid& grid) {
  if (train_ == nullptr) return false;
  if (train_->grid(held_) == grid) return true;
  LaunchTrain* const other = held_ > 0 ? FindTrain(grid) : nullptr;
  if (other == nullptr) return false;
  Change(other);
  return true;
}

CuResult CudaLaunches::Hold(const void* captures) {
  train_->SetCaptures(held_, captures);
  return ++held_ < train_->size() ? 0 : Send(train_);
}

CuResult CudaLaunches::Send(LaunchTrain* train) {
  held_ = 0;
  seen_.clear();
  period_ = matched_ = 0;
  train->failures = 0;
  train->sent = ++sent_;
  replays_.fetch_add(1, std::memory_order_relaxed);
  return train->Launch(stream_);
}

CuResult CudaLaunches::LaunchHeld() {
  if (held_ == 0) return 0;
  if (LaunchTrain* const whole = FindTrainOfHeld()) {
    Change(whole);
    return Send(whole);
  }
  ++train_->failures;
  for (size_t at = 0; at < held_; ++at) seen_.push_back(train_->grid(at));
  period_ = matched_ = 0;
  return train_->LaunchSome(std::exchange(held_, 0), stream_);
}

CuResult CudaLaunches::FlushSome() {
  const CuResult error = LaunchHeld();
  train_ = nullptr;
  NoteSegment();
  seen_.clear();
  period_ = matched_ = 0;
  return error;
}

// ---------------------------------------------------------------------------------------------
// Trains
// ---------------------------------------------------------------------------------------------

// The longest that goes on with `next` behind what is held.
LaunchTrain* CudaLaunches::FindTrain(const CudaGrid& next) const {
  LaunchTrain* longest = nullptr;
  for (const auto& train : trains_) {
    const bool is_fit = train->failures < kMostFailures && train->size() > held_ &&
                        train->grid(held_) == next &&
                        (held_ == 0 || train->BeginsAs(*train_, held_));
    if (is_fit && (longest == nullptr || train->size() > longest->size())) longest = train.get();
  }
  return longest;
}

LaunchTrain* CudaLaunches::FindTrainOfHeld() const {
  const auto found = std::find_if(trains_.begin(), trains_.end(), [&](const auto& train) {
    return train->size() == held_ && train->BeginsAs(*train_, held_);
  });
  return found == trains_.end() ? nullptr : found->get();
}

void CudaLaunches::Change(LaunchTrain* train) {
  for (size_t at = 0; at < held_; ++at) train->SetCaptures(at, train_->captures(at));
  train_ = train;
}

// The one that there is already is tried again.
LaunchTrain* CudaLaunches::MakeTrain(const std::vector<CudaGrid>& grids) {
  for (const auto& train : trains_) {
    if (!train->Holds(grids)) continue;
    train->failures = 0;
    return train.get();
  }
  for (const CudaGrid& grid : grids) keep_(grid.function);
  auto made = std::make_unique<LaunchTrain>(driver_);
  can_build_ = can_build_ && made->Build(grids) == 0;
  if (!can_build_) return nullptr;
  made->sent = sent_;
  if (trains_.size() == kMostTrains) {
    trains_.erase(std::min_element(trains_.begin(), trains_.end(),
                                   [](const auto& a, const auto& b) { return a->sent < b->sent; }));
  }
  return trains_.emplace_back(std::move(made)).get();
}

// ---------------------------------------------------------------------------------------------
// What comes again
// ---------------------------------------------------------------------------------------------

// Expects further turns behind so many equal ones.
void CudaLaunches::FollowLoop(const CudaGrid& grid) {
  if (seen_.size() >= 4 * kMostPeriod) seen_.erase(seen_.begin(), seen_.end() - kMostPeriod);
  const auto came_before = [&](size_t period) {
    return period > 0 && period <= seen_.size() && seen_[seen_.size() - period] == grid;
  };
  if (!came_before(period_)) {
    matched_ = period_ = 0;
    for (size_t period = kMostPeriod; period > 0; --period) {
      if (came_before(period)) period_ = period;
    }
  }
  matched_ += period_ > 0;
  seen_.push_back(grid);
  if (matched_ < kMatchesToMake) return;
  std::vector<CudaGrid> grids;
  while (grids.size() < kLengthOfLoops) {
    grids.insert(grids.end(), seen_.end() - ptrdiff_t(period_), seen_.end());
  }
  train_ = MakeTrain(grids);
  matched_ = 0;
}

void CudaLaunches::NoteSegment() {
  if (seen_.size() < 2 || seen_.size() > kMostOfSegment) return;
  const auto known = std::find_if(candidates_.begin(), candidates_.end(),
                                  [&](const Candidate& each) { return each.grids == seen_; });
  if (known == candidates_.end()) {
    if (candidates_.size() == kMostCandidates) candidates_.pop_back();
    candidates_.insert(candidates_.begin(), {seen_, 1});
  } else if (++known->count == kTimesToMake) {
    MakeTrain(seen_);
    candidates_.erase(known);
  }
}

}  // namespace parakeet::runtime
