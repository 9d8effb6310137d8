#include "frontend/primitives.h"

#include <algorithm>
#include <iterator>

namespace parakeet::frontend {
namespace {

using ir::DType;

constexpr Primitive kPrimitives[] = {
#define PARAKEET_PRIMITIVE(name, op, arity, rule) \
  {name, ir::OpCode::op, arity, PrimitiveRule::rule},
#include "frontend/primitives.def"
};

bool HasLoop(PrimitiveRule rule, DType dtype) {
  switch (rule) {
    case PrimitiveRule::kAny:
    case PrimitiveRule::kCompare:
    case PrimitiveRule::kLogical:
    case PrimitiveRule::kPart:
    case PrimitiveRule::kPredicate: return true;
    case PrimitiveRule::kNotBool:
    case PrimitiveRule::kNumber:
    case PrimitiveRule::kConjugate: return !ir::IsBool(dtype);
    case PrimitiveRule::kReal: return ir::IsInteger(dtype) || ir::IsFloat(dtype);
    case PrimitiveRule::kFloat:
    case PrimitiveRule::kSignbit: return ir::IsFloat(dtype);
    case PrimitiveRule::kInexact:
    case PrimitiveRule::kTrueDivide: return ir::IsFloat(dtype) || ir::IsComplex(dtype);
    case PrimitiveRule::kBitwise: return ir::IsBool(dtype) || ir::IsInteger(dtype);
    case PrimitiveRule::kShift: return ir::IsInteger(dtype);
    case PrimitiveRule::kRounding: return !ir::IsComplex(dtype);
  }
  return false;
}

DType ResultOf(PrimitiveRule rule, DType operand) {
  switch (rule) {
    case PrimitiveRule::kCompare:
    case PrimitiveRule::kLogical:
    case PrimitiveRule::kPredicate:
    case PrimitiveRule::kSignbit: return DType::kBool;
    case PrimitiveRule::kPart: return ir::IsComplex(operand) ? ir::PartOf(operand) : operand;
    default: return operand;
  }
}

bool AllBoolOrInteger(const std::vector<DType>& dtypes) {
  return std::all_of(dtypes.begin(), dtypes.end(),
                     [](DType d) { return ir::IsBool(d) || ir::IsInteger(d); });
}

bool AllBool(const std::vector<DType>& dtypes) {
  return std::all_of(dtypes.begin(), dtypes.end(), [](DType d) { return ir::IsBool(d); });
}

std::optional<DType> FirstLoop(PrimitiveRule rule, const std::vector<DType>& operands) {
  for (int i = 0; i <= static_cast<int>(DType::kC128); ++i) {
    const DType loop = static_cast<DType>(i);
    const bool fits = std::all_of(operands.begin(), operands.end(),
                                  [&](DType d) { return CanCastSafely(d, loop); });
    if (HasLoop(rule, loop) && fits) return loop;
  }
  return std::nullopt;
}

}  // namespace

const Primitive* FindPrimitive(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPrimitives), std::end(kPrimitives),
                                   [&](const Primitive& p) { return p.name == name; });
  return found == std::end(kPrimitives) ? nullptr : found;
}

std::optional<Signature> SignatureOf(const Primitive& primitive,
                                     const std::vector<ScalarType>& types) {
  const std::vector<DType> operands = ResolveWeak(types);
  if (primitive.rule == PrimitiveRule::kLogical) return Signature{DType::kBool, DType::kBool};
  if (primitive.rule == PrimitiveRule::kNotBool && AllBool(operands)) return std::nullopt;
  if (primitive.rule == PrimitiveRule::kTrueDivide && AllBoolOrInteger(operands)) {
    return Signature{DType::kF64, DType::kF64};
  }
  const std::optional<DType> loop = FirstLoop(primitive.rule, operands);
  if (!loop) return std::nullopt;
  return Signature{*loop, ResultOf(primitive.rule, *loop)};
}

std::string NoLoopMessage(const Primitive& primitive, const std::vector<ScalarType>& types) {
  const std::string name(primitive.name);
  if (primitive.rule == PrimitiveRule::kNotBool && AllBool(ResolveWeak(types))) {
    if (name == "subtract") {
      return "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
             "the `^` operator, or the logical_xor function instead.";
    }
    if (name == "negative") {
      return "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator "
             "or the logical_not function instead.";
    }
    return "ufunc '" + name +
           "' did not contain a loop with signature matching types "
           "<class 'numpy.dtypes.BoolDType'> -> None";
  }
  return "ufunc '" + name +
         "' not supported for the input types, and the inputs could not be "
         "safely coerced to any supported types according to the casting rule ''safe''";
}

bool IsMixedSign(const Primitive& primitive, const std::vector<DType>& resolved) {
  return primitive.rule == PrimitiveRule::kCompare && resolved.size() == 2 &&
         ir::IsInteger(resolved[0]) && ir::IsInteger(resolved[1]) &&
         Promote(resolved[0], resolved[1]) == DType::kF64;
}

bool IsIdentity(const Primitive& primitive, DType operand) {
  if (primitive.rule == PrimitiveRule::kRounding) return !ir::IsFloat(operand);
  if (primitive.rule == PrimitiveRule::kConjugate) return !ir::IsComplex(operand);
  if (primitive.op == ir::OpCode::kReal) return !ir::IsComplex(operand);
  if (primitive.op == ir::OpCode::kAbs) return ir::IsBool(operand) || ir::IsUnsigned(operand);
  return false;
}

std::optional<bool> PredicateOfExact(const Primitive& primitive, DType operand) {
  if (primitive.rule != PrimitiveRule::kPredicate) return std::nullopt;
  if (ir::IsFloat(operand) || ir::IsComplex(operand)) return std::nullopt;
  return primitive.op == ir::OpCode::kIsFinite;
}

}  // namespace parakeet::frontend
