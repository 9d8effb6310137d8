#ifndef PARAKEET_PASSES_ANALYSES_FLOAT_RANGES_H_
#define PARAKEET_PASSES_ANALYSES_FLOAT_RANGES_H_

#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/node.h"
#include "passes/analyses/ranges.h"

namespace parakeet::passes {

// What a float lies between, both included, unless it is nan.
struct FloatRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;

  // Neither nan nor infinite.
  bool IsFinite() const {
    return !may_be_nan && lo > -std::numeric_limits<double>::infinity() &&
           hi < std::numeric_limits<double>::infinity();
  }
};

// Ranges of float32 and float64 values of a function where a walk stands, by what defines them:
// small integers, constants, sums, products, choices between what a comparison has told apart.
// Bounds are rounded outwards by more than an operation rounds, in whatever order it is done.
class FloatRanges {
 public:
  // Where a program's arithmetic takes nan not to occur, a comparison does not say that none does.
  explicit FloatRanges(bool fastmath) : fastmath_(fastmath) {}

  // A binding that the walk leaves behind; its integers are bounded by `integers`.
  void Define(const ir::Binding& binding, const Ranges& integers);
  FloatRange Of(const ir::Operand& value) const;
  // The least and the largest integer that the float may be without its fraction; none where it is
  // not known to be small.
  std::optional<std::pair<int64_t, int64_t>> WholeOf(const ir::Operand& value) const;

 private:
  FloatRange RangeOf(const ir::Binding& b, const Ranges& integers) const;
  FloatRange OfCast(const ir::Binding& b, const Ranges& integers) const;
  FloatRange OfDivisor(const ir::Operand& divisor, const Ranges& integers) const;
  FloatRange OfChoice(const ir::Operand& condition, const ir::Operand& then,
                      const ir::Operand& otherwise) const;
  // The range of the value where the condition is `sense`.
  FloatRange Where(const ir::Operand& condition, bool sense, const ir::Operand& value) const;
  void Compare(ir::OpCode op, bool sense, const ir::Operand& other, FloatRange& range) const;

  bool fastmath_;
  std::unordered_map<const ir::Var*, FloatRange> ranges_;
  ir::DefinitionMap conditions_;  // what makes bools
  ir::DefinitionMap casts_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FLOAT_RANGES_H_
