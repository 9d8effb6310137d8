#include "passes/fusing/storing_siblings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;

bool IsStoringNest(const Binding& b) { return b.op == OpCode::kForeach; }

// All that it does with memory is to load elements, and to store some as its last bindings do.
bool StoresElements(const Binding& nest) {
  const auto& bindings = nest.blocks[0]->bindings;
  size_t stores = 0, stored = 0;
  for (const Binding* b : bindings) stores += b->op == OpCode::kStore;
  bool is_plain = true;
  ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
    stored += b.op == OpCode::kStore;
    is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
                b.op == OpCode::kIf || b.op == OpCode::kWhile || b.op == OpCode::kIreduce;
  });
  return is_plain && stores == stored;
}

// Whether both make reductions over the same indexes.
bool MakeReductionsAlike(const Binding& a, const Binding& b) {
  const auto count = [](const Binding& each) { return each.blocks[0]->params.size(); };
  for (const Binding* x : a.blocks[0]->bindings) {
    for (const Binding* y : b.blocks[0]->bindings) {
      if (x->op != OpCode::kIreduce || y->op != OpCode::kIreduce || count(*x) != count(*y))
        continue;
      if (std::equal(x->operands.begin(), x->operands.begin() + std::ptrdiff_t(count(*x)),
                     y->operands.begin()))
        return true;
    }
  }
  return false;
}

}  // namespace

bool StoringSiblings::MayJoin(const Block& block, size_t first, size_t later) const {
  const Binding &a = *block.bindings[first], &b = *block.bindings[later];
  if (!IsStoringNest(a) || !IsStoringNest(b) || a.operands != b.operands || a.attrs != b.attrs)
    return false;
  if (!StoresElements(a) || !StoresElements(b) || !MakeReductionsAlike(a, b)) return false;
  const Effects of_a = EffectsOf(a, roots_), of_b = EffectsOf(b, roots_);
  if (of_a.may_fail || of_b.may_fail || !Intersects(of_a.reads, of_b.reads)) return false;
  return AreApart(a, b) && AreApart(b, a) && MayWait(block, first, later);
}

// What the first stores shows behind no error where its arrays are the function's own.
bool StoringSiblings::MayWait(const Block& block, size_t first, size_t later) const {
  const Effects waits = EffectsOf(*block.bindings[first], roots_);
  bool is_fresh = true;
  for (const Binding* b : block.bindings[first]->blocks[0]->bindings)
    is_fresh &= b->op != OpCode::kStore || roots_.IsFresh(b->operands[0].var());
  for (size_t k = first + 1; k < later; ++k) {
    Effects passed = EffectsOf(*block.bindings[k], roots_);
    const bool may_fail = std::exchange(passed.may_fail, false);
    if (Conflict(waits, passed) || (may_fail && !is_fresh)) return false;
  }
  return true;
}

// Whether no element that `one` stores is one that the other loads or stores.
bool StoringSiblings::AreApart(const Binding& one, const Binding& other) const {
  bool are_apart = true;
  for (const Binding* store : one.blocks[0]->bindings) {
    if (store->op != OpCode::kStore) continue;
    ir::ForEachBinding(*other.blocks[0], [&](const Binding& b) {
      if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
      if (!roots_.MayShare(store->operands[0].var(), b.operands[0].var())) return;
      const auto axes = size_t(store->operands[0].var()->type.rank());
      are_apart &= store->operands[0] == b.operands[0] && AreApart(*store, b, axes);
    });
  }
  return are_apart;
}

// On some axis the two are so much apart, whatever iterations they are of: what changes from one to
// the next is not taken off.
bool StoringSiblings::AreApart(const Binding& store, const Binding& access, size_t axes) const {
  for (size_t axis = 1; axis <= axes; ++axis) {
    const LinearForm gap =
        Difference(forms_.Of(store.operands[axis]), forms_.Of(access.operands[axis]));
    if (gap.IsConstant() && gap.constant != 0) return true;
  }
  return false;
}

const Binding* StoringSiblings::Join(ir::Builder& builder, const Binding& first,
                                     const Binding& later) {
  ir::Builder inner = builder.Nested();
  const std::vector<const ir::Var*>& params = first.blocks[0]->params;
  const std::vector<Operand> indexes(params.begin(), params.end());
  ir::InlineBlock(inner, *later.blocks[0], indexes);
  std::vector<const Binding*> reads, stores;
  const auto take = [&](const std::vector<const Binding*>& bindings) {
    for (const Binding* b : bindings) (b->op == OpCode::kStore ? stores : reads).push_back(b);
  };
  take(first.blocks[0]->bindings);
  take(inner.bindings());
  reads.insert(reads.end(), stores.begin(), stores.end());
  Binding joined = first;
  joined.blocks[0] = builder.arena()->New(Block{params, std::move(reads), {}});
  return builder.arena()->New(std::move(joined));
}

}  // namespace parakeet::passes
