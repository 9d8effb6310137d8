#include "passes/analyses/find_updates.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

const Binding* MakerOf(const Block& body, const Operand& value) {
  for (const Binding* b : body.bindings) {
    if (b->results.size() == 1 && Operand(b->result()) == value) return b;
  }
  return nullptr;
}

int CountUses(const Block& body, const Var* value) {
  int uses = std::count(body.results.begin(), body.results.end(), Operand(value));
  for (const Binding* b : body.bindings)
    ir::ForEachUse(*b, [&](const Var* used) { uses += used == value; });
  return uses;
}

bool IsScalar(const Binding& b) { return b.op == OpCode::kLoad || ir::IsScalarOp(b.op); }

// `if (condition) { store }`, where `b` is that.
const Binding* StoreUnder(const Binding& b) {
  if (b.op != OpCode::kIf || !b.results.empty() || !b.blocks[1]->bindings.empty()) return nullptr;
  const std::vector<const Binding*>& then = b.blocks[0]->bindings;
  return then.size() == 1 && then[0]->op == OpCode::kStore ? then[0] : nullptr;
}

class UpdateFinder {
 public:
  UpdateFinder(const Binding& loop, const Roots& roots, bool may_overlap, const Ranges& ranges)
      : loop_(loop),
        step_(*loop.blocks[0]),
        roots_(roots),
        may_overlap_(may_overlap),
        ranges_(ranges) {}

  std::optional<Update> Find() {
    if (step_.bindings.empty()) return std::nullopt;
    found_.nest = step_.bindings.back();
    const bool is_found = loop_.results.empty() ? FindStored() : FindCarried();
    return is_found ? std::optional(found_) : std::nullopt;
  }

 private:
  const Block& body() const { return *found_.nest->blocks[0]; }

  bool FindStored() {
    if (found_.nest->op != OpCode::kForeach || body().bindings.empty()) return false;
    const Binding* last = body().bindings.back();
    found_.store = last->op == OpCode::kStore ? last : StoreUnder(*last);
    if (found_.store == nullptr) return false;
    if (found_.store != last) found_.branch = last;
    const std::vector<Operand>& operands = found_.store->operands;
    const Var* array = operands[0].var();
    if (may_overlap_ && !roots_.IsFresh(array)) return false;
    found_.value = operands.back();
    const std::vector<Operand> place(operands.begin() + 1, operands.end() - 1);
    if (!FindElement(array, place) || !IsAlone(array)) return false;
    return GoesThrough(array, place) || IsPlacedApart(place);
  }

  // The array of the next step is made of that of this one, element by element.
  bool FindCarried() {
    if (found_.nest->op != OpCode::kImap || loop_.results.size() != 1 ||
        found_.nest->results.size() != 1 || step_.results[0] != Operand(found_.nest->result()))
      return false;
    const Var* array = step_.params[1];
    found_.value = body().results[0];
    const std::vector<Operand> place(body().params.begin(), body().params.end());
    return array->type.dims() == found_.nest->operands && FindElement(array, place) &&
           IsAlone(array);
  }

  // The load of the element, which is combined with something and not used otherwise.
  bool FindElement(const Var* array, const std::vector<Operand>& place) {
    for (const Binding* b : body().bindings) {
      const bool is_element =
          b->op == OpCode::kLoad && b->operands[0] == Operand(array) &&
          std::equal(b->operands.begin() + 1, b->operands.end(), place.begin(), place.end());
      if (!is_element || !IsCombined(b->result())) continue;
      found_.load = b;
      return true;
    }
    return false;
  }

  bool IsCombined(const Var* element) const {
    const int uses = CountUses(body(), element);
    if (found_.branch != nullptr)
      return uses == 1 && IsChoice(found_.branch->operands[0], found_.value, element, element);
    const Binding* made = MakerOf(body(), found_.value);
    if (made == nullptr || CountUses(body(), made->result()) != 1) return false;
    if (made->op == OpCode::kSelect)
      return uses == 2 &&
             IsChoice(made->operands[0], made->operands[1], made->operands[2], element);
    if (uses != 1 || made->operands.size() != 2) return false;
    const size_t side = made->operands[0] == Operand(element) ? 0 : 1;
    if (made->operands[side] != Operand(element)) return false;
    const bool is_update = made->op == OpCode::kSub ? side == 0 : ir::IsAssociative(made->op);
    return is_update && (!IsRounded(*made) || Varies(made->operands[1 - side]));
  }

  // Sums and products of floats depend on their order.
  static bool IsRounded(const Binding& made) {
    const ir::DType dtype = made.result()->type.dtype();
    const bool rounds =
        made.op == OpCode::kAdd || made.op == OpCode::kSub || made.op == OpCode::kMul;
    return rounds && (ir::IsFloat(dtype) || ir::IsComplex(dtype));
  }

  // Whether the value is another in every iteration: what is added again and again is no sum over
  // the iterations, and is added in their order.
  bool Varies(const Operand& value) const {
    VarSet varying = {step_.params[0]};
    const auto varies = [&](const Operand& o) { return o.IsVar() && varying.contains(o.var()); };
    const auto see = [&](const Binding& b) {
      const VarSet free = ir::FreeVars(b);
      if (std::any_of(free.begin(), free.end(), [&](const Var* used) { return varies(used); }))
        varying.insert(b.results.begin(), b.results.end());
    };
    for (const Binding* b : step_.bindings) {
      if (b != found_.nest) see(*b);
    }
    for (const Binding* b : body().bindings) see(*b);
    return varies(value);
  }

  // Whether a comparison of the element and another value says which of the two is chosen.
  bool IsChoice(const Operand& condition, const Operand& one, const Operand& other,
                const Operand& element) const {
    const Binding* said = MakerOf(body(), condition);
    if (said == nullptr || !ir::IsComparison(said->op) || said->op == OpCode::kEq ||
        said->op == OpCode::kNe)
      return false;
    const Operand &left = said->operands[0], &right = said->operands[1];
    return (one == element) != (other == element) &&
           ((one == left && other == right) || (one == right && other == left));
  }

  // True where the iteration does nothing else, and reads nothing of what it stores but the element
  // itself.
  bool IsAlone(const Var* array) const {
    bool is_alone = true;
    const auto see = [&](const Binding& b) {
      const Effects effects = EffectsOf(b, roots_);
      is_alone &= effects.IsPure() && !Intersects(effects.reads, roots_.Of(array));
    };
    for (const Binding* b : step_.bindings) {
      if (b != found_.nest) see(*b), is_alone &= IsScalar(*b);
    }
    for (const Binding* b : body().bindings) {
      if (b != found_.load && b != found_.store && b != found_.branch) see(*b);
    }
    return is_alone;
  }

  // True where each trip of the nest stores an element of its own, the same in every iteration, and
  // one that is there though no iteration may be.
  bool GoesThrough(const Var* array, const std::vector<Operand>& place) const {
    const VarSet inside = ir::DefinedVars(step_);
    const auto is_outside = [&](const Operand& o) {
      return !o.IsVar() || !inside.contains(o.var());
    };
    const std::vector<Operand>& extents = found_.nest->operands;
    if (!std::all_of(extents.begin(), extents.end(), is_outside)) return false;
    const std::vector<const Var*>& params = body().params;
    VarSet used;
    for (size_t axis = 0; axis < place.size(); ++axis) {
      const Operand &index = place[axis], &size = array->type.dims()[axis];
      const auto param = std::find(params.begin(), params.end(), index.var());
      const bool is_own = index.IsVar() && param != params.end();
      if (is_own && !used.insert(index.var()).second) return false;
      const bool is_there = is_own
                                ? ranges_.ProvesLe(extents[param - params.begin()], size)
                                : is_outside(index) && ranges_.ProvesLe(Operand::Int(0), index) &&
                                      ranges_.ProvesLt(index, size);
      if (!is_there) return false;
    }
    return used.size() == params.size();
  }

  // True where each trip of the nest stores at a place that it computes, the same in every
  // iteration of the loop: iterations of a nest have what they store for themselves.
  bool IsPlacedApart(const std::vector<Operand>& place) {
    const VarSet inside = ir::DefinedVars(step_), own = ir::DefinedVars(body());
    const Operand& step = loop_.operands[2];
    const bool runs = step.constant().integer > 0
                          ? ranges_.ProvesLt(loop_.operands[0], loop_.operands[1])
                          : ranges_.ProvesLt(loop_.operands[1], loop_.operands[0]);
    found_.may_not_run = !runs;
    for (const Operand& extent : found_.nest->operands) {
      if (extent.IsVar() && inside.contains(extent.var())) return false;
    }
    found_.place = NeededBindings(body(), place);
    const auto is_same = [&](const Var* used) {
      return !inside.contains(used) || own.contains(used);
    };
    for (const Binding* b : found_.place) {
      const VarSet used = ir::FreeVars(*b);
      if (!ir::IsScalarOp(b->op) || !std::all_of(used.begin(), used.end(), is_same)) return false;
    }
    return std::all_of(place.begin(), place.end(),
                       [&](const Operand& at) { return !at.IsVar() || is_same(at.var()); });
  }

  const Binding& loop_;
  const Block& step_;
  const Roots& roots_;
  const bool may_overlap_;  // arguments, or two elements of one
  const Ranges& ranges_;
  Update found_;
};

}  // namespace

std::optional<Update> FindUpdate(const Binding& loop, const Roots& roots, bool may_overlap,
                                 const Ranges& ranges) {
  if (loop.op != OpCode::kFor) return std::nullopt;
  return UpdateFinder(loop, roots, may_overlap, ranges).Find();
}

}  // namespace parakeet::passes
