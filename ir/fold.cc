#include "ir/fold.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/evaluate.h"

namespace parakeet::ir {
namespace {

using Folded = std::optional<Operand>;

bool IsConstant(const Operand& operand, const Constant& value) {
  return operand.IsConstant() && operand.constant() == value;
}

Folded FoldConstants(OpCode op, const std::vector<Operand>& operands, const Type& type) {
  if (!type.IsScalar()) return std::nullopt;
  std::vector<Constant> values;
  for (const Operand& operand : operands) {
    if (!operand.IsConstant()) return std::nullopt;
    values.push_back(operand.constant());
  }
  const std::optional<Constant> value = Evaluate(op, values, type.dtype());
  return value ? Folded(*value) : std::nullopt;
}

Folded FoldSelect(const std::vector<Operand>& operands) {
  const Operand& condition = operands[0];
  if (operands[1] == operands[2]) return operands[1];  // select(c, x, x) => x
  if (condition.IsInt(1)) return operands[1];          // select(true, x, y) => x
  if (condition.IsInt(0)) return operands[2];          // select(false, x, y) => y
  if (operands[1].IsInt(1) && operands[2].IsInt(0) && DTypeOf(operands[1]) == DType::kBool) {
    return condition;  // select(c, true, false) => c
  }
  return std::nullopt;
}

// f(x, e) => x and f(e, x) => x, by ops.def's identity. Complex products are left: x * (1 + 0i) is
// not always x.
Folded FoldIdentity(OpCode op, const Operand& a, const Operand& b, DType dtype) {
  if (op == OpCode::kMul && IsComplex(dtype)) return std::nullopt;
  const std::optional<Constant> identity = IdentityOf(op, dtype);
  if (!identity) return std::nullopt;
  if (IsConstant(b, *identity)) return a;
  if (IsConstant(a, *identity) && IsCommutative(op)) return b;
  return std::nullopt;
}

// Operations that leave x alone for one right operand.
Folded FoldRight(OpCode op, const Operand& a, const Operand& b, DType dtype) {
  const bool is_real = !IsComplex(dtype);
  const bool zero = IsConstant(b, ZeroOf(dtype));
  const bool one = IsConstant(b, ConstantOf(dtype, 1));
  switch (op) {
    case OpCode::kSub: return zero && is_real ? Folded(a) : std::nullopt;  // x - 0 => x
    case OpCode::kShl:
    case OpCode::kShr: return zero ? Folded(a) : std::nullopt;            // x << 0 => x
    case OpCode::kDiv: return one && is_real ? Folded(a) : std::nullopt;  // x / 1 => x
    case OpCode::kFloorDiv:
      return one && IsInteger(dtype) ? Folded(a) : std::nullopt;  // x // 1 => x
    case OpCode::kPow:
      if (zero && is_real) return ConstantOf(dtype, 1);  // x ** 0 => 1, for nan too
      return one && is_real ? Folded(a) : std::nullopt;  // x ** 1 => x
    default: return std::nullopt;
  }
}

Folded FoldIntegers(OpCode op, const Operand& a, const Operand& b, DType dtype) {
  const Constant zero = ZeroOf(dtype);
  const bool either_zero = IsConstant(a, zero) || IsConstant(b, zero);
  switch (op) {
    case OpCode::kMul:
    case OpCode::kAnd: return either_zero ? Folded(zero) : std::nullopt;  // x * 0 => 0, x & 0 => 0
    case OpCode::kSub:
    case OpCode::kXor: return a == b ? Folded(zero) : std::nullopt;  // x - x => 0, x ^ x => 0
    case OpCode::kMod:
    case OpCode::kFmod:  // x % 1 => 0, x % x => 0
      return IsConstant(b, ConstantOf(dtype, 1)) || a == b ? Folded(zero) : std::nullopt;
    case OpCode::kFloorDiv:
      return IsConstant(a, zero) ? Folded(zero) : std::nullopt;  // 0 // x => 0
    case OpCode::kOr: {
      const Constant ones = *IdentityOf(OpCode::kAnd, dtype);  // x | ~0 => ~0
      return IsConstant(a, ones) || IsConstant(b, ones) ? Folded(ones) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

// Of integers and bools: a nan is not equal to itself.
Folded FoldComparison(OpCode op, const Operand& a, const Operand& b) {
  const DType dtype = DTypeOf(a);
  if (IsFloat(dtype) || IsComplex(dtype)) return std::nullopt;
  if (a == b) {
    switch (op) {
      case OpCode::kEq:
      case OpCode::kLe:
      case OpCode::kGe: return Operand::Bool(true);  // x <= x => true
      case OpCode::kNe:
      case OpCode::kLt:
      case OpCode::kGt: return Operand::Bool(false);  // x < x => false
      default: return std::nullopt;
    }
  }
  if (!IsBool(dtype)) return std::nullopt;
  const int64_t neutral = op == OpCode::kEq ? 1 : 0;
  if (op != OpCode::kEq && op != OpCode::kNe) return std::nullopt;
  if (b.IsInt(neutral)) return a;  // x == true => x, x != false => x
  return a.IsInt(neutral) ? Folded(b) : std::nullopt;
}

Folded FoldBinary(OpCode op, const Operand& a, const Operand& b, const Type& type) {
  if (InfoOf(op).rule == TypeRule::kBool) {
    return type.IsScalar() ? FoldComparison(op, a, b) : std::nullopt;
  }
  if (InfoOf(op).rule != TypeRule::kSame) return std::nullopt;
  const DType dtype = type.dtype();
  if (a == b && IsIdempotent(op)) return a;  // min(x, x) => x
  if (Folded same = FoldIdentity(op, a, b, dtype)) return same;
  if (Folded same = FoldRight(op, a, b, dtype)) return same;
  const bool whole = IsInteger(dtype) || IsBool(dtype);
  return whole && type.IsScalar() ? FoldIntegers(op, a, b, dtype) : std::nullopt;
}

}  // namespace

std::optional<Operand> Fold(OpCode op, const std::vector<Operand>& operands, const Type& type) {
  if (!IsScalarOp(op)) return std::nullopt;
  if (Folded value = FoldConstants(op, operands, type)) return value;
  if (op == OpCode::kSelect) return FoldSelect(operands);
  if (op == OpCode::kCast || op == OpCode::kBitcast)
    return TypeOf(operands[0]) == type ? Folded(operands[0]) : std::nullopt;
  if (op == OpCode::kReal && !IsComplex(type.dtype()) && TypeOf(operands[0]) == type) {
    return operands[0];
  }
  return operands.size() == 2 ? FoldBinary(op, operands[0], operands[1], type) : std::nullopt;
}

}  // namespace parakeet::ir
