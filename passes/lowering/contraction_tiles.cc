#include "passes/lowering/contraction_tiles.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/analyses/vector_legality.h"

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

// About as far as what comes from the second cache takes, and from memory.
constexpr int kStepsAhead = 8;
constexpr int kStepsAheadInPlace = 24;

Attributes AlongLast() { return {{Attr::kAxis, int64_t{2}}}; }

Operand FirstOf(const Operand& tile, int width, ir::Builder& builder) {
  return builder.Mul(tile, Int(width));
}

}  // namespace

// --- A tile and its parts ---

void ContractionTiles::WriteTile(const Tiling& tiling, const Results& results, const Place& at) {
  if (MayMaskLast(tiling)) {
    const Operand left = LeftFrom(tiling, at.column_tile);
    const auto write = [&](int vectors) {
      WriteMasked(tiling, results, at, vectors);
      return Operands{};
    };
    Choose(
        builder().Scalar(OpCode::kGt, {left, Int(tiling.columns.lanes)}), [&] { return write(2); },
        [&] { return write(1); });
    return;
  }
  Choose(
      IsWholeTile(tiling, at.column_tile),
      [&] {
        WriteWholeTile(tiling, results, at);
        return Operands{};
      },
      [&] {
        WriteRestOfTile(tiling, results, at);
        return Operands{};
      });
}

bool ContractionTiles::MayMaskLast(const Tiling& tiling) const {
  const auto has_mask = [](const Packed& p) {
    const DType dtype = p.value->result()->type.dtype();
    const int bytes = ir::SizeInBytes(dtype);
    return (ir::IsFloat(dtype) || ir::IsInteger(dtype)) && (bytes == 4 || bytes == 8);
  };
  const std::vector<Packed>& columns = tiling.columns.values;
  return VectorsOfTile() == 2 && !tiling.is_ordered &&
         std::all_of(columns.begin(), columns.end(), has_mask);
}

void ContractionTiles::WriteMasked(const Tiling& tiling, const Results& results, const Place& at,
                                   int vectors) {
  Part part{Int(0), tiling.rows.width, Int(0), vectors, tiling.columns.lanes, Masked::kLast};
  WriteRows(tiling, results, at, part);
}

Operand ContractionTiles::IsWholeTile(const Tiling& tiling, const Operand& column_tile) {
  return builder().Scalar(OpCode::kGe, {LeftFrom(tiling, column_tile), Int(tiling.columns.width)});
}

Operand ContractionTiles::LeftFrom(const Tiling& tiling, const Operand& column_tile) {
  const Side& columns = tiling.columns;
  return builder().Sub(tiling.extents[columns.axis],
                       FirstOf(column_tile, columns.width, builder()));
}

void ContractionTiles::WriteWholeTile(const Tiling& tiling, const Results& results,
                                      const Place& at) {
  WriteRows(tiling, results, at,
            {Int(0), tiling.rows.width, Int(0), VectorsOfTile(), tiling.columns.lanes});
}

// Vectors are taken one by one; where what is read lies in place as that of few columns does, two
// at once, since sums of one barely keep a processor busy, and where no more than half of one is
// left, half a vector: a processor may make two in the time of one.
void ContractionTiles::WriteRestOfTile(const Tiling& tiling, const Results& results,
                                       const Place& at) {
  const Operand left = LeftFrom(tiling, at.column_tile);
  const int all = tiling.columns.lanes;
  const auto write = [&](const Operand& column, int lanes, std::optional<bool> is_direct,
                         int vectors = 1) {
    Part part{Int(0), tiling.rows.width, column, vectors, lanes, Masked::kAll};
    part.is_direct = is_direct;
    WriteRows(tiling, results, at, part);
    return Operands{};
  };
  const auto is_half = [&](const Operand& column) {
    const Operand is_left =
        builder().Scalar(OpCode::kLe, {builder().Sub(left, column), Int(all / 2)});
    return builder().Scalar(OpCode::kAnd, {is_left, tiling.is_direct});
  };
  Operand first = Int(0);
  if (MayHalve(tiling)) {
    const Operand are_two = builder().Scalar(
        OpCode::kAnd, {builder().Scalar(OpCode::kGt, {left, Int(all)}), tiling.is_direct});
    If(are_two, [&] { write(Int(0), all, true, 2); });
    first = builder().Scalar(OpCode::kSelect, {are_two, Int(2 * all), Int(0)});
  }
  Loop(
      first, left, {},
      [&](const Operand& column) {
        if (!MayHalve(tiling)) return void(write(column, all, std::nullopt));
        Choose(
            is_half(column), [&] { return write(column, all / 2, true); },
            [&] { return write(column, all, std::nullopt); });
      },
      all);
}

// Row by row where a value may be nan.
void ContractionTiles::WriteRows(const Tiling& tiling, const Results& results, const Place& at,
                                 Part part) {
  if (!tiling.is_ordered) return WritePart(tiling, results, at, part);
  const Operand finite =
      builder().Scalar(OpCode::kAnd, {AreFinite(tiling.rows, at.batch, at.row_tile),
                                      AreFinite(tiling.columns, at.batch, at.column_tile)});
  Choose(
      finite,
      [&] {
        part.is_finite = true;
        WritePart(tiling, results, at, part);
        return Operands{};
      },
      [&] {
        Loop(Int(0), Int(part.rows), {}, [&](const Operand& row) {
          part.is_finite = false;
          part.first_row = row;
          part.rows = 1;
          WritePart(tiling, results, at, part);
        });
        return Operands{};
      });
}

void ContractionTiles::WritePart(const Tiling& tiling, const Results& results, const Place& at,
                                 const Part& part) {
  const LaneValues lanes(part.lanes);
  const std::vector<Columns> columns = ColumnsOf(tiling, at, part);
  const Operands starts = Choose(
      builder().Scalar(OpCode::kEq, {at.lo, Int(0)}),
      [&] { return Operands(part.rows * part.vectors, lanes.Splat(builder(), tiling.start)); },
      [&] { return LoadSlot(tiling, at, part, columns); });
  const auto sum_up = [&](bool is_direct) {
    return SumUp(tiling, at, part, columns, is_direct, starts);
  };
  const Operands values =
      part.is_direct
          ? sum_up(*part.is_direct)
          : Choose(tiling.is_direct, [&] { return sum_up(true); }, [&] { return sum_up(false); });
  const auto keep = [&] {
    StoreSlot(at, part, columns, values);
    return Operands{};
  };
  if (tiling.contract.blocks.size() > 2) return void(keep());
  Choose(
      builder().Scalar(OpCode::kEq, {at.hi, tiling.depth}),
      [&] {
        StoreRows(tiling, results[0], at, part, columns, values);
        return Operands{};
      },
      keep);
}

LoopWriter::Operands ContractionTiles::SumUp(const Tiling& tiling, const Place& at,
                                             const Part& part, const std::vector<Columns>& columns,
                                             bool is_direct, const Operands& starts) {
  return Carry(at.lo, at.hi, starts, [&](const Operand& k, const Operands& so_far) {
    const bool is_rest = part.masked != Masked::kNone && part.vectors == 1;
    if (!is_rest && !tiling.columns.has_one && !tiling.columns.is_turned)
      PrefetchPanels(tiling, at, k, part, columns, is_direct);
    Operands next;
    for (int r = 0; r < part.rows; ++r) {
      const Operand row = builder().Add(part.first_row, Int(r));
      for (const Columns& vector : columns) {
        const Operand element = Element(tiling, at, k, row, part.lanes, vector, is_direct);
        next.push_back(Combined(tiling, part.is_finite, so_far[next.size()], element));
      }
    }
    return next;
  });
}

// Where the step of the depth is among those of the side that are packed.
Operand ContractionTiles::PackedStep(const Side& side, const Place& at, const Operand& k) {
  const Operand& from = side.which == kRows ? at.rows_from : at.columns_from;
  return from.IsInt(0) ? k : builder().Sub(k, from);
}

// What a step further on reads: a panel of columns does not stay in the first cache.
void ContractionTiles::PrefetchPanels(const Tiling& tiling, const Place& at, const Operand& k,
                                      const Part& part, const std::vector<Columns>& columns,
                                      bool is_direct) {
  const auto prefetch = [&](const Side& side, const Operand& tile, const Operand& within) {
    const Operand ahead = builder().Add(PackedStep(side, at, k), Int(kStepsAhead));
    for (const Packed& p : side.values) {
      const Operand slot = TileIn(side, at.batch, tile);
      const auto ask = [&](const Operand& place) {
        builder().Emit(OpCode::kPrefetch, {}, {p.buffer, slot, ahead, place});
      };
      if (!IsPackedByParts(side, p)) {
        ask(within);
        continue;
      }
      const Operand first = builder().Mul(within, Int(2));
      ask(first);
      ask(builder().Add(first, Int(side.lanes)));
    }
  };
  if (!IsInPlace(tiling, tiling.rows, is_direct))
    prefetch(tiling.rows, at.row_tile, part.first_row);
  // One of those that are a line of the cache together.
  const size_t of_line = std::max(1, kBytesOfLine / vector_bytes());
  for (size_t v = 0; v < columns.size(); v += of_line) {
    const Columns& vector = columns[v];
    if (!IsInPlace(tiling, tiling.columns, is_direct)) {
      prefetch(tiling.columns, at.column_tile, vector.within);
      continue;
    }
    const Operand further = builder().Add(k, Int(kStepsAheadInPlace));
    for (const Packed& p : tiling.columns.values)
      PrefetchInPlace(tiling, tiling.columns, p, at.outer, further, vector.start);
  }
}

// Where nothing is nan, a min is one instruction of the processor: of equal numbers the second.
Operand ContractionTiles::Combined(const Tiling& tiling, bool finite, const Operand& sum,
                                   const Operand& element) {
  if (finite) {
    const OpCode wins = tiling.combine == OpCode::kMin ? OpCode::kLt : OpCode::kGt;
    const Operand keeps = builder().Scalar(wins, {sum, element});
    return builder().Scalar(OpCode::kSelect, {keeps, sum, element});
  }
  if (ir::IsComparison(tiling.combine)) {
    const Operand takes = builder().Scalar(tiling.combine, {element, sum});
    return builder().Scalar(OpCode::kSelect, {takes, element, sum});
  }
  const auto fused = tiling.combine == OpCode::kAdd ? FuseMultiplyAdd(sum, element) : std::nullopt;
  return fused ? *fused : builder().Scalar(tiling.combine, {sum, element});
}

// The element function on one row and one vector of columns. Read where it lies, the last row
// stands for those beyond it.
Operand ContractionTiles::Element(const Tiling& tiling, const Place& at, const Operand& k,
                                  const Operand& row, int lane_count, const Columns& columns,
                                  bool is_direct) {
  const Block& element = *tiling.contract.blocks[0];
  LaneValues lanes(lane_count);
  SetIndices(tiling, at.outer, k, lanes);
  const Operand last = builder().Sub(tiling.extents[tiling.rows.axis], Int(1));
  lanes.Set(element.params[tiling.rows.axis],
            {LaneValue::kUniform, Min(RowOf(tiling, at, row), last), 0});
  lanes.Set(element.params[tiling.columns.axis], {LaneValue::kLinear, columns.start, 1});
  const bool is_given = !columns.values.empty();
  const auto read = [&](const Side& side) {
    for (size_t v = 0; v < side.values.size(); ++v) {
      const Packed& p = side.values[v];
      const Var* value = p.value->result();
      const Operand tile = side.which == kRows ? at.row_tile : at.column_tile;
      const Operand slot = TileIn(side, at.batch, tile);
      const Operand step = PackedStep(side, at, k);
      if (side.which == kRows) {
        lanes.Set(value, {LaneValue::kUniform, builder().Load(p.buffer, {slot, step, row}), 0});
      } else {
        const Operand vector =
            is_given ? columns.values[v]
                     : LoadPacked(side, p, {p.buffer, slot, step}, columns.within, lanes);
        lanes.Set(value, {LaneValue::kVarying, vector, 0});
      }
    }
  };
  const bool has_rows = IsInPlace(tiling, tiling.rows, is_direct);
  const bool has_columns = !is_given && IsInPlace(tiling, tiling.columns, is_direct);
  if (!has_rows) read(tiling.rows);
  if (!has_columns) read(tiling.columns);
  for (size_t b = 0; b < element.bindings.size(); ++b) {
    const bool is_packed = (tiling.follows[b] == kRows && !has_rows) ||
                           (tiling.follows[b] == kColumns && !has_columns);
    if (!is_packed) Write(*element.bindings[b], lanes, columns.mask);
  }
  return lanes.Vector(builder(), lanes.Of(Apply(element.results[0])));
}

// --- Where sums stand ---

std::vector<ContractionTiles::Columns> ContractionTiles::ColumnsOf(const Tiling& tiling,
                                                                   const Place& at,
                                                                   const Part& part) {
  const Side& side = tiling.columns;
  const Operand first = FirstOf(at.column_tile, side.width, builder());
  std::vector<Columns> columns;
  for (int v = 0; v < part.vectors; ++v) {
    const Operand within = builder().Add(part.first_column, Int(int64_t{v} * part.lanes));
    const Operand start = builder().Add(first, within);
    columns.push_back({within, start, std::nullopt});
    const bool is_last = v + 1 == part.vectors;
    if (part.masked == Masked::kAll || (part.masked == Masked::kLast && is_last))
      columns.back().mask = MaskFrom(start, tiling.extents[side.axis], part.lanes);
  }
  return columns;
}

Operand ContractionTiles::RowOf(const Tiling& tiling, const Place& at, const Operand& row) {
  return builder().Add(FirstOf(at.row_tile, tiling.rows.width, builder()), row);
}

LoopWriter::Operands ContractionTiles::LoadSlot(const Tiling& tiling, const Place& at,
                                                const Part& part,
                                                const std::vector<Columns>& columns) {
  const Type type = Type::Vector(at.slots->type.dtype(), part.lanes);
  Operands values;
  for (int r = 0; r < part.rows; ++r) {
    const Operand row = builder().Add(part.first_row, Int(r));
    for (const Columns& vector : columns) {
      values.push_back(builder().EmitOne(OpCode::kLoadLanes, type,
                                         {at.slots, at.slot, row, vector.within}, AlongLast()));
    }
  }
  return values;
}

void ContractionTiles::StoreSlot(const Place& at, const Part& part,
                                 const std::vector<Columns>& columns, const Operands& values) {
  for (size_t v = 0; v < values.size(); ++v) {
    const Operand row = builder().Add(part.first_row, Int(v / columns.size()));
    builder().Emit(OpCode::kStoreLanes, {},
                   {at.slots, at.slot, row, columns[v % columns.size()].within, values[v]},
                   AlongLast());
  }
}

void ContractionTiles::StoreRows(const Tiling& tiling, const Var* result, const Place& at,
                                 const Part& part, const std::vector<Columns>& columns,
                                 const Operands& values) {
  const auto store = [&](const Operand& row, size_t v, const Operand& value, bool all_lanes) {
    Operands operands = at.outer;
    operands[tiling.rows.axis] = row;
    operands[tiling.columns.axis] = columns[v].start;
    operands.insert(operands.begin(), Operand(result));
    operands.push_back(value);
    Attributes attrs{{Attr::kAxis, static_cast<int64_t>(tiling.columns.axis)}};
    if (columns[v].mask && !all_lanes) {
      operands.push_back(*columns[v].mask);
      attrs = attrs.With(Attr::kMasked, int64_t{1});
    }
    builder().Emit(OpCode::kStoreLanes, {}, std::move(operands), attrs);
  };
  const auto store_rows = [&](bool all_lanes) {
    for (int r = 0; r < part.rows; ++r) {
      const Operand row = RowOf(tiling, at, builder().Add(part.first_row, Int(r)));
      If(builder().Scalar(OpCode::kLt, {row, tiling.extents[tiling.rows.axis]}), [&] {
        for (size_t v = 0; v < columns.size(); ++v)
          store(row, v, values[r * columns.size() + v], all_lanes);
      });
    }
    return Operands{};
  };
  // Stores under a mask may take a processor long.
  if (part.masked != Masked::kLast) return void(store_rows(false));
  const Operand left = builder().Sub(tiling.extents[tiling.columns.axis], columns.back().start);
  Choose(
      builder().Scalar(OpCode::kGe, {left, Int(part.lanes)}), [&] { return store_rows(true); },
      [&] { return store_rows(false); });
}

void ContractionTiles::WriteEpilogue(const Tiling& tiling, const Results& results,
                                     const Place& at) {
  const auto range = [&](const Side& side, const Operand& tile) {
    const Operand first = FirstOf(tile, side.width, builder());
    return std::pair(first, Min(builder().Add(first, Int(side.width)), tiling.extents[side.axis]));
  };
  const auto [first_row, last_row] = range(tiling.rows, at.row_tile);
  const auto [first_column, last_column] = range(tiling.columns, at.column_tile);
  const auto elements = [&](const Operand& row) {
    const Var* column = builder().NewVar(DType::kI64, "i");
    const Block* body = BlockOf({column}, [&] {
      Index index = at.outer;
      index[tiling.rows.axis] = row;
      index[tiling.columns.axis] = column;
      Operands arguments = index;
      arguments.push_back(builder().Load(
          at.slots, {at.slot, builder().Sub(row, first_row), builder().Sub(column, first_column)}));
      const Operands values =
          VisitBody(*ir::CloneBlock(arena(), *tiling.contract.blocks[2]), arguments);
      for (size_t k = 0; k < values.size(); ++k) builder().Store(results[k], index, values[k]);
      return Operands{};
    });
    const bool in_lanes = WhyNotVector(*body, column).empty();
    const Attributes kind =
        in_lanes ? Attributes{{Attr::kKind, std::string("vector")}} : Attributes{};
    builder().Emit(OpCode::kFor, {}, {first_column, last_column, Int(1)}, kind, {body});
  };
  Loop(first_row, last_row, {}, elements);
}

}  // namespace parakeet::passes
