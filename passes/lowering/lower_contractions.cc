#include "passes/lowering/lower_contractions.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_nans.h"
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

// A panel of kDepth steps fits the first cache; the rows and the columns of a rectangle, in rows
// and in bytes, fit the second one. Many rows pass by each panel that is fetched; where the depth
// is short the result is what takes time, and it is written by few long rows.
constexpr int kDepth = 256;
constexpr int kDeepRows = 320;
constexpr int kDeepBytes = 1536;
constexpr int kFlatRows = 48;
constexpr int kFlatBytes = 3072;
// Products of fewer terms are not packed.
constexpr int kSmall = 300;

// How often the index stands among those of the load.
int64_t TimesOf(const Var* index, const Binding& load) {
  return std::count(load.operands.begin() + 1, load.operands.end(), Operand(index));
}

Attributes OverThreads() {
  return {{Attr::kKind, std::string("parallel")}, {Attr::kCost, int64_t{0}}};
}

}  // namespace

std::optional<ContractionLowering::Tiling> ContractionLowering::FindTiling(const Binding& b) {
  const Block& element = *b.blocks[0];
  const DType dtype = ir::DTypeOf(element.results[0]);
  const size_t indices = element.params.size();
  const auto combine = ir::CombineOp(*b.blocks[1]);
  const Operands operands = Apply(b.operands);
  if (!combine || ir::IsComplex(dtype) || dtype == DType::kF16) return std::nullopt;
  if (indices == 0 || !WhyNotVector(element, element.params[0]).empty()) return std::nullopt;
  const auto identity = ir::IdentityOf(*combine, dtype);
  const bool has_init = operands.size() > indices;
  if (!identity && !has_init) return std::nullopt;
  const auto free = static_cast<size_t>(b.attrs.Int(Attr::kFree));
  const int lanes = vector_bytes() / ir::SizeInBytes(dtype);
  const Operands summed(operands.begin() + free, operands.begin() + indices);
  Tiling tiling{b,
                *combine,
                has_init ? operands.back() : Operand(*identity),
                false,
                {operands.begin(), operands.begin() + free},
                summed,
                Product(summed),
                {},
                Int(1),
                {0, RowsOfTile(), RowsOfTile()},
                {0, kVectors * lanes, lanes}};
  // Columns are the index along which results lie side by side, or the nearest to it.
  const bool is_fortran = b.attrs.Int(Attr::kFortran) != 0;
  for (size_t column = 0; column < free; ++column) {
    for (size_t row = 0; row < free; ++row) {
      tiling.columns.axis = is_fortran ? column : free - 1 - column;
      tiling.rows.axis = is_fortran ? row : free - 1 - row;
      if (row == column || !Classify(tiling)) continue;
      tiling.is_ordered = StaysOrdered(tiling, has_init);
      return tiling;
    }
  }
  return std::nullopt;
}

// Every load must follow rows or columns, at one of its axes, not both; both kinds must be there.
bool ContractionLowering::Classify(Tiling& tiling) const {
  const std::vector<const Var*>& params = tiling.contract.blocks[0]->params;
  tiling.outer.clear();
  for (size_t axis = 0; axis < tiling.extents.size(); ++axis) {
    if (axis != tiling.rows.axis && axis != tiling.columns.axis) tiling.outer.push_back(axis);
  }
  for (Side* side : {&tiling.rows, &tiling.columns}) {
    const Side& other = side == &tiling.rows ? tiling.columns : tiling.rows;
    side->loads.clear();
    side->is_batched = false;
    for (const Binding* b : tiling.contract.blocks[0]->bindings) {
      if (b->op != OpCode::kLoad || TimesOf(params[side->axis], *b) == 0) continue;
      if (TimesOf(params[side->axis], *b) > 1 || TimesOf(params[other.axis], *b) > 0) return false;
      side->loads.push_back({b});
      for (size_t axis : tiling.outer) side->is_batched |= TimesOf(params[axis], *b) > 0;
    }
    if (side->loads.empty()) return false;
  }
  return true;
}

// True where a min or max may be the processor's own as long as what is packed is finite.
bool ContractionLowering::StaysOrdered(const Tiling& tiling, bool has_init) const {
  const bool orders = tiling.combine == OpCode::kMin || tiling.combine == OpCode::kMax;
  if (!orders || has_init || !ir::IsFloat(ir::DTypeOf(tiling.start))) return false;
  std::vector<const Binding*> packed;
  for (const Side* side : {&tiling.rows, &tiling.columns}) {
    for (const Packed& p : side->loads) packed.push_back(p.load);
  }
  return IsNumberIfFinite(*tiling.contract.blocks[0], packed);
}

Operand ContractionLowering::IsSmall(const Tiling& tiling) {
  const Operand terms = Product(
      {tiling.depth, tiling.extents[tiling.rows.axis], tiling.extents[tiling.columns.axis]});
  return builder().Scalar(OpCode::kLe, {terms, Int(kSmall)});
}

// Where sums stand before what follows them: where the elements go, if that holds them.
const Var* ContractionLowering::SumsOf(const Tiling& tiling,
                                       const std::vector<const Var*>& results) {
  const DType dtype = ir::DTypeOf(tiling.contract.blocks[0]->results[0]);
  if (results[0]->type.dtype() == dtype) return results[0];
  const Operands& dims = results[0]->type.dims();
  return builder().EmitOne(OpCode::kAlloc, Type::Array(dtype, dims), dims, {}, {}, "sums");
}

// Into how many parts the tiles are cut, none larger than `deep` or `flat`, and how large they are.
std::pair<Operand, Operand> ContractionLowering::Split(const Operand& tiles, const Operand& is_deep,
                                                       int deep, int flat) {
  const Operand most = builder().Scalar(OpCode::kSelect, {is_deep, Int(deep), Int(flat)});
  const Operand parts = CeilDiv(tiles, most);
  return {parts, CeilDiv(tiles, builder().Scalar(OpCode::kMax, {parts, Int(1)}))};
}

void ContractionLowering::WriteTiled(Tiling tiling, const std::vector<const Var*>& results) {
  const Attributes kind =
      tiling.contract.attrs.Int(Attr::kParallel) != 0 ? OverThreads() : Attributes{};
  for (size_t axis : tiling.outer)
    tiling.batches = builder().Mul(tiling.batches, tiling.extents[axis]);
  for (Side* side : {&tiling.columns, &tiling.rows}) {
    side->tiles = CeilDiv(tiling.extents[side->axis], Int(side->width));
    Pack(tiling, *side, kind);
  }
  const Var* sums = SumsOf(tiling, results);
  const Operand is_deep = builder().Scalar(OpCode::kGe, {tiling.depth, Int(kDepth / 2)});
  const int rows = RowsOfTile();
  const int bytes = kVectors * vector_bytes();
  const auto [high, rows_each] =
      Split(tiling.rows.tiles, is_deep, kDeepRows / rows, kFlatRows / rows);
  const auto [wide, columns_each] =
      Split(tiling.columns.tiles, is_deep, kDeepBytes / bytes, kFlatBytes / bytes);
  const Operand each = builder().Mul(high, wide);
  const bool is_batch = !tiling.outer.empty();
  Loop(Int(0), builder().Mul(tiling.batches, each), kind, [&](const Operand& task) {
    const Operand batch =
        is_batch ? builder().Scalar(OpCode::kFloorDiv, {task, each}) : Operand(Int(0));
    const Operand within = is_batch ? builder().Scalar(OpCode::kMod, {task, each}) : task;
    const auto range = [&](OpCode part, const Operand& size, const Operand& end) {
      const Operand begin = builder().Mul(builder().Scalar(part, {within, wide}), size);
      return Range{begin, Min(builder().Add(begin, size), end)};
    };
    const Range rows = range(OpCode::kFloorDiv, rows_each, tiling.rows.tiles);
    const Range columns = range(OpCode::kMod, columns_each, tiling.columns.tiles);
    const Place place{OuterIndex(tiling, batch), batch, {}, {}, {}, {}};
    WriteRectangle(tiling, sums, place, rows, columns);
    if (tiling.contract.blocks.size() > 2)
      WriteEpilogue(tiling, sums, results, place, rows, columns);
  });
}

// A depth of nothing is one empty block, which stores the start.
void ContractionLowering::WriteRectangle(const Tiling& tiling, const Var* sums, const Place& batch,
                                         const Range& rows, const Range& columns) {
  const Operand deep = builder().Scalar(OpCode::kMax, {tiling.depth, Int(1)});
  Loop(
      Int(0), deep, {},
      [&](const Operand& lo) {
        const Operand hi = Min(builder().Add(lo, Int(kDepth)), tiling.depth);
        Loop(columns.begin, columns.end, {}, [&](const Operand& column) {
          Loop(rows.begin, rows.end, {}, [&](const Operand& row) {
            WriteTile(tiling, sums, {batch.outer, batch.batch, row, column, lo, hi});
          });
        });
      },
      kDepth);
}

// What follows the sums, on those of some tiles while they are in cache.
void ContractionLowering::WriteEpilogue(const Tiling& tiling, const Var* sums,
                                        const std::vector<const Var*>& results, const Place& batch,
                                        const Range& rows, const Range& columns) {
  const auto first = [&](const Side& side, const Range& range) {
    return builder().Mul(range.begin, Int(side.width));
  };
  const auto last = [&](const Side& side, const Range& range) {
    return Min(builder().Mul(range.end, Int(side.width)), tiling.extents[side.axis]);
  };
  const Operand first_column = first(tiling.columns, columns);
  const Operand last_column = last(tiling.columns, columns);
  const auto elements = [&](const Operand& row) {
    const Var* column = builder().NewVar(DType::kI64, "i");
    const Block* body = BlockOf({column}, [&] {
      Index index = batch.outer;
      index[tiling.rows.axis] = row;
      index[tiling.columns.axis] = column;
      Operands arguments = index;
      arguments.push_back(builder().Load(sums, index));
      const Operands values = VisitBody(*tiling.contract.blocks[2], arguments);
      for (size_t k = 0; k < values.size(); ++k) builder().Store(results[k], index, values[k]);
      return Operands{};
    });
    const bool in_lanes = WhyNotVector(*body, column).empty();
    const Attributes kind =
        in_lanes ? Attributes{{Attr::kKind, std::string("vector")}} : Attributes{};
    builder().Emit(OpCode::kFor, {}, {first_column, last_column, Int(1)}, kind, {body});
  };
  Loop(first(tiling.rows, rows), last(tiling.rows, rows), {}, elements);
}

}  // namespace parakeet::passes
