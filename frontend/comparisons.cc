#include <algorithm>
#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/static_values.h"

// Comparisons of values of every kind, `is` and `in` included.
namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

bool IsNumber(const Value& value) { return value.IsScalar() || value.IsArray(); }

bool IsDTypeLike(const Value& value) {
  const auto* function = value.TryAs<IntrinsicValue>();
  if (function == nullptr) return value.Is<DTypeValue>() || value.Is<StringValue>();
  return function->name == "float" || function->name == "int" || function->name == "bool" ||
         function->name == "complex";
}

// == of dtypes, where one side may be what stands for a dtype: x.dtype == float.
bool SameDType(Evaluator* evaluator, const Value& left, const Value& right) {
  return IsDTypeLike(left) && IsDTypeLike(right) &&
         StaticDType(evaluator, left) == StaticDType(evaluator, right);
}

// `is`: None, bools and functions have an identity at compile time; numbers and arrays do not.
Operand IsSame(Evaluator* evaluator, const Value& left, const Value& right) {
  const bool one_is_none = left.IsNone() || right.IsNone();
  if (one_is_none) return Operand::Bool(left.IsNone() && right.IsNone());
  const bool has_identity = !IsNumber(left) && !IsNumber(right) && left.Elements() == nullptr &&
                            right.Elements() == nullptr;
  if (has_identity) return Operand::Bool(SameValue(left, right));
  if (left.IsPythonScalar() && right.IsPythonScalar() && ir::IsBool(ir::DTypeOf(left.op())) &&
      ir::IsBool(ir::DTypeOf(right.op()))) {
    return evaluator->builder().Scalar(OpCode::kEq, {left.op(), right.op()});
  }
  if (left.IsArray() && right.IsArray() && left.op() == right.op()) return Operand::Bool(true);
  const bool kinds_differ = left.variant().index() != right.variant().index();
  if (kinds_differ) return Operand::Bool(false);
  evaluator->context().FailLimitation(
      "`is` compares None, bools, dtypes and functions only; use == for " + Describe(left));
}

Operand Negate(ir::Builder* builder, const Operand& condition) {
  return builder->Scalar(OpCode::kNot, {condition});
}

const std::string* StaticText(const Value& value) {
  const auto* text = value.TryAs<StringValue>();
  return text == nullptr || text->is_format ? nullptr : &text->text;
}

// `kind in "fc"`.
Operand ContainsText(Evaluator* evaluator, const Value& value, const std::string& text) {
  const std::string* part = StaticText(value);
  if (part == nullptr) {
    evaluator->context().FailType("'in <string>' requires string as left operand, not " +
                                  PythonTypeName(value));
  }
  return Operand::Bool(text.find(*part) != std::string::npos);
}

// `value in sequence`: equality with each element, left to right.
Operand Contains(Evaluator* evaluator, const Value& value, const Value& sequence) {
  Operand found = Operand::Bool(false);
  if (sequence.Is<IterableValue>()) {
    return Contains(evaluator, value, evaluator->AsArray(sequence));
  }
  if (sequence.IsArray()) {
    const Value equal = evaluator->Compare(CompareOperator::kEq, sequence, value);
    return evaluator->Truth(evaluator->CallMethod(equal, "any", {}));
  }
  if (const auto* text = StaticText(sequence)) return ContainsText(evaluator, value, *text);
  const Values* elements = sequence.Elements();
  if (elements == nullptr) {
    evaluator->context().FailType("argument of type '" + PythonTypeName(sequence) +
                                  "' is not iterable");
  }
  for (const Value& element : *elements) {
    const Operand equal =
        evaluator->Truth(evaluator->Compare(CompareOperator::kEq, element, value));
    found = evaluator->builder().Scalar(OpCode::kOr, {found, equal});
  }
  return found;
}

bool IsOrder(CompareOperator op) {
  return op == CompareOperator::kLt || op == CompareOperator::kLtE || op == CompareOperator::kGt ||
         op == CompareOperator::kGtE;
}

// Tuples in lexicographic order: the first pair that differs decides.
Operand CompareElements(Evaluator* evaluator, CompareOperator op, const Values& left,
                        const Values& right, size_t at) {
  ir::Builder& builder = evaluator->builder();
  if (at == left.size() || at == right.size()) {
    const Operand a = Operand::Int(static_cast<int64_t>(left.size()));
    const Operand b = Operand::Int(static_cast<int64_t>(right.size()));
    return builder.Scalar(FindPrimitive(PrimitiveName(op))->op, {a, b});
  }
  const Operand equal =
      evaluator->Truth(evaluator->Compare(CompareOperator::kEq, left[at], right[at]));
  const Operand rest = CompareElements(evaluator, op, left, right, at + 1);
  if (!IsOrder(op)) {
    const bool is_equality = op == CompareOperator::kEq;
    const Operand differs = Negate(&builder, equal);
    return is_equality ? builder.Scalar(OpCode::kAnd, {equal, rest})
                       : builder.Scalar(OpCode::kOr, {differs, rest});
  }
  if (equal.IsInt(1)) return rest;
  const Operand here = evaluator->Truth(evaluator->Compare(op, left[at], right[at]));
  return builder.Scalar(OpCode::kSelect, {equal, rest, here});
}

Operand CompareTuples(Evaluator* evaluator, CompareOperator op, const Values& left,
                      const Values& right) {
  if (!IsOrder(op) && left.size() != right.size()) {
    return Operand::Bool(op == CompareOperator::kNotEq);
  }
  return CompareElements(evaluator, op, left, right, 0);
}

}  // namespace

std::string PrimitiveName(CompareOperator op) {
  switch (op) {
    case CompareOperator::kEq: return "equal";
    case CompareOperator::kNotEq: return "not_equal";
    case CompareOperator::kLt: return "less";
    case CompareOperator::kLtE: return "less_equal";
    case CompareOperator::kGt: return "greater";
    case CompareOperator::kGtE: return "greater_equal";
    default: return "";
  }
}

Value Evaluator::Compare(CompareOperator op, const Value& left, const Value& right) {
  switch (op) {
    case CompareOperator::kIs: return Value::Python(IsSame(this, left, right));
    case CompareOperator::kIsNot:
      return Value::Python(Negate(&builder(), IsSame(this, left, right)));
    case CompareOperator::kIn: return Value::Python(Contains(this, left, right));
    case CompareOperator::kNotIn:
      return Value::Python(Negate(&builder(), Contains(this, left, right)));
    default: break;
  }
  if (left.IsPythonScalar() && right.IsPythonScalar()) {
    return PythonCompare(context_, op, left.As<ScalarValue>(), right.As<ScalarValue>());
  }
  const auto is_float64 = [](const Value& v) {
    return v.IsScalar() && !v.IsPythonScalar() && ir::DTypeOf(v.op()) == ir::DType::kF64;
  };
  if (left.IsPythonScalar() && ir::IsComplex(ir::DTypeOf(left.op())) && is_float64(right)) {
    return Compare(op, left, Value::Python(right.op()));
  }
  const bool has_number = IsNumber(left) || IsNumber(right);
  const bool may_be_arrays = (IsNumber(left) || left.Elements() != nullptr) &&
                             (IsNumber(right) || right.Elements() != nullptr);
  const bool tuple_beside_scalar = (left.IsPythonScalar() && right.Elements() != nullptr) ||
                                   (right.IsPythonScalar() && left.Elements() != nullptr);
  if (has_number && may_be_arrays && !tuple_beside_scalar) {
    return ApplyPrimitive(this, *FindPrimitive(PrimitiveName(op)), {left, right});
  }
  if (left.Elements() != nullptr && right.Elements() != nullptr &&
      left.IsTuple() == right.IsTuple()) {
    return Value::Python(CompareTuples(this, op, *left.Elements(), *right.Elements()));
  }
  if (IsOrder(op)) {
    context_->FailType("'" + Spelling(op) + "' not supported between instances of '" +
                       PythonTypeName(left) + "' and '" + PythonTypeName(right) + "'");
  }
  const bool any_dtype = left.Is<DTypeValue>() || right.Is<DTypeValue>();
  const bool same = any_dtype ? SameDType(this, left, right) : SameValue(left, right);
  return Value::Bool(same == (op == CompareOperator::kEq));
}

}  // namespace parakeet::frontend
