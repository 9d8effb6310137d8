#include "passes/lowering/last_stores.h"

#include <algorithm>
#include <optional>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

bool Holds(const Binding& b, const std::vector<StoredArray>& stored) {
  bool holds = false;
  for (const Block* block : b.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& inner) {
      holds |= inner.op == OpCode::kStore &&
               std::any_of(stored.begin(), stored.end(), [&](const StoredArray& each) {
                 return inner.operands[0] == Operand(each.array);
               });
    });
  }
  return holds;
}

// True where what decides whether it is stored is none of `made`.
bool IsStoredWithout(const Block& block, const std::vector<StoredArray>& stored,
                     const VarSet& made) {
  return std::all_of(block.bindings.begin(), block.bindings.end(), [&](const Binding* b) {
    if (!Holds(*b, stored)) return true;
    if (b->op != OpCode::kIf || !b->results.empty() || made.contains(b->operands[0].var()))
      return false;
    return std::all_of(b->blocks.begin(), b->blocks.end(),
                       [&](const Block* inner) { return IsStoredWithout(*inner, stored, made); });
  });
}

// Whether all that is stored in the array is one value, of no iteration: whoever stores it last.
bool IsOfOneValue(const LoopNest& nest, const Var* array) {
  VarSet inside = ir::DefinedVars(*nest.body);
  inside.insert(nest.indexes.begin(), nest.indexes.end());
  std::optional<Operand> value;
  bool is_one = true;
  ir::ForEachBinding(*nest.body, [&](const Binding& b) {
    if (b.op != OpCode::kStore || b.operands[0] != Operand(array)) return;
    const Operand& stored = b.operands.back();
    is_one &= !inside.contains(stored.var()) && (!value || *value == stored);
    value = stored;
  });
  return is_one && value;
}

}  // namespace

VarSet LastStores::ApartIn(const LoopNest& nest, const std::vector<StoredArray>& stored) {
  VarSet apart;
  for (const Var* index : nest.indexes) {
    if (IsApartAlong(*nest.body, stored, index) &&
        IsStoredWithout(*nest.body, stored, MadeFrom(*nest.body, index)))
      apart.insert(index);
  }
  return apart;
}

LastStores::Claims LastStores::MakeClaims(const StoredArray& stored, const VarSet& apart) {
  Claims claims{nullptr, {}};
  Operands extents;
  for (int axis = 0; axis < stored.array->type.rank(); ++axis) {
    const std::optional<Operand> index = stored.IndexOn(axis);
    if (index && apart.contains(index->var())) continue;
    claims.axes.push_back(axis);
    extents.push_back(stored.array->type.dims()[axis]);
  }
  if (extents.empty()) extents.push_back(Int(1));
  std::vector<const Var*> index;
  for (size_t k = 0; k < extents.size(); ++k)
    index.push_back(builder().NewVar(ir::DType::kI64, "i"));
  const Block* none =
      BlockOf(index, [&] { return Operands{Operand(ir::Constant::Int(-1, ir::DType::kI32))}; });
  claims.last = builder().EmitOne(OpCode::kImap, ir::Type::Array(ir::DType::kI32, extents), extents,
                                  {}, {none}, "last");
  return claims;
}

void LastStores::WriteLastStores(const LoopNest& nest, const std::vector<StoredArray>& stored,
                                 const VarSet& apart) {
  for (const StoredArray& each : stored) {
    if (IsOfOneValue(nest, each.array)) {
      of_one_value_.insert(each.array);
    } else {
      claims_[each.array] = MakeClaims(each, apart);
    }
  }
  apart_ = apart;
  std::vector<const Var*> ordered;
  for (const Var* index : nest.indexes) {
    if (!apart.contains(index)) ordered.push_back(index);
  }
  left_out_ = apart;
  if (!claims_.empty()) WritePhase(Phase::kClaim, nest, ordered);
  left_out_.clear();
  WritePhase(Phase::kStore, nest, nest.indexes);
  claims_.clear();
  of_one_value_.clear();
}

// A foreach over some of the nest's indexes.
void LastStores::WritePhase(Phase phase, const LoopNest& nest,
                            const std::vector<const Var*>& indexes) {
  std::vector<const Var*> params;
  Operands extents, numbered, numbered_extents;
  ir::Substitution places;
  for (size_t k = 0; k < nest.indexes.size(); ++k) {
    const Var* index = nest.indexes[k];
    if (std::count(indexes.begin(), indexes.end(), index) == 0) continue;
    params.push_back(builder().NewVar(ir::DType::kI64, index->hint));
    extents.push_back(nest.extents[k]);
    places[index] = params.back();
    if (apart_.contains(index)) continue;
    numbered.push_back(params.back());
    numbered_extents.push_back(nest.extents[k]);
  }
  const Block* body = BlockOf(params, [&] {
    number_ = builder().Cast(Linear(numbered, numbered_extents), ir::DType::kI32);
    phase_ = phase;
    for (const auto& [index, place] : places) Replace(index, place);
    // What is left out keeps the body's own name for the index.
    const Block* own = ir::CloneBlock(arena(), Block{{}, nest.body->bindings, {}});
    VisitBody(*own, {});
    for (const auto& [index, place] : places) Restore(index);
    phase_ = Phase::kNone;
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, extents, {}, {body});
}

LoopWriter::Operands LastStores::ClaimedPlace(const Binding& store, const Claims& claims) {
  Operands place;
  for (int axis : claims.axes) place.push_back(Apply(store.operands[1 + axis]));
  if (place.empty()) place.push_back(Int(0));
  return place;
}

bool LastStores::VisitStore(const Binding& b) {
  if (phase_ == Phase::kNone) return false;
  if (b.op == OpCode::kStore && of_one_value_.contains(b.operands[0].var()))
    return phase_ == Phase::kClaim;
  const bool stores = b.op == OpCode::kStore && claims_.contains(b.operands[0].var());
  if (!stores) {
    const VarSet used = ir::FreeVars(b);
    const bool is_left_out = b.op != OpCode::kIf || !b.results.empty()
                                 ? std::any_of(used.begin(), used.end(),
                                               [&](const Var* v) { return left_out_.contains(v); })
                                 : left_out_.contains(b.operands[0].var());
    if (is_left_out) left_out_.insert(b.results.begin(), b.results.end());
    return is_left_out;
  }
  const Claims& claims = claims_.at(b.operands[0].var());
  const Operands place = ClaimedPlace(b, claims);
  if (phase_ == Phase::kClaim) {
    builder().Atomic(OpCode::kMax, claims.last, place, number_);
    return true;
  }
  const Operand last = builder().Load(claims.last, place);
  If(builder().Scalar(OpCode::kEq, {last, number_}), [&] { builder().Append(Rewrite(&b)); });
  return true;
}

}  // namespace parakeet::passes
