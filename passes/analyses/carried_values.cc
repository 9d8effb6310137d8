#include "passes/analyses/carried_values.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;

const Binding* KeepResults(ir::Arena* arena, const Binding& b, const std::vector<bool>& keeps) {
  if (std::find(keeps.begin(), keeps.end(), false) == keeps.end()) return &b;
  Binding copy = b;
  const auto keep = [&](auto& list, size_t first) {
    size_t at = 0;
    std::erase_if(list, [&](const auto&) {
      return at >= first && at - first < keeps.size() ? !keeps[at++ - first] : (++at, false);
    });
  };
  keep(copy.results, 0);
  if (b.op != OpCode::kIf) keep(copy.operands, FirstInit(b));
  for (const Block*& block : copy.blocks) {
    Block cleaned = *block;
    if (b.op != OpCode::kIf) keep(cleaned.params, FirstCarried(b));
    if (b.op != OpCode::kWhile || block == copy.blocks.back()) keep(cleaned.results, 0);
    block = arena->New(std::move(cleaned));
  }
  return arena->New(std::move(copy));
}

}  // namespace parakeet::passes
