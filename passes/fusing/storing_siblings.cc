#include "passes/fusing/storing_siblings.h"

#include <algorithm>
#include <cstdlib>
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

constexpr size_t kMostOfNeighbours = 96;  // of two nests whose stores are neighbours,
constexpr int64_t kNear = 8;              // so many elements apart at most.

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
  if (!StoresElements(a) || !StoresElements(b)) return false;
  const Effects of_a = EffectsOf(a, roots_), of_b = EffectsOf(b, roots_);
  if (of_a.may_fail || of_b.may_fail) return false;
  const bool reduce_alike = MakeReductionsAlike(a, b) && Intersects(of_a.reads, of_b.reads);
  if (!reduce_alike && !StoreToNeighbours(a, b)) return false;
  return AreApart(a, b) && AreApart(b, a) && MayWait(block, first, later);
}

// Whether all that the two do is short, and one stores beside where the other does, in the same
// iteration: places that lie in one line of memory, of which neither stores the rest.
bool StoringSiblings::StoreToNeighbours(const Binding& a, const Binding& b) const {
  const auto& of_a = a.blocks[0]->bindings;
  const auto& of_b = b.blocks[0]->bindings;
  if (of_a.size() + of_b.size() > kMostOfNeighbours) return false;
  const auto is_plain = [](const Binding* each) { return each->blocks.empty(); };
  if (!std::all_of(of_a.begin(), of_a.end(), is_plain) ||
      !std::all_of(of_b.begin(), of_b.end(), is_plain))
    return false;
  const std::vector<const ir::Var*>& params = a.blocks[0]->params;
  const auto form_in_b = [&](const Operand& index) {
    LinearForm form = forms_.Of(index);
    for (size_t k = 0; k < params.size(); ++k)
      form = form.With(b.blocks[0]->params[k], LinearForm::Of(params[k]));
    return form;
  };
  const auto are_neighbours = [&](const Binding& x, const Binding& y) {
    if (x.operands[0] != y.operands[0]) return false;
    const auto rank = static_cast<size_t>(x.operands[0].var()->type.rank());
    for (size_t axis = 1; axis <= rank; ++axis) {
      const LinearForm gap = Difference(forms_.Of(x.operands[axis]), form_in_b(y.operands[axis]));
      const bool fits =
          gap.IsConstant() && (axis == rank ? std::abs(gap.constant) <= kNear : gap.constant == 0);
      if (!fits) return false;
    }
    // Places that move by one are stored side by side by each.
    const LinearForm last = forms_.Of(x.operands[rank]);
    return std::none_of(params.begin(), params.end(),
                        [&](const ir::Var* index) { return last.Coefficient(index) == 1; });
  };
  for (const Binding* x : of_a) {
    for (const Binding* y : of_b) {
      if (x->op == OpCode::kStore && y->op == OpCode::kStore && are_neighbours(*x, *y)) return true;
    }
  }
  return false;
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
