#include "frontend/loop_hints.h"

namespace parakeet::frontend {

LoopSurroundings SurroundingsOf(const Environment& environment) {
  LoopSurroundings surroundings;
  const auto no_size_stays = [](const ir::Operand&) { return false; };
  for (const auto& [variable, slot] : environment.slots()) {
    const ir::Operand bound = slot.bound.IsConstant() ? slot.bound : ir::Operand();
    const Pattern pattern = OwnSizes(PatternOf(slot.value), no_size_stays);
    surroundings.items.push_back({variable, bound, pattern});
  }
  return surroundings;
}

std::optional<Pattern> Hinted(const Pattern& entry, const Pattern& found) {
  Pattern hinted = found;
  if (found.kind == Pattern::Kind::kFree) return entry;
  for (size_t i = 0; i < found.dims.size(); ++i) {
    const bool keeps = found.dims[i] && found.dims[i]->IsVar();
    if (!keeps) continue;
    if (entry.dims.size() != found.dims.size() || !entry.dims[i]) return std::nullopt;
    hinted.dims[i] = entry.dims[i];
  }
  for (size_t i = 0; i < found.parts.size(); ++i) {
    const bool fits = entry.parts.size() == found.parts.size();
    const std::optional<Pattern> part = Hinted(fits ? entry.parts[i] : Pattern(), found.parts[i]);
    if (!part) return std::nullopt;
    hinted.parts[i] = *part;
  }
  return hinted;
}

}  // namespace parakeet::frontend
