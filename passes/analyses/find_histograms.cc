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

// True where each load of the array feeds one step alone, and that one store to the same place.
bool PairUp(const Block& block, const Uses& uses, Histogram& h) {
  const Binding* load = nullptr;
  const Binding* step = nullptr;
  for (const Binding* b : block.bindings) {
    for (const Block* inner : b->blocks) {
      if (load != nullptr && Touches(*inner, h.array)) return false;
      if (!PairUp(*inner, uses, h)) return false;
    }
    const bool accesses =
        (b->op == OpCode::kLoad || b->op == OpCode::kStore) && b->operands[0] == Operand(h.array);
    if (accesses && b->op == OpCode::kLoad) {
      if (load != nullptr || !IsUsedOnce(*b, uses)) return false;
      load = b;
    } else if (accesses) {
      if (step == nullptr || b->operands.back() != Operand(step->result())) return false;
      if (!std::equal(load->operands.begin(), load->operands.end(), b->operands.begin()))
        return false;
      load = step = nullptr;
    } else if (load != nullptr && UsesValue(*b, load->result())) {
      if (!IsStep(*b, *load, h) || !IsUsedOnce(*b, uses)) return false;
      step = b;
    }
  }
  return load == nullptr;
}

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
  if (!PairUp(body, uses, histogram) || !histogram.Start()) return std::nullopt;
  return histogram;
}

}  // namespace parakeet::passes
