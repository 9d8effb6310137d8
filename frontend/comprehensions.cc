#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/comprehension_scope.h"
#include "frontend/evaluator.h"
#include "frontend/promotion.h"
#include "frontend/selected_comprehensions.h"
#include "frontend/sequential_comprehensions.h"

namespace parakeet::frontend {
namespace {

using Generator = ComprehensionExpr::Generator;

// Arrays one after the other along their first axis.
Value Concatenate(Evaluator* evaluator, const Values& arrays) {
  ir::Builder& builder = evaluator->builder();
  const auto& first = arrays[0].As<ArrayValue>();
  ir::DType dtype = first.dtype();
  std::vector<ir::Operand> dims = first.dims();
  dims[0] = ir::Operand::Int(0);
  bool python_elements = true;
  for (const Value& value : arrays) {
    const auto& array = value.As<ArrayValue>();
    if (array.rank() != first.rank()) {
      evaluator->context().FailLimitation(
          "a comprehension makes arrays of different ranks; use for loops");
    }
    dtype = Promote(dtype, array.dtype());
    dims[0] = builder.Add(dims[0], array.dims()[0]);
    python_elements = python_elements && array.python_elements;
  }
  const ir::Var* all = builder.EmitOne(ir::OpCode::kAlloc, ir::Type::Array(dtype, dims), dims);
  ir::Operand start = ir::Operand::Int(0);
  for (const Value& value : arrays) {
    const ir::Operand end = builder.Add(start, value.As<ArrayValue>().dims()[0]);
    const Value part = evaluator->Subscript(
        Value::Array(all), Value::Slice(Value::Python(start), Value::Python(end), Value::None()));
    evaluator->CopyInto(value, part);
    start = end;
  }
  return ArrayValue{all, Access::kWritable, python_elements, Order::kC};
}

}  // namespace

Value Evaluator::EvaluateComprehension(const ComprehensionExpr& expr) {
  const bool is_read = consumed_ == &expr;
  std::optional<bool> stop;
  if (is_read && consumer_ == "any") stop = true;
  if (is_read && consumer_ == "all") stop = false;
  const Sequence sequence = IterateLoop(*expr.generators[0].iterable);
  std::vector<const Variable*> names = SequentialComprehension::NamesCarried(this, expr, is_read);
  if (!names.empty()) {
    return SequentialComprehension(this, expr, std::move(names), stop).Run(sequence);
  }
  Value made = RunGenerator(expr, 0, sequence);
  HideNamesOfElements(frame_, expr);
  return made;
}

// The comprehension from generator `depth` on, over `sequence`.
Value Evaluator::RunGenerator(const ComprehensionExpr& expr, size_t depth,
                              const Sequence& sequence) {
  const Generator& generator = expr.generators[depth];
  if (sequence.fixed) return RunFixedGenerator(expr, depth, *sequence.fixed);
  if (generator.conditions.empty() && depth + 1 == expr.generators.size()) {
    return TabulateGenerator(expr, depth, sequence);
  }
  if (SelectedComprehension::IsRectangular(this, expr, depth, sequence)) {
    return FlattenFirstAxes(TabulateGenerator(expr, depth, sequence));
  }
  const IndexScope unrollable(context_);
  try {
    return SelectedComprehension(this, expr, depth, sequence, unrollable.origin()).Run();
  } catch (const NeedStatic& need) {
    if (need.parameter != unrollable.origin()) throw;
    return RunFixedGenerator(expr, depth, UnrolledValues(sequence));
  }
}

// Each element at compile time: the comprehension is a list display of them. What an inner
// generator makes at run time is put one after the other.
Value Evaluator::RunFixedGenerator(const ComprehensionExpr& expr, size_t depth,
                                   const Values& values) {
  const bool is_last = depth + 1 == expr.generators.size();
  Values elements;
  Values pieces;
  for (const Value& value : values) {
    const ComprehensionScope scope(frame_, expr);
    Assign(*expr.generators[depth].target, value);
    const std::optional<bool> is_kept = IsKept(expr.generators[depth]);
    if (!is_kept) return RunGenerator(expr, depth, IterateScalars(values));
    if (!*is_kept) continue;
    const Value element = EvaluateFrom(expr, depth);
    if (const Values* inner = element.Elements(); !is_last && inner != nullptr) {
      elements.insert(elements.end(), inner->begin(), inner->end());
    } else if (is_last) {
      elements.push_back(element);
    } else {
      if (!elements.empty()) pieces.push_back(AsArray(Value::List(std::move(elements))));
      elements.clear();
      pieces.push_back(element);
    }
  }
  if (pieces.empty()) return Value::List(std::move(elements));
  if (!elements.empty()) pieces.push_back(AsArray(Value::List(std::move(elements))));
  return Concatenate(this, pieces);
}

// Whether the element that is bound passes the conditions; nothing where only the run knows.
std::optional<bool> Evaluator::IsKept(const Generator& generator) {
  for (const ExprPtr& condition : generator.conditions) {
    const int origin = OriginOf(*condition);
    const ir::Operand truth = EvaluateTruth(*condition);
    if (!truth.IsConstant()) {
      context_->AskForStatic(origin);
      return std::nullopt;
    }
    if (truth.IsInt(0)) return false;
  }
  return true;
}

// The elements of a tuple as a sequence that is read by run-time indexes.
Sequence Evaluator::IterateScalars(const Values& values) {
  if (!std::all_of(values.begin(), values.end(), [](const Value& v) { return v.IsScalar(); })) {
    context_->FailLimitation(
        "a run-time condition on the elements of a tuple of anything but numbers; use a for loop");
  }
  return Iterate(DisplayAsArray(Value::List(values)));
}

// What stands inside generator `depth`: the element, or the comprehension of the next ones.
Value Evaluator::EvaluateFrom(const ComprehensionExpr& expr, size_t depth) {
  if (depth + 1 == expr.generators.size()) return Evaluate(*expr.element);
  return RunGenerator(expr, depth + 1, IterateLoop(*expr.generators[depth + 1].iterable));
}

Value Evaluator::TabulateGenerator(const ComprehensionExpr& expr, size_t depth,
                                   const Sequence& sequence) {
  const IndexScope unrollable(context_);
  const int origin = unrollable.origin();
  const auto element = [&](const std::vector<ir::Operand>& indexes) {
    const ComprehensionScope scope(frame_, expr);
    Value item = sequence.element(indexes[0]);
    if (const auto* scalar = item.TryAs<ScalarValue>(); sequence.counted && scalar != nullptr) {
      item = Value::Python(scalar->op, scalar->op.IsVar() ? origin : -1);
    }
    Assign(*expr.generators[depth].target, item);
    const Value value = EvaluateFrom(expr, depth);
    return value.Elements() != nullptr ? AsArray(value) : value;
  };
  try {
    return Tabulate({sequence.length}, element);
  } catch (const NeedStatic& need) {
    if (need.parameter != origin) throw;
    return RunFixedGenerator(expr, depth, UnrolledValues(sequence));
  }
}

// [n][m]... as [n * m]...: what several generators make, in their order.
Value Evaluator::FlattenFirstAxes(const Value& nested) {
  const auto& array = nested.As<ArrayValue>();
  if (array.rank() < 2) return nested;
  std::vector<ir::Operand> dims(array.dims().begin() + 1, array.dims().end());
  dims[0] = builder().Mul(array.dims()[0], array.dims()[1]);
  const ir::Operand flat = builder().EmitOne(
      ir::OpCode::kReshape, ir::Type::Array(array.dtype(), std::move(dims)), {array.op});
  return ArrayValue{flat, array.access, array.python_elements, Order::kC};
}

}  // namespace parakeet::frontend
