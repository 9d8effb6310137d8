// Lets siblings over one index space share one traversal.
//
// Before:
//   %sx: f64 = ireduce (%i) in (%n) add from 0.0 { %a = load %x[%i]  yield %a }
//   %sy: f64 = ireduce (%i) in (%n) add from 0.0 { %b = load %y[%i]  yield %b }
// After:
//   %sx: f64, %sy: f64 = ireduce (%i) in (%n) (add, add) from (0.0, 0.0) { %a = load %x[%i]  %b =
//   load %y[%i]  yield %a, %b }
//
// A reduction that takes its first element for a start takes the combine's identity beside one that
// has a start, where there is one.
//
// A map that reads what the first makes, each element at its own index, is a sibling too: it takes
// the element as it is made. Filters that keep the same places become one filter of more values.
//
// Nests that store what they make of reductions over one index space, each to rows of its own, are
// one (fusing/storing_siblings.h): `psi[t] = m.argmax(0)`, `delta[t] = m.max(0)`. So are those that
// store to neighbours: `a[:, 0] = x`, `a[:, 1] = y`.
//
// What the later one of two reductions needs that read one array, and the first does not, is made
// before both; on a GPU, where each array that is made by reductions is a kernel that goes through
// memory, of such arrays:
//   %a: f64 = ireduce (%i) in (%n) ... { %x[%i] ... }  %c = ...
//   %b: f64 = ireduce (%i) in (%n) ... { %x[%i], %c ... }
// becomes
//   %c = ...  %a: f64, %b: f64 = ireduce (%i) in (%n) ... { ... }
//
// Assumes: index form.
// Refuses: a sibling that needs what stands between the two, or other elements of the first; memory
// effects in between that conflict, and checks that may guard what it loads beside what the first
// does, or what lies in its own extents; more accumulators than
// registers hold well; maps that read nothing in common, or of which one makes its result in
// Fortran order only.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/binding_key.h"
#include "passes/analyses/find_effects.h"
#include "passes/fusing/storing_siblings.h"
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
// Totals of more have less than a vector of lanes each, which costs more than to read twice.
constexpr size_t kMostOfWholeLanes = 4;

size_t IndexCount(const Binding& b) { return b.blocks[0]->params.size(); }

bool SameExtents(const Binding& a, const Binding& b) {
  return a.op == b.op && IndexCount(a) == IndexCount(b) &&
         std::equal(a.operands.begin(), a.operands.begin() + IndexCount(a), b.operands.begin());
}

class SiblingFuser : public ir::Mutator {
 public:
  SiblingFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), storing_(function, roots_), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    block = JoinStoring(block);
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
  // One nest for each two that may be one.
  const Block* JoinStoring(const Block* block) {
    std::vector<size_t> nests;
    for (size_t at = 0; at < block->bindings.size(); ++at) {
      if (block->bindings[at]->op == OpCode::kForeach) nests.push_back(at);
    }
    for (size_t later = 1; later < nests.size(); ++later) {
      for (size_t first = 0; first < later; ++first) {
        if (storing_.MayJoin(*block, nests[first], nests[later]))
          return JoinStoring(Joined(*block, nests[first], nests[later]));
      }
    }
    return block;
  }

  const Block* Joined(const Block& block, size_t first, size_t later) {
    Block joined = block;
    const Binding &a = *block.bindings[first], &b = *block.bindings[later];
    context_.Note(b.span, "fused with its sibling", Topic::kSiblings, Verdict::kDone, a.span);
    joined.bindings[later] = StoringSiblings::Join(builder(), a, b);
    joined.bindings.erase(joined.bindings.begin() + std::ptrdiff_t(first));
    return arena()->New(std::move(joined));
  }

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
    if (!context_.options.kernels || context_.options.HasForm("gpu-siblings"))
      MoveNeedsUp(members, later);
    std::string stop;
    const size_t farthest = ReachOf(members, later, true, stop);
    size_t reach = ReachOf(members, later, false, stop);
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
    const auto is_stopped = [&](size_t first) {
      return first < reach && (first < farthest || !ReadsNoMore(members, first, later));
    };
    for (size_t first = 0; first < reach; ++first) {
      if (is_candidate(members[first]) && is_stopped(first)) {
        Refuse(*members[later], stop, verdict);
        break;
      }
    }
    for (size_t first = std::min(farthest, reach); first < later; ++first) {
      if (!is_candidate(members[first]) || is_stopped(first)) continue;
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

  static bool Reduces(const Binding& b) {
    const auto& inner = b.blocks[0]->bindings;
    return b.op == OpCode::kImap &&
           std::any_of(inner.begin(), inner.end(),
                       [](const Binding* each) { return each->op == OpCode::kIreduce; });
  }

  // Whether what the later one of two such needs may go before both.
  bool MayWait(const Member& first, const Member& later) const {
    if (context_.options.kernels) return Reduces(*first.binding) && Reduces(*later.binding);
    return later.binding->op == OpCode::kIreduce &&
           Intersects(first.effects.reads, later.effects.reads);
  }

  // What the later one of two siblings needs and the first does not goes before both.
  void MoveNeedsUp(Members& members, size_t later) const {
    for (size_t first = 0; first < later; ++first) {
      if (!IsCandidate(*members[first], *members[later]) ||
          !MayWait(*members[first], *members[later]) ||
          !WhyNotOneTraversal(*members[first], *members[later]).empty())
        continue;
      const std::set<const Member*> early = NeedsBetween(members, first, later);
      if (early.empty() || !MayGoBefore(members, first, later, early) ||
          (!context_.options.kernels &&
           CountWith(members, first, later, early) > kMostOfWholeLanes))
        continue;
      std::stable_partition(members.begin() + first, members.begin() + later,
                            [&](const auto& member) { return early.contains(member.get()); });
      return;
    }
  }

  // Results of the first with those of all siblings that take what goes before it.
  static size_t CountWith(const Members& members, size_t first, size_t later,
                          const std::set<const Member*>& early) {
    size_t count = members[first]->binding->results.size();
    for (size_t k = later; k < members.size(); ++k) {
      const bool takes = std::any_of(early.begin(), early.end(), [&](const Member* needed) {
        return NeededBy(*needed, *members[k]) != nullptr;
      });
      if (takes && IsCandidate(*members[first], *members[k]))
        count += members[k]->binding->results.size();
    }
    return count;
  }

  static std::set<const Member*> NeedsBetween(const Members& members, size_t first, size_t later) {
    std::set<const Member*> found;
    VarSet needs = members[later]->needs;
    for (size_t k = later; k-- > first;) {
      const auto& made = members[k]->binding->results;
      if (std::none_of(made.begin(), made.end(), [&](const Var* v) { return needs.contains(v); }))
        continue;
      found.insert(members[k].get());
      needs.insert(members[k]->needs.begin(), members[k]->needs.end());
    }
    return found;
  }

  static bool MayGoBefore(const Members& members, size_t first, size_t later,
                          const std::set<const Member*>& early) {
    if (early.contains(members[first].get())) return false;
    for (size_t k = first + 1; k < later; ++k) {
      for (size_t j = first; j < k && early.contains(members[k].get()); ++j) {
        const bool stays = !early.contains(members[j].get());
        if (stays && !WhyNotPast(*members[j], *members[k], false).empty()) return false;
      }
    }
    return true;
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
    if (a.op == OpCode::kIreduce)
      return HasInits(a) == HasInits(b) || HasIdentities(HasInits(a) ? b : a);
    return Intersects(first.effects.reads, later.effects.reads) ||
           std::any_of(a.results.begin(), a.results.end(),
                       [&](const Var* made) { return later.needs.contains(made); });
  }

  static bool HasInits(const Binding& reduction) {
    return reduction.operands.size() > IndexCount(reduction);
  }

  static std::optional<ir::Constant> IdentityOf(const Binding& reduction, size_t k) {
    const auto op = ir::CombineOp(*reduction.blocks[1], static_cast<int>(k));
    const ir::Type& type = reduction.results[k]->type;
    return op && type.IsScalar() ? ir::IdentityOf(*op, type.dtype()) : std::nullopt;
  }

  static bool HasIdentities(const Binding& reduction) {
    for (size_t k = 0; k < reduction.results.size(); ++k) {
      if (!IdentityOf(reduction, k)) return false;
    }
    return true;
  }

  // Its inits, of identities where it has none.
  static std::vector<Operand> InitsOf(const Binding& reduction) {
    std::vector<Operand> inits(reduction.operands.begin() + IndexCount(reduction),
                               reduction.operands.end());
    for (size_t k = 0; !HasInits(reduction) && k < reduction.results.size(); ++k)
      inits.emplace_back(*IdentityOf(reduction, k));
    return inits;
  }

  // On a GPU a thread that makes several reductions of an element in one loop reads memory once;
  // those of other lengths are loops one behind the other.
  static bool ShareReductions(const Binding& a, const Binding& b) {
    const auto& inner = a.blocks[0]->bindings;
    const auto& other = b.blocks[0]->bindings;
    return std::any_of(inner.begin(), inner.end(), [&](const Binding* x) {
      return x->op == OpCode::kIreduce &&
             std::any_of(other.begin(), other.end(),
                         [&](const Binding* y) { return SameExtents(*x, *y); });
    });
  }

  std::string WhyNotOneTraversal(const Member& first, const Member& later) const {
    const Binding &a = *first.binding, &b = *later.binding;
    if (context_.options.kernels && Reduces(a) && Reduces(b) && !ShareReductions(a, b)) {
      return "their elements are reductions of other lengths";
    }
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

  // The first place that the mover can move up to, past checks or not; `stop` is what stands before
  // it.
  static size_t ReachOf(const Members& members, size_t mover, bool past_checks, std::string& stop) {
    for (size_t reach = mover; reach > 0; --reach) {
      stop = WhyNotPast(*members[reach - 1], *members[mover], past_checks);
      if (!stop.empty()) return reach;
    }
    return 0;
  }

  static std::string WhyNotPast(const Member& other, const Member& mover, bool past_checks) {
    if (const Var* needed = NeededBy(other, mover))
      return "it needs " + NameOf(needed) + ", made after the first begins";
    const bool is_check = other.binding->op == OpCode::kCheck;
    if (past_checks && is_check && !mover.effects.may_fail && mover.effects.writes.empty())
      return "";
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
    if (other.effects.may_fail && !mover.effects.reads.empty())
      return "a check between them may guard what it reads";
    return "";
  }

  // An index of a nest, and how far it goes.
  using Extents = std::vector<std::pair<const Var*, Operand>>;

  // True where the later one reads nothing that a check may guard: what the first reads too, in
  // every iteration, and elements at its own index, or at those of nests inside, of arrays of the
  // same extents.
  static bool ReadsNoMore(const Members& members, size_t first, size_t later) {
    bool may_read_more = false;
    Extents extents;
    ForEachLoad(*members[later]->binding, extents, true, [&](const Binding* load) {
      may_read_more |= load == nullptr || !(IsInRange(members, first, extents, *load) ||
                                            HasLoad(*members[first]->binding, extents, *load));
    });
    return !may_read_more;
  }

  // Calls `use` with every load of a nest and of those inside, where `extents` has their indexes,
  // and with null for what may read in another way. Loads of branches, if `chosen`.
  template <typename Use>
  static void ForEachLoad(const Binding& nest, Extents& extents, bool chosen, const Use& use) {
    const size_t outer = extents.size();
    const Block& body = *nest.blocks[0];
    for (size_t k = 0; k < IndexCount(nest); ++k)
      extents.emplace_back(body.params[k], nest.operands[k]);
    ForEachLoad(body, extents, chosen, use);
    extents.resize(outer);
  }

  template <typename Use>
  static void ForEachLoad(const Block& block, Extents& extents, bool chosen, const Use& use) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kLoad) {
        use(b);
      } else if (b->op == OpCode::kIf) {
        for (const Block* side : b->blocks) {
          if (chosen) ForEachLoad(*side, extents, chosen, use);
        }
      } else if (b->op == OpCode::kIreduce || b->op == OpCode::kImap) {
        ForEachLoad(*b, extents, chosen, use);
      } else if (!ir::IsScalarOp(b->op)) {
        use(nullptr);
      }
    }
  }

  static bool IsInRange(const Members& members, size_t before, const Extents& extents,
                        const Binding& load) {
    const std::vector<Operand>& dims = load.operands[0].var()->type.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const Operand* extent = ExtentOf(extents, load.operands[1 + axis]);
      if (extent == nullptr || !IsSameSize(members, before, dims[axis], *extent)) return false;
    }
    return true;
  }

  // One value, or two that a check before that member found equal.
  static bool IsSameSize(const Members& members, size_t before, const Operand& a,
                         const Operand& b) {
    if (a == b) return true;
    VarSet checked;
    for (size_t at = before; at-- > 0;) {
      const Binding& made = *members[at]->binding;
      if (made.op == OpCode::kCheck && made.operands[0].IsVar())
        checked.insert(made.operands[0].var());
      if (made.op != OpCode::kEq || !checked.contains(made.result())) continue;
      const std::vector<Operand>& sides = made.operands;
      if ((sides[0] == a && sides[1] == b) || (sides[0] == b && sides[1] == a)) return true;
    }
    return false;
  }

  // How far the index goes that stands at a place; null for another value.
  static const Operand* ExtentOf(const Extents& extents, const Operand& place) {
    const auto found = std::find_if(extents.begin(), extents.end(),
                                    [&](const auto& each) { return place == Operand(each.first); });
    return found == extents.end() ? nullptr : &found->second;
  }

  // Whether the first reads all of what the load does, under indexes that go as far, in nests none
  // of which is empty where the load runs.
  static bool HasLoad(const Binding& first, const Extents& extents, const Binding& load) {
    bool found = false;
    Extents of_first;
    ForEachLoad(first, of_first, false, [&](const Binding* b) {
      found |= b != nullptr && IsSameLoad(*b, of_first, load, extents) &&
               std::all_of(of_first.begin(), of_first.end(), [&](const auto& index) {
                 return std::any_of(extents.begin(), extents.end(), [&](const auto& other) {
                   return other.second == index.second;
                 });
               });
    });
    return found;
  }

  static bool IsSameLoad(const Binding& a, const Extents& of_a, const Binding& b,
                         const Extents& of_b) {
    if (a.operands[0] != b.operands[0]) return false;
    for (size_t axis = 1; axis < a.operands.size(); ++axis) {
      const Operand* x = ExtentOf(of_a, a.operands[axis]);
      const Operand* y = ExtentOf(of_b, b.operands[axis]);
      const bool is_same =
          x != nullptr && y != nullptr ? *x == *y : x == y && a.operands[axis] == b.operands[axis];
      if (!is_same) return false;
    }
    return true;
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
    if (a.op == OpCode::kIreduce && (HasInits(a) || HasInits(b))) {
      merged.operands.resize(IndexCount(a));
      for (const Binding* each : {&a, &b}) {
        for (const Operand& init : InitsOf(*each)) merged.operands.push_back(init);
      }
    }
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

  const Roots roots_;
  const StoringSiblings storing_;
  Context& context_;
};

}  // namespace

ir::Program FuseHorizontally(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return SiblingFuser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
