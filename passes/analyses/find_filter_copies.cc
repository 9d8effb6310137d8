#include "passes/analyses/find_filter_copies.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

class FilterCopyFinder {
 public:
  FilterCopyFinder(const ir::Function& function, const Roots& roots) : roots_(roots) {
    ir::ForEachUse(*function.body, [&](const Var* var) { ++uses_[var]; });
  }

  // The foreach that copies what the filter keeps, behind binding `at` of the block; null for none.
  const Binding* CopyOf(const Binding& filter, const Block& block, size_t at) const {
    for (size_t k = at; k < block.bindings.size(); ++k) {
      const Binding& b = *block.bindings[k];
      if (b.op == OpCode::kForeach) return Copies(b, filter) ? &b : nullptr;
      if (b.op == OpCode::kIf) return CopyOf(filter, *b.blocks[0], 0);
      if (!ir::IsScalarOp(b.op)) return nullptr;
    }
    return nullptr;
  }

 private:
  bool Copies(const Binding& foreach, const Binding& filter) const {
    if (foreach.operands != std::vector{Operand(filter.results[0])}) return false;
    const Block& body = *foreach.blocks[0];
    size_t loads = 0;
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kLoad && IsKept(*b, filter, body.params[0])) ++loads;
      else if (!IsPlace(*b, body) && !(b->op == OpCode::kStore && IsPlain(*b, body))) return false;
    }
    const auto is_read_there = [&](const Var* kept) { return uses_.at(kept) == 1; };
    return loads + 1 == filter.results.size() &&
           std::all_of(
               filter.results.begin() + 1, filter.results.end(),
               [&](const Var* kept) { return uses_.contains(kept) && is_read_there(kept); }) &&
           !Intersects(EffectsOf(body, roots_).writes, EffectsOf(*filter.blocks[0], roots_).reads);
  }

  static bool IsKept(const Binding& load, const Binding& filter, const Var* index) {
    return load.operands[1] == Operand(index) &&
           std::find(filter.results.begin(), filter.results.end(), load.operands[0].var()) !=
               filter.results.end();
  }

  // True for the index, moved.
  static bool IsPlace(const Binding& b, const Block& body) {
    const bool is_moved = b.op == OpCode::kAdd && b.results.size() == 1;
    const auto made = ir::Definitions(body);
    return is_moved &&
           std::count(b.operands.begin(), b.operands.end(), Operand(body.params[0])) == 1 &&
           std::none_of(b.operands.begin(), b.operands.end(),
                        [&](const Operand& o) { return made.contains(o.var()); });
  }

  // True for a store of what is loaded, or comes from outside, and whose places follow the index.
  static bool IsPlain(const Binding& store, const Block& body) {
    const auto made = ir::Definitions(body);
    const Operand& value = store.operands.back();
    if (value == Operand(body.params[0])) return false;
    if (made.contains(value.var()) && made.at(value.var())->op != OpCode::kLoad) return false;
    int at_index = 0;
    for (size_t k = 1; k + 1 < store.operands.size(); ++k) {
      const Operand& at = store.operands[k];
      const auto maker = made.find(at.var());
      if (maker != made.end() && maker->second->op == OpCode::kLoad) return false;
      at_index += at == Operand(body.params[0]) || maker != made.end();
    }
    return at_index == 1;
  }

  const Roots& roots_;
  std::unordered_map<const Var*, int> uses_;
};

void FindIn(const Block& block, const FilterCopyFinder& finder,
            std::unordered_map<const Binding*, const Binding*>& found) {
  for (size_t at = 0; at < block.bindings.size(); ++at) {
    const Binding* b = block.bindings[at];
    for (const Block* inner : b->blocks) FindIn(*inner, finder, found);
    if (b->op != OpCode::kIfilter) continue;
    if (const Binding* copy = finder.CopyOf(*b, block, at + 1)) found[b] = copy;
  }
}

}  // namespace

std::unordered_map<const Binding*, const Binding*> FindFilterCopies(const ir::Function& function,
                                                                    const Roots& roots) {
  std::unordered_map<const Binding*, const Binding*> found;
  FindIn(*function.body, FilterCopyFinder(function, roots), found);
  return found;
}

}  // namespace parakeet::passes
