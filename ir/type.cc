#include "ir/type.h"

#include <cstring>
#include <utility>

namespace parakeet::ir {
namespace {

bool SameBits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// `value` reduced to the width of `dtype`, sign- or zero-extended again.
int64_t Wrap(int64_t value, DType dtype) {
  const int unused = 64 - SizeInBits(dtype);
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  if (IsSigned(dtype)) return static_cast<int64_t>(shifted) >> unused;
  return static_cast<int64_t>(shifted >> unused);
}

}  // namespace

bool operator==(const Constant& a, const Constant& b) {
  return a.dtype == b.dtype && a.integer == b.integer && SameBits(a.real, b.real) &&
         SameBits(a.imag, b.imag);
}

Constant ZeroOf(DType dtype) { return ConstantOf(dtype, 0); }

Constant ConstantOf(DType dtype, int64_t value) {
  if (IsBool(dtype)) return Constant::Bool(value != 0);
  if (IsInteger(dtype)) return Constant::Int(Wrap(value, dtype), dtype);
  if (IsComplex(dtype)) return Constant::Complex(static_cast<double>(value), 0.0, dtype);
  const double rounded = dtype == DType::kF32 ? static_cast<double>(static_cast<float>(value))
                                              : static_cast<double>(value);
  return Constant::Float(rounded, dtype);
}

bool Operand::IsInt(int64_t value) const {
  return IsConstant() && (IsInteger(constant_.dtype) || IsBool(constant_.dtype)) &&
         constant_.integer == value;
}

Type Type::Vector(DType dtype, int lanes) {
  Type type(dtype);
  type.lanes_ = lanes;
  return type;
}

Type Type::Array(DType dtype, std::vector<Operand> dims) {
  Type type(dtype);
  type.is_array_ = true;
  type.dims_ = std::move(dims);
  return type;
}

Type Type::With(DType dtype) const {
  Type type = *this;
  type.dtype_ = dtype;
  return type;
}

Type TypeOf(const Operand& operand) {
  return operand.IsVar() ? operand.var()->type : Type(operand.constant().dtype);
}

DType DTypeOf(const Operand& operand) {
  return operand.IsVar() ? operand.var()->type.dtype() : operand.constant().dtype;
}

}  // namespace parakeet::ir
