// Leaves to a branch what only an index from the end, or a failure, needs.
//
// Before:
//   %neg = lt %i, 0  %end = add %i, %n  %j = select %neg, %end, %i
//   %0 = ge %j, 0  %1 = lt %j, %n  %2 = and %0, %1
//   check %2, site 1 with (%i, %n)
// After:
//   %0 = ge %i, 0  %m = max %n, 0  %1 = lt %i, %m  %2 = and %0, %1
//   %j = if %2 { yield %i } else {
//     %neg = lt %i, 0  %end = add %i, %n  %3 = ge %end, 0  %4 = and %neg, %3
//     check %4, site 1 with (%i, %n)
//     yield %end } {likely = 1}
//
// What is behind then waits for a comparison that the processor has foreseen, not for the sum. In
// the same way `check %not_nan  check %finite` of one number is `if %finite {} else { ... }`: a
// finite number is one. Where it is cast to an integer of 64 bits behind them, as `int(x)` is, the
// integer says so: only what does not fit, or is the least integer, gives the least integer.
//   %k = cast %x  %fits = ne %k, -9223372036854775808  if %fits {} else { check ...  check ... }
//
// The place that a loop keeps of those it goes through, at which it reads what it asks about next,
// is a branch too: the place of the least so far is soon found, and mostly stays.
//   %is_less = lt %x[%i], %x[%place]  %next = if %is_less { yield %i } else { yield %place }
//   => %next = if not %is_less { yield %place } else { yield %i } {likely = 1}
//
// What is read at one place of one array or of another, as the children of a node are, is no branch
// where the place is in range of both: which of them nobody foresees, and both are near.
//   %v = if %c { check ... %a = load %x[%j]  yield %a } else {
//     check ... %b = load %y[%j]  yield %b }
//   => %v = if %2 { %a = load %x[%i]  %b = load %y[%i]  %d = select %c, %a, %b  yield %d } else {
//     as before } {likely = 1}
//
// Assumes: loops over buffers, behind vectorize_loops: lanes want selections.
// Refuses: an index of another block than its check; two checks with anything but tests between
// them; choices of what is read behind anything but a check, or outside a loop.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// A check of an index that may be counted from the end, which is `position + size` then.
struct IndexCheck {
  const Binding* selection;
  Operand position;
  Operand size;
  bool asks_for_start = false;
  bool asks_for_end = false;
};

// A check that another one implies, and what casts the number behind both, if anything does.
struct Implied {
  const Binding* check;
  const Binding* cast;
};

class CheckBrancher : public ir::Mutator {
 public:
  CheckBrancher(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), definitions_(ir::Definitions(*function.body)) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    for (size_t at = 0; at < block->bindings.size(); ++at) {
      const Binding* b = block->bindings[at];
      if (b->op != OpCode::kCheck) continue;
      if (const auto found = FindIndexCheck(*block, at)) {
        indexes_.emplace(b, *found);
      } else if (const Binding* implied = FindImplied(*block, at)) {
        const Binding* cast = FindCast(*block, at);
        implied_.emplace(b, Implied{implied, cast});
        dropped_.insert(implied);
        if (cast != nullptr) dropped_.insert(cast);
      }
    }
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    if (dropped_.contains(b)) return;
    if (const auto found = indexes_.find(b); found != indexes_.end())
      return BranchIndex(*b, found->second);
    if (const auto found = implied_.find(b); found != implied_.end())
      return BranchImplied(*b, found->second);
    if (b->op == OpCode::kFor) FindKeptPlaces(*b);
    if (kept_.contains(b)) return BranchKept(*b);
    if (const auto indexes = depth_ > 0 ? FindReadOfEither(*b) : std::nullopt)
      return ReadBoth(*b, *indexes);
    const bool loops = b->op == OpCode::kFor || b->op == OpCode::kWhile;
    depth_ += loops;
    Mutator::Visit(b);
    depth_ -= loops;
  }

 private:
  // The binding of a value, if it has the operation.
  const Binding* Made(const Operand& value, OpCode op) const {
    if (!value.IsVar()) return nullptr;
    const auto found = definitions_.find(value.var());
    return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
  }

  // --- Indexes that may be counted from the end. ---

  std::optional<IndexCheck> FindIndexCheck(const Block& block, size_t at) const {
    const Operand& condition = block.bindings[at]->operands[0];
    std::vector<Operand> tests = {condition};
    if (const Binding* both = Made(condition, OpCode::kAnd)) tests = both->operands;
    std::optional<IndexCheck> found;
    for (const Operand& test : tests) {
      const Binding* start = Made(test, OpCode::kGe);
      const Binding* end = Made(test, OpCode::kLt);
      const Binding* comparison = start != nullptr ? start : end;
      if (comparison == nullptr) return std::nullopt;
      if (!found) found = SelectionOf(comparison->operands[0]);
      if (!found || Operand(found->selection->result()) != comparison->operands[0])
        return std::nullopt;
      const Operand& limit = comparison->operands[1];
      if (limit != (start != nullptr ? Operand::Int(0) : found->size)) return std::nullopt;
      (start != nullptr ? found->asks_for_start : found->asks_for_end) = true;
    }
    if (!found) return std::nullopt;
    const auto end = block.bindings.begin() + at;
    return std::find(block.bindings.begin(), end, found->selection) != end ? found : std::nullopt;
  }

  // What `select (lt %position, 0), (add %position, %size), %position` says.
  std::optional<IndexCheck> SelectionOf(const Operand& index) const {
    const Binding* selection = Made(index, OpCode::kSelect);
    if (selection == nullptr) return std::nullopt;
    const Operand& position = selection->operands[2];
    const Binding* is_negative = Made(selection->operands[0], OpCode::kLt);
    const Binding* from_end = Made(selection->operands[1], OpCode::kAdd);
    if (is_negative == nullptr || from_end == nullptr) return std::nullopt;
    if (is_negative->operands != std::vector{position, Operand::Int(0)}) return std::nullopt;
    if (from_end->operands[0] != position) return std::nullopt;
    return IndexCheck{selection, position, from_end->operands[1]};
  }

  // The load, cast perhaps, that is all that a block does behind a check of its only index.
  const Binding* CheckedLoad(const Block& block, std::optional<IndexCheck>& index) const {
    const Binding* load = nullptr;
    const Binding* last = nullptr;
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      const Binding* b = block.bindings[at];
      const bool is_cast = last != nullptr && last == load && b->op == OpCode::kCast &&
                           b->operands[0] == Operand(load->result());
      if (load != nullptr && !is_cast) return nullptr;
      if (b->op == OpCode::kLoad) {
        load = b;
      } else if (b->op == OpCode::kCheck) {
        if (index || !(index = FindIndexCheck(block, at))) return nullptr;
      } else if (!ir::IsScalarOp(b->op)) {
        return nullptr;
      }
      last = b;
    }
    const bool is_all = load != nullptr && index && load->operands.size() == 2 &&
                        load->operands[1] == Operand(index->selection->result()) &&
                        block.results == std::vector<Operand>{last->result()};
    return is_all ? load : nullptr;
  }

  // The checks of what is read of each array, if the branch chooses which is read at one place.
  std::optional<std::array<IndexCheck, 2>> FindReadOfEither(const Binding& b) const {
    if (b.op != OpCode::kIf || b.results.size() != 1 || &b == as_before_) return std::nullopt;
    std::optional<IndexCheck> index, other;
    if (CheckedLoad(*b.blocks[0], index) == nullptr || CheckedLoad(*b.blocks[1], other) == nullptr)
      return std::nullopt;
    // Each block has cast a narrower place by itself.
    const Binding* cast = Made(index->position, OpCode::kCast);
    const Binding* other_cast = Made(other->position, OpCode::kCast);
    const bool is_one =
        index->position == other->position ||
        (cast != nullptr && other_cast != nullptr && cast->operands == other_cast->operands);
    return is_one ? std::optional(std::array{*index, *other}) : std::nullopt;
  }

  void ReadBoth(const Binding& b, const std::array<IndexCheck, 2>& indexes) {
    const Binding* cast = Made(indexes[0].position, OpCode::kCast);
    const Operand position = cast != nullptr
                                 ? builder().Cast(Apply(cast->operands[0]), ir::DType::kI64)
                                 : Apply(indexes[0].position);
    Operand size = Apply(indexes[0].size);
    const Operand other_size = Apply(indexes[1].size);
    if (other_size != size) size = builder().Scalar(OpCode::kMin, {size, other_size});
    const Operand in_place = IsInPlace({nullptr, position, size, true, true});
    Builder then = builder().Nested();
    std::vector<Operand> chosen = {Apply(b.operands[0])};
    for (const Block* block : b.blocks) {
      std::optional<IndexCheck> same;
      const Operand array = CheckedLoad(*block, same)->operands[0];
      chosen.push_back(then.Cast(then.Load(Apply(array), {position}), ir::DTypeOf(b.result())));
    }
    const Operand read = then.Scalar(OpCode::kSelect, chosen);
    Binding branch = b;
    branch.results = {builder().NewVar(b.result()->type, b.result()->hint)};
    as_before_ = arena()->New(std::move(branch));
    const Block* other =
        Mutator::VisitBlock(arena()->New(Block{{}, {as_before_}, {as_before_->result()}}));
    Binding either = b;
    either.operands = {in_place};
    either.attrs = ir::Attributes{{Attr::kLikely, int64_t{1}}};
    either.blocks = {then.Finish({}, {read}), other};
    builder().Append(arena()->New(std::move(either)));
  }

  // Whether the position is in range without being counted from the end, as far as that is asked.
  Operand IsInPlace(const IndexCheck& index) {
    const auto& [selection, position, size, asks_for_start, asks_for_end] = index;
    const Operand starts = builder().Scalar(OpCode::kGe, {position, Operand::Int(0)});
    if (!asks_for_end) return starts;
    // A limit that is not negative makes both one comparison without a sign.
    const Operand limit = builder().Scalar(OpCode::kMax, {size, Operand::Int(0)});
    const Operand ends = builder().Scalar(OpCode::kLt, {position, limit});
    return builder().Scalar(OpCode::kAnd, {starts, ends});
  }

  void BranchIndex(const Binding& check, const IndexCheck& index) {
    const Operand position = Apply(index.position);
    const Operand size = Apply(index.size);
    const Operand in_place =
        IsInPlace({index.selection, position, size, index.asks_for_start, index.asks_for_end});
    Builder then = builder().Nested(), other = builder().Nested();
    const Operand from_end = other.Add(position, size);
    Operand passes = other.Scalar(OpCode::kLt, {position, Operand::Int(0)});
    if (index.asks_for_start) {
      const Operand starts = other.Scalar(OpCode::kGe, {from_end, Operand::Int(0)});
      passes = other.Scalar(OpCode::kAnd, {passes, starts});
    }
    AppendCheck(other, check, passes);
    const Var* chosen =
        builder().EmitOne(OpCode::kIf, index.selection->result()->type, {in_place},
                          ir::Attributes{{Attr::kLikely, int64_t{1}}},
                          {then.Finish({}, {position}), other.Finish({}, {from_end})}, "index");
    Replace(index.selection->result(), Operand(chosen));
  }

  // --- A check that another one behind it implies. ---

  // The check of a number that it is not nan, with the one at `at` asking whether it is finite.
  const Binding* FindImplied(const Block& block, size_t at) const {
    const Binding* is_finite = Made(block.bindings[at]->operands[0], OpCode::kIsFinite);
    if (is_finite == nullptr) return nullptr;
    for (size_t before = at; before-- > 0;) {
      const Binding& b = *block.bindings[before];
      if (b.op == OpCode::kIsFinite || b.op == OpCode::kIsNan || b.op == OpCode::kNot) continue;
      const Binding* negation =
          b.op == OpCode::kCheck ? Made(b.operands[0], OpCode::kNot) : nullptr;
      const Binding* is_nan =
          negation != nullptr ? Made(negation->operands[0], OpCode::kIsNan) : nullptr;
      return is_nan != nullptr && is_nan->operands == is_finite->operands ? &b : nullptr;
    }
    return nullptr;
  }

  // What casts the number that the check at `at` asks about behind it; null where nothing does.
  const Binding* FindCast(const Block& block, size_t at) const {
    const Binding& is_finite = *Made(block.bindings[at]->operands[0], OpCode::kIsFinite);
    const auto behind = block.bindings.begin() + at + 1;
    const auto found = std::find_if(behind, block.bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kCast && b->operands == is_finite.operands &&
             b->result()->type == ir::Type(ir::DType::kI64);
    });
    return found != block.bindings.end() ? *found : nullptr;
  }

  Operand Passes(const Binding& check, const Implied& implied) {
    if (implied.cast == nullptr) return Apply(check.operands[0]);
    builder().Append(Rewrite(implied.cast));
    const Operand least = Operand::Int(std::numeric_limits<int64_t>::min());
    return builder().Scalar(OpCode::kNe, {Apply(Operand(implied.cast->result())), least});
  }

  void BranchImplied(const Binding& check, const Implied& implied) {
    Builder then = builder().Nested(), other = builder().Nested();
    for (const Binding* failing : {implied.check, &check})
      AppendCheck(other, *failing, Apply(failing->operands[0]));
    const Operand passes = Passes(check, implied);
    builder().Emit(OpCode::kIf, {}, {passes}, ir::Attributes{{Attr::kLikely, int64_t{1}}},
                   {then.Finish({}, {}), other.Finish({}, {})});
  }

  // --- Places that a loop keeps. ---

  void FindKeptPlaces(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const Operand index = body.params[0];
    ir::VarSet read;  // places at which the loop reads
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (b.op != OpCode::kLoad) return;
      for (auto at = b.operands.begin() + 1; at != b.operands.end(); ++at) {
        if (at->IsVar()) read.insert(at->var());
      }
    });
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kIf) continue;
      for (size_t k = 0; k < b->results.size(); ++k) {
        for (const int side : {0, 1}) {
          const Operand& stays = b->blocks[side]->results[k];
          const bool is_carried =
              stays != index && stays.IsVar() &&
              std::find(body.params.begin(), body.params.end(), stays.var()) != body.params.end();
          if (is_carried && b->blocks[1 - side]->results[k] == index && read.contains(stays.var()))
            kept_.emplace(b, side);
        }
      }
    }
  }

  // With the side that keeps the place as the likely one.
  void BranchKept(const Binding& b) {
    Binding copy = *Rewrite(&b);
    if (kept_.at(&b) == 1) {
      copy.operands[0] = builder().Scalar(OpCode::kNot, {copy.operands[0]});
      std::swap(copy.blocks[0], copy.blocks[1]);
    }
    copy.attrs = copy.attrs.With(Attr::kLikely, int64_t{1});
    builder().Append(arena()->New(std::move(copy)));
  }

  void AppendCheck(Builder& to, const Binding& check, const Operand& condition) {
    std::vector<Operand> operands = Apply(check.operands);
    operands[0] = condition;
    to.set_span(check.span);
    to.Emit(OpCode::kCheck, {}, std::move(operands), check.attrs);
  }

  int depth_ = 0;                       // of loops around
  const Binding* as_before_ = nullptr;  // A choice that stays, where its place is not in range.
  ir::DefinitionMap definitions_;
  std::unordered_map<const Binding*, IndexCheck> indexes_;
  std::unordered_map<const Binding*, Implied> implied_;
  std::unordered_set<const Binding*> dropped_;
  std::unordered_map<const Binding*, int> kept_;  // branches, by the side that keeps a place
};

}  // namespace

ir::Program BranchChecks(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return CheckBrancher(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
