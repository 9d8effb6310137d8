// Names the sum over k of a[..k..] * b[..k..], under any two operations, as one `contract`.
//
// Before:
//   imap (%i, %j) in (%n, %m) { %s = ireduce (%k) in (%l) add from 0.0 { load %X[%i, %k]  load
//   %Y[%k, %j]  mul  yield }  yield %s }
// After:
//   contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { load %X[%i, %k]  load %Y[%k,
//   %j]  mul  yield }
// with what the map makes of the sum as its block `then`. So does a foreach whose iterations store
// what they make of a sum; what a sum begins with, where that is an element's own as in
// `C[i, j] += A[i, k] * B[k, j]`, is a part of what follows it. An extreme by comparisons, as
// `if v < best: best = v` is one, is a contraction too, since that combines in order.
//
// Operands that are parts of arrays are seen through views, and those that no load gives are made
// first (analyses/contraction_operands.h).
//
// Assumes: index form after fusion; index structure alone is looked at, never how the user spelled
// it.
// Refuses: a matrix times a vector, and whatever else has no two operands that each follow a free
// index which the other does not (only then is either used again while it is in registers); an
// operand that both decide, or that few would read; windows; an element with stores or checks;
// several or array accumulators; more than scalar code, loads and stores beside the reduction;
// stores to what is summed.
#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "passes/analyses/contraction_operands.h"
#include "passes/analyses/find_contractions.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/settled_extremes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;

class ContractionFinder : public ir::Mutator {
 public:
  ContractionFinder(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), function_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    const Binding* reduction = is_nest ? ReductionIn(*rewritten) : nullptr;
    if (reduction != nullptr) {
      const Binding* nest = WithoutPlace(*rewritten, *reduction);
      nest = StartingFromNothing(*nest, *ReductionIn(*nest));
      if (!forms_) forms_.emplace(function_);
      nest = WithPlainOperands(builder(), *forms_, *nest);
      reduction = ReductionIn(*nest);
      std::string reason = WhyNoContraction(*nest, *reduction);
      if (reason.empty() && WritesWhatIsSummed(*b))
        reason = "what is summed is stored to beside it";
      if (reason.empty()) {
        rewritten = ContractionOf(arena(), *nest, *reduction);
        context_.Note(b->span, "recognised as a contraction", Topic::kContraction, Verdict::kDone);
      } else {
        // What uses nothing again never looked like one.
        context_.Note(b->span, "not a contraction: " + reason, Topic::kContraction,
                      ReusesOperands(*nest, *reduction) ? Verdict::kRefused : Verdict::kAside);
      }
    }
    builder().Append(rewritten);
  }

 private:
  // The nest where an extreme whose place nothing reads is found in order, as the sums of a
  // contraction are made: of equals that which was met first is held already.
  const Binding* WithoutPlace(const Binding& nest, const Binding& reduction) {
    const Block& body = *nest.blocks[0];
    if (reduction.results.size() != 2 || CountReaders(body, reduction.results[1]) > 0) return &nest;
    const auto settled = SettledInOrder(body, reduction);
    if (!settled) return &nest;
    Binding extreme = reduction;
    Block element = *reduction.blocks[0];
    element.results = {settled->element};
    extreme.results.resize(1);
    extreme.operands.resize(2);
    extreme.blocks = {arena()->New(std::move(element)),
                      OrderedCombine(arena(), settled->op, ir::DTypeOf(settled->element))};
    Block found = body;
    *std::find(found.bindings.begin(), found.bindings.end(), &reduction) =
        arena()->New(std::move(extreme));
    Binding result = nest;
    result.blocks[0] = arena()->New(std::move(found));
    return arena()->New(std::move(result));
  }

  // The nest where its reduction begins with nothing, and what an element of its own it began with
  // is combined with the whole, from the left.
  const Binding* StartingFromNothing(const Binding& nest, const Binding& reduction) {
    const Block& body = *nest.blocks[0];
    const size_t rank = reduction.blocks[0]->params.size();
    const auto combine = ir::CombineOp(*reduction.blocks[1]);
    if (reduction.results.size() != 1 || reduction.operands.size() == rank || !combine)
      return &nest;
    const Operand start = reduction.operands[rank];
    const auto makes = [&](const Binding* b) {
      return std::count(b->results.begin(), b->results.end(), start.var()) > 0;
    };
    if (!start.IsVar() || std::none_of(body.bindings.begin(), body.bindings.end(), makes))
      return &nest;
    const auto nothing = ir::IdentityOf(*combine, ir::DTypeOf(start));
    if (!nothing) return &nest;
    Binding whole = reduction;
    whole.operands[rank] = Operand(*nothing);
    whole.results = {builder().NewVar(reduction.result()->type, "s")};
    Binding joined{*combine, reduction.results, {start, Operand(whole.results[0])}, {},
                   {},       reduction.span};
    Block apart = body;
    const auto at = std::find(apart.bindings.begin(), apart.bindings.end(), &reduction);
    *at = arena()->New(std::move(whole));
    apart.bindings.insert(at + 1, arena()->New(std::move(joined)));
    Binding result = nest;
    result.blocks[0] = arena()->New(std::move(apart));
    return arena()->New(std::move(result));
  }

  // Whether an iteration stores to what others sum.
  bool WritesWhatIsSummed(const Binding& nest) {
    if (nest.op != OpCode::kForeach) return false;
    if (!roots_) roots_.emplace(function_);
    Binding summed = *ContractionOf(arena(), nest, *ReductionIn(nest));
    summed.blocks.resize(1);
    return Intersects(EffectsOf(nest, *roots_).writes, EffectsOf(summed, *roots_).reads);
  }

  const ir::Function& function_;
  Context& context_;
  std::optional<Roots> roots_;  // Where a nest that stores asked for them.
  std::optional<WrappingForms> forms_;
};

}  // namespace

ir::Program RecognizeContractions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ContractionFinder(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
