#include "frontend/joins.h"

#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/evaluator.h"
#include "frontend/promotion.h"

namespace parakeet::frontend {
namespace {

bool IsDisplay(const Pattern& pattern) {
  return pattern.kind == Pattern::Kind::kParts && pattern.prototype.IsList();
}

std::string DescribePattern(const Pattern& pattern) {
  switch (pattern.kind) {
    case Pattern::Kind::kScalar:
      return Describe(ScalarValue{ir::ZeroOf(pattern.dtype), pattern.python, -1});
    case Pattern::Kind::kArray:
      return std::string("a ") + NumpyName(pattern.dtype) + " array of rank " +
             std::to_string(pattern.dims.size());
    case Pattern::Kind::kParts:
      if (pattern.prototype.IsTuple()) {
        return "a tuple of " + std::to_string(pattern.parts.size());
      }
      return Describe(pattern.prototype);
    default: return Describe(pattern.prototype);
  }
}

Pattern Conflict(const Pattern& a, const Pattern& b, int origin) {
  Pattern conflict;
  conflict.kind = Pattern::Kind::kConflict;
  conflict.prototype = UndefinedValue{
      DescribePattern(a) + " on one path and " + DescribePattern(b) + " on another", origin};
  return conflict;
}

// A list display as the array that it stands for; a conflict remains one where it stands for none.
std::optional<Pattern> ArrayOfDisplay(const Pattern& list) {
  Pattern element;
  for (const Pattern& part : list.parts) {
    const std::optional<Pattern> inner = IsDisplay(part) ? ArrayOfDisplay(part) : part;
    if (!inner) return std::nullopt;
    element = Join(element, *inner);
  }
  const bool is_scalar = element.kind == Pattern::Kind::kScalar;
  if (!is_scalar && element.kind != Pattern::Kind::kArray) return std::nullopt;
  element.kind = Pattern::Kind::kArray;
  element.access = Access::kWritable;
  element.order = Order::kC;
  element.dense = true;
  element.dims.insert(element.dims.begin(),
                      ir::Operand::Int(static_cast<int64_t>(list.parts.size())));
  return element;
}

Pattern JoinScalars(const Pattern& a, const Pattern& b) {
  Pattern joined = a;
  joined.python = a.python && b.python;
  if (a.python == b.python) {
    joined.dtype = Promote(a.dtype, b.dtype);
  } else {
    const auto type = [](const Pattern& p) {
      return ScalarType{p.dtype, p.python && !ir::IsBool(p.dtype)};
    };
    joined.dtype = ResultDType({type(a), type(b)});
  }
  return joined;
}

Pattern JoinArrays(const Pattern& a, const Pattern& b, int origin) {
  if (a.dims.size() != b.dims.size()) return Conflict(a, b, origin);
  Pattern joined = a;
  joined.dtype = Promote(a.dtype, b.dtype);
  joined.python = a.python && b.python;
  if (a.access != b.access) joined.access = Access::kUnknown;
  if (a.order != b.order) joined.order = Order::kOther;
  joined.dense = a.dense && b.dense;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (!(a.dims[i] && b.dims[i] && *a.dims[i] == *b.dims[i])) joined.dims[i] = std::nullopt;
  }
  return joined;
}

// Compound values that differ in their parts only.
bool SameShell(const Pattern& a, const Pattern& b) {
  if (a.parts.size() != b.parts.size()) return false;
  const Values none(a.parts.size(), Value::None());
  return SameValue(WithParts(a.prototype, none), WithParts(b.prototype, none));
}

Pattern JoinParts(const Pattern& a, const Pattern& b, int origin) {
  if (!SameShell(a, b)) return Conflict(a, b, origin);
  Pattern joined = a;
  for (size_t i = 0; i < a.parts.size(); ++i) {
    joined.parts[i] = Join(a.parts[i], b.parts[i], origin);
    if (joined.parts[i].kind == Pattern::Kind::kConflict) return joined.parts[i];
  }
  return joined;
}

ir::Operand FlattenScalar(Evaluator* evaluator, const Value& value, const Pattern& pattern) {
  const auto& scalar = value.As<ScalarValue>();
  const ir::DType from = ir::DTypeOf(scalar.op);
  if (from == pattern.dtype) return scalar.op;
  // A Python int that does not fit raises, as it would beside the other in an operation.
  if (ir::IsInteger(from) && ir::IsInteger(pattern.dtype)) {
    // That way alone: it is not left here, at the end of its block.
    if (scalar.python && scalar.op.IsConstant() &&
        IsOutOfRange(scalar.op.constant(), pattern.dtype)) {
      evaluator->context().Check(ir::Operand::Bool(false), "OverflowError",
                                 OutOfBoundsMessage(pattern.dtype), {scalar.op});
      return ir::ZeroOf(pattern.dtype);
    }
    return evaluator->AsScalar(value, pattern.dtype);
  }
  return evaluator->builder().Cast(scalar.op, pattern.dtype);
}

void FlattenArray(Evaluator* evaluator, const Value& value, const Pattern& pattern,
                  std::vector<ir::Operand>* operands) {
  RefuseRaggedList(evaluator->context(), value);
  Value array = value.IsArray() ? value : evaluator->AsArray(value);
  if (array.As<ArrayValue>().dtype() != pattern.dtype) {
    array = evaluator->CastArray(array, pattern.dtype);
  }
  const auto& dims = array.As<ArrayValue>().dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!pattern.dims[i]) operands->push_back(dims[i]);
  }
  operands->push_back(array.op());
}

void FlattenNothing(Evaluator* evaluator, const Pattern& pattern,
                    std::vector<ir::Operand>* operands) {
  if (pattern.kind == Pattern::Kind::kScalar) operands->push_back(ir::ZeroOf(pattern.dtype));
  if (pattern.kind == Pattern::Kind::kArray) {
    std::vector<ir::Operand> dims;
    for (const auto& dim : pattern.dims) {
      dims.push_back(dim.value_or(ir::Operand::Int(0)));
      if (!dim) operands->push_back(dims.back());
    }
    operands->push_back(evaluator->builder().EmitOne(ir::OpCode::kAlloc,
                                                     ir::Type::Array(pattern.dtype, dims), dims));
  }
  for (const Pattern& part : pattern.parts) FlattenNothing(evaluator, part, operands);
}

Value MakeArray(const ir::Builder& builder, const Pattern& pattern, const std::string& hint,
                std::vector<const ir::Var*>* vars) {
  std::vector<ir::Operand> dims;
  for (const auto& dim : pattern.dims) {
    if (!dim) vars->push_back(builder.NewVar(ir::DType::kI64, hint + "_n"));
    dims.push_back(dim ? *dim : ir::Operand(vars->back()));
  }
  vars->push_back(builder.NewVar(ir::Type::Array(pattern.dtype, std::move(dims)), hint));
  return ArrayValue{vars->back(), pattern.access, pattern.python, pattern.order, pattern.dense};
}

std::optional<Values> Both(const Values& first, const Values& second) {
  Values all = first;
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

Value WithClosureParts(const Closure& closure, const Values& parts) {
  auto copy = std::make_shared<Closure>(closure);
  const auto split = parts.begin() + static_cast<std::ptrdiff_t>(closure.captured.size());
  copy->captured.assign(parts.begin(), split);
  copy->defaults.assign(split, parts.end());
  return ClosureValue{std::move(copy)};
}

}  // namespace

int OriginWithin(const Value& value) {
  if (const auto* scalar = value.TryAs<ScalarValue>()) {
    return scalar->op.IsVar() ? scalar->origin : -1;
  }
  if (const std::optional<Values> parts = PartsOf(value)) {
    for (const Value& part : *parts) {
      if (const int origin = OriginWithin(part); origin != -1) return origin;
    }
  }
  return -1;
}

std::optional<Values> PartsOf(const Value& value) {
  if (const Values* elements = value.Elements()) return *elements;
  if (const auto* slice = value.TryAs<SliceValue>()) return *slice->parts;
  if (const auto* iterable = value.TryAs<IterableValue>()) return *iterable->parts;
  if (const auto* method = value.TryAs<BoundMethodValue>()) return *method->self;
  if (const auto* closure = value.TryAs<ClosureValue>()) {
    return Both(closure->closure->captured, closure->closure->defaults);
  }
  return std::nullopt;
}

Value WithParts(const Value& value, Values parts) {
  if (value.IsTuple()) return Value::Tuple(std::move(parts));
  if (value.IsList()) return Value::List(std::move(parts));
  if (value.Is<SliceValue>()) return Value::Slice(parts[0], parts[1], parts[2]);
  if (const auto* iterable = value.TryAs<IterableValue>()) {
    return Value::Iterable(iterable->kind, std::move(parts));
  }
  if (const auto* method = value.TryAs<BoundMethodValue>()) {
    return Value::Method(parts[0], method->name);
  }
  if (const auto* closure = value.TryAs<ClosureValue>()) {
    return WithClosureParts(*closure->closure, parts);
  }
  return value;
}

bool operator==(const Pattern& a, const Pattern& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Pattern::Kind::kFree: return true;
    case Pattern::Kind::kConflict:
    case Pattern::Kind::kStatic: return SameValue(a.prototype, b.prototype);
    case Pattern::Kind::kScalar: return a.dtype == b.dtype && a.python == b.python;
    case Pattern::Kind::kArray:
      return a.dtype == b.dtype && a.python == b.python && a.access == b.access &&
             a.order == b.order && a.dense == b.dense && a.dims == b.dims;
    case Pattern::Kind::kParts: return SameShell(a, b) && a.parts == b.parts;
  }
  return false;
}

Pattern PatternOf(const Value& value) {
  Pattern pattern;
  pattern.prototype = value;
  if (const auto* undefined = value.TryAs<UndefinedValue>()) {
    pattern.kind = undefined->why.empty() ? Pattern::Kind::kFree : Pattern::Kind::kConflict;
  } else if (const auto* scalar = value.TryAs<ScalarValue>()) {
    pattern.kind = Pattern::Kind::kScalar;
    pattern.dtype = ir::DTypeOf(scalar->op);
    pattern.python = scalar->python;
  } else if (const auto* array = value.TryAs<ArrayValue>()) {
    pattern.kind = Pattern::Kind::kArray;
    pattern.dtype = array->dtype();
    pattern.python = array->python_elements;
    pattern.access = array->access;
    pattern.order = array->order;
    pattern.dense = array->dense;
    pattern.dims.assign(array->dims().begin(), array->dims().end());
  } else if (const std::optional<Values> parts = PartsOf(value)) {
    pattern.kind = Pattern::Kind::kParts;
    for (const Value& part : *parts) pattern.parts.push_back(PatternOf(part));
  } else {
    pattern.kind = Pattern::Kind::kStatic;
  }
  return pattern;
}

Pattern Join(const Pattern& a, const Pattern& b, int origin) {
  using Kind = Pattern::Kind;
  if (a.kind == Kind::kFree || b.kind == Kind::kConflict) return b;
  if (b.kind == Kind::kFree || a.kind == Kind::kConflict) return a;
  if (IsDisplay(a) && b.kind == Kind::kArray) {
    if (const auto array = ArrayOfDisplay(a)) return Join(*array, b, origin);
  }
  if (IsDisplay(b) && a.kind == Kind::kArray) {
    if (const auto array = ArrayOfDisplay(b)) return Join(a, *array, origin);
  }
  if (a.kind != b.kind) return Conflict(a, b, origin);
  if (a.kind == Kind::kScalar) return JoinScalars(a, b);
  if (a.kind == Kind::kArray) return JoinArrays(a, b, origin);
  if (a.kind == Kind::kParts) return JoinParts(a, b, origin);
  return SameValue(a.prototype, b.prototype) ? a : Conflict(a, b, origin);
}

Pattern OwnSizes(const Pattern& pattern, const std::function<bool(const ir::Operand&)>& keep) {
  Pattern owned = pattern;
  for (auto& dim : owned.dims) {
    if (dim && dim->IsVar() && !keep(*dim)) dim = std::nullopt;
  }
  for (Pattern& part : owned.parts) part = OwnSizes(part, keep);
  return owned;
}

void Flatten(Evaluator* evaluator, const Value* value, const Pattern& pattern,
             std::vector<ir::Operand>* operands) {
  if (value == nullptr) return FlattenNothing(evaluator, pattern, operands);
  switch (pattern.kind) {
    case Pattern::Kind::kScalar:
      operands->push_back(FlattenScalar(evaluator, *value, pattern));
      return;
    case Pattern::Kind::kArray: return FlattenArray(evaluator, *value, pattern, operands);
    case Pattern::Kind::kParts: {
      const std::optional<Values> parts = PartsOf(*value);
      for (size_t i = 0; i < pattern.parts.size(); ++i) {
        Flatten(evaluator, &(*parts)[i], pattern.parts[i], operands);
      }
      return;
    }
    default: return;
  }
}

Value MakeVars(const ir::Builder& builder, const Pattern& pattern, const std::string& hint,
               std::vector<const ir::Var*>* vars) {
  switch (pattern.kind) {
    case Pattern::Kind::kFree: return Value();
    case Pattern::Kind::kStatic:
    case Pattern::Kind::kConflict: return pattern.prototype;
    case Pattern::Kind::kScalar:
      vars->push_back(builder.NewVar(pattern.dtype, hint));
      return ScalarValue{vars->back(), pattern.python, -1};
    case Pattern::Kind::kArray: return MakeArray(builder, pattern, hint, vars);
    case Pattern::Kind::kParts: {
      Values parts;
      for (const Pattern& part : pattern.parts) {
        parts.push_back(MakeVars(builder, part, hint, vars));
      }
      return WithParts(pattern.prototype, std::move(parts));
    }
  }
  return Value();
}

}  // namespace parakeet::frontend
