#include "passes/lowering/contraction_tiles.h"

#include <algorithm>

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

Attributes Masked(size_t axis) {
  return {{Attr::kAxis, static_cast<int64_t>(axis)}, {Attr::kMasked, int64_t{1}}};
}

}  // namespace

// --- Packing ---

Operand ContractionTiles::Groups(const Side& side) { return CeilDiv(side.tiles, Int(kGroup)); }

Operand ContractionTiles::TileIn(const Side& side, const Operand& batch, const Operand& tile) {
  return side.is_batched ? builder().Add(builder().Mul(batch, side.tiles), tile) : tile;
}

ContractionTiles::Index ContractionTiles::OuterIndex(const Tiling& tiling, const Operand& batch) {
  Operands extents;
  for (size_t axis : tiling.outer) extents.push_back(tiling.extents[axis]);
  const Operands within = Delinear(batch, extents);
  Index index(tiling.extents.size(), Int(0));
  for (size_t k = 0; k < within.size(); ++k) index[tiling.outer[k]] = within[k];
  return index;
}

void ContractionTiles::Pack(const Tiling& tiling, Side& side, const Attributes& kind) {
  const Operand groups = Groups(side);
  const Operand batches = side.is_batched ? tiling.batches : Int(1);
  const Operand count = builder().Mul(batches, side.tiles);
  for (Packed& p : side.loads) {
    const Type type =
        Type::Array(p.load->result()->type.dtype(), {count, tiling.depth, Int(side.width)});
    p.buffer = builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "packed");
  }
  const Operand units = builder().Mul(batches, groups);
  if (tiling.is_ordered) {
    side.finite = builder().EmitOne(OpCode::kAlloc, Type::Array(DType::kBool, {units}), {units}, {},
                                    {}, "finite");
  }
  const LaneValues lanes(side.lanes);
  Loop(Int(0), units, kind, [&](const Operand& unit) {
    const Operand batch =
        side.is_batched ? builder().Scalar(OpCode::kFloorDiv, {unit, groups}) : Int(0);
    const Operand group = side.is_batched ? builder().Scalar(OpCode::kMod, {unit, groups}) : unit;
    const Operand first = builder().Mul(group, Int(kGroup));
    const Operand last = Min(builder().Add(first, Int(kGroup)), side.tiles);
    const Index outer = OuterIndex(tiling, batch);
    Operands finite;
    if (tiling.is_ordered) finite.push_back(lanes.Splat(builder(), Operand::Bool(true)));
    finite = Carry(Int(0), tiling.depth, finite, [&](const Operand& k, const Operands& above) {
      return Carry(first, last, above, [&](const Operand& tile, const Operands& so_far) {
        return PackTile(tiling, side, outer, tile, TileIn(side, batch, tile), k, so_far);
      });
    });
    if (!tiling.is_ordered) return;
    const Operand all = builder().EmitOne(OpCode::kAllLanes, DType::kBool, {finite[0]});
    builder().Store(side.finite, {unit}, all);
  });
}

// Beyond the last index zeros are packed; what is made of them is not stored.
LoopWriter::Operands ContractionTiles::PackTile(const Tiling& tiling, const Side& side,
                                                const Index& outer, const Operand& tile,
                                                const Operand& slot, const Operand& k,
                                                Operands finite) {
  const Block& element = *tiling.contract.blocks[0];
  const Index sum = Delinear(k, tiling.summed);
  ir::Substitution at;
  for (size_t f = 0; f < outer.size(); ++f) at[element.params[f]] = outer[f];
  for (size_t s = 0; s < sum.size(); ++s) at[element.params[outer.size() + s]] = sum[s];
  const std::vector<Columns> vectors = ColumnsOf(side, tiling.extents[side.axis], tile);
  for (size_t v = 0; v < vectors.size(); ++v) {
    const Operand within = Int(static_cast<int64_t>(v) * side.lanes);
    at[element.params[side.axis]] = vectors[v].start;
    for (const Packed& p : side.loads) {
      Operands source = p.load->operands;
      const auto axis =
          std::find(source.begin() + 1, source.end(), Operand(element.params[side.axis]));
      for (Operand& operand : source) {
        const auto found = operand.IsVar() ? at.find(operand.var()) : at.end();
        if (found != at.end()) operand = found->second;
      }
      const size_t along = axis - source.begin() - 1;
      source = Apply(source);
      source.push_back(vectors[v].mask);
      const Type type = Type::Vector(p.load->result()->type.dtype(), side.lanes);
      const Operand value =
          builder().EmitOne(OpCode::kLoadLanes, type, std::move(source), Masked(along));
      builder().Emit(OpCode::kStoreLanes, {}, {p.buffer, slot, k, within, value},
                     Attributes{{Attr::kAxis, int64_t{2}}});
      if (!finite.empty() && ir::IsFloat(type.dtype())) {
        const Operand is_finite = builder().Scalar(OpCode::kIsFinite, {value});
        finite[0] = builder().Scalar(OpCode::kAnd, {finite[0], is_finite});
      }
    }
  }
  return finite;
}

Operand ContractionTiles::AreFinite(const Side& side, const Operand& batch, const Operand& tile) {
  Operand unit = builder().Scalar(OpCode::kFloorDiv, {tile, Int(kGroup)});
  if (side.is_batched) unit = builder().Add(builder().Mul(batch, Groups(side)), unit);
  return builder().Load(side.finite, {unit});
}

// --- A tile ---

void ContractionTiles::WriteTile(const Tiling& tiling, const Var* sums, const Place& at) {
  const int rows = tiling.rows.width;
  if (!tiling.is_ordered) return WriteRows(tiling, sums, at, {Int(0), rows, false});
  const Operand finite =
      builder().Scalar(OpCode::kAnd, {AreFinite(tiling.rows, at.batch, at.row_tile),
                                      AreFinite(tiling.columns, at.batch, at.column_tile)});
  Choose(
      finite,
      [&] {
        WriteRows(tiling, sums, at, {Int(0), rows, true});
        return Operands{};
      },
      [&] {
        Loop(Int(0), Int(rows), {},
             [&](const Operand& row) { WriteRows(tiling, sums, at, {row, 1, false}); });
        return Operands{};
      });
}

void ContractionTiles::WriteRows(const Tiling& tiling, const Var* sums, const Place& at,
                                 const Rows& rows) {
  const LaneValues lanes(tiling.columns.lanes);
  const std::vector<Columns> columns =
      ColumnsOf(tiling.columns, tiling.extents[tiling.columns.axis], at.column_tile);
  const Operands starts = Choose(
      builder().Scalar(OpCode::kEq, {at.lo, Int(0)}),
      [&] { return Operands(rows.count * kVectors, lanes.Splat(builder(), tiling.start)); },
      [&] { return LoadRows(tiling, sums, at, rows, columns); });
  const Operands values =
      Carry(at.lo, at.hi, starts, [&](const Operand& k, const Operands& so_far) {
        Operands next;
        for (int r = 0; r < rows.count; ++r) {
          const Operand row = builder().Add(rows.first, Int(r));
          for (int v = 0; v < kVectors; ++v) {
            const Operand element = Element(tiling, at, k, row, v);
            next.push_back(Combined(tiling, rows.finite, so_far[r * kVectors + v], element));
          }
        }
        return next;
      });
  StoreRows(tiling, sums, at, rows, columns, values);
}

// Where nothing is nan, a min is one instruction of the processor: of equal numbers the second.
Operand ContractionTiles::Combined(const Tiling& tiling, bool finite, const Operand& sum,
                                   const Operand& element) {
  if (finite) {
    const OpCode wins = tiling.combine == OpCode::kMin ? OpCode::kLt : OpCode::kGt;
    const Operand keeps = builder().Scalar(wins, {sum, element});
    return builder().Scalar(OpCode::kSelect, {keeps, sum, element});
  }
  const auto fused = tiling.combine == OpCode::kAdd ? FuseMultiplyAdd(sum, element) : std::nullopt;
  return fused ? *fused : builder().Scalar(tiling.combine, {sum, element});
}

// The element function on one row and one vector of columns.
Operand ContractionTiles::Element(const Tiling& tiling, const Place& at, const Operand& k,
                                  const Operand& row, int vector) {
  LaneValues lanes(tiling.columns.lanes);
  const Block& original = *tiling.contract.blocks[0];
  const Block* element = ir::CloneBlock(arena(), original);
  for (size_t axis : tiling.outer) Replace(element->params[axis], at.outer[axis]);
  const Index sum = Delinear(k, tiling.summed);
  for (size_t s = 0; s < sum.size(); ++s)
    Replace(element->params[tiling.extents.size() + s], sum[s]);
  const auto packed = [&](const Side& side, size_t place) -> const Var* {
    for (const Packed& p : side.loads) {
      if (p.load == original.bindings[place]) return p.buffer;
    }
    return nullptr;
  };
  for (size_t place = 0; place < element->bindings.size(); ++place) {
    Binding b = *element->bindings[place];
    b.operands = Apply(b.operands);
    const Var* const made = b.result();
    if (const Var* left = packed(tiling.rows, place)) {
      const Operand tile = TileIn(tiling.rows, at.batch, at.row_tile);
      lanes.Set(made, {LaneValue::kUniform, builder().Load(left, {tile, k, row}), 0});
    } else if (const Var* right = packed(tiling.columns, place)) {
      const Operand tile = TileIn(tiling.columns, at.batch, at.column_tile);
      const Type type = Type::Vector(made->type.dtype(), lanes.lanes());
      const Operand column = Int(vector * lanes.lanes());
      lanes.Set(made, {LaneValue::kVarying,
                       builder().EmitOne(OpCode::kLoadLanes, type, {right, tile, k, column},
                                         Attributes{{Attr::kAxis, int64_t{2}}}),
                       0});
    } else if (b.op == OpCode::kLoad) {
      lanes.Set(made,
                {LaneValue::kUniform,
                 builder().Load(b.operands[0], {b.operands.begin() + 1, b.operands.end()}), 0});
    } else {
      lanes.Set(made, lanes.Apply(builder(), b));
    }
  }
  return lanes.Vector(builder(), lanes.Of(Apply(element->results[0])));
}

// --- Where sums stand ---

std::vector<ContractionTiles::Columns> ContractionTiles::ColumnsOf(const Side& side,
                                                                   const Operand& extent,
                                                                   const Operand& tile) {
  const LaneValues lanes(side.lanes);
  std::vector<Columns> columns;
  const Operand base = builder().Mul(tile, Int(side.width));
  for (int at = 0; at < side.width; at += side.lanes) {
    const Operand start = builder().Add(base, Int(at));
    const Operand left = lanes.Splat(builder(), builder().Sub(extent, start));
    columns.push_back({start, builder().Scalar(OpCode::kLt, {lanes.Iota(builder()), left})});
  }
  return columns;
}

Operand ContractionTiles::RowOf(const Place& at, const Rows& rows, int row) {
  return builder().Add(builder().Mul(at.row_tile, Int(RowsOfTile())),
                       builder().Add(rows.first, Int(row)));
}

LoopWriter::Operands ContractionTiles::PlaceOf(const Tiling& tiling, const Var* sums,
                                               const Place& at, const Operand& row,
                                               const Columns& columns) {
  Operands place = at.outer;
  place[tiling.rows.axis] = row;
  place[tiling.columns.axis] = columns.start;
  place.insert(place.begin(), Operand(sums));
  return place;
}

// Beyond the last row the last one is read again.
LoopWriter::Operands ContractionTiles::LoadRows(const Tiling& tiling, const Var* sums,
                                                const Place& at, const Rows& rows,
                                                const std::vector<Columns>& columns) {
  const Operand last = builder().Sub(tiling.extents[tiling.rows.axis], Int(1));
  const Type type = Type::Vector(sums->type.dtype(), tiling.columns.lanes);
  Operands values;
  for (int r = 0; r < rows.count; ++r) {
    const Operand row = Min(RowOf(at, rows, r), last);
    for (const Columns& vector : columns) {
      Operands operands = PlaceOf(tiling, sums, at, row, vector);
      operands.push_back(vector.mask);
      values.push_back(builder().EmitOne(OpCode::kLoadLanes, type, std::move(operands),
                                         Masked(tiling.columns.axis)));
    }
  }
  return values;
}

void ContractionTiles::StoreRows(const Tiling& tiling, const Var* sums, const Place& at,
                                 const Rows& rows, const std::vector<Columns>& columns,
                                 const Operands& values) {
  for (int r = 0; r < rows.count; ++r) {
    const Operand row = RowOf(at, rows, r);
    Choose(
        builder().Scalar(OpCode::kLt, {row, tiling.extents[tiling.rows.axis]}),
        [&] {
          for (size_t v = 0; v < columns.size(); ++v) {
            Operands operands = PlaceOf(tiling, sums, at, row, columns[v]);
            operands.push_back(values[r * columns.size() + v]);
            operands.push_back(columns[v].mask);
            builder().Emit(OpCode::kStoreLanes, {}, std::move(operands),
                           Masked(tiling.columns.axis));
          }
          return Operands{};
        },
        [] { return Operands{}; });
  }
}

}  // namespace parakeet::passes
