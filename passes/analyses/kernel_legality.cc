#include "passes/analyses/kernel_legality.h"

#include "ir/uses.h"

namespace parakeet::passes {

bool NeedsHost(const ir::Block& block) {
  using enum ir::OpCode;
  bool needs = false;
  ir::ForEachBinding(block, [&](const ir::Binding& b) {
    needs |= b.op == kCall || b.op == kLibraryCall || b.op == kMark;
  });
  return needs;
}

}  // namespace parakeet::passes
