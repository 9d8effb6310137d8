#include "passes/lowering/lower_columns.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/settled_extremes.h"
#include "passes/lowering/lane_counts.h"

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
constexpr int kWorthFetching = 1 << 13;  // where other threads have made them
// A reduction of so few is made in registers.
constexpr int kFewRows = 32;
// What threads are given where columns alone are not enough for them.
constexpr int kTasksOfThread = 2;
constexpr int kWholeLanes = 64;  // of which a stretch is a multiple
// Rows of a register leave a sum waiting for the one before: runs pass by side by side.
constexpr int kRunsSideBySide = 4;
// What takes longer to make does not wait for totals.
constexpr int kCheapColumn = 8;
// What is made beside the reduction is made again for every few rows.
constexpr int kCheapBesideColumns = 4;

bool IsKnown(const Operand& value, const ir::VarSet& inside) {
  return !value.IsVar() || !inside.contains(value.var());
}

// A place so far from another: columns `x[:, k:]` are those of x, shifted.
bool IsShift(const Binding& b, const ir::VarSet& inside) {
  return (b.op == OpCode::kAdd || b.op == OpCode::kSub) && IsKnown(b.operands[0], inside) &&
         IsKnown(b.operands[1], inside);
}

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
  for (const Binding* b : body.bindings) {
    if (IsShift(*b, inside)) inside.erase(b->result());
  }
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
                               ir::VarSet inside) const {
  ir::VarSet rows = {reduction.blocks[0]->params[0]};  // and others so far from it
  const auto is_row = [&](const Operand& o) { return o.IsVar() && rows.contains(o.var()); };
  bool some = false;
  for (const Binding* b : reduction.blocks[0]->bindings) {
    if (ir::IsScalarOp(b->op)) {
      if (!IsShift(*b, inside)) continue;
      const int of_rows = is_row(b->operands[0]) + is_row(b->operands[1]);
      if (of_rows < 2) inside.erase(b->result());
      if (of_rows == 1) rows.insert(b->result());
      continue;
    }
    if (b->op != OpCode::kLoad) return false;
    bool moves = false;
    for (size_t k = 1; k < b->operands.size(); ++k) {
      if (!IsKnown(b->operands[k], inside)) return false;
      moves |= is_row(b->operands[k]);
    }
    some |= moves && patterns_.LiesNext(*b, column);
  }
  return some;
}

Operand ColumnLowering::HasFewRows(const Binding& reduction) {
  return builder().Scalar(OpCode::kLe, {Apply(reduction.operands[0]), Int(kFewRows)});
}

// --- How they are written ---

// No bit depends on it.
Operand ColumnLowering::LengthOf(const Binding& reduction, const Operand& columns,
                                 const Operand& depth, const Operand& shares, int64_t elements) {
  const int64_t bytes = BytesOf(reduction);
  const Operand shared = CeilDiv(columns, shares);
  const Operand worth = CeilDiv(Int(elements), Max(depth, Int(1)));
  const Operand least = Max(Int(kLeastBytes / bytes), Max(shared, worth));
  // Whole vectors.
  return Min(builder().Mul(CeilDiv(least, Int(kWholeLanes)), Int(kWholeLanes)),
             Int(MostOf(reduction)));
}

int64_t ColumnLowering::BytesOf(const Binding& reduction) {
  int64_t bytes = 0;
  for (const Operand& total : reduction.blocks[0]->results)
    bytes += ir::SizeInBytes(ir::DTypeOf(total));
  return bytes;
}

int64_t ColumnLowering::MostOf(const Binding& reduction) {
  return std::max<int64_t>(kWholeLanes, kMostBytes / BytesOf(reduction));
}

void ColumnLowering::WriteColumns(const Binding& nest, const Binding& reduction,
                                  const Finish& finish) {
  const Operands extents = Apply(nest.operands);
  const Columns columns{nest,
                        reduction,
                        finish,
                        Describe(reduction),
                        static_cast<size_t>(nest.attrs.Int(Attr::kVector)),
                        extents,
                        Apply(reduction.operands[0]),
                        builder().EmitOne(OpCode::kTeam, DType::kI64, {}, {}, {}, "threads"),
                        nest.attrs.Int(Attr::kParallel) != 0,
                        InOrder(nest, reduction)};
  const int64_t run = reduction.attrs.Int(Attr::kRun);
  if (run == 0 || is_rare_) return WriteStretches(columns);
  const Operand runs = CeilDiv(columns.depth, Int(run));
  for (size_t axis = 0; axis < columns.extents.size(); ++axis) {
    if (axis != columns.axis && !columns.extents[axis].IsInt(1)) return WriteWide(columns, runs);
  }
  // Half a register lies in one line of the cache more often.
  const int64_t lanes = LanesFor(*reduction.blocks[0]);
  Choose(
      AreNarrow(columns, lanes), [&] { return WriteNarrow(columns, runs, lanes / 2), Operands{}; },
      [&] { return WriteWide(columns, runs), Operands{}; });
}

const Block* ColumnLowering::VisitBlock(const Block* block) {
  const bool outer = std::exchange(is_rare_, is_rare_ || rare_.contains(block));
  const Block* visited = ContractionLowering::VisitBlock(block);
  is_rare_ = outer;
  return visited;
}

const Binding* ColumnLowering::InOrder(const Binding& nest, const Binding& reduction) const {
  const ExtremeReader reader(*nest.blocks[0], {});
  const auto settled = SettleExtremes(arena(), reader, reduction, 1);
  if (!settled) return &reduction;
  Block element = *reduction.blocks[0];
  element.results = settled->elements;
  Binding in_order = reduction;
  in_order.blocks = {arena()->New(std::move(element)), settled->take};
  return arena()->New(std::move(in_order));
}

LoopWriter::Operands ColumnLowering::AddRow(const Columns& columns, const Operands& index,
                                            const Operand& row, const Operands& so_far) {
  const Binding& in_order = *columns.in_order;
  return CombineWith(*in_order.blocks[1], so_far,
                     ElementOf(columns.nest, columns.reduction, *in_order.blocks[0], index, row));
}

void ColumnLowering::WriteWide(const Columns& columns, const Operand& runs) {
  if (!columns.is_parallel) return WriteStretches(columns);
  // Where there is less than enough for all threads side by side, they share the runs too.
  const Operand wanted = builder().Mul(columns.threads, Int(kTasksOfThread));
  const Operand side_by_side = Product(Around(columns, Int(MostOf(columns.reduction))));
  const Operand elements = builder().Mul(Product(columns.extents), columns.depth);
  const Operand is_much = builder().Scalar(OpCode::kGt, {elements, Int(2 * kWorthSharing)});
  const Operand is_narrow = builder().Scalar(OpCode::kLt, {side_by_side, wanted});
  // Code for one thread has no such way: its team is a constant.
  const Operand are_threads = builder().Scalar(OpCode::kGt, {columns.threads, Int(1)});
  const Operand are_runs = builder().Scalar(OpCode::kGt, {runs, Int(1)});
  Choose(
      Both(Both(are_threads, are_runs), Both(is_much, is_narrow)),
      [&] {
        WriteRuns(columns, runs, CeilDiv(wanted, runs));
        return Operands{};
      },
      [&] {
        WriteStretches(columns);
        return Operands{};
      });
}

// Whether there are rows, each of no more elements than that.
Operand ColumnLowering::AreNarrow(const Columns& columns, int64_t lanes) {
  const Operand is_short =
      builder().Scalar(OpCode::kLe, {columns.extents[columns.axis], Int(lanes)});
  const Operand are_some = builder().Scalar(OpCode::kGt, {columns.depth, Int(0)});
  return builder().Scalar(OpCode::kAnd, {is_short, are_some});
}

// How many stretches of that length there are, an extent an axis.
LoopWriter::Operands ColumnLowering::Around(const Columns& columns, const Operand& length) {
  Operands around = columns.extents;
  around[columns.axis] = CeilDiv(around[columns.axis], length);
  return around;
}

ColumnLowering::Stretch ColumnLowering::StretchOf(const Columns& columns, const Operand& place,
                                                  const Operand& length, const Operands& around) {
  Stretch stretch{columns, Delinear(place, around), {}, {}, {}, {}, {}};
  stretch.lo = builder().Mul(stretch.index[columns.axis], length);
  stretch.base = stretch.lo;
  stretch.hi = Min(builder().Add(stretch.lo, length), columns.extents[columns.axis]);
  return stretch;
}

// Tasks of few elements are given out several at a time.
void ColumnLowering::ShareTasks(const Operand& tasks, const Operand& elements,
                                const std::function<void(const Operand& task)>& write) {
  const Operand some = Max(builder().Quotient(Int(kWorthSharing), Max(elements, Int(1))), Int(1));
  Loop(Int(0), CeilDiv(tasks, some), OverThreads(), [&](const Operand& k) {
    const Operand first = builder().Mul(k, some);
    Loop(first, Min(builder().Add(first, some), tasks), {}, write);
  });
}

// Each stretch is a task, of all rows.
void ColumnLowering::WriteStretches(const Columns& columns) {
  const Operand width = columns.extents[columns.axis];
  const Operand length =
      LengthOf(columns.reduction, width, columns.depth, columns.threads, kWorthSharing);
  const Operands around = Around(columns, length);
  const Operand tasks = Product(around);
  const auto write = [&](const Operand& task) {
    Stretch stretch = StretchOf(columns, task, length, around);
    if (columns.reduction.attrs.Int(Attr::kRun) == 0) {
      stretch.totals = AllocateTotals(columns, {length});
    } else {
      stretch.totals = AllocateTotals(columns, {Int(2), length});
      stretch.row = {Int(0)};
    }
    WriteStretch(stretch);
    WriteFinish(stretch);
  };
  if (!columns.is_parallel) return Loop(Int(0), tasks, {}, write);
  if (columns.extents.size() > 1)
    return ShareTasks(tasks, builder().Mul(Min(length, width), columns.depth), write);
  Loop(Int(0), tasks, OverThreads(), write);
}

// Each run of each stretch is a task; what runs make is combined in order, by other stretches: of
// few columns, since most of it lies in caches of other threads.
void ColumnLowering::WriteRuns(const Columns& columns, const Operand& runs, const Operand& shares) {
  const Operand width = columns.extents[columns.axis];
  const Operand run = Int(columns.reduction.attrs.Int(Attr::kRun));
  Operands rows = columns.extents;
  rows[columns.axis] = Int(1);
  const Operand rows_of_run = Product(rows);
  const std::vector<const Var*> parts =
      AllocateTotals(columns, {builder().Mul(runs, rows_of_run), width});
  const auto row_of = [&](const Stretch& stretch, const Operand& of_run) {
    Operands index = stretch.index;
    index[columns.axis] = Int(0);
    return builder().Add(builder().Mul(of_run, rows_of_run), Linear(index, rows));
  };
  const auto stretch_of = [&](const Operand& place, const Operand& length, const Operands& around,
                              const Operand& of_run) {
    Stretch stretch = StretchOf(columns, place, length, around);
    stretch.totals = parts;
    stretch.row = {row_of(stretch, of_run)};
    stretch.base = Int(0);
    return stretch;
  };
  const Operand length = LengthOf(columns.reduction, width, run, shares, kWorthSharing);
  const Operands around = Around(columns, length);
  const Operand stretches = Product(around);
  const Operand elements = builder().Mul(Min(length, width), run);
  ShareTasks(builder().Mul(runs, stretches), elements, [&](const Operand& task) {
    const Operand of_run = builder().Quotient(task, stretches);
    const Operand place = builder().Remainder(task, stretches);
    const Operand first = builder().Mul(of_run, run);
    const Stretch stretch = stretch_of(place, length, around, of_run);
    WriteRun(stretch, first, Min(builder().Add(first, run), columns.depth));
  });
  const Operand few = LengthOf(columns.reduction, width, runs, columns.threads, kWorthFetching);
  const Operands around_few = Around(columns, few);
  Loop(Int(0), Product(around_few), OverThreads(), [&](const Operand& place) {
    const Stretch stretch = stretch_of(place, few, around_few, Int(0));
    Loop(Int(1), runs, {},
         [&](const Operand& later) { AddTotals(stretch, parts, {row_of(stretch, later)}); });
    WriteFinish(stretch);
  });
}

std::vector<const Var*> ColumnLowering::AllocateTotals(const Columns& columns,
                                                       const Operands& dims) {
  std::vector<const Var*> totals;
  for (const Operand& total : columns.reduction.blocks[0]->results) {
    totals.push_back(builder().EmitOne(OpCode::kAlloc, Type::Array(ir::DTypeOf(total), dims), dims,
                                       {}, {}, "totals"));
  }
  return totals;
}

// All rows: one run, or several, of which each later one has totals of its own first.
void ColumnLowering::WriteStretch(const Stretch& stretch) {
  const Columns& columns = stretch.columns;
  const int64_t run = columns.reduction.attrs.Int(Attr::kRun);
  if (run == 0) return WriteRun(stretch, Int(0), columns.depth);
  // The first run is there where there are no rows.
  Loop(
      Int(0), Max(columns.depth, Int(1)), {},
      [&](const Operand& first) {
        const Operand is_later = builder().Scalar(OpCode::kGt, {first, Int(0)});
        Stretch of_run = stretch;
        of_run.row = {builder().Scalar(OpCode::kSelect, {is_later, Int(1), Int(0)})};
        WriteRun(of_run, first, Min(builder().Add(first, Int(run)), columns.depth));
        If(is_later, [&] { AddTotals(stretch, stretch.totals, {Int(1)}); });
      },
      run);
}

void ColumnLowering::EachColumn(
    const Stretch& stretch,
    const std::function<void(const Operands& index, const Operand& place)>& body) {
  const bool outer_lanes = std::exchange(in_lanes_, true);
  Attributes attrs = {{Attr::kKind, std::string("vector")}};
  if (stretch.lanes > 0) attrs = attrs.With(Attr::kLanes, stretch.lanes);
  Loop(stretch.lo, stretch.hi, attrs, [&](const Operand& column) {
    Operands index = stretch.index;
    index[stretch.columns.axis] = column;
    body(index, builder().Sub(column, stretch.base));
  });
  in_lanes_ = outer_lanes;
}

// The rows from first to last, in order, to totals that begin with them. The very first rows are
// added to what the reduction begins with, others to what leaves them as they are.
void ColumnLowering::WriteRun(const Stretch& stretch, const Operand& first, const Operand& last) {
  const Columns& columns = stretch.columns;
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    StoreAll(stretch.totals, PlaceInTotals(stretch, place), StartsOf(columns, index, first));
  });
  Operand whole = first;
  if (GainsByRows(columns)) {
    const Operand rows = builder().Sub(last, first);
    whole = builder().Sub(last, builder().Remainder(rows, Int(kRowsOfRun)));
    Loop(
        first, whole, {}, [&](const Operand& row) { AddRows(stretch, row, kRowsOfRun); },
        kRowsOfRun);
  }
  Loop(whole, last, {}, [&](const Operand& row) { AddRows(stretch, row, 1); });
}

// Whether totals take a good part of an element's time: to and from memory, or waiting for the ones
// before.
bool ColumnLowering::GainsByRows(const Columns& columns) const {
  return !is_rare_ && CostOf(*columns.reduction.blocks[0]) <= kCheapColumn;
}

LoopWriter::Operands ColumnLowering::StartsOf(const Columns& columns, const Operands& index,
                                              const Operand& first) {
  const Reduction& r = columns.described;
  if (r.inits.empty()) return r.starts;
  const Operands inits = InitsOf(columns.nest, columns.reduction, index);
  if (r.starts.empty() || first.IsInt(0)) return inits;
  const Operand is_first = builder().Scalar(OpCode::kEq, {first, Int(0)});
  Operands starts;
  for (size_t k = 0; k < inits.size(); ++k)
    starts.push_back(builder().Scalar(OpCode::kSelect, {is_first, inits[k], r.starts[k]}));
  return starts;
}

// Some rows, in order, to the totals.
void ColumnLowering::AddRows(const Stretch& stretch, const Operand& first, int rows) {
  const Columns& columns = stretch.columns;
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    Operands totals = LoadAll(stretch.totals, PlaceInTotals(stretch, place));
    for (int row = 0; row < rows; ++row)
      totals = AddRow(columns, index, builder().Add(first, Int(row)), totals);
    StoreAll(stretch.totals, PlaceInTotals(stretch, place), totals);
  });
}

// Runs pass by side by side, each with its totals in a register; those are combined in order.
void ColumnLowering::WriteNarrow(const Columns& columns, const Operand& runs, int64_t lanes) {
  const Operand width = columns.extents[columns.axis];
  const Operand run = Int(columns.reduction.attrs.Int(Attr::kRun));
  const std::vector<const Var*> parts = AllocateTotals(columns, {runs, width});
  const Operands index(columns.extents.size(), Int(0));
  const Stretch stretch{columns, index, Int(0), width, parts, {}, Int(0), lanes};
  const int64_t count = GainsByRows(columns) ? kRunsSideBySide : 1;
  const Operand groups = CeilDiv(runs, Int(count));
  const auto write = [&](const Operand& group) {
    WriteSideBySide(stretch, builder().Mul(group, Int(count)), runs, count);
  };
  const Operand elements = builder().Mul(builder().Mul(width, run), Int(count));
  columns.is_parallel ? ShareTasks(groups, elements, write) : Loop(Int(0), groups, {}, write);
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    const Operands first = LoadAll(parts, {Int(0), place});
    const Operands totals =
        Carry(Int(1), runs, first, [&](const Operand& later, const Operands& so_far) {
          return CombineWith(*columns.reduction.blocks[1], so_far, LoadAll(parts, {later, place}));
        });
    columns.finish(index, FinishOf(columns.nest, columns.reduction, index, totals));
  });
}

// So many runs from that one on, each in order, to its row of totals. Behind the last run there are
// none: its sums are made again. It may have fewer rows, with which the others have not ended.
void ColumnLowering::WriteSideBySide(const Stretch& stretch, const Operand& from,
                                     const Operand& runs, int64_t count) {
  const Columns& columns = stretch.columns;
  const Operand run = Int(columns.reduction.attrs.Int(Attr::kRun));
  const Operand last = builder().Sub(runs, Int(1));
  const Operand left = builder().Sub(columns.depth, builder().Mul(last, run));
  Operands of, is_last, starts;
  for (int64_t k = 0; k < count; ++k) {
    of.push_back(Min(builder().Add(from, Int(k)), last));
    is_last.push_back(builder().Scalar(OpCode::kEq, {of[k], last}));
    starts.push_back(builder().Mul(of[k], run));
  }
  const Operand common = builder().Scalar(OpCode::kSelect, {is_last.back(), left, run});
  const Operand end = builder().Scalar(OpCode::kSelect, {is_last.front(), common, run});
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    const size_t width = stretch.totals.size();
    const auto part = [&](const Operands& all, size_t k) {
      return Operands(all.begin() + k * width, all.begin() + (k + 1) * width);
    };
    const auto add = [&](const Operands& so_far, size_t k, const Operand& row) {
      return AddRow(columns, index, row, part(so_far, k));
    };
    Operands totals;
    for (const Operand& start : starts) {
      const Operands of_run = StartsOf(columns, index, start);
      totals.insert(totals.end(), of_run.begin(), of_run.end());
    }
    totals = Carry(Int(0), common, totals, [&](const Operand& row, const Operands& so_far) {
      Operands sums;
      for (size_t k = 0; k < starts.size(); ++k) {
        const Operands sum = add(so_far, k, builder().Add(starts[k], row));
        sums.insert(sums.end(), sum.begin(), sum.end());
      }
      return sums;
    });
    const auto rest = [&](const Operand& row, const Operands& so_far) {
      Operands sums = add(so_far, 0, builder().Add(starts[0], row));
      for (size_t k = 1; k < starts.size(); ++k) {
        // Of rows that are there in any case.
        const Operand start = builder().Scalar(OpCode::kSelect, {is_last[k], starts[0], starts[k]});
        const Operands sum = add(so_far, k, builder().Add(start, row));
        for (size_t i = 0; i < width; ++i) {
          const Operand kept = part(so_far, k)[i];
          sums.push_back(builder().Scalar(OpCode::kSelect, {is_last[k], kept, sum[i]}));
        }
      }
      return sums;
    };
    if (count > 1) totals = Carry(common, end, totals, rest);
    for (size_t k = 0; k < starts.size(); ++k)
      StoreAll(stretch.totals, {of[k], place}, part(totals, k));
  });
}

// The totals of a later run, at their row, to those of the stretch.
void ColumnLowering::AddTotals(const Stretch& stretch, const std::vector<const Var*>& later,
                               const Operands& row) {
  EachColumn(stretch, [&](const Operands&, const Operand& place) {
    Operands at = row;
    at.push_back(place);
    StoreAll(
        stretch.totals, PlaceInTotals(stretch, place),
        CombineWith(*stretch.columns.reduction.blocks[1],
                    LoadAll(stretch.totals, PlaceInTotals(stretch, place)), LoadAll(later, at)));
  });
}

LoopWriter::Operands ColumnLowering::PlaceInTotals(const Stretch& stretch, const Operand& place) {
  Operands at = stretch.row;
  at.push_back(place);
  return at;
}

void ColumnLowering::WriteFinish(const Stretch& stretch) {
  const Columns& columns = stretch.columns;
  EachColumn(stretch, [&](const Operands& index, const Operand& place) {
    columns.finish(index, FinishOf(columns.nest, columns.reduction, index,
                                   LoadAll(stretch.totals, PlaceInTotals(stretch, place))));
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
                                               const Block& element, Operands index,
                                               const Operand& at) {
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
