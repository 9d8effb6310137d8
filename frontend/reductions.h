#ifndef PARAKEET_FRONTEND_REDUCTIONS_H_
#define PARAKEET_FRONTEND_REDUCTIONS_H_

#include <functional>
#include <optional>
#include <vector>

#include "frontend/broadcasting.h"
#include "frontend/evaluator.h"
#include "frontend/value.h"

// Reductions and scans: which types accumulate, and the IR that combines.
namespace parakeet::frontend {

// A scalar, an array, or a tuple of them (nested), taken apart: what a block yields.
Values LeavesOf(const Context& context, const Value& value);
// `like` with its leaves replaced, in order.
Value WithLeaves(const Value& like, const Values& leaves);

// Combines elements with an associative function.
class Combination {
 public:
  // `combine` is called with two accumulators; `init`, where given, enters once, from the left.
  Combination(Evaluator* evaluator, Value combine, std::optional<Value> init);

  // Over arrays of one shape; the function's elements are those of the first `depth` axes (scalars
  // where that is all axes, else slices). Several arrays: elements are tuples. No element and no
  // init is undefined: the caller checks.
  Value Reduce(const Values& arrays, int depth);
  // Every prefix, along the only leading axis.
  Value Scan(const Values& arrays);
  // Over an index space; `element` appends to the open block.
  Value ReduceIndexes(const Dims& extents,
                      const std::function<Value(const std::vector<ir::Operand>&)>& element);

 private:
  Value Run(ir::OpCode op, const Values& arrays, int depth);
  // `widens`: float16 may accumulate in float32.
  void DecideTypes(const Value& element, bool widens);
  Value Narrowed(const Value& result);
  Value Trial(const Value& left, const Value& right);
  Value Accumulator(ir::Builder* block, std::vector<const ir::Var*>* params, const char* hint);
  std::vector<ir::Operand> Converted(const Value& value);
  const ir::Block* CombineBlock();
  ir::Operand InitArray(const Value& init, const ir::Type& type);
  std::vector<ir::Operand> Inits();
  Value Results(ir::OpCode op, const Dims& leading, std::vector<const ir::Var*>* results);

  Evaluator* evaluator_;
  Context* context_;
  Value combine_;
  std::optional<Value> init_;
  int64_t number_;
  bool narrows_ = false;  // The accumulator is wider than the result.
  // The accumulator: its shape of tuples, and the type of each leaf.
  Value shape_;
  struct Leaf {
    ir::Type type;
    bool python;
    friend bool operator==(const Leaf&, const Leaf&) = default;
  };
  std::vector<Leaf> leaves_;

  Leaf LeafOf(const Value& value) const;
  std::vector<Leaf> Joined(const std::vector<Leaf>& a, const std::vector<Leaf>& b) const;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_REDUCTIONS_H_
