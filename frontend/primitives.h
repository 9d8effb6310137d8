#ifndef PARAKEET_FRONTEND_PRIMITIVES_H_
#define PARAKEET_FRONTEND_PRIMITIVES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/promotion.h"
#include "ir/ops.h"

namespace parakeet::frontend {

// For which dtypes NumPy has a loop of an element-wise function, and what the loop gives. The first
// loop in the order of dtypes.def to which every operand casts safely is taken.
enum class PrimitiveRule : uint8_t {
  kAny,         // all dtypes; the result is the operands'
  kNotBool,     // as kNumber, but operands that promote to bool are refused
  kNumber,      // all but bool, which becomes i8
  kReal,        // as kNumber, without complex
  kFloat,       // floats
  kInexact,     // floats and complex
  kTrueDivide,  // as kInexact, but integers and bools of every width divide as f64
  kBitwise,     // bool and integers
  kShift,       // integers
  kCompare,     // all dtypes; gives bool. i64 against u64 is exact: see IsMixedSign
  kLogical,     // operands become bool by their truth
  kRounding,    // bool, integers and floats; not the identity for floats alone
  kPart,        // all dtypes; complex gives the type of its parts
  kConjugate,   // as kNumber; not the identity for complex alone
  kPredicate,   // all dtypes; gives bool
  kSignbit,     // floats; gives bool
};

// One row of primitives.def.
struct Primitive {
  std::string_view name;
  ir::OpCode op;
  int arity;
  PrimitiveRule rule;
};

// The primitive of that name, or null. Two calls with one name give the same address.
const Primitive* FindPrimitive(std::string_view name);

// How a primitive runs on operands of certain types: every operand is converted to `operand`, and
// the result is of `result`.
struct Signature {
  ir::DType operand;
  ir::DType result;
};

// nullopt where NumPy has no loop: the caller raises NumPy's TypeError (NoLoopMessage).
std::optional<Signature> SignatureOf(const Primitive& primitive,
                                     const std::vector<ScalarType>& types);

// What NumPy says where SignatureOf gives nullopt, as far as it is known from types.
std::string NoLoopMessage(const Primitive& primitive, const std::vector<ScalarType>& types);

// True for a comparison of i64 (or less) with u64: NumPy compares the integers themselves, though
// their promotion is f64.
bool IsMixedSign(const Primitive& primitive, const std::vector<ir::DType>& resolved);

// True where the primitive gives back its operand: rounding an integer, conjugating a real number.
bool IsIdentity(const Primitive& primitive, ir::DType operand);

// What a predicate says of every value of a dtype that has no special values: isnan(3) is false.
std::optional<bool> PredicateOfExact(const Primitive& primitive, ir::DType operand);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_PRIMITIVES_H_
