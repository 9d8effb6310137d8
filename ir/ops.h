#ifndef PARAKEET_IR_OPS_H_
#define PARAKEET_IR_OPS_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace parakeet::ir {

// The operations of the IR (ops.def).
enum class OpCode : uint8_t {
#define PARAKEET_OP(name, text, format, rule, stages, flags, identity, cost, doc) k##name,
#include "ir/ops.def"
};

// How an operation is written; the printer and the parser have one production for each.
enum class OpFormat : uint8_t {
  // %r: T = op %a, %b {attrs}
  kPlain,
  // check %ok, site 3 at (2, %i) with (%k, %n)
  // %s: i64 = broadcast_size %n, %m, site 4 at (1)
  kCheck,
  // %v: [k]f64 = slice %x[%i, %start:%k:%step, new]
  kSlice,
  // %v: [k]f64 = view %x offset (%o, 0) strides ((0, 2)): see node.h
  kView,
  // %r: [n]f64 = map (%a in %x, %b in %y) { ... yield %c }
  kElements,
  // %s: f64 = ireduce (%i) in (%n) add from 0.0 { ... yield %x }
  kIndices,
  // %r: f64 = call @f(%a, %b) at (0, %i)
  // %s: i64 = library_call @sort(%x)
  kCall,
  // %r: [n]f64 = alloc (%n)
  kAlloc,
  // free %a unless (%b, %c)
  kFree,
  // %a: f64 = load %x[%i, %j]
  // store %x[%i], %v
  kAccess,
  // %r: f64 = if %c { ... yield %a } else { ... yield %b }
  kIf,
  // %s: f64 = for %i in %lo to %hi step 1 (%acc: f64 = %init) { ... yield %next }
  kFor,
  // %s: f64 = while (%a: f64 = %init) { ... yield %go } do (%b: f64) { ... yield %next }
  kWhile,
};

// How result types follow from operands.
enum class TypeRule : uint8_t {
  kSame,      // the operands' one type
  kPart,      // as kSame, but a complex operand gives its part's type
  kBool,      // bool, in the operands' lanes
  kChoice,    // the type of the second and third operands; the first is a bool or mask
  kSize,      // i64 from i64 operands
  kElement,   // the dtype of the array
  kDeclared,  // stated by whoever builds it, checked by the verifier
  kNoResult,
};

enum class Stage : uint8_t { kParallel = 1, kIndexed = 2, kScheduled = 4 };
std::string_view Name(Stage stage);

enum class Identity : uint8_t {
  kNoId,
  kZero,
  kOne,
  kLowest,
  kHighest,
  kNanOrLowest,
  kNanOrHighest,
  kAllOnes
};

// One row of ops.def.
struct OpInfo {
  std::string_view text;
  OpFormat format;
  TypeRule rule;
  uint8_t stages;
  uint8_t flags;
  Identity identity;
  uint8_t cost;
  std::string_view doc;
};

const OpInfo& InfoOf(OpCode op);
inline std::string_view Name(OpCode op) { return InfoOf(op).text; }
std::optional<OpCode> OpFromName(std::string_view text);
int NumOps();

bool IsAllowed(OpCode op, Stage stage);
bool IsCommutative(OpCode op);
bool IsAssociative(OpCode op);
bool IsIdempotent(OpCode op);
// True for the operations on scalars (and lanes) alone: no memory, no blocks, no failure.
bool IsScalarOp(OpCode op);
// True for eq, ne, lt, le, gt and ge.
bool IsComparison(OpCode op);
// True for slice, transpose, broadcast, reshape, ascribe and view.
bool IsView(OpCode op);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_OPS_H_
