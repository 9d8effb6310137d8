// Makes all that a loop stores before it stores any of it, where its iterations read what only
// later ones store over.
//
// Before:
//   for %i in 0 to %n step 1 { %j = add %i, 1  %a = load %v[%j]  %b = exp %a  store %v[%i], %b }
// After:
//   %made: [n]f64 = imap (%i) in (%n) { %j = add %i, 1  %a = load %v[%j]  %b = exp %a  yield %b }
//   foreach (%i) in (%n) { %c = load %made[%i]  store %v[%i], %c }
//
// So are trees of options, and rows that are moved up, in place.
//
// Assumes: index form, behind prove_bounds: what is in range has no check.
// Refuses: what may raise; more than one store, or one in a branch or a loop inside; loads at
// places that an iteration before stores to, or whose distance from the store is not one number;
// arrays that overlap, or have two names.
#include <algorithm>
#include <optional>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/read_ahead.h"
#include "passes/lowering/loop_counts.h"
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

class StoreSeparator : public ir::Mutator {
 public:
  StoreSeparator(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        forms_(function),
        may_overlap_(function.may_overlap),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_loop = b->op == OpCode::kFor && b->results.empty() &&
                         b->attrs.Text(Attr::kKind).empty() && !may_overlap_;
    const Binding* store = is_loop ? OnlyStore(*b) : nullptr;
    if (store == nullptr || !ReadsAhead(*b, *store)) return Mutator::Visit(b);
    context_.Note(b->span, "all is made before any of it is stored", Topic::kThreads,
                  Verdict::kDone);
    Separate(*b, *store);
  }

 private:
  // The store that is all that the loop does; null where there is none.
  const Binding* OnlyStore(const Binding& loop) const {
    const Block& body = *loop.blocks[0];
    const Effects effects = EffectsOf(body, roots_);
    if (effects.may_fail || effects.writes.size() != 1) return nullptr;
    const Binding* store = nullptr;
    bool is_plain = true;
    ir::ForEachBinding(body, [&](const Binding& b) {
      is_plain &= b.op != OpCode::kCall && b.op != OpCode::kLibraryCall;
      if (ir::StoredOperands(b).empty()) return;
      is_plain &= store == nullptr && b.op == OpCode::kStore;
      store = &b;
    });
    const auto at = std::find(body.bindings.begin(), body.bindings.end(), store);
    const bool is_last = std::all_of(at, body.bindings.end(), [&](const Binding* b) {
      return b == store || EffectsOf(*b, roots_).reads.empty();
    });
    return is_plain && at != body.bindings.end() && is_last ? store : nullptr;
  }

  // Whether some load is of an element that a later iteration stores to, and none of one that an
  // earlier iteration has.
  bool ReadsAhead(const Binding& loop, const Binding& store) const {
    const Var* array = store.operands[0].var();
    if (roots_.Of(array).size() != 1 || ir::DefinedVars(*loop.blocks[0]).contains(array))
      return false;
    bool is_ahead = false, may_be = true;
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      for (const Operand& operand : b.operands) {
        const bool touches = &b != &store && operand.IsVar() && operand.var()->type.IsArray() &&
                             roots_.MayShare(operand.var(), array);
        if (!touches) continue;
        const auto distance = b.op == OpCode::kLoad && operand == store.operands[0]
                                  ? DistanceAhead(forms_, loop, store, loop, b)
                                  : std::nullopt;
        may_be &= distance && *distance >= 0;
        is_ahead |= distance && *distance > 0;
      }
    });
    return may_be && is_ahead;
  }

  void Separate(const Binding& loop, const Binding& store) {
    const Binding own = Binding{loop.op, {}, Apply(loop.operands), {}, {}, loop.span};
    const Operand count = TripCount(builder(), own);
    const Var* made =
        builder().NewVar(ir::Type::Array(ir::DTypeOf(store.operands.back()), {count}), "made");
    Block element = *loop.blocks[0];
    std::erase(element.bindings, &store);
    element.results = {store.operands.back()};
    Mutator::Visit(arena()->New(Binding{
        OpCode::kImap, {made}, {count}, {CountedBlock(builder(), own, element)}, {}, loop.span}));
    // The place, made again of what stands in the loop.
    Block places = *loop.blocks[0];
    std::erase(places.bindings, &store);
    ir::Builder writer = builder().Nested();
    const Block* at = CountedBlock(builder(), own, WithPlace(places, store));
    const Block* copied = ir::CloneBlock(arena(), *at);
    for (const Binding* b : copied->bindings) writer.Append(b);
    const Operand value = writer.Load(made, {copied->params[0]});
    writer.Store(store.operands[0], copied->results, value);
    const Block* body = writer.Finish(copied->params, {});
    Mutator::Visit(arena()->New(Binding{OpCode::kForeach, {}, {count}, {body}, {}, store.span}));
  }

  // The block with what the store's indexes are made of alone, yielding them.
  static Block WithPlace(Block block, const Binding& store) {
    block.results.assign(store.operands.begin() + 1, store.operands.end() - 1);
    VarSet needed;
    for (const Operand& index : block.results) {
      if (index.IsVar()) needed.insert(index.var());
    }
    for (size_t k = block.bindings.size(); k-- > 0;) {
      const Binding& b = *block.bindings[k];
      const bool is_needed = std::any_of(b.results.begin(), b.results.end(),
                                         [&](const Var* made) { return needed.contains(made); });
      if (!is_needed) {
        block.bindings.erase(block.bindings.begin() + k);
        continue;
      }
      needed.merge(ir::FreeVars(b));
    }
    return block;
  }

  Roots roots_;
  WrappingForms forms_;
  bool may_overlap_;
  Context& context_;
};

}  // namespace

ir::Program SeparateStores(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return StoreSeparator(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
