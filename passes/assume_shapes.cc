// Assumes that slices lie inside their arrays, that sizes which may be broadcast together are equal
// and that loops, and operators that make their elements one by one, index what they go through in
// range, and checks it before anything else happens.
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
// loops. Tables are as long as masks of their indexes say, `table[x & 63]`, and arrays that loops
// go to at one place that elements say, `left[node]` and `right[node]`, as long as one another, and
// so those of which parts between two such places are to be of one size. An inner loop has a first
// iteration where it matters to what is behind it. A branch that asks which of two sizes is larger,
// and makes arrays of other sizes in either block, takes its second. What loops over blocks step
// by, `range(0, n, b)`, is positive.
//
// Assumes: where that check fails, whose site is new and has the exception kOtherShapes, the caller
// runs the program made without this pass (Options::assume_shapes).
// Refuses: sizes that depend on more than the entry's sizes and scalars; those that are not equal
// wherever slices lie inside their arrays; indexes in a branch whose condition is made of them, or
// of nothing that differs from iteration to iteration: it may be there to guard them.
// Where a size is 1 in such arrays, it is taken to be 1.
#include <algorithm>
#include <functional>
#include <string>

#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_effects.h"
#include "passes/assuming/place_assumptions.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kFewestLoops = 2;                         // around what is worth a look at an array
constexpr int64_t kMoreThanAnySize = int64_t{1} << 48;  // As ranges.h has it.

class ShapeAssumer : public PlaceAssumptions {
 public:
  using PlaceAssumptions::PlaceAssumptions;

  const ir::Function* Run(ir::Arena* arena) {
    // What is given is made equal before expressions of it are, and sizes are simpler once slices
    // lie inside: simplify reads what is said first into what follows.
    ForEachPair([&](const Binding& b, const Pair& pair) { AssumeGivenEqual(b, pair); });
    AssumeAlike();
    AssumeCutAlike();
    ir::ForEachBinding(*function_.body, [&](const Binding& b) {
      if (b.op == OpCode::kSlice) AssumeInside(b);
      if (IsLoop(b.op)) AssumeKeepsSizes(b);
      if (IsShapeEntry(b)) AssumeNotNegative(b);
      if (b.op == OpCode::kIf) AssumeOther(b);
    });
    ForEachPair([&](const Binding& b, const Pair& pair) { AssumeEqual(b, pair); });
    AssumeBlocks();
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

  // Of a branch that asks which of two sizes is larger and makes arrays of other sizes in either
  // block, as where a kernel is longer than what it slides along, the second block is the rule.
  void AssumeOther(const Binding& branch) {
    const auto is_size = [](const Var* result) {
      return result->type == ir::Type(ir::DType::kI64);
    };
    const auto is_array = [](const Var* result) { return result->type.IsArray(); };
    if (std::none_of(branch.results.begin(), branch.results.end(), is_array) ||
        std::none_of(branch.results.begin(), branch.results.end(), is_size))
      return;
    const Binding* larger = DefinitionOf(branch.operands[0], OpCode::kGt);
    if (larger == nullptr || !IsOfSizes(larger->operands[0]) || !IsOfSizes(larger->operands[1]))
      return;
    cost_ = 0;
    const std::optional<Operand> a = AtEntry(larger->operands[0]), b = AtEntry(larger->operands[1]);
    if (!a || !b) return;
    builder_.set_span(branch.span);
    const Operand holds = builder_.Scalar(OpCode::kLe, {*a, *b});
    if (holds.IsConstant()) return;
    Require(holds);
    for (size_t k = 0; k < branch.results.size(); ++k) {
      if (is_size(branch.results[k])) Suppose(branch.results[k], branch.blocks[1]->results[k]);
    }
    context_.Note(branch.span, "a size taken not to be the larger one, which a call checks first",
                  Topic::kShapes, Verdict::kDone);
  }

  // True for sums of sizes of arguments.
  bool IsOfSizes(const Operand& operand) {
    const std::optional<LinearForm> form = Likely(operand);
    const std::vector<const Var*> sizes = function_.Sizes();
    return form && std::all_of(form->terms.begin(), form->terms.end(), [&](const auto& term) {
             return std::find(sizes.begin(), sizes.end(), term.first) != sizes.end();
           });
  }

  // An entry of a shape may be -1, which stands for what is left; then it is mostly written so.
  void AssumeNotNegative(const Binding& entry) {
    cost_ = 0;
    const std::optional<Operand> size = AtEntry(entry.operands[2]);
    if (!size) return;
    builder_.set_span(entry.span);
    const Operand holds = builder_.Scalar(OpCode::kLe, {Operand::Int(0), *size});
    if (holds.IsConstant()) return;
    Require(holds);
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

  void ForEachPair(const std::function<void(const Binding&, const Pair&)>& see) const {
    ir::ForEachBinding(*function_.body, [&](const Binding& b) {
      if (b.op == OpCode::kBroadcastSize) see(b, {b.operands[0], b.operands[1]});
      if (b.op != OpCode::kCheck) return;
      if (const std::optional<Pair> pair = CheckedPair(b.operands[0])) see(b, *pair);
    });
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
      Require(holds);
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

  ir::VarSet clamps_seen_;
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
