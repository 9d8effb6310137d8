#include <algorithm>
#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/intrinsics.h"
#include "frontend/static_values.h"

// Python's builtin functions over sequences.
namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

Value PrimitiveNamed(const char* name) { return PrimitiveValue{name, "", {}}; }

// What a sequence of run-time length runs over, as an array.
Value Materialise(Evaluator* evaluator, const Value& iterable, const Sequence& sequence) {
  if (iterable.IsArray()) return iterable;
  return evaluator->Tabulate({sequence.length}, [&](const std::vector<Operand>& index) {
    const Value element = sequence.element(index[0]);
    if (element.Elements() != nullptr) {
      evaluator->context().FailLimitation("min, max and sum of tuples; take what they hold apart");
    }
    return element;
  });
}

Value ReduceArray(Evaluator* evaluator, const char* primitive, const Value& array,
                  const Value& init) {
  Arguments arguments;
  arguments.positional = {PrimitiveNamed(primitive), array};
  arguments.keywords = {{"axis", Value::Int(0)}, {"init", init}};
  return evaluator->CallOperator("reduce", std::move(arguments));
}

// A NumPy scalar as Python's where the array stands for a list of Python's numbers.
Value LikeElements(const Value& array, const Value& scalar, bool python = true) {
  const bool is_python = python && scalar.IsScalar() && array.As<ArrayValue>().python_elements;
  return is_python ? Value::Python(scalar.op()) : scalar;
}

bool IsFloatArray(const Value& array) { return ir::IsFloat(array.As<ArrayValue>().dtype()); }

// min and max name themselves; which operand replaces the best so far, and the reduction of arrays.
struct Extremum {
  const char* name;
  CompareOperator better;
  const char* primitive;
  const char* ignoring_nan;
};
constexpr Extremum kMin = {"min", CompareOperator::kLt, "minimum", "fmin"};
constexpr Extremum kMax = {"max", CompareOperator::kGt, "maximum", "fmax"};

// A Python int beside a NumPy integer: chosen, it raises where that dtype does not hold it.
bool MayNotFit(const Value& a, const Value& b) {
  return a.IsPythonScalar() != b.IsPythonScalar() && ir::IsInteger(ir::DTypeOf(a.op())) &&
         ir::IsInteger(ir::DTypeOf(b.op()));
}

Value BetterOf(Evaluator* evaluator, const Extremum& extremum, const Value& best,
               const Value& next) {
  const Operand replaces = evaluator->Truth(evaluator->Compare(extremum.better, next, best));
  if (replaces.IsConstant()) return replaces.IsInt(1) ? next : best;
  if (!best.IsScalar() || !next.IsScalar()) {
    return evaluator->Choose(replaces, -1, [&] { return next; }, [&] { return best; });
  }
  if (MayNotFit(best, next)) {
    return evaluator->Choose(replaces, -1, [&] { return next; }, [&] { return best; });
  }
  const Value chosen = SelectElements(evaluator, Value::NumPy(replaces), next, best);
  const bool python = best.IsPythonScalar() && next.IsPythonScalar();
  return python ? Value::Python(chosen.op()) : chosen;
}

const char* EmptyMessage(const Extremum& extremum) {
  const bool is_min = std::string(extremum.name) == "min";
  if (Py_Version < 0x030C0000) {
    return is_min ? "min() arg is an empty sequence" : "max() arg is an empty sequence";
  }
  return is_min ? "min() iterable argument is empty" : "max() iterable argument is empty";
}

// Python keeps the first of what does not compare as better: a nan at the front stays, others are
// passed over.
Value ExtremumOfArray(Evaluator* evaluator, const Extremum& extremum, const Value& array) {
  Context& context = evaluator->context();
  const auto& fields = array.As<ArrayValue>();
  if (fields.rank() > 1) {
    context.FailLimitation(std::string(extremum.name) + " of the rows of an array; use np." +
                           extremum.name + " with axis=");
  }
  const Operand size = fields.dims()[0];
  context.Check(evaluator->builder().Scalar(OpCode::kGt, {size, Operand::Int(0)}), "ValueError",
                EmptyMessage(extremum));
  if (!IsFloatArray(array)) {
    return LikeElements(array, ReduceArray(evaluator, extremum.primitive, array, Value::None()));
  }
  const Value best = ReduceArray(evaluator, extremum.ignoring_nan, array, Value::None());
  const Value first = evaluator->ElementAt(array, Operand::Int(0));
  ir::Builder& builder = evaluator->builder();
  const Operand is_nan = builder.Scalar(OpCode::kIsNan, {first.op()});
  const Operand chosen = builder.Scalar(OpCode::kSelect, {is_nan, first.op(), best.op()});
  return LikeElements(array, Value::NumPy(chosen));
}

// The last of the arguments is what an empty sequence gives, where it is given.
Value FindExtremum(Evaluator* evaluator, const Extremum& extremum, Values arguments) {
  Context& context = evaluator->context();
  const Value otherwise = arguments.back();
  arguments.pop_back();
  if (!otherwise.IsUndefined() && arguments.size() > 1) {
    context.FailType(std::string("Cannot specify a default for ") + extremum.name +
                     "() with multiple positional arguments");
  }
  if (arguments.empty()) {
    context.FailType(std::string(extremum.name) + " expected at least 1 argument, got 0");
  }
  Values candidates = arguments;
  if (arguments.size() == 1) {
    const Sequence sequence = evaluator->Iterate(arguments[0]);
    if (!sequence.fixed) {
      const Value array = Materialise(evaluator, arguments[0], sequence);
      const auto found = [&] { return ExtremumOfArray(evaluator, extremum, array); };
      if (otherwise.IsUndefined()) return found();
      const Operand is_any = evaluator->builder().Scalar(
          OpCode::kGt, {array.As<ArrayValue>().dims()[0], Operand::Int(0)});
      return evaluator->Choose(is_any, -1, found, [&] { return otherwise; });
    }
    candidates = *sequence.fixed;
  }
  if (candidates.empty() && !otherwise.IsUndefined()) return otherwise;
  if (candidates.empty()) context.Raise("ValueError", EmptyMessage(extremum));
  Value best = candidates[0];
  for (size_t i = 1; i < candidates.size(); ++i) {
    best = BetterOf(evaluator, extremum, best, candidates[i]);
  }
  return best;
}

// all() and any(): `op` of the truths.
Value CombineTruths(Evaluator* evaluator, const Value& iterable, OpCode op, const char* primitive) {
  const bool start = op == OpCode::kAnd;
  const Sequence sequence = evaluator->Iterate(iterable);
  if (sequence.fixed) {
    Operand all = Operand::Bool(start);
    for (const Value& element : *sequence.fixed) {
      all = evaluator->builder().Scalar(op, {all, evaluator->Truth(element)});
    }
    return Value::Python(all);
  }
  const Value truths =
      evaluator->Tabulate({sequence.length}, [&](const std::vector<Operand>& index) {
        return Value::Python(evaluator->Truth(sequence.element(index[0])));
      });
  return Value::Python(ReduceArray(evaluator, primitive, truths, Value::Bool(start)).op());
}

void RequireAtMostOne(Evaluator* evaluator, const std::string& name, const Values& arguments) {
  if (arguments.size() < 2) return;
  evaluator->context().FailType(name + " expected at most 1 argument, got " +
                                std::to_string(arguments.size()));
}

// Raises as zip(strict=True) does once it has come to the end of the shortest.
void RequireOneLength(Evaluator* evaluator, const Values& parts) {
  Context& context = evaluator->context();
  ir::Builder& builder = context.builder();
  Operand first;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Operand length = evaluator->Iterate(parts[i]).length;
    if (i == 0) first = length;
    for (const OpCode op : {OpCode::kGe, OpCode::kLe}) {
      const Operand ok = i == 0 ? Operand::Bool(true) : builder.Scalar(op, {length, first});
      const std::string before = i == 1 ? " 1" : "s 1-" + std::to_string(i);
      const std::string message = "zip() argument " + std::to_string(i + 1) + " is " +
                                  (op == OpCode::kGe ? "shorter" : "longer") + " than argument" +
                                  before;
      if (ok.IsInt(0)) context.Raise("ValueError", message);
      context.Check(ok, "ValueError", message);
    }
  }
}

Value AsPythonInt(Evaluator* evaluator, const Value& value, const std::string& what) {
  const auto* scalar = value.TryAs<ScalarValue>();
  const int origin =
      scalar != nullptr && ir::DTypeOf(scalar->op) == ir::DType::kI64 ? scalar->origin : -1;
  return Value::Python(evaluator->AsIndex(value, what), origin);
}

}  // namespace

Value BuiltinLen(Evaluator* evaluator, const Values& arguments) {
  const Value& value = arguments[0];
  if (value.Elements() != nullptr)
    return Value::Int(static_cast<int64_t>(value.Elements()->size()));
  if (const auto* text = value.TryAs<StringValue>())
    return Value::Int(static_cast<int64_t>(text->text.size()));
  if (const auto* array = value.TryAs<ArrayValue>()) {
    if (array->rank() == 0) evaluator->context().FailType("len() of unsized object");
    return Value::Python(array->dims()[0]);
  }
  const auto* iterable = value.TryAs<IterableValue>();
  if (iterable != nullptr && iterable->kind == IterableKind::kRange) {
    return Value::Python(evaluator->Iterate(value).length);
  }
  evaluator->context().FailType("object of type '" + PythonTypeName(value) + "' has no len()");
}

Value BuiltinMin(Evaluator* evaluator, const Values& arguments) {
  return FindExtremum(evaluator, kMin, arguments);
}
Value BuiltinMax(Evaluator* evaluator, const Values& arguments) {
  return FindExtremum(evaluator, kMax, arguments);
}

Value BuiltinSum(Evaluator* evaluator, const Values& arguments) {
  Value total = arguments[1].IsNone() ? Value::Int(0) : arguments[1];
  const Sequence sequence = evaluator->Iterate(arguments[0]);
  if (sequence.fixed) {
    for (const Value& element : *sequence.fixed) {
      total = evaluator->Binary(BinaryOperator::kAdd, total, element);
    }
    return total;
  }
  const Value array = Materialise(evaluator, arguments[0], sequence);
  const Value sum = ReduceArray(evaluator, "add", array, total);
  return LikeElements(array, sum, total.IsPythonScalar());
}

Value BuiltinAll(Evaluator* evaluator, const Values& arguments) {
  return CombineTruths(evaluator, arguments[0], OpCode::kAnd, "logical_and");
}

Value BuiltinAny(Evaluator* evaluator, const Values& arguments) {
  return CombineTruths(evaluator, arguments[0], OpCode::kOr, "logical_or");
}

Value BuiltinRange(Evaluator* evaluator, const Values& arguments) {
  Context& context = evaluator->context();
  if (arguments.empty() || arguments.size() > 3) {
    context.FailType(arguments.empty() ? "range expected at least 1 argument, got 0"
                                       : "range expected at most 3 arguments, got " +
                                             std::to_string(arguments.size()));
  }
  Values parts;
  for (const Value& argument : arguments)
    parts.push_back(AsPythonInt(evaluator, argument, "range"));
  if (parts.size() == 1) parts.insert(parts.begin(), Value::Int(0));
  if (parts.size() == 2) parts.push_back(Value::Int(1));
  return Value::Iterable(IterableKind::kRange, std::move(parts));
}

Value BuiltinEnumerate(Evaluator* evaluator, const Values& arguments) {
  const Value start =
      arguments[1].IsNone() ? Value::Int(0) : AsPythonInt(evaluator, arguments[1], "start");
  return Value::Iterable(IterableKind::kEnumerate, {arguments[0], start});
}

// The last argument says whether all must be of one length.
Value BuiltinZip(Evaluator* evaluator, const Values& arguments) {
  const Values parts(arguments.begin(), arguments.end() - 1);
  const Value& strict = arguments.back();
  if (!strict.IsUndefined() && evaluator->context().StaticBool(strict, "'strict' of zip()")) {
    RequireOneLength(evaluator, parts);
  }
  return Value::Iterable(IterableKind::kZip, parts);
}

Value BuiltinReversed(Evaluator*, const Values& arguments) {
  return Value::Iterable(IterableKind::kReversed, arguments);
}

Value BuiltinTuple(Evaluator* evaluator, const Values& arguments) {
  RequireAtMostOne(evaluator, "tuple", arguments);
  return Value::Tuple(arguments.empty() ? Values() : evaluator->Unpack(arguments[0], -1));
}

Value BuiltinList(Evaluator* evaluator, const Values& arguments) {
  RequireAtMostOne(evaluator, "list", arguments);
  if (arguments.empty()) return Value::List({});
  const Sequence sequence = evaluator->Iterate(arguments[0]);
  if (sequence.fixed) return Value::List(*sequence.fixed);
  if (arguments[0].IsArray()) return evaluator->CopyArray(arguments[0]);
  return evaluator->Tabulate({sequence.length}, [&](const std::vector<Operand>& index) {
    const Value element = sequence.element(index[0]);
    return element.Elements() != nullptr ? evaluator->AsArray(element) : element;
  });
}

Value BuiltinSlice(Evaluator* evaluator, const Values& arguments) {
  if (arguments.empty() || arguments.size() > 3) {
    evaluator->context().FailType("slice takes one to three arguments");
  }
  const bool stop_only = arguments.size() == 1;
  return Value::Slice(stop_only ? Value::None() : arguments[0], arguments[stop_only ? 0 : 1],
                      arguments.size() == 3 ? arguments[2] : Value::None());
}

Value MakeNdIndex(Evaluator* evaluator, const Values& arguments) {
  const bool one_shape = arguments.size() == 1 && arguments[0].Elements() != nullptr;
  Values sizes;
  for (const Operand& size :
       ShapeOf(evaluator, one_shape ? arguments[0] : Value::Tuple(arguments))) {
    sizes.push_back(Value::Python(size));
  }
  return Value::Iterable(IterableKind::kNdIndex, std::move(sizes));
}

}  // namespace parakeet::frontend
