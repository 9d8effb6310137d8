// Turns a `for` whose iterations are provably independent into an operator: a foreach, an ireduce
// for sums and the like, and an imap where a foreach fills a fresh array.
//
// Before:
//   %y: [n]f64 = alloc (%n)
//   for %i in 0 to %n step 1 { %a = load %x[%i]  %b = exp %a  store %y[%i], %b }
// After:
//   %y: [n]f64 = imap (%i) in (%n) { %a = load %x[%i]  %b = exp %a  yield %b }
//
// Assumes: index form; bounds proven first, so that checks do not hide what a loop does.
// Refuses: (the reason is kept for the user's report) a root whose accesses do not all have the
// loop's index, moved by one same amount, on one same axis; calls; values carried in any way but
// acc = acc op x with an associative op; stores that would show after an error of an earlier
// iteration; checks whose places fall as the loop runs.
#include <algorithm>
#include <cstdlib>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr int64_t kLargestMultiple = 1 << 15;

class LoopParallelizer : public ir::Mutator {
 public:
  LoopParallelizer(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), forms_(function), context_(context) {
    for (const ir::Param& param : function.params) {
      AddRoot(param.var);
      if (function.may_overlap) overlapping_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Var* result : b.results) AddRoot(result);
    });
  }

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    const bool may_be_parallel = b->op == OpCode::kFor && b->attrs.Text(Attr::kKind).empty();
    builder().Append(may_be_parallel ? Parallelize(*b, *rewritten) : rewritten);
  }

  const Block* VisitBlock(const Block* block) override {
    return FillsToMaps(Mutator::VisitBlock(block));
  }

 private:
  // The loop as it was written is looked at, whose values roots_ and forms_ know; the one with its
  // block rewritten is turned.
  const Binding* Parallelize(const Binding& original, const Binding& loop) {
    std::string reason;
    const bool carries = !loop.results.empty();
    reason = carries ? WhyNotReduction(original) : WhyNotIndependent(original);
    if (reason.empty() && HasFallingPlaces(original)) {
      reason = "its places in program order fall as it runs";
    }
    if (reason.empty()) {
      context_.Note(loop.span, carries ? "made a reduction" : "its iterations are independent");
      return carries ? MakeReduction(loop) : MakeForeach(loop);
    }
    context_.Note(loop.span, "not parallel: " + reason);
    Binding copy = loop;
    copy.attrs = copy.attrs.With(Attr::kWhy, reason);
    return copy.attrs == loop.attrs ? &loop : arena()->New(std::move(copy));
  }

  // True where the place of a check is less in a later iteration: of two errors the one with the
  // lesser place is told, which must be the earlier one.
  bool HasFallingPlaces(const Binding& loop) const {
    const Var* index = loop.blocks[0]->params[0];
    const bool up = loop.operands[2].constant().integer > 0;
    bool falls = false;
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      if (b.op != OpCode::kCheck) return;
      for (int64_t k = 1; k <= b.attrs.Int(Attr::kAt); ++k) {
        const int64_t grows = forms_.Of(b.operands[k]).Coefficient(index);
        falls |= up ? grows < 0 : grows > 0;
      }
    });
    return falls;
  }

  void AddRoot(const Var* var) {
    if (var->type.IsArray()) arrays_.push_back(var);
  }

  // --- Independence. ---

  std::string WhyNotIndependent(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const Effects effects = EffectsOf(body, roots_);
    const VarSet local = ir::DefinedVars(body);
    std::string reason;
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (b.op == OpCode::kCall) reason = "it calls @" + b.attrs.Text(Attr::kCallee);
    });
    if (!reason.empty()) return reason;
    for (const Var* root : arrays_) {
      if (!effects.writes.contains(root) || local.contains(root)) continue;
      reason = WhyShared(loop, root);
      if (!reason.empty()) return reason;
      if (effects.may_fail && !roots_.IsFresh(root)) {
        return NameOf(root) + " would show stores after an iteration that raises";
      }
    }
    return "";
  }

  // Why two iterations may touch one element of the root; empty when they cannot.
  std::string WhyShared(const Binding& loop, const Var* root) {
    if (overlapping_.contains(root)) return "places of the arguments overlap in memory";
    std::vector<const Binding*> accesses;
    std::string reason;
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      const Effects own = EffectsOf(b, roots_);
      if (!b.blocks.empty() || (!own.reads.contains(root) && !own.writes.contains(root))) return;
      const bool plain = b.op == OpCode::kLoad || b.op == OpCode::kStore;
      if (!plain || roots_.Of(b.operands[0].var()).size() != 1)
        reason = NameOf(root) + " is touched as a whole";
      if (plain && !accesses.empty() && b.operands[0] != accesses[0]->operands[0]) {
        reason = "two names may stand for one array";
      }
      accesses.push_back(&b);
    });
    if (!reason.empty() || accesses.empty()) return reason;
    const Var* array = accesses[0]->operands[0].var();
    if (ir::DefinedVars(*loop.blocks[0]).contains(array)) {
      return NameOf(root) + " is seen through another view in each iteration";
    }
    for (int axis = 0; axis < array->type.rank(); ++axis) {
      if (FollowsLoop(accesses, loop, axis)) return "";
    }
    return NameOf(array) + " may be touched at one place by two iterations";
  }

  // True when every access has the same multiple of the index plus one same amount on the axis, an
  // amount that no iteration changes. Multiples of so few wrap around to one place only after 2^48
  // iterations.
  bool FollowsLoop(const std::vector<const Binding*>& accesses, const Binding& loop,
                   int axis) const {
    const Var* index = loop.blocks[0]->params[0];
    const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
    const LinearForm first = forms_.Of(accesses[0]->operands[1 + axis]);
    for (const auto& [var, coefficient] : first.terms) {
      if (var != index && inside.contains(var)) return false;
    }
    const int64_t coefficient = first.Coefficient(index);
    if (coefficient == 0 || std::abs(coefficient) > kLargestMultiple) return false;
    for (const Binding* access : accesses) {
      if (!SameForm(forms_.Of(access->operands[1 + axis]), first)) return false;
    }
    return true;
  }

  // --- Reductions. ---

  // The operation where iteration yields op(carried, x) or, commuting, op(x, carried).
  struct Step {
    const Binding* binding = nullptr;
    Operand element;
  };

  static Step StepOf(const Binding& loop, size_t k) {
    const Block& body = *loop.blocks[0];
    const Var* carried = body.params[1 + k];
    for (const Binding* b : body.bindings) {
      if (b->results.empty() || Operand(b->result()) != body.results[k]) continue;
      if (!ir::IsScalarOp(b->op) || b->operands.size() != 2 || !ir::IsAssociative(b->op)) return {};
      if (b->operands[0] == Operand(carried)) return {b, b->operands[1]};
      if (b->operands[1] == Operand(carried) && ir::IsCommutative(b->op))
        return {b, b->operands[0]};
    }
    return {};
  }

  std::string WhyNotReduction(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    if (!EffectsOf(body, roots_).writes.empty()) return "it carries values and stores";
    const VarSet carried(body.params.begin() + 1, body.params.end());
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const Var* param = body.params[1 + k];
      const Step step = StepOf(loop, k);
      const std::string name = NameOf(param);
      if (step.binding == nullptr || !param->type.IsScalar())
        return name + " is carried from one iteration to the next";
      for (const Binding* b : body.bindings) {
        if (b != step.binding && ir::FreeVars(*b).contains(param))
          return name + " is read while it is summed";
        if (ir::FreeVars(*b).contains(step.binding->result()))
          return name + " is read while it is summed";
      }
      if (step.element == Operand(param) || carried.contains(step.element.var()))
        return name + " is summed with itself";
    }
    return "";
  }

  const Binding* MakeReduction(const Binding& loop) {
    Binding reduction{OpCode::kIreduce, loop.results, {Count(loop)}, {}, {}, loop.span};
    reduction.operands.insert(reduction.operands.end(), loop.operands.begin() + 3,
                              loop.operands.end());
    std::vector<const Binding*> steps;
    std::vector<Operand> elements;
    Block combine;
    std::vector<const Var*> right;
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const Step step = StepOf(loop, k);
      steps.push_back(step.binding);
      elements.push_back(step.element);
      const Block* single =
          ir::CombineBlock(arena(), step.binding->op, loop.results[k]->type.dtype());
      combine.params.push_back(single->params[0]);
      right.push_back(single->params[1]);
      combine.bindings.push_back(single->bindings[0]);
      combine.results.push_back(single->results[0]);
    }
    combine.params.insert(combine.params.end(), right.begin(), right.end());
    const Block* element = ElementBlock(loop, steps, elements);
    reduction.blocks = {element, arena()->New(std::move(combine))};
    return arena()->New(std::move(reduction));
  }

  const Binding* MakeForeach(const Binding& loop) {
    return arena()->New(
        Binding{OpCode::kForeach, {}, {Count(loop)}, {ElementBlock(loop, {}, {})}, {}, loop.span});
  }

  // How often the loop runs.
  Operand Count(const Binding& loop) {
    const int64_t step = loop.operands[2].constant().integer;
    const Operand span = step > 0 ? builder().Sub(loop.operands[1], loop.operands[0])
                                  : builder().Sub(loop.operands[0], loop.operands[1]);
    const int64_t width = std::abs(step);
    const Operand count =
        width == 1
            ? span
            : builder().Scalar(OpCode::kFloorDiv,
                               {builder().Add(span, Operand::Int(width - 1)), Operand::Int(width)});
    if (loop.operands[0].IsInt(0) && step == 1)
      return count;  // A size or count already; negative ones run no more.
    return builder().Scalar(OpCode::kMax, {count, Operand::Int(0)});
  }

  // The loop's block without `dropped`, over an index that counts from 0.
  const Block* ElementBlock(const Binding& loop, const std::vector<const Binding*>& dropped,
                            const std::vector<Operand>& results) {
    const Block& body = *loop.blocks[0];
    ir::Builder inner = builder().Nested();
    Block element{{body.params[0]}, {}, results};
    if (!loop.operands[0].IsInt(0) || !loop.operands[2].IsInt(1)) {
      const Var* count = inner.NewVar(ir::DType::kI64, "k");
      const Operand moved = inner.Add(loop.operands[0], inner.Mul(count, loop.operands[2]));
      ir::Substitution substitution{{body.params[0], moved}};
      element.params = {count};
      element.bindings = body.bindings;
      std::erase_if(element.bindings, [&](const Binding* b) {
        return std::count(dropped.begin(), dropped.end(), b) > 0;
      });
      element.results = ir::InlineBlock(inner, element, substitution);
      return inner.Finish(element.params, element.results);
    }
    for (const Binding* b : body.bindings) {
      if (std::count(dropped.begin(), dropped.end(), b) == 0) element.bindings.push_back(b);
    }
    return arena()->New(std::move(element));
  }

  // --- Fills. ---

  // A foreach that stores every element of fresh arrays once, and does nothing else, is an imap.
  const Block* FillsToMaps(const Block* block) {
    Block copy = *block;
    bool changed = false;
    for (size_t at = 0; at < copy.bindings.size(); ++at) {
      const std::vector<const Var*> filled = FilledBy(copy, at);
      if (filled.empty()) continue;
      const ir::Attributes& order = AllocationFor(copy, at, filled[0])->attrs;
      copy.bindings[at] = MapOf(*copy.bindings[at], filled, order);
      at -= std::erase_if(copy.bindings, [&](const Binding* b) {
        return b->op == OpCode::kAlloc && std::count(filled.begin(), filled.end(), b->result()) > 0;
      });
      changed = true;
    }
    return changed ? arena()->New(std::move(copy)) : block;
  }

  // The arrays that the last stores of a foreach fill; none when it does anything else beside.
  std::vector<const Var*> FilledBy(const Block& block, size_t at) const {
    const Binding& b = *block.bindings[at];
    if (b.op != OpCode::kForeach) return {};
    Block rest = *b.blocks[0];
    std::vector<const Var*> filled;
    while (!rest.bindings.empty() && rest.bindings.back()->op == OpCode::kStore) {
      const Binding& store = *rest.bindings.back();
      if (!StoresEachOnce(b, store)) return {};
      filled.insert(filled.begin(), store.operands[0].var());
      rest.bindings.pop_back();
      rest.results.push_back(store.operands.back());
    }
    for (const Binding* beside : rest.bindings) {
      if (!EffectsOf(*beside, roots_).IsPure()) return {};
    }
    const VarSet read = ir::FreeVars(rest);
    for (size_t k = 0; k < filled.size(); ++k) {
      const bool again = std::count(filled.begin(), filled.end(), filled[k]) > 1;
      const Binding* alloc = AllocationFor(block, at, filled[k]);
      if (again || read.contains(filled[k]) || alloc == nullptr) return {};
      if (alloc->attrs != AllocationFor(block, at, filled[0])->attrs) return {};
    }
    return filled;
  }

  // True for a store at the foreach's index of an array of its extents.
  static bool StoresEachOnce(const Binding& foreach, const Binding& store) {
    const std::vector<const Var*>& params = foreach.blocks[0]->params;
    const std::vector<Operand> index(store.operands.begin() + 1, store.operands.end() - 1);
    return index == std::vector<Operand>(params.begin(), params.end()) &&
           foreach.operands == store.operands[0].var()->type.dims();
  }

  // Where the array is allocated in the block; null when it is not, or touched before binding `at`.
  static const Binding* AllocationFor(const Block& block, size_t at, const Var* array) {
    while (at-- > 0) {
      const Binding& earlier = *block.bindings[at];
      if (earlier.op == OpCode::kAlloc && earlier.result() == array) return &earlier;
      if (ir::FreeVars(earlier).contains(array)) return nullptr;
    }
    return nullptr;
  }

  const Binding* MapOf(const Binding& foreach, const std::vector<const Var*>& filled,
                       const ir::Attributes& order) {
    Block body = *foreach.blocks[0];
    for (size_t k = 0; k < filled.size(); ++k) {
      body.results.insert(body.results.begin(), body.bindings.back()->operands.back());
      body.bindings.pop_back();
    }
    return arena()->New(Binding{OpCode::kImap,
                                filled,
                                foreach.operands,
                                {arena()->New(std::move(body))},
                                order,
                                foreach.span});
  }

  Roots roots_;
  std::vector<const Var*>
      arrays_;  // In order of definition, so that reasons do not depend on hashes.
  WrappingForms forms_;
  VarSet overlapping_;  // Parameters of which two places may be one.
  Context& context_;
};

}  // namespace

ir::Program ParallelizeLoops(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LoopParallelizer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
