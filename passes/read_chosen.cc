// Keeps the element beside the place that a branch chooses by comparing elements, where the element
// at that place would be read again.
//
// Before:
//   %c = if %in { %a = load %x[%i]  %b = load %x[%p]  %l = lt %a, %b  yield %l } else {
//   yield false }
//   %q = if %c { yield %i } else { yield %p }
//   %d = load %x[%q]
// After:
//   %first = load %x[%p], or 0 where %p is no place of %x
//   %q, %kept = if %c { %e = load %x[%i]  yield %i, %e } else { yield %p, %first }
//   %d = %kept
// The lowest of several neighbours, one branch behind the other, then waits for no load: each
// compares with the element that the branch before it has kept.
//
// Assumes: index form, where equal indexes are one value; no checks that others have found plain.
// Refuses: arrays that are stored to between; places that the condition does not read wherever it
// is true; elements that are in no way known where the branch keeps the place it had.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = std::vector<Operand>;  // of a load: the array, then the index

class ChosenReader : public ir::Mutator {
 public:
  ChosenReader(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context), roots_(function) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op != OpCode::kLoad) return;
      for (size_t k = 1; k < b.operands.size(); ++k) {
        if (b.operands[k].IsVar()) places_.insert(b.operands[k].var());
      }
    });
  }

 protected:
  const Block* VisitBlock(const Block* block) override {
    const Block* const around = std::exchange(block_, block);
    ++depth_;
    const Block* rewritten = Mutator::VisitBlock(block);
    std::erase_if(known_, [&](const Known& known) { return known.depth == depth_; });
    --depth_;
    block_ = around;
    return rewritten;
  }

  void Visit(const Binding* b) override {
    ForgetWhatIsStored(*b);
    if (b->op == OpCode::kLoad) return VisitLoad(*b);
    if (b->op != OpCode::kIf) return Mutator::Visit(b);
    const std::vector<Choice> choices = ChoicesOf(*b);
    if (choices.empty()) return Mutator::Visit(b);
    context_.Note(b->span, "keeps the element beside the place that it chooses", Topic::kOther,
                  Verdict::kDone);
    Keep(*b, choices);
  }

 private:
  // An element that is known here, of a load with its operands as they are written.
  struct Known {
    Operands load;
    Operand element;
    int depth;     // of the block that knows it
    bool is_kept;  // beside a place: others are loads, which stay
  };
  // What would be read at a place that a branch chooses, and on both of its sides.
  struct Choice {
    Operands load;
    Operands taken;
    Operands kept;
  };

  void ForgetWhatIsStored(const Binding& b) {
    if (known_.empty()) return;
    const ir::VarSet writes = EffectsOf(b, roots_).writes;
    if (writes.empty()) return;
    std::erase_if(known_, [&](const Known& known) {
      return Intersects(roots_.Of(known.load[0].var()), writes);
    });
  }

  void VisitLoad(const Binding& load) {
    const Operands operands = Apply(load.operands);
    const Known* known = Find(operands);
    if (known != nullptr && known->is_kept) return Replace(load.result(), known->element);
    Mutator::Visit(&load);
    if (known == nullptr) Learn(operands, Apply(Operand(load.result())), false);
  }

  void Learn(const Operands& load, const Operand& element, bool is_kept) {
    known_.push_back({load, element, depth_, is_kept});
  }

  const Known* Find(const Operands& load) const {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& known) { return known.load == load; });
    return found == known_.end() ? nullptr : &*found;
  }

  // --- What a branch chooses ---

  std::vector<Choice> ChoicesOf(const Binding& branch) const {
    const std::vector<const Binding*>& all = block_->bindings;
    const auto at = std::find(all.begin(), all.end(), &branch);
    const bool is_place = std::any_of(branch.results.begin(), branch.results.end(),
                                      [&](const Var* result) { return places_.contains(result); });
    const Operand& is_true = branch.operands[0];
    if (!is_place || !is_true.IsVar() || at == all.end()) return {};
    const auto condition = std::find_if(all.begin(), at, [&](const Binding* b) {
      return !b->results.empty() && b->result() == is_true.var();
    });
    if (condition == at) return {};
    const ir::VarSet later = ir::DefinedVars(Block{{}, {at, all.end()}, {}});
    std::vector<Choice> choices;
    const auto see = [&](const Binding& load) {
      const auto choice = load.op == OpCode::kLoad ? ChoiceOf(branch, load.operands) : std::nullopt;
      if (!choice || UsesAny(choice->kept, later)) return;
      const bool is_new = std::none_of(choices.begin(), choices.end(), [&](const Choice& other) {
        return other.load == choice->load;
      });
      if (is_new && ReadsWhereTrue(**condition, choice->taken) &&
          IsReadBefore(**condition, *choice))
        choices.push_back(*choice);
    };
    for (auto b = at + 1; b != all.end(); ++b) {
      ir::ForEachBinding(Block{{}, {*b}, {}}, see);
      if (!EffectsOf(**b, roots_).writes.empty()) break;
    }
    return choices;
  }

  static bool UsesAny(const Operands& operands, const ir::VarSet& vars) {
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return operand.IsVar() && vars.contains(operand.var());
    });
  }

  static std::optional<Choice> ChoiceOf(const Binding& branch, const Operands& load) {
    Choice choice{load, load, load};
    bool is_chosen = false;
    for (size_t k = 1; k < load.size(); ++k) {
      const auto result = std::find_if(branch.results.begin(), branch.results.end(),
                                       [&](const Var* var) { return Operand(var) == load[k]; });
      if (result == branch.results.end()) continue;
      const size_t r = result - branch.results.begin();
      is_chosen = true;
      choice.taken[k] = branch.blocks[0]->results[r];
      choice.kept[k] = branch.blocks[1]->results[r];
    }
    return is_chosen ? std::optional(choice) : std::nullopt;
  }

  // Whether what defines a condition has read there wherever it is true: itself in front of the
  // condition, or in the one side of a branch that may yield true.
  bool ReadsWhereTrue(const Binding& condition, const Operands& load) const {
    const auto is_load = [&](const Binding* b) {
      return b->op == OpCode::kLoad && b->operands == load;
    };
    const Binding* branch = &condition;
    if (Find(Apply(load)) != nullptr) return true;
    while (branch->op == OpCode::kIf && branch->results.size() == 1) {
      const int side = branch->blocks[1]->results[0] == Operand::Bool(false)   ? 0
                       : branch->blocks[0]->results[0] == Operand::Bool(false) ? 1
                                                                               : -1;
      if (side < 0) return false;
      const Block& taken = *branch->blocks[side];
      if (std::any_of(taken.bindings.begin(), taken.bindings.end(), is_load)) return true;
      const Operand& yielded = taken.results[0];
      const auto next = std::find_if(
          taken.bindings.begin(), taken.bindings.end(),
          [&](const Binding* b) { return !b->results.empty() && Operand(b->result()) == yielded; });
      if (next == taken.bindings.end()) return false;
      branch = *next;
    }
    return false;
  }

  // Whether the element at the place that is kept is known, or the condition compares with it.
  bool IsReadBefore(const Binding& condition, const Choice& choice) const {
    if (Find(Apply(choice.kept)) != nullptr) return true;
    bool is_read = false;
    ir::ForEachBinding(Block{{}, {&condition}, {}}, [&](const Binding& b) {
      is_read |= b.op == OpCode::kLoad && b.operands == choice.kept;
    });
    return is_read;
  }

  // --- What is kept ---

  void Keep(const Binding& branch, const std::vector<Choice>& choices) {
    Binding keeping = branch;
    Block taken = *branch.blocks[0], kept = *branch.blocks[1];
    std::vector<const Var*> elements;
    for (const Choice& choice : choices) {
      const ir::DType dtype = ir::DTypeOf(choice.load[0]);
      const Var* element = builder().NewVar(dtype, "e");
      taken.bindings.push_back(
          arena()->New(Binding{OpCode::kLoad, {element}, choice.taken, {}, {}, branch.span}));
      taken.results.push_back(Operand(element));
      kept.results.push_back(ElementAt(choice.kept));
      elements.push_back(builder().NewVar(dtype, "kept"));
    }
    keeping.results.insert(keeping.results.end(), elements.begin(), elements.end());
    keeping.blocks = {arena()->New(std::move(taken)), arena()->New(std::move(kept))};
    Mutator::Visit(arena()->New(std::move(keeping)));
    for (size_t k = 0; k < choices.size(); ++k)
      Learn(Apply(choices[k].load), Operand(elements[k]), true);
  }

  // The element at a place, which only a condition may have found to be one: 0 where it is none.
  Operand ElementAt(const Operands& load) {
    const Operands operands = Apply(load);
    if (const Known* known = Find(operands)) return known->element;
    const Operands index(operands.begin() + 1, operands.end());
    Operand is_place = Operand::Bool(true);
    for (size_t k = 0; k < index.size(); ++k) {
      const Operand& size = operands[0].var()->type.dims()[k];
      for (const Operand& inside : {builder().Scalar(OpCode::kLe, {Operand::Int(0), index[k]}),
                                    builder().Scalar(OpCode::kLt, {index[k], size})})
        is_place = builder().Scalar(OpCode::kAnd, {is_place, inside});
    }
    ir::Builder inner = builder().Nested();
    const Operand element = inner.Load(operands[0], index);
    const ir::DType dtype = ir::DTypeOf(operands[0]);
    const Block* none = builder().Nested().Finish({}, {Operand(ir::ZeroOf(dtype))});
    const Operand first = builder().EmitOne(OpCode::kIf, dtype, {is_place}, {},
                                            {inner.Finish({}, {element}), none}, "first");
    Learn(operands, first, true);
    return first;
  }

  Context& context_;
  const Roots roots_;
  ir::VarSet places_;  // where anything is read
  const Block* block_ = nullptr;
  std::vector<Known> known_;
  int depth_ = 0;
};

}  // namespace

ir::Program ReadChosen(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ChosenReader(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
