#include "passes/lowering/lower_transposes.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/block_threads.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

using Operands = LoopWriter::Operands;

constexpr int64_t kTile = 32;  // Along either side; the threads that read together.
constexpr int64_t kLinesAtOnce = kBlockThreads / kTile;
// Threads that read down a column read different banks.
constexpr int64_t kPitch = kTile + 1;
constexpr int64_t kMostBytes = 48 * 1024;
constexpr int64_t kLeastExtent = 16;

Operands PlaceOf(const Binding& load) {
  return Operands(load.operands.begin() + 1, load.operands.end());
}

}  // namespace

std::optional<TransposeLowering::Transposed> TransposeLowering::FindTransposed(const Binding& nest,
                                                                               size_t fast) const {
  const Block& body = *nest.blocks[0];
  if (body.params.size() < 2 || !IsPlain(body)) return std::nullopt;
  const bool stores = nest.op == OpCode::kForeach;
  const bool stores_along =
      std::any_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
        return b->op == OpCode::kStore && patterns_.LiesNext(*b, body.params[fast]);
      });
  if (stores && !stores_along) return std::nullopt;
  std::optional<Transposed> best;
  for (size_t axis = 0; axis < body.params.size(); ++axis) {
    if (axis == fast) continue;
    Transposed found{axis, fast, {}};
    int64_t bytes = 0;
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kLoad || !patterns_.LiesNext(*b, body.params[axis])) continue;
      // One element for all of a row, or neighbours along either index.
      if (AxisAlong(*b, body, body.params[fast]) < 0) continue;
      if (patterns_.LiesNext(*b, body.params[fast])) continue;
      bytes += kTile * kPitch * ir::SizeInBytes(b->result()->type.dtype());
      if (bytes <= kMostBytes && ArithmeticOf(PlaceOf(*b), body)) found.loads.push_back(b);
    }
    if (found.loads.size() > (best ? best->loads.size() : 0)) best = std::move(found);
  }
  return best;
}

int64_t TransposeLowering::AxisAlong(const Binding& load, const Block& body, const Var* index) {
  const Operands place = PlaceOf(load);
  for (size_t axis = 0; axis < place.size(); ++axis) {
    if (load.operands[0].var()->type.dims()[axis].IsInt(1)) continue;
    const Block only{{}, NeededBindings(body, Operands{place[axis]}), {place[axis]}};
    if (ir::FreeVars(only).contains(index)) return static_cast<int64_t>(axis);
  }
  return -1;
}

Operand TransposeLowering::WorthTransposing(const Transposed& transposed, const Operands& extents) {
  const auto is_long = [&](size_t axis) {
    return builder().Scalar(OpCode::kGe, {extents[axis], Int(kLeastExtent)});
  };
  return builder().Scalar(OpCode::kAnd, {is_long(transposed.along), is_long(transposed.fast)});
}

void TransposeLowering::WriteTransposed(
    const Binding& nest, const Transposed& transposed, const Operands& extents,
    const std::function<void(const Operands& index, const Operands& values)>& finish) {
  // The element, with what is brought among its parameters.
  Block element = *nest.blocks[0];
  for (const Binding* load : transposed.loads) {
    std::erase(element.bindings, load);
    element.params.push_back(load->result());
  }
  Operands tiles = extents;
  for (const size_t axis : {transposed.along, transposed.fast})
    tiles[axis] = CeilDiv(extents[axis], Int(kTile));
  const Radix radix = RadixOf(tiles);
  Blocks(Product(tiles), [&](const Operand& block) {
    Tile tile{transposed, extents, IndexOf(block, radix), {}};
    for (const size_t axis : {transposed.along, transposed.fast})
      tile.outer[axis] = builder().Mul(tile.outer[axis], Int(kTile));
    for (const Binding* load : transposed.loads) {
      const ir::Type type = ir::Type::Array(load->result()->type.dtype(), {Int(kTile * kPitch)});
      tile.arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "tile"));
    }
    const auto place = [&](const Operand& along, const Operand& fast) {
      return builder().Add(builder().Mul(fast, Int(kPitch)), along);
    };
    EachPlace(tile, transposed.along, transposed.fast,
              [&](const Operands& index, const Operand& along, const Operand& fast) {
                Bring(nest, tile, index, place(along, fast));
              });
    EachPlace(tile, transposed.fast, transposed.along,
              [&](const Operands& index, const Operand& fast, const Operand& along) {
                Operands arguments = index;
                for (const Var* array : tile.arrays)
                  arguments.push_back(builder().Load(array, {place(along, fast)}));
                finish(index, VisitBody(*ir::CloneBlock(arena(), element), arguments));
              });
  });
}

void TransposeLowering::EachPlace(
    const Tile& tile, size_t across, size_t other,
    const std::function<void(const Operands& index, const Operand& own, const Operand& beside)>&
        write) {
  Threads(kBlockThreads, [&](const Operand& thread) {
    const Operand own = builder().Remainder(thread, Int(kTile));
    const Operand first = builder().Quotient(thread, Int(kTile));
    for (int64_t k = 0; k < kTile; k += kLinesAtOnce) {
      const Operand beside = builder().Add(first, Int(k));
      Operands index = tile.outer;
      index[across] = builder().Add(index[across], own);
      index[other] = builder().Add(index[other], beside);
      const auto is_inside = [&](size_t axis) {
        return builder().Scalar(OpCode::kLt, {index[axis], tile.extents[axis]});
      };
      If(builder().Scalar(OpCode::kAnd, {is_inside(across), is_inside(other)}),
         [&] { write(index, own, beside); });
    }
  });
}

void TransposeLowering::Bring(const Binding& nest, const Tile& tile, const Operands& index,
                              const Operand& place) {
  for (size_t k = 0; k < tile.arrays.size(); ++k) {
    const Binding* load = tile.transposed.loads[k];
    Block only{
        nest.blocks[0]->params, *ArithmeticOf(PlaceOf(*load), *nest.blocks[0]), {load->result()}};
    only.bindings.push_back(load);
    builder().Store(tile.arrays[k], {place}, VisitBody(*ir::CloneBlock(arena(), only), index)[0]);
  }
}

}  // namespace parakeet::passes
