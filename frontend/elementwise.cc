#include "frontend/elementwise.h"

#include <algorithm>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/static_values.h"

namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

constexpr char kNegativePower[] = "Integers to negative integer powers are not allowed.";

std::vector<ScalarType> TypesOf(const Values& operands) {
  std::vector<ScalarType> types;
  for (const Value& operand : operands) types.push_back(PromotionType(operand));
  return types;
}

bool IsWeakInt(const ScalarType& type) { return type.weak && ir::IsInteger(type.dtype); }

// NumPy compares integers with a Python int exactly, whatever the int: one that is not known to fit
// the others' dtype is compared as an int64, which `types` then says.
void WidenCompared(const Values& operands, std::vector<ScalarType>* types) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!IsWeakInt((*types)[i])) continue;
    const Operand op = operands[i].op();
    const DType fitted = ResolveWeak(*types)[i];
    if (!ir::IsInteger(fitted) || fitted == DType::kI64) continue;
    const bool fits = op.IsConstant() && !IsOutOfRange(op.constant(), fitted);
    if (!fits) (*types)[i].weak = false;
  }
}

// Comparison of a signed with an unsigned 64-bit integer, by the sign first.
Operand CompareMixed(ir::Builder* builder, OpCode op, Operand left, Operand right) {
  if (ir::IsUnsigned(ir::DTypeOf(left))) {
    std::swap(left, right);
    op = op == OpCode::kLt   ? OpCode::kGt
         : op == OpCode::kLe ? OpCode::kGe
         : op == OpCode::kGt ? OpCode::kLt
         : op == OpCode::kGe ? OpCode::kLe
                             : op;
  }
  const Operand wide = builder->Cast(left, DType::kI64);
  const Operand negative = builder->Scalar(OpCode::kLt, {wide, Operand::Int(0)});
  const Operand same_sign = builder->Scalar(op, {builder->Cast(wide, DType::kU64), right});
  const bool holds = op == OpCode::kLt || op == OpCode::kLe || op == OpCode::kNe;
  return builder->Scalar(OpCode::kSelect, {negative, Operand::Bool(holds), same_sign});
}

Operand RoundParts(ir::Builder* builder, const Operand& number) {
  const auto round = [&](OpCode part) {
    return builder->Scalar(OpCode::kRint, {builder->Scalar(part, {number})});
  };
  return builder->Scalar(OpCode::kMakeComplex, {round(OpCode::kReal), round(OpCode::kImag)});
}

// The primitive on one element of each operand, already of the signature's type.
Operand EmitPrimitive(ir::Builder* builder, const Primitive& primitive,
                      const std::vector<Operand>& operands) {
  const DType dtype = ir::DTypeOf(operands[0]);
  if (IsIdentity(primitive, dtype)) return operands[0];
  if (const auto always = PredicateOfExact(primitive, dtype)) return Operand::Bool(*always);
  if (primitive.op == OpCode::kImag && !ir::IsComplex(dtype)) return ir::ZeroOf(dtype);
  if (primitive.op == OpCode::kRint && ir::IsComplex(dtype))
    return RoundParts(builder, operands[0]);
  return builder->Scalar(primitive.op, operands);
}

Operand ToLoop(ir::Builder* builder, const Operand& element, DType dtype) {
  return ir::IsBool(dtype) ? IsNonZero(builder, element) : builder->Cast(element, dtype);
}

// Whether an array of no elements makes it nothing to compute.
Operand HasNone(ir::Builder* builder, const Value& array) {
  Operand none = Operand::Bool(false);
  if (!array.IsArray()) return none;
  for (const Operand& size : array.As<ArrayValue>().dims()) {
    const Operand is_none = builder->Scalar(OpCode::kEq, {size, Operand::Int(0)});
    none = builder->Scalar(OpCode::kOr, {none, is_none});
  }
  return none;
}

// Checks that every exponent of an integer power is >= 0; a scalar one is of the loop's dtype.
void RequireExponents(Evaluator* evaluator, const Value& base, const Value& exponent) {
  Context& context = evaluator->context();
  ir::Builder& builder = context.builder();
  const DType dtype = PromotionType(exponent).dtype;
  if (!ir::IsSigned(dtype)) return;
  if (!exponent.IsArray()) {
    const Operand is_natural = builder.Scalar(OpCode::kGe, {exponent.op(), ir::ZeroOf(dtype)});
    if (is_natural.IsInt(1)) return;
    const Operand ok = builder.Scalar(OpCode::kOr, {is_natural, HasNone(&builder, base)});
    if (ok.IsInt(0)) context.Raise("ValueError", kNegativePower);
    return context.Check(ok, "ValueError", kNegativePower);
  }
  ir::Builder block = builder.Nested();
  const ir::Var* element = block.NewVar(dtype, "b");
  const Operand ok = block.Scalar(OpCode::kGe, {element, ir::ZeroOf(dtype)});
  const ir::Block* each = block.Finish({element}, {ok});
  const ir::Block* combine = ir::CombineBlock(context.arena(), OpCode::kAnd, DType::kBool);
  const Operand all = builder.EmitOne(OpCode::kReduce, DType::kBool,
                                      {exponent.op(), Operand::Bool(true)}, {}, {each, combine});
  const Operand are_natural = builder.Scalar(OpCode::kOr, {all, HasNone(&builder, base)});
  context.Check(are_natural, "ValueError", kNegativePower);
}

// Scalars in the loop's dtype, with the checks that takes; arrays as they are.
Values ConvertScalars(Context* context, const Values& operands, DType loop) {
  Values converted;
  for (const Value& operand : operands) {
    const auto* scalar = operand.TryAs<ScalarValue>();
    converted.push_back(scalar == nullptr ? operand
                                          : Value::NumPy(ConvertScalar(context, *scalar, loop)));
  }
  return converted;
}

Value ApplyMixedCompare(Evaluator* evaluator, const Primitive& primitive, const Values& operands) {
  return MapElements(evaluator, operands, [&](const std::vector<Operand>& elements) {
    return CompareMixed(&evaluator->builder(), primitive.op, elements[0], elements[1]);
  });
}

// NumPy's dtype is that of the result, so a loop that gives bools is found by that name only.
Signature ChooseLoop(Context* context, const Primitive& primitive,
                     const std::vector<ScalarType>& types, const Loop& loop) {
  const std::string name(primitive.name);
  const auto own = SignatureOf(primitive, types);
  const bool gives_bool = own && own->operand != own->result && ir::IsBool(own->result);
  const bool tests = gives_bool || primitive.rule == PrimitiveRule::kLogical;
  if (!own && !loop.dtype) context->FailType(NoLoopMessage(primitive, types));
  if (tests && loop.dtype && !ir::IsBool(*loop.dtype)) FailNoLoop(*context, name);
  if (tests) return *own;
  const std::vector<ScalarType> wanted(types.size(), ScalarType{loop.dtype.value_or(DType::kF64)});
  const auto signature = loop.dtype ? SignatureOf(primitive, wanted) : own;
  if (!signature || (loop.dtype && signature->operand != *loop.dtype)) FailNoLoop(*context, name);
  for (DType dtype : ResolveWeak(types)) {
    RequireCast(*context, name + "' input", dtype, signature->operand, loop.casting);
  }
  return *signature;
}

// x ** 2, x ** 0.5 and x ** -1 of an inexact array with a Python number: NumPy takes the function
// that says so, which differs from pow at -0.0 and at infinities. Undefined for any other power.
Value SimplePower(Evaluator* evaluator, const Values& operands) {
  const ScalarType base = PromotionType(operands[0]);
  const bool is_inexact = ir::IsFloat(base.dtype) || ir::IsComplex(base.dtype);
  if (!operands[0].IsArray() || !is_inexact) return Value();
  if (!operands[1].IsPythonScalar() || !operands[1].IsStaticScalar()) return Value();
  const ir::Constant exponent = operands[1].op().constant();
  if (ir::IsComplex(exponent.dtype) || ir::IsBool(exponent.dtype)) return Value();
  const double power =
      ir::IsFloat(exponent.dtype) ? exponent.real : static_cast<double>(exponent.integer);
  const auto apply = [&](const char* name, Values values) {
    return ApplyPrimitive(evaluator, *FindPrimitive(name), values);
  };
  if (power == 2.0) return apply("multiply", {operands[0], operands[0]});
  if (power == 0.5) return apply("sqrt", {operands[0]});
  if (power == -1.0) return apply("divide", {Value::Int(1), operands[0]});
  return Value();
}

}  // namespace

void FailNoLoop(const Context& context, const std::string& name) {
  context.FailType("No loop matching the specified signature and casting was found for ufunc " +
                   name);
}

void RequireCast(const Context& context, const std::string& what, DType from, DType to,
                 Casting casting) {
  if (CanCast(from, to, casting)) return;
  context.FailType("Cannot cast ufunc '" + what + " from dtype('" + NumpyName(from) +
                   "') to dtype('" + NumpyName(to) + "') with casting rule '" + NameOf(casting) +
                   "'");
}

Value ApplyPrimitive(Evaluator* evaluator, const Primitive& primitive, const Values& operands,
                     const Loop& loop) {
  Context& context = evaluator->context();
  Values settled;
  for (const Value& operand : operands) {
    settled.push_back(SettleNumber(evaluator, operand, std::string(primitive.name)));
  }
  std::vector<ScalarType> types = TypesOf(settled);
  if (primitive.rule == PrimitiveRule::kCompare) WidenCompared(settled, &types);
  if (IsMixedSign(primitive, ResolveWeak(types))) {
    return ApplyMixedCompare(evaluator, primitive, settled);
  }
  if (primitive.op == OpCode::kPow && !loop.dtype) {
    Value simple = SimplePower(evaluator, settled);
    if (!simple.IsUndefined()) return simple;
  }
  const Signature signature = ChooseLoop(&context, primitive, types, loop);
  settled = ConvertScalars(&context, settled, signature.operand);
  if (primitive.op == OpCode::kPow && ir::IsInteger(signature.operand)) {
    RequireExponents(evaluator, settled[0], settled[1]);
  }
  return MapElements(evaluator, settled, [&](const std::vector<Operand>& elements) {
    ir::Builder& builder = evaluator->builder();
    std::vector<Operand> converted;
    for (const Operand& e : elements) converted.push_back(ToLoop(&builder, e, signature.operand));
    return EmitPrimitive(&builder, primitive, converted);
  });
}

Value SelectElements(Evaluator* evaluator, const Value& condition, const Value& a, const Value& b) {
  const Value chosen = SettleNumber(evaluator, condition, "where");
  const Values settled = {SettleNumber(evaluator, a, "where"), SettleNumber(evaluator, b, "where")};
  const DType dtype = ResultDType(TypesOf(settled));
  ir::Builder& outer = evaluator->builder();
  Values operands = {chosen};
  for (const Value& value : settled) {
    operands.push_back(value.IsArray() ? value : Value::NumPy(outer.Cast(value.op(), dtype)));
  }
  return MapElements(evaluator, operands, [&](const std::vector<Operand>& elements) {
    ir::Builder& builder = evaluator->builder();
    return builder.Scalar(OpCode::kSelect,
                          {IsNonZero(&builder, elements[0]), ToLoop(&builder, elements[1], dtype),
                           ToLoop(&builder, elements[2], dtype)});
  });
}

}  // namespace parakeet::frontend
