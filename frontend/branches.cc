#include "frontend/branches.h"

#include <unordered_set>
#include <utility>

#include "frontend/evaluator.h"

namespace parakeet::frontend {
namespace {

// Values defined in a block are not known outside it.
std::unordered_set<const ir::Var*> DefinedIn(ir::Builder& block) {
  std::unordered_set<const ir::Var*> defined;
  for (const ir::Binding* binding : block.bindings()) {
    defined.insert(binding->results.begin(), binding->results.end());
  }
  return defined;
}

// What the two sides of an `if` hand on, collected before it is emitted.
class BranchJoin {
 public:
  BranchJoin(Evaluator* evaluator, const ir::Operand& condition, int origin, Branch* then,
             Branch* otherwise)
      : evaluator_(evaluator),
        condition_(condition),
        origin_(origin),
        then_(then),
        otherwise_(otherwise) {}

  void Run();
  const Environment& environment() const { return environment_; }
  const Values& values() const { return values_; }

 private:
  // One value that becomes results of the `if`: null on the side where it does not count.
  struct Item {
    Pattern pattern;
    const Value* then;
    const Value* otherwise;
    std::string hint;
    Value* joined;
  };

  void JoinSlots();
  void JoinSlot(const Variable* variable, const Slot& then, const Slot& otherwise);
  void TakeSlot(const Variable* variable, const Slot& slot, bool from_then);
  void JoinBound(Slot* slot, const ir::Operand& then, const ir::Operand& otherwise);
  void JoinValues();
  void Add(Pattern pattern, const Value* then, const Value* otherwise, std::string hint,
           Value* joined);
  Pattern Owned(const Pattern& pattern);
  void Emit();

  Evaluator* evaluator_;
  const ir::Operand condition_;
  const int origin_;
  Branch* then_;
  Branch* otherwise_;
  Environment environment_;
  Values values_;
  std::vector<Item> items_;
  std::deque<Value> made_;  // Run-time bound flags of either side, as values.
  std::map<const Variable*, Slot, VariableOrder> joined_;
  std::vector<std::pair<Slot*, Value*>> bounds_;
};

void BranchJoin::Run() {
  JoinSlots();
  JoinValues();
  Emit();
  for (auto& [slot, bound] : bounds_) slot->bound = bound->op();
  for (auto& [variable, slot] : joined_) environment_.Set(variable, std::move(slot));
}

void BranchJoin::JoinSlots() {
  using State = Environment::State;
  const Environment& then = then_->environment;
  const Environment& otherwise = otherwise_->environment;
  environment_.state = std::min(then.state, otherwise.state);
  const Variable* result = evaluator_->frame().result;
  auto all = then.slots();
  all.insert(otherwise.slots().begin(), otherwise.slots().end());
  for (const auto& [variable, unused] : all) {
    const Slot& a = then.Get(variable);
    const Slot& b = otherwise.Get(variable);
    const bool a_counts = then.Counts(variable, result);
    const bool b_counts = otherwise.Counts(variable, result);
    if (SameSlot(a, b)) {
      joined_[variable] = a;
    } else if (a_counts && b_counts) {
      JoinSlot(variable, a, b);
    } else if (a_counts || b_counts) {
      TakeSlot(variable, a_counts ? a : b, a_counts);
    }
  }
  static_assert(State::kLive < State::kReturned && State::kReturned < State::kUnreachable);
}

void BranchJoin::JoinSlot(const Variable* variable, const Slot& then, const Slot& otherwise) {
  Slot& slot = joined_[variable];
  JoinBound(&slot, then.bound, otherwise.bound);
  if (SameValue(then.value, otherwise.value)) {
    slot.value = then.value;
    return;
  }
  const bool a = !then.IsUnbound();
  const bool b = !otherwise.IsUnbound();
  Pattern pattern = Join(a ? PatternOf(then.value) : Pattern(),
                         b ? PatternOf(otherwise.value) : Pattern(), origin_);
  Add(Owned(pattern), a ? &then.value : nullptr, b ? &otherwise.value : nullptr, variable->name,
      &slot.value);
}

// The slot of the only side that counts. What it held before the `if` needs no result.
void BranchJoin::TakeSlot(const Variable* variable, const Slot& slot, bool from_then) {
  if (SameSlot(slot, evaluator_->frame().environment.Get(variable))) {
    joined_[variable] = slot;
    return;
  }
  Slot& joined = joined_[variable];
  const ir::Operand any = slot.bound.IsConstant() ? slot.bound : ir::Operand::Bool(true);
  JoinBound(&joined, from_then ? slot.bound : any, from_then ? any : slot.bound);
  if (slot.IsUnbound()) return;
  const Value* value = &slot.value;
  Add(Owned(PatternOf(*value)), from_then ? value : nullptr, from_then ? nullptr : value,
      variable->name, &joined.value);
}

void BranchJoin::JoinBound(Slot* slot, const ir::Operand& then, const ir::Operand& otherwise) {
  if (then == otherwise) {
    slot->bound = then;
  } else if (then.IsInt(1) && otherwise.IsInt(0)) {
    slot->bound = condition_;
  } else if (then.IsInt(0) && otherwise.IsInt(1)) {
    slot->bound = evaluator_->builder().Scalar(ir::OpCode::kNot, {condition_});
  } else {
    Value& a = made_.emplace_back(Value::Python(then));
    Value& b = made_.emplace_back(Value::Python(otherwise));
    Value& joined = made_.emplace_back();
    Add(PatternOf(a), &a, &b, "bound", &joined);
    bounds_.emplace_back(slot, &joined);
  }
}

void BranchJoin::JoinValues() {
  const Values& a = then_->values;
  const Values& b = otherwise_->values;
  values_.resize(std::max(a.size(), b.size()));
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value* then = a.empty() ? nullptr : &a[i];
    const Value* otherwise = b.empty() ? nullptr : &b[i];
    if (then != nullptr && otherwise != nullptr && SameValue(*then, *otherwise)) {
      values_[i] = *then;
      continue;
    }
    const Pattern pattern = Join(then != nullptr ? PatternOf(*then) : Pattern(),
                                 otherwise != nullptr ? PatternOf(*otherwise) : Pattern(), origin_);
    Add(Owned(pattern), then, otherwise, "", &values_[i]);
  }
}

void BranchJoin::Add(Pattern pattern, const Value* then, const Value* otherwise, std::string hint,
                     Value* joined) {
  items_.push_back({std::move(pattern), then, otherwise, std::move(hint), joined});
}

Pattern BranchJoin::Owned(const Pattern& pattern) {
  const auto in_then = DefinedIn(then_->block);
  const auto in_otherwise = DefinedIn(otherwise_->block);
  return OwnSizes(pattern, [&](const ir::Operand& size) {
    return !in_then.contains(size.var()) && !in_otherwise.contains(size.var());
  });
}

void BranchJoin::Emit() {
  Context& context = evaluator_->context();
  const auto finish = [&](Branch* branch, bool is_then) {
    std::vector<ir::Operand> yielded;
    {
      Inside inside(&context, &branch->block);
      for (const Item& item : items_) {
        Flatten(evaluator_, is_then ? item.then : item.otherwise, item.pattern, &yielded);
      }
    }
    return branch->block.Finish({}, std::move(yielded));
  };
  const ir::Block* then = finish(then_, true);
  const ir::Block* otherwise = finish(otherwise_, false);
  std::vector<const ir::Var*> results;
  for (const Item& item : items_) {
    *item.joined = MakeVars(context.builder(), item.pattern, item.hint, &results);
  }
  if (results.empty() && then->bindings.empty() && otherwise->bindings.empty()) return;
  context.builder().Emit(ir::OpCode::kIf, std::move(results), {condition_}, {}, {then, otherwise});
}

// A block that only computes scalars and then fails: what `if bad: raise ...` makes.
bool OnlyFails(ir::Builder& block) {
  auto& bindings = block.bindings();
  if (bindings.empty() || bindings.back()->op != ir::OpCode::kCheck) return false;
  if (!bindings.back()->operands[0].IsInt(0)) return false;
  for (size_t i = 0; i + 1 < bindings.size(); ++i) {
    if (!ir::IsScalarOp(bindings[i]->op)) return false;
  }
  return true;
}

// The failing block as a check of `ok` in the open block.
void EmitAsCheck(ir::Builder& builder, ir::Builder& failing, const ir::Operand& ok) {
  ir::Binding check = *failing.bindings().back();
  failing.bindings().pop_back();
  for (const ir::Binding* binding : failing.bindings()) builder.Append(binding);
  check.operands[0] = ok;
  builder.Append(builder.arena()->New(std::move(check)));
}

}  // namespace

Branch Evaluator::RunBranch(const std::function<Values()>& body) {
  Branch branch{context_->NewBlock(), frame_->environment, {}};
  Extend(&branch, body);
  return branch;
}

void Evaluator::Extend(Branch* branch, const std::function<Values()>& body) {
  std::swap(branch->environment, frame_->environment);
  try {
    Inside inside(context_, &branch->block);
    branch->values = body();
  } catch (const Leaves&) {
    branch->values.clear();
    branch->reaches = false;
    frame_->environment.state = Environment::State::kUnreachable;
  } catch (...) {
    std::swap(branch->environment, frame_->environment);
    throw;
  }
  std::swap(branch->environment, frame_->environment);
}

// Where one side raises, the other follows the `if` in the open block: nothing has to be joined.
Values Evaluator::PassOnly(const ir::Operand& condition, bool then_passes, Branch* passes,
                           Branch* fails) {
  if (OnlyFails(fails->block)) {
    const ir::Operand ok =
        then_passes ? condition : builder().Scalar(ir::OpCode::kNot, {condition});
    EmitAsCheck(builder(), fails->block, ok);
  } else {
    const ir::Block* empty = context_->NewBlock().Finish({}, {});
    const ir::Block* raise = fails->block.Finish({}, {});
    builder().Emit(ir::OpCode::kIf, {}, {condition}, {},
                   {then_passes ? empty : raise, then_passes ? raise : empty});
  }
  for (const ir::Binding* binding : passes->block.bindings()) builder().Append(binding);
  frame_->environment = std::move(passes->environment);
  return std::move(passes->values);
}

Values Evaluator::JoinBranches(const ir::Operand& condition, int origin, Branch* then,
                               Branch* otherwise) {
  if (then->IsUnreachable() && !otherwise->IsUnreachable()) {
    return PassOnly(condition, false, otherwise, then);
  }
  if (otherwise->IsUnreachable() && !then->IsUnreachable()) {
    return PassOnly(condition, true, then, otherwise);
  }
  BranchJoin join(this, condition, origin, then, otherwise);
  join.Run();
  frame_->environment = join.environment();
  return join.values();
}

bool Evaluator::Reaches(const std::function<void()>& build) {
  try {
    build();
  } catch (const Leaves&) {
    frame_->environment.state = Environment::State::kUnreachable;
  }
  return frame_->environment.state == Environment::State::kLive;
}

Value Evaluator::Choose(const ir::Operand& condition, int origin,
                        const std::function<Value()>& then,
                        const std::function<Value()>& otherwise) {
  if (condition.IsConstant()) return condition.IsInt(0) ? otherwise() : then();
  Branch yes = RunBranch([&] { return Values{then()}; });
  Branch no = RunBranch([&] { return Values{otherwise()}; });
  Values values = JoinBranches(condition, origin, &yes, &no);
  if (values.empty()) throw Leaves{};
  if (const auto* undefined = values[0].TryAs<UndefinedValue>(); undefined != nullptr) {
    context_->AskForStatic(undefined->origin);
    context_->FailLimitation("the value is " + undefined->why + "; make it one type on every path");
  }
  return values[0];
}

void Evaluator::FailUnless(const ir::Operand& ok, const std::function<void()>& fail) {
  if (ok.IsInt(1)) return;
  if (ok.IsConstant()) fail();
  Branch passes = RunBranch([] { return Values{}; });
  Branch fails = RunBranch([&]() -> Values {
    fail();
    throw Leaves{};
  });
  JoinBranches(ok, -1, &passes, &fails);
}

}  // namespace parakeet::frontend
