#include "passes/lowering/shared_histograms.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/lowering/block_threads.h"

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

constexpr int64_t kSharedBytes = 48 * 1024;  // What any block may have.
constexpr int64_t kMostKeptBytes = 16 * 1024;
constexpr int64_t kAlignment = 16;
constexpr int64_t kMostLanes = 32;
constexpr int64_t kSomeLanes = 8;     // Of rows of several lengths.
constexpr int64_t kMostBlocks = 512;  // Their sums are combined by few threads.
// Of the innermost loop: those of a block, and those of a loop that is worth blocks.
constexpr int64_t kLeastTripsOfBlock = 1024;
constexpr int64_t kLeastTrips = 256;

bool IsOperator(const Binding& b) { return ir::InfoOf(b.op).format == ir::OpFormat::kIndices; }

bool IsRow(const Binding& b) {
  if (b.op != OpCode::kForeach) return false;
  bool is_innermost = true;
  ir::ForEachBinding(*b.blocks[0],
                     [&](const Binding& inner) { is_innermost &= inner.op != OpCode::kForeach; });
  return is_innermost;
}

constexpr int kNoRow = -1;     // A place that a trip touches by itself;
constexpr int kNoColumn = -2;  // one in a row that says nothing of the column.

// Which axes of an array the columns of rows are.
void FindColumns(const ir::Block& body, const Var* array, const Var* column, std::set<int>& axes) {
  for (const Binding* b : body.bindings) {
    for (const ir::Block* inner : b->blocks)
      FindColumns(*inner, array, IsRow(*b) ? inner->params.back() : column, axes);
    if (b->op != OpCode::kStore || b->operands[0] != Operand(array)) continue;
    const auto begin = b->operands.begin() + 1;
    const auto at = column == nullptr ? begin : std::find(begin, b->operands.end() - 1, column);
    const bool is_column = at != b->operands.end() - 1;
    axes.insert(column == nullptr ? kNoRow : is_column ? static_cast<int>(at - begin) : kNoColumn);
  }
}

// True where threads that take a column each never meet at a place.
bool ColumnsAreApart(const ir::Block& body, const std::vector<Histogram>& found) {
  return std::all_of(found.begin(), found.end(), [&](const Histogram& h) {
    std::set<int> axes;
    FindColumns(body, h.array, nullptr, axes);
    return axes.size() == 1 && !axes.contains(kNoColumn);
  });
}

bool Touches(const Binding& b, const std::vector<Histogram>& found) {
  const ir::VarSet used = ir::FreeVars(b);
  return std::any_of(found.begin(), found.end(),
                     [&](const Histogram& h) { return used.contains(h.array); });
}

}  // namespace

bool SharedHistograms::MayRaise(const ir::Block& body) {
  bool may = false;
  ir::ForEachBinding(body, [&](const Binding& b) { may |= b.op == OpCode::kCheck; });
  return may;
}

SharedHistograms::Halves SharedHistograms::Split(const ir::Block& body, const Found& found) {
  Halves halves{{body.params, {}, {}}, {body.params, {}, {}}};
  ir::VarSet of_second;
  for (const Binding* b : body.bindings) {
    const ir::VarSet used = ir::FreeVars(*b);
    const bool is_second = Touches(*b, found) ||
                           std::any_of(used.begin(), used.end(),
                                       [&](const Var* value) { return of_second.contains(value); });
    (is_second ? halves.second : halves.first).bindings.push_back(b);
    if (is_second) of_second.insert(b->results.begin(), b->results.end());
  }
  WidenLast(halves);
  const ir::VarSet taken = ir::FreeVars(halves.second);
  for (const Binding* b : halves.first.bindings) {
    for (const Var* result : b->results) {
      if (!taken.contains(result)) continue;
      halves.first.results.push_back(result);
      halves.second.params.push_back(result);
    }
  }
  return halves;
}

void SharedHistograms::WidenLast(Halves& halves) {
  std::vector<const Binding*>& first = halves.first.bindings;
  const auto widens = [](const Binding& b) {
    return b.op == OpCode::kCast && b.operands[0].IsVar() &&
           ir::SizeInBytes(ir::DTypeOf(b.operands[0])) < ir::SizeInBytes(b.result()->type.dtype());
  };
  const auto is_used = [&](const Var* var) {
    return std::any_of(first.begin(), first.end(),
                       [&](const Binding* b) { return ir::FreeVars(*b).contains(var); });
  };
  const auto moved = std::stable_partition(first.begin(), first.end(), [&](const Binding* b) {
    return !widens(*b) || is_used(b->result());
  });
  halves.second.bindings.insert(halves.second.bindings.begin(), moved, first.end());
  first.erase(moved, first.end());
}

int64_t SharedHistograms::BytesKept(const Halves& halves) {
  int64_t bytes = MayRaise(halves.first) ? ir::SizeInBytes(ir::DType::kI32) : 0;
  for (const Operand& value : halves.first.results)
    bytes += std::max(ir::SizeInBytes(ir::DTypeOf(value)), 1);
  return bytes * kBlockThreads;
}

// Of each dtype as much as of any other.
int64_t SharedHistograms::ElementsOf(ir::DType dtype, const ir::Block& body, const Found& found) {
  std::set<ir::DType> dtypes;
  for (const Histogram& h : found) dtypes.insert(h.array->type.dtype());
  const int64_t bytes = kSharedBytes - BytesKept(Split(body, found));
  return bytes / static_cast<int64_t>(dtypes.size()) / kAlignment * kAlignment /
         ir::SizeInBytes(dtype);
}

bool SharedHistograms::CanBeShared(const HistogramLoop& histograms) {
  const ir::Block& body = *histograms.loop().blocks[0];
  bool can = !NeedsHost(body);
  ir::ForEachBinding(body, [&](const Binding& b) {
    can &= (!IsOperator(b) || b.op == OpCode::kForeach) && b.op != OpCode::kAlloc;
    for (const Var* result : b.results) can &= !result->type.IsArray();
  });
  return can && BytesKept(Split(body, histograms.found())) <= kMostKeptBytes;
}

Operand SharedHistograms::IsWorthSharing(const Binding& loop, const Found& found,
                                         const Operand& trips, const Operand& inside) {
  const Operand fits = builder().Scalar(OpCode::kGe, {CountCopies(*loop.blocks[0], found), Int(1)});
  const Operand all = builder().Mul(trips, Max(inside, Int(1)));
  const Operand is_long = builder().Scalar(OpCode::kGt, {all, Int(kLeastTrips)});
  return builder().Scalar(OpCode::kAnd, {fits, is_long});
}

// As many as memory holds.
Operand SharedHistograms::CountCopies(const ir::Block& body, const Found& found) {
  Operand count = Int(kBlockThreads);
  std::set<ir::DType> done;
  for (const Histogram& first : found) {
    const ir::DType dtype = first.array->type.dtype();
    if (!done.insert(dtype).second) continue;
    Operand places = Int(0);
    for (const Histogram& h : found) {
      if (h.array->type.dtype() == dtype)
        places = builder().Add(places, Product(h.array->type.dims()));
    }
    const Operand fit =
        builder().Quotient(Int(ElementsOf(dtype, body, found)), Max(places, Int(1)));
    count = Min(count, fit);
  }
  return count;
}

std::vector<const Var*> SharedHistograms::WriteInBlocks(const Binding& loop, const Found& found,
                                                        const Operand& trips,
                                                        const Operand& inside) {
  const ir::Block& body = *loop.blocks[0];
  const Halves halves = Split(body, found);
  const Operand least = CeilDiv(Int(kLeastTripsOfBlock), Max(inside, Int(1)));
  const Operand length = Max(least, CeilDiv(trips, Int(kMostBlocks)));
  const Operand blocks = CeilDiv(trips, length);
  ChooseLanes(body, found);
  const Operand threads = builder().Quotient(Int(kBlockThreads), lanes_);
  const Operand count = Min(CountCopies(body, found), threads);
  std::vector<const Var*> sums;
  for (const Histogram& h : found) {
    Operands extents = {blocks};
    for (const Operand& dim : h.array->type.dims()) extents.push_back(dim);
    const Type type = Type::Array(h.array->type.dtype(), extents);
    sums.push_back(builder().EmitOne(OpCode::kAlloc, type, extents, {}, {}, "sums"));
  }
  Blocks(blocks, [&](const Operand& block) {
    const std::vector<Copies> all = Allocate(body, found, count);
    Clear(all, count);
    const Operand lo = builder().Add(loop.operands[0], builder().Mul(block, length));
    const Operand hi = Min(builder().Add(lo, length), loop.operands[1]);
    WriteTrips(halves, all, count, lo, hi);
    for (size_t k = 0; k < all.size(); ++k) HandOn(all[k], count, sums[k], block);
  });
  return sums;
}

std::vector<SharedHistograms::Copies> SharedHistograms::Allocate(const ir::Block& body,
                                                                 const Found& found,
                                                                 const Operand& count) {
  struct Buffer {
    ir::DType dtype;
    const Var* array;
    Operand end;  // Of what it holds so far.
  };
  std::vector<Buffer> buffers;
  std::vector<Copies> all;
  for (const Histogram& h : found) {
    const ir::DType dtype = h.array->type.dtype();
    auto buffer = std::find_if(buffers.begin(), buffers.end(),
                               [&](const Buffer& b) { return b.dtype == dtype; });
    if (buffer == buffers.end()) {
      const Type type = Type::Array(dtype, {Int(ElementsOf(dtype, body, found))});
      const Var* array = builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "copies");
      buffer = buffers.insert(buffers.end(), {dtype, array, Int(0)});
    }
    const Operand size = Product(h.array->type.dims());
    all.push_back({h, buffer->array, buffer->end, size});
    buffer->end = builder().Add(buffer->end, builder().Mul(count, size));
  }
  return all;
}

void SharedHistograms::Clear(const std::vector<Copies>& all, const Operand& count) {
  Threads(kBlockThreads, [&](const Operand& thread) {
    for (const Copies& copies : all) {
      const auto clear = [&](const Operand& place) {
        builder().Store(copies.buffer, {builder().Add(copies.first, place)},
                        *copies.histogram.Start());
      };
      Loop(thread, builder().Mul(count, copies.size), {}, clear, kBlockThreads);
    }
  });
}

std::vector<const Var*> SharedHistograms::AllocateKept(const Halves& halves, int64_t trips) {
  std::vector<const Var*> kept;
  for (const Operand& value : halves.first.results) {
    const Type type = Type::Array(ir::DTypeOf(value), {Int(trips)});
    kept.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "kept"));
  }
  return kept;
}

void SharedHistograms::WriteTrips(const Halves& halves, const std::vector<Copies>& all,
                                  const Operand& count, const Operand& lo, const Operand& hi) {
  const auto allocate_is_done = [&] {
    const Type type = Type::Array(ir::DType::kI32, {Int(kBlockThreads)});
    return builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "is_done");
  };
  const Var* is_done = MayRaise(halves.first) ? allocate_is_done() : nullptr;
  const Kept kept{AllocateKept(halves, kBlockThreads), is_done};
  const auto some = [&](const Operand& start) {
    WriteFirst(halves, kept, start, hi);
    const Operand trips = Min(builder().Sub(hi, start), Int(kBlockThreads));
    WriteSecond(halves, kept, all, count, start, trips);
  };
  Loop(lo, hi, {}, some, kBlockThreads);
}

void SharedHistograms::WriteFirst(const Halves& halves, const Kept& kept, const Operand& start,
                                  const Operand& hi) {
  const auto done = [&](const Operand& thread, int64_t is_done) {
    if (kept.is_done != nullptr)
      builder().Store(kept.is_done, {thread}, ir::Constant::Int(is_done, ir::DType::kI32));
  };
  Threads(kBlockThreads, [&](const Operand& thread) {
    done(thread, 0);
    const Operand trip = builder().Add(start, thread);
    If(builder().Scalar(OpCode::kLt, {trip, hi}), [&] {
      const Operands values = VisitBody(*ir::CloneBlock(arena(), halves.first), {trip});
      for (size_t k = 0; k < values.size(); ++k)
        builder().Store(kept.values[k], {thread}, values[k]);
      done(thread, 1);
    });
  });
}

void SharedHistograms::WriteSecond(const Halves& halves, const Kept& kept,
                                   const std::vector<Copies>& all, const Operand& count,
                                   const Operand& start, const Operand& trips) {
  Threads(kBlockThreads, [&](const Operand& thread) {
    const Operand copy = builder().Quotient(thread, lanes_);
    lane_ = builder().Remainder(thread, lanes_);
    for (const Copies& copies : all) {
      Copies own = copies;
      own.own = builder().Add(copies.first, builder().Mul(copy, copies.size));
      own_.emplace(copies.histogram.array, own);
    }
    const auto write = [&](const Operand& slot) {
      Operands arguments = {builder().Add(start, slot)};
      for (const Var* values : kept.values) arguments.push_back(builder().Load(values, {slot}));
      VisitBody(*ir::CloneBlock(arena(), halves.second), arguments);
    };
    const auto write_done = [&](const Operand& slot) {
      if (kept.is_done == nullptr) return write(slot);
      const Operand is_done = builder().Load(kept.is_done, {slot});
      If(builder().Scalar(OpCode::kNe, {is_done, ir::Constant::Int(0, ir::DType::kI32)}),
         [&] { write(slot); });
    };
    If(builder().Scalar(OpCode::kLt, {copy, count}), [&] {
      const Operand own = CeilDiv(Max(builder().Sub(trips, copy), Int(0)), count);
      Loop(Int(0), own, {},
           [&](const Operand& k) { write_done(builder().Add(copy, builder().Mul(k, count))); });
    });
    own_.clear();
  });
}

void SharedHistograms::HandOn(const Copies& copies, const Operand& count, const Var* sums,
                              const Operand& block) {
  Threads(kBlockThreads, [&](const Operand& thread) {
    const auto sum_up = [&](const Operand& place) {
      const auto load = [&](const Operand& copy) {
        const Operand own = builder().Add(copies.first, builder().Mul(copy, copies.size));
        return builder().Load(copies.buffer, {builder().Add(own, place)});
      };
      const auto add = [&](const Operand& copy, const Operands& so_far) {
        return Operands{builder().Scalar(copies.histogram.combine, {so_far[0], load(copy)})};
      };
      const Operand total = Carry(Int(1), count, {load(Int(0))}, add)[0];
      Operands at = Delinear(place, copies.histogram.array->type.dims());
      at.insert(at.begin(), block);
      builder().Store(sums, at, total);
    };
    Loop(thread, copies.size, {}, sum_up, kBlockThreads);
  });
}

// Rows of one length have as many lanes as columns, so that most go round once.
void SharedHistograms::ChooseLanes(const ir::Block& body, const Found& found) {
  std::vector<Operand> lengths;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (IsRow(b)) lengths.push_back(b.operands.back());
  });
  lanes_ = Int(1);
  if (lengths.empty() || !ColumnsAreApart(body, found)) return;
  const Operand& length = lengths[0];
  const bool is_known = !length.IsVar() || !ir::DefinedVars(body).contains(length.var());
  const bool is_one = is_known && std::count(lengths.begin(), lengths.end(), length) ==
                                      static_cast<ptrdiff_t>(lengths.size());
  round_ = is_one ? kMostLanes : kSomeLanes;
  lanes_ = is_one ? Min(Max(length, Int(1)), Int(kMostLanes)) : Int(kSomeLanes);
}

bool SharedHistograms::VisitShared(const Binding& b) {
  if (own_.empty()) return false;
  if (b.op == OpCode::kForeach) {
    WriteRow(b);
    return true;
  }
  const auto own =
      b.operands.empty() || !b.operands[0].IsVar() ? own_.end() : own_.find(b.operands[0].var());
  if (own == own_.end()) return TakeStep(b);
  if (b.op == OpCode::kLoad) {
    TakeOld(b.result());
  } else {
    StoreStep(b, own->second);
  }
  return true;
}

// The last index goes over the threads of a copy.
void SharedHistograms::WriteRow(const Binding& foreach) {
  const Operands extents = Apply(foreach.operands);
  const bool is_row = IsRow(foreach) && lanes_ != Int(1);
  Operands index;
  const auto with = [&](const Operand& i, const std::function<void()>& write) {
    index.push_back(i);
    write();
    index.pop_back();
  };
  const std::function<void()> write = [&] {
    const size_t axis = index.size();
    if (axis == extents.size()) return void(VisitBody(*foreach.blocks[0], index));
    if (!is_row || axis + 1 < extents.size())
      return Loop(Int(0), extents[axis], {}, [&](const Operand& i) { with(i, write); });
    const auto column = [&](const Operand& round) {
      const Operand i = builder().Add(round, lane_);
      If(builder().Scalar(OpCode::kLt, {i, extents[axis]}), [&] { with(i, write); });
    };
    in_row_ = true;
    Loop(Int(0), extents[axis], {}, column, round_);
    in_row_ = false;
  };
  write();
}

// What stands in no row is the first thread's of a copy.
void SharedHistograms::StoreStep(const Binding& store, const Copies& copies) {
  const Operands index = Apply(Operands(store.operands.begin() + 1, store.operands.end() - 1));
  const Operand added = Added(store.operands.back());
  const auto add = [&] {
    const Operand place =
        builder().Add(copies.own, Linear(index, copies.histogram.array->type.dims()));
    const Operand old = builder().Load(copies.buffer, {place});
    builder().Store(copies.buffer, {place},
                    builder().Scalar(copies.histogram.combine, {old, added}));
  };
  if (in_row_ || lanes_ == Int(1)) return add();
  If(builder().Scalar(OpCode::kEq, {lane_, Int(0)}), add);
}

bool SharedHistograms::TakeStep(const Binding& b) {
  const auto is_old = [&](const Operand& o) { return olds_.contains(o.var()); };
  const auto old = std::find_if(b.operands.begin(), b.operands.end(), is_old);
  if (old == b.operands.end()) return false;
  const Operand with = Apply(b.operands[old == b.operands.begin() ? 1 : 0]);
  added_.insert_or_assign(b.result(),
                          b.op == OpCode::kSub ? builder().Scalar(OpCode::kNeg, {with}) : with);
  return true;
}

}  // namespace parakeet::passes
