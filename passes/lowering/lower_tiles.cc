#include "passes/lowering/lower_tiles.h"

#include <algorithm>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kWide = 32;
constexpr int64_t kHigh = 8;
constexpr int64_t kLeastHigh = 4;

// The values of a body that follow one of its parameters.
ir::VarSet Following(const Block& body, const Var* param) {
  ir::VarSet follows = {param};
  ir::ForEachBinding(body, [&](const Binding& b) {
    const bool is_moved =
        ir::IsScalarOp(b.op) &&
        std::any_of(b.operands.begin(), b.operands.end(),
                    [&](const Operand& operand) { return follows.contains(operand.var()); });
    if (is_moved) follows.insert(b.results.begin(), b.results.end());
  });
  return follows;
}

}  // namespace

// Some array is read at several places of the column that an element stands in, or in a loop.
bool TileLowering::ReadsNeighbours(const Binding& nest, size_t fast) {
  const Block& body = *nest.blocks[0];
  if (body.params.size() < 2) return false;
  bool is_plain = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    is_plain &= b.op != OpCode::kAlloc && b.op != OpCode::kCall && b.op != OpCode::kLibraryCall &&
                b.op != OpCode::kImap && b.op != OpCode::kIscan && b.op != OpCode::kWhile;
  });
  if (!is_plain) return false;
  const ir::VarSet along = Following(body, body.params[fast]);
  ir::VarSet across;
  for (const Var* param : body.params) {
    if (param == body.params[fast]) continue;
    for (const Var* value : Following(body, param)) across.insert(value);
  }
  std::unordered_map<const Var*, ir::VarSet> rows;  // by array: at what it is read across
  bool found = false;
  const auto see = [&](const Binding& load, bool in_loop) {
    const auto follows = [&](const ir::VarSet& values) {
      return std::any_of(load.operands.begin() + 1, load.operands.end(),
                         [&](const Operand& at) { return values.contains(at.var()); });
    };
    if (!follows(along) || !follows(across)) return;
    ir::VarSet& places = rows[load.operands[0].var()];
    for (const Operand& at : load.operands) {
      if (across.contains(at.var())) places.insert(at.var());
    }
    found |= places.size() > 1 || in_loop;
  };
  for (const Binding* b : body.bindings) {
    if (b->op == OpCode::kLoad) see(*b, false);
    for (const Block* inner : b->blocks) {
      ir::ForEachBinding(*inner, [&](const Binding& own) {
        if (own.op == OpCode::kLoad) see(own, b->op != OpCode::kIf);
      });
    }
  }
  return found;
}

Operand TileLowering::WorthStencilTiles(const std::vector<int>& order, const Operands& extents) {
  const Operand is_wide = builder().Scalar(OpCode::kGe, {extents[order.back()], Int(kWide)});
  const Operand is_high =
      builder().Scalar(OpCode::kGe, {extents[order[order.size() - 2]], Int(kLeastHigh)});
  return builder().Scalar(OpCode::kAnd, {is_wide, is_high});
}

void TileLowering::WriteStencilTiles(const std::vector<int>& order, const Operands& extents,
                                     const std::function<void(const Operands& index)>& body) {
  const size_t fast = order.back();
  const size_t slow = order[order.size() - 2];
  Operands tiles;
  for (const int axis : order) {
    const int64_t side = size_t(axis) == fast ? kWide : size_t(axis) == slow ? kHigh : 1;
    tiles.push_back(side == 1 ? extents[axis] : CeilDiv(extents[axis], Int(side)));
  }
  Blocks(Product(tiles), [&](const Operand& block) {
    const Operands place = Delinear(block, tiles);
    Threads(kWide * kHigh, [&](const Operand& thread) {
      Operands index(extents.size());
      for (size_t k = 0; k < order.size(); ++k) index[order[k]] = place[k];
      const auto move = [&](size_t axis, int64_t side, OpCode op) {
        index[axis] = builder().Add(builder().Mul(index[axis], Int(side)),
                                    builder().Scalar(op, {thread, Int(kWide)}));
        return builder().Scalar(OpCode::kLt, {index[axis], extents[axis]});
      };
      const Operand is_across = move(fast, kWide, OpCode::kMod);
      const Operand is_along = move(slow, kHigh, OpCode::kFloorDiv);
      const auto nothing = [] { return Operands{}; };
      const auto make = [&] {
        body(index);
        return Operands{};
      };
      Choose(builder().Scalar(OpCode::kAnd, {is_across, is_along}), make, nothing);
    });
  });
}

}  // namespace parakeet::passes
