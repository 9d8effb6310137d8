#include "backends/llvm/emit_scalars.h"

#include <string>

#include "ir/diagnostics.h"

namespace parakeet::backends {
namespace {

using ir::DType;
using ir::OpCode;
using llvm::Value;

[[noreturn]] void Refuse(OpCode op, DType dtype) {
  ir::FailBug("no code for " + std::string(ir::Name(op)) + " of " + std::string(ir::Name(dtype)));
}

Number EmitSelect(Emission& emission, llvm::ArrayRef<Number> operands) {
  llvm::IRBuilder<>& builder = emission.builder;
  const Number &condition = operands[0], &yes = operands[1], &no = operands[2];
  Number result;
  result.value = builder.CreateSelect(condition.value, yes.value, no.value);
  if (yes.imag != nullptr) {
    result.imag = builder.CreateSelect(condition.value, yes.imag, no.imag);
  }
  return result;
}

// Of two equal numbers NumPy's half precision takes the first, the others the second.
bool TakesFirst(OpCode op) {
  return op == OpCode::kMin || op == OpCode::kMax || op == OpCode::kFmin || op == OpCode::kFmax ||
         op == OpCode::kNextAfter;
}

// Half precision computes in float and rounds each result, as NumPy does.
Value* EmitHalfOp(Emission& emission, OpCode op, llvm::ArrayRef<Number> operands) {
  llvm::IRBuilder<>& builder = emission.builder;
  if (TakesFirst(op)) {
    Value* a = operands[0].value;
    Value* b = operands[1].value;
    Value* other = op == OpCode::kNextAfter ? EmitFloatOp(emission, op, operands)
                                            : EmitFloatExtreme(emission, op, a, b);
    return builder.CreateSelect(builder.CreateFCmpOEQ(a, b), a, other);
  }
  llvm::Type* half = operands[0].value->getType();
  llvm::Type* single = WithElement(half, builder.getFloatTy());
  llvm::SmallVector<Number, 3> wide;
  for (const Number& operand : operands) {
    wide.push_back({builder.CreateFPExt(operand.value, single), nullptr});
  }
  Value* result = EmitFloatOp(emission, op, wide);
  if (result == nullptr || !result->getType()->isFPOrFPVectorTy()) return result;
  return builder.CreateFPTrunc(result, half);
}

}  // namespace

Number EmitConstant(Emission& emission, const ir::Constant& constant) {
  llvm::Type* type = RegisterType(emission, constant.dtype);
  if (ir::IsComplex(constant.dtype)) {
    return {llvm::ConstantFP::get(type, constant.real), llvm::ConstantFP::get(type, constant.imag)};
  }
  if (ir::IsFloat(constant.dtype)) return {llvm::ConstantFP::get(type, constant.real), nullptr};
  const bool is_true = constant.integer != 0;
  const uint64_t bits = ir::IsBool(constant.dtype) ? is_true : uint64_t(constant.integer);
  return {llvm::ConstantInt::get(type, bits), nullptr};
}

Number EmitScalarOp(Emission& emission, OpCode op, llvm::ArrayRef<Number> operands, DType dtype,
                    DType result) {
  if (op == OpCode::kSelect) return EmitSelect(emission, operands);
  if (op == OpCode::kCast) return EmitCast(emission, operands[0], dtype, result);
  if (op == OpCode::kBitcast) return EmitBitcast(emission, operands[0], result);
  if (op == OpCode::kMakeComplex) return {operands[0].value, operands[1].value};
  Number number;
  if (ir::IsComplex(dtype)) {
    number = EmitComplexOp(emission, op, operands);
  } else if (ir::IsBool(dtype)) {
    number.value = EmitBoolOp(emission, op, operands);
  } else if (ir::IsInteger(dtype)) {
    number.value = EmitIntegerOp(emission, op, operands, ir::IsSigned(dtype));
  } else if (dtype == DType::kF16) {
    number.value = EmitHalfOp(emission, op, operands);
  } else {
    number.value = EmitFloatOp(emission, op, operands);
  }
  if (number.value == nullptr) Refuse(op, dtype);
  return number;
}

Value* EmitBoolOp(Emission& emission, OpCode op, llvm::ArrayRef<Number> operands) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* a = operands[0].value;
  Value* b = operands.size() > 1 ? operands[1].value : nullptr;
  switch (op) {
    case OpCode::kAbs:
    case OpCode::kReal: return a;
    case OpCode::kImag:
    case OpCode::kIsNan:
    case OpCode::kIsInf:
    case OpCode::kSignbit: return llvm::Constant::getNullValue(a->getType());
    case OpCode::kIsFinite: return llvm::Constant::getAllOnesValue(a->getType());
    case OpCode::kNot: return builder.CreateNot(a);
    case OpCode::kAdd:
    case OpCode::kMax:
    case OpCode::kFmax:
    case OpCode::kOr: return builder.CreateOr(a, b);
    case OpCode::kMul:
    case OpCode::kMin:
    case OpCode::kFmin:
    case OpCode::kAnd: return builder.CreateAnd(a, b);
    case OpCode::kXor:
    case OpCode::kNe: return builder.CreateXor(a, b);
    case OpCode::kEq: return builder.CreateNot(builder.CreateXor(a, b));
    case OpCode::kLt: return builder.CreateAnd(builder.CreateNot(a), b);
    case OpCode::kLe: return builder.CreateOr(builder.CreateNot(a), b);
    case OpCode::kGt: return builder.CreateAnd(a, builder.CreateNot(b));
    case OpCode::kGe: return builder.CreateOr(a, builder.CreateNot(b));
    default: return nullptr;
  }
}

}  // namespace parakeet::backends
