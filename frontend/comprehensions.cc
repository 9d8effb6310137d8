#include <utility>

#include "frontend/evaluator.h"

namespace parakeet::frontend {
namespace {

using Generator = ComprehensionExpr::Generator;

// From 3.12 on Python makes no function of a list comprehension, which its messages show.
bool IsFunction(const ComprehensionExpr& expr) {
  return expr.is_generator || Py_Version < 0x030C0000;
}

// While it lives, what is bound belongs to a comprehension and is forgotten afterwards.
class ComprehensionScope {
 public:
  ComprehensionScope(Frame* frame, const ComprehensionExpr& expr)
      : frame_(frame), outer_(frame->environment), is_function_(IsFunction(expr)) {
    if (is_function_) ++frame->inner_functions;
  }
  ~ComprehensionScope() {
    if (is_function_) --frame_->inner_functions;
    frame_->environment = std::move(outer_);
  }
  ComprehensionScope(const ComprehensionScope&) = delete;
  ComprehensionScope& operator=(const ComprehensionScope&) = delete;

 private:
  Frame* frame_;
  Environment outer_;
  bool is_function_;
};

}  // namespace

Value Evaluator::EvaluateComprehension(const ComprehensionExpr& expr) {
  if (BindsNames(expr)) {
    context_->FailLimitation("`:=` inside a comprehension; use a for loop");
  }
  return RunGenerator(expr, 0, IterateLoop(*expr.generators[0].iterable));
}

// The comprehension from generator `depth` on, over `sequence`.
Value Evaluator::RunGenerator(const ComprehensionExpr& expr, size_t depth,
                              const Sequence& sequence) {
  const Generator& generator = expr.generators[depth];
  if (sequence.fixed) return RunFixedGenerator(expr, depth, *sequence.fixed);
  if (depth + 1 == expr.generators.size()) {
    if (!generator.conditions.empty()) return RunFilteredGenerator(expr, sequence);
    return TabulateGenerator(expr, depth, sequence, sequence.length,
                             [](const ir::Operand& index) { return index; });
  }
  if (!generator.conditions.empty()) {
    context_->FailLimitation(
        "a condition before the last `for` of a comprehension; use nested for loops");
  }
  const Value nested = TabulateGenerator(expr, depth, sequence, sequence.length,
                                         [](const ir::Operand& index) { return index; });
  return FlattenFirstAxes(nested);
}

// Each element at compile time: the comprehension is a list display of them.
Value Evaluator::RunFixedGenerator(const ComprehensionExpr& expr, size_t depth,
                                   const Values& values) {
  const Generator& generator = expr.generators[depth];
  Values elements;
  for (const Value& value : values) {
    const ComprehensionScope scope(frame_, expr);
    Assign(*generator.target, value);
    bool is_kept = true;
    for (const ExprPtr& condition : generator.conditions) {
      const int origin = OriginOf(*condition);
      const ir::Operand truth = EvaluateTruth(*condition);
      if (!truth.IsConstant()) {
        context_->FailNotStatic(origin, "a condition on the elements of a tuple");
      }
      is_kept = is_kept && truth.IsInt(1);
      if (!is_kept) break;
    }
    if (!is_kept) continue;
    const Value element = EvaluateFrom(expr, depth);
    if (const Values* inner = element.Elements();
        inner != nullptr && depth + 1 < expr.generators.size()) {
      elements.insert(elements.end(), inner->begin(), inner->end());
    } else if (depth + 1 < expr.generators.size()) {
      context_->FailLimitation(
          "a comprehension with a `for` over a tuple before one over an array; use for loops");
    } else {
      elements.push_back(element);
    }
  }
  return Value::List(std::move(elements));
}

// What stands inside generator `depth`: the element, or the comprehension of the next ones.
Value Evaluator::EvaluateFrom(const ComprehensionExpr& expr, size_t depth) {
  if (depth + 1 == expr.generators.size()) return Evaluate(*expr.element);
  return RunGenerator(expr, depth + 1, IterateLoop(*expr.generators[depth + 1].iterable));
}

Value Evaluator::TabulateGenerator(const ComprehensionExpr& expr, size_t depth,
                                   const Sequence& sequence, const ir::Operand& length,
                                   const std::function<ir::Operand(const ir::Operand&)>& position) {
  const IndexScope unrollable(context_);
  const int origin = unrollable.origin();
  const auto element = [&](const std::vector<ir::Operand>& indexes) {
    const ComprehensionScope scope(frame_, expr);
    const ir::Operand index = position(indexes[0]);
    Value item = sequence.element(index);
    if (const auto* scalar = item.TryAs<ScalarValue>(); sequence.counted && scalar != nullptr) {
      item = Value::Python(scalar->op, scalar->op.IsVar() ? origin : -1);
    }
    Assign(*expr.generators[depth].target, item);
    const Value value = EvaluateFrom(expr, depth);
    return value.Elements() != nullptr ? AsArray(value) : value;
  };
  try {
    return Tabulate({length}, element);
  } catch (const NeedStatic& need) {
    if (need.parameter != origin) throw;
    return RunFixedGenerator(expr, depth, UnrolledValues(sequence));
  }
}

// Which elements the conditions keep is found first; then those are evaluated.
Value Evaluator::RunFilteredGenerator(const ComprehensionExpr& expr, const Sequence& sequence) {
  const Generator& generator = expr.generators.back();
  const Value all = Tabulate({sequence.length}, [](const std::vector<ir::Operand>& indexes) {
    return Value::Python(indexes[0]);
  });
  ir::Builder block = context_->NewBlock();
  const ir::Var* index = block.NewVar(ir::DType::kI64, "i");
  ir::Operand kept = ir::Operand::Bool(false);
  {
    const Inside inside(context_, &block);
    const LoopScope loop(context_, context_->NextNumber(), {index});
    const ComprehensionScope scope(frame_, expr);
    const std::function<Value(size_t)> passes = [&](size_t first) {
      const ir::Operand truth = EvaluateTruth(*generator.conditions[first]);
      if (first + 1 == generator.conditions.size()) return Value::Python(truth);
      return Choose(
          truth, -1, [&] { return passes(first + 1); }, [] { return Value::Bool(false); });
    };
    Reaches([&] {
      Assign(*generator.target, sequence.element(index));
      kept = passes(0).op();
    });
  }
  const ir::Var* count = builder().NewVar(ir::DType::kI64, "k");
  const ir::Var* positions = builder().NewVar(ir::Type::Array(ir::DType::kI64, {count}), "kept");
  builder().Emit(ir::OpCode::kFilter, {count, positions}, {all.op()}, {},
                 {block.Finish({index}, {kept})});
  return TabulateGenerator(expr, expr.generators.size() - 1, sequence, count,
                           [&](const ir::Operand& i) { return builder().Load(positions, {i}); });
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
