#include "passes/lowering/lower_contraction_blocks.h"

#include <algorithm>

#include "ir/builder.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Substitution;
using ir::Type;
using ir::Var;

namespace {

// Elements of a tile along either side, steps of the depth in shared memory, and elements of a
// thread along either side, which lie kAcross apart.
constexpr int64_t kTile = 64;
constexpr int64_t kSteps = 16;
constexpr int64_t kOwn = 4;
constexpr int64_t kAcross = kTile / kOwn;
constexpr int64_t kTileThreads = kAcross * kAcross;
// Threads that store steps of one element write to different banks.
constexpr int64_t kPadding = 1;
constexpr int64_t kMostSharedBytes = 48 * 1024;
// Of fewer elements, or of shorter sums, each is made by a thread of its own.
constexpr int64_t kFewElements = 1 << 16;
constexpr int64_t kShortDepth = 4;

}  // namespace

std::string ContractionBlockLowering::TilesOfBlocks() {
  const std::string side = std::to_string(kTile);
  return "tiles of " + side + " by " + side;
}

Operand ContractionBlockLowering::WorthTiles(const Tiling& tiling) {
  int64_t bytes = 0;
  for (const Side* side : {&tiling.rows, &tiling.columns}) {
    for (const Packed& p : side->values)
      bytes += ir::SizeInBytes(p.value->result()->type.dtype()) * kSteps * (kTile + kPadding);
  }
  if (bytes > kMostSharedBytes) return Operand::Bool(false);
  const Operand are_many =
      builder().Scalar(OpCode::kGe, {Product(tiling.extents), Int(kFewElements)});
  const Operand is_deep = builder().Scalar(OpCode::kGe, {tiling.depth, Int(kShortDepth)});
  return builder().Scalar(OpCode::kAnd, {are_many, is_deep});
}

void ContractionBlockLowering::WriteTilesByBlocks(const Tiling& tiling, const Results& results) {
  const Operand high = CeilDiv(tiling.extents[tiling.rows.axis], Int(kTile));
  const Operand wide = CeilDiv(tiling.extents[tiling.columns.axis], Int(kTile));
  Operands outer_extents;
  for (size_t axis : tiling.outer) outer_extents.push_back(tiling.extents[axis]);
  const Operand batches = Product(outer_extents);
  Blocks(Product({batches, high, wide}), [&](const Operand& block) {
    const Operands place = Delinear(block, {batches, high, wide});
    Tile tile{OuterIndex(tiling, place[0]),        builder().Mul(place[1], Int(kTile)),
              builder().Mul(place[2], Int(kTile)), AllocateSide(tiling.rows),
              AllocateSide(tiling.columns),        nullptr};
    const Type sums = Type::Array(ir::DTypeOf(tiling.start), {Int(kTileThreads), Int(kOwn * kOwn)});
    tile.sums = builder().EmitOne(OpCode::kAlloc, sums, sums.dims(),
                                  Attributes{{Attr::kPrivate, int64_t{1}}}, {}, "sums");
    Threads(kTileThreads, [&](const Operand& thread) {
      for (int64_t k = 0; k < kOwn * kOwn; ++k)
        builder().Store(tile.sums, {thread, Int(k)}, tiling.start);
    });
    Loop(
        Int(0), tiling.depth, {},
        [&](const Operand& depth) {
          Threads(kTileThreads, [&](const Operand& thread) {
            Bring(tiling, tile, tiling.rows, thread, depth);
            Bring(tiling, tile, tiling.columns, thread, depth);
          });
          const Operand steps = Min(builder().Sub(tiling.depth, depth), Int(kSteps));
          Threads(kTileThreads,
                  [&](const Operand& thread) { SumSteps(tiling, tile, thread, steps); });
        },
        kSteps);
    Threads(kTileThreads, [&](const Operand& thread) { StoreSums(tiling, results, tile, thread); });
  });
}

std::vector<const Var*> ContractionBlockLowering::AllocateSide(const Side& side) {
  std::vector<const Var*> arrays;
  for (const Packed& p : side.values) {
    const Type type =
        Type::Array(p.value->result()->type.dtype(), {Int(kSteps), Int(kTile + kPadding)});
    arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "shared"));
  }
  return arrays;
}

// Neighbouring threads bring what lies side by side: along the side's index, else along the depth.
// Beyond the end the last element is brought again, and what is made of it is not stored.
void ContractionBlockLowering::Bring(const Tiling& tiling, const Tile& tile, const Side& side,
                                     const Operand& thread, const Operand& depth) {
  const Var* index = tiling.contract.blocks[0]->params[side.axis];
  const Packed& first = side.values.front();
  const bool along = first.value->op == OpCode::kLoad && patterns_.LiesNext(*first.value, index);
  const Operand start = side.which == kRows ? tile.first_row : tile.first_column;
  const Operand last = builder().Sub(tiling.extents[side.axis], Int(1));
  const Operand deepest = builder().Sub(tiling.depth, Int(1));
  const auto divide = [&](const Operand& at, int64_t by) {
    return std::pair(builder().Quotient(at, Int(by)), builder().Remainder(at, Int(by)));
  };
  for (int64_t round = 0; round < kTile * kSteps / kTileThreads; ++round) {
    const Operand at = builder().Add(thread, Int(round * kTileThreads));
    auto [step, within] = divide(at, along ? kTile : kSteps);
    if (!along) std::swap(step, within);
    Substitution values;
    SetIndex(tiling, tile, side, Min(builder().Add(start, within), last),
             Min(builder().Add(depth, step), deepest), values);
    WriteElement(tiling, {kNeither, side.which}, values);
    const std::vector<const Var*>& arrays = side.which == kRows ? tile.rows : tile.columns;
    for (size_t k = 0; k < arrays.size(); ++k)
      builder().Store(arrays[k], {step, within}, values.at(side.values[k].value->result()));
  }
}

void ContractionBlockLowering::SumSteps(const Tiling& tiling, const Tile& tile,
                                        const Operand& thread, const Operand& steps) {
  const Operand own_row = builder().Quotient(thread, Int(kAcross));
  const Operand own_column = builder().Remainder(thread, Int(kAcross));
  Operands sums;
  for (int64_t k = 0; k < kOwn * kOwn; ++k)
    sums.push_back(builder().Load(tile.sums, {thread, Int(k)}));
  sums = Carry(Int(0), steps, sums, [&](const Operand& step, const Operands& so_far) {
    const auto load = [&](const std::vector<const Var*>& arrays, const Operand& own) {
      std::vector<Operands> loaded;
      for (int64_t k = 0; k < kOwn; ++k) {
        loaded.emplace_back();
        for (const Var* array : arrays)
          loaded.back().push_back(
              builder().Load(array, {step, builder().Add(own, Int(k * kAcross))}));
      }
      return loaded;
    };
    const std::vector<Operands> rows = load(tile.rows, own_row);
    const std::vector<Operands> columns = load(tile.columns, own_column);
    Operands next;
    for (int64_t r = 0; r < kOwn; ++r) {
      for (int64_t c = 0; c < kOwn; ++c) {
        Substitution values;
        for (size_t k = 0; k < rows[r].size(); ++k)
          values[tiling.rows.values[k].value->result()] = rows[r][k];
        for (size_t k = 0; k < columns[c].size(); ++k)
          values[tiling.columns.values[k].value->result()] = columns[c][k];
        WriteElement(tiling, {kNeither, kBoth}, values);
        const Operand& result = tiling.contract.blocks[0]->results[0];
        const Operand term = result.IsVar() ? values.at(result.var()) : result;
        next.push_back(CombineWith(*tiling.contract.blocks[1], {so_far[next.size()]}, {term})[0]);
      }
    }
    return next;
  });
  for (int64_t k = 0; k < kOwn * kOwn; ++k) builder().Store(tile.sums, {thread, Int(k)}, sums[k]);
}

void ContractionBlockLowering::StoreSums(const Tiling& tiling, const Results& results,
                                         const Tile& tile, const Operand& thread) {
  const Operand own_row = builder().Quotient(thread, Int(kAcross));
  const Operand own_column = builder().Remainder(thread, Int(kAcross));
  for (int64_t k = 0; k < kOwn * kOwn; ++k) {
    const auto place = [&](const Operand& first, const Operand& own, int64_t step) {
      return builder().Add(first, builder().Add(own, Int(step * kAcross)));
    };
    const Operand row = place(tile.first_row, own_row, k / kOwn);
    const Operand column = place(tile.first_column, own_column, k % kOwn);
    const Operand exists = builder().Scalar(
        OpCode::kAnd,
        {builder().Scalar(OpCode::kLt, {row, tiling.extents[tiling.rows.axis]}),
         builder().Scalar(OpCode::kLt, {column, tiling.extents[tiling.columns.axis]})});
    Choose(
        exists,
        [&] {
          Operands index = tile.outer;
          index[tiling.rows.axis] = row;
          index[tiling.columns.axis] = column;
          Operands values = {builder().Load(tile.sums, {thread, Int(k)})};
          if (tiling.contract.blocks.size() > 2) {
            Operands arguments = index;
            arguments.push_back(values[0]);
            values = VisitBody(*ir::CloneBlock(arena(), *tiling.contract.blocks[2]), arguments);
          }
          for (size_t result = 0; result < values.size(); ++result)
            builder().Store(results[result], index, values[result]);
          return Operands{};
        },
        [] { return Operands{}; });
  }
}

void ContractionBlockLowering::SetIndex(const Tiling& tiling, const Tile& tile, const Side& side,
                                        const Operand& index, const Operand& depth,
                                        Substitution& values) {
  const std::vector<const Var*>& params = tiling.contract.blocks[0]->params;
  const Operands summed = Delinear(depth, tiling.summed);
  for (size_t k = 0; k < tile.outer.size(); ++k) values[params[k]] = tile.outer[k];
  values[params[side.axis]] = index;
  for (size_t k = 0; k < summed.size(); ++k) values[params[tile.outer.size() + k]] = summed[k];
}

void ContractionBlockLowering::WriteElement(const Tiling& tiling, std::vector<Follows> which,
                                            Substitution& values) {
  const auto& bindings = tiling.contract.blocks[0]->bindings;
  for (size_t at = 0; at < bindings.size(); ++at) {
    if (std::count(which.begin(), which.end(), tiling.follows[at]) == 0) continue;
    const Binding& b = *bindings[at];
    // What follows neither index may still need the depth, which only those that bring have.
    std::vector<Operand> operands;
    bool is_known = true;
    for (const Operand& operand : b.operands) {
      const auto found = operand.IsVar() ? values.find(operand.var()) : values.end();
      operands.push_back(found == values.end() ? Apply(operand) : found->second);
      const auto& params = tiling.contract.blocks[0]->params;
      is_known &= found != values.end() || !operand.IsVar() ||
                  std::count(params.begin(), params.end(), operand.var()) == 0;
    }
    if (!is_known) continue;
    values[b.result()] = Operand(builder().EmitOne(b.op, b.result()->type, operands, b.attrs));
  }
}

}  // namespace parakeet::passes
