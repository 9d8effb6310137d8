#include "passes/analyses/kernel_legality.h"

#include "ir/uses.h"

namespace parakeet::passes {

bool IsOnHost(const ir::Binding& b) { return b.attrs.Int(ir::Attr::kOnHost) != 0; }

bool IsForMany(const ir::Binding& b) {
  const std::string& kind = b.attrs.Text(ir::Attr::kKind);
  return b.op == ir::OpCode::kFor && (kind == "parallel" || kind == "block");
}

bool NeedsHost(const ir::Block& block) {
  using enum ir::OpCode;
  bool needs = false;
  ir::ForEachBinding(block, [&](const ir::Binding& b) {
    needs |= b.op == kCall || b.op == kLibraryCall || b.op == kMark;
  });
  return needs;
}

bool IsForOneThread(const ir::Binding& b) {
  using enum ir::OpCode;
  if (b.op != kFor && b.op != kWhile && b.op != kIf) return false;
  const ir::Block whole{{}, {&b}, {}};
  bool touches = false;
  bool is_fit = !NeedsHost(whole);
  ir::ForEachBinding(whole, [&](const ir::Binding& inner) {
    touches |= inner.op == kLoad || inner.op == kStore;
    is_fit &= !IsForMany(inner) && !IsOnHost(inner) && inner.op != kAlloc && inner.op != kFree;
    for (const ir::Var* result : inner.results)
      is_fit &= inner.op == kView || !result->type.IsArray();
  });
  return touches && is_fit;
}

}  // namespace parakeet::passes
