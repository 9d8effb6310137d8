// Hands what a loop stores on to the iterations that read it back.
//
// Before:
//   for %i in 1 to %n step 1 {
//     %j = sub %i, 1  %a = load %y[%j]  %b = load %x[%i]  %s = add %a, %b  store %y[%i], %s }
// After:
//   %some = lt 1, %n
//   %first = if %some { %j = sub 1, 1  %a = load %y[%j]  yield %a } else { yield 0.0 }
//   %last = for %i in 1 to %n step 1 (%a = %first) {
//     %b = load %x[%i]  %s = add %a, %b  store %y[%i], %s  yield %s }
//
// An iteration then waits for a sum, not for memory, and a sum that is carried is seen to be a
// scan.
//
// Assumes: index form, behind prove_bounds: a place in range is one that is not asked about.
// Refuses: an array with another store in the loop, or one that may be it by another name; a store
// in a branch or in a loop inside; what is read behind something that may raise, or by a loop
// inside: it might not be there to be read before the loop, as what a branch reads, unless it
// begins at a place that is there; values from more than kMostIterations before.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr int64_t kMostIterations = 4;

class Forwarder : public ir::Mutator {
 public:
  Forwarder(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context), roots_(function), forms_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (carried_.contains(b)) return;
    if (b->op == OpCode::kFor) {
      const std::vector<Recurrence> found = FindRecurrences(*b);
      if (!found.empty()) return Carry(*b, found);
    }
    Mutator::Visit(b);
  }

 private:
  // A load of what the store wrote so many iterations before.
  struct Reading {
    const Binding* load;
    int64_t distance;
  };

  struct Recurrence {
    const Binding* store;
    bool always_stores;  // in every iteration
    std::vector<Reading> readings;
    int64_t farthest = 0;
  };

  std::vector<Recurrence> FindRecurrences(const Binding& loop) {
    std::vector<Recurrence> found;
    const Block& body = *loop.blocks[0];
    bool runs = true;  // whatever iteration begins gets to the binding
    for (const Binding* b : body.bindings) {
      runs &= !MayLeave(*b);
      if (b->op != OpCode::kStore || !IsOnlyWriter(*b, body)) continue;
      Recurrence recurrence{b, runs, {}};
      for (const Binding* reader : body.bindings) {
        if (MayLeave(*reader)) break;
        FindReadings(*reader, loop, false, &recurrence);
      }
      if (!recurrence.readings.empty()) found.push_back(std::move(recurrence));
    }
    return found;
  }

  // What the binding reads back: of loads, and of branches where the place is there in any case.
  void FindReadings(const Binding& b, const Binding& loop, bool in_branch,
                    Recurrence* recurrence) const {
    if (b.op == OpCode::kIf) {
      for (const Block* block : b.blocks) {
        for (const Binding* inner : block->bindings) FindReadings(*inner, loop, true, recurrence);
      }
    }
    const std::optional<int64_t> distance = DistanceOf(b, *recurrence->store, loop);
    if (!distance || *distance < 1 || *distance > kMostIterations) return;
    if (in_branch && !IsThereBefore(*recurrence, loop, *distance)) return;
    recurrence->readings.push_back({&b, *distance});
    recurrence->farthest = std::max(recurrence->farthest, *distance);
  }

  // True where the place of the store, so many iterations before the first, is known to be in the
  // array: between 0 and where the first one stores.
  bool IsThereBefore(const Recurrence& recurrence, const Binding& loop, int64_t distance) const {
    const Binding& store = *recurrence.store;
    const Var* index = loop.blocks[0]->params[0];
    const int64_t step = loop.operands[2].constant().integer;
    if (!recurrence.always_stores || !loop.operands[0].IsConstant()) return false;
    const int64_t before = loop.operands[0].constant().integer - distance * step;
    for (size_t k = 1; k + 1 < store.operands.size(); ++k) {
      const LinearForm place = forms_.Of(store.operands[k]);
      const int64_t moved = place.Coefficient(index);
      if (moved == 0) continue;
      if (place.terms.size() != 1 || moved * step < 0) return false;
      if (place.constant + moved * before < 0) return false;
    }
    return true;
  }

  // Whether what is behind it may not run.
  static bool MayLeave(const Binding& binding) {
    bool may_leave = false;
    ir::ForEachBinding(Block{{}, {&binding}, {}}, [&](const Binding& b) {
      may_leave |= b.op == OpCode::kCheck || b.op == OpCode::kCall || b.op == OpCode::kWhile;
    });
    return may_leave;
  }

  // True where the loop changes the array by this store alone.
  bool IsOnlyWriter(const Binding& store, const Block& body) {
    const VarSet inside = ir::DefinedVars(body);
    const Var* array = store.operands[0].var();
    if (inside.contains(array)) return false;
    bool is_only = true;
    ir::ForEachBinding(body, [&](const Binding& b) {
      for (size_t k : ir::StoredOperands(b)) {
        is_only &= &b == &store || !roots_.MayShare(b.operands[k].var(), array);
      }
      is_only &= b.op != OpCode::kCall && b.op != OpCode::kLibraryCall;
    });
    return is_only;
  }

  // How many iterations before the load its place was stored to; none where that varies.
  std::optional<int64_t> DistanceOf(const Binding& load, const Binding& store,
                                    const Binding& loop) const {
    if (load.op != OpCode::kLoad || load.operands[0] != store.operands[0]) return std::nullopt;
    const Var* index = loop.blocks[0]->params[0];
    const int64_t step = loop.operands[2].constant().integer;
    std::optional<int64_t> distance;
    for (size_t k = 1; k < load.operands.size(); ++k) {
      const LinearForm place = forms_.Of(store.operands[k]);
      if (!IsFixed(place, loop)) return std::nullopt;
      const LinearForm gap = Difference(place, forms_.Of(load.operands[k]));
      if (!gap.IsConstant()) return std::nullopt;
      const int64_t moved = place.Coefficient(index);
      if (moved == 0) {
        if (gap.constant != 0) return std::nullopt;
        continue;
      }
      if (std::abs(moved) != 1 || gap.constant % step != 0) return std::nullopt;
      const int64_t own = gap.constant / (moved * step);
      if (distance.value_or(own) != own) return std::nullopt;
      distance = own;
    }
    return distance;
  }

  // True for a form of the loop's index and values from outside it.
  static bool IsFixed(const LinearForm& form, const Binding& loop) {
    const Block& body = *loop.blocks[0];
    VarSet inside = ir::DefinedVars(body);
    inside.erase(body.params[0]);
    return std::none_of(form.terms.begin(), form.terms.end(),
                        [&](const auto& term) { return inside.contains(term.first); });
  }

  // --- Writing ---

  // The loop, which carries what each store wrote last, the newest first.
  void Carry(const Binding& loop, const std::vector<Recurrence>& found) {
    const Block& old = *loop.blocks[0];
    Binding carrying = loop;
    Block body = old;
    for (const Recurrence& recurrence : found) {
      const ir::DType dtype = ir::DTypeOf(recurrence.store->operands[0]);
      std::vector<const Var*> carried;
      for (int64_t distance = 1; distance <= recurrence.farthest; ++distance) {
        const bool is_newest = distance == 1;
        carrying.operands.push_back(Before(loop, recurrence, distance));
        carried.push_back(builder().NewVar(ir::Type(dtype), "before"));
        body.results.push_back(is_newest ? recurrence.store->operands.back()
                                         : Operand(carried[distance - 2]));
        carrying.results.push_back(builder().NewVar(ir::Type(dtype), "last"));
      }
      body.params.insert(body.params.end(), carried.begin(), carried.end());
      for (const Reading& reading : recurrence.readings) {
        Replace(reading.load->result(), carried[reading.distance - 1]);
        carried_.insert(reading.load);
      }
      context_.Note(recurrence.store->span, "what is stored is carried to where it is read",
                    Topic::kOther, Verdict::kDone);
    }
    carrying.blocks = {arena()->New(std::move(body))};
    Mutator::Visit(arena()->New(std::move(carrying)));
  }

  // What the store would have written so long before the loop begins, where it runs.
  Operand Before(const Binding& loop, const Recurrence& recurrence, int64_t distance) {
    const Operand lo = Apply(loop.operands[0]), hi = Apply(loop.operands[1]);
    const int64_t step = loop.operands[2].constant().integer;
    const ir::DType dtype = ir::DTypeOf(recurrence.store->operands[0]);
    // Of a value that is first read in a later iteration, whether there is one.
    const Operand end = builder().Add(lo, Operand::Int(FirstUse(recurrence, distance) * step));
    const Operand runs = builder().Scalar(step > 0 ? OpCode::kLt : OpCode::kGt, {end, hi});
    ir::Builder inner = builder().Nested();
    const Operand at = inner.Sub(lo, Operand::Int(distance * step));
    std::vector<Operand> index;
    for (size_t k = 1; k + 1 < recurrence.store->operands.size(); ++k) {
      index.push_back(PlaceAt(inner, recurrence.store->operands[k], loop, at));
    }
    const Operand value = inner.Load(Apply(recurrence.store->operands[0]), index);
    const Block* load = inner.Finish({}, {value});
    const Block* none = builder().Nested().Finish({}, {Operand(ir::ZeroOf(dtype))});
    return builder().EmitOne(OpCode::kIf, ir::Type(dtype), {runs}, {}, {load, none}, "first");
  }

  // The iteration, counted from 0, that reads what was stored so long before the loop.
  static int64_t FirstUse(const Recurrence& recurrence, int64_t distance) {
    int64_t first = kMostIterations;
    for (const Reading& reading : recurrence.readings) {
      if (reading.distance >= distance) first = std::min(first, reading.distance - distance);
    }
    return first;
  }

  // The place that the operand is in the iteration of index `at`.
  Operand PlaceAt(ir::Builder& builder, const Operand& place, const Binding& loop,
                  const Operand& at) {
    const LinearForm form = forms_.Of(place);
    Operand sum = Operand::Int(form.constant);
    for (const auto& [var, times] : form.terms) {
      const Operand value = var == loop.blocks[0]->params[0] ? at : Apply(Operand(var));
      sum = builder.Add(builder.Mul(value, Operand::Int(times)), sum);
    }
    return sum;
  }

  Context& context_;
  const Roots roots_;
  const WrappingForms forms_;
  std::unordered_set<const Binding*> carried_;  // loads that are none any more
};

}  // namespace

ir::Program ForwardStores(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Forwarder(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
