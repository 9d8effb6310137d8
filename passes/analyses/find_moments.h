#ifndef PARAKEET_PASSES_ANALYSES_FIND_MOMENTS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_MOMENTS_H_

#include <vector>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// One side of the product that a moment sums.
struct MomentFactor {
  ir::Operand value;                // in the body of the sum
  const ir::Var* center = nullptr;  // what is subtracted, or is subtracted from; null for neither
  ir::Operand element;              // the other side of the subtraction
  bool is_negated = false;          // center - element
};

// A sum of u v, in which of u and v at least one is the difference of an element and a center: a
// number that a reduction over the same elements made, as their mean.
struct Moment {
  const ir::Binding* sum;
  size_t begin;  // the place in the block of such a reduction, where the elements are there
  MomentFactor left, right;

  bool IsSquare() const { return left.value == right.value; }
};

// The most axes of a moment.
constexpr size_t kMostAxesOfMoments = 5;

// A sum of float32 or float64 from 0, of code without inner blocks.
bool IsPlainSum(const ir::Binding& b);

// The moments of float32 and float64 of a block, index form, whose elements stay as they are from
// the first such reduction that they can be read at.
std::vector<Moment> FindMoments(const ir::Block& block, const Roots& roots);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_MOMENTS_H_
