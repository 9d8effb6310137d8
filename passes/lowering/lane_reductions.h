#ifndef PARAKEET_PASSES_LOWERING_LANE_REDUCTIONS_H_
#define PARAKEET_PASSES_LOWERING_LANE_REDUCTIONS_H_

#include <optional>
#include <vector>

#include "ir/node.h"
#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

// Writes `lanes`: each of so many accumulators takes one element of each vector of them, and halves
// of the accumulators are combined until one is left. A subclass writes the elements.
class LaneReductionWriter : public LoopWriter {
 public:
  LaneReductionWriter(ir::Arena* arena, int vector_bytes)
      : LoopWriter(arena), vector_bytes_(vector_bytes) {}

 protected:
  // What the iterations from `start` on yield, as vectors; where there is a mask, up to `hi`.
  virtual Operands WriteValues(const ir::Block& body, int lanes, const ir::Operand& start,
                               const ir::Operand& hi, std::optional<ir::Operand> mask) = 0;

  // `in_loop` says whether a loop is around it.
  void WriteReduction(const ir::Binding& reduction, bool in_loop);

  int vector_bytes() const { return vector_bytes_; }

 private:
  struct Reduction;  // What a reduction goes through.
  Reduction Describe(const ir::Binding& reduction) const;

  Operands All(const Reduction& r);
  Operands Part(const Reduction& r, const ir::Operand& first, int count);
  Operands AllByParts(const Reduction& r, int part);

  Operands Starts(const Reduction& r, int count);
  Operands Step(const Reduction& r, const ir::Operand& start, const Operands& so_far);
  Operands Tail(const Reduction& r, const ir::Operand& start, const Operands& so_far);
  Operands DearTail(const Reduction& r, const ir::Operand& start, const Operands& so_far);
  Operands Halve(const Reduction& r, Operands lanes, int to);

  const ir::Var* InMemory(ir::DType dtype, int lanes);
  void StoreSums(const std::vector<const ir::Var*>& sums, const ir::Operand& first,
                 const Operands& all);
  Operands LoadSums(const std::vector<const ir::Var*>& sums, const ir::Operand& first, int count);

  const int vector_bytes_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LANE_REDUCTIONS_H_
