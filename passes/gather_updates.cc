// Takes a loop over pairs apart that updates elements of both sides, as forces that act on one and
// against it on the other: each element's updates are then one iteration's.
//
// Before:
//   for %i in 0 to %n step 1 {
//     %lo = add %i, 1
//     for %j in %lo to %n step 1 {
//       ... %f of %i and %j
//       %a = load %x[%i]  %b = add %a, %f  store %x[%i], %b
//       %c = load %x[%j]  %d = sub %c, %f  store %x[%j], %d } }
// After:
//   for %j in 1 to %n step 1 {
//     %hi = min %n, %j
//     for %i in 0 to %hi step 1 { ... %c = load %x[%j]  %d = sub %c, %f  store %x[%j], %d } }
//   for %i in 0 to %n step 1 {
//     %lo = add %i, 1
//     for %j in %lo to %n step 1 { ... %a = load %x[%i]  %b = add %a, %f  store %x[%i], %b } }
//
// What pairs need for both is made twice, and iterations of both loops touch elements of their own:
// threads share them. An element has its updates in the order that it had: those as `%j` come from
// smaller `%i`, all of them before those as `%i`, and each kind in the order of the other index. So
// bits stay.
//
// Assumes: index form, of a GPU, whose threads would meet at the elements.
// Refuses: pairs whose second index may be the first one or less; elements at other places; what
// reads an updated array otherwise; pairs that may raise an error, of which the first one counts.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool IsPlainLoop(const Binding& b) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind).empty() && b.operands[2].IsInt(1);
}

bool IsAccess(const Binding& b) { return b.op == OpCode::kLoad || b.op == OpCode::kStore; }

// Of a `for`: where what it carries begins among its parameters and operands.
constexpr size_t kFirstCarried = 1;
constexpr size_t kFirstInit = 3;

const Var* IndexOf(const Binding& loop) { return loop.blocks[0]->params[0]; }

// A loop over pairs of indexes, and which arrays it updates at which of them.
class Pairs {
 public:
  enum class Side { kFirst, kSecond, kNeither };

  Pairs(const Binding& outer, const Binding& inner, const Roots& roots)
      : outer_(outer), inner_(inner), roots_(roots) {}

  // Why the loop is not to be taken apart; nothing where it is.
  std::string FindUpdates() {
    bool is_alone = true, may_fail = false, calls = false, makes = false;
    ir::ForEachBinding(*outer_.blocks[0], [&](const Binding& b) {
      may_fail |= b.op == OpCode::kCheck;
      calls |= b.op == OpCode::kCall || b.op == OpCode::kLibraryCall || b.op == OpCode::kMark;
      makes |= b.op == OpCode::kAlloc || b.op == OpCode::kAtomic || b.op == OpCode::kWhile;
      if (b.op == OpCode::kStore) is_alone &= Take(b.operands[0].var());
    });
    if (calls || makes) return "it calls functions, makes arrays or runs for nobody knows how long";
    ir::ForEachBinding(*outer_.blocks[0], [&](const Binding& b) {
      for (const Operand& operand : b.operands) {
        if (!operand.IsVar() || !operand.var()->type.IsArray()) continue;
        is_alone &= IsAccess(b) ? TakeAxis(b) : !MayMeet(operand.var());
      }
    });
    if (!is_alone || !UpdatesSecond()) return "its updates are not of elements of its pairs";
    return may_fail ? "it may raise an error" : "";
  }

  // Of an access to an array that is updated.
  std::optional<Side> SideOf(const Binding& access) const {
    const auto found = axes_.find(access.operands[0].var());
    if (found == axes_.end()) return std::nullopt;
    const Operand& index = access.operands[1 + found->second];
    return index == Operand(IndexOf(outer_)) ? Side::kFirst : Side::kSecond;
  }

 private:
  // False where an array that is updated is known by another name too.
  bool Take(const Var* array) {
    if (axes_.contains(array)) return true;
    if (MayMeet(array)) return false;
    axes_[array] = kUnknown;
    return true;
  }

  bool MayMeet(const Var* array) const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [&](const auto& updated) { return roots_.MayShare(array, updated.first); });
  }

  // All accesses to an array are along one axis by an index of the pair.
  bool TakeAxis(const Binding& access) {
    const auto found = axes_.find(access.operands[0].var());
    if (found == axes_.end()) return !MayMeet(access.operands[0].var());
    const int rank = access.operands[0].var()->type.rank();
    const auto is_of_pair = [&](int axis) {
      const Operand& index = access.operands[1 + axis];
      return index == Operand(IndexOf(outer_)) || index == Operand(IndexOf(inner_));
    };
    for (int axis = 0; axis < rank && found->second == kUnknown; ++axis) {
      if (is_of_pair(axis)) found->second = axis;
    }
    return found->second != kUnknown && is_of_pair(found->second);
  }

  // Some element of the second index is read, and stored to.
  bool UpdatesSecond() const {
    bool updates = false;
    ir::ForEachBinding(*inner_.blocks[0], [&](const Binding& b) {
      updates |= b.op == OpCode::kLoad && SideOf(b) == Side::kSecond;
    });
    return updates;
  }

  static constexpr int kUnknown = -1;
  const Binding& outer_;
  const Binding& inner_;
  const Roots& roots_;
  std::unordered_map<const Var*, int> axes_;  // of the arrays that are updated
};

// What of a loop over pairs the updates of one side need, or what it carries alone.
class Slice {
 public:
  Slice(ir::Arena* arena, const Pairs& pairs, Pairs::Side side)
      : arena_(arena), pairs_(pairs), side_(side) {}

  void Need(const Operand& value) {
    if (value.IsVar()) needed_.insert(value.var());
  }
  bool Needs(const Var* value) const { return needed_.contains(value); }
  // True where it reads an array that the other side updates.
  bool ReadsOther() const { return reads_other_; }

  const Block* Of(const Block& block) {
    Block sliced{block.params, {}, block.results};
    for (const Operand& result : block.results) Need(result);
    for (size_t at = block.bindings.size(); at-- > 0;) {
      if (const Binding* kept = Of(*block.bindings[at])) sliced.bindings.push_back(kept);
    }
    std::reverse(sliced.bindings.begin(), sliced.bindings.end());
    return arena_->New(std::move(sliced));
  }

  // Null where nothing of it is needed.
  const Binding* Of(const Binding& b) {
    if (b.op == OpCode::kStore) return IsOther(b) ? nullptr : Kept(b);
    if (b.op == OpCode::kIf || b.op == OpCode::kFor || b.op == OpCode::kForeach) return OfParts(b);
    const bool is_needed = std::any_of(b.results.begin(), b.results.end(),
                                       [&](const Var* result) { return Needs(result); });
    if (!is_needed) return nullptr;
    ir::ForEachBinding(Block{{}, {&b}, {}},
                       [&](const Binding& inner) { reads_other_ |= IsOther(inner); });
    return Kept(b);
  }

 private:
  bool IsOther(const Binding& b) const {
    return IsAccess(b) && pairs_.SideOf(b).value_or(side_) != side_;
  }

  // A branch or loop with those of its results that are needed: behind it, or by what is kept.
  const Binding* OfParts(const Binding& b) {
    const bool carries = b.op == OpCode::kFor;
    std::vector<size_t> slots;
    Binding kept;
    for (bool is_done = false; !is_done;) {
      is_done = true;
      slots.clear();
      for (size_t k = 0; k < b.results.size(); ++k) {
        const bool is_read = carries && Needs(b.blocks[0]->params[kFirstCarried + k]);
        if (is_read || Needs(b.results[k])) slots.push_back(k);
      }
      kept = WithSlots(b, slots);
      for (const Block*& block : kept.blocks) block = Of(*block);
      for (size_t k = 0; carries && k < b.results.size(); ++k) {
        const bool is_slot = std::find(slots.begin(), slots.end(), k) != slots.end();
        is_done &= is_slot || !Needs(b.blocks[0]->params[kFirstCarried + k]);
      }
    }
    const bool is_empty = std::all_of(kept.blocks.begin(), kept.blocks.end(),
                                      [](const Block* block) { return block->bindings.empty(); });
    if (slots.empty() && is_empty) return nullptr;
    for (const Operand& operand : kept.operands) Need(operand);
    return arena_->New(std::move(kept));
  }

  Binding WithSlots(const Binding& b, const std::vector<size_t>& slots) {
    Binding with = b;
    with.results.clear();
    const bool carries = b.op == OpCode::kFor;
    if (carries) with.operands.resize(kFirstInit);
    for (const Block*& block : with.blocks) {
      Block inner = *block;
      inner.results.clear();
      if (carries) inner.params.resize(kFirstCarried);
      for (const size_t k : slots) {
        inner.results.push_back(block->results[k]);
        if (carries) inner.params.push_back(block->params[kFirstCarried + k]);
      }
      block = arena_->New(std::move(inner));
    }
    for (const size_t k : slots) {
      with.results.push_back(b.results[k]);
      if (carries) with.operands.push_back(b.operands[kFirstInit + k]);
    }
    return with;
  }

  const Binding* Kept(const Binding& b) {
    ir::ForEachUse(b, [&](const Var* value) { needed_.insert(value); });
    return &b;
  }

  ir::Arena* arena_;
  const Pairs& pairs_;
  Pairs::Side side_;
  ir::VarSet needed_;
  bool reads_other_ = false;
};

class UpdateGatherer : public LoopWriter {
 public:
  UpdateGatherer(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), context_(context), roots_(function), forms_(function) {}

 protected:
  void Visit(const Binding* b) override {
    const Binding* inner = IsPlainLoop(*b) ? InnerOf(*b) : nullptr;
    if (inner == nullptr || !TakeApart(*b, *inner)) Mutator::Visit(b);
  }

 private:
  // The one loop in it, from the index behind the outer one on.
  const Binding* InnerOf(const Binding& outer) const {
    const Binding* inner = nullptr;
    if (!outer.operands[0].IsConstant() || outer.operands[0].constant().integer < 0) return nullptr;
    const Block& body = *outer.blocks[0];
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kFor) continue;
      if (inner != nullptr || !IsPlainLoop(*b)) return nullptr;
      inner = b;
    }
    if (inner == nullptr) return nullptr;
    const LinearForm distance =
        Difference(forms_.Of(inner->operands[0]), forms_.Of(IndexOf(outer)));
    const Operand& end = inner->operands[1];
    const bool is_known = end.IsConstant() || !ir::DefinedVars(body).contains(end.var());
    return is_known && SameForm(distance, LinearForm::Of(1)) ? inner : nullptr;
  }

  bool TakeApart(const Binding& outer, const Binding& inner) {
    Pairs pairs(outer, inner, roots_);
    std::string reason = pairs.FindUpdates();
    const std::optional<Parts> parts = reason.empty() ? Split(outer, inner, pairs) : std::nullopt;
    if (!parts && reason.empty()) reason = "they need one another";
    if (!parts) {
      context_.Note(outer.span, "updates of pairs are not taken apart: " + reason, Topic::kThreads);
      return false;
    }
    context_.Note(outer.span, "updates of both elements of a pair are two loops' over them",
                  Topic::kThreads, Verdict::kDone);
    WriteSecond(outer, inner, *parts->second);
    // What is carried has the values' names, unless one loop has both.
    if (parts->first != nullptr && parts->carried != nullptr) {
      for (const Binding* b : ir::CloneBlock(arena(), Block{{}, {parts->first}, {}})->bindings)
        Mutator::Visit(b);
    } else if (parts->first != nullptr) {
      Mutator::Visit(parts->first);
    }
    if (parts->carried != nullptr) Mutator::Visit(parts->carried);
    return true;
  }

  struct Parts {
    const Block* second;     // for a pair
    const Binding* first;    // loops; null where there is none
    const Binding* carried;  // the same
  };

  std::optional<Parts> Split(const Binding& outer, const Binding& inner, const Pairs& pairs) const {
    using enum Pairs::Side;
    Slice second(arena(), pairs, kSecond), carried(arena(), pairs, kNeither);
    Parts parts = {second.Of(Pair(outer, inner)), nullptr, nullptr};
    if (second.ReadsOther() || NeedsCarried(second, outer, inner)) return std::nullopt;
    Slice first(arena(), pairs, kFirst);
    parts.first = first.Of(outer);
    for (const Var* result : outer.results) carried.Need(result);
    parts.carried = carried.Of(outer);
    const bool has_carried = parts.first != nullptr && !parts.first->results.empty();
    if (carried.ReadsOther() || has_carried) {
      for (const Var* result : outer.results) first.Need(result);
      parts = {parts.second, first.Of(outer), nullptr};
    }
    return first.ReadsOther() ? std::nullopt : std::optional(parts);
  }

  // What is done for one pair.
  static Block Pair(const Binding& outer, const Binding& inner) {
    Block pair;
    for (const Binding* b : outer.blocks[0]->bindings) {
      if (b == &inner) break;
      pair.bindings.push_back(b);
    }
    const Block& body = *inner.blocks[0];
    pair.bindings.insert(pair.bindings.end(), body.bindings.begin(), body.bindings.end());
    return pair;
  }

  static bool NeedsCarried(const Slice& slice, const Binding& outer, const Binding& inner) {
    for (const Binding* loop : {&outer, &inner}) {
      const auto& params = loop->blocks[0]->params;
      for (size_t k = 1; k < params.size(); ++k) {
        if (slice.Needs(params[k])) return true;
      }
    }
    return false;
  }

  void WriteSecond(const Binding& outer, const Binding& inner, const Block& pair) {
    const Operands range = Apply(outer.operands);
    const Operand end = Apply(inner.operands[1]);
    Loop(builder().Add(range[0], Int(1)), end, {}, [&](const Operand& second) {
      Loop(range[0], Min(range[1], second), {}, [&](const Operand& index) {
        const Block& copy =
            *ir::CloneBlock(arena(), pair, {{IndexOf(outer), index}, {IndexOf(inner), second}});
        VisitBody(copy, {});
      });
    });
  }

  Context& context_;
  Roots roots_;
  WrappingForms forms_;
};

}  // namespace

ir::Program GatherUpdates(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return UpdateGatherer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
