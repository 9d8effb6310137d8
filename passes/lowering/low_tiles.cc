#include "passes/lowering/low_tiles.h"

#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_contractions.h"
#include "passes/other_shapes.h"

namespace parakeet::passes {

using ir::Attributes;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

// Sums of a tile are enough of them that none waits for the one before it, and few enough for the
// registers: rows, and vectors of columns. Of two known rows, vectors are as many more.
struct LowForm {
  int rows;
  int vectors;
};
constexpr LowForm kLowFewRows = {4, 4};
constexpr LowForm kLowTwoRows = {2, 8};
constexpr LowForm kLowTwoRowsAtOnce = {2, 4};
// The same of sixteen registers.
constexpr LowForm kLowFewRowsOfSixteen = {4, 2};
constexpr LowForm kLowTwoRowsOfSixteen = {2, 4};
// Rows of the result that are turned as they are summed: a vector of sixteen, or two of eight.
constexpr int kLowTurnedLanes = 16;
constexpr LowForm kLowManyRows = {8, 3};
constexpr LowForm kLowNarrow = {16, 1};
constexpr LowForm kLowNarrowOfTwo = {8, 2};
constexpr int kLowMostNarrow = 64;
// Steps of the depth whose columns are turned before they are summed: a panel of some 16 KB.
constexpr int kLowTurnedDepth = 64;
// Fewer terms are not shared out, and so many are a task.
constexpr int kLowAlone = 1 << 21;
constexpr int kLowTermsOfTask = 1 << 18;
// Sums of fewer terms do not pay for stores that go down columns.
constexpr int kLowLeastDepth = 8;
constexpr int kLowManyLeastDepth = 32;

bool IsKnownAtMost(const Operand& size, int64_t most) {
  return size.IsConstant() && size.constant().integer <= most;
}

}  // namespace

std::vector<LowTiles::Low> LowTiles::FindLow(const Tiling& tiling) {
  std::vector<Low> found;
  const Operand &rows = tiling.extents[tiling.rows.axis],
                &columns = tiling.extents[tiling.columns.axis];
  const bool is_known = IsKnownShortSide(rows) || IsKnownShortSide(columns);
  const bool has_parts = ir::IsComplex(ir::DTypeOf(tiling.start));
  const bool may_be = (options_ != nullptr && options_->short_sides) || is_known;
  if (repeats_ > 0 || !may_be || tiling.is_ordered || tiling.summed.size() != 1 || has_parts ||
      rows == columns)
    return found;
  AddAcross(tiling, &found);
  if (IsRoomy()) AddNarrow(tiling, &found);
  const LowForm& form = IsKnownAtMost(rows, 2) ? kLowTwoRowsAtOnce
                        : IsRoomy()            ? kLowFewRows
                                               : kLowFewRowsOfSixteen;
  const auto low = LowTiling(tiling, false, form.rows, form.vectors);
  if (!low || low->columns.has_one) return found;
  Operands conditions = {AtMost(rows, form.rows)};
  // The depth of these tiles is not cut into blocks.
  const bool may_be_scattered = HasNarrowTiles(tiling) && conditions[0] != Operand::Bool(true);
  if (may_be_scattered) conditions.push_back(Not(AreScattered(tiling)));
  Add(*low, conditions, &found);
  return found;
}

// Where all of these hold, unless one is known not to.
void LowTiles::Add(const Tiling& tiling, const Operands& conditions, std::vector<Low>* found) {
  Operand fits = Operand::Bool(true);
  for (const Operand& condition : conditions) {
    if (condition == Operand::Bool(false)) return;
    if (condition == Operand::Bool(true)) continue;
    fits =
        fits == Operand::Bool(true) ? condition : builder().Scalar(OpCode::kAnd, {fits, condition});
  }
  found->push_back({tiling, fits});
}

// What follows sums is made along the columns of the result, which are few. Stores that go down
// columns have to be paid for by the sums, unless columns are known to be very few: that no other
// tiles need to be written is worth more.
void LowTiles::AddAcross(const Tiling& tiling, std::vector<Low>* found) {
  if (tiling.contract.blocks.size() > 2) return;
  const Operand &rows = tiling.extents[tiling.rows.axis],
                &columns = tiling.extents[tiling.columns.axis];
  const Operand are_many = builder().Scalar(OpCode::kGt, {rows, Int(kLongestShortSide)});
  if (are_many == Operand::Bool(false)) return;
  const bool is_known = IsKnownAtMost(columns, kLowFewRows.rows);
  const auto add = [&](const LowForm& form, int64_t most, int64_t least_depth) {
    const auto low = LowTiling(tiling, true, form.rows, form.vectors);
    if (!low) return;
    const Operand is_deep = builder().Scalar(OpCode::kGe, {tiling.depth, Int(least_depth)});
    Add(*low, is_known ? Operands{} : Operands{AtMost(columns, most), are_many, is_deep}, found);
  };
  const auto few = LowTiling(tiling, true, kLowFewRows.rows, kLowFewRows.vectors);
  const bool is_turned = few && few->columns.is_turned;
  LowForm form = IsRoomy() ? kLowFewRows : kLowFewRowsOfSixteen;
  if (IsKnownAtMost(columns, 2)) form = IsRoomy() ? kLowTwoRows : kLowTwoRowsOfSixteen;
  if (is_turned) form.vectors = std::clamp(kLowTurnedLanes / tiling.columns.lanes, 1, form.vectors);
  add(form, kLowFewRows.rows, kLowLeastDepth);
  if (!is_turned && IsRoomy()) add(kLowManyRows, kLongestShortSide, kLowManyLeastDepth);
}

// Few columns that have to be turned: a vector or two of them, beside as many rows as registers
// hold sums of. They are turned anew for each tile of rows, of which there are not many.
void LowTiles::AddNarrow(const Tiling& tiling, std::vector<Low>* found) {
  const Operand &rows = tiling.extents[tiling.rows.axis],
                &columns = tiling.extents[tiling.columns.axis];
  const LowForm& form = tiling.columns.lanes >= kLongestShortSide ? kLowNarrow : kLowNarrowOfTwo;
  const auto low = LowTiling(tiling, false, form.rows, form.vectors);
  if (!low || !low->columns.has_one || form.vectors * tiling.columns.lanes < kLongestShortSide)
    return;
  const int but_one = (form.vectors - 1) * tiling.columns.lanes;
  const Operand fill = builder().Scalar(OpCode::kGt, {columns, Int(but_one)});
  const Operand are_many = builder().Scalar(OpCode::kGe, {rows, Int(form.rows)});
  Add(*low, {AtMost(columns, kLongestShortSide), fill, are_many, AtMost(rows, kLowMostNarrow)},
      found);
}

std::optional<LowTiles::Tiling> LowTiles::LowTiling(const Tiling& tiling, bool is_across,
                                                    int height, int vectors) {
  const Side &rows = is_across ? tiling.columns : tiling.rows,
             &columns = is_across ? tiling.rows : tiling.columns;
  const int lanes = tiling.columns.lanes;
  Tiling low = tiling;
  low.rows = {kRows, rows.axis, height, height};
  low.columns = {kColumns, columns.axis, vectors * lanes, lanes};
  if (!Classify(low) || !MayBeDirect(low, low.rows)) return std::nullopt;
  const bool is_turned = !MayBeDirect(low, low.columns);
  if (is_turned && !LieAcross(low, low.columns)) return std::nullopt;
  (is_across ? low.columns.is_turned : low.columns.has_one) = is_turned;
  low.is_direct = Operand::Bool(true);
  return low;
}

void LowTiles::WriteLow(Tiling tiling, const Results& results) {
  const bool is_shared = tiling.contract.attrs.Int(ir::Attr::kParallel) != 0;
  Operands outer;
  for (size_t axis : tiling.outer) outer.push_back(tiling.extents[axis]);
  const Operand batches = Product(outer);
  for (Side* side : {&tiling.columns, &tiling.rows})
    side->tiles = CeilDiv(tiling.extents[side->axis], Int(side->width));
  const Operand units = builder().Mul(batches, tiling.columns.tiles);
  const Operand terms =
      Product({tiling.depth, tiling.extents[tiling.rows.axis], Int(tiling.columns.width)});
  Operand some = units;
  if (is_shared) {
    const Operand is_alone =
        builder().Scalar(OpCode::kLe, {Product({terms, units}), Int(kLowAlone)});
    const Operand worth = CeilDiv(Int(kLowTermsOfTask), Max(terms, Int(1)));
    some = builder().Scalar(OpCode::kSelect, {is_alone, units, Min(worth, units)});
  }
  some = Max(some, Int(1));
  const Attributes kind = is_shared ? OverThreads() : Attributes{};
  Loop(Int(0), CeilDiv(units, some), kind, [&](const Operand& task) {
    AllocatePanel(tiling);
    const Var* slot = AllocateSlot(tiling);
    const Operand first = builder().Mul(task, some);
    Loop(first, Min(builder().Add(first, some), units), {}, [&](const Operand& unit) {
      const bool is_batch = !tiling.outer.empty();
      const Operand& tiles = tiling.columns.tiles;
      const Operand batch = is_batch ? builder().Quotient(unit, tiles) : Operand(Int(0));
      Place place{OuterIndex(tiling, batch), batch};
      place.column_tile = is_batch ? builder().Remainder(unit, tiles) : unit;
      place.lo = Int(0);
      place.hi = tiling.depth;
      place.slots = slot;
      place.slot = Int(0);
      Loop(Int(0), tiling.rows.tiles, {}, [&](const Operand& row) {
        place.row_tile = row;
        WriteLowTile(tiling, results, place);
      });
    });
  });
}

void LowTiles::AllocatePanel(Tiling& tiling) {
  if (!tiling.columns.has_one) return;
  for (Packed& p : tiling.columns.values) {
    const Type type = Type::Array(p.value->result()->type.dtype(),
                                  {Int(1), Int(kLowTurnedDepth), Int(tiling.columns.width)});
    p.buffer = builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "packed");
  }
}

// What follows sums takes them from there.
const Var* LowTiles::AllocateSlot(const Tiling& tiling) {
  if (tiling.contract.blocks.size() < 3) return nullptr;
  const Operands dims = {Int(1), Int(tiling.rows.width), Int(tiling.columns.width)};
  return builder().EmitOne(OpCode::kAlloc, Type::Array(ir::DTypeOf(tiling.start), dims), dims, {},
                           {}, "sums");
}

// Whole tiles as any: to mask all of their lanes costs less than code for both.
void LowTiles::WriteLowTile(const Tiling& tiling, const Results& results, Place at) {
  const Side& side = tiling.columns;
  Part part{Int(0), tiling.rows.width, Int(0), side.width / side.lanes, side.lanes, Masked::kAll};
  const std::vector<Columns> columns = ColumnsOf(tiling, at, part);
  const LaneValues lanes(part.lanes);
  const Operands starts(part.rows * part.vectors, lanes.Splat(builder(), tiling.start));
  const Operands sums = side.has_one     ? SumUpPanels(tiling, at, part, columns, starts)
                        : side.is_turned ? SumUpTurned(tiling, at, part, columns, starts)
                                         : SumUp(tiling, at, part, columns, true, starts);
  if (tiling.contract.blocks.size() < 3)
    return StoreRows(tiling, results[0], at, part, columns, sums);
  StoreSlot(at, part, columns, sums);
  WriteEpilogue(tiling, results, at);
}

LoopWriter::Operands LowTiles::SumUpPanels(const Tiling& tiling, const Place& at, const Part& part,
                                           const std::vector<Columns>& columns,
                                           const Operands& starts) {
  const auto block = [&](const Operand& lo, const Operands& so_far) {
    Place within = at;
    within.lo = within.columns_from = lo;
    within.hi = Min(builder().Add(lo, Int(kLowTurnedDepth)), at.hi);
    const Range tile = {at.column_tile, builder().Add(at.column_tile, Int(1))};
    PackTiles(tiling, tiling.columns, {at.outer, at.batch}, tile, {within.lo, within.hi}, lo);
    return SumUp(tiling, within, part, columns, true, so_far);
  };
  return Carry(at.lo, at.hi, starts, block, kLowTurnedDepth);
}

// As many steps together as a vector has lanes; the rest are gathered.
LoopWriter::Operands LowTiles::SumUpTurned(const Tiling& tiling, const Place& at, const Part& part,
                                           const std::vector<Columns>& columns,
                                           const Operands& starts) {
  const Side& side = tiling.columns;
  int some = part.lanes;
  for (const Packed& p : side.values) some = std::min(some, StepsAtOnce(side, p));
  const auto at_once = [&](size_t v, const Operand& k, Operands& sums) {
    std::vector<Operands> turned;
    for (const Packed& p : side.values)
      turned.push_back(ReadAcross(tiling, side, p, at.outer, columns[v].start, k, some));
    for (int step = 0; step < some; ++step) {
      Columns vector = columns[v];
      for (const Operands& of : turned) vector.values.push_back(of[step]);
      AddStep(tiling, at, part, {vector, v}, builder().Add(k, Int(step)), sums);
    }
  };
  const auto together = [&](const Operand& k, Operands sums) {
    for (int step = 0; step < part.lanes; step += some) {
      for (size_t v = 0; v < columns.size(); ++v) at_once(v, builder().Add(k, Int(step)), sums);
    }
    return sums;
  };
  Place rest = at;
  const Operand alone = builder().Remainder(at.hi, Int(part.lanes));
  rest.lo = builder().Sub(at.hi, alone);
  return SumUp(tiling, rest, part, columns, true,
               Carry(at.lo, rest.lo, starts, together, part.lanes));
}

// One step of the depth to the sums of each row in one vector, that number of all.
void LowTiles::AddStep(const Tiling& tiling, const Place& at, const Part& part,
                       const std::pair<Columns, size_t>& vector, const Operand& k, Operands& sums) {
  for (int r = 0; r < part.rows; ++r) {
    const Operand row = builder().Add(part.first_row, Int(r));
    Operand& sum = sums[size_t(r) * part.vectors + vector.second];
    const Operand element = Element(tiling, at, k, row, part.lanes, vector.first, true);
    sum = Combined(tiling, part.is_finite, sum, element);
  }
}

}  // namespace parakeet::passes
