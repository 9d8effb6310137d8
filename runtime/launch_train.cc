#include "runtime/launch_train.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace parakeet::runtime {
namespace {

// Captures as the driver takes them: pairs of what comes and where it is, by the driver's numbers.
class Extra {
 public:
  Extra(const void* captures, size_t bytes)
      : bytes_(bytes),
        pairs_{reinterpret_cast<void*>(1), const_cast<void*>(captures), reinterpret_cast<void*>(2),
               &bytes_, nullptr} {}
  void** pairs() { return pairs_; }

 private:
  size_t bytes_;
  void* pairs_[5];
};

CuKernelNode NodeOf(const CudaGrid& grid, Extra& extra) {
  return {grid.function, grid.blocks,  1, 1, grid.threads, 1, 1, grid.shared_bytes,
          nullptr,       extra.pairs()};
}

}  // namespace

CuResult LaunchGrid(const CudaDriver& driver, CuStream stream, const CudaGrid& grid,
                    const void* captures) {
  Extra extra(captures, grid.capture_bytes);
  const unsigned attributes = grid.overlaps ? 1 : 0;
  const CuLaunch launch = {
      grid.blocks,     1,         1, grid.threads, 1, 1, grid.shared_bytes, stream,
      &kCuOverlapping, attributes};
  return driver.LaunchKernel(&launch, grid.function, nullptr, extra.pairs());
}

LaunchTrain::~LaunchTrain() {
  if (executable_ != nullptr) driver_.GraphExecDestroy(executable_);
  if (graph_ != nullptr) driver_.GraphDestroy(graph_);
}

CuResult LaunchTrain::Build(const std::vector<CudaGrid>& grids) {
  if (const CuResult error = driver_.GraphCreate(&graph_, 0)) return error;
  for (const CudaGrid& grid : grids) {
    if (const CuResult error = AddCar(grid)) return error;
  }
  return driver_.GraphInstantiate(&executable_, graph_, 0);
}

CuResult LaunchTrain::AddCar(const CudaGrid& grid) {
  const bool overlaps = grid.overlaps && driver_.GraphAddDependencies != nullptr;
  const CuGraphNode* const before = cars_.empty() ? nullptr : &cars_.back().node;
  const size_t count = before != nullptr && !overlaps;
  Car car = {grid, nullptr, std::vector<char>(grid.capture_bytes)};
  Extra extra(car.captures.data(), car.captures.size());
  const CuKernelNode kernel = NodeOf(grid, extra);
  CuResult error = driver_.GraphAddKernelNode(&car.node, graph_, before, count, &kernel);
  if (error == 0 && before != nullptr && overlaps)
    error = driver_.GraphAddDependencies(graph_, before, &car.node, &kCuOverlappingEdge, 1);
  if (error == 0) cars_.push_back(std::move(car));
  return error;
}

bool LaunchTrain::Holds(const std::vector<CudaGrid>& grids) const {
  return std::equal(cars_.begin(), cars_.end(), grids.begin(), grids.end(),
                    [](const Car& car, const CudaGrid& grid) { return car.grid == grid; });
}

bool LaunchTrain::BeginsAs(const LaunchTrain& other, size_t count) const {
  return size() >= count &&
         std::equal(cars_.begin(), cars_.begin() + ptrdiff_t(count), other.cars_.begin(),
                    [](const Car& a, const Car& b) { return a.grid == b.grid; });
}

void LaunchTrain::SetCaptures(size_t at, const void* captures) {
  Car& car = cars_[at];
  if (std::memcmp(car.captures.data(), captures, car.captures.size()) == 0) return;
  std::memcpy(car.captures.data(), captures, car.captures.size());
  car.is_changed = true;
}

CuResult LaunchTrain::Launch(CuStream stream) {
  for (Car& car : cars_) {
    if (!car.is_changed) continue;
    Extra extra(car.captures.data(), car.captures.size());
    const CuKernelNode kernel = NodeOf(car.grid, extra);
    if (const CuResult error = driver_.GraphSetKernelNode(executable_, car.node, &kernel)) {
      return error;
    }
    car.is_changed = false;
  }
  return driver_.GraphLaunch(executable_, stream);
}

CuResult LaunchTrain::LaunchSome(size_t count, CuStream stream) {
  for (size_t at = 0; at < count; ++at) {
    if (const CuResult error =
            LaunchGrid(driver_, stream, cars_[at].grid, cars_[at].captures.data())) {
      return error;
    }
  }
  return 0;
}

}  // namespace parakeet::runtime
