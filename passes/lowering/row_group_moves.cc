// What the threads of a row group bring from memory before they use it, and take there.
#include "ir/builder.h"
#include "passes/lowering/lower_row_groups.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What the operator reads that other elements do not: all of it is asked for before any is used.
void RowGroupLowering::BringOwn(const Binding& b, const Operands& extents) {
  EachNeighbours(extents,
                 [&](const Neighbours& at) { Move(OpCode::kLoad, b, at, Whose::kElement); });
}

// What the operator reads or stores, between memory and the thread's own arrays.
void RowGroupLowering::Move(OpCode op, const Binding& b, const Neighbours& at, Whose whose) {
  const auto& bindings = b.blocks[0]->bindings;
  for (size_t k = 0; k < bindings.size(); ++k) {
    const auto found = staged_.at(&b).find(k);
    if (found == staged_.at(&b).end() || bindings[k]->op != op) continue;
    const Staged& staged = found->second;
    if (!staged.in_memory || staged.whose != whose) continue;
    const auto move = [&] { MoveStaged(staged, *b.blocks[0], at); };
    op == OpCode::kLoad ? move() : If(is_element_, move);
  }
}

// Neighbours as one where all of them are there.
void RowGroupLowering::MoveStaged(const Staged& staged, const Block& body, const Neighbours& at) {
  const auto one_by_one = [&] {
    If(IsInside(at, 0), [&] {
      for (int64_t k = 0; k < group_->width; ++k) MoveOne(staged, at, k);
    });
    return Operands{};
  };
  if (group_->width == 1 || !IsOfRow(*staged.access, body)) return void(one_by_one());
  const auto as_one = [&] {
    MoveAsOne(staged, at);
    return Operands{};
  };
  Choose(IsInside(at, group_->width - 1), as_one, one_by_one);
}

RowGroupLowering::Operands RowGroupLowering::PlaceInMemory(const Binding& access,
                                                           const Operand& last) {
  const size_t rank = access.operands[0].var()->type.rank();
  Operands place = Apply(Operands(access.operands.begin() + 1, access.operands.begin() + rank));
  place.push_back(last);
  return place;
}

void RowGroupLowering::MoveAsOne(const Staged& staged, const Neighbours& at) {
  const bool brings = staged.access->op == OpCode::kLoad;
  const Operand array = Apply(staged.access->operands[0]);
  Operands memory = PlaceInMemory(*staged.access, at.first);
  Operands own = {thread_, Int(at.place)};
  const Attributes along_own{{Attr::kAxis, int64_t{1}}};
  const Attributes along_memory{{Attr::kAxis, int64_t(memory.size()) - 1}};
  memory.insert(memory.begin(), array);
  own.insert(own.begin(), staged.own);
  const ir::Type type = ir::Type::Vector(ir::DTypeOf(array), int(group_->width));
  const Var* lanes = builder().EmitOne(OpCode::kLoadLanes, type, brings ? memory : own,
                                       brings ? along_memory : along_own);
  Operands to = brings ? own : memory;
  to.push_back(lanes);
  builder().Emit(OpCode::kStoreLanes, {}, to, brings ? along_own : along_memory);
}

// Beyond the end of the row, the last element is brought again, and nothing is stored.
void RowGroupLowering::MoveOne(const Staged& staged, const Neighbours& at, int64_t k) {
  const Operand array = Apply(staged.access->operands[0]);
  const Operand place = builder().Add(at.first, Int(k));
  const Operands own = {thread_, Int(at.place + k)};
  if (staged.access->op == OpCode::kStore) {
    return If(IsInside(at, k), [&] {
      builder().Store(array, PlaceInMemory(*staged.access, place), builder().Load(staged.own, own));
    });
  }
  const Operand there = k == 0 ? place : Min(place, builder().Sub(at.size, Int(1)));
  builder().Store(staged.own, own, builder().Load(array, PlaceInMemory(*staged.access, there)));
}

}  // namespace parakeet::passes
