#include <algorithm>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/evaluator.h"
#include "frontend/intrinsics.h"

namespace parakeet::frontend {
namespace {

// How often a list display is held: a list that two names share cannot become an array for one.
int CountHolders(const Value& value, const Values* elements) {
  if (value.IsList() && value.Elements() == elements) return 1;
  int count = 0;
  if (const std::optional<Values> parts = PartsOf(value)) {
    for (const Value& part : *parts) count += CountHolders(part, elements);
  }
  return count;
}

bool HoldsNumbers(const Value& value) {
  if (!value.IsList()) return value.IsScalar();
  return std::all_of(value.Elements()->begin(), value.Elements()->end(), HoldsNumbers);
}

bool HoldsPythonScalars(const Value& value) {
  if (const auto* array = value.TryAs<ArrayValue>()) return array->python_elements;
  if (value.Elements() == nullptr) return value.IsPythonScalar();
  return std::all_of(value.Elements()->begin(), value.Elements()->end(), HoldsPythonScalars);
}

std::string CountMessage(int wanted, size_t got) {
  if (got > static_cast<size_t>(wanted)) {
    return "too many values to unpack (expected " + std::to_string(wanted) + ")";
  }
  return "not enough values to unpack (expected " + std::to_string(wanted) + ", got " +
         std::to_string(got) + ")";
}

}  // namespace

void Evaluator::Assign(const Expr& target, const Value& value) {
  const SpanScope span(context_, target.span);
  switch (target.kind) {
    case ExprKind::kName: frame_->environment.Bind(As<NameExpr>(target).variable, value); return;
    case ExprKind::kTuple: return AssignPattern(As<TupleExpr>(target), value);
    case ExprKind::kList: ir::FailBug("a list pattern is read as a tuple", target.span);
    case ExprKind::kSubscript: return AssignSubscript(As<SubscriptExpr>(target), value);
    case ExprKind::kAttribute: return AssignAttribute(As<AttributeExpr>(target), value);
    default: ir::FailBug("this expression is no target", target.span);
  }
}

void Evaluator::AssignPattern(const TupleExpr& pattern, const Value& value) {
  const auto& targets = pattern.elements;
  const auto star = std::find_if(targets.begin(), targets.end(), [](const ExprPtr& target) {
    return target->kind == ExprKind::kStarred;
  });
  if (star == targets.end()) {
    const Values values = Unpack(value, static_cast<int>(targets.size()));
    for (size_t i = 0; i < targets.size(); ++i) Assign(*targets[i], values[i]);
    return;
  }
  const size_t before = star - targets.begin();
  const size_t after = targets.size() - before - 1;
  if (value.IsArray() && !value.As<ArrayValue>().dims().empty() &&
      !value.As<ArrayValue>().dims()[0].IsConstant()) {
    return AssignStarred(pattern, before, after, value);
  }
  const Values values = Unpack(value, -1);
  if (values.size() < before + after) {
    context_->Raise("ValueError", "not enough values to unpack (expected at least " +
                                      std::to_string(before + after) + ", got " +
                                      std::to_string(values.size()) + ")");
  }
  for (size_t i = 0; i < before; ++i) Assign(*targets[i], values[i]);
  const auto rest = values.begin() + static_cast<std::ptrdiff_t>(before);
  const auto tail = values.end() - static_cast<std::ptrdiff_t>(after);
  Assign(*As<StarredExpr>(**star).value, Value::List(Values(rest, tail)));
  for (size_t i = 0; i < after; ++i) Assign(*targets[before + 1 + i], tail[i]);
}

// The same of an array whose length only the run knows: what the star takes is an array, of its own
// where its elements are numbers.
void Evaluator::AssignStarred(const TupleExpr& pattern, size_t before, size_t after,
                              const Value& array) {
  const ir::Operand length = array.As<ArrayValue>().dims()[0];
  const int64_t least = static_cast<int64_t>(before + after);
  context_->Check(
      builder().Scalar(ir::OpCode::kGe, {length, ir::Operand::Int(least)}), "ValueError",
      "not enough values to unpack (expected at least " + std::to_string(least) + ", got {})",
      {length});
  const auto at = [&](const ir::Operand& index) { return ElementAt(array, index); };
  const ir::Operand end = builder().Sub(length, ir::Operand::Int(static_cast<int64_t>(after)));
  Values values;
  for (size_t i = 0; i < before; ++i) {
    values.push_back(at(ir::Operand::Int(static_cast<int64_t>(i))));
  }
  const Value taken = Subscript(array, Value::Slice(Value::Int(static_cast<int64_t>(before)),
                                                    Value::Python(end), Value::None()));
  values.push_back(array.As<ArrayValue>().rank() == 1 ? CopyArray(taken) : taken);
  for (size_t i = 0; i < after; ++i) {
    values.push_back(at(builder().Add(end, ir::Operand::Int(static_cast<int64_t>(i)))));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const auto* star = TryAs<StarredExpr>(pattern.elements[i]);
    Assign(star == nullptr ? *pattern.elements[i] : *star->value, values[i]);
  }
}

// A list of numbers that a name holds becomes an array before it is stored into.
void Evaluator::PrepareStore(const Variable* root) {
  const Slot slot = frame_->environment.Get(root);
  if (!slot.IsBound() || !slot.value.IsList() || !HoldsNumbers(slot.value)) return;
  int holders = 0;
  for (const auto& [variable, other] : frame_->environment.slots()) {
    holders += CountHolders(other.value, slot.value.Elements());
  }
  if (holders != 1) FailStoredList();
  frame_->environment.Bind(root, DisplayAsArray(slot.value));
}

// The value of an expression that is stored into.
Value Evaluator::EvaluateStored(const Expr& target) {
  if (const Variable* root = StoredName(target)) PrepareStore(root);
  if (const auto* line = TryAs<AttributeExpr>(&target); line != nullptr && line->name == "flat") {
    const Value whole = EvaluateStored(*line->value);
    if (whole.IsArray()) return ReshapeArray(this, {whole, Value::Int(-1)});
  }
  const Value value = Evaluate(target);
  if (value.IsList()) FailStoredList();
  return value;
}

void Evaluator::FailStoredList() const {
  context_->FailLimitation(
      "a list that is stored into must hold numbers, and be held by one name; make it an array "
      "with np.array");
}

Value Evaluator::DisplayAsArray(const Value& list) {
  RefuseRaggedList(*context_, list);
  const Value array = AsArray(list);
  return ArrayValue{array.op(), Access::kWritable, HoldsPythonScalars(list)};
}

void Evaluator::AssignSubscript(const SubscriptExpr& target, const Value& value) {
  const Value stored = EvaluateStored(*target.value);
  const Value index = Evaluate(*target.index);
  StoreSubscript(stored, index, value);
}

void Evaluator::AssignAttribute(const AttributeExpr& target, const Value& value) {
  const std::optional<Value> changed = StoreAttribute(Evaluate(*target.value), target.name, value);
  if (!changed) return;
  const auto* name = TryAs<NameExpr>(target.value);
  if (name == nullptr) {
    context_->FailLimitation("assigning to ." + target.name + " needs a plain name before it");
  }
  frame_->environment.Bind(name->variable, *changed);
}

Values Evaluator::Unpack(const Value& value, int count) {
  const Sequence sequence = Iterate(value);
  if (sequence.fixed) {
    const size_t got = sequence.fixed->size();
    if (count >= 0 && got != static_cast<size_t>(count)) {
      context_->Raise("ValueError", CountMessage(count, got));
    }
    return *sequence.fixed;
  }
  if (count < 0 && !sequence.length.IsConstant()) {
    context_->FailLimitation("how many values " + Describe(value) +
                             " unpacks to must be known at compile time");
  }
  const int64_t wanted = count < 0 ? sequence.length.constant().integer : count;
  const ir::Operand ok =
      builder().Scalar(ir::OpCode::kEq, {sequence.length, ir::Operand::Int(wanted)});
  const ir::Operand too_many =
      builder().Scalar(ir::OpCode::kLe, {sequence.length, ir::Operand::Int(wanted)});
  context_->Check(too_many, "ValueError", CountMessage(count, wanted + 1));
  context_->Check(ok, "ValueError",
                  "not enough values to unpack (expected " + std::to_string(wanted) + ", got {})",
                  {sequence.length});
  if (ok.IsInt(0)) throw Leaves{};
  Values values;
  for (int64_t i = 0; i < wanted; ++i) values.push_back(sequence.element(ir::Operand::Int(i)));
  return values;
}

}  // namespace parakeet::frontend
