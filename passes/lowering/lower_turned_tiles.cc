#include "passes/lowering/lower_turned_tiles.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/vector_legality.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

using Operands = LoopWriter::Operands;

// Of a tile: some lines of memory along either index, of as many rows as translations are kept for
// and ways of the caches have room for where rows lie a power of two apart.
constexpr int64_t kAlong = 32;
constexpr int64_t kFast = 64;
constexpr int64_t kTilesAtOnce = 8;  // That one thread takes, with one array.
constexpr int kMostTurned = 16;      // As many vectors are turned in registers.
// Lanes that read, and store nothing, wait for no lines that the first cache nearly holds.
constexpr int64_t kFewestRead = 1 << 14;

Operands PlacesRead(const Binding& load) {
  return Operands(load.operands.begin() + 1, load.operands.end());
}

}  // namespace

std::optional<TransposeLowering::Transposed> TurnedTileLowering::FindTurned(
    const Binding& nest) const {
  const Block& body = *nest.blocks[0];
  const int rank = static_cast<int>(body.params.size());
  for (int fast = rank; fast-- > 0;) {
    if (nest.op == OpCode::kImap && fast != (ir::IsFortran(nest) ? 0 : rank - 1)) continue;
    const bool follow = std::all_of(body.bindings.begin(), body.bindings.end(), [&](auto* b) {
      return b->op != OpCode::kStore || patterns_.LiesNext(*b, body.params[fast]);
    });
    auto found = follow ? FindTransposed(nest, fast) : std::nullopt;
    if (!found) continue;
    // What is brought first must be as it was when an element would have read it.
    const ir::VarSet stored = EffectsOf(body, roots()).writes;
    const Var* along = body.params[found->along];
    std::erase_if(found->loads, [&](const Binding* load) {
      return Intersects(roots().Of(load->operands[0].var()), stored) ||
             AxisAlong(*load, body, along) < 0;
    });
    if (!found->loads.empty() && WhyNotVector(body, body.params[fast]).empty()) return found;
  }
  return std::nullopt;
}

Operand TurnedTileLowering::WorthTurning(const Binding& nest, const Transposed& turned,
                                         const Operands& extents) {
  const Operand are_long = WorthTransposing(turned, extents);
  if (nest.op != OpCode::kImap) return are_long;
  const Operand elements = builder().Mul(extents[turned.along], extents[turned.fast]);
  const Operand are_many = builder().Scalar(OpCode::kGe, {elements, Int(kFewestRead)});
  return builder().Scalar(OpCode::kAnd, {are_long, are_many});
}

void TurnedTileLowering::WriteTurned(
    const Binding& nest, const Transposed& turned, const Operands& extents,
    const std::function<Attributes(int64_t elements)>& kind,
    const std::function<void(const Operands& index, const Operands& values)>& finish) {
  // The element, with what is brought among its parameters.
  Block element = *nest.blocks[0];
  for (const Binding* load : turned.loads) {
    std::erase(element.bindings, load);
    element.params.push_back(load->result());
  }
  Operands tiles = extents;
  tiles[turned.along] = CeilDiv(extents[turned.along], Int(kAlong));
  tiles[turned.fast] = CeilDiv(extents[turned.fast], Int(kFast));
  const Radix radix = RadixOf(tiles);
  const Operand count = Product(tiles);
  const auto write = [&](TurnedTile tile) {
    const auto begin = [&](size_t axis, int64_t side) {
      tile.index[axis] = builder().Mul(tile.index[axis], Int(side));
      return Min(builder().Sub(extents[axis], tile.index[axis]), Int(side));
    };
    tile.along = begin(turned.along, kAlong);
    tile.fast = begin(turned.fast, kFast);
    for (size_t k = 0; k < turned.loads.size(); ++k) BringTurned(tile, k);
    Loop(Int(0), tile.along, {}, [&](const Operand& along) {
      Loop(Int(0), tile.fast, {{Attr::kKind, std::string("vector")}}, [&](const Operand& fast) {
        Operands index = tile.index;
        index[turned.along] = builder().Add(index[turned.along], along);
        index[turned.fast] = builder().Add(index[turned.fast], fast);
        Operands arguments = index;
        for (const Var* array : tile.arrays)
          arguments.push_back(builder().Load(array, {along, fast}));
        finish(index, VisitBody(*ir::CloneBlock(arena(), element), arguments));
      });
    });
  };
  const auto some = [&](const Operand& first) {
    TurnedTile tile{nest, turned, {}, {}, {}, {}};
    for (const Binding* load : turned.loads) {
      const Type type = Type::Array(load->result()->type.dtype(), {Int(kAlong), Int(kFast)});
      tile.arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "tile"));
    }
    Loop(first, Min(builder().Add(first, Int(kTilesAtOnce)), count), {}, [&](const Operand& at) {
      TurnedTile here = tile;
      here.index = IndexOf(at, radix);
      write(std::move(here));
    });
  };
  Loop(Int(0), count, kind(kTilesAtOnce * kAlong * kFast), some, kTilesAtOnce);
}

// In vectors, the last of which reach back to the end of the side; one by one where a side is
// shorter than they are.
void TurnedTileLowering::BringTurned(const TurnedTile& tile, size_t load) {
  const int lanes = LanesOf(*tile.turned.loads[load]);
  const auto one_by_one = [&] {
    Loop(Int(0), tile.along, {}, [&](const Operand& along) {
      Loop(Int(0), tile.fast, {}, [&](const Operand& fast) { BringOne(tile, load, along, fast); });
    });
    return Operands{};
  };
  const auto in_steps = [&](const Operand& side, const auto& bring) {
    const Operand last = builder().Sub(side, Int(lanes));
    Loop(Int(0), side, {}, [&](const Operand& at) { bring(Min(at, last)); }, lanes);
  };
  const auto in_vectors = [&] {
    in_steps(tile.fast, [&](const Operand& fast) {
      in_steps(tile.along,
               [&](const Operand& along) { BringVectors(tile, load, lanes, along, fast); });
    });
    return Operands{};
  };
  if (lanes < 2) return void(one_by_one());
  const Operand shorter = Min(tile.along, tile.fast);
  Choose(builder().Scalar(OpCode::kGe, {shorter, Int(lanes)}), in_vectors, one_by_one);
}

void TurnedTileLowering::BringVectors(const TurnedTile& tile, size_t load, int lanes,
                                      const Operand& along, const Operand& fast) {
  const Binding& read = *tile.turned.loads[load];
  const Block& body = *tile.nest.blocks[0];
  const Type type = Type::Vector(read.result()->type.dtype(), lanes);
  const int64_t axis = AxisAlong(read, body, body.params[tile.turned.along]);
  Operands vectors;
  for (int lane = 0; lane < lanes; ++lane) {
    Operands place = PlaceIn(tile, read, along, builder().Add(fast, Int(lane)));
    place.insert(place.begin(), Apply(read.operands[0]));
    vectors.push_back(builder().EmitOne(OpCode::kLoadLanes, type, place, {{Attr::kAxis, axis}}));
  }
  vectors = Turned(std::move(vectors));
  for (int lane = 0; lane < lanes; ++lane)
    builder().Emit(OpCode::kStoreLanes, {},
                   {tile.arrays[load], builder().Add(along, Int(lane)), fast, vectors[lane]},
                   {{Attr::kAxis, int64_t{1}}});
}

void TurnedTileLowering::BringOne(const TurnedTile& tile, size_t load, const Operand& along,
                                  const Operand& fast) {
  const Binding& read = *tile.turned.loads[load];
  builder().Store(tile.arrays[load], {along, fast},
                  builder().Load(Apply(read.operands[0]), PlaceIn(tile, read, along, fast)));
}

LoopWriter::Operands TurnedTileLowering::PlaceIn(const TurnedTile& tile, const Binding& load,
                                                 const Operand& along, const Operand& fast) {
  Operands index = tile.index;
  index[tile.turned.along] = builder().Add(index[tile.turned.along], along);
  index[tile.turned.fast] = builder().Add(index[tile.turned.fast], fast);
  const Block& body = *tile.nest.blocks[0];
  const Block place{body.params, *ArithmeticOf(PlacesRead(load), body), PlacesRead(load)};
  return VisitBody(*ir::CloneBlock(arena(), place), index);
}

int TurnedTileLowering::LanesOf(const Binding& load) const {
  const ir::DType dtype = load.result()->type.dtype();
  if (!ir::IsFloat(dtype) && !ir::IsInteger(dtype)) return 1;
  return static_cast<int>(std::min<int64_t>(vector_bytes() / ir::SizeInBytes(dtype), kMostTurned));
}

}  // namespace parakeet::passes
