#include "frontend/promotion.h"

#include <algorithm>
#include <optional>

namespace parakeet::frontend {
namespace {

using ir::DType;

DType SignedOf(int bits) {
  switch (bits) {
    case 8: return DType::kI8;
    case 16: return DType::kI16;
    case 32: return DType::kI32;
    default: return DType::kI64;
  }
}

DType PromoteIntegers(DType a, DType b) {
  const int a_bits = ir::SizeInBits(a);
  const int b_bits = ir::SizeInBits(b);
  if (ir::IsSigned(a) == ir::IsSigned(b)) return a_bits >= b_bits ? a : b;
  const int unsigned_bits = ir::IsUnsigned(a) ? a_bits : b_bits;
  const int signed_bits = ir::IsUnsigned(a) ? b_bits : a_bits;
  if (signed_bits > unsigned_bits) return SignedOf(signed_bits);
  return unsigned_bits == 64 ? DType::kF64 : SignedOf(2 * unsigned_bits);
}

// The smallest float type that holds the real numbers of `dtype`; 64-bit integers go into f64.
DType FloatOf(DType dtype) {
  if (ir::IsFloat(dtype)) return dtype;
  if (ir::IsComplex(dtype)) return ir::PartOf(dtype);
  const int bits = ir::SizeInBits(dtype);
  return bits == 8 ? DType::kF16 : bits == 16 ? DType::kF32 : DType::kF64;
}

DType ComplexOf(DType real) { return real == DType::kF64 ? DType::kC128 : DType::kC64; }

// Where a kind stands in NumPy's order of kinds: a same-kind cast never goes down.
int KindOrder(DType dtype) { return static_cast<int>(ir::KindOf(dtype)); }

// The kind of number that a weak type says: 0 an integer, 1 a float, 2 complex.
int WeakKind(DType weak) { return ir::IsComplex(weak) ? 2 : ir::IsFloat(weak) ? 1 : 0; }

std::optional<DType> PromoteStrong(const std::vector<ScalarType>& types) {
  std::optional<DType> strong;
  for (const ScalarType& type : types) {
    if (!type.weak) strong = strong ? Promote(*strong, type.dtype) : type.dtype;
  }
  return strong;
}

}  // namespace

DType Promote(DType a, DType b) {
  if (a == b || ir::IsBool(b)) return a;
  if (ir::IsBool(a)) return b;
  if (ir::IsInteger(a) && ir::IsInteger(b)) return PromoteIntegers(a, b);
  const DType real = std::max(FloatOf(a), FloatOf(b));
  return ir::IsComplex(a) || ir::IsComplex(b) ? ComplexOf(real) : real;
}

DType ResolveWeak(DType weak, DType strong) {
  switch (WeakKind(weak)) {
    case 0: return ir::IsBool(strong) ? DType::kI64 : strong;
    case 1: return ir::IsFloat(strong) || ir::IsComplex(strong) ? strong : DType::kF64;
    default: break;
  }
  if (ir::IsComplex(strong)) return strong;
  return ir::IsFloat(strong) ? ComplexOf(strong) : DType::kC128;
}

std::vector<DType> ResolveWeak(const std::vector<ScalarType>& types) {
  const std::optional<DType> strong = PromoteStrong(types);
  DType highest = DType::kI64;  // Of the weak types, where all are weak.
  for (const ScalarType& type : types) {
    if (WeakKind(type.dtype) > WeakKind(highest)) highest = type.dtype;
  }
  std::vector<DType> resolved;
  for (const ScalarType& type : types) {
    if (!type.weak) resolved.push_back(type.dtype);
    else resolved.push_back(strong ? ResolveWeak(type.dtype, *strong) : highest);
  }
  return resolved;
}

DType ResultDType(const std::vector<ScalarType>& types) {
  const std::vector<DType> resolved = ResolveWeak(types);
  DType result = resolved.front();
  for (DType dtype : resolved) result = Promote(result, dtype);
  return result;
}

bool CanCastSafely(DType from, DType to) { return Promote(from, to) == to; }

bool CanCastSameKind(DType from, DType to) { return KindOrder(from) <= KindOrder(to); }

bool CanCast(DType from, DType to, Casting casting) {
  switch (casting) {
    case Casting::kNo: return from == to;
    case Casting::kSafe: return CanCastSafely(from, to);
    case Casting::kSameKind: return CanCastSameKind(from, to);
    case Casting::kUnsafe: return true;
  }
  return false;
}

const char* NameOf(Casting casting) {
  constexpr const char* kNames[] = {"no", "safe", "same_kind", "unsafe"};
  return kNames[static_cast<int>(casting)];
}

const char* NumpyName(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "bool";
    case DType::kI8: return "int8";
    case DType::kU8: return "uint8";
    case DType::kI16: return "int16";
    case DType::kU16: return "uint16";
    case DType::kI32: return "int32";
    case DType::kU32: return "uint32";
    case DType::kI64: return "int64";
    case DType::kU64: return "uint64";
    case DType::kF16: return "float16";
    case DType::kF32: return "float32";
    case DType::kF64: return "float64";
    case DType::kC64: return "complex64";
    case DType::kC128: return "complex128";
  }
  return "?";
}

}  // namespace parakeet::frontend
