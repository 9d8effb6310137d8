#include "passes/lowering/grouped_iterations.h"

#include <algorithm>
#include <utility>

#include "passes/analyses/kernel_legality.h"
#include "passes/lowering/checks_alone.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;
using ir::VarSet;

bool IsScatterLoop(const Binding& b) {
  if (b.op != OpCode::kFor || !b.results.empty() || !b.operands[2].IsInt(1)) return false;
  if (!b.attrs.Text(Attr::kKind).empty() || NeedsHost(*b.blocks[0])) return false;
  bool is_plain = true;
  ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
    for (const Var* result : inner.results) is_plain &= !result->type.IsArray();
  });
  return is_plain;
}

VarSet GroupedIterations::ApartByPlace(const LoopNest& nest,
                                       const std::vector<StoredArray>& stored) {
  VarSet apart;
  for (const Var* index : nest.indexes) {
    if (IsApartAlong(*nest.body, stored, index)) apart.insert(index);
  }
  return apart;
}

std::optional<GroupedIterations::Groups> GroupedIterations::FindGroups(
    const LoopNest& nest, const std::vector<StoredArray>& stored, const VarSet& apart) {
  Groups groups;
  for (size_t k = 0; k < nest.indexes.size(); ++k) {
    if (apart.contains(nest.indexes[k])) continue;
    groups.ordered.push_back(nest.indexes[k]);
    groups.extents.push_back(nest.extents[k]);
  }
  if (groups.ordered.empty()) return std::nullopt;
  const auto places = MeetingPlacesOf(*nest.body, stored, groups.ordered);
  if (!places) return std::nullopt;
  groups.places = places->extents;
  groups.key = KeyBlock(*nest.body, stored, apart, *places);
  return groups.key != nullptr ? std::optional(groups) : std::nullopt;
}

// Null where a place is computed in a loop, or behind what is not known yet.
const Block* GroupedIterations::KeyBlock(const Block& body, const std::vector<StoredArray>& stored,
                                         const VarSet& apart, const MeetingPlaces& places) {
  std::vector<const Var*> params;
  for (const Var* index : body.params) {
    if (!apart.contains(index)) params.push_back(index);
  }
  VarSet left_out = apart;
  for (const StoredArray& each : stored) left_out.insert(each.array);
  bool is_known = true;
  const Block* key = BlockOf(params, [&] {
    Operand value = Int(0);
    is_known = WriteKey(body, places, left_out, value);
    return Operands{value};
  });
  return is_known ? ir::CloneBlock(arena(), *key) : nullptr;
}

// Appends what of the block is known before it runs, down to the branch where the places are
// computed; iterations that take another one have a place that no other has.
bool GroupedIterations::WriteKey(const Block& block, const MeetingPlaces& places, VarSet& left_out,
                                 Operand& key) {
  const auto defines = [&](const Block& inner) {
    const VarSet made = ir::DefinedVars(inner);
    return std::any_of(places.index.begin(), places.index.end(),
                       [&](const Operand& o) { return made.contains(o.var()); });
  };
  const Binding* branch = nullptr;
  for (const Binding* b : block.bindings) {
    const VarSet used = ir::FreeVars(*b);
    const bool is_left_out =
        b->op == OpCode::kStore ||
        std::any_of(used.begin(), used.end(), [&](const Var* v) { return left_out.contains(v); });
    const bool holds = std::any_of(b->blocks.begin(), b->blocks.end(),
                                   [&](const Block* inner) { return defines(*inner); });
    if (holds) branch = b;
    if (is_left_out || holds) left_out.insert(b->results.begin(), b->results.end());
    else builder().Append(b);
  }
  if (branch == nullptr) {
    key = Linear(places.index, places.extents);
    return true;
  }
  if (branch->op != OpCode::kIf || left_out.contains(branch->operands[0].var())) return false;
  bool is_known = true;
  const auto side = [&](const Block& inner) {
    Operand own = Product(places.extents);
    if (defines(inner)) is_known &= WriteKey(inner, places, left_out, own);
    return Operands{own};
  };
  key = Choose(
      branch->operands[0], [&] { return side(*branch->blocks[0]); },
      [&] { return side(*branch->blocks[1]); })[0];
  return is_known;
}

void GroupedIterations::WriteGroups(const LoopNest& nest, const Groups& groups,
                                    const VarSet& apart) {
  const Operand total = Product(groups.extents);
  const Type type = Type::Array(ir::DType::kI64, {total});
  const auto array_of = [&](const char* hint, const std::function<Operand(const Operand&)>& make) {
    const Var* trip = builder().NewVar(ir::DType::kI64, "trip");
    const Block* element = BlockOf({trip}, [&] { return Operands{make(trip)}; });
    return builder().EmitOne(OpCode::kImap, type, {total}, {}, {element}, hint);
  };
  const Var* keys = array_of("keys", [&](const Operand& trip) {
    return VisitBody(*ir::CloneBlock(arena(), *groups.key), Delinear(trip, groups.extents))[0];
  });
  const Var* order = array_of("order", [](const Operand& trip) { return trip; });
  builder().EmitOne(OpCode::kLibraryCall, ir::DType::kI64, {keys, order},
                    {{Attr::kCallee, std::string("argsort")}});
  WriteGroup(nest, groups, apart, keys, order);
}

// A thread for each trip in that order, and each index along which iterations never meet: of a
// group the first does all.
void GroupedIterations::WriteGroup(const LoopNest& nest, const Groups& groups, const VarSet& apart,
                                   const Var* keys, const Var* order) {
  const Operand total = Product(groups.extents);
  const Operand no_place = Product(groups.places);
  const auto key_at = [&](const Operand& at) {
    return builder().Load(keys, {builder().Load(order, {at})});
  };
  const auto is_key_at = [&](const Operand& is_there, const Operand& at, const Operand& key) {
    return Choose(
        is_there, [&] { return Operands{builder().Scalar(OpCode::kEq, {key_at(at), key})}; },
        [] { return Operands{Operand::Bool(false)}; })[0];
  };
  std::vector<const Var*> params = {builder().NewVar(ir::DType::kI64, "at")};
  Operands extents = {total};
  ir::Substitution places;
  for (size_t k = 0; k < nest.indexes.size(); ++k) {
    if (!apart.contains(nest.indexes[k])) continue;
    params.push_back(builder().NewVar(ir::DType::kI64, nest.indexes[k]->hint));
    extents.push_back(nest.extents[k]);
    places[nest.indexes[k]] = params.back();
  }
  const auto do_trip = [&](const Operand& at) {
    const Operands index = Delinear(builder().Load(order, {at}), groups.extents);
    for (size_t k = 0; k < index.size(); ++k) places[groups.ordered[k]] = index[k];
    ir::InlineBlock(builder(), Block{{}, nest.body->bindings, {}}, places);
  };
  const auto do_group = [&](const Operand& first, const Operand& key) {
    const Var* tested = builder().NewVar(ir::DType::kI64, "at");
    const Var* at = builder().NewVar(ir::DType::kI64, "at");
    const Block* goes_on = BlockOf({tested}, [&] {
      const Operand is_there = builder().Scalar(OpCode::kLt, {tested, total});
      return Operands{is_key_at(is_there, tested, key)};
    });
    const Block* trip = BlockOf({at}, [&] {
      do_trip(at);
      return Operands{builder().Add(at, Int(1))};
    });
    builder().EmitOne(OpCode::kWhile, ir::DType::kI64, {first}, {}, {goes_on, trip});
  };
  const Block* body = BlockOf(params, [&] {
    const Operand at = params[0];
    const Operand key = key_at(at);
    const Operand has_before = builder().Scalar(OpCode::kGt, {at, Int(0)});
    const Operand is_same = is_key_at(has_before, builder().Sub(at, Int(1)), key);
    const Operand is_first = builder().Scalar(OpCode::kNot, {is_same});
    const Operand is_place = builder().Scalar(OpCode::kNe, {key, no_place});
    If(builder().Scalar(OpCode::kAnd, {is_first, is_place}), [&] { do_group(at, key); });
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, extents, {}, {body});
}

namespace {

class GroupFinder : public GroupedIterations {
 public:
  using GroupedIterations::GroupedIterations;

  bool Find(const Binding& loop, const Roots& roots, const std::vector<const Var*>& arrays,
            const VarSet& overlapping) {
    const ChecksAlone checks(loop, roots, ChecksAlone::Form::kReduction);
    if (!checks.is_possible()) return false;
    Binding unchecked = loop;
    unchecked.blocks = {checks.Unchecked(arena())};
    const LoopNest nest = NestOf(builder(), *arena()->New(std::move(unchecked)), roots);
    const std::vector<StoredArray> stored = StoredArraysOf(*nest.body, roots, arrays, overlapping);
    return !stored.empty() && FindGroups(nest, stored, ApartByPlace(nest, stored)).has_value();
  }
};

}  // namespace

bool CanBeGrouped(ir::Arena* arena, const Binding& loop, const Roots& roots,
                  const std::vector<const Var*>& arrays, const VarSet& overlapping) {
  return IsScatterLoop(loop) && GroupFinder(arena).Find(loop, roots, arrays, overlapping);
}

}  // namespace parakeet::passes
