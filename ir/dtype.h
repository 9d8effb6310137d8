#ifndef PARAKEET_IR_DTYPE_H_
#define PARAKEET_IR_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace parakeet::ir {

// The scalar types (dtypes.def).
enum class DType : uint8_t {
#define PARAKEET_DTYPE(enumerator, text, bits, kind, number) enumerator,
#include "ir/dtypes.def"
};

enum class DTypeKind : uint8_t { kBoolean, kUnsigned, kSigned, kFloating, kComplex };

std::string_view Name(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);
// NumPy's type number, as in PyArray_Descr::type_num. `long long` and `unsigned long long` (9, 10)
// read as 64 bits.
std::optional<DType> DTypeFromNumpy(int type_number);
int NumpyTypeNumber(DType dtype);
DTypeKind KindOf(DType dtype);
int SizeInBits(DType dtype);
inline int SizeInBytes(DType dtype) { return SizeInBits(dtype) / 8; }

inline bool IsBool(DType d) { return d == DType::kBool; }
inline bool IsSigned(DType d) { return KindOf(d) == DTypeKind::kSigned; }
inline bool IsUnsigned(DType d) { return KindOf(d) == DTypeKind::kUnsigned; }
inline bool IsInteger(DType d) { return IsSigned(d) || IsUnsigned(d); }
inline bool IsFloat(DType d) { return KindOf(d) == DTypeKind::kFloating; }
inline bool IsComplex(DType d) { return KindOf(d) == DTypeKind::kComplex; }

// The float type of a complex type's parts: f32 for c64, f64 for c128.
DType PartOf(DType complex);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_DTYPE_H_
