#include "ir/atomics.h"

namespace parakeet::ir {

bool IsAtomicDType(DType dtype) { return IsInteger(dtype) && SizeInBytes(dtype) >= 4; }

bool IsAtomicCombine(OpCode op) {
  return op == OpCode::kAdd || op == OpCode::kMin || op == OpCode::kMax || op == OpCode::kAnd ||
         op == OpCode::kOr || op == OpCode::kXor;
}

std::optional<OpCode> AtomicCombine(const Binding& atomic) {
  if (!atomic.attrs.Has(Attr::kCombine)) return std::nullopt;
  const std::optional<OpCode> op = OpFromName(atomic.attrs.Text(Attr::kCombine));
  return op && IsAtomicCombine(*op) ? op : std::nullopt;
}

}  // namespace parakeet::ir
