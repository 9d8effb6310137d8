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
// order its three loops were written, or as rows that are added up. So is an array that each
// iteration makes of the last one's, element by element. Updates are by what is associative, or
// choose the less or the greater of the element and a value.
//
// Assumes: index form; parallelize_loops runs behind it.
// Refuses: loops that carry or hold anything else; other updates; floats that are the same in every
// iteration, whose order is kept; index spaces that depend on the iteration; elements that other
// elements or other iterations read, or that are not known to be there where no iteration is (at a
// place that is computed they are where the loop runs, which is asked outside all nests); what may
// raise; arrays that may lie over others.
#include <cstdlib>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_updates.h"
#include "passes/analyses/own_inits.h"
#include "passes/lowering/loop_counts.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What all elements share of an iteration may cost as much as a few operations: it runs again for
// each of them.
constexpr int kCheapShared = 8;

// The values that all elements share of an iteration, and the arrays that hold one an iteration.
using Shared = std::vector<std::pair<const Var*, const Var*>>;

class UpdateInterchanger : public ir::Mutator {
 public:
  UpdateInterchanger(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        may_overlap_(!function.entry || function.may_overlap),
        own_inits_(function),
        context_(context) {
    for (const Var* size : function.Sizes()) ranges_.IsSize(size);
  }

 protected:
  void Visit(const Binding* b) override {
    const size_t mark = ranges_.Enter();
    BoundIndexes(*b);
    const bool is_nest = IsNest(*b);
    nests_around_ += is_nest;
    const Binding* rewritten = Rewrite(b);
    nests_around_ -= is_nest;
    ranges_.Leave(mark);
    const auto update = FindUpdate(*rewritten, roots_, may_overlap_, ranges_);
    // Behind a branch, elements are in no nest with those of the nests around.
    if (update && !(update->may_not_run && nests_around_ > 0)) {
      context_.Note(b->span, "put inside what it adds to", Topic::kNests, Verdict::kDone);
      builder().set_span(b->span);
      if (rewritten->results.empty()) WriteStored(*rewritten, *update);
      else WriteCarried(*rewritten, *update);
    } else {
      builder().Append(rewritten);
    }
    ranges_.Define(*rewritten);
    if (b->op == OpCode::kCheck) ranges_.Assume(rewritten->operands[0], true);
  }

  const Block* VisitBlock(const Block* block) override {
    const size_t mark = ranges_.Enter();
    const Block* visited = Mutator::VisitBlock(block);
    ranges_.Leave(mark);
    return visited;
  }

 private:
  static bool IsNest(const Binding& b) { return b.op == OpCode::kImap || b.op == OpCode::kForeach; }

  void BoundIndexes(const Binding& b) {
    for (size_t axis = 0; IsNest(b) && axis < b.blocks[0]->params.size(); ++axis)
      ranges_.Bound(b.blocks[0]->params[axis], Operand::Int(0), Apply(b.operands[axis]), 1);
    if (b.op == OpCode::kFor) {
      ranges_.Bound(b.blocks[0]->params[0], Apply(b.operands[0]), Apply(b.operands[1]),
                    b.operands[2].constant().integer);
    }
  }

  void WriteStored(const Binding& loop, const Update& update) {
    const Shared shared = MakeShared(loop, update);
    Builder outside = builder().Nested();
    for (const Binding* b : update.place) outside.Append(b);
    outside.Append(update.load);
    const Operand total = WriteLoop(loop, update, shared, update.load->result(), outside);
    Binding store = *update.store;
    store.operands.back() = total;
    outside.Append(arena()->New(std::move(store)));
    Binding nest = *update.nest;
    nest.blocks = {outside.Finish(update.nest->blocks[0]->params, {})};
    const Binding* all = arena()->New(std::move(nest));
    if (!update.may_not_run) return builder().Append(all);
    Builder then = builder().Nested();
    then.Append(all);
    builder().Append(arena()->New(Binding{OpCode::kIf,
                                          {},
                                          {RunsAtAll(builder(), loop)},
                                          {then.Finish({}, {}), builder().Nested().Finish({}, {})},
                                          {},
                                          loop.span}));
  }

  // Where there is no iteration, the array stays the one that it was, if anyone can tell.
  void WriteCarried(const Binding& loop, const Update& update) {
    const Block& body = *update.nest->blocks[0];
    const Operand& first = loop.operands[3];
    const Shared shared = MakeShared(loop, update);
    Builder outside = builder().Nested();
    const Operand element =
        outside.Load(first, std::vector<Operand>(body.params.begin(), body.params.end()));
    const Operand total = WriteLoop(loop, update, shared, element, outside);
    Binding nest = *update.nest;
    nest.blocks = {outside.Finish(body.params, {total})};
    if (own_inits_.HasAll(loop, nest.attrs)) {
      nest.results = loop.results;
      return builder().Append(arena()->New(std::move(nest)));
    }
    nest.results = {builder().NewVar(nest.result()->type, nest.result()->hint)};
    const Operand runs = RunsAtAll(builder(), loop);
    Builder then = builder().Nested();
    then.Append(arena()->New(nest));
    builder().Append(arena()->New(
        Binding{OpCode::kIf,
                loop.results,
                {runs},
                {then.Finish({}, {nest.result()}), builder().Nested().Finish({}, {first})},
                {},
                loop.span}));
  }

  // Makes dear values before the loop, which compute them once an iteration, in lanes. Around
  // elements that a nest goes through, contractions do so.
  Shared MakeShared(const Binding& loop, const Update& update) {
    const Block scalars = ScalarsOf(loop, update);
    if (nests_around_ > 0 || CostOf(scalars) <= kCheapShared) return {};
    const Operand trips = TripCount(builder(), loop);
    Binding arrays{OpCode::kImap, {}, {trips}, {}, {}, loop.span};
    Shared shared;
    for (const Operand& value : scalars.results) {
      const ir::Type type = ir::Type::Array(value.var()->type.dtype(), {trips});
      arrays.results.push_back(builder().NewVar(type, value.var()->hint));
      shared.emplace_back(value.var(), arrays.results.back());
    }
    arrays.blocks = {CountedBlock(builder(), loop, scalars)};
    builder().Append(arena()->New(std::move(arrays)));
    return shared;
  }

  // What an iteration computes beside its nest, and those values that the nest reads.
  static Block ScalarsOf(const Binding& loop, const Update& update) {
    const Block& step = *loop.blocks[0];
    const ir::VarSet used = ir::FreeVars(*update.nest->blocks[0]);
    Block scalars{{step.params[0]}, step.bindings, {}};
    std::erase(scalars.bindings, update.nest);
    for (const Binding* b : scalars.bindings) {
      if (used.contains(b->result())) scalars.results.push_back(b->result());
    }
    return scalars;
  }

  // The loop over one element, which is `first` before it; what it is behind it.
  Operand WriteLoop(const Binding& loop, const Update& update, const Shared& shared,
                    const Operand& first, Builder& outside) {
    const Block& step = *loop.blocks[0];
    Builder inside = builder().Nested();
    const Var* before = inside.NewVar(update.load->result()->type, "so_far");
    ir::Substitution values{{update.load->result(), before}};
    if (shared.empty()) {
      for (const Binding* b : step.bindings) {
        if (b != update.nest) inside.Append(b);
      }
    } else {
      const Operand trip = TripOf(loop, inside);
      for (const auto& [value, array] : shared) values[value] = inside.Load(array, {trip});
    }
    Block rest{{}, update.nest->blocks[0]->bindings, {update.value}};
    if (update.branch != nullptr) rest.results.push_back(update.branch->operands[0]);
    std::erase_if(rest.bindings, [&](const Binding* b) {
      return b == update.load || b == update.store || b == update.branch;
    });
    std::vector<Operand> made = ir::InlineBlock(inside, rest, std::move(values));
    if (update.branch != nullptr)
      made = {inside.Scalar(OpCode::kSelect, {made[1], made[0], before})};

    Binding sum = loop;
    const Var* total = outside.NewVar(before->type, "total");
    sum.results = {total};
    sum.operands.resize(3);
    sum.operands.push_back(first);
    sum.attrs = {};
    sum.blocks = {inside.Finish({step.params[0], before}, made)};
    outside.Append(arena()->New(std::move(sum)));
    return total;
  }

  // The number of the iteration that the loop's index is in.
  static Operand TripOf(const Binding& loop, Builder& inside) {
    const Operand index(loop.blocks[0]->params[0]), &lo = loop.operands[0];
    const int64_t step = loop.operands[2].constant().integer;
    const Operand far = step > 0 ? inside.Sub(index, lo) : inside.Sub(lo, index);
    return inside.Scalar(OpCode::kFloorDiv, {far, Operand::Int(std::abs(step))});
  }

  const Roots roots_;
  const bool may_overlap_;  // arguments, or two elements of one
  const OwnInits own_inits_;
  int nests_around_ = 0;
  Context& context_;
  Ranges ranges_;
};

}  // namespace

ir::Program InterchangeUpdates(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return UpdateInterchanger(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
