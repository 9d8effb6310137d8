#include "passes/lowering/grouped_iterations.h"

#include <algorithm>
#include <utility>

#include "passes/analyses/find_cost.h"
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

namespace {

// What a thread reads together for trips of a group: for so many that cost little, then for some.
constexpr int64_t kManyTrips = 16;
constexpr int64_t kSomeTrips = 4;
constexpr int kCheapTrip = 24;

}  // namespace

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
  groups.meeting = places->index;
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

// Where iterations meet on one axis, their key is its index.
bool GroupedIterations::IsKey(const Groups& groups, const Var* value) {
  return groups.meeting.size() == 1 && groups.meeting[0] == Operand(value);
}

GroupedIterations::Halves GroupedIterations::HalvesOf(const Block& body,
                                                      const std::vector<StoredArray>& stored,
                                                      const VarSet& apart, const Groups& groups) {
  Halves halves;
  VarSet left_out = apart;
  for (const StoredArray& each : stored) left_out.insert(each.array);
  const auto is_left_out = [&](const Binding& b) {
    const VarSet used = ir::FreeVars(b);
    return b.op == OpCode::kStore || b.op == OpCode::kAtomic ||
           std::any_of(used.begin(), used.end(),
                       [&](const Var* v) { return left_out.contains(v); });
  };
  for (const Binding* b : body.bindings) {
    const bool is_before = !is_left_out(*b);
    if (!is_before) left_out.insert(b->results.begin(), b->results.end());
    (is_before ? halves.before : halves.ordered).push_back(b);
  }
  const VarSet read = ir::FreeVars(Block{{}, halves.ordered, {}});
  for (const Binding* b : halves.before) {
    for (const Var* result : b->results)
      if (read.contains(result) && !IsKey(groups, result)) halves.handed.push_back(result);
  }
  return halves;
}

void GroupedIterations::WriteGroups(const LoopNest& nest, const std::vector<StoredArray>& stored,
                                    const Groups& groups, const VarSet& apart) {
  WriteGroup(nest, groups, apart, Sort(nest, stored, groups, apart));
}

GroupedIterations::Sorted GroupedIterations::Sort(const LoopNest& nest,
                                                  const std::vector<StoredArray>& stored,
                                                  const Groups& groups, const VarSet& apart) {
  const Operand total = Product(groups.extents);
  Sorted sorted{HalvesOf(*nest.body, stored, apart, groups), nullptr, nullptr, {}, total};
  const auto array_of = [&](const char* hint, const std::function<Operand(const Operand&)>& make) {
    const Var* trip = builder().NewVar(ir::DType::kI64, "trip");
    const Block* element = BlockOf({trip}, [&] { return Operands{make(trip)}; });
    return builder().EmitOne(OpCode::kImap, Type::Array(ir::DType::kI64, {total}), {total}, {},
                             {element}, hint);
  };
  const Var* keys = array_of("keys", [&](const Operand& trip) {
    return VisitBody(*ir::CloneBlock(arena(), *groups.key), Delinear(trip, groups.extents))[0];
  });
  sorted.order = array_of("order", [](const Operand& trip) { return trip; });
  builder().EmitOne(OpCode::kLibraryCall, ir::DType::kI64, {keys, sorted.order},
                    {{Attr::kCallee, std::string("argsort")}});
  // Stored, since a map would be made where it is read.
  const auto sorted_array = [&](const Operand& value) {
    return builder().EmitOne(OpCode::kAlloc, Type::Array(ir::DTypeOf(value), {total}), {total}, {},
                             {}, "sorted");
  };
  sorted.keys = sorted_array(Int(0));
  for (const Var* value : sorted.halves.handed) sorted.handed.push_back(sorted_array(value));
  const Var* at = builder().NewVar(ir::DType::kI64, "at");
  const Block* store = BlockOf({at}, [&] {
    const Operand trip = builder().Load(sorted.order, {at});
    const Operands index = Delinear(trip, groups.extents);
    ir::Substitution values;
    for (size_t k = 0; k < index.size(); ++k) values[groups.ordered[k]] = index[k];
    const Operands results(sorted.halves.handed.begin(), sorted.halves.handed.end());
    const Operands made =
        ir::InlineBlock(builder(), Block{{}, sorted.halves.before, results}, values);
    builder().Store(sorted.keys, {at}, builder().Load(keys, {trip}));
    for (size_t k = 0; k < made.size(); ++k) builder().Store(sorted.handed[k], {at}, made[k]);
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, {total}, {}, {store});
  return sorted;
}

// A thread for each trip in that order, and each index along which iterations never meet: of a
// group the first does all.
void GroupedIterations::WriteGroup(const LoopNest& nest, const Groups& groups, const VarSet& apart,
                                   const Sorted& sorted) {
  std::vector<const Var*> params = {builder().NewVar(ir::DType::kI64, "at")};
  Operands extents = {sorted.total};
  ir::Substitution places;
  for (size_t k = 0; k < nest.indexes.size(); ++k) {
    if (!apart.contains(nest.indexes[k])) continue;
    params.push_back(builder().NewVar(ir::DType::kI64, nest.indexes[k]->hint));
    extents.push_back(nest.extents[k]);
    places[nest.indexes[k]] = params.back();
  }
  const Operand no_place = Product(groups.places);
  const std::optional<Extreme> extreme =
      apart.empty() ? FindExtreme(sorted.halves.ordered) : std::nullopt;
  const Var* segments = extreme ? AllocateSegments(*extreme, sorted) : nullptr;
  const Block* body = BlockOf(params, [&] {
    const Operand at = params[0];
    const Operand key = builder().Load(sorted.keys, {at});
    const Operand has_before = builder().Scalar(OpCode::kGt, {at, Int(0)});
    const Operand is_first = Choose(
        has_before,
        [&] {
          const Operand before = builder().Load(sorted.keys, {builder().Sub(at, Int(1))});
          return Operands{builder().Scalar(OpCode::kNe, {before, key})};
        },
        [] { return Operands{Operand::Bool(true)}; })[0];
    const Operand is_place = builder().Scalar(OpCode::kNe, {key, no_place});
    const Operand end = extreme ? SegmentEnd(sorted, at) : sorted.total;
    If(builder().Scalar(OpCode::kAnd, {is_first, is_place}),
       [&] { DoGroup(groups, sorted, at, key, end, places); });
    if (!extreme) return Operands{};
    const Operand goes_on = builder().Scalar(
        OpCode::kAnd, {IsSegmentsFirst(at), builder().Scalar(OpCode::kNot, {is_first})});
    If(builder().Scalar(OpCode::kAnd, {goes_on, is_place}),
       [&] { FoldSegment(*extreme, groups, sorted, key, at, segments); });
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, extents, {}, {body});
  if (extreme) JoinSegments(*extreme, groups, sorted, segments);
}

bool GroupedIterations::IsCommon(const Groups& groups, const Var* value) {
  return std::find(groups.meeting.begin(), groups.meeting.end(), Operand(value)) !=
         groups.meeting.end();
}

ir::Substitution GroupedIterations::PlacesOf(const Groups& groups, const Sorted& sorted,
                                             const Operand& first, const Operand& key) {
  ir::Substitution places;
  for (const Binding* b : sorted.halves.before) {
    for (const Var* result : b->results)
      if (IsKey(groups, result)) places[result] = key;
  }
  const std::vector<const Var*>& handed = sorted.halves.handed;
  for (size_t k = 0; k < handed.size(); ++k) {
    if (IsCommon(groups, handed[k]))
      places[handed[k]] = builder().Load(sorted.handed[k], {first}, handed[k]->hint);
  }
  return places;
}

// From `first` on, some at a time while as many are left, so that what they read is under way
// together, then one by one.
void GroupedIterations::DoGroup(const Groups& groups, const Sorted& sorted, const Operand& first,
                                const Operand& key, const Operand& end, ir::Substitution places) {
  const auto is_common = [&](const Var* value) { return IsCommon(groups, value); };
  const auto take = [&](size_t k, const Operand& at) {
    return builder().Load(sorted.handed[k], {at}, sorted.halves.handed[k]->hint);
  };
  const std::vector<const Var*>& handed = sorted.halves.handed;
  places.merge(PlacesOf(groups, sorted, first, key));
  const VarSet read = ir::FreeVars(Block{{}, sorted.halves.ordered, {}});
  const auto begin_trip = [&](const Operand& at) {
    ir::Substitution own = places;
    for (size_t k = 0; k < handed.size(); ++k)
      if (!is_common(handed[k])) own[handed[k]] = take(k, at);
    const bool needs_index = std::any_of(groups.ordered.begin(), groups.ordered.end(),
                                         [&](const Var* index) { return read.contains(index); });
    if (!needs_index) return own;
    const Operands index = Delinear(builder().Load(sorted.order, {at}), groups.extents);
    for (size_t k = 0; k < index.size(); ++k) own[groups.ordered[k]] = index[k];
    return own;
  };
  const auto trips = [&](const Operand& from, int64_t count) {
    const Var* tested = builder().NewVar(ir::DType::kI64, "at");
    const Var* at = builder().NewVar(ir::DType::kI64, "at");
    const Block* goes_on = BlockOf({tested}, [&] {
      const Operand last = builder().Add(tested, Int(count - 1));
      const Operand is_there = builder().Scalar(OpCode::kLt, {last, end});
      const auto is_same = [&] {
        const Operand other = builder().Load(sorted.keys, {last});
        return Operands{builder().Scalar(OpCode::kEq, {other, key})};
      };
      return Choose(is_there, is_same, [] { return Operands{Operand::Bool(false)}; });
    });
    const Block* trip = BlockOf({at}, [&] {
      std::vector<ir::Substitution> values;
      for (int64_t k = 0; k < count; ++k) values.push_back(begin_trip(builder().Add(at, Int(k))));
      for (const ir::Substitution& own : values)
        ir::InlineBlock(builder(), Block{{}, sorted.halves.ordered, {}}, own);
      return Operands{builder().Add(at, Int(count))};
    });
    return Operand(builder().EmitOne(OpCode::kWhile, ir::DType::kI64, {from}, {}, {goes_on, trip}));
  };
  const bool is_cheap = CostOf(Block{{}, sorted.halves.ordered, {}}) <= kCheapTrip;
  trips(trips(is_cheap ? trips(first, kManyTrips) : first, kSomeTrips), 1);
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
