#include "passes/lowering/lower_columns.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"

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

constexpr int kRowsOfRun = 8;
// Totals of a stretch fit the first cache; a part of a row is more than a few lines of it, and as
// long as threads leave it: memory hands out what follows faster.
constexpr int kMostBytes = 16384;
constexpr int kLeastBytes = 2048;
// As many elements as take as long as sharing them.
constexpr int kWorthSharing = 1 << 17;
// A reduction of so few is made in registers.
constexpr int kFewRows = 32;
// What is made beside the reduction is made again for every few rows.
constexpr int kCheapBesideColumns = 4;

// The bindings of the nest's block on one side of the reduction.
Block Beside(const Block& body, const Binding& reduction, bool after) {
  const auto at = std::find(body.bindings.begin(), body.bindings.end(), &reduction);
  Block block{body.params, {body.bindings.begin(), at}, {}};
  if (after) block.bindings.insert(block.bindings.end(), at + 1, body.bindings.end());
  return block;
}

}  // namespace

// --- Which nests ---

const Binding* ColumnLowering::ReductionIn(const Binding& nest) {
  const Block& body = *nest.blocks[0];
  const Binding* reduction = nullptr;
  for (const Binding* b : body.bindings) {
    if (b->op == OpCode::kIreduce && reduction == nullptr) {
      reduction = b;
    } else if (!ir::IsScalarOp(b->op) && b->op != OpCode::kLoad &&
               (b->op != OpCode::kStore || reduction == nullptr)) {
      return nullptr;
    }
  }
  const bool is_cheap =
      reduction != nullptr && CostOf(Beside(body, *reduction, false)) <= kCheapBesideColumns;
  return is_cheap ? reduction : nullptr;
}

const Binding* ColumnLowering::ColumnsOf(const Binding& nest) {
  const int64_t axis = nest.attrs.Int(Attr::kVector, -1);
  const Block& body = *nest.blocks[0];
  const Binding* reduction = axis < 0 ? nullptr : ReductionIn(nest);
  ir::VarSet inside = ir::DefinedVars(body);
  if (reduction == nullptr || !IsInOrder(*reduction, inside)) return nullptr;
  const Var* row = reduction->blocks[0]->params[0];
  inside.erase(row);
  for (const Var* param : body.params) inside.erase(param);
  return ReadsRows(*reduction, body.params[axis], inside) ? reduction : nullptr;
}

bool ColumnLowering::IsInOrder(const Binding& reduction, const ir::VarSet& inside) {
  const Operand& depth = reduction.operands[0];
  const bool is_few = depth.IsConstant() && depth.constant().integer <= kFewRows;
  if (reduction.blocks[0]->params.size() != 1 || is_few || inside.contains(depth.var()))
    return false;
  if (reduction.attrs.Int(Attr::kLanes, 1) > 1 || reduction.attrs.Int(Attr::kBlock) > 0)
    return false;
  const Reduction r = Describe(reduction);
  return !r.has_arrays && !(r.inits.empty() && r.starts.empty());
}

// Some load goes from one row to the next, and lies along it; none is a window.
bool ColumnLowering::ReadsRows(const Binding& reduction, const Var* column,
                               const ir::VarSet& inside) const {
  const Var* row = reduction.blocks[0]->params[0];
  bool some = false;
  for (const Binding* b : reduction.blocks[0]->bindings) {
    if (ir::IsScalarOp(b->op)) continue;
    if (b->op != OpCode::kLoad) return false;
    bool moves = false;
    for (size_t k = 1; k < b->operands.size(); ++k) {
      if (inside.contains(b->operands[k].var())) return false;
      moves |= b->operands[k] == Operand(row);
    }
    some |= moves && patterns_.LiesNext(*b, column);
  }
  return some;
}

// --- How they are written ---

// No bit depends on it.
Operand ColumnLowering::LengthOf(const Binding& reduction, const Operand& columns,
                                 const Operand& depth) {
  int64_t bytes = 0;
  for (const Operand& total : reduction.blocks[0]->results)
    bytes += ir::SizeInBytes(ir::DTypeOf(total));
  const Operand threads = builder().EmitOne(OpCode::kTeam, DType::kI64, {}, {}, {}, "threads");
  const Operand shared = CeilDiv(columns, threads);
  const Operand worth = CeilDiv(Int(kWorthSharing), Max(depth, Int(1)));
  const Operand least = Max(Int(kLeastBytes / bytes), Max(shared, worth));
  // Whole vectors.
  constexpr int kLanes = 64;
  return Min(builder().Mul(CeilDiv(least, Int(kLanes)), Int(kLanes)),
             Int(std::max<int64_t>(kLanes, kMostBytes / bytes)));
}

void ColumnLowering::WriteColumns(const Binding& nest, const Binding& reduction,
                                  const Finish& finish) {
  const Operands extents = Apply(nest.operands);
  const Operand depth = Apply(reduction.operands[0]);
  const auto axis = static_cast<size_t>(nest.attrs.Int(Attr::kVector));
  const Operand length = LengthOf(reduction, extents[axis], depth);
  Operands around = extents;
  around[axis] = CeilDiv(extents[axis], length);
  Attributes kind;
  if (nest.attrs.Int(Attr::kParallel) != 0)
    kind = {{Attr::kKind, std::string("parallel")}, {Attr::kCost, int64_t{0}}};
  const auto write_task = [&](const Operand& task) {
    Stretch stretch{nest, reduction, axis, Delinear(task, around), {}, {}, {}};
    stretch.lo = builder().Mul(stretch.index[axis], length);
    stretch.hi = Min(builder().Add(stretch.lo, length), extents[axis]);
    WriteStretch(std::move(stretch), length, depth, finish);
  };
  const Operand tasks = Product(around);
  if (!kind.Has(Attr::kCost) || around.size() == 1) return Loop(Int(0), tasks, kind, write_task);
  // Tasks of few elements are given out several at a time.
  const Operand elements = builder().Mul(Min(length, extents[axis]), depth);
  const Operand some =
      Max(builder().Scalar(OpCode::kFloorDiv, {Int(kWorthSharing), Max(elements, Int(1))}), Int(1));
  Loop(Int(0), CeilDiv(tasks, some), kind, [&](const Operand& k) {
    const Operand first = builder().Mul(k, some);
    Loop(first, Min(builder().Add(first, some), tasks), {}, write_task);
  });
}

void ColumnLowering::WriteStretch(Stretch stretch, const Operand& length, const Operand& depth,
                                  const Finish& finish) {
  const Reduction r = Describe(stretch.reduction);
  for (const Operand& total : stretch.reduction.blocks[0]->results) {
    stretch.totals.push_back(builder().EmitOne(
        OpCode::kAlloc, Type::Array(ir::DTypeOf(total), {length}), {length}, {}, {}, "totals"));
  }
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    const Operands inits = InitsOf(stretch.nest, stretch.reduction, index);
    StoreAll(stretch.totals, place, inits.empty() ? r.starts : inits);
  });
  const Operand rest = builder().Scalar(OpCode::kMod, {depth, Int(kRowsOfRun)});
  const Operand whole = builder().Sub(depth, rest);
  Loop(
      Int(0), whole, {}, [&](const Operand& row) { AddRows(stretch, row, kRowsOfRun); },
      kRowsOfRun);
  Loop(whole, depth, {}, [&](const Operand& row) { AddRows(stretch, row, 1); });
  WriteFinish(stretch, finish);
}

void ColumnLowering::EachColumn(
    const Stretch& stretch,
    const std::function<void(const Operands& index, const Operand& place)>& body) {
  const bool outer_lanes = std::exchange(in_lanes_, true);
  Loop(stretch.lo, stretch.hi, {{Attr::kKind, std::string("vector")}}, [&](const Operand& column) {
    Operands index = stretch.index;
    index[stretch.axis] = column;
    body(index, builder().Sub(column, stretch.lo));
  });
  in_lanes_ = outer_lanes;
}

// Some rows, in order, to the totals.
void ColumnLowering::AddRows(const Stretch& stretch, const Operand& first, int rows) {
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    Operands totals = LoadAll(stretch.totals, place);
    for (int row = 0; row < rows; ++row) {
      const Operands values =
          ElementOf(stretch.nest, stretch.reduction, index, builder().Add(first, Int(row)));
      totals = CombineWith(*stretch.reduction.blocks[1], totals, values);
    }
    StoreAll(stretch.totals, place, totals);
  });
}

void ColumnLowering::WriteFinish(const Stretch& stretch, const Finish& finish) {
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    finish(index, FinishOf(stretch.nest, stretch.reduction, index, LoadAll(stretch.totals, place)));
  });
}

// --- The two sides of a nest's reduction ---

LoopWriter::Operands ColumnLowering::InitsOf(const Binding& nest, const Binding& reduction,
                                             const Operands& index) {
  Block block = Beside(*nest.blocks[0], reduction, false);
  block.results.assign(reduction.operands.begin() + reduction.blocks[0]->params.size(),
                       reduction.operands.end());
  return VisitBody(*ir::CloneBlock(arena(), block), index);
}

LoopWriter::Operands ColumnLowering::ElementOf(const Binding& nest, const Binding& reduction,
                                               Operands index, const Operand& at) {
  const Block& element = *reduction.blocks[0];
  Block block = Beside(*nest.blocks[0], reduction, false);
  block.params.push_back(element.params[0]);
  block.bindings.insert(block.bindings.end(), element.bindings.begin(), element.bindings.end());
  block.results = element.results;
  index.push_back(at);
  return VisitBody(*ir::CloneBlock(arena(), block), index);
}

LoopWriter::Operands ColumnLowering::FinishOf(const Binding& nest, const Binding& reduction,
                                              Operands index, const Operands& totals) {
  Block block = Beside(*nest.blocks[0], reduction, true);
  block.params.insert(block.params.end(), reduction.results.begin(), reduction.results.end());
  block.results = nest.blocks[0]->results;
  index.insert(index.end(), totals.begin(), totals.end());
  return VisitBody(*ir::CloneBlock(arena(), block), index);
}

}  // namespace parakeet::passes
