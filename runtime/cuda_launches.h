// Launches of one thread on its stream. Where the same kernels come again, as in a time loop, or
// call after call, they are held until all of them have come, and go to the driver as one graph:
// for the host that is the work of one launch, and between its kernels a device takes a third of
// the time that it takes between launches.
//
// What comes again is told from the kernels and their grids: captures may change, since a graph
// takes others for each of its nodes before it is launched. Three kinds of rows become graphs: some
// turns of a loop of many launches; what came between two flushes a few times; and the beginning of
// one of these, where a loop ends earlier.
#ifndef PARAKEET_RUNTIME_CUDA_LAUNCHES_H_
#define PARAKEET_RUNTIME_CUDA_LAUNCHES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda_driver.h"
#include "runtime/launch_train.h"

namespace parakeet::runtime {

// Used by one thread at a time, with the device's context current.
class CudaLaunches {
 public:
  // `replays` counts the graphs that are launched; `keep` is told of the kernels that are in one.
  CudaLaunches(const CudaDriver& driver, CuStream stream, std::atomic<int64_t>* replays,
               std::function<void(CuFunction)> keep)
      : driver_(driver), stream_(stream), replays_(*replays), keep_(std::move(keep)) {}
  CudaLaunches(const CudaLaunches&) = delete;
  CudaLaunches& operator=(const CudaLaunches&) = delete;

  // `captures` are read before it returns. Only where `may_hold`, Flush is sure to come.
  CuResult Add(const CudaGrid& grid, const void* captures, bool may_hold);

  // Begins what is held, before anything else that is in the order of the stream. What comes next
  // is no continuation of what came before.
  CuResult Flush() { return held_ == 0 && seen_.empty() ? 0 : FlushSome(); }

 private:
  struct Candidate {
    std::vector<CudaGrid> grids;
    int count;
  };

  bool Continues(const CudaGrid& grid);
  CuResult Hold(const void* captures);
  CuResult FlushSome();
  CuResult LaunchHeld();
  CuResult Send(LaunchTrain* train);
  LaunchTrain* FindTrain(const CudaGrid& next) const;
  LaunchTrain* FindTrainOfHeld() const;
  void Change(LaunchTrain* train);
  void FollowLoop(const CudaGrid& grid);
  void NoteSegment();
  LaunchTrain* MakeTrain(const std::vector<CudaGrid>& grids);

  const CudaDriver& driver_;
  const CuStream stream_;
  std::atomic<int64_t>& replays_;
  const std::function<void(CuFunction)> keep_;
  bool can_build_ = true;
  std::vector<std::unique_ptr<LaunchTrain>> trains_;
  uint64_t sent_ = 0;                  // trains, in all
  LaunchTrain* train_ = nullptr;       // what is expected, of which
  size_t held_ = 0;                    // so many have come
  std::vector<CudaGrid> seen_;         // launched one by one since the last flush or train:
  size_t period_ = 0;                  // the last `matched_` of them are those that
  size_t matched_ = 0;                 // came `period_` before
  std::vector<Candidate> candidates_;  // the latest first
};

// Whether graphs are made; on from the beginning.
void UseGraphs(bool is_on);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_LAUNCHES_H_
