#ifndef PARAKEET_PASSES_LOWERING_WORK_OF_ELEMENT_H_
#define PARAKEET_PASSES_LOWERING_WORK_OF_ELEMENT_H_

#include <cstddef>

namespace parakeet::passes {

// What a kernel does for an element that a thread of a GPU makes.
struct WorkOfElement {
  size_t moves = 0;  // elements of arrays, to or from memory
  size_t loads = 0, operations = 0;

  // In loads of what is in the caches. An H200: 2.3 elements of 8 bytes a cycle and processor move,
  // 12.8 loads. Half of the loads and operations hide behind what is moved.
  double Time() const {
    constexpr double kLoadsOfMove = 5.5, kLoadsOfOperation = 0.2, kHidden = 0.5;
    return kLoadsOfMove * static_cast<double>(moves) +
           kHidden *
               (static_cast<double>(loads) + kLoadsOfOperation * static_cast<double>(operations));
  }
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_WORK_OF_ELEMENT_H_
