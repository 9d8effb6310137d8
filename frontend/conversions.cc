#include "frontend/conversions.h"

#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/elementwise.h"

namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

constexpr char kAmbiguous[] =
    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()";
constexpr char kEmptyTruth[] =
    "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array "
    "is "
    "not empty.";

// Whether the i64 `value` lies in an integer dtype narrower than i64, or in u64.
Operand FitsInto(ir::Builder* builder, const Operand& value, DType dtype) {
  const Operand zero = Operand::Int(0);
  if (dtype == DType::kU64) return builder->Scalar(OpCode::kGe, {value, zero});
  const int bits = ir::SizeInBits(dtype);
  const int64_t span = int64_t{1} << (ir::IsSigned(dtype) ? bits - 1 : bits);
  const int64_t low = ir::IsSigned(dtype) ? -span : 0;
  const Operand above = builder->Scalar(OpCode::kGe, {value, Operand::Int(low)});
  const Operand below = builder->Scalar(OpCode::kLt, {value, Operand::Int(span)});
  return builder->Scalar(OpCode::kAnd, {above, below});
}

// True for the integer dtypes that hold every i64.
bool HoldsEveryInt(DType dtype) { return dtype == DType::kI64; }

Operand SizeOf(ir::Builder* builder, const Dims& dims) {
  Operand size = Operand::Int(1);
  for (const Operand& dim : dims) size = builder->Mul(size, dim);
  return size;
}

Operand FirstElement(Evaluator* evaluator, const ArrayValue& array) {
  return evaluator->builder().Load(array.op, Dims(array.rank(), Operand::Int(0)));
}

// The truth of an array: that of its only element.
Operand TruthOfArray(Evaluator* evaluator, const ArrayValue& array) {
  Context& context = evaluator->context();
  ir::Builder& builder = context.builder();
  const Operand size = SizeOf(&builder, array.dims());
  context.Check(builder.Scalar(OpCode::kNe, {size, Operand::Int(0)}), "ValueError", kEmptyTruth);
  context.Check(builder.Scalar(OpCode::kEq, {size, Operand::Int(1)}), "ValueError", kAmbiguous);
  return IsNonZero(&builder, FirstElement(evaluator, array));
}

}  // namespace

ScalarType PromotionType(const Value& value) {
  if (const auto* array = value.TryAs<ArrayValue>()) return {array->dtype(), false};
  const auto& scalar = value.As<ScalarValue>();
  const DType dtype = ir::DTypeOf(scalar.op);
  return {dtype, scalar.python && !ir::IsBool(dtype)};
}

Operand IsNonZero(ir::Builder* builder, const Operand& scalar) {
  const DType dtype = ir::DTypeOf(scalar);
  if (ir::IsBool(dtype)) return scalar;
  return builder->Scalar(OpCode::kNe, {scalar, ir::ZeroOf(dtype)});
}

std::string OutOfBoundsMessage(DType dtype) {
  return std::string("Python integer {} out of bounds for ") + NumpyName(dtype);
}

bool IsOutOfRange(const ir::Constant& integer, DType dtype) {
  if (!ir::IsInteger(dtype) || !ir::IsInteger(integer.dtype)) return false;
  if (integer.dtype == DType::kU64) return dtype != DType::kU64;
  if (HoldsEveryInt(dtype)) return false;
  if (dtype == DType::kU64) return integer.integer < 0;
  return ir::ConstantOf(dtype, integer.integer).integer != integer.integer;
}

Operand ConvertScalar(Context* context, const ScalarValue& scalar, DType dtype) {
  ir::Builder& builder = context->builder();
  const DType from = ir::DTypeOf(scalar.op);
  if (from == dtype) return scalar.op;
  if (ir::IsBool(dtype)) return IsNonZero(&builder, scalar.op);
  const bool is_int = scalar.python && ir::IsInteger(from) && ir::IsInteger(dtype);
  if (is_int && !HoldsEveryInt(dtype)) {
    const Operand ok = scalar.op.IsConstant()
                           ? Operand::Bool(!IsOutOfRange(scalar.op.constant(), dtype))
                           : FitsInto(&builder, scalar.op, dtype);
    const std::string message = OutOfBoundsMessage(dtype);
    if (ok.IsInt(0)) context->Raise("OverflowError", message, {scalar.op});
    context->Check(ok, "OverflowError", message, {scalar.op});
  }
  return builder.Cast(scalar.op, dtype);
}

Operand ToPythonInt(Context* context, const Operand& scalar) {
  ir::Builder& builder = context->builder();
  const DType dtype = ir::DTypeOf(scalar);
  if (ir::IsComplex(dtype)) {
    context->FailType(
        "int() argument must be a string, a bytes-like object or a real number, not "
        "'complex'");
  }
  if (ir::IsFloat(dtype)) {
    const Operand is_nan = builder.Scalar(OpCode::kIsNan, {scalar});
    context->Check(builder.Scalar(OpCode::kNot, {is_nan}), "ValueError",
                   "cannot convert float NaN to integer");
    context->Check(builder.Scalar(OpCode::kIsFinite, {scalar}), "OverflowError",
                   "cannot convert float infinity to integer");
  }
  return builder.Cast(scalar, DType::kI64);
}

Operand ToPythonFloat(Context* context, const Operand& scalar) {
  if (ir::IsComplex(ir::DTypeOf(scalar))) {
    context->FailType("float() argument must be a string or a real number, not 'complex'");
  }
  return context->builder().Cast(scalar, DType::kF64);
}

Operand Evaluator::Truth(const Value& value) {
  if (const auto* scalar = value.TryAs<ScalarValue>()) return IsNonZero(&builder(), scalar->op);
  if (const auto* array = value.TryAs<ArrayValue>()) return TruthOfArray(this, *array);
  if (const Values* elements = value.Elements()) return Operand::Bool(!elements->empty());
  if (const auto* text = value.TryAs<StringValue>()) return Operand::Bool(!text->text.empty());
  return Operand::Bool(!value.IsNone());
}

Operand Evaluator::AsScalar(const Value& value, DType dtype) {
  const Value settled = SettleOperand(this, value);
  const auto* scalar = settled.TryAs<ScalarValue>();
  if (scalar == nullptr && settled.IsArray()) {
    context_->FailUser("ValueError",
                       "setting an array element with a sequence: expected a scalar, "
                       "got " +
                           Describe(value));
  }
  if (scalar == nullptr) context_->FailType("expected a number, got " + Describe(value));
  const DType from = ir::DTypeOf(scalar->op);
  if (scalar->python && ir::IsComplex(from) && !ir::IsComplex(dtype)) {
    if (ir::IsInteger(dtype)) ToPythonInt(context_, scalar->op);
    if (ir::IsFloat(dtype)) ToPythonFloat(context_, scalar->op);
  }
  if (scalar->python && ir::IsFloat(from) && ir::IsInteger(dtype)) {
    return ConvertScalar(context_, {ToPythonInt(context_, scalar->op), true}, dtype);
  }
  return ConvertScalar(context_, *scalar, dtype);
}

Operand Evaluator::AsIndex(const Value& value, const std::string& what) {
  const Value settled = value.IsArray() ? SettleOperand(this, value) : value;
  const auto* scalar = settled.TryAs<ScalarValue>();
  const bool is_integer =
      scalar != nullptr && (ir::IsInteger(ir::DTypeOf(scalar->op)) ||
                            (scalar->python && ir::IsBool(ir::DTypeOf(scalar->op))));
  if (!is_integer) {
    context_->FailType("'" + PythonTypeName(settled) +
                       "' object cannot be interpreted as an integer");
  }
  const Operand index = builder().Cast(scalar->op, DType::kI64);
  if (ir::DTypeOf(scalar->op) == DType::kU64) {
    const Operand fits = builder().Scalar(OpCode::kGe, {index, Operand::Int(0)});
    context_->Check(fits, "OverflowError", "Python int too large to convert to C long");
  }
  return index;
}

Value Evaluator::CastArray(const Value& array, DType dtype, std::optional<Order> order) {
  if (array.As<ArrayValue>().dtype() == dtype) return array;
  if (array.As<ArrayValue>().rank() == 0) {
    return AsArray(Value::NumPy(builder().Cast(builder().Load(array.op(), {}), dtype)));
  }
  const auto cast = [&](const std::vector<Operand>& elements) {
    if (ir::IsBool(dtype)) return IsNonZero(&this->builder(), elements[0]);
    return this->builder().Cast(elements[0], dtype);
  };
  return MapElements(this, {array}, cast, order);
}

}  // namespace parakeet::frontend
