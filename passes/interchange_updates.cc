// Puts a loop that adds to every element of an array, once an iteration, inside the elements.
//
// Before:
//   for %k in 0 to %m step 1 {
//     %a = load %A[%i, %k]
//     foreach (%j) in (%n) {
//       %c = load %C[%i, %j]  %b = load %B[%k, %j]  %p = mul %a, %b  %s = add %c, %p
//       store %C[%i, %j], %s } }
// After:
//   foreach (%j) in (%n) {
//     %c = load %C[%i, %j]
//     %t = for %k in 0 to %m step 1 carry (%s = %c) {
//       %a = load %A[%i, %k]  %b = load %B[%k, %j]  %p = mul %a, %b  %d = add %s, %p  yield %d }
//     store %C[%i, %j], %t }
//
// The loop is then seen to be a sum, and the nest a contraction: a product of matrices in whatever
// order its three loops were written, or as rows that are added up.
//
// Assumes: index form; parallelize_loops runs behind it.
// Refuses: loops that carry or hold anything else; updates by what is not associative; index spaces
// that depend on the iteration; elements that other elements or other iterations read; what may
// raise; arrays that may lie over others.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// What an iteration does: a nest that updates each element, behind scalars.
struct Update {
  const Binding* nest;
  const Binding* load;   // of the element
  const Binding* store;  // of what it becomes
};

class UpdateInterchanger : public ir::Mutator {
 public:
  UpdateInterchanger(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        may_overlap_(!function.entry || function.may_overlap),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kImap || b->op == OpCode::kForeach) {
      const std::vector<const Var*>& params = b->blocks[0]->params;
      for (size_t axis = 0; axis < params.size(); ++axis)
        extents_[params[axis]] = Apply(b->operands[axis]);
    }
    const Binding* rewritten = Rewrite(b);
    const auto update = UpdateOf(*rewritten);
    if (!update) return builder().Append(rewritten);
    context_.Note(b->span, "put inside what it adds to", Topic::kNests, Verdict::kDone);
    Write(*rewritten, *update);
  }

 private:
  std::optional<Update> UpdateOf(const Binding& loop) const {
    if (loop.op != OpCode::kFor || !loop.results.empty()) return std::nullopt;
    const Block& step = *loop.blocks[0];
    if (step.bindings.empty() || step.bindings.back()->op != OpCode::kForeach) return std::nullopt;
    const Binding& nest = *step.bindings.back();
    const Block& body = *nest.blocks[0];
    if (body.bindings.empty() || body.bindings.back()->op != OpCode::kStore) return std::nullopt;
    const Binding& store = *body.bindings.back();
    const Binding* load = ElementOf(body, store);
    if (load == nullptr || !IsAlone(step, nest, *load, store)) return std::nullopt;
    const VarSet inside = ir::DefinedVars(step);
    const auto is_outside = [&](const Operand& o) {
      return !o.IsVar() || !inside.contains(o.var());
    };
    if (loop.blocks[0]->params.size() != 1) return std::nullopt;
    if (!std::all_of(nest.operands.begin(), nest.operands.end(), is_outside)) return std::nullopt;
    return GoesThrough(nest, store, is_outside) ? std::optional(Update{&nest, load, &store})
                                                : std::nullopt;
  }

  // The load of the element that the block stores, where it is combined with something and not used
  // otherwise; null where it is not.
  static const Binding* ElementOf(const Block& body, const Binding& store) {
    const Binding *made = nullptr, *load = nullptr;
    for (const Binding* b : body.bindings) {
      if (b->results.size() == 1 && Operand(b->result()) == store.operands.back()) made = b;
    }
    if (made == nullptr || !IsAssociativeUpdate(*made)) return nullptr;
    const size_t sides = made->op == OpCode::kSub ? 1 : 2;
    for (const Binding* b : body.bindings) {
      const bool is_element =
          b->op == OpCode::kLoad && b->operands.size() + 1 == store.operands.size() &&
          std::equal(b->operands.begin(), b->operands.end(), store.operands.begin());
      const bool is_combined =
          is_element && std::count(made->operands.begin(), made->operands.begin() + sides,
                                   Operand(b->result())) == 1;
      if (is_combined) load = b;
    }
    if (load == nullptr) return nullptr;
    int uses = 0;
    for (const Binding* b : body.bindings)
      ir::ForEachUse(*b, [&](const Var* used) { uses += used == load->result(); });
    return uses == 1 ? load : nullptr;
  }

  static bool IsAssociativeUpdate(const Binding& made) {
    return made.operands.size() == 2 && (ir::IsAssociative(made.op) || made.op == OpCode::kSub);
  }

  // True where the iteration does nothing else, and reads nothing of what it stores but the element
  // itself.
  bool IsAlone(const Block& step, const Binding& nest, const Binding& load,
               const Binding& store) const {
    const Var* array = store.operands[0].var();
    if (may_overlap_ && !roots_.IsFresh(array)) return false;
    bool is_alone = true;
    const auto see = [&](const Binding& b) {
      const Effects effects = EffectsOf(b, roots_);
      is_alone &= effects.IsPure() && !Intersects(effects.reads, roots_.Of(array));
    };
    for (const Binding* b : step.bindings) {
      if (b != &nest) see(*b), is_alone &= IsScalar(*b);
    }
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (b != &load && b != &store) see(*b);
    }
    return is_alone;
  }

  static bool IsScalar(const Binding& b) { return b.op == OpCode::kLoad || ir::IsScalarOp(b.op); }

  // True where each trip of the nest stores an element of its own, the same in every iteration, and
  // one that is there though no iteration may be.
  bool GoesThrough(const Binding& nest, const Binding& store,
                   const std::function<bool(const Operand&)>& is_outside) const {
    const std::vector<const Var*>& params = nest.blocks[0]->params;
    const std::vector<Operand>& extents = store.operands[0].var()->type.dims();
    VarSet used;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const Operand& index = store.operands[1 + axis];
      const auto param = std::find(params.begin(), params.end(), index.var());
      const bool is_own = index.IsVar() && param != params.end();
      if (is_own && !used.insert(index.var()).second) return false;
      if (!is_own && !is_outside(index)) return false;
      const auto around = index.IsVar() ? extents_.find(index.var()) : extents_.end();
      const bool is_in_range = is_own ? nest.operands[param - params.begin()] == extents[axis]
                                      : around != extents_.end() && around->second == extents[axis];
      if (!is_in_range) return false;
    }
    return used.size() == params.size();
  }

  void Write(const Binding& loop, const Update& update) {
    const Block& step = *loop.blocks[0];
    const Block& body = *update.nest->blocks[0];
    const Operand element(update.load->result());
    Builder outside = builder().Nested();
    outside.Append(update.load);

    Builder inside = builder().Nested();
    const Var* before = inside.NewVar(update.load->result()->type, "so_far");
    for (const Binding* b : step.bindings) {
      if (b != update.nest) inside.Append(b);
    }
    Block rest{{}, body.bindings, {update.store->operands.back()}};
    std::erase_if(rest.bindings,
                  [&](const Binding* b) { return b == update.load || b == update.store; });
    const std::vector<Operand> made =
        ir::InlineBlock(inside, rest, ir::Substitution{{update.load->result(), before}});

    Binding sum = loop;
    const Var* total = outside.NewVar(before->type, "total");
    sum.results = {total};
    sum.operands.push_back(element);
    sum.attrs = {};
    sum.blocks = {inside.Finish({step.params[0], before}, made)};
    outside.Append(arena()->New(std::move(sum)));
    Binding store = *update.store;
    store.operands.back() = total;
    outside.Append(arena()->New(std::move(store)));
    Binding nest = *update.nest;
    nest.blocks = {outside.Finish(body.params, {})};
    builder().Append(arena()->New(std::move(nest)));
  }

  const Roots roots_;
  const bool may_overlap_;  // arguments, or two elements of one
  Context& context_;
  std::unordered_map<const Var*, Operand> extents_;  // that the indexes of nests around go to
};

}  // namespace

ir::Program InterchangeUpdates(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return UpdateInterchanger(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
