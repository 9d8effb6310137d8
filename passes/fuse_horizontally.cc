// Lets siblings over one index space share one traversal.
//
// Before:
//   %sx: f64 = ireduce (%i) in (%n) add from 0.0 { %a = load %x[%i]  yield %a }
//   %sy: f64 = ireduce (%i) in (%n) add from 0.0 { %b = load %y[%i]  yield %b }
// After:
//   %sx: f64, %sy: f64 = ireduce (%i) in (%n) (add, add) from (0.0, 0.0) { %a = load %x[%i]  %b =
//   load %y[%i]  yield %a, %b }
//
// Assumes: index form.
// Refuses: a sibling that needs what stands between the two, or what the first makes; memory
// effects in between that conflict, and checks that may guard what it loads; more accumulators than
// registers hold well; maps that read nothing in common, or of which one makes its result in
// Fortran order only.
#include <algorithm>

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

constexpr size_t kMostResults = 4;

size_t IndexCount(const Binding& b) { return b.blocks[0]->params.size(); }

bool SameExtents(const Binding& a, const Binding& b) {
  return a.op == b.op && IndexCount(a) == IndexCount(b) &&
         std::equal(a.operands.begin(), a.operands.begin() + IndexCount(a), b.operands.begin());
}

class SiblingFuser : public ir::Mutator {
 public:
  SiblingFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    std::vector<Member> members;
    for (const Binding* b : block->bindings)
      members.push_back({b, EffectsOf(*b, roots_), ir::FreeVars(*b)});
    for (size_t later = 1; later < members.size(); ++later) {
      if (FuseWithEarlier(members, later)) --later;
    }
    if (members.size() == block->bindings.size()) return Mutator::VisitBlock(block);
    Block fused = *block;
    fused.bindings.clear();
    for (const Member& member : members) fused.bindings.push_back(member.binding);
    return Mutator::VisitBlock(arena()->New(std::move(fused)));
  }

 private:
  // A binding of the block, with what it does and needs as it was first written.
  struct Member {
    const Binding* binding;
    Effects effects;
    VarSet needs;
  };

  // The later one moves up to the first, past all between: no further than behind what stops it.
  bool FuseWithEarlier(std::vector<Member>& members, size_t later) {
    std::string stop;
    const size_t reach = ReachOf(members, later, stop);
    const auto is_candidate = [&](const Member& first) {
      return IsCandidate(first, members[later]);
    };
    if (std::any_of(members.begin(), members.begin() + reach, is_candidate)) {
      context_.Note(members[later].binding->span, "not fused with its sibling: " + stop);
    }
    for (size_t first = reach; first < later; ++first) {
      if (!is_candidate(members[first])) continue;
      const std::string reason = WhyNotOneTraversal(members[first], members[later]);
      if (!reason.empty()) {
        context_.Note(members[later].binding->span, "not fused with its sibling: " + reason);
        continue;
      }
      context_.Note(members[later].binding->span, "fused with its sibling");
      Join(members[first], members[later]);
      members.erase(members.begin() + later);
      return true;
    }
    return false;
  }

  void Join(Member& first, Member& later) {
    first.binding = Merge(*first.binding, *later.binding);
    first.effects.reads.merge(later.effects.reads);
    first.effects.writes.merge(later.effects.writes);
    first.effects.may_fail |= later.effects.may_fail;
    first.needs.merge(later.needs);
  }

  static bool IsCandidate(const Member& first, const Member& later) {
    const Binding& a = *first.binding;
    const Binding& b = *later.binding;
    if ((a.op != OpCode::kIreduce && a.op != OpCode::kImap) || !SameExtents(a, b)) return false;
    if (a.op == OpCode::kIreduce) {
      // Both start from an init or neither does.
      return (a.operands.size() == IndexCount(a)) == (b.operands.size() == IndexCount(b));
    }
    return Intersects(first.effects.reads, later.effects.reads);
  }

  static bool IsFortran(const Binding& b) { return b.attrs.Int(ir::Attr::kFortran) != 0; }

  static std::string WhyNotOneTraversal(const Member& first, const Member& later) {
    if (IsFortran(*first.binding) != IsFortran(*later.binding)) {
      return "the two lie in memory in different orders";
    }
    if (first.binding->results.size() + later.binding->results.size() > kMostResults) {
      return "too many results for one traversal";
    }
    return "";
  }

  // The first place that the mover can move up to; `stop` is what stands before it.
  static size_t ReachOf(const std::vector<Member>& members, size_t mover, std::string& stop) {
    for (size_t reach = mover; reach > 0; --reach) {
      stop = WhyNotPast(members[reach - 1], members[mover]);
      if (!stop.empty()) return reach;
    }
    return 0;
  }

  static std::string WhyNotPast(const Member& other, const Member& mover) {
    for (const Var* result : other.binding->results) {
      if (mover.needs.contains(result)) {
        return "it needs " + NameOf(result) + ", made after the first begins";
      }
    }
    if (Conflict(mover.effects, other.effects)) return "an effect stands between them";
    if (other.effects.may_fail && !mover.effects.reads.empty()) {
      return "a check between them may guard what it reads";
    }
    return "";
  }

  const Binding* Merge(const Binding& a, const Binding& b) {
    Binding merged = a;
    merged.results.insert(merged.results.end(), b.results.begin(), b.results.end());
    merged.operands.insert(merged.operands.end(), b.operands.begin() + IndexCount(b),
                           b.operands.end());
    merged.blocks[0] = Join(*a.blocks[0], *b.blocks[0]);
    if (a.op == OpCode::kIreduce) merged.blocks[1] = JoinCombines(*a.blocks[1], *b.blocks[1]);
    return arena()->New(std::move(merged));
  }

  const Block* Join(const Block& a, const Block& b) {
    ir::Builder inner = builder().Nested();
    for (const Binding* binding : a.bindings) inner.Append(binding);
    std::vector<Operand> results = a.results;
    const std::vector<Operand> index(a.params.begin(), a.params.end());
    for (const Operand& result : ir::InlineBlock(inner, b, index)) results.push_back(result);
    return inner.Finish(a.params, std::move(results));
  }

  // Left accumulators of both, then right ones of both.
  const Block* JoinCombines(const Block& a, const Block& b) {
    Block joined;
    for (const size_t half : {0, 1}) {
      for (const Block* block : {&a, &b}) {
        const size_t count = block->results.size();
        joined.params.insert(joined.params.end(), block->params.begin() + half * count,
                             block->params.begin() + (half + 1) * count);
      }
    }
    for (const Block* block : {&a, &b}) {
      joined.bindings.insert(joined.bindings.end(), block->bindings.begin(), block->bindings.end());
      joined.results.insert(joined.results.end(), block->results.begin(), block->results.end());
    }
    return arena()->New(std::move(joined));
  }

  Roots roots_;
  Context& context_;
};

}  // namespace

ir::Program FuseHorizontally(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return SiblingFuser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
