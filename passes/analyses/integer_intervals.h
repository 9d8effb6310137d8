#ifndef PARAKEET_PASSES_ANALYSES_INTEGER_INTERVALS_H_
#define PARAKEET_PASSES_ANALYSES_INTEGER_INTERVALS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// What an integer lies between, both included: not far from 0, where it is known.
struct IntegerInterval {
  int64_t lo;
  int64_t hi;

  void Include(const IntegerInterval& other);
  bool Fits(ir::DType dtype) const;
};

// Of all values of a bool, or of an integer of up to 32 bits.
IntegerInterval IntervalOf(ir::DType dtype);
std::optional<IntegerInterval> IntervalOf(const ir::Constant& constant);

// Of what a scalar operation on integers makes of operands that lie in what `of` says, where it
// does not wrap around.
std::optional<IntegerInterval> IntervalOf(
    const ir::Binding& b,
    const std::function<std::optional<IntegerInterval>(const ir::Operand&)>& of);

// What integers of a block of scalar code, loads and loops lie between, as it is walked.
class BlockIntervals {
 public:
  using Outside = std::function<std::optional<IntegerInterval>(const ir::Var*)>;
  // What loops carry: what it is in any iteration, and behind the last one.
  struct Carried {
    std::vector<std::optional<IntegerInterval>> params;
    std::vector<std::optional<IntegerInterval>> results;
  };

  // `outside` knows of what is defined elsewhere. Where it knows nothing, or is null, types say.
  explicit BlockIntervals(Outside outside) : outside_(std::move(outside)) {}

  void See(const ir::Block& block);
  std::optional<IntegerInterval> Of(const ir::Operand& operand) const;
  // Of a `for` that stands where the walk does.
  Carried CarriedBy(const ir::Binding& loop);

 private:
  void See(const ir::Binding& b);
  void Set(const ir::Var* var, const std::optional<IntegerInterval>& interval);

  Outside outside_;
  std::unordered_map<const ir::Var*, IntegerInterval> known_;
  int depth_ = 0;  // of loops that are gone through one by one
};

// Of an integer that a block of scalar code and loads makes.
std::optional<IntegerInterval> IntervalIn(const ir::Block& block, const ir::Operand& made);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_INTEGER_INTERVALS_H_
