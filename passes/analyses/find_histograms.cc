#include "passes/analyses/find_histograms.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/stored_places.h"
#include "passes/lowering/checks_alone.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

bool Touches(const Block& block, const Var* array) { return ir::FreeVars(block).contains(array); }

bool UsesValue(const Binding& b, const Var* value) { return ir::FreeVars(b).contains(value); }

// Taking away is adding what has the other sign; every step is to have one combine.
bool IsStep(const Binding& b, const Binding& load, Histogram& h) {
  if (!ir::IsScalarOp(b.op) || b.operands.size() != 2) return false;
  const bool is_first = b.operands[0] == Operand(load.result());
  const bool takes_away = b.op == OpCode::kSub && is_first;
  if (!takes_away && !(ir::IsAssociative(b.op) && ir::IsCommutative(b.op))) return false;
  const OpCode combine = takes_away ? OpCode::kAdd : b.op;
  if (!h.steps.empty() && h.combine != combine) return false;
  h.combine = combine;
  h.steps.push_back(&b);
  return true;
}

using Uses = std::unordered_map<const Var*, int>;

// False too for what nobody reads, as where a part of a loop is looked at without the rest.
bool IsUsedOnce(const Binding& b, const Uses& uses) {
  const auto found = uses.find(b.result());
  return found != uses.end() && found->second == 1;
}

// Finds what a block does with the array: each load feeds one step alone, and that one store to the
// same place. Between the two, others may be under way at places that are plainly apart, as the
// coordinates of a point are.
class Pairing {
 public:
  Pairing(const Uses& uses, Histogram& h) : uses_(uses), h_(h) {}

  bool Finds(const Block& block) {
    std::vector<Pair> outer = std::exchange(begun_, {});
    const bool all = std::all_of(block.bindings.begin(), block.bindings.end(),
                                 [&](const Binding* b) { return See(*b); });
    const bool are_stored = begun_.empty();
    begun_ = std::move(outer);
    return all && are_stored;
  }

 private:
  struct Pair {
    const Binding* load;
    const Binding* step = nullptr;
  };

  bool See(const Binding& b) {
    for (const Block* inner : b.blocks) {
      if (!begun_.empty() && Touches(*inner, h_.array)) return false;
      if (!Finds(*inner)) return false;
    }
    const bool accesses =
        (b.op == OpCode::kLoad || b.op == OpCode::kStore) && b.operands[0] == Operand(h_.array);
    if (!accesses) return SeeSteps(b);
    return b.op == OpCode::kLoad ? SeeLoad(b) : SeeStore(b);
  }

  bool SeeLoad(const Binding& load) {
    const bool is_apart = std::all_of(begun_.begin(), begun_.end(),
                                      [&](const Pair& pair) { return AreApart(load, *pair.load); });
    begun_.push_back({&load});
    return is_apart && IsUsedOnce(load, uses_);
  }

  bool SeeStore(const Binding& store) {
    const auto pair = std::find_if(begun_.begin(), begun_.end(), [&](const Pair& each) {
      return each.step != nullptr && store.operands.back() == Operand(each.step->result());
    });
    if (pair == begun_.end()) return false;
    const Binding& load = *pair->load;
    begun_.erase(pair);
    return std::equal(load.operands.begin(), load.operands.end(), store.operands.begin());
  }

  bool SeeSteps(const Binding& b) {
    for (Pair& pair : begun_) {
      if (!UsesValue(b, pair.load->result())) continue;
      if (!IsStep(b, *pair.load, h_) || !IsUsedOnce(b, uses_)) return false;
      pair.step = &b;
    }
    return true;
  }

  // True where the places differ in a constant.
  static bool AreApart(const Binding& a, const Binding& b) {
    for (size_t axis = 1; axis < a.operands.size(); ++axis) {
      const Operand &left = a.operands[axis], &right = b.operands[axis];
      if (left.IsConstant() && right.IsConstant() && left != right) return true;
    }
    return false;
  }

  const Uses& uses_;
  Histogram& h_;
  std::vector<Pair> begun_;
};

// True where a later iteration's checks have later places: up to the body's index, which decides,
// they name nothing that is computed in it.
bool HasRisingPlaces(const Block& body) {
  const auto made = ir::Definitions(body);
  bool rises = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op != OpCode::kCheck) return;
    for (int64_t k = 1; k <= b.attrs.Int(ir::Attr::kAt); ++k) {
      if (b.operands[k] == Operand(body.params[0])) return;
      rises &= !b.operands[k].IsVar() || !made.contains(b.operands[k].var());
    }
  });
  return rises;
}

}  // namespace

std::optional<ir::Constant> Histogram::Start() const {
  const ir::DType dtype = array->type.dtype();
  return ir::IsComplex(dtype) ? std::nullopt : ir::IdentityOf(combine, dtype);
}

HistogramLoop::HistogramLoop(const Binding& loop, const Roots& roots,
                             const std::vector<const Var*>& arrays, const VarSet& overlapping)
    : loop_(loop), roots_(roots) {
  const Block& body = *loop.blocks[0];
  if (!loop.results.empty() || !loop.operands[2].IsInt(1)) return;
  const Effects effects = EffectsOf(body, roots);
  const VarSet local = ir::DefinedVars(body);
  for (const Var* root : arrays) {
    if (!effects.writes.contains(root) || local.contains(root)) continue;
    auto histogram = overlapping.contains(root) ? std::nullopt : Find(root);
    if (!histogram) {
      found_.clear();
      return;
    }
    found_.push_back(std::move(*histogram));
    must_check_first_ |= effects.may_fail && !roots.IsFresh(root);
  }
  if (!found_.empty()) reason_ = WhyNot();
}

std::string HistogramLoop::WhyNot() const {
  const Block& body = *loop_.blocks[0];
  std::string reason;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op == OpCode::kCall) reason = "it calls @" + b.attrs.Text(ir::Attr::kCallee);
  });
  if (!reason.empty()) return reason;
  if (must_check_first_) {
    return ChecksAlone(loop_, roots_).is_possible() ? ""
                                                    : "stores would show after one that raises";
  }
  if (!HasRisingPlaces(body)) return "the places of its checks are computed";
  return "";
}

std::optional<Histogram> HistogramLoop::Find(const Var* root) const {
  const Block& body = *loop_.blocks[0];
  const std::optional<StoredArray> stored = AccessesOf(body, roots_, root);
  if (!stored) return std::nullopt;
  Histogram histogram{stored->array, OpCode::kAdd, {}};
  Uses uses;
  ir::ForEachUse(loop_, [&](const Var* var) { ++uses[var]; });
  if (!Pairing(uses, histogram).Finds(body) || !histogram.Start()) return std::nullopt;
  return histogram;
}

}  // namespace parakeet::passes
