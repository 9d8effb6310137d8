// Assumes that slices lie inside their arrays, that sizes which may be broadcast together are equal
// and that loops index what they go through in range, and checks it before anything else happens.
// What loops check of sizes is taken to hold too, and what is checked of them behind a store; and
// no entry of a shape that is given to reshape to be -1, unless it is written so.
//
// Before:
//   %a: i64 = sub %n, 1
//   %b: i64 = min %m, %n
//   %s: i64 = broadcast_size %a, %b, site 0 at (1)
// After:
//   %c: i64 = sub %n, 1
//   %d: i64 = min %m, %n
//   %e: bool = eq %c, %d
//   check %e, site 1 at ()
//   ...
//   %s: i64 = broadcast_size %a, %b, site 0 at (1)
// which simplify makes %a; and the same where the frontend has written a broadcast_size out as a
// check that two sizes are equal or one of them 1, and a select of one. Without it each element
// would be found by asking whether its axis is repeated. Of a slice that begins at min(1, %n) the
// same: it begins at 1. Of a check in each iteration of a loop that %i + 1 < %m: its last index is.
// Scalars that indexes in loops are made of are no larger than sizes may be, so that no sum of them
// wraps around, and factors of indexes, `(i * m + j) * n + k`, less, so that no product does; nor
// elements that move an access around an edge, `y[(i + step[k]) % n]` in a nest of
// loops. An inner loop has a first iteration where it matters to what is behind it.
//
// Assumes: where that check fails, whose site is new and has the exception kOtherShapes, the caller
// runs the program made without this pass (Options::assume_shapes).
// Refuses: sizes that depend on more than the entry's sizes and scalars; those that are not equal
// wherever slices lie inside their arrays; indexes in a branch whose condition is made of them, or
// of nothing that differs from iteration to iteration: it may be there to guard them.
// Where a size is 1 in such arrays, it is taken to be 1.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/index_scalars.h"
#include "passes/analyses/linear_forms.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kLargestExpression = 64;                  // operations of one size
constexpr int kFewestLoops = 2;                         // around what is worth a look at an array
constexpr int64_t kMoreThanAnySize = int64_t{1} << 48;  // As ranges.h has it.

class ShapeAssumer {
 public:
  ShapeAssumer(ir::Arena* arena, const ir::Function& function, int64_t site, Context& context)
      : builder_(arena), function_(function), site_(site), context_(context) {
    for (const Var* size : function.Sizes()) given_.insert(size);
    for (const ir::Param& param : function.params) {
      if (param.var->type == ir::Type(ir::DType::kI64)) given_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Var* result : b.results) definitions_[result] = &b;
      if (b.op == OpCode::kFor) loops_[b.blocks[0]->params[0]] = &b;
    });
  }

  const ir::Function* Run(ir::Arena* arena) {
    // What is given is made equal before expressions of it are, and sizes are simpler once slices
    // lie inside: simplify reads what is said first into what follows.
    ForEachPair([&](const Binding& b, const Pair& pair) { AssumeGivenEqual(b, pair); });
    ir::ForEachBinding(*function_.body, [&](const Binding& b) {
      if (b.op == OpCode::kSlice) AssumeInside(b);
      if (IsLoop(b.op)) AssumeKeepsSizes(b);
      if (IsShapeEntry(b)) AssumeNotNegative(b);
    });
    ForEachPair([&](const Binding& b, const Pair& pair) { AssumeEqual(b, pair); });
    AssumeInLoops(*function_.body, false);
    AssumeBehindStores(*function_.body);
    scalars_.FindIn(*function_.body);
    AssumeElementsNear(*function_.body, 0, nullptr);
    // What bounds scalars stands in front of the sums that they are in.
    std::vector<const Binding*> first = AssumeNear(arena);
    first.insert(first.end(), builder_.bindings().begin(), builder_.bindings().end());
    if (first.empty()) return &function_;
    ir::Block body = *function_.body;
    body.bindings.insert(body.bindings.begin(), first.begin(), first.end());
    ir::Function copy = function_;
    copy.body = arena->New(std::move(body));
    return arena->New(std::move(copy));
  }

 private:
  // Two sizes that are broadcast together.
  using Pair = std::pair<Operand, Operand>;

  // The starts and sizes of a slice are what they would be in an array that is long enough.
  void AssumeInside(const Binding& slice) {
    std::vector<Operand> parts(slice.operands.begin() + 1, slice.operands.end());
    while (!parts.empty()) {
      const Operand part = parts.back();
      parts.pop_back();
      const auto found = part.IsVar() ? definitions_.find(part.var()) : definitions_.end();
      if (found == definitions_.end() || !clamps_seen_.insert(part.var()).second) continue;
      const Binding& b = *found->second;
      if (!IsIndexExpression(b)) continue;
      parts.insert(parts.end(), b.operands.begin(), b.operands.end());
      const bool is_min = b.op == OpCode::kMin;
      if (is_min || (b.op == OpCode::kMax && (b.operands[0].IsInt(0) || b.operands[1].IsInt(0)))) {
        Assume(slice, b.operands[!is_min && b.operands[0].IsInt(0)], b.result());
      }
    }
  }

  void AssumeGivenEqual(const Binding& b, const Pair& pair) {
    const std::optional<LinearForm> gap = LikelyGap(pair);
    if (!gap || gap->constant != 0 || gap->terms.size() != 2) return;
    const auto& [n, times] = gap->terms[0];
    const auto& [m, times_m] = gap->terms[1];
    if (given_.contains(n) && given_.contains(m) && times == -times_m && times * times == 1) {
      Assume(b, n, m);
    }
  }

  // An entry of a shape may be -1, which stands for what is left; then it is mostly written so.
  void AssumeNotNegative(const Binding& entry) {
    cost_ = 0;
    const std::optional<Operand> size = AtEntry(entry.operands[2]);
    if (!size) return;
    builder_.set_span(entry.span);
    const Operand holds = builder_.Scalar(OpCode::kLe, {Operand::Int(0), *size});
    if (holds.IsConstant()) return;
    builder_.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    context_.Note(entry.span, "a size taken not to be negative, which a call checks first",
                  Topic::kShapes, Verdict::kDone);
  }

  // Arrays that a loop carries begin as large as those that take their places: a step gives the
  // next one what it made itself, or another that it carries.
  void AssumeKeepsSizes(const Binding& loop) {
    const std::vector<const Var*>& params = loop.blocks[0]->params;
    const std::vector<Operand>& nexts = loop.blocks.back()->results;
    const auto init_of = [&](const Operand& size) -> const Operand* {
      for (size_t k = 0; k < nexts.size(); ++k) {
        if (size == Operand(params[FirstCarried(loop) + k]))
          return &loop.operands[FirstInit(loop) + k];
      }
      return nullptr;
    };
    for (const Var* param : params) {
      for (const Operand& dim : param->type.dims()) {
        const Operand* const init = init_of(dim);
        if (init == nullptr) continue;
        const Operand& next = nexts[init - &loop.operands[FirstInit(loop)]];
        const Operand* const carried = init_of(next);
        AssumeEqual(loop, {*init, carried == nullptr ? next : *carried});
      }
    }
  }

  // Nothing where the two differ, which raises, or where one is 1.
  void AssumeEqual(const Binding& b, const Pair& pair) {
    const std::optional<LinearForm> gap = LikelyGap(pair);
    if (!gap || (gap->IsConstant() && gap->constant != 0)) return;
    if (!IsLikelyOne(pair.first) && !IsLikelyOne(pair.second)) Assume(b, pair.first, pair.second);
  }

  std::optional<LinearForm> LikelyGap(const Pair& pair) {
    const std::optional<LinearForm> n = Likely(pair.first), m = Likely(pair.second);
    return n && m ? std::optional(Difference(*n, *m)) : std::nullopt;
  }

  void ForEachPair(const std::function<void(const Binding&, const Pair&)>& see) const {
    ir::ForEachBinding(*function_.body, [&](const Binding& b) {
      if (b.op == OpCode::kBroadcastSize) see(b, {b.operands[0], b.operands[1]});
      if (b.op != OpCode::kCheck) return;
      if (const std::optional<Pair> pair = CheckedPair(b.operands[0])) see(b, *pair);
    });
  }

  const Binding* DefinitionOf(const Operand& operand, OpCode op) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found == definitions_.end() || found->second->op != op ? nullptr : found->second;
  }

  // The sizes of a condition that they are equal or one of them is 1.
  std::optional<Pair> CheckedPair(const Operand& condition) const {
    std::optional<Pair> pair;
    bool has_one = false;
    std::vector<Operand> parts = {condition};
    while (!parts.empty()) {
      const Operand part = parts.back();
      parts.pop_back();
      if (const Binding* either = DefinitionOf(part, OpCode::kOr)) {
        parts.insert(parts.end(), either->operands.begin(), either->operands.end());
        continue;
      }
      const Binding* equal = DefinitionOf(part, OpCode::kEq);
      if (equal == nullptr) return std::nullopt;
      const Operand& a = equal->operands[0];
      const Operand& b = equal->operands[1];
      if (a.IsInt(1) || b.IsInt(1)) {
        has_one = true;
      } else {
        if (pair) return std::nullopt;
        pair = {a, b};
      }
    }
    return has_one ? pair : std::nullopt;
  }

  // The sizes of which the binding gives the one that is not 1.
  std::optional<Pair> ChosenPair(const Binding& b) const {
    if (b.op == OpCode::kBroadcastSize) return Pair{b.operands[0], b.operands[1]};
    if (b.op != OpCode::kSelect) return std::nullopt;
    const Binding* is_one = DefinitionOf(b.operands[0], OpCode::kEq);
    const Operand& n = b.operands[2];
    const bool asks =
        is_one != nullptr && ((is_one->operands[0] == n && is_one->operands[1].IsInt(1)) ||
                              (is_one->operands[1] == n && is_one->operands[0].IsInt(1)));
    return asks ? std::optional(Pair{n, b.operands[1]}) : std::nullopt;
  }

  void Assume(const Binding& b, const Operand& n, const Operand& m) {
    cost_ = 0;
    const std::optional<Operand> left = AtEntry(n), right = AtEntry(m);
    if (!left || !right || *left == *right) return;
    builder_.set_span(b.span);
    const Operand equal = builder_.Scalar(OpCode::kEq, {*left, *right});
    if (equal.IsConstant()) return;
    builder_.Emit(OpCode::kCheck, {}, {equal}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    context_.Note(b.span,
                  b.op == OpCode::kSlice
                      ? "taken to lie inside its array, which a call checks first"
                      : "sizes taken to be equal, which a call checks first",
                  Topic::kShapes, Verdict::kDone);
  }

  // The size where every slice lies inside its array: min(stop, size) is the stop, max(length, 0)
  // the length. None where it depends on more than what the entry is given.
  std::optional<LinearForm> Likely(const Operand& operand) {
    if (operand.IsConstant()) return LinearForm::Of(operand.constant().integer);
    if (given_.contains(operand.var()) || loops_.contains(operand.var()))
      return LinearForm::Of(operand.var());
    const auto known = likely_.find(operand.var());
    if (known != likely_.end()) return known->second;
    const auto found = definitions_.find(operand.var());
    std::optional<LinearForm> form;
    if (found != definitions_.end()) form = LikelyResult(*found->second);
    likely_.emplace(operand.var(), form);
    return form;
  }

  std::optional<LinearForm> LikelyResult(const Binding& b) {
    if (const auto pair = ChosenPair(b)) {
      return Likely(IsLikelyOne(pair->first) ? pair->second : pair->first);
    }
    if (b.op == OpCode::kSelect && IsFromTheEnd(b)) return Likely(b.operands[2]);
    if (!IsIndexExpression(b)) return std::nullopt;
    std::vector<LinearForm> parts;
    for (const Operand& operand : b.operands) {
      std::optional<LinearForm> part = Likely(operand);
      if (!part) return std::nullopt;
      parts.push_back(*std::move(part));
    }
    switch (b.op) {
      case OpCode::kMin: return parts[0];
      case OpCode::kMax: return parts[b.operands[0].IsInt(0)];
      case OpCode::kAdd: parts[0].Add(parts[1], 1); return parts[0];
      case OpCode::kSub: parts[0].Add(parts[1], -1); return parts[0];
      case OpCode::kMul:
        for (const int side : {0, 1}) {
          if (!parts[side].IsConstant()) continue;
          LinearForm product;
          product.Add(parts[1 - side], parts[side].constant);
          return product;
        }
        [[fallthrough]];
      default: return LinearForm::Of(b.result());
    }
  }

  // --- What every iteration of a loop checks. ---

  // In a branch that some iterations take, of indexes that its condition does not ask about.
  void AssumeInLoops(const ir::Block& block, bool repeats) {
    for (const Binding* b : block.bindings) {
      if (IsLoop(b->op) && repeats && guards_.empty()) AssumeRuns(*b);
      if (b->op == OpCode::kFor) AssumeInLoops(*b->blocks[0], true);
      if (b->op == OpCode::kWhile) {
        for (const ir::Block* part : b->blocks) AssumeInLoops(*part, true);
      }
      if (b->op == OpCode::kIf && repeats && !IsKnownAtEntry(b->operands[0])) {
        guards_.push_back(b->operands[0]);
        for (const ir::Block* branch : b->blocks) AssumeInLoops(*branch, true);
        guards_.pop_back();
      }
      if (b->op == OpCode::kSlice && repeats) AssumeInsideInLoops(*b);
      if (b->op != OpCode::kCheck || !repeats) continue;
      AssumeInRange(*b, b->operands[0]);
      if (guards_.empty()) AssumeChecked(*b);
    }
  }

  // A loop inside another that carries what it never reads has a first iteration: what it leaves
  // behind, as its counter, is then its own.
  void AssumeRuns(const Binding& loop) {
    ir::VarSet read;
    for (const ir::Block* block : loop.blocks)
      ir::ForEachUse(*block, [&](const Var* var) { read.insert(var); });
    const std::vector<const Var*>& params = loop.blocks.back()->params;
    if (std::all_of(params.begin() + FirstCarried(loop), params.end(),
                    [&](const Var* param) { return read.contains(param); }))
      return;
    cost_ = 0;
    builder_.set_span(loop.span);
    std::optional<Operand> runs;
    if (loop.op == OpCode::kFor) {
      const std::optional<Operand> lo = AtEntry(loop.operands[0]), hi = AtEntry(loop.operands[1]);
      const bool up = loop.operands[2].constant().integer > 0;
      if (lo && hi) runs = builder_.Scalar(up ? OpCode::kLt : OpCode::kGt, {*lo, *hi});
    } else {
      runs = AtFirst(loop.blocks[0]->results[0], loop);
    }
    if (!runs || runs->IsConstant()) return;
    builder_.Emit(OpCode::kCheck, {}, {*runs}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    context_.Note(loop.span, "a loop taken to run, which a call checks first", Topic::kShapes,
                  Verdict::kDone);
  }

  // A part of a `while` loop's condition the first time that it is asked, at entry.
  std::optional<Operand> AtFirst(const Operand& part, const Binding& loop) {
    const std::vector<const Var*>& params = loop.blocks[0]->params;
    for (size_t k = 0; k < params.size(); ++k) {
      if (part == Operand(params[k])) return AtEntry(loop.operands[k]);
    }
    const auto found = part.IsVar() ? definitions_.find(part.var()) : definitions_.end();
    if (found == definitions_.end() || !IsIndexExpression(*found->second)) return AtEntry(part);
    std::vector<Operand> operands;
    for (const Operand& operand : found->second->operands) {
      const std::optional<Operand> known = AtFirst(operand, loop);
      if (!known || ++cost_ > kLargestExpression) return std::nullopt;
      operands.push_back(*known);
    }
    return builder_.Scalar(found->second->op, std::move(operands));
  }

  // True where a branch around asks about a loop that the index goes by. Where the index is the
  // loop's own, whether it equals something says nothing of where the array ends.
  bool IsGuarded(const LinearForm& index) const {
    const bool is_own =
        index.terms.size() == 1 && index.terms[0].second == 1 && index.constant == 0;
    const auto asks_about = [&](const Operand& guard, const Var* part) {
      ir::VarSet seen;
      return IsMadeOf(guard, part, !is_own, &seen);
    };
    return std::any_of(guards_.begin(), guards_.end(), [&](const Operand& guard) {
      return std::any_of(index.terms.begin(), index.terms.end(), [&](const auto& term) {
        const ir::VarSet loops = scalars_.LoopsIn(term.first);
        return asks_about(guard, term.first) ||
               std::any_of(loops.begin(), loops.end(),
                           [&](const Var* loop) { return asks_about(guard, loop); });
      });
    });
  }

  // True where the value is computed from the other; what is loaded is data.
  bool IsMadeOf(const Operand& value, const Var* part, bool by_equality, ir::VarSet* seen) const {
    if (!value.IsVar() || !seen->insert(value.var()).second) return false;
    if (value.var() == part) return true;
    const auto found = definitions_.find(value.var());
    if (found == definitions_.end() || found->second->op == OpCode::kLoad) return false;
    const Binding& b = *found->second;
    if (!by_equality && (b.op == OpCode::kEq || b.op == OpCode::kNe)) return false;
    const auto is_made_of = [&](const Operand& operand) {
      return IsMadeOf(operand, part, by_equality, seen);
    };
    if (std::any_of(b.operands.begin(), b.operands.end(), is_made_of)) return true;
    return std::any_of(b.blocks.begin(), b.blocks.end(), [&](const ir::Block* block) {
      return std::any_of(block->results.begin(), block->results.end(), is_made_of);
    });
  }

  // What is stored shows where a check behind it raises: only in front of all are the two nests
  // around the check next to each other.
  void AssumeBehindStores(const ir::Block& block) {
    bool has_stored = false;
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kCheck && has_stored) AssumeChecked(*b);
      has_stored |= Stores(*b);
    }
  }

  static bool Stores(const Binding& b) {
    bool stores = !ir::StoredOperands(b).empty();
    for (const ir::Block* block : b.blocks) {
      ir::ForEachBinding(
          *block, [&](const Binding& inner) { stores |= !ir::StoredOperands(inner).empty(); });
    }
    return stores;
  }

  // Of a check that two sizes are equal.
  void AssumeChecked(const Binding& check) {
    const Binding* negated = DefinitionOf(check.operands[0], OpCode::kNot);
    const Binding* equal = negated != nullptr ? DefinitionOf(negated->operands[0], OpCode::kNe)
                                              : DefinitionOf(check.operands[0], OpCode::kEq);
    if (equal != nullptr && ir::DTypeOf(equal->operands[0]) == ir::DType::kI64)
      AssumeEqual(check, {equal->operands[0], equal->operands[1]});
  }

  // Of index < size, alone or beside 0 <= index.
  void AssumeInRange(const Binding& check, const Operand& condition) {
    if (const Binding* both = DefinitionOf(condition, OpCode::kAnd)) {
      for (const Operand& part : both->operands) AssumeInRange(check, part);
      return;
    }
    const Binding* below = DefinitionOf(condition, OpCode::kLt);
    if (below == nullptr || ir::DTypeOf(below->operands[0]) != ir::DType::kI64) return;
    AssumeClipped(check, below->operands[0]);
    const std::optional<LinearForm> index = Likely(below->operands[0]);
    const bool is_plain =
        index && (index->IsConstant() || GoesOneWay(*index) || IsNeverNegative(*index));
    if (!is_plain) return;
    if (IsGuarded(*index)) return AssumeGuarded(check, *index, below->operands[1]);
    cost_ = 0;
    const std::optional<Operand> size = AtEntry(below->operands[1]);
    const std::optional<Operand> least = ExtremeOf(*index, false), most = ExtremeOf(*index, true);
    if (!size || !least || !most) return;
    builder_.set_span(check.span);
    const Operand begins = builder_.Scalar(OpCode::kLe, {Operand::Int(0), *least});
    const Operand ends = builder_.Scalar(OpCode::kLt, {*most, *size});
    if (begins.IsInt(0) || ends.IsInt(0)) return;  // It counts from the end, or raises.
    for (const Operand& holds : {begins, ends}) {
      if (!holds.IsConstant())
        builder_.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    }
    context_.Note(check.span, "an index taken to be in range, which a call checks first");
  }

  // Of min(x, size - 1), however x is found: the last place is one.
  void AssumeClipped(const Binding& check, const Operand& index) {
    const auto found = index.IsVar() ? definitions_.find(index.var()) : definitions_.end();
    if (found == definitions_.end() || !IsIndexExpression(*found->second)) return;
    const Binding& b = *found->second;
    if (b.op == OpCode::kSelect && IsFromTheEnd(b)) return AssumeClipped(check, b.operands[2]);
    if (b.op != OpCode::kMin && b.op != OpCode::kMax && b.op != OpCode::kAdd) return;
    for (const Operand& part : b.operands) {
      AssumeClipped(check, part);
      if (b.op == OpCode::kMin) AssumeIsPlace(check, part);
    }
  }

  // Of a size less a number that it is not negative.
  void AssumeIsPlace(const Binding& check, const Operand& last) {
    const std::optional<LinearForm> form = Likely(last);
    if (!form || form->constant >= 0 || !IsLikelyNatural(*form)) return;
    if (form->terms.size() != 1 || form->terms[0].second != 1) return;
    if (!seen_.insert(last.var()).second) return;
    builder_.set_span(check.span);
    const Operand holds = builder_.Scalar(OpCode::kLe, {Operand::Int(0), WriteScalar(*form)});
    builder_.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    context_.Note(check.span, "an array taken not to be empty, which a call checks first");
  }

  // --- Elements that turn what nests of loops store or read around an edge. ---

  // Of store y[(i + step[k]) % n]: no element of `step` is larger than sizes may be. For what is
  // read there, elements are looked at that the innermost loop, over `fastest`, does not go
  // through: they are few.
  void AssumeElementsNear(const ir::Block& block, int loops, const Var* fastest) {
    for (const Binding* b : block.bindings) {
      const Var* own = b->op == OpCode::kFor ? b->blocks[0]->params[0] : fastest;
      for (const ir::Block* inner : b->blocks)
        AssumeElementsNear(*inner, loops + (IsLoop(b->op) ? 1 : 0), own);
      const bool is_store = b->op == OpCode::kStore;
      if ((!is_store && b->op != OpCode::kLoad) || loops < kFewestLoops) continue;
      for (int axis = 1; axis <= b->operands[0].var()->type.rank(); ++axis) {
        Operand index = b->operands[axis];
        const Binding* select = DefinitionOf(index, OpCode::kSelect);
        if (select != nullptr && IsFromTheEnd(*select)) index = select->operands[2];
        if (const Binding* turned = DefinitionOf(index, OpCode::kMod))
          AssumeTermsNear(*b, turned->operands[0], is_store ? nullptr : fastest);
      }
    }
  }

  void AssumeTermsNear(const Binding& access, const Operand& sum, const Var* fastest) {
    for (const OpCode op : {OpCode::kAdd, OpCode::kSub}) {
      const Binding* of_two = DefinitionOf(sum, op);
      if (of_two == nullptr) continue;
      for (const Operand& term : of_two->operands) AssumeTermsNear(access, term, fastest);
    }
    const Binding* load = DefinitionOf(sum, OpCode::kLoad);
    if (load == nullptr || !(load->result()->type == ir::Type(ir::DType::kI64))) return;
    const auto is_fast = [&](const Operand& at) {
      return at.IsVar() && scalars_.LoopsIn(at.var()).contains(fastest);
    };
    if (std::any_of(load->operands.begin() + 1, load->operands.end(), is_fast)) return;
    const Var* array = load->operands[0].var();
    if (!KeepsItsElements(array) || !seen_.insert(array).second) return;
    builder_.set_span(access.span);
    for (const auto& [extreme, limit] :
         {std::pair(OpCode::kMin, -kMoreThanAnySize), std::pair(OpCode::kMax, kMoreThanAnySize)}) {
      const Operand most = ExtremeOfElements(array, extreme);
      const Operand holds = builder_.Scalar(extreme == OpCode::kMin ? OpCode::kLe : OpCode::kGe,
                                            {Operand::Int(limit), most});
      builder_.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    }
    context_.Note(access.span,
                  "what moves an index around an edge taken to be no larger than sizes, "
                  "which a call checks first");
  }

  // True for an argument that nothing is stored to.
  bool KeepsItsElements(const Var* array) {
    const bool is_given = std::any_of(function_.params.begin(), function_.params.end(),
                                      [&](const ir::Param& param) { return param.var == array; });
    if (!is_given || function_.may_overlap) return false;
    const Roots roots(function_);
    return !Intersects(roots.Of(array), EffectsOf(*function_.body, roots).writes);
  }

  // The least or the largest element, or 0.
  Operand ExtremeOfElements(const Var* array, OpCode extreme) {
    ir::Builder element = builder_.Nested();
    std::vector<const Var*> indexes;
    for (int axis = 0; axis < array->type.rank(); ++axis)
      indexes.push_back(element.NewVar(ir::DType::kI64));
    const Operand value = element.Load(array, {indexes.begin(), indexes.end()});
    std::vector<Operand> operands = array->type.dims();
    operands.push_back(Operand::Int(0));
    const Var* most = builder_.NewVar(ir::DType::kI64);
    builder_.Emit(OpCode::kIreduce, {most}, std::move(operands), {},
                  {element.Finish(std::move(indexes), {value}),
                   ir::CombineBlock(builder_.arena(), extreme, ir::DType::kI64)});
    return most;
  }

  bool IsKnownAtEntry(const Operand& operand) {
    cost_ = 0;
    return AtEntry(operand).has_value();
  }

  // --- Scalars that indexes in loops are made of. ---

  std::vector<const Binding*> AssumeNear(ir::Arena* arena) const {
    ir::Builder builder(arena);
    builder.set_span(function_.span);
    const auto assume = [&](const Operand& a, const Operand& b) {
      const Operand holds = builder.Scalar(OpCode::kLe, {a, b});
      builder.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    };
    for (const ir::Param& param : function_.params) {
      const std::optional<int64_t> of_factor = scalars_.MostOfFactor(param.var);
      const bool is_part = of_factor || scalars_.Contains(param.var);
      if (!is_part || !(param.var->type == ir::Type(ir::DType::kI64))) continue;
      const int64_t most = of_factor.value_or(kMoreThanAnySize);
      assume(Operand::Int(-most), param.var);
      assume(param.var, Operand::Int(most));
    }
    for (const Var* size : function_.Sizes()) {
      if (const std::optional<int64_t> most = scalars_.MostOfFactor(size))
        assume(size, Operand::Int(*most));
    }
    return builder.bindings();
  }

  // True for an index of one loop, or a sum of several: differences may well count from the end.
  bool GoesOneWay(const LinearForm& form) const {
    const auto is_loop = [&](const auto& term) { return !scalars_.LoopsIn(term.first).empty(); };
    const auto loops = std::count_if(form.terms.begin(), form.terms.end(), is_loop);
    const bool falls = std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
      return is_loop(term) && term.second < 0;
    });
    return loops == 1 || (loops > 1 && !falls);
  }

  // Of `if i >= w: x[i - w]` that w is not negative: the branch cares for one end, and the other is
  // in range where no scalar is less than 0.
  void AssumeGuarded(const Binding& check, const LinearForm& index, const Operand& size) {
    const std::optional<LinearForm> end = Likely(size);
    if (!end) return;
    const std::optional<LinearForm> left = LeastOf(Difference(*end, index));
    if (!left || left->IsConstant() || left->constant < 1) return;
    if (std::any_of(left->terms.begin(), left->terms.end(),
                    [](const auto& term) { return term.second < 0; }))
      return;
    builder_.set_span(check.span);
    builder_.Emit(OpCode::kCheck, {},
                  {builder_.Scalar(OpCode::kLt, {Operand::Int(0), WriteScalar(*left)})},
                  {{Attr::kSite, site_}, {Attr::kAt, 0}});
    context_.Note(check.span, "an index taken to be in range, which a call checks first");
  }

  // Of x[:n - i] that n - i is no index from the end, and not behind it.
  void AssumeInsideInLoops(const Binding& slice) {
    std::vector<LinearForm> least;
    std::vector<Operand> parts(slice.operands.begin() + 1, slice.operands.end());
    while (!parts.empty()) {
      const Operand part = parts.back();
      parts.pop_back();
      const auto found = part.IsVar() ? definitions_.find(part.var()) : definitions_.end();
      if (found == definitions_.end() || !IsIndexExpression(*found->second)) continue;
      const Binding& b = *found->second;
      parts.insert(parts.end(), b.operands.begin(), b.operands.end());
      std::optional<LinearForm> gap;
      if (b.op == OpCode::kSelect && IsFromTheEnd(b)) gap = Likely(b.operands[2]);
      if (b.op == OpCode::kMin) gap = LikelyGap({b.operands[1], b.operands[0]});
      const Binding* turned = DefinitionOf(b.operands[0], OpCode::kSelect);
      const bool is_own = b.op == OpCode::kMax && (turned == nullptr || !IsFromTheEnd(*turned));
      if (is_own) return;  // The program cares for that end itself.
      if (!gap) continue;
      if (IsGuarded(*gap)) return;
      const std::optional<LinearForm> value = LeastOf(*gap);
      if (!value || !IsLikelyNatural(*value)) return;
      least.push_back(*value);
    }
    builder_.set_span(slice.span);
    for (const LinearForm& value : least) {
      const Operand holds = builder_.Scalar(OpCode::kLe, {Operand::Int(0), WriteScalar(value)});
      if (!holds.IsConstant())
        builder_.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    }
    if (!least.empty())
      context_.Note(slice.span, "taken to lie inside its array, which a call checks first",
                    Topic::kShapes, Verdict::kDone);
  }

  // A size less something, as against something less than nothing.
  bool IsLikelyNatural(const LinearForm& form) const {
    if (form.IsConstant()) return form.constant >= 0;
    const std::vector<const Var*> sizes = function_.Sizes();
    return std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
      return term.second > 0 && std::find(sizes.begin(), sizes.end(), term.first) != sizes.end();
    });
  }

  Operand WriteScalar(const LinearForm& form) {
    for (const auto& term : form.terms) scalars_.Add(term.first);
    return Written(builder_, form);
  }

  // The least value of a form of loops' indexes, in what is given.
  std::optional<LinearForm> LeastOf(const LinearForm& form) {
    LinearForm least = LinearForm::Of(form.constant);
    for (const auto& [var, times] : form.terms) {
      const auto loop = loops_.find(var);
      std::optional<LinearForm> part = LinearForm::Of(var);
      if (loop != loops_.end()) {
        const Binding& own = *loop->second;
        const bool up = own.operands[2].constant().integer > 0, is_end = up == (times < 0);
        part = Likely(own.operands[is_end ? 1 : 0]);
        if (part && is_end) part->constant += up ? -1 : 1;
      }
      if (!part) return std::nullopt;
      least.Add(*part, times);
    }
    const bool is_given = std::all_of(least.terms.begin(), least.terms.end(),
                                      [&](const auto& t) { return given_.contains(t.first); });
    return is_given ? std::optional(least) : std::nullopt;
  }

  // True where the least value is a number that is not negative, whatever the sizes are.
  bool IsNeverNegative(const LinearForm& form) {
    const std::optional<LinearForm> least = LeastOf(form);
    return least && least->IsConstant() && least->constant >= 0;
  }

  // The largest or smallest value of a form, at entry; none where it is not known there.
  std::optional<Operand> ExtremeOf(const LinearForm& form, bool largest) {
    Operand value = Operand::Int(form.constant);
    for (const auto& [var, times] : form.terms) {
      const bool is_largest = largest == (times > 0);
      const auto loop = loops_.find(var);
      const std::optional<Operand> extreme = loop != loops_.end() ? EndOf(*loop->second, is_largest)
                                             : scalars_.LoopsIn(var).empty()
                                                 ? AtEntry(Operand(var))
                                                 : ExtremeOfProduct(var, is_largest);
      if (!extreme) return std::nullopt;
      value = builder_.Add(value, builder_.Mul(*extreme, Operand::Int(times)));
    }
    return value;
  }

  // Of what loops go through times what is known at entry, which is taken not to be negative.
  std::optional<Operand> ExtremeOfProduct(const Var* product, bool largest) {
    const Binding* of_two = DefinitionOf(product, OpCode::kMul);
    for (const int side : {0, 1}) {
      if (of_two == nullptr) break;
      const Operand& other = of_two->operands[1 - side];
      if (other.IsVar() && !scalars_.LoopsIn(other.var()).empty()) continue;
      const std::optional<LinearForm> moves = Likely(of_two->operands[side]);
      const std::optional<Operand> factor = AtEntry(other);
      std::optional<Operand> extreme;
      if (moves && factor) extreme = ExtremeOf(*moves, largest);
      if (extreme) return builder_.Mul(*extreme, *factor);
    }
    return std::nullopt;
  }

  // What the index of a loop is not above, or not below.
  std::optional<Operand> EndOf(const Binding& loop, bool largest) {
    const bool up = loop.operands[2].constant().integer > 0;
    const std::optional<Operand> end = AtEntry(loop.operands[up == largest]);
    if (!end || up != largest) return end;
    return builder_.Add(*end, Operand::Int(up ? -1 : 1));
  }

  bool IsLikelyOne(const Operand& operand) {
    const std::optional<LinearForm> form = Likely(operand);
    return form && form->IsConstant() && form->constant == 1;
  }

  // The value as an expression in front of everything; none where it is not known there.
  std::optional<Operand> AtEntry(const Operand& operand) {
    if (operand.IsConstant() || given_.contains(operand.var())) return operand;
    const auto made = made_.find(operand.var());
    if (made != made_.end()) return made->second;
    const auto found = definitions_.find(operand.var());
    if (found == definitions_.end() || ++cost_ > kLargestExpression) return std::nullopt;
    const Binding& b = *found->second;
    std::optional<Operand> value;
    if (const auto pair = ChosenPair(b)) {
      value = AtEntry(IsLikelyOne(pair->first) ? pair->second : pair->first);
    } else if (IsShapeEntry(b)) {
      value = AtEntry(b.operands[2]);
    } else if (IsIndexExpression(b)) {
      std::vector<Operand> operands;
      for (const Operand& part : b.operands) {
        const std::optional<Operand> known = AtEntry(part);
        if (!known) return std::nullopt;
        operands.push_back(*known);
      }
      value = builder_.Scalar(b.op, std::move(operands));
    }
    if (value) made_.emplace(operand.var(), *value);
    return value;
  }

  // True for an index that counts from the end where it is negative.
  bool IsFromTheEnd(const Binding& select) const {
    const Binding* is_negative = DefinitionOf(select.operands[0], OpCode::kLt);
    return is_negative != nullptr && is_negative->operands[0] == select.operands[2] &&
           is_negative->operands[1].IsInt(0);
  }

  // True for the entry of a shape that is a quotient where it is negative.
  bool IsShapeEntry(const Binding& b) const {
    return b.op == OpCode::kSelect && IsFromTheEnd(b) &&
           DefinitionOf(b.operands[1], OpCode::kFloorDiv) != nullptr;
  }

  ir::Builder builder_;
  const ir::Function& function_;
  int64_t site_;
  Context& context_;
  ir::VarSet given_;
  ir::DefinitionMap definitions_;
  ir::VarSet clamps_seen_;
  ir::DefinitionMap loops_;      // by index
  std::vector<Operand> guards_;  // conditions of the branches around
  std::unordered_map<const Var*, std::optional<LinearForm>> likely_;
  std::unordered_map<const Var*, Operand> made_;  // in front of everything
  IndexScalars scalars_{definitions_, loops_};
  ir::VarSet seen_;  // arrays whose elements are taken to be near, last places taken to be some
  int cost_ = 0;
};

}  // namespace

ir::Program AssumeShapes(const ir::Program& program, Context& context) {
  if (!context.options.assume_shapes) return program;
  const auto site = static_cast<int64_t>(program.sites.size());
  ir::Program assuming = ForEachFunction(program, [&](const ir::Function* function) {
    if (!function->entry) return function;
    return ShapeAssumer(program.arena.get(), *function, site, context).Run(program.arena.get());
  });
  if (assuming.functions == program.functions) return program;
  assuming.sites.push_back({std::string(kOtherShapes), "", {}});
  return assuming;
}

}  // namespace parakeet::passes
