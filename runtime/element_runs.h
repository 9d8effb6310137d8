// Where the elements of an array lie in memory: runs of bytes without a gap, at regular distances.
#ifndef PARAKEET_RUNTIME_ELEMENT_RUNS_H_
#define PARAKEET_RUNTIME_ELEMENT_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parakeet::runtime {

class ElementRuns {
 public:
  ElementRuns() = default;

  // Of an array as its slots say it (abi.h). Strides may be 0, negative, or so small that elements
  // overlap. An array without elements has no runs, and lies in 0 bytes at `data`.
  ElementRuns(void* data, int64_t element_bytes, int32_t rank, const int64_t* sizes,
              const int64_t* strides);

  // All elements lie in `bytes` from `low` on.
  char* low() const { return low_; }
  int64_t bytes() const { return bytes_; }
  // No byte of them lies between elements.
  bool is_dense() const { return dimensions_.empty(); }

  // Copies the elements' bytes, and no others, from `from` to `to`, which are addresses for low().
  void Copy(char* to, const char* from) const;

 private:
  struct Dimension {
    int64_t stride;  // > 0, in bytes
    int64_t size;    // > 1
  };

  void CopyFrom(size_t dimension, char* to, const char* from) const;

  char* low_ = nullptr;
  int64_t bytes_ = 0;
  int64_t run_bytes_ = 0;
  std::vector<Dimension> dimensions_;  // of runs, the largest stride first
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_ELEMENT_RUNS_H_
