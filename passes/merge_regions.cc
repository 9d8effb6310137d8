// Makes one map of an array that is filled and then stored to in a region, as boundaries and
// insides of grids are.
//
// Before:
//   %v: [n][m]f64 = imap (%i, %j) in (%n, %m) { %a = load %u[%i, %j]  yield %a }
//   foreach (%k, %l) in (%h, %w) {
//     %s = ...  %p = add %k, 1  %q = add %l, 1  store %v[%p, %q], %s }
// After:
//   %v: [n][m]f64 = imap (%i, %j) in (%n, %m) {
//     %k = sub %i, 1  %l = sub %j, 1  %in = 0 <= %k < %h and 0 <= %l < %w
//     %e = if %in { %s = ...  yield %s } else { %a = load %u[%i, %j]  yield %a }
//     yield %e }
//
// Memory is gone through once, and there is one kernel: for GPUs, whose threads take a branch each;
// lanes of a processor would do both sides.
//
// Assumes: index form, behind fusion.
// Refuses: a region that is not moved by the same for each of its indices; elements that may raise,
// hold loops or read the array; other stores or reads of the array in between, or stores to what
// it is made of.
#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Where a store along one axis of the array comes from: an index of the region and how far it is
// moved, or one place alone.
struct Axis {
  std::optional<size_t> index;
  Operand offset;
  bool is_taken_away = false;  // the offset
};

// A store of a region into the array that an imap makes.
struct Region {
  const Binding* foreach;
  const Binding* store;
  std::vector<Axis> axes;
};

class RegionMerger : public ir::Mutator {
 public:
  RegionMerger(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    const Block* visited = Mutator::VisitBlock(block);
    Block merged = *visited;
    bool found = false;
    for (size_t at = 0; at < merged.bindings.size(); ++at) {
      while (const Binding* imap = MergeNext(merged, at)) {
        found = true;
        merged.bindings[at] = imap;
      }
    }
    return found ? arena()->New(std::move(merged)) : visited;
  }

 private:
  // The imap at that place with the region that is stored next to its array, whose foreach is then
  // gone and the imap in its place; null where there is none.
  const Binding* MergeNext(Block& block, size_t& at) {
    const Binding& imap = *block.bindings[at];
    if (imap.op != OpCode::kImap || !IsPlain(*imap.blocks[0])) return nullptr;
    for (size_t k = 0; k < imap.results.size(); ++k) {
      const size_t user = NextUser(block, at, imap.results[k]);
      if (user == block.bindings.size()) continue;
      const auto region = FindRegion(*block.bindings[user], imap, k);
      if (!region || !MayWait(block, at, user)) continue;
      const Binding* merged = Merge(imap, k, *region);
      context_.Note(region->foreach->span, "stored where the array is made", Topic::kFusion,
                    Verdict::kDone);
      block.bindings.erase(block.bindings.begin() + at);
      at = user - 1;
      return merged;
    }
    return nullptr;
  }

  static size_t NextUser(const Block& block, size_t at, const Var* array) {
    size_t user = at + 1;
    while (user < block.bindings.size() && !ir::FreeVars(*block.bindings[user]).contains(array))
      ++user;
    return user;
  }

  // Whether an iteration neither raises nor holds loops.
  static bool IsPlain(const Block& body) {
    bool is_plain = true;
    ir::ForEachBinding(body, [&](const Binding& b) {
      is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
                  b.op == OpCode::kIf;
    });
    return is_plain;
  }

  // True where what stands between neither needs the imap's arrays nor changes what it reads.
  bool MayWait(const Block& block, size_t at, size_t user) const {
    const Binding& imap = *block.bindings[at];
    const Effects own = EffectsOf(imap, roots_);
    for (size_t between = at + 1; between < user; ++between) {
      const Binding& b = *block.bindings[between];
      const VarSet free = ir::FreeVars(b);
      const bool reads = std::any_of(imap.results.begin(), imap.results.end(),
                                     [&](const Var* result) { return free.contains(result); });
      if (reads || Intersects(EffectsOf(b, roots_).writes, own.reads)) return false;
    }
    return true;
  }

  std::optional<Region> FindRegion(const Binding& foreach, const Binding& imap, size_t k) const {
    if (foreach.op != OpCode::kForeach) return std::nullopt;
    const Block& body = *foreach.blocks[0];
    if (!IsPlain(body) || body.bindings.empty()) return std::nullopt;
    const Binding& store = *body.bindings.back();
    const Var* array = imap.results[k];
    if (store.op != OpCode::kStore || store.operands[0] != Operand(array)) return std::nullopt;
    bool is_only = true;
    ir::ForEachBinding(body, [&](const Binding& b) {
      const bool accesses = b.op == OpCode::kLoad || b.op == OpCode::kStore;
      is_only &= !accesses || &b == &store ||
                 (b.op == OpCode::kLoad && IsReadElsewhere(b.operands[0].var(), imap));
    });
    if (!is_only) return std::nullopt;
    Region region{&foreach, &store, {}};
    std::vector<bool> taken(body.params.size());
    for (int axis = 0; axis < array->type.rank(); ++axis) {
      const auto found = AxisOf(store.operands[1 + axis], body);
      if (!found || (found->index && taken[*found->index])) return std::nullopt;
      if (found->index) taken[*found->index] = true;
      region.axes.push_back(*found);
    }
    if (std::find(taken.begin(), taken.end(), false) != taken.end()) return std::nullopt;
    return region;
  }

  bool IsReadElsewhere(const Var* read, const Binding& imap) const {
    return std::none_of(imap.results.begin(), imap.results.end(),
                        [&](const Var* result) { return roots_.MayShareNow(read, result); });
  }

  static std::optional<Axis> AxisOf(const Operand& place, const Block& body) {
    const VarSet inside = ir::DefinedVars(body);
    const auto index_of = [&](const Operand& o) -> std::optional<size_t> {
      const auto param = std::find(body.params.begin(), body.params.end(), o.var());
      if (param == body.params.end()) return std::nullopt;
      return size_t(param - body.params.begin());
    };
    if (const auto index = index_of(place)) return Axis{index, Operand::Int(0)};
    if (!inside.contains(place.var())) return Axis{std::nullopt, place};
    for (const Binding* b : body.bindings) {
      if (b->results.empty() || b->result() != place.var()) continue;
      const bool adds = b->op == OpCode::kAdd;
      if (!adds && b->op != OpCode::kSub) return std::nullopt;
      for (const size_t moved : {0, 1}) {
        const auto index = index_of(b->operands[moved]);
        const Operand& offset = b->operands[1 - moved];
        if (!index || inside.contains(offset.var()) || (!adds && moved == 1)) continue;
        return Axis{index, offset, !adds};
      }
    }
    return std::nullopt;
  }

  const Binding* Merge(const Binding& imap, size_t k, const Region& region) {
    const Block& made = *imap.blocks[0];
    const Block& stored = *region.foreach->blocks[0];
    ir::Builder body(arena());
    body.set_span(imap.span);
    std::vector<const Var*> params;
    for (const Var* param : made.params) params.push_back(body.NewVar(param->type, param->hint));
    const std::vector<Operand> index(params.begin(), params.end());
    std::vector<Operand> own(stored.params.size());
    const Operand is_inside = WriteInside(body, region, index, own);
    // Where there are other arrays, what they are made of is computed everywhere.
    const bool is_alone = imap.results.size() == 1;
    std::vector<Operand> values =
        is_alone ? std::vector<Operand>(1) : InlineBlock(body, made, index);
    ir::Builder in_region(arena());
    std::vector<Operand> element = {InlineRegion(in_region, region, own)};
    const Block* then = in_region.Finish({}, std::move(element));
    ir::Builder elsewhere(arena());
    std::vector<Operand> other = {is_alone ? InlineBlock(elsewhere, made, index)[0] : values[k]};
    const Block* otherwise = elsewhere.Finish({}, std::move(other));
    values[k] =
        body.EmitOne(OpCode::kIf, ir::TypeOf(made.results[k]), {is_inside}, {}, {then, otherwise});
    Binding merged = imap;
    merged.blocks = {body.Finish(params, values)};
    return arena()->New(std::move(merged));
  }

  // Whether the index is of the region, whose own index is then `own`.
  static Operand WriteInside(ir::Builder& body, const Region& region,
                             const std::vector<Operand>& index, std::vector<Operand>& own) {
    Operand is_inside = Operand::Bool(true);
    const auto require = [&](OpCode op, const Operand& a, const Operand& b) {
      is_inside = body.Scalar(OpCode::kAnd, {is_inside, body.Scalar(op, {a, b})});
    };
    for (size_t axis = 0; axis < region.axes.size(); ++axis) {
      const Axis& from = region.axes[axis];
      if (!from.index) {
        require(OpCode::kEq, index[axis], from.offset);
        continue;
      }
      own[*from.index] = from.is_taken_away ? body.Add(index[axis], from.offset)
                                            : Minus(body, index[axis], from.offset);
      require(OpCode::kGe, own[*from.index], Operand::Int(0));
      require(OpCode::kLt, own[*from.index], region.foreach->operands[*from.index]);
    }
    return is_inside;
  }

  // As a sum where it can be one: what the region adds again goes away with it.
  static Operand Minus(ir::Builder& body, const Operand& index, const Operand& offset) {
    if (!offset.IsConstant()) return body.Sub(index, offset);
    return body.Add(index, Operand::Int(-offset.constant().integer));
  }

  // What the region stores at its own index.
  Operand InlineRegion(ir::Builder& builder, const Region& region,
                       const std::vector<Operand>& own) {
    Block value = *region.foreach->blocks[0];
    value.bindings.pop_back();
    value.results = {region.store->operands.back()};
    return InlineBlock(builder, value, own)[0];
  }

  Roots roots_;
  Context& context_;
};

}  // namespace

ir::Program MergeRegions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return RegionMerger(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
