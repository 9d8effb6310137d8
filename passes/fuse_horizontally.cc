// Lets siblings over one index space share one traversal.
//
// Before:
//   %sx: f64 = ireduce (%i) in (%n) add from 0.0 { %a = load %x[%i]  yield %a }
//   %sy: f64 = ireduce (%i) in (%n) add from 0.0 { %b = load %y[%i]  yield %b }
// After:
//   %sx: f64, %sy: f64 = ireduce (%i) in (%n) (add, add) from (0.0, 0.0) { %a = load %x[%i]  %b =
//   load %y[%i]  yield %a, %b }
//
// A map that reads what the first makes, each element at its own index, is a sibling too: it takes
// the element as it is made. Filters that keep the same places become one filter of more values.
//
// Assumes: index form.
// Refuses: a sibling that needs what stands between the two, or other elements of the first; memory
// effects in between that conflict, and checks that may guard what it loads; more accumulators than
// registers hold well; maps that read nothing in common, or of which one makes its result in
// Fortran order only.
#include <algorithm>
#include <memory>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/binding_key.h"
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

constexpr size_t kMostArrays = 4;
// Means, and shifted sums of two arrays with their products (shift_moments.cc).
constexpr size_t kMostTotals = 8;
constexpr size_t kMostKept = 8;  // values of one filter

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
    Members members;
    for (const Binding* b : block->bindings)
      members.push_back(std::make_unique<Member>(MemberOf(*b)));
    for (size_t later = 1; later < members.size(); ++later) {
      if (FuseWithEarlier(members, later)) --later;
    }
    if (members.size() == block->bindings.size()) return Mutator::VisitBlock(block);
    Block fused = *block;
    fused.bindings.clear();
    for (const auto& member : members) fused.bindings.push_back(member->binding);
    return Mutator::VisitBlock(arena()->New(std::move(fused)));
  }

 private:
  // A binding of the block, with what it does and needs as it was first written.
  struct Member {
    const Binding* binding;
    Effects effects;
    VarSet needs;
    std::string kept;  // of a filter: which places it keeps
  };

  // Apart, since those behind one that is fused move up.
  using Members = std::vector<std::unique_ptr<Member>>;

  Member MemberOf(const Binding& b) {
    Member member{&b, EffectsOf(b, roots_), ir::FreeVars(b), {}};
    if (b.op == OpCode::kIfilter) member.kept = KeyOf(*CountOnly(arena(), b));
    return member;
  }

  // The later one moves up to the first, past all between: no further than behind what stops it.
  bool FuseWithEarlier(Members& members, size_t later) {
    if (!HasSiblings(*members[later]->binding)) return false;
    std::string stop;
    size_t reach = ReachOf(members, later, stop);
    // What needs the other's result is a second traversal in any case.
    const Verdict verdict = reach > 0 && NeededBy(*members[reach - 1], *members[later]) != nullptr
                                ? Verdict::kAside
                                : Verdict::kRefused;
    const auto is_candidate = [&](const std::unique_ptr<Member>& first) {
      return IsCandidate(*first, *members[later]);
    };
    if (reach > 0 && is_candidate(members[reach - 1]) &&
        TakesElements(*members[reach - 1], *members[later])) {
      --reach;
    }
    if (std::any_of(members.begin(), members.begin() + reach, is_candidate)) {
      Refuse(*members[later], stop, verdict);
    }
    for (size_t first = reach; first < later; ++first) {
      if (!is_candidate(members[first])) continue;
      const std::string reason = WhyNotOneTraversal(*members[first], *members[later]);
      if (!reason.empty()) {
        Refuse(*members[later], reason, Verdict::kRefused);
        continue;
      }
      context_.Note(members[later]->binding->span, "fused with its sibling", Topic::kSiblings,
                    Verdict::kDone, members[first]->binding->span);
      Join(*members[first], *members[later]);
      members.erase(members.begin() + later);
      return true;
    }
    return false;
  }

  void Refuse(const Member& later, const std::string& reason, Verdict verdict) {
    context_.Note(later.binding->span, "not fused with its sibling: " + reason, Topic::kSiblings,
                  verdict);
  }

  void Join(Member& first, Member& later) {
    first.binding = Merge(*first.binding, *later.binding);
    first.effects.reads.merge(later.effects.reads);
    first.effects.writes.merge(later.effects.writes);
    first.effects.may_fail |= later.effects.may_fail;
    first.needs.merge(later.needs);
  }

  static bool HasSiblings(const Binding& b) {
    return b.op == OpCode::kIreduce || b.op == OpCode::kImap || b.op == OpCode::kIfilter;
  }

  static bool IsCandidate(const Member& first, const Member& later) {
    const Binding& a = *first.binding;
    const Binding& b = *later.binding;
    if (a.op == OpCode::kIfilter) return first.kept == later.kept;
    if (!HasSiblings(a) || !SameExtents(a, b)) return false;
    if (a.op == OpCode::kIreduce) {
      // Both start from an init or neither does.
      return (a.operands.size() == IndexCount(a)) == (b.operands.size() == IndexCount(b));
    }
    return Intersects(first.effects.reads, later.effects.reads) ||
           std::any_of(a.results.begin(), a.results.end(),
                       [&](const Var* made) { return later.needs.contains(made); });
  }

  static std::string WhyNotOneTraversal(const Member& first, const Member& later) {
    if (IsFortran(*first.binding) != IsFortran(*later.binding)) {
      return "the two lie in memory in different orders";
    }
    if (first.binding->results.size() + later.binding->results.size() > MostResults(first)) {
      return "too many results for one traversal";
    }
    return "";
  }

  static size_t MostResults(const Member& first) {
    if (!first.kept.empty()) return kMostKept + 2;
    return first.binding->op == OpCode::kIreduce ? kMostTotals : kMostArrays;
  }

  // The first place that the mover can move up to; `stop` is what stands before it.
  static size_t ReachOf(const Members& members, size_t mover, std::string& stop) {
    for (size_t reach = mover; reach > 0; --reach) {
      stop = WhyNotPast(*members[reach - 1], *members[mover]);
      if (!stop.empty()) return reach;
    }
    return 0;
  }

  static std::string WhyNotPast(const Member& other, const Member& mover) {
    if (const Var* needed = NeededBy(other, mover))
      return "it needs " + NameOf(needed) + ", made after the first begins";
    return WhyNotBefore(other, mover);
  }

  // A result of the other that the mover needs; null for none.
  static const Var* NeededBy(const Member& other, const Member& mover) {
    for (const Var* result : other.binding->results) {
      if (mover.needs.contains(result)) return result;
    }
    return nullptr;
  }

  static std::string WhyNotBefore(const Member& other, const Member& mover) {
    if (Conflict(mover.effects, other.effects)) return "an effect stands between them";
    if (other.effects.may_fail && !mover.effects.reads.empty()) {
      return "a check between them may guard what it reads";
    }
    return "";
  }

  // True where what keeps the mover behind the first are elements that it takes as they are made.
  static bool TakesElements(const Member& first, const Member& mover) {
    return ReadsOwnElements(*first.binding, *mover.binding) && WhyNotBefore(first, mover).empty();
  }

  // True for a map that reads what the first map makes as elements at its own index, in its own
  // block, and in no other way.
  static bool ReadsOwnElements(const Binding& first, const Binding& map) {
    if (first.op != OpCode::kImap) return false;
    const Block& body = *map.blocks[0];
    for (const Operand& result : body.results) {
      if (MakerHas(first, result)) return false;
    }
    return std::all_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
      const VarSet free = ir::FreeVars(*b);
      const bool reads = std::any_of(first.results.begin(), first.results.end(),
                                     [&](const Var* made) { return free.contains(made); });
      return !reads || (b->op == OpCode::kLoad && MakerHas(first, b->operands[0]) &&
                        std::equal(b->operands.begin() + 1, b->operands.end(), body.params.begin(),
                                   body.params.end(), [](const Operand& index, const Var* own) {
                                     return index == Operand(own);
                                   }));
    });
  }

  static bool MakerHas(const Binding& maker, const Operand& value) {
    return value.IsVar() && std::count(maker.results.begin(), maker.results.end(), value.var()) > 0;
  }

  const Binding* Merge(const Binding& a, const Binding& b) {
    if (a.op == OpCode::kIfilter) return MergeFilters(a, b);
    Binding merged = a;
    merged.results.insert(merged.results.end(), b.results.begin(), b.results.end());
    merged.operands.insert(merged.operands.end(), b.operands.begin() + IndexCount(b),
                           b.operands.end());
    merged.blocks[0] = Join(a, *b.blocks[0]);
    if (a.op == OpCode::kIreduce) merged.blocks[1] = JoinCombines(*a.blocks[1], *b.blocks[1]);
    return arena()->New(std::move(merged));
  }

  // Both keep as many: what the later one keeps has the first one's count for its size.
  const Binding* MergeFilters(const Binding& a, const Binding& b) {
    Replace(b.result(), a.result());
    Binding merged = a;
    for (size_t k = 1; k < b.results.size(); ++k) {
      std::vector<Operand> dims = b.results[k]->type.dims();
      dims[0] = a.result();
      const auto type = ir::Type::Array(b.results[k]->type.dtype(), std::move(dims));
      merged.results.push_back(builder().NewVar(type, b.results[k]->hint));
      Replace(b.results[k], merged.results.back());
    }
    Block values = *b.blocks[0];
    values.results.erase(values.results.begin());
    merged.blocks[0] = Join(a, values);
    return arena()->New(std::move(merged));
  }

  // The block of `first` with that of its sibling behind it, which finds there the elements that it
  // would load.
  const Block* Join(const Binding& first, const Block& b) {
    const Block& a = *first.blocks[0];
    ir::Builder inner = builder().Nested();
    for (const Binding* binding : a.bindings) inner.Append(binding);
    std::vector<Operand> results = a.results;
    Block rest{b.params, {}, b.results};
    ir::Substitution values;
    for (size_t k = 0; k < b.params.size(); ++k) values[b.params[k]] = Operand(a.params[k]);
    for (const Binding* binding : b.bindings) {
      const auto made =
          binding->op != OpCode::kLoad
              ? first.results.end()
              : std::find(first.results.begin(), first.results.end(), binding->operands[0].var());
      if (made == first.results.end()) {
        rest.bindings.push_back(binding);
      } else {
        values[binding->result()] = a.results[made - first.results.begin()];
      }
    }
    for (const Operand& result : ir::InlineBlock(inner, rest, values)) results.push_back(result);
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
