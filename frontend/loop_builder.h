#ifndef PARAKEET_FRONTEND_LOOP_BUILDER_H_
#define PARAKEET_FRONTEND_LOOP_BUILDER_H_

#include <functional>
#include <vector>

#include "frontend/evaluator.h"

namespace parakeet::frontend {

// Builds one loop: its body is built under assumed types of the variables that it carries, and
// again under wider ones until what the body leaves fits what it was given.
class LoopBuilder {
 public:
  // `controls` are further variables that the loop binds (a jump's).
  LoopBuilder(Evaluator* evaluator, const Stmt& loop, const LoopEffects& effects,
              const std::vector<const Variable*>& controls);
  // A loop that is no statement: `place` tells it from others, `carried` is all that it binds.
  LoopBuilder(Evaluator* evaluator, const void* place, const std::vector<const Variable*>& carried);

  // Each attempt runs `body`, which appends one iteration to the open block. Afterwards the frame's
  // slots are the loop's results.
  //
  // A `for` over the range.
  void BuildFor(const Sequence::Counted& range, const std::function<void(const Value&)>& body);
  // The same range as a `while` that `has_left` ends too.
  void BuildForWithExits(const Sequence::Counted& range,
                         const std::function<ir::Operand()>& has_left,
                         const std::function<void(const Value&)>& body);
  // A `while` of the condition that `test` appends.
  void BuildWhile(const std::function<ir::Operand()>& test, const std::function<void()>& body);

  // What NeedStatic names the index of this loop by.
  int index_origin() const { return index_.origin(); }

 private:
  using Carry = CarriedVariable;
  using Slots = std::vector<Slot>;  // One a carry.

  void AddCarry(const Variable* variable);
  // What an earlier round has found out about this loop.
  void TakeHint();
  void KeepHint();
  // New variables for what is carried; their slots become the frame's.
  Slots MakeSlots(const ir::Builder& builder, std::vector<const ir::Var*>* vars);
  // One iteration in a block of its own; null where the assumed types did not hold, after which
  // they are wider. `index` may be null; a `step` is then not yielded.
  const ir::Block* TryBody(const ir::Var* index, int64_t step, bool tests_first,
                           const std::function<void()>& body);
  const ir::Block* TestBlock(const ir::Var* index, const std::function<ir::Operand()>& test);
  bool Widen(const std::vector<const ir::Var*>& params, ir::Builder* block);
  // The operands carried at this point of the open block. A slot that does not count there, or is
  // unbound, hands on `otherwise`'s.
  std::vector<ir::Operand> Flattened(const Environment& environment, const Slots* otherwise);
  void Emit(ir::OpCode op, std::vector<const ir::Var*> results, std::vector<ir::Operand> operands,
            std::vector<const ir::Block*> blocks);

  Context& context() { return *evaluator_->context_; }
  Environment& environment() { return evaluator_->frame_->environment; }

  Evaluator* evaluator_;
  const void* place_;
  const IndexScope index_;
  const int64_t number_;
  const Environment before_;
  std::vector<Carry> carries_;
  std::vector<const Variable*> dead_;  // Bound by the body, read by nothing later.
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_LOOP_BUILDER_H_
