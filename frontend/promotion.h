#ifndef PARAKEET_FRONTEND_PROMOTION_H_
#define PARAKEET_FRONTEND_PROMOTION_H_

#include <cstdint>
#include <vector>

#include "ir/dtype.h"

// NumPy 2's promotion (NEP 50). Everything here takes types and knows no syntax and no values.
namespace parakeet::frontend {

// The type of an operand as promotion sees it. A Python int, float or complex is weak: it says only
// which kind of number it is, and `dtype` is what it becomes where nothing else decides (i64, f64,
// c128). A Python bool, every NumPy scalar and every array is not weak.
struct ScalarType {
  ir::DType dtype;
  bool weak = false;
};

// As np.promote_types: the smallest dtype to which both cast safely (i64 with u64: f64).
ir::DType Promote(ir::DType a, ir::DType b);

// The dtype that a weak scalar takes beside dtypes whose promotion is `strong`.
ir::DType ResolveWeak(ir::DType weak, ir::DType strong);

// Every operand's dtype once the weak ones have been resolved against the others.
std::vector<ir::DType> ResolveWeak(const std::vector<ScalarType>& types);

// As np.result_type. At least one type.
ir::DType ResultDType(const std::vector<ScalarType>& types);

// As np.can_cast with casting="safe" and casting="same_kind".
bool CanCastSafely(ir::DType from, ir::DType to);
bool CanCastSameKind(ir::DType from, ir::DType to);

// NumPy's casting rules, each allowing what the one before does.
enum class Casting : uint8_t { kNo, kSafe, kSameKind, kUnsafe };
bool CanCast(ir::DType from, ir::DType to, Casting casting);
// "same_kind", as NumPy writes it.
const char* NameOf(Casting casting);

// NumPy's name of a dtype, as its messages write it: "float32".
const char* NumpyName(ir::DType dtype);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_PROMOTION_H_
