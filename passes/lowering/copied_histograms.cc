#include "passes/lowering/copied_histograms.h"

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/uses.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kCyclesOfPart = 32768;
// Iterations whose first half is done before their second; what is kept of them stays in the
// first cache. Lanes gain less than that costs where no operation in it is dear.
constexpr int64_t kStretch = 512;

}  // namespace

void CopiedHistograms::WriteParts(const Binding& loop, const std::vector<Histogram>& found,
                                  const Parts& parts) {
  std::vector<Shared> all;
  for (const Histogram& h : found) {
    const bool is_held = IsOnePlace(*loop.blocks[0], h);
    const bool has_own = parts.in_copies || is_held;
    all.push_back({h, has_own ? AllocateRows(h, parts.count) : StartRows(h, parts.count), nullptr});
    if (is_held) all.back().held = Hold(h, parts.in_copies ? kCopies : 1);
  }
  const Var* part = builder().NewVar(ir::DType::kI64, "part");
  const Block* body = BlockOf({part}, [&] {
    WritePart(loop, parts, all, part);
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, {parts.count}, {{Attr::kCost, kCyclesOfPart}}, {body});
  held_.clear();
  for (const Shared& shared : all) Combine(shared.histogram, shared.sums, parts.count);
}

bool CopiedHistograms::IsOnePlace(const Block& body, const Histogram& h) {
  const Operands& dims = h.array->type.dims();
  return dims.size() == 1 && dims[0].IsInt(1) &&
         std::none_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
           return !b->blocks.empty() && ir::FreeVars(*b).contains(h.array);
         });
}

size_t CopiedHistograms::Hold(const Histogram& h, int64_t copies) {
  held_.insert(held_.end(), copies, Operand(*h.Start()));
  return held_.size() - copies;
}

void CopiedHistograms::HoldingLoop(const Operand& lo, const Operand& hi,
                                   const std::function<void(const Operand& index)>& body,
                                   int64_t step) {
  const auto carrying = [&](const Operand& index, const Operands& carried) {
    held_ = carried;
    body(index);
    return held_;
  };
  held_ = Carry(lo, hi, Operands(held_), carrying, step);
}

void CopiedHistograms::Combine(const Histogram& h, const Var* rows, const Operand& count) {
  if (combines_in_order_) AddRows(h, rows, Int(0), rows, count);
  EachPlace(h, [&](const Operands& place) {
    const Operand total = combines_in_order_ ? builder().Load(rows, PlaceIn(Int(0), place))
                                             : SumOfRows(h, rows, count, place);
    const Operand old = builder().Load(h.array, place);
    builder().Store(h.array, place, builder().Scalar(h.combine, {old, total}));
  });
}

const Var* CopiedHistograms::AllocateRows(const Histogram& h, const Operand& rows) {
  return builder().EmitOne(OpCode::kAlloc, RowsType(h, rows), RowsType(h, rows).dims(), {}, {},
                           "sums");
}

const Var* CopiedHistograms::StartRows(const Histogram& h, const Operand& rows) {
  const ir::Type type = RowsType(h, rows);
  std::vector<const Var*> index;
  for (int k = 0; k < type.rank(); ++k) index.push_back(builder().NewVar(ir::DType::kI64, "i"));
  const Block* start = BlockOf(index, [&] { return Operands{Operand(*h.Start())}; });
  return builder().EmitOne(OpCode::kImap, type, type.dims(), {}, {start}, "copies");
}

ir::Type CopiedHistograms::RowsType(const Histogram& h, const Operand& rows) {
  Operands extents = {rows};
  for (const Operand& dim : h.array->type.dims()) extents.push_back(dim);
  return ir::Type::Array(h.array->type.dtype(), extents);
}

void CopiedHistograms::WritePart(const Binding& loop, const Parts& parts, std::vector<Shared>& all,
                                 const Operand& part) {
  const Operand lo = builder().Add(loop.operands[0], builder().Mul(part, parts.length));
  const Operand hi = Min(builder().Add(lo, parts.length), loop.operands[1]);
  for (Shared& shared : all) {
    const bool has_rows = parts.in_copies && !shared.held;
    shared.copies = has_rows ? StartRows(shared.histogram, parts.copies) : shared.sums;
  }
  if (parts.in_copies) WriteTrips(loop, parts, all, lo, hi);
  else HoldingLoop(lo, hi, [&](const Operand& i) { WriteTrip(loop, all, {part, 0}, i); });
  for (const Shared& shared : all) {
    if (shared.held) HandOnHeld(shared, part, parts.in_copies ? kCopies : 1);
    else if (parts.in_copies) HandOn(shared, part, parts.copies);
  }
}

void CopiedHistograms::HandOnHeld(const Shared& shared, const Operand& part, int64_t copies) {
  Operand total = held_[*shared.held];
  for (int64_t k = 1; k < copies; ++k)
    total = builder().Scalar(shared.histogram.combine, {total, held_[*shared.held + k]});
  builder().Store(shared.sums, {part, Int(0)}, total);
}

void CopiedHistograms::HandOn(const Shared& shared, const Operand& part, const Operand& copies) {
  EachPlace(shared.histogram, [&](const Operands& place) {
    builder().Store(shared.sums, PlaceIn(part, place),
                    builder().Load(shared.copies, PlaceIn(Int(0), place)));
  });
  AddRows(shared.histogram, shared.sums, part, shared.copies, copies);
}

void CopiedHistograms::AddRows(const Histogram& h, const Var* into, const Operand& at,
                               const Var* rows, const Operand& count) {
  Loop(Int(1), count, {}, [&](const Operand& row) {
    EachPlace(h, [&](const Operands& place) {
      const Operand sum = builder().Load(into, PlaceIn(at, place));
      const Operand more = builder().Load(rows, PlaceIn(row, place));
      builder().Store(into, PlaceIn(at, place), builder().Scalar(h.combine, {sum, more}));
    });
  });
}

CopiedHistograms::Operands CopiedHistograms::PlaceIn(const Operand& row, Operands place) {
  place.insert(place.begin(), row);
  return place;
}

void CopiedHistograms::WriteTrips(const Binding& loop, const Parts& parts,
                                  const std::vector<Shared>& all, const Operand& lo,
                                  const Operand& hi) {
  const Operand last = builder().Sub(parts.copies, Int(1));
  const auto row_of = [&](const Operand& i) { return builder().Scalar(OpCode::kAnd, {i, last}); };
  std::vector<Copy> rows;
  for (size_t k = 0; k < kCopies; ++k) rows.push_back({row_of(builder().Add(lo, Int(k))), k});
  if (parts.in_halves) return WriteStretches(loop, all, rows, lo, hi, row_of);
  const Operand trips = Max(builder().Sub(hi, lo), Int(0));
  const Operand rest = builder().Remainder(trips, Int(kCopies));
  const Operand whole = builder().Add(lo, builder().Sub(trips, rest));
  const auto several = [&](const Operand& i) {
    for (int k = 0; k < kCopies; ++k) WriteTrip(loop, all, rows[k], builder().Add(i, Int(k)));
  };
  HoldingLoop(lo, whole, several, kCopies);
  // So that one sees how few they are.
  const Operand end = builder().Add(whole, rest);
  HoldingLoop(whole, end, [&](const Operand& i) { WriteTrip(loop, all, {row_of(i), 0}, i); });
}

// The first half stands once, for stretches of any length: it is long in lanes.
void CopiedHistograms::WriteStretches(const Binding& loop, const std::vector<Shared>& all,
                                      const std::vector<Copy>& rows, const Operand& lo,
                                      const Operand& hi,
                                      const std::function<Operand(const Operand& trip)>& row_of) {
  std::vector<Histogram> found;
  for (const Shared& shared : all) found.push_back(shared.histogram);
  const Halves halves = Split(*loop.blocks[0], found);
  const std::vector<const Var*> kept = AllocateKept(halves, kStretch);
  const auto stretch = [&](const Operand& start) {
    const Operand trips = Min(builder().Sub(hi, start), Int(kStretch));
    WriteFirst(halves, kept, start, trips);
    const auto several = [&](const Operand& j) {
      for (int k = 0; k < kCopies; ++k)
        WriteSecond(halves, kept, all, rows[k], start, builder().Add(j, Int(k)));
    };
    const Operand rest = builder().Remainder(trips, Int(kCopies));
    const Operand whole = builder().Sub(trips, rest);
    HoldingLoop(Int(0), whole, several, kCopies);
    HoldingLoop(whole, trips, [&](const Operand& j) {
      WriteSecond(halves, kept, all, {row_of(builder().Add(start, j)), 0}, start, j);
    });
  };
  HoldingLoop(lo, hi, stretch, kStretch);
}

void CopiedHistograms::WriteFirst(const Halves& halves, const std::vector<const Var*>& kept,
                                  const Operand& start, const Operand& trips) {
  const Var* j = builder().NewVar(ir::DType::kI64, "j");
  const Block* body = BlockOf({j}, [&] {
    const Operands values =
        VisitBody(*ir::CloneBlock(arena(), halves.first), {builder().Add(start, j)});
    for (size_t k = 0; k < values.size(); ++k) builder().Store(kept[k], {j}, values[k]);
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, {trips}, {}, {body});
}

void CopiedHistograms::WriteSecond(const Halves& halves, const std::vector<const Var*>& kept,
                                   const std::vector<Shared>& all, const Copy& copy,
                                   const Operand& start, const Operand& j) {
  Operands arguments = {builder().Add(start, j)};
  for (const Var* values : kept) arguments.push_back(builder().Load(values, {j}));
  WriteInRow(halves.second, all, copy, arguments);
}

void CopiedHistograms::WriteTrip(const Binding& loop, const std::vector<Shared>& all,
                                 const Copy& copy, const Operand& i) {
  WriteInRow(*loop.blocks[0], all, copy, {i});
}

void CopiedHistograms::WriteInRow(const Block& body, const std::vector<Shared>& all,
                                  const Copy& copy, const Operands& arguments) {
  for (const Shared& shared : all) {
    Row& row = rows_[shared.histogram.array];
    row = {shared.copies, copy.row, shared.histogram.combine};
    if (shared.held) row.held = *shared.held + copy.held;
  }
  VisitBody(*ir::CloneBlock(arena(), body), arguments);
  rows_.clear();
}

void CopiedHistograms::TouchCopy(const Binding& b, const Row& row) {
  if (row.held) return TouchHeld(b, *row.held);
  Operands index = Apply(b.operands);
  index[0] = *row.row;
  if (b.op == OpCode::kLoad)
    return Replace(b.result(), builder().Load(row.copies, index, b.result()->hint));
  const Operand value = index.back();
  index.pop_back();
  builder().Store(row.copies, index, value);
}

void CopiedHistograms::TouchHeld(const Binding& b, size_t held) {
  if (b.op == OpCode::kLoad) return Replace(b.result(), held_[held]);
  held_[held] = Apply(b.operands.back());
}

Operand CopiedHistograms::SumOfRows(const Histogram& h, const Var* rows, const Operand& count,
                                    const Operands& place) {
  const ir::DType dtype = h.array->type.dtype();
  const Var* row = builder().NewVar(ir::DType::kI64, "row");
  const Block* element = BlockOf({row}, [&] {
    Operands at = {row};
    at.insert(at.end(), place.begin(), place.end());
    return Operands{builder().Load(rows, at)};
  });
  return builder().EmitOne(OpCode::kIreduce, dtype, {count}, {},
                           {element, ir::CombineBlock(arena(), h.combine, dtype)}, "total");
}

void CopiedHistograms::EachPlace(const Histogram& h,
                                 const std::function<void(const Operands& place)>& write) {
  std::vector<const Var*> place;
  for (int k = 0; k < h.array->type.rank(); ++k)
    place.push_back(builder().NewVar(ir::DType::kI64, "i"));
  const Block* body = BlockOf(place, [&] {
    write(Operands(place.begin(), place.end()));
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, h.array->type.dims(), {}, {body});
}

}  // namespace parakeet::passes
