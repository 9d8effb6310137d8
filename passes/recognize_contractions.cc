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
// Operands that are parts of arrays, or whose rows lie in one line as in `a[i * k + l]`, are seen
// through views, and those that no load gives are made first (analyses/contraction_operands.h).
//
// Where first indexes say how much is summed, a loop goes through them, of contractions.
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

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

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
      } else if (WriteByFirstIndexes(*nest)) {
        context_.Note(b->span, "a contraction for each of its first indexes", Topic::kContraction,
                      Verdict::kDone);
        return;
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

  // Writes a nest whose first indexes say how much is summed as a loop over these, of contractions.
  // False for any other.
  bool WriteByFirstIndexes(const Binding& nest) {
    if (nest.attrs.Int(Attr::kFortran) != 0 || WritesWhatIsSummed(nest)) return false;
    Block body = *nest.blocks[0];
    const auto sizes = NeededBindings(body, ReductionIn(nest)->operands);
    const size_t first = CountDeciding(body, sizes);
    if (first == 0 || first + 2 > body.params.size()) return false;
    ir::Builder inner = builder().Nested();
    for (const Binding* b : sizes) {
      inner.Append(b);
      std::erase(body.bindings, b);
    }
    Binding rest = nest;
    rest.operands.erase(rest.operands.begin(), rest.operands.begin() + first);
    body.params.erase(body.params.begin(), body.params.begin() + first);
    rest.blocks[0] = arena()->New(std::move(body));
    const Binding* plain = WithPlainOperands(inner, *forms_, rest);
    if (!WhyNoContraction(*plain, *ReductionIn(*plain)).empty()) return false;
    WriteLoops(nest, *ContractionOf(arena(), *plain, *ReductionIn(*plain)), std::move(inner));
    return true;
  }

  // How many of the first indexes decide, as numbers alone, what these bindings make: up to the
  // last that is read. 0 where more than scalar code makes it.
  static size_t CountDeciding(const Block& body, const std::vector<const Binding*>& bindings) {
    size_t first = 0;
    for (const Binding* b : bindings) {
      if (!ir::IsScalarOp(b->op)) return 0;
      for (size_t k = 0; k < body.params.size(); ++k) {
        if (std::count(b->operands.begin(), b->operands.end(), Operand(body.params[k])) > 0)
          first = std::max(first, k + 1);
      }
    }
    return first;
  }

  // `inner` holds what each iteration makes before its contraction.
  void WriteLoops(const Binding& nest, Binding contraction, ir::Builder inner) {
    const std::vector<const Var*>& indexes = nest.blocks[0]->params;
    const size_t loops = indexes.size() - contraction.attrs.Int(Attr::kFree);
    for (const Var* result : nest.results)
      builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
    for (const Var*& result : contraction.results) {
      const std::vector<Operand>& dims = result->type.dims();
      const ir::Type type =
          ir::Type::Array(result->type.dtype(), {dims.begin() + loops, dims.end()});
      result = builder().NewVar(type, "part");
    }
    inner.Append(arena()->New(contraction));
    for (size_t k = 0; k < nest.results.size(); ++k) {
      const Var *part = contraction.results[k], *whole = nest.results[k];
      ir::Builder copy = inner.Nested();
      std::vector<const Var*> within;
      for (size_t axis = loops; axis < indexes.size(); ++axis)
        within.push_back(copy.NewVar(ir::DType::kI64, indexes[axis]->hint));
      std::vector<Operand> place(indexes.begin(), indexes.begin() + loops);
      place.insert(place.end(), within.begin(), within.end());
      copy.Store(whole, place, copy.Load(part, {within.begin(), within.end()}));
      inner.Emit(OpCode::kForeach, {}, part->type.dims(), {}, {copy.Finish(within, {})});
    }
    for (size_t k = loops; k-- > 0;) {
      const Block* body = inner.Finish({indexes[k]}, {});
      inner.Emit(OpCode::kFor, {}, {Operand::Int(0), nest.operands[k], Operand::Int(1)}, {},
                 {body});
    }
    for (const Binding* b : inner.bindings()) builder().Append(b);
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
