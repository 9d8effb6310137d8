#include "passes/lowering/contraction_sides.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/uses.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

// Tiles that are packed together: neighbours are read one after the other from memory that lies
// along them.
constexpr int kGroup = 4;
// And steps of the depth: parts enough for many threads.
constexpr int kSteps = 128;
// As many lanes are turned at most; of a number that is no power of two, so many steps of the depth
// one after the other. What is read of each lane at a time lies in a part of a register.
constexpr int kMostAcross = 16;
constexpr int kUsualAcross = 4;
constexpr int kBytesAcross = 16;
// So many steps before they are packed, what lies far apart is asked for.
constexpr int kStepsAheadToPack = 3;
// What stays in the second cache, and how far apart rows have few places in the first.
constexpr int kNearBytes = 1 << 20;
constexpr int kBytesApart = 1024;
// So many elements are not shared out.
constexpr int kAlone = 1 << 14;

Attributes AlongPanel() { return {{Attr::kAxis, int64_t{2}}}; }

// How often the index stands among those of the load.
int64_t TimesOf(const Var* index, const Binding& load) {
  return std::count(load.operands.begin() + 1, load.operands.end(), Operand(index));
}

bool UsesAny(const Binding& b, const ir::VarSet& values) {
  return std::any_of(b.operands.begin(), b.operands.end(),
                     [&](const Operand& o) { return values.contains(o.var()); });
}

}  // namespace

// --- What follows what ---

bool ContractionSides::Classify(Tiling& tiling) const {
  const Block& element = *tiling.contract.blocks[0];
  const Var* row = element.params[tiling.rows.axis];
  const Var* column = element.params[tiling.columns.axis];
  tiling.outer.clear();
  ir::VarSet batched;
  for (size_t axis = 0; axis < tiling.extents.size(); ++axis) {
    if (axis == tiling.rows.axis || axis == tiling.columns.axis) continue;
    tiling.outer.push_back(axis);
    batched.insert(element.params[axis]);
  }
  tiling.follows.clear();
  std::unordered_map<const Var*, int> of = {{row, kRows}, {column, kColumns}};
  ir::VarSet made;
  for (const Binding* b : element.bindings) {
    int follows = kNeither;
    for (const Operand& operand : b->operands) follows |= of[operand.var()];
    const bool is_load = b->op == OpCode::kLoad;
    if (is_load &&
        (follows == kBoth || TimesOf(row, *b) > 1 || TimesOf(column, *b) > 1 || UsesAny(*b, made)))
      return false;
    // An index that is itself a number of the sum.
    if (!is_load && (TimesOf(row, *b) + TimesOf(column, *b) > 0 || b->operands[0] == Operand(row) ||
                     b->operands[0] == Operand(column)))
      return false;
    made.insert(b->result());
    if (UsesAny(*b, batched)) batched.insert(b->result());
    of[b->result()] = follows;
    tiling.follows.push_back(static_cast<Follows>(follows));
  }
  if (of[element.results[0].var()] != kBoth || !AddPacked(tiling)) return false;
  for (Side* side : {&tiling.rows, &tiling.columns}) {
    side->is_batched = std::any_of(side->values.begin(), side->values.end(), [&](const Packed& p) {
      return batched.contains(p.value->result());
    });
  }
  return true;
}

// What follows one index is packed where it is first used with what follows the other.
bool ContractionSides::AddPacked(Tiling& tiling) const {
  const std::vector<const Binding*>& bindings = tiling.contract.blocks[0]->bindings;
  for (Side* side : {&tiling.rows, &tiling.columns}) {
    side->values.clear();
    for (size_t at = 0; at < bindings.size(); ++at) {
      if (tiling.follows[at] != side->which) continue;
      const Var* value = bindings[at]->result();
      bool is_met = false;
      for (size_t user = at + 1; user < bindings.size(); ++user)
        is_met |= tiling.follows[user] == kBoth && UsesAny(*bindings[user], {value});
      if (is_met) side->values.push_back({bindings[at]});
    }
  }
  return !tiling.rows.values.empty() && !tiling.columns.values.empty();
}

bool ContractionSides::MayBeDirect(const Tiling& tiling, const Side& side) const {
  if (tiling.is_ordered || tiling.summed.size() != 1) return false;
  const Var* column = tiling.contract.blocks[0]->params[tiling.columns.axis];
  return std::all_of(side.values.begin(), side.values.end(), [&](const Packed& p) {
    return p.value->op == OpCode::kLoad &&
           (side.which == kRows || patterns_.LiesNext(*p.value, column));
  });
}

// --- How columns lie ---

Operand ContractionSides::AtMost(const Operand& size, int64_t most) {
  return builder().Scalar(OpCode::kLe, {size, Int(most)});
}

Operand ContractionSides::MoreThan(const Operand& size, int64_t least) {
  return builder().Scalar(OpCode::kGt, {size, Int(least)});
}

Operand ContractionSides::Both(const Operand& a, const Operand& b) {
  return builder().Scalar(OpCode::kAnd, {a, b});
}

Operand ContractionSides::Either(const Operand& a, const Operand& b) {
  return builder().Scalar(OpCode::kOr, {a, b});
}

bool ContractionSides::HasNarrowTiles(const Tiling& tiling) const {
  return !IsRoomy() && !AreByParts(tiling.columns);
}

bool ContractionSides::AreByParts(const Side& side) {
  return std::any_of(side.values.begin(), side.values.end(),
                     [&](const Packed& p) { return IsPackedByParts(side, p); });
}

Operand ContractionSides::BytesOfColumns(const Tiling& tiling) {
  int64_t size = 0;
  for (const Packed& p : tiling.columns.values)
    size += ir::SizeInBytes(p.value->result()->type.dtype());
  return Product({Int(size), tiling.depth, tiling.extents[tiling.columns.axis]});
}

Operand ContractionSides::AreNear(const Tiling& tiling) {
  if (AreByParts(tiling.columns)) return Operand::Bool(false);
  return AtMost(BytesOfColumns(tiling), kNearBytes);
}

Operand ContractionSides::ShareTheirPlaces(const Tiling& tiling) {
  Operand share = Operand::Bool(false);
  for (const Packed& p : tiling.columns.values) {
    const Type& type = p.value->operands[0].var()->type;
    if (type.rank() < 2) continue;
    const Operand bytes = builder().Mul(Apply(type.dims().back()),
                                        Int(ir::SizeInBytes(p.value->result()->type.dtype())));
    const Operand apart = builder().Remainder(bytes, Int(kBytesApart));
    const Operand are_even = builder().Scalar(OpCode::kEq, {apart, Int(0)});
    share = share == Operand::Bool(false) ? are_even : Either(share, are_even);
  }
  return share;
}

Operand ContractionSides::AreScattered(const Tiling& tiling) {
  const Operand share = ShareTheirPlaces(tiling);
  return Both(share, AreFar(tiling));
}

// --- Packing ---

Operand ContractionSides::Groups(const Side& side) { return CeilDiv(side.tiles, Int(kGroup)); }

Operand ContractionSides::TileIn(const Side& side, const Operand& batch, const Operand& tile) {
  if (side.has_one) return Int(0);
  const Operand of_all =
      side.is_batched ? builder().Add(builder().Mul(batch, side.tiles), tile) : Operand(tile);
  return side.skipped.IsInt(0) ? of_all : builder().Sub(of_all, side.skipped);
}

ContractionSides::Index ContractionSides::OuterIndex(const Tiling& tiling, const Operand& batch) {
  Operands extents;
  for (size_t axis : tiling.outer) extents.push_back(tiling.extents[axis]);
  const Operands within = Delinear(batch, extents);
  Index index(tiling.extents.size(), Int(0));
  for (size_t k = 0; k < within.size(); ++k) index[tiling.outer[k]] = within[k];
  return index;
}

void ContractionSides::Pack(const Tiling& tiling, Side& side, const Attributes& kind) {
  const auto unless_direct = [&](const Operand& count) -> Operand {
    if (!MayBeDirect(tiling, side)) return count;
    return builder().Scalar(OpCode::kSelect, {tiling.is_direct, Int(0), count});
  };
  const bool may_wait = side.is_by_blocks != Operand::Bool(false);
  const auto by_blocks = [&](const Operand& then, const Operand& otherwise) -> Operand {
    if (!may_wait) return otherwise;
    return builder().Scalar(OpCode::kSelect, {side.is_by_blocks, then, otherwise});
  };
  const Operand groups = Groups(side);
  const Operand batches = side.is_batched ? tiling.batches : Int(1);
  Operand tiles = builder().Mul(batches, side.tiles);
  if (may_wait) tiles = builder().Scalar(OpCode::kSelect, {side.is_reused, side.each, tiles});
  const Operand count = unless_direct(tiles);
  const Operand depth = by_blocks(tiling.block_depth, tiling.depth);
  for (Packed& p : side.values) {
    const DType dtype = p.value->result()->type.dtype();
    const bool by_parts = IsPackedByParts(side, p);
    const Type type = Type::Array(by_parts ? ir::PartOf(dtype) : dtype,
                                  {count, depth, Int(side.width * (by_parts ? 2 : 1))});
    p.buffer = builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "packed");
  }
  const Operand all_groups = by_blocks(Int(0), unless_direct(builder().Mul(batches, groups)));
  if (tiling.is_ordered) {
    side.finite = builder().EmitOne(OpCode::kAlloc, Type::Array(DType::kBool, {all_groups}),
                                    {all_groups}, {}, {}, "finite");
  }
  // What is known of a group as a whole is found by one thread.
  const Operand parts = tiling.is_ordered ? Int(1) : CeilDiv(tiling.depth, Int(kSteps));
  const Operand units = builder().Mul(all_groups, parts);
  const Operand elements = Product({count, tiling.depth, Int(side.width)});
  const Operand is_alone = builder().Scalar(OpCode::kLe, {elements, Int(kAlone)});
  const Operand some = builder().Scalar(OpCode::kSelect, {is_alone, Max(units, Int(1)), Int(1)});
  Loop(Int(0), CeilDiv(units, some), kind, [&](const Operand& task) {
    const Operand first = builder().Mul(task, some);
    Loop(first, Min(builder().Add(first, some), units), {}, [&](const Operand& unit) {
      if (tiling.is_ordered) return PackGroup(tiling, side, unit, {Int(0), tiling.depth});
      const Operand lo = builder().Mul(builder().Remainder(unit, parts), Int(kSteps));
      PackGroup(tiling, side, builder().Quotient(unit, parts),
                {lo, Min(builder().Add(lo, Int(kSteps)), tiling.depth)});
    });
  });
}

bool ContractionSides::IsPackedByParts(const Side& side, const Packed& packed) {
  return side.which == kColumns && ir::IsComplex(packed.value->result()->type.dtype());
}

void ContractionSides::StorePacked(const Side& side, const Packed& packed, const Operands& place,
                                   int within, const Operand& vector) {
  const auto store = [&](int at, const Operand& lanes) {
    Operands operands = place;
    operands.insert(operands.end(), {Int(at), lanes});
    builder().Emit(OpCode::kStoreLanes, {}, std::move(operands), AlongPanel());
  };
  if (!IsPackedByParts(side, packed)) return store(within, vector);
  store(2 * within, builder().Scalar(OpCode::kReal, {vector}));
  store(2 * within + side.lanes, builder().Scalar(OpCode::kImag, {vector}));
}

Operand ContractionSides::LoadPacked(const Side& side, const Packed& packed, const Operands& place,
                                     const Operand& within, const LaneValues& lanes) {
  const Type type = Type::Vector(packed.buffer->type.dtype(), lanes.lanes());
  const auto load = [&](const Operand& at) {
    Operands operands = place;
    operands.push_back(at);
    return builder().EmitOne(OpCode::kLoadLanes, type, std::move(operands), AlongPanel());
  };
  if (!IsPackedByParts(side, packed)) return load(within);
  const Operand first = builder().Mul(within, Int(2));
  const Operand real = load(first), imag = load(builder().Add(first, Int(side.lanes)));
  return builder().Scalar(OpCode::kMakeComplex, {real, imag});
}

// Steps of the depth of one group of tiles, of all batches' groups.
void ContractionSides::PackGroup(const Tiling& tiling, const Side& side, const Operand& group,
                                 const Range& steps) {
  const Operand groups = Groups(side);
  const Operand batch = side.is_batched ? builder().Quotient(group, groups) : Int(0);
  const Operand within = side.is_batched ? builder().Remainder(group, groups) : Operand(group);
  const Operand first = builder().Mul(within, Int(kGroup));
  const Operand last = Min(builder().Add(first, Int(kGroup)), side.tiles);
  const Index outer = OuterIndex(tiling, batch);
  const LaneValues lanes(side.lanes);
  if (!tiling.is_ordered)
    return PackTiles(tiling, side, {outer, batch}, {first, last}, steps, Int(0));
  Operands finite = {lanes.Splat(builder(), Operand::Bool(true))};
  finite = Carry(steps.begin, steps.end, finite, [&](const Operand& k, const Operands& above) {
    return Carry(first, last, above, [&](const Operand& tile, const Operands& so_far) {
      return PackTile(tiling, side, outer, {tile, TileIn(side, batch, tile), k, k}, so_far);
    });
  });
  const Operand all = builder().EmitOne(OpCode::kAllLanes, DType::kBool, {finite[0]});
  builder().Store(side.finite, {group}, all);
}

void ContractionSides::PackTiles(const Tiling& tiling, const Side& side, const Batch& batch,
                                 const Range& tiles, const Range& steps, const Operand& from) {
  const auto place = [&](const Operand& tile, const Operand& k) {
    const Operand packed = from.IsInt(0) ? k : builder().Sub(k, from);
    return PlaceOfPacked{tile, TileIn(side, batch.number, tile), k, packed};
  };
  const auto pack_one = [&](const Operand& tile, const Operand& k) {
    PrefetchTile(tiling, side, batch.outer, tile, k);
    PackTile(tiling, side, batch.outer, place(tile, k), {});
  };
  if (!LieAcross(tiling, side)) {
    return Loop(steps.begin, steps.end, {}, [&](const Operand& k) {
      Loop(tiles.begin, tiles.end, {}, [&](const Operand& tile) { pack_one(tile, k); });
    });
  }
  const int across = StepsAcross(side);
  const Operand rest = builder().Remainder(builder().Sub(steps.end, steps.begin), Int(across));
  const Operand whole = builder().Sub(steps.end, rest);
  Loop(tiles.begin, tiles.end, {}, [&](const Operand& tile) {
    const auto pack_across = [&](const Operand& k) {
      PackAcross(tiling, side, batch.outer, place(tile, k));
    };
    Loop(steps.begin, whole, {}, pack_across, across);
    Loop(whole, steps.end, {}, [&](const Operand& k) { pack_one(tile, k); });
  });
}

// Each step lies in a page of its own, which a processor does not foresee.
void ContractionSides::PrefetchTile(const Tiling& tiling, const Side& side, const Index& outer,
                                    const Operand& tile, const Operand& k) {
  if (!HasNarrowTiles(tiling)) return;
  const Var* index = tiling.contract.blocks[0]->params[side.axis];
  const Operand ahead = builder().Add(k, Int(kStepsAheadToPack));
  const Operand first = builder().Mul(tile, Int(side.width));
  for (const Packed& p : side.values) {
    if (p.value->op != OpCode::kLoad || !patterns_.LiesNext(*p.value, index)) continue;
    const auto bytes = static_cast<int>(ir::SizeInBytes(p.value->result()->type.dtype()));
    for (int within = 0; within < side.width; within += kBytesOfLine / bytes)
      PrefetchInPlace(tiling, side, p, outer, ahead, builder().Add(first, Int(within)));
  }
}

// Where an index is computed nothing is asked for.
void ContractionSides::PrefetchInPlace(const Tiling& tiling, const Side& side, const Packed& packed,
                                       const Index& outer, const Operand& k, const Operand& start) {
  const Block& element = *tiling.contract.blocks[0];
  LaneValues lanes(side.lanes);
  SetIndices(tiling, outer, k, lanes);
  lanes.Set(element.params[side.axis], {LaneValue::kUniform, start, 0});
  Operands place;
  for (const Operand& operand : packed.value->operands) {
    const auto computes = [&](const Binding* b) { return operand == Operand(b->result()); };
    if (std::any_of(element.bindings.begin(), element.bindings.end(), computes)) return;
    place.push_back(lanes.Of(Apply(operand)).value);
  }
  builder().Emit(OpCode::kPrefetch, {}, std::move(place));
}

bool ContractionSides::LieAcross(const Tiling& tiling, const Side& side) const {
  if (tiling.is_ordered || tiling.summed.size() != 1 || side.lanes > kMostAcross) return false;
  const Var* depth = tiling.contract.blocks[0]->params[tiling.extents.size()];
  return std::all_of(side.values.begin(), side.values.end(), [&](const Packed& p) {
    const DType dtype = p.value->result()->type.dtype();
    return p.value->op == OpCode::kLoad && (ir::IsFloat(dtype) || ir::IsInteger(dtype)) &&
           patterns_.LiesNext(*p.value, depth);
  });
}

LoopWriter::Operands ContractionSides::ReadAcross(const Tiling& tiling, const Side& side,
                                                  const Packed& packed, const Index& outer,
                                                  const Operand& start, const Operand& k,
                                                  int steps) {
  const Block& element = *tiling.contract.blocks[0];
  const Operand last = builder().Sub(tiling.extents[side.axis], Int(1));
  Operands vectors;
  for (int lane = 0; lane < side.lanes; ++lane) {
    LaneValues lanes(steps);
    SetIndices(tiling, outer, k, lanes);
    lanes.Set(element.params[tiling.extents.size()], {LaneValue::kLinear, k, 1});
    lanes.Set(element.params[side.axis],
              {LaneValue::kUniform, Min(builder().Add(start, Int(lane)), last), 0});
    Write(*packed.value, lanes, std::nullopt);
    vectors.push_back(lanes.Vector(builder(), lanes.Of(packed.value->result())));
  }
  return Turned(vectors);
}

int ContractionSides::StepsAcross(const Side& side) {
  return std::has_single_bit(unsigned(side.lanes)) ? side.lanes : kUsualAcross;
}

int ContractionSides::StepsAtOnce(const Side& side, const Packed& packed) {
  const auto bytes = static_cast<int>(ir::SizeInBytes(packed.value->result()->type.dtype()));
  return std::min(StepsAcross(side), kBytesAcross / bytes);
}

// As many steps from k on as are read across.
void ContractionSides::PackAcross(const Tiling& tiling, const Side& side, const Index& outer,
                                  const PlaceOfPacked& place) {
  const auto pack = [&](const Operand& within, const Packed& p, int step) {
    const Operand start = builder().Add(builder().Mul(place.tile, Int(side.width)), within);
    const Operand k = builder().Add(place.k, Int(step));
    for (const Operand& vector :
         ReadAcross(tiling, side, p, outer, start, k, StepsAtOnce(side, p))) {
      builder().Emit(
          OpCode::kStoreLanes, {},
          {p.buffer, place.slot, builder().Add(place.packed, Int(step++)), within, vector},
          AlongPanel());
    }
  };
  Loop(
      Int(0), Int(side.width), {},
      [&](const Operand& within) {
        for (const Packed& p : side.values) {
          for (int step = 0; step < StepsAcross(side); step += StepsAtOnce(side, p))
            pack(within, p, step);
        }
      },
      side.lanes);
}

// All lanes by turns, cut into vectors of as many as there are operands.
LoopWriter::Operands ContractionSides::Turned(const Operands& vectors) {
  const Type type = ir::TypeOf(vectors[0]);
  const auto count = static_cast<int>(vectors.size());
  Operands parts = {builder().EmitOne(OpCode::kInterleave,
                                      Type::Vector(type.dtype(), count * type.lanes()), vectors)};
  for (int lanes = count * type.lanes() / 2; lanes >= count; lanes /= 2) {
    Operands halves;
    for (const Operand& part : parts) {
      for (const OpCode half : {OpCode::kLowHalf, OpCode::kHighHalf})
        halves.push_back(builder().EmitOne(half, Type::Vector(type.dtype(), lanes), {part}));
    }
    parts = std::move(halves);
  }
  return parts;
}

// Beyond the last index what zeros give is packed; what is made of it is not stored.
LoopWriter::Operands ContractionSides::PackTile(const Tiling& tiling, const Side& side,
                                                const Index& outer, const PlaceOfPacked& place,
                                                Operands finite) {
  const Block& element = *tiling.contract.blocks[0];
  for (int within = 0; within < side.width; within += side.lanes) {
    const Operand start = builder().Add(builder().Mul(place.tile, Int(side.width)), Int(within));
    const Operand mask = MaskFrom(start, tiling.extents[side.axis], side.lanes);
    LaneValues lanes(side.lanes);
    SetIndices(tiling, outer, place.k, lanes);
    lanes.Set(element.params[side.axis], {LaneValue::kLinear, start, 1});
    for (size_t at = 0; at < element.bindings.size(); ++at) {
      if (tiling.follows[at] == side.which || tiling.follows[at] == kNeither)
        Write(*element.bindings[at], lanes, mask);
    }
    for (const Packed& p : side.values) {
      const Operand value = lanes.Vector(builder(), lanes.Of(p.value->result()));
      StorePacked(side, p, {p.buffer, place.slot, place.packed}, within, value);
      if (finite.empty() || !ir::IsFloat(ir::DTypeOf(value))) continue;
      const Operand is_finite = builder().Scalar(OpCode::kIsFinite, {value});
      const Operand counts =
          builder().Scalar(OpCode::kOr, {is_finite, builder().Scalar(OpCode::kNot, {mask})});
      finite[0] = builder().Scalar(OpCode::kAnd, {finite[0], counts});
    }
  }
  return finite;
}

Operand ContractionSides::AreFinite(const Side& side, const Operand& batch, const Operand& tile) {
  Operand unit = builder().Quotient(tile, Int(kGroup));
  if (side.is_batched) unit = builder().Add(builder().Mul(batch, Groups(side)), unit);
  return builder().Load(side.finite, {unit});
}

// --- Its element function ---

Operand ContractionSides::MaskFrom(const Operand& start, const Operand& extent, int lanes) {
  const LaneValues values(lanes);
  const Operand left = builder().Sub(extent, start);
  if (4 * lanes > vector_bytes() || 8 * lanes == vector_bytes()) {
    const Operand all = values.Splat(builder(), left);
    return builder().Scalar(OpCode::kLt, {values.Iota(builder()), all});
  }
  // As wide as what is loaded, or in one register: a mask then stays one in a register.
  const Operand few = builder().EmitOne(OpCode::kCast, DType::kI32, {Min(left, Int(lanes))});
  const Type type = Type::Vector(DType::kI32, lanes);
  return builder().Scalar(OpCode::kLt, {builder().EmitOne(OpCode::kIota, type, {}),
                                        builder().EmitOne(OpCode::kSplat, type, {few})});
}

void ContractionSides::SetIndices(const Tiling& tiling, const Index& outer, const Operand& k,
                                  LaneValues& lanes) {
  const std::vector<const Var*>& params = tiling.contract.blocks[0]->params;
  const Index sum = Delinear(k, tiling.summed);
  for (size_t f = 0; f < outer.size(); ++f)
    lanes.Set(params[f], {LaneValue::kUniform, outer[f], 0});
  for (size_t s = 0; s < sum.size(); ++s)
    lanes.Set(params[outer.size() + s], {LaneValue::kUniform, sum[s], 0});
}

void ContractionSides::Write(const Binding& b, LaneValues& lanes,
                             const std::optional<Operand>& mask) {
  Binding applied = b;
  applied.operands = Apply(b.operands);
  std::vector<LaneValue> values;
  for (const Operand& operand : applied.operands) values.push_back(lanes.Of(operand));
  const auto is_uniform = [](const LaneValue& v) { return v.kind == LaneValue::kUniform; };
  if (std::all_of(values.begin(), values.end(), is_uniform)) {
    Operands operands;
    for (const LaneValue& value : values) operands.push_back(value.value);
    const Operand value = builder().EmitOne(b.op, b.result()->type, std::move(operands), b.attrs);
    return lanes.Set(b.result(), {LaneValue::kUniform, value, 0});
  }
  if (b.op != OpCode::kLoad) return lanes.Set(b.result(), lanes.Apply(builder(), applied));
  lanes.Set(b.result(), {LaneValue::kVarying, LoadMoving(b, values, lanes, mask), 0});
}

// A load that moves with the lanes along one axis.
Operand ContractionSides::LoadMoving(const Binding& load, const std::vector<LaneValue>& values,
                                     const LaneValues& lanes, const std::optional<Operand>& mask) {
  Operands operands;
  size_t axis = 0;
  for (size_t at = 0; at < values.size(); ++at) {
    operands.push_back(values[at].value);
    if (values[at].kind == LaneValue::kLinear) axis = at - 1;
  }
  Attributes attrs{{Attr::kAxis, static_cast<int64_t>(axis)}};
  if (mask) {
    operands.push_back(*mask);
    attrs = attrs.With(Attr::kMasked, int64_t{1});
  }
  const Type type = Type::Vector(load.result()->type.dtype(), lanes.lanes());
  return builder().EmitOne(OpCode::kLoadLanes, type, std::move(operands), attrs);
}

}  // namespace parakeet::passes
