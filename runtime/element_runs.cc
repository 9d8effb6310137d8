#include "runtime/element_runs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace parakeet::runtime {

ElementRuns::ElementRuns(void* data, int64_t element_bytes, int32_t rank, const int64_t* sizes,
                         const int64_t* strides)
    : low_(static_cast<char*>(data)) {
  if (std::any_of(sizes, sizes + rank, [](int64_t size) { return size <= 0; })) return;
  bytes_ = element_bytes;
  for (int32_t i = 0; i < rank; ++i) {
    if (sizes[i] == 1 || strides[i] == 0) continue;
    const int64_t reach = (sizes[i] - 1) * strides[i];
    low_ += std::min<int64_t>(reach, 0);
    bytes_ += std::abs(reach);
    dimensions_.push_back({std::abs(strides[i]), sizes[i]});
  }
  std::sort(dimensions_.begin(), dimensions_.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride > b.stride; });
  run_bytes_ = element_bytes;
  while (!dimensions_.empty() && dimensions_.back().stride <= run_bytes_) {
    run_bytes_ += (dimensions_.back().size - 1) * dimensions_.back().stride;
    dimensions_.pop_back();
  }
}

void ElementRuns::Copy(char* to, const char* from) const {
  if (bytes_ > 0) CopyFrom(0, to, from);
}

void ElementRuns::CopyFrom(size_t dimension, char* to, const char* from) const {
  if (dimension == dimensions_.size()) {
    std::memcpy(to, from, size_t(run_bytes_));
    return;
  }
  const auto [stride, size] = dimensions_[dimension];
  for (int64_t i = 0; i < size; ++i) CopyFrom(dimension + 1, to + i * stride, from + i * stride);
}

}  // namespace parakeet::runtime
