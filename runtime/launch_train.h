// A row of kernels as an executable graph of the CUDA driver, each behind the one before.
#ifndef PARAKEET_RUNTIME_LAUNCH_TRAIN_H_
#define PARAKEET_RUNTIME_LAUNCH_TRAIN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cuda_driver.h"

namespace parakeet::runtime {

// What of a launch is the same each time.
struct CudaGrid {
  CuFunction function;
  unsigned blocks;
  unsigned threads;
  unsigned shared_bytes;
  unsigned capture_bytes;
  bool overlaps;  // it may begin while the one before it runs, and waits for it by itself

  bool operator==(const CudaGrid&) const = default;
};

CuResult LaunchGrid(const CudaDriver& driver, CuStream stream, const CudaGrid& grid,
                    const void* captures);

class LaunchTrain {
 public:
  explicit LaunchTrain(const CudaDriver& driver) : driver_(driver) {}
  ~LaunchTrain();
  LaunchTrain(const LaunchTrain&) = delete;
  LaunchTrain& operator=(const LaunchTrain&) = delete;

  // To be done once. Captures are those of each launch's first time.
  CuResult Build(const std::vector<CudaGrid>& grids);

  size_t size() const { return cars_.size(); }
  const CudaGrid& grid(size_t at) const { return cars_[at].grid; }
  const void* captures(size_t at) const { return cars_[at].captures.data(); }
  bool Holds(const std::vector<CudaGrid>& grids) const;
  // Whether the first `count` are those of another one.
  bool BeginsAs(const LaunchTrain& other, size_t count) const;
  // What the launch of that number takes the next time.
  void SetCaptures(size_t at, const void* captures);

  CuResult Launch(CuStream stream);
  // The first `count` one by one.
  CuResult LaunchSome(size_t count, CuStream stream);

  int failures = 0;   // how often it was begun, and something else came, since it last went,
  uint64_t sent = 0;  // as which train of its thread

 private:
  struct Car {
    CudaGrid grid;
    CuGraphNode node = nullptr;
    std::vector<char> captures;
    bool is_changed = false;  // the graph has other captures
  };

  CuResult AddCar(const CudaGrid& grid);

  const CudaDriver& driver_;
  CuGraph graph_ = nullptr;
  CuGraphExec executable_ = nullptr;
  std::vector<Car> cars_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_LAUNCH_TRAIN_H_
