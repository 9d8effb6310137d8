#include "passes/lowering/lower_block_rows.h"

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/reduction_lanes.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kThreads = 128;
// Of so short a row, a thread makes the sum alone.
constexpr int64_t kShortRow = 64;

Attributes Kind(const char* kind) { return {{Attr::kKind, std::string(kind)}}; }

bool IsNest(const Binding& b) {
  return b.op == OpCode::kImap || b.op == OpCode::kForeach || b.op == OpCode::kIreduce;
}

// True where the sizes of what the binding makes and goes through are known around the element.
bool HasKnownSizes(const Binding& b, const ir::VarSet& inside) {
  const size_t indices = b.blocks[0]->params.size();
  return std::none_of(b.operands.begin(), b.operands.begin() + indices,
                      [&](const Operand& size) { return inside.contains(size.var()); });
}

}  // namespace

std::optional<Operand> BlockRowLowering::WorthBlocks(const Binding& nest) {
  const Block& body = *nest.blocks[0];
  const ir::VarSet inside = ir::DefinedVars(body);
  const Binding* first = nullptr;
  for (const Binding* b : body.bindings) {
    if (IsNest(*b)) {
      if (!HasKnownSizes(*b, inside)) return std::nullopt;
      if (b->op != OpCode::kIreduce) continue;
      const Reduction r = Describe(*b);
      const bool along_memory = b->attrs.Int(Attr::kLanes, 1) > 1;
      if (!along_memory || (r.starts.empty() && !r.inits.empty())) return std::nullopt;
      if (first == nullptr) first = b;
      continue;
    }
    const bool is_plain = ir::IsScalarOp(b->op) || b->op == OpCode::kLoad ||
                          b->op == OpCode::kStore || b->op == OpCode::kCheck;
    if (!is_plain) return std::nullopt;
  }
  if (first == nullptr) return std::nullopt;
  const size_t indices = first->blocks[0]->params.size();
  const Operand size =
      Product(Apply(Operands(first->operands.begin(), first->operands.begin() + indices)));
  return builder().Scalar(OpCode::kGe, {size, Int(kShortRow)});
}

void BlockRowLowering::WriteBlocks(const Binding& nest, const Operands& extents,
                                   const Body& body) {
  for (const Binding* b : nest.blocks[0]->bindings) {
    if (b->op != OpCode::kImap) continue;
    for (const Var* result : b->results) {
      Operands dims = extents;
      for (const Operand& size : result->type.dims()) dims.push_back(Apply(size));
      made_[result] =
          builder().NewVar(ir::Type::Array(result->type.dtype(), dims), result->hint);
      builder().Emit(OpCode::kAlloc, {made_[result]}, dims);
    }
  }
  Loop(Int(0), Product(extents), Kind("block"), [&](const Operand& block) {
    by_block_ = true;
    row_ = Delinear(block, extents);
    body(row_);
    by_block_ = false;
  });
}

bool BlockRowLowering::VisitByBlock(const Binding& b) {
  if (!by_block_) return false;
  switch (b.op) {
    case OpCode::kIreduce: ReduceByBlock(b); return true;
    case OpCode::kImap:
    case OpCode::kForeach: MapByBlock(b); return true;
    case OpCode::kStore: ByOneThread([&] { Mutator::Visit(&b); }); return true;
    default: return false;
  }
}

void BlockRowLowering::ByOneThread(const std::function<void()>& write) {
  Loop(Int(0), Int(1), Kind("thread"), [&](const Operand&) {
    by_block_ = false;
    write();
    by_block_ = true;
  });
}

void BlockRowLowering::ByThreads(const Operands& extents, const Body& body) {
  Loop(Int(0), Int(kThreads), Kind("thread"), [&](const Operand& thread) {
    by_block_ = false;
    Loop(
        thread, Product(extents), {},
        [&](const Operand& place) { body(Delinear(place, extents)); }, kThreads);
    by_block_ = true;
  });
}

void BlockRowLowering::StoreByBlock(const Operand& array, const Operands& index,
                                    const Operand& value) {
  const ir::Type type = ir::TypeOf(value);
  if (!type.IsArray()) return ByOneThread([&] { builder().Store(array, index, value); });
  ByThreads(type.dims(), [&](const Operands& inner) {
    Operands place = index;
    place.insert(place.end(), inner.begin(), inner.end());
    builder().Store(array, place, builder().Load(value, inner));
  });
}

void BlockRowLowering::ReduceByBlock(const Binding& b) {
  Reduction r = Describe(b);
  r.lanes = kThreads;
  const Operand size = Product(r.extents);
  const std::vector<const Var*> lanes = AllocateParts(b, Int(kThreads));
  Loop(Int(0), Int(kThreads), Kind("thread"), [&](const Operand& lane) {
    by_block_ = false;
    const Operands start =
        r.starts.empty() ? ReductionLowering::Element(r, Operands(r.extents.size(), Int(0)))
                         : r.starts;
    StoreAll(lanes, lane,
             Carry(
                 lane, size, start,
                 [&](const Operand& place, const Operands& so_far) {
                   return Combine(r, so_far,
                                  ReductionLowering::Element(r, Delinear(place, r.extents)));
                 },
                 kThreads));
    by_block_ = true;
  });
  CombineLanes(r, lanes);
  const Operands total = AfterInits(r, LoadAll(lanes, Int(0)));
  for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], total[k]);
}

void BlockRowLowering::MapByBlock(const Binding& b) {
  const Operands operands = Apply(b.operands);
  ByThreads(operands, [&](const Operands& index) {
    const Operands values = VisitBody(*ir::CloneBlock(arena(), *b.blocks[0]), index);
    for (size_t k = 0; k < b.results.size(); ++k) {
      Operands place = row_;
      place.insert(place.end(), index.begin(), index.end());
      StoreElement(made_.at(b.results[k]), place, values[k]);
    }
  });
  for (const Var* result : b.results) {
    // The row of the array for all: `view` takes its place, then how far each axis moves.
    const Var* whole = made_.at(result);
    Operands view = {whole};
    view.insert(view.end(), row_.begin(), row_.end());
    const size_t rank = result->type.rank();
    view.insert(view.end(), rank, Int(0));
    for (size_t axis = 0; axis < row_.size() + rank; ++axis) {
      for (size_t own = 0; own < rank; ++own) view.push_back(Int(axis == row_.size() + own));
    }
    const Var* row = builder().NewVar(Apply(result->type), result->hint);
    builder().Emit(OpCode::kView, {row}, view);
    Replace(result, row);
  }
}

}  // namespace parakeet::passes
