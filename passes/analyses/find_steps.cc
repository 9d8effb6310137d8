#include "passes/analyses/find_steps.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/lowering/loop_counts.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Scalars beside the maps are computed again for each element.
constexpr int kCheapBeside = 48;

bool IsNest(const Binding& b) { return b.op == OpCode::kImap || b.op == OpCode::kForeach; }

// Reads a loop's steps. Its values are those of the function as it was written.
class StepReader {
 public:
  StepReader(const Roots& roots, const WrappingForms& forms, const Binding& loop)
      : roots_(roots), forms_(forms), loop_(loop), body_(*loop.blocks[0]) {}

  // Why the loop stays outside; empty where `steps` says what goes around it.
  std::string Read(Steps& steps) {
    const std::string reason = FindNests(steps);
    if (!reason.empty()) return reason;
    inside_ = ir::DefinedVars(body_);
    return WhyNotOwned(steps);
  }

 private:
  // An array that changes from step to step, with every place at which the steps touch it, in terms
  // of the first nest's indexes.
  struct Varying {
    const Var* array = nullptr;
    std::vector<std::vector<LinearForm>> places;
  };

  std::string FindNests(Steps& steps) {
    int beside = 0;
    for (const Binding* b : body_.bindings) {
      if (EffectsOf(*b, roots_).may_fail) return "a step may raise";
      if (IsNest(*b)) {
        if (!steps.nests.empty() && b->operands != steps.extents)
          return "its steps go through index spaces of other sizes";
        steps.nests.push_back(b);
        steps.extents = b->operands;
      } else if (ir::IsScalarOp(b->op) || b->op == OpCode::kLoad) {
        beside += InfoOf(b->op).cost;
      } else {
        return "a step holds " + std::string(Name(b->op));
      }
    }
    if (steps.nests.empty()) return "its steps go through no arrays";
    if (beside > kCheapBeside) return "scalars beside the arrays are dear";
    return "";
  }

  std::string WhyNotOwned(Steps& steps) {
    const VarSet writes = EffectsOf(body_, roots_).writes;
    for (const Operand& extent : steps.extents) {
      if (extent.IsVar() && inside_.contains(extent.var())) return "its sizes change";
    }
    std::string reason = FindCarried(steps, writes);
    if (!reason.empty()) return reason;
    for (const Binding* b : body_.bindings) {
      reason = IsNest(*b) ? SeeNest(*b, *steps.nests[0], writes) : SeeScalar(*b, writes);
      if (!reason.empty()) return reason;
    }
    for (const Varying& varying : varying_) {
      for (const Var* index : steps.indexes()) {
        if (!IsOwned(varying, index))
          return NameOf(varying.array) + " is read or written by other elements of a step";
      }
    }
    const std::string reason_apart = WhyFarApart(steps);
    if (reason_apart.empty()) FindHeld(steps);
    return reason_apart;
  }

  void FindHeld(Steps& steps) const {
    const VarSet looped = StoredInLoops(steps);
    for (const Varying& varying : varying_) {
      const bool is_one_place =
          std::all_of(varying.places.begin(), varying.places.end(),
                      [&](const auto& place) { return SameForms(place, varying.places[0]); });
      const bool is_made = inside_.contains(varying.array) || looped.contains(varying.array);
      if (is_one_place && !is_made && IsSameEveryStep(varying.places[0], steps))
        steps.held.push_back({varying.array, varying.places[0]});
    }
  }

  bool IsSameEveryStep(const std::vector<LinearForm>& place, const Steps& steps) const {
    const std::vector<const Var*>& indexes = steps.indexes();
    return std::all_of(place.begin(), place.end(), [&](const LinearForm& form) {
      return std::all_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
        return std::count(indexes.begin(), indexes.end(), term.first) > 0 ||
               !inside_.contains(term.first);
      });
    });
  }

  // The arrays that are stored to in a loop inside a nest.
  static VarSet StoredInLoops(const Steps& steps) {
    VarSet stored;
    for (const Binding* nest : steps.nests) {
      ir::ForEachBinding(*nest->blocks[0], [&](const Binding& b) {
        if (b.op == OpCode::kIf) return;
        for (const Block* block : b.blocks) {
          ir::ForEachBinding(*block, [&](const Binding& inner) {
            if (inner.op == OpCode::kStore) stored.insert(inner.operands[0].var());
          });
        }
      });
    }
    return stored;
  }

  // What the loop carries are arrays over the index space, which its maps make.
  std::string FindCarried(Steps& steps, const VarSet& writes) {
    for (size_t k = 0; k < loop_.results.size(); ++k) {
      const Var* carried = body_.params[1 + k];
      if (!carried->type.IsArray()) return "it carries " + NameOf(carried);
      if (loop_.results[k]->type.dims() != steps.extents || carried->type.dims() != steps.extents)
        return NameOf(carried) + " has other sizes";
      if (!writes.empty()) return NameOf(carried) + " is carried beside stores";
      Makes(carried, *steps.nests[0]);
    }
    std::unordered_map<const Var*, ir::Attributes> orders;
    for (const Binding* nest : steps.nests) {
      for (const Var* result : nest->results) orders[result] = nest->attrs;
    }
    bool is_first = true;
    for (const Operand& result : body_.results) {
      if (std::count(body_.results.begin(), body_.results.end(), result) > 1)
        return "it carries one array on twice";
      if (IsCarried(result)) continue;
      const auto made = result.IsVar() ? orders.find(result.var()) : orders.end();
      if (made == orders.end()) return "what it carries on is not made by the step";
      if (!std::exchange(is_first, false) && made->second != steps.order)
        return "what it carries on lies in memory in different orders";
      steps.order = made->second;
    }
    return FindHandedOn(steps);
  }

  bool IsCarried(const Operand& value) const {
    return value.IsVar() && std::find(body_.params.begin() + 1, body_.params.end(), value.var()) !=
                                body_.params.end();
  }

  // How many steps hand an array on, from name to name, until none has it.
  std::string FindHandedOn(Steps& steps) const {
    for (Operand result : body_.results) {
      int64_t until_made = 1;
      while (IsCarried(result)) {
        if (++until_made > static_cast<int64_t>(body_.params.size()))
          return "arrays that it carries only change places";
        const auto at = std::find(body_.params.begin() + 1, body_.params.end(), result.var());
        result = body_.results[at - body_.params.begin() - 1];
      }
      steps.until_made = std::max(steps.until_made, until_made);
    }
    return "";
  }

  // The array is made, an element at each index.
  void Makes(const Var* array, const Binding& first) {
    Varying& varying = VaryingOf(array);
    varying.places.emplace_back();
    for (const Var* param : first.blocks[0]->params)
      varying.places.back().push_back(LinearForm::Of(param));
  }

  Varying& VaryingOf(const Var* array) {
    for (Varying& varying : varying_) {
      if (varying.array == array) return varying;
    }
    varying_.push_back({array, {}});
    return varying_.back();
  }

  bool Varies(const Var* array, const VarSet& writes) const {
    return inside_.contains(array) || Intersects(roots_.Of(array), writes);
  }

  std::string SeeScalar(const Binding& b, const VarSet& writes) const {
    if (b.op != OpCode::kLoad || !Varies(b.operands[0].var(), writes)) return "";
    return "a step reads " + NameOf(b.operands[0].var()) + " beside its arrays";
  }

  std::string SeeNest(const Binding& nest, const Binding& first, const VarSet& writes) {
    std::string reason;
    const VarSet own = ir::DefinedVars(*nest.blocks[0]);
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      const bool plain = b.op == OpCode::kLoad || b.op == OpCode::kStore;
      for (const Operand& operand : b.operands) {
        if (!operand.IsVar() || !operand.var()->type.IsArray()) continue;
        const Var* array = operand.var();
        if (own.contains(array) || !Varies(array, writes)) continue;
        if (!plain || operand != b.operands[0]) reason = NameOf(array) + " is read as a whole";
        if (plain) See(b, nest, first);
      }
      for (const Block* block : b.blocks) {
        for (const Operand& result : block->results) {
          if (result.IsVar() && result.var()->type.IsArray() && !own.contains(result.var()))
            reason = NameOf(result.var()) + " is chosen as a whole";
        }
      }
    });
    for (const Operand& result : nest.blocks[0]->results) {
      if (!ir::TypeOf(result).IsScalar()) reason = "the elements of a map are arrays";
    }
    for (const Var* result : nest.results) Makes(result, first);
    return reason.empty() ? WhyTwoNames() : reason;
  }

  void See(const Binding& access, const Binding& nest, const Binding& first) {
    Varying& varying = VaryingOf(access.operands[0].var());
    varying.places.emplace_back();
    for (int axis = 0; axis < varying.array->type.rank(); ++axis) {
      LinearForm form = forms_.Of(access.operands[1 + axis]);
      for (size_t k = 0; k < nest.blocks[0]->params.size(); ++k) {
        form = form.With(nest.blocks[0]->params[k], LinearForm::Of(first.blocks[0]->params[k]));
      }
      varying.places.back().push_back(std::move(form));
    }
  }

  std::string WhyTwoNames() const {
    for (const Varying& a : varying_) {
      if (!inside_.contains(a.array) && roots_.Of(a.array).size() != 1)
        return NameOf(a.array) + " may be one of several arrays";
      for (const Varying& b : varying_) {
        const bool made = inside_.contains(a.array) || inside_.contains(b.array);
        if (&a != &b && !made && roots_.MayShare(a.array, b.array))
          return "two names may stand for one array";
      }
    }
    return "";
  }

  // True where on some axis of the array every place is the same multiple of the index and one same
  // amount, which no step changes.
  bool IsOwned(const Varying& varying, const Var* index) const {
    for (size_t axis = 0; axis < varying.places[0].size(); ++axis) {
      const LinearForm& form = varying.places[0][axis];
      const bool follows = form.Coefficient(index) != 0 &&
                           std::abs(form.Coefficient(index)) <= kLargestMultiple &&
                           std::all_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
                             return term.first == index || !inside_.contains(term.first);
                           });
      if (follows && std::all_of(varying.places.begin(), varying.places.end(),
                                 [&](const auto& place) { return SameForm(place[axis], form); }))
        return true;
    }
    return false;
  }

  // Why the elements of one step lie together, and those of one index do not. What few steps go
  // through stays in cache from one index to the next.
  std::string WhyFarApart(const Steps& steps) const {
    if (RunsAtMost(loop_, kFewSteps)) return "";
    const Var* step = body_.params[0];
    std::string reason;
    for (const Binding* nest : steps.nests) {
      ir::ForEachBinding(*nest->blocks[0], [&](const Binding& b) {
        if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
        const Var* array = b.operands[0].var();
        const int rank = array->type.rank();
        const LinearForm last = forms_.Of(b.operands[rank]);
        bool moves = false;
        for (int axis = 1; axis < rank; ++axis)
          moves |= forms_.Of(b.operands[axis]).Coefficient(step) != 0;
        for (const Var* index : nest->blocks[0]->params) {
          if (moves && last.Coefficient(index) != 0)
            reason = NameOf(array) + " lies in memory as it is gone through";
        }
      });
    }
    return reason;
  }

  static constexpr int64_t kLargestMultiple = 1 << 15;
  static constexpr int64_t kFewSteps = 16;

  const Roots& roots_;
  const WrappingForms& forms_;
  const Binding& loop_;
  const Block& body_;
  VarSet inside_;
  std::vector<Varying> varying_;
};

}  // namespace

std::string FindSteps(const Binding& loop, const Roots& roots, const WrappingForms& forms,
                      Steps& steps) {
  return StepReader(roots, forms, loop).Read(steps);
}

}  // namespace parakeet::passes
