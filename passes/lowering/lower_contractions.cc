#include "passes/lowering/lower_contractions.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
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

// A tile is kRows rows of kVectors wide registers: 24 accumulators, three loads and one broadcast a
// step fit the 32 registers of AVX-512. kTilesAtOnce tiles of rows share each panel of columns
// while it is in cache.
constexpr int kRows = 8;
constexpr int kVectors = 3;
constexpr int kTilesAtOnce = 6;
constexpr int kRegisterBytes = 64;

bool Follows(const Binding& load, const Var* index) {
  return std::find(load.operands.begin() + 1, load.operands.end(), Operand(index)) !=
         load.operands.end();
}

Attributes OverThreads() {
  return {{Attr::kKind, std::string("parallel")}, {Attr::kCost, int64_t{0}}};
}

}  // namespace

bool ContractionLowering::LowerTiled(const Binding& b, const std::vector<const Var*>& results) {
  std::optional<Tiling> tiling = FindTiling(b);
  if (!tiling) return false;
  const Var* result = SumsOf(b, results);
  Index outer(tiling->free);
  // Free indices that no tile takes (a batch) are loops around the nest.
  std::function<void(size_t)> around = [&](size_t axis) {
    if (axis == tiling->free) return WriteNest(*tiling, result, results, outer);
    if (axis == tiling->row || axis == tiling->column) return around(axis + 1);
    Loop(Int(0), tiling->extents[axis], {}, [&](const Operand& index) {
      outer[axis] = index;
      around(axis + 1);
    });
  };
  around(0);
  return true;
}

// Where sums stand before what follows them: where the elements go, if that holds them.
const Var* ContractionLowering::SumsOf(const Binding& b, const std::vector<const Var*>& results) {
  const DType dtype = ir::DTypeOf(b.blocks[0]->results[0]);
  if (results[0]->type.dtype() == dtype) return results[0];
  const Operands& dims = results[0]->type.dims();
  return builder().EmitOne(OpCode::kAlloc, Type::Array(dtype, dims), dims, {}, {}, "sums");
}

std::optional<ContractionLowering::Tiling> ContractionLowering::FindTiling(const Binding& b) {
  const DType dtype = ir::DTypeOf(b.blocks[0]->results[0]);
  const size_t indices = b.blocks[0]->params.size();
  const auto combine = ir::CombineOp(*b.blocks[1]);
  const Operands operands = Apply(b.operands);
  if (!combine || ir::IsComplex(dtype) || dtype == DType::kF16) return std::nullopt;
  if (!WhyNotVector(*b.blocks[0], b.blocks[0]->params[0]).empty()) return std::nullopt;
  const auto identity = ir::IdentityOf(*combine, dtype);
  const bool has_init = operands.size() > indices;
  if (!identity && !has_init) return std::nullopt;
  Tiling tiling{b,
                has_init ? operands.back() : Operand(*identity),
                kRegisterBytes / ir::SizeInBytes(dtype),
                {operands.begin(), operands.begin() + indices},
                {},
                static_cast<size_t>(b.attrs.Int(Attr::kFree)),
                0,
                0,
                {},
                {}};
  tiling.summed.assign(tiling.extents.begin() + tiling.free, tiling.extents.end());
  // The last index that can be is the columns': results are then stored side by side.
  for (size_t column = tiling.free; column-- > 0;) {
    for (size_t row = tiling.free; row-- > 0;) {
      tiling.row = row;
      tiling.column = column;
      if (row != column && Classify(tiling)) return tiling;
    }
  }
  return std::nullopt;
}

// Every load must follow rows or columns, not both; both kinds must be there.
bool ContractionLowering::Classify(Tiling& tiling) const {
  tiling.lefts.clear();
  tiling.rights.clear();
  const Block& element = *tiling.contract.blocks[0];
  for (const Binding* b : element.bindings) {
    if (b->op != OpCode::kLoad) continue;
    const bool rows = Follows(*b, element.params[tiling.row]);
    const bool columns = Follows(*b, element.params[tiling.column]);
    if (rows && columns) return false;
    if (rows) tiling.lefts.push_back({b});
    if (columns) tiling.rights.push_back({b});
  }
  return !tiling.lefts.empty() && !tiling.rights.empty();
}

void ContractionLowering::WriteNest(Tiling tiling, const Var* result,
                                    const std::vector<const Var*>& results, const Index& outer) {
  const int width = kVectors * tiling.lanes;
  const Operand columns = tiling.extents[tiling.column];
  const Operand rows = tiling.extents[tiling.row];
  const Operand panels = CeilDiv(columns, Int(width));
  const Operand tiles = CeilDiv(rows, Int(kRows));
  Pack(tiling, tiling.rights, tiling.column, width, Int(0), panels, outer, true);
  Loop(
      Int(0), tiles, OverThreads(),
      [&](const Operand& first) {
        const Operand last = Min(builder().Add(first, Int(kTilesAtOnce)), tiles);
        Tiling local = tiling;
        Pack(local, local.lefts, local.row, kRows, first, builder().Sub(last, first), outer, false);
        Loop(Int(0), panels, {}, [&](const Operand& panel) {
          Loop(first, last, {}, [&](const Operand& tile) {
            WriteTile(local, result, outer, builder().Sub(tile, first),
                      builder().Mul(tile, Int(kRows)), panel);
          });
          if (tiling.contract.blocks.size() < 3) return;
          const auto range = [&](const Operand& begin, const Operand& end, int size, size_t axis) {
            return Range{builder().Mul(begin, Int(size)),
                         Min(builder().Mul(end, Int(size)), tiling.extents[axis])};
          };
          WriteEpilogue(tiling, result, results, outer, range(first, last, kRows, tiling.row),
                        range(panel, builder().Add(panel, Int(1)), width, tiling.column));
        });
      },
      kTilesAtOnce);
}

void ContractionLowering::Pack(const Tiling& tiling, std::vector<Packed>& packed, size_t axis,
                               int width, const Operand& first, const Operand& tiles,
                               const Index& outer, bool parallel) {
  const Block& element = *tiling.contract.blocks[0];
  const Operand depth = Product(tiling.summed);
  for (Packed& p : packed) {
    const Type type = Type::Array(p.load->result()->type.dtype(), {tiles, depth, Int(width)});
    p.buffer = builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "packed");
  }
  // Beyond the last index the last one is packed again; what is made of it is not stored.
  const Operand last = builder().Sub(tiling.extents[axis], Int(1));
  Loop(Int(0), tiles, parallel ? OverThreads() : Attributes{}, [&](const Operand& tile) {
    const Operand base = builder().Mul(builder().Add(tile, first), Int(width));
    Loop(Int(0), depth, {}, [&](const Operand& k) {
      const Index sum = Delinear(k, tiling.summed);
      Loop(Int(0), Int(width), {}, [&](const Operand& within) {
        ir::Substitution at;
        for (size_t f = 0; f < tiling.free; ++f) at[element.params[f]] = outer[f];
        for (size_t s = 0; s < sum.size(); ++s) at[element.params[tiling.free + s]] = sum[s];
        at[element.params[axis]] = Min(builder().Add(base, within), last);
        for (const Packed& p : packed) {
          std::vector<Operand> index = p.load->operands;
          for (Operand& operand : index) {
            const auto found = operand.IsVar() ? at.find(operand.var()) : at.end();
            if (found != at.end()) operand = found->second;
          }
          const Operand source = Apply(index[0]);
          index.erase(index.begin());
          builder().Store(p.buffer, {tile, k, within}, builder().Load(source, Apply(index)));
        }
      });
    });
  });
}

void ContractionLowering::WriteTile(const Tiling& tiling, const Var* result, const Index& outer,
                                    const Operand& left_tile, const Operand& row,
                                    const Operand& panel) {
  const LaneValues lanes(tiling.lanes);
  const Operands starts(kRows * kVectors, lanes.Splat(builder(), tiling.start));
  const Operands sums =
      Carry(Int(0), Product(tiling.summed), starts, [&](const Operand& k, const Operands& so_far) {
        Operands next;
        for (int r = 0; r < kRows; ++r) {
          for (int v = 0; v < kVectors; ++v) {
            const Operand element = Element(tiling, outer, k, left_tile, r, panel, v);
            const Operand& sum = so_far[r * kVectors + v];
            const OpCode combine = *ir::CombineOp(*tiling.contract.blocks[1]);
            const auto fused =
                combine == OpCode::kAdd ? FuseMultiplyAdd(sum, element) : std::nullopt;
            next.push_back(fused ? *fused : builder().Scalar(combine, {sum, element}));
          }
        }
        return next;
      });
  StoreTile(tiling, result, outer, row, builder().Mul(panel, Int(kVectors * tiling.lanes)), sums);
}

// The element function on one row and one vector of columns.
Operand ContractionLowering::Element(const Tiling& tiling, const Index& outer, const Operand& k,
                                     const Operand& left_tile, int row, const Operand& panel,
                                     int vector) {
  LaneValues lanes(tiling.lanes);
  const Block* element = ir::CloneBlock(arena(), *tiling.contract.blocks[0]);
  const Index sum = Delinear(k, tiling.summed);
  for (size_t f = 0; f < tiling.free; ++f) {
    if (f != tiling.row && f != tiling.column) Replace(element->params[f], outer[f]);
  }
  for (size_t s = 0; s < sum.size(); ++s) Replace(element->params[tiling.free + s], sum[s]);
  const auto packed = [&](const std::vector<Packed>& list, size_t at) -> const Var* {
    for (const Packed& p : list) {
      if (p.load == tiling.contract.blocks[0]->bindings[at]) return p.buffer;
    }
    return nullptr;
  };
  for (size_t at = 0; at < element->bindings.size(); ++at) {
    Binding b = *element->bindings[at];
    b.operands = Apply(b.operands);
    const Var* const made = b.result();
    if (const Var* left = packed(tiling.lefts, at)) {
      lanes.Set(made, {LaneValue::kUniform, builder().Load(left, {left_tile, k, Int(row)}), 0});
    } else if (const Var* right = packed(tiling.rights, at)) {
      const Type type = Type::Vector(made->type.dtype(), tiling.lanes);
      const Operand column = Int(vector * tiling.lanes);
      lanes.Set(made, {LaneValue::kVarying,
                       builder().EmitOne(OpCode::kLoadLanes, type, {right, panel, k, column},
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

void ContractionLowering::StoreTile(const Tiling& tiling, const Var* result, const Index& outer,
                                    const Operand& row, const Operand& column,
                                    const Operands& sums) {
  const LaneValues lanes(tiling.lanes);
  for (int r = 0; r < kRows; ++r) {
    const Operand at = builder().Add(row, Int(r));
    Choose(
        builder().Scalar(OpCode::kLt, {at, tiling.extents[tiling.row]}),
        [&] {
          for (int v = 0; v < kVectors; ++v) {
            const Operand start = builder().Add(column, Int(v * tiling.lanes));
            const Operand left =
                lanes.Splat(builder(), builder().Sub(tiling.extents[tiling.column], start));
            const Operand mask = builder().Scalar(OpCode::kLt, {lanes.Iota(builder()), left});
            Operands operands = {result};
            for (size_t f = 0; f < tiling.free; ++f) {
              operands.push_back(f == tiling.row ? at : f == tiling.column ? start : outer[f]);
            }
            operands.push_back(sums[r * kVectors + v]);
            operands.push_back(mask);
            builder().Emit(
                OpCode::kStoreLanes, {}, std::move(operands),
                {{Attr::kAxis, static_cast<int64_t>(tiling.column)}, {Attr::kMasked, int64_t{1}}});
          }
          return Operands{};
        },
        [] { return Operands{}; });
  }
}

// What follows the sums, on those of some rows and columns while they are in cache.
void ContractionLowering::WriteEpilogue(const Tiling& tiling, const Var* sums,
                                        const std::vector<const Var*>& results, const Index& outer,
                                        const Range& rows, const Range& columns) {
  Loop(rows.begin, rows.end, {}, [&](const Operand& row) {
    const Var* column = builder().NewVar(DType::kI64, "i");
    const Block* body = BlockOf({column}, [&] {
      Index index = outer;
      index[tiling.row] = row;
      index[tiling.column] = column;
      Operands arguments = index;
      arguments.push_back(builder().Load(sums, index));
      const Operands values = VisitBody(*tiling.contract.blocks[2], arguments);
      for (size_t k = 0; k < values.size(); ++k) builder().Store(results[k], index, values[k]);
      return Operands{};
    });
    const Attributes kind = WhyNotVector(*body, column).empty()
                                ? Attributes{{Attr::kKind, std::string("vector")}}
                                : Attributes{};
    builder().Emit(OpCode::kFor, {}, {columns.begin, columns.end, Int(1)}, kind, {body});
  });
}

}  // namespace parakeet::passes
