#include "passes/analyses/stored_places.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool StoredArray::IsRead() const {
  return std::any_of(accesses.begin(), accesses.end(),
                     [](const Binding* b) { return b->op == OpCode::kLoad; });
}

std::optional<Operand> StoredArray::IndexOn(int axis) const {
  const Operand& first = accesses[0]->operands[1 + axis];
  const bool is_one = std::all_of(accesses.begin(), accesses.end(),
                                  [&](const Binding* b) { return b->operands[1 + axis] == first; });
  return is_one ? std::optional(first) : std::nullopt;
}

std::optional<StoredArray> AccessesOf(const Block& block, const Roots& roots, const Var* root) {
  StoredArray stored{nullptr, {}};
  bool is_plain = true;
  ir::ForEachBinding(block, [&](const Binding& b) {
    const Effects own = EffectsOf(b, roots);
    if (!b.blocks.empty() || (!own.reads.contains(root) && !own.writes.contains(root))) return;
    const Var* array = b.operands[0].var();
    is_plain &= b.op == OpCode::kLoad || b.op == OpCode::kStore;
    is_plain &= roots.Of(array).size() == 1;
    is_plain &= stored.array == nullptr || stored.array == array;
    stored.array = array;
    stored.accesses.push_back(&b);
  });
  if (!is_plain || stored.array == nullptr || stored.array->type.rank() == 0) return std::nullopt;
  if (ir::DefinedVars(block).contains(stored.array)) return std::nullopt;
  return stored;
}

std::vector<StoredArray> StoredArraysOf(const Block& block, const Roots& roots,
                                        const std::vector<const Var*>& arrays,
                                        const VarSet& overlapping) {
  const VarSet written = EffectsOf(block, roots).writes;
  const VarSet local = ir::DefinedVars(block);
  std::vector<StoredArray> all;
  for (const Var* root : arrays) {
    if (!written.contains(root) || local.contains(root)) continue;
    if (overlapping.contains(root)) return {};
    std::optional<StoredArray> stored = AccessesOf(block, roots, root);
    if (!stored) return {};
    all.push_back(std::move(*stored));
  }
  return all;
}

VarSet MadeFrom(const Block& block, const Var* value) {
  VarSet made = {value};
  ir::ForEachBinding(block, [&](const Binding& b) {
    const VarSet used = ir::FreeVars(b);
    if (std::none_of(used.begin(), used.end(), [&](const Var* v) { return made.contains(v); }))
      return;
    made.insert(b.results.begin(), b.results.end());
    for (const Block* inner : b.blocks) made.insert(inner->params.begin(), inner->params.end());
  });
  return made;
}

bool IsApartAlong(const Block& block, const std::vector<StoredArray>& stored, const Var* index) {
  const VarSet made = MadeFrom(block, index);
  return std::all_of(stored.begin(), stored.end(), [&](const StoredArray& each) {
    int own = 0;
    for (int axis = 0; axis < each.array->type.rank(); ++axis) {
      const std::optional<Operand> on_axis = each.IndexOn(axis);
      const bool is_own = on_axis == Operand(index);
      own += is_own;
      if (is_own) continue;
      for (const Binding* b : each.accesses) {
        if (made.contains(b->operands[1 + axis].var())) return false;
      }
    }
    return own == 1;
  });
}

namespace {

// The places of one array, on the axes where they change and none of the indexes alone is.
std::optional<MeetingPlaces> PlacesOf(const VarSet& inside, const StoredArray& stored) {
  MeetingPlaces places;
  for (int axis = 0; axis < stored.array->type.rank(); ++axis) {
    const std::optional<Operand> index = stored.IndexOn(axis);
    if (!index || !inside.contains(index->var())) continue;
    places.index.push_back(*index);
    places.extents.push_back(stored.array->type.dims()[axis]);
  }
  if (places.index.empty()) return std::nullopt;
  return places;
}

// True where the value is computed of no element that the block stores to, nor in a loop of it.
bool IsKnownBefore(const Block& block, const std::vector<StoredArray>& stored,
                   const Operand& value) {
  const auto makers = ir::Definitions(block);
  std::vector<const Var*> left = {value.var()};
  VarSet seen;
  while (!left.empty()) {
    const Var* next = left.back();
    left.pop_back();
    if (next == nullptr || !seen.insert(next).second) continue;
    const auto made = makers.find(next);
    const bool is_param = made == makers.end();
    const bool is_outer = std::count(block.params.begin(), block.params.end(), next) > 0;
    if (is_param && !is_outer && ir::DefinedVars(block).contains(next)) return false;
    if (is_param) continue;
    const Binding& b = *made->second;
    if (b.op != OpCode::kLoad && b.op != OpCode::kIf && !ir::IsScalarOp(b.op)) return false;
    for (const StoredArray& each : stored) {
      if (ir::FreeVars(b).contains(each.array)) return false;
    }
    ir::ForEachUse(b, [&](const Var* used) { left.push_back(used); });
  }
  return true;
}

}  // namespace

std::optional<MeetingPlaces> MeetingPlacesOf(const Block& block,
                                             const std::vector<StoredArray>& stored,
                                             const std::vector<const Var*>& indexes) {
  VarSet inside = ir::DefinedVars(block);
  std::vector<const Var*> apart;
  for (const Var* index : block.params) {
    if (std::count(indexes.begin(), indexes.end(), index) == 0) inside.erase(index);
  }
  std::optional<MeetingPlaces> all;
  for (const StoredArray& each : stored) {
    const std::optional<MeetingPlaces> own = PlacesOf(inside, each);
    if (!own) return std::nullopt;
    // Iterations of one index never meet there.
    if (indexes.size() == 1 &&
        std::count(own->index.begin(), own->index.end(), Operand(indexes[0])) > 0)
      continue;
    if (all && all->index != own->index) return std::nullopt;
    if (!all) all = own;
  }
  const auto is_known = [&](const Operand& o) { return IsKnownBefore(block, stored, o); };
  if (!all || !std::all_of(all->index.begin(), all->index.end(), is_known)) return std::nullopt;
  return all;
}

}  // namespace parakeet::passes
