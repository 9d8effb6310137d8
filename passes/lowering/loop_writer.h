#ifndef PARAKEET_PASSES_LOWERING_LOOP_WRITER_H_
#define PARAKEET_PASSES_LOWERING_LOOP_WRITER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/mutator.h"
#include "ir/node.h"

namespace parakeet::passes {

// A mutator that writes loops around what it visits. Every function appends to the current block;
// the functions given to it write the inside of a loop by appending to the then-current block.
class LoopWriter : public ir::Mutator {
 public:
  using Operands = std::vector<ir::Operand>;

 protected:
  using Mutator::Mutator;

  // for index in lo to hi step 1 (or `step`); `attrs` says its kind and cost.
  void Loop(const ir::Operand& lo, const ir::Operand& hi, const ir::Attributes& attrs,
            const std::function<void(const ir::Operand& index)>& body, int64_t step = 1);

  // A kernel of so many blocks; in it, what so many of a block's threads do, for which the others
  // wait.
  void Blocks(const ir::Operand& count, const std::function<void(const ir::Operand& block)>& body);
  void Threads(int64_t count, const std::function<void(const ir::Operand& thread)>& body);
  // The same where a thread waits for those of its warp alone.
  void WarpThreads(int64_t count, const std::function<void(const ir::Operand& thread)>& body);

  // The same carrying values: the last ones.
  Operands Carry(
      const ir::Operand& lo, const ir::Operand& hi, const Operands& inits,
      const std::function<Operands(const ir::Operand& index, const Operands& carried)>& body,
      int64_t step = 1, ir::Attributes attrs = {});

  // What is done where the condition holds.
  void If(const ir::Operand& condition, const std::function<void()>& then);

  // What one of two blocks yields. The types are the first block's.
  Operands Choose(const ir::Operand& condition, const std::function<Operands()>& then,
                  const std::function<Operands()>& otherwise, ir::Attributes attrs = {});

  // The bindings of `block`, visited, its parameters standing for `arguments`; what it yields. A
  // block may be given once only: a second time takes a clone.
  Operands VisitBody(const ir::Block& block, const Operands& arguments);

  // What the combine of a reduction makes of two sets of accumulators. Where it adds a product just
  // made, the two become one fma: one rounding instead of two, in every place where sums of
  // products are written.
  Operands CombineWith(const ir::Block& combine, const Operands& left, const Operands& right);
  // The same where each accumulator is combined by one operation, of vectors too; else nothing.
  std::optional<Operands> CombineEach(const ir::Block& combine, const Operands& left,
                                      const Operands& right);
  // The same of vectors by any combine.
  Operands CombineVectors(const ir::Block& combine, const Operands& left, const Operands& right);
  // The first or the second half of each vector's lanes.
  Operands Half(const Operands& vectors, bool high);
  std::optional<ir::Operand> FuseMultiplyAdd(const ir::Operand& sum, const ir::Operand& product);

  // ceil(a / b) of non-negative sizes.
  ir::Operand CeilDiv(const ir::Operand& a, const ir::Operand& b);
  ir::Operand Min(const ir::Operand& a, const ir::Operand& b) {
    return builder().Scalar(ir::OpCode::kMin, {a, b});
  }
  ir::Operand Max(const ir::Operand& a, const ir::Operand& b) {
    return builder().Scalar(ir::OpCode::kMax, {a, b});
  }
  ir::Operand Product(const Operands& sizes);
  // The index of element `place` in C order among `dims`.
  Operands Delinear(ir::Operand place, const Operands& dims);
  // The place of an element in C order.
  ir::Operand Linear(const Operands& index, const Operands& dims);

  // Where whole vectors end: lo + (hi - lo) / lanes * lanes.
  ir::Operand EndOfWhole(const ir::Operand& lo, const ir::Operand& hi, int lanes);

  // For what a loop carries: of the types of these.
  std::vector<const ir::Var*> NewVarsLike(const Operands& values);

  const ir::Block* BlockOf(std::vector<const ir::Var*> params,
                           const std::function<Operands()>& write);
};

ir::Operand Int(int64_t value);

// Says of a loop that threads share it, whatever it costs.
ir::Attributes OverThreads();

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOP_WRITER_H_
