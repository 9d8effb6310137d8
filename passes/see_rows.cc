// Sees the rows of a matrix in a line where a reduction goes from one to the next.
//
// Before:
//   %s: [m]f64 = imap (%j) in (%m) { %t = ireduce (%i) in (%n) add from 0.0 {
//     %p = mul %i, %m  %q = add %p, %j  %a = load %x[%q]  yield %a }  yield %t }
// After:
//   %rows: [n][m]f64 = view %x offset (0) strides ((%m, 1))
//   %s: [m]f64 = imap (%j) in (%m) { %t = ireduce (%i) in (%n) add from 0.0 {
//     %a = load %rows[%i, %j]  yield %a }  yield %t }
//
// What makes sums of columns by whole rows asks for loads at indexes.
//
// Assumes: index form, behind all that looks for arrays by their names.
// Refuses: nests in other operators; what a branch may leave out, whose place need not be there;
// reductions whose length an element decides; windows, of which two indexes go by one distance.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/place_steps.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class RowSeer : public ir::Mutator {
 public:
  RowSeer(ir::Arena* arena, const ir::Function& function) : Mutator(arena), function_(function) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    if (is_nest && !inside_) {
      for (const Binding* inner : b->blocks[0]->bindings) {
        if (inner->op == OpCode::kIreduce) SeeRows(*b, *inner);
      }
    }
    if (const auto seen = seen_.find(b); seen != seen_.end())
      return builder().Append(arena()->New(seen->second));
    const bool is_operator = ir::InfoOf(b->op).format == ir::OpFormat::kIndices;
    const bool outer = std::exchange(inside_, inside_ || is_operator);
    Mutator::Visit(b);
    inside_ = outer;
  }

 private:
  void SeeRows(const Binding& nest, const Binding& reduction) {
    const Block &body = *nest.blocks[0], &element = *reduction.blocks[0];
    const ir::VarSet made = ir::DefinedVars(body);
    PlaceSteps::Extents extents;
    for (size_t k = 0; k < body.params.size(); ++k) extents[body.params[k]] = nest.operands[k];
    for (size_t k = 0; k < element.params.size(); ++k) {
      const Operand& extent = reduction.operands[k];
      if (extent.IsVar() && made.contains(extent.var())) return;
      extents[element.params[k]] = extent;
    }
    if (!forms_) forms_.emplace(function_);
    const ir::DefinitionMap definitions = ir::Definitions(body);
    const PlaceSteps places(*forms_, extents, made, definitions);
    for (const Binding* b : element.bindings) {
      if (b->op == OpCode::kLoad && !made.contains(b->operands[0].var()) &&
          GoesByRows(*b, body, element, places))
        seen_.insert({b, places.LoadOfView(builder(), *b)});
    }
  }

  // True where the load is one of a line, and goes from element to element with an index of the
  // nest, and farther, by what is no number, with one of the reduction.
  static bool GoesByRows(const Binding& load, const Block& body, const Block& element,
                         const PlaceSteps& places) {
    if (load.operands.size() != 2 || !places.ReadsLinearly(load)) return false;
    const auto is_of = [](const Block& block, const Var* index) {
      return std::count(block.params.begin(), block.params.end(), index) > 0;
    };
    std::vector<Step> by_index;
    for (const Step& step : places.Of(load.operands[1])) {
      if (places.IsIndex(step.var)) by_index.push_back(step);
    }
    const auto is_same = [](Step a, Step b) {
      std::sort(a.factors.begin(), a.factors.end());
      std::sort(b.factors.begin(), b.factors.end());
      return a.times == b.times && a.factors == b.factors;
    };
    bool goes_along = false, goes_down = false;
    for (size_t k = 0; k < by_index.size(); ++k) {
      const Step& step = by_index[k];
      goes_along |= step.factors.empty() && step.times == 1 && is_of(body, step.var);
      goes_down |= !step.factors.empty() && is_of(element, step.var);
      for (size_t other = 0; other < k; ++other) {
        if (is_same(step, by_index[other]) || step.var == by_index[other].var) return false;
      }
    }
    return goes_along && goes_down;
  }

  const ir::Function& function_;
  std::optional<WrappingForms> forms_;
  std::unordered_map<const Binding*, Binding> seen_;  // Loads, as they are of views.
  bool inside_ = false;                               // An operator.
};

}  // namespace

ir::Program SeeRows(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return RowSeer(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
