#include "frontend/loop_builder.h"

#include <unordered_set>
#include <utility>

namespace parakeet::frontend {

LoopBuilder::LoopBuilder(Evaluator* evaluator, const Stmt& loop, const LoopEffects& effects,
                         const std::vector<const Variable*>& controls)
    : evaluator_(evaluator),
      place_(&loop),
      index_(evaluator->context_),
      number_(evaluator->context_->NextNumber()),
      before_(evaluator->frame_->environment) {
  const LiveVariables& live = evaluator->Live();
  for (const Variable* variable : effects.bound) {
    if (live.AtHead(loop, *variable) || live.After(loop, *variable)) {
      AddCarry(variable);
    } else {
      dead_.push_back(variable);
    }
  }
  for (const Variable* control : controls) AddCarry(control);
  TakeHint();
}

LoopBuilder::LoopBuilder(Evaluator* evaluator, const void* place,
                         const std::vector<const Variable*>& carried)
    : evaluator_(evaluator),
      place_(place),
      index_(evaluator->context_),
      number_(evaluator->context_->NextNumber()),
      before_(evaluator->frame_->environment) {
  for (const Variable* variable : carried) AddCarry(variable);
  TakeHint();
}

void LoopBuilder::TakeHint() {
  const auto hint = evaluator_->loop_hints_.find({evaluator_->frame_->id, place_});
  if (hint == evaluator_->loop_hints_.end()) return;
  const std::vector<Carry>& found = hint->second.carries;
  if (found.size() != carries_.size() || !(hint->second.surroundings == SurroundingsOf(before_))) {
    return;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (carries_[i].variable->name != found[i].variable->name) return;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    carries_[i].bound_changes = found[i].bound_changes;
    if (!found[i].changes) continue;
    if (const auto pattern = Hinted(carries_[i].pattern, found[i].pattern)) {
      carries_[i].changes = true;
      carries_[i].pattern = *pattern;
    }
  }
}

void LoopBuilder::KeepHint() {
  evaluator_->loop_hints_[{evaluator_->frame_->id, place_}] = {SurroundingsOf(before_), carries_};
}

// A scalar is assumed to change, anything else not to.
void LoopBuilder::AddCarry(const Variable* variable) {
  const Slot& slot = before_.Get(variable);
  const Pattern pattern = slot.IsUnbound() ? Pattern() : PatternOf(slot.value);
  carries_.push_back(
      {variable, pattern.kind == Pattern::Kind::kScalar, !slot.bound.IsConstant(), pattern});
}

LoopBuilder::Slots LoopBuilder::MakeSlots(const ir::Builder& builder,
                                          std::vector<const ir::Var*>* vars) {
  environment() = before_;
  for (const Variable* variable : dead_) environment().Unbind(variable);
  Slots slots;
  for (const Carry& carry : carries_) {
    Slot slot = before_.Get(carry.variable);
    if (carry.changes) slot.value = MakeVars(builder, carry.pattern, carry.variable->name, vars);
    if (carry.bound_changes) {
      vars->push_back(builder.NewVar(ir::DType::kBool, carry.variable->name + "_bound"));
      slot.bound = vars->back();
    }
    environment().Set(carry.variable, slot);
    slots.push_back(std::move(slot));
  }
  return slots;
}

const ir::Block* LoopBuilder::TryBody(const ir::Var* index, int64_t step, bool tests_first,
                                      const std::function<void()>& body) {
  ir::Builder block = context().NewBlock();
  const Inside inside(&context(), &block);
  std::vector<const ir::Var*> params;
  if (index != nullptr) params.push_back(index);
  const Slots head = MakeSlots(block, &params);
  body();
  if (!Widen(params, &block)) return nullptr;
  std::vector<ir::Operand> yielded;
  if (tests_first && index != nullptr) {
    yielded.push_back(block.Add(index, ir::Operand::Int(step)));
  }
  const std::vector<ir::Operand> carried = Flattened(environment(), &head);
  yielded.insert(yielded.end(), carried.begin(), carried.end());
  return block.Finish(std::move(params), std::move(yielded));
}

const ir::Block* LoopBuilder::TestBlock(const ir::Var* index,
                                        const std::function<ir::Operand()>& test) {
  ir::Builder block = context().NewBlock();
  const Inside inside(&context(), &block);
  std::vector<const ir::Var*> params;
  if (index != nullptr) params.push_back(index);
  MakeSlots(block, &params);
  ir::Operand goes_on = ir::Operand::Bool(false);
  evaluator_->Reaches([&] { goes_on = test(); });
  return block.Finish(std::move(params), {goes_on});
}

// Joins what the iteration left with what it was given; true where nothing became wider.
bool LoopBuilder::Widen(const std::vector<const ir::Var*>& params, ir::Builder* block) {
  std::unordered_set<const ir::Var*> inner(params.begin(), params.end());
  for (const ir::Binding* binding : block->bindings()) {
    inner.insert(binding->results.begin(), binding->results.end());
  }
  const auto is_outer = [&](const ir::Operand& size) { return !inner.contains(size.var()); };
  bool fits = true;
  for (Carry& carry : carries_) {
    if (!environment().Counts(carry.variable, evaluator_->frame_->result)) continue;
    const Slot& end = environment().Get(carry.variable);
    const Slot& before = before_.Get(carry.variable);
    if (!carry.bound_changes && !(end.bound == before.bound)) {
      carry.bound_changes = true;
      fits = false;
    }
    if (end.IsUnbound() || (!carry.changes && SameValue(end.value, before.value))) continue;
    const Pattern joined = Join(carry.pattern, OwnSizes(PatternOf(end.value), is_outer));
    if (carry.changes && joined == carry.pattern) continue;
    carry.changes = true;
    carry.pattern = joined;
    fits = false;
  }
  return fits;
}

std::vector<ir::Operand> LoopBuilder::Flattened(const Environment& environment,
                                                const Slots* otherwise) {
  std::vector<ir::Operand> operands;
  for (size_t i = 0; i < carries_.size(); ++i) {
    const Carry& carry = carries_[i];
    const Slot* slot = &environment.Get(carry.variable);
    const Slot* other = otherwise == nullptr ? nullptr : &(*otherwise)[i];
    if (other != nullptr && !environment.Counts(carry.variable, evaluator_->frame_->result)) {
      slot = other;
    }
    if (carry.changes) {
      const Slot* holder = slot->IsUnbound() ? other : slot;
      Flatten(evaluator_, holder == nullptr ? nullptr : &holder->value, carry.pattern, &operands);
    }
    if (carry.bound_changes) operands.push_back(slot->bound);
  }
  return operands;
}

void LoopBuilder::Emit(ir::OpCode op, std::vector<const ir::Var*> results,
                       std::vector<ir::Operand> operands, std::vector<const ir::Block*> blocks) {
  KeepHint();
  const std::vector<ir::Operand> inits = Flattened(before_, nullptr);
  operands.insert(operands.end(), inits.begin(), inits.end());
  MakeSlots(context().builder(), &results);
  context().builder().Emit(op, std::move(results), std::move(operands), {}, std::move(blocks));
}

void LoopBuilder::BuildFor(const Sequence::Counted& range,
                           const std::function<void(const Value&)>& body) {
  const ir::Block* block = nullptr;
  while (block == nullptr) {
    const ir::Var* index = context().builder().NewVar(ir::DType::kI64, "i");
    const LoopScope scope(&context(), number_, {index});
    block = TryBody(index, range.step, false, [&] { body(Value::Python(index, index_.origin())); });
  }
  Emit(ir::OpCode::kFor, {}, {range.start, range.stop, ir::Operand::Int(range.step)}, {block});
}

void LoopBuilder::BuildForWithExits(const Sequence::Counted& range,
                                    const std::function<ir::Operand()>& has_left,
                                    const std::function<void(const Value&)>& body) {
  const ir::Block* test = nullptr;
  const ir::Block* block = nullptr;
  const ir::OpCode in_range = range.step > 0 ? ir::OpCode::kLt : ir::OpCode::kGt;
  while (block == nullptr) {
    const ir::Var* tested = context().builder().NewVar(ir::DType::kI64, "i");
    const ir::Var* index = context().builder().NewVar(ir::DType::kI64, "i");
    const LoopScope scope(&context(), number_, {index});
    test = TestBlock(tested, [&] {
      ir::Builder& builder = context().builder();
      const ir::Operand stays = builder.Scalar(ir::OpCode::kNot, {has_left()});
      const ir::Operand inside = builder.Scalar(in_range, {tested, range.stop});
      return builder.Scalar(ir::OpCode::kAnd, {inside, stays});
    });
    block = TryBody(index, range.step, true, [&] { body(Value::Python(index, index_.origin())); });
  }
  const ir::Var* last = context().builder().NewVar(ir::DType::kI64, "i");
  Emit(ir::OpCode::kWhile, {last}, {range.start}, {test, block});
}

void LoopBuilder::BuildWhile(const std::function<ir::Operand()>& test,
                             const std::function<void()>& body) {
  const ir::Block* tested = nullptr;
  const ir::Block* block = nullptr;
  while (block == nullptr) {
    const LoopScope scope(&context(), number_, {});
    tested = TestBlock(nullptr, test);
    block = TryBody(nullptr, 0, true, body);
  }
  Emit(ir::OpCode::kWhile, {}, {}, {tested, block});
}

}  // namespace parakeet::frontend
