#include "passes/lowering/lower_reductions.h"

#include <algorithm>
#include <bit>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/reduction_tree.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/integer_intervals.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

// What a thread of a GPU loads before it combines, so that the loads are under way together.
constexpr int64_t kElementsTogether = 8;
constexpr int64_t kDearElementsTogether = 4;
constexpr int kDearToFold = 64;
constexpr int64_t kPartsTogether = 4;
constexpr int64_t kWarpThreads = 32;
// Elements that are summed in fewer bits at a time: so many that what is done behind them costs
// nothing, and as many as there may be.
constexpr int64_t kLeastNarrowSum = 4096;
constexpr int64_t kLongestNarrowSum = int64_t{1} << 24;
constexpr int64_t kNarrowLanes = 64;
// Extremes of rows that pass by: a step waits for the one before for as many. Processors with such
// registers have as many as all of them and what lanes are made of take.
constexpr int kSideBySide = 4;
constexpr int kCheapSideBySide = 8;
constexpr int kRoomyRegister = 64;
// So few lanes gain nothing as a vector, which is put together of what lies apart.
constexpr int64_t kMostScalars = 4;

Attributes Parallel(int64_t cost) {
  return {{Attr::kKind, std::string("parallel")}, {Attr::kCost, std::max<int64_t>(1, cost)}};
}

}  // namespace

ReductionLowering::Reduction ReductionLowering::Describe(const Binding& b) {
  const size_t indices = b.blocks[0]->params.size();
  const Operands operands = Apply(b.operands);
  Reduction r{b,
              {operands.begin(), operands.begin() + indices},
              {operands.begin() + indices, operands.end()},
              {},
              // What one thread of a GPU makes alone, it makes in order.
              for_kernels_ && b.attrs.Int(Attr::kBlock) == 0 ? 1 : b.attrs.Int(Attr::kLanes, 1),
              false};
  bool has_complex = false;
  for (const Operand& result : b.blocks[1]->results) {
    const ir::Type type = ir::TypeOf(result);
    r.has_arrays |= type.IsArray();
    // 1 * x is not x for every complex x.
    has_complex |= type.IsScalar() && ir::IsComplex(type.dtype());
  }
  const std::vector<ir::Constant> identities = ir::TraitsOf(*b.blocks[1]).identities;
  if (!has_complex) r.starts.assign(identities.begin(), identities.end());
  return r;
}

Operands ReductionLowering::Element(const Reduction& r, const Operands& index) {
  return VisitBody(*ir::CloneBlock(arena(), *r.binding.blocks[0]), index);
}

Operands ReductionLowering::Combine(const Reduction& r, const Operands& left,
                                    const Operands& right) {
  return CombineWith(*r.binding.blocks[1], left, right);
}

Operands ReductionLowering::FoldRun(const Reduction& r, const Operands& row, const Operand& lo,
                                    const Operand& hi) {
  const auto at = [&](const Operand& i) {
    Operands index = row;
    index.push_back(i);
    return index;
  };
  const auto in_order = [&] {
    const bool peel = r.starts.empty();
    const Operands start = peel ? Element(r, at(lo)) : r.starts;
    return Carry(peel ? builder().Add(lo, Int(1)) : lo, hi, start,
                 [&](const Operand& i, const Operands& so_far) {
                   return r.lanes == 1 ? Combine(r, so_far, Element(r, at(i)))
                                       : CombineApart(r, so_far, Element(r, at(i)));
                 });
  };
  const auto in_lanes = [&] {
    const ElementAt element = [&](const Operand& i) { return Element(r, at(i)); };
    const std::optional<Narrow> narrow = NarrowSum(r);
    return narrow ? RunNarrow(r, *narrow, element, lo, hi) : RunLanes(r, element, lo, hi);
  };
  if (r.lanes == 1) return in_order();
  if (r.lanes <= kMostScalars && r.starts.size() == 1 && IsScalarCode(r))
    return RunScalars(r, [&](const Operand& i) { return Element(r, at(i)); }, lo, hi);
  const int64_t least = r.binding.attrs.Int(Attr::kShort);
  if (least == 0) return in_lanes();
  const Operand is_short =
      builder().Scalar(OpCode::kLt, {builder().Sub(hi, lo), Int(least)}, "short");
  return Choose(is_short, in_order, in_lanes);
}

// What waits for the step before adds a product that did not.
Operands ReductionLowering::CombineApart(const Reduction& r, const Operands& left,
                                         const Operands& right) {
  Operands arguments = left;
  arguments.insert(arguments.end(), right.begin(), right.end());
  return VisitBody(*ir::CloneBlock(arena(), *r.binding.blocks[1]), arguments);
}

// A few lanes of one value are scalars side by side, and those of the last elements are folded as
// far as there are any.
Operands ReductionLowering::RunScalars(const Reduction& r, const ElementAt& element,
                                       const Operand& lo, const Operand& hi) {
  const auto fold = [&](const Operand& sum, const Operand& i) {
    return Combine(r, {sum}, element(i))[0];
  };
  const Operand rest = builder().Remainder(Max(builder().Sub(hi, lo), Int(0)), Int(r.lanes));
  const Operand whole = builder().Sub(hi, rest);
  const Operands folded = Carry(
      lo, whole, Operands(r.lanes, r.starts[0]),
      [&](const Operand& i, Operands so_far) {
        for (int64_t k = 0; k < r.lanes; ++k) so_far[k] = fold(so_far[k], builder().Add(i, Int(k)));
        return so_far;
      },
      r.lanes);
  std::vector<Operands> sums;
  for (const Operand& sum : folded) sums.push_back({sum});
  for (int64_t k = 0; k + 1 < r.lanes; ++k) {
    const auto one_more = [&] { return Operands{fold(folded[k], builder().Add(whole, Int(k)))}; };
    const Operand is_there = builder().Scalar(OpCode::kLt, {Int(k), rest});
    sums[k] = Choose(is_there, one_more, [&] { return sums[k]; });
  }
  return CombineHalves(r, std::move(sums));
}

Operands ReductionLowering::RunLanes(const Reduction& r, const ElementAt& element,
                                     const Operand& lo, const Operand& hi) {
  Operands operands = {lo, hi};
  const Operands starts = r.starts.empty() ? element(lo) : r.starts;
  operands.insert(operands.end(), starts.begin(), starts.end());
  const Var* index = builder().NewVar(ir::DType::kI64, "i");
  const Block* body = BlockOf({index}, [&] { return element(index); });
  std::vector<const Var*> results;
  for (const Operand& start : starts)
    results.push_back(builder().NewVar(ir::TypeOf(start), "lane"));
  Attributes attrs{{Attr::kLanes, r.lanes}};
  if (const int64_t block = r.binding.attrs.Int(Attr::kBlock))
    attrs = attrs.With(Attr::kBlock, block);
  builder().Emit(OpCode::kLanes, results, std::move(operands), attrs,
                 {body, ir::CloneBlock(arena(), *r.binding.blocks[1])});
  return Operands(results.begin(), results.end());
}

std::optional<ReductionLowering::Narrow> ReductionLowering::NarrowSum(const Reduction& r) const {
  const Block& element = *r.binding.blocks[0];
  if (for_kernels_ || r.binding.results.size() != 1) return std::nullopt;
  const ir::Type type = r.binding.result()->type;
  if (!type.IsScalar() || !ir::IsInteger(type.dtype())) return std::nullopt;
  if (ir::CombineOp(*r.binding.blocks[1]) != OpCode::kAdd) return std::nullopt;
  const std::optional<IntegerInterval> interval = IntervalIn(element, element.results[0]);
  if (!interval) return std::nullopt;
  // Lanes as wide as what is read, so that no vector is taken apart.
  int widest = 0;
  ir::ForEachBinding(element, [&](const Binding& b) {
    if (b.op == OpCode::kLoad) widest = std::max(widest, ir::SizeInBytes(b.result()->type.dtype()));
  });
  const int64_t block = r.binding.attrs.Int(Attr::kBlock);
  for (const ir::DType dtype :
       {ir::DType::kU16, ir::DType::kI16, ir::DType::kU32, ir::DType::kI32}) {
    const int bytes = ir::SizeInBytes(dtype);
    if (bytes < widest || bytes >= ir::SizeInBytes(type.dtype())) continue;
    IntegerInterval one = *interval;
    one.Include({0, 0});
    if (!one.Fits(dtype)) continue;
    const IntegerInterval all = IntervalOf(dtype);
    const int64_t most = std::min(one.hi > 0 ? all.hi / one.hi : kLongestNarrowSum,
                                  one.lo < 0 ? all.lo / one.lo : kLongestNarrowSum);
    if (most < (block > 0 ? std::min(block, kLeastNarrowSum) : kLeastNarrowSum)) continue;
    return Narrow{dtype, std::min(most, kLongestNarrowSum), std::max(r.lanes, kNarrowLanes)};
  }
  return std::nullopt;
}

Operands ReductionLowering::RunNarrow(const Reduction& r, const Narrow& narrow,
                                      const ElementAt& element, const Operand& lo,
                                      const Operand& hi) {
  const ir::DType wide = r.binding.result()->type.dtype();
  const auto sum = [&](const Operand& from, const Operand& to) {
    const Var* index = builder().NewVar(ir::DType::kI64, "i");
    const Block* body =
        BlockOf({index}, [&] { return Operands{builder().Cast(element(index)[0], narrow.dtype)}; });
    const Var* part = builder().NewVar(narrow.dtype, "lane");
    builder().Emit(OpCode::kLanes, {part}, {from, to, ir::ZeroOf(narrow.dtype)},
                   Attributes{{Attr::kLanes, narrow.lanes}},
                   {body, ir::CombineBlock(arena(), OpCode::kAdd, narrow.dtype)});
    return builder().Cast(part, wide);
  };
  const int64_t block = r.binding.attrs.Int(Attr::kBlock);
  if (block > 0 && block <= narrow.most) return {sum(lo, hi)};
  return Carry(
      lo, hi, {ir::ZeroOf(wide)},
      [&](const Operand& from, const Operands& so_far) {
        const Operand to = Min(builder().Add(from, Int(narrow.most)), hi);
        return Operands{builder().Add(so_far[0], sum(from, to))};
      },
      narrow.most);
}

Operands ReductionLowering::FoldRows(const Reduction& r, const Operand& first, const Operand& last,
                                     const Operand& lo, const Operand& hi) {
  const Operands outer(r.extents.begin(), r.extents.end() - 1);
  if (outer.empty()) return FoldRun(r, {}, lo, hi);
  const auto run = [&](const Operand& row) { return FoldRun(r, Delinear(row, outer), lo, hi); };
  const bool peel = r.starts.empty();
  const Operands start = peel ? run(first) : r.starts;
  return Carry(
      peel ? builder().Add(first, Int(1)) : first, last, start,
      [&](const Operand& row, const Operands& so_far) { return Combine(r, so_far, run(row)); });
}

// A left fold of all elements from `so_far`, a loop an axis. `peeled` leaves out the very first
// one.
Operands ReductionLowering::FoldInOrder(const Reduction& r, const Operands& outer,
                                        const Operands& so_far, bool peeled) {
  const size_t axis = outer.size();
  Operand first = Int(0);
  if (peeled && axis + 1 == r.extents.size()) {
    Operand at_start = Operand::Bool(true);
    for (const Operand& index : outer) {
      at_start = builder().Scalar(OpCode::kAnd,
                                  {at_start, builder().Scalar(OpCode::kEq, {index, Int(0)})});
    }
    first = builder().Cast(at_start, ir::DType::kI64);
  }
  return Carry(first, r.extents[axis], so_far, [&](const Operand& i, const Operands& carried) {
    Operands index = outer;
    index.push_back(i);
    if (index.size() < r.extents.size()) return FoldInOrder(r, index, carried, peeled);
    return Combine(r, carried, Element(r, index));
  });
}

// A copy of an array that may be another's: a reduction's results are its own.
Operand ReductionLowering::Owned(const Operand& value) {
  const ir::Type type = ir::TypeOf(value);
  if (!type.IsArray()) return value;
  const Var* copy = builder().NewVar(type, "total");
  builder().Emit(OpCode::kAlloc, {copy}, type.dims());
  StoreElement(copy, {}, value);
  return copy;
}

void ReductionLowering::StoreElement(const Operand& array, const Operands& index,
                                     const Operand& value) {
  if (!ir::TypeOf(value).IsArray()) return builder().Store(array, index, value);
  CopySlice(array, index, value, {});
}

void ReductionLowering::CopySlice(const Operand& array, const Operands& index, const Operand& value,
                                  const Operands& inner) {
  const std::vector<Operand> dims = ir::TypeOf(value).dims();
  if (inner.size() == dims.size())
    return builder().Store(array, index, builder().Load(value, inner));
  Attributes kind;
  if (inner.size() + 1 == dims.size() && !in_lanes_) kind = {{Attr::kKind, std::string("vector")}};
  Loop(Int(0), dims[inner.size()], kind, [&](const Operand& i) {
    Operands deeper = inner;
    deeper.push_back(i);
    Operands place = index;
    place.push_back(i);
    CopySlice(array, place, value, deeper);
  });
}

std::vector<const Var*> ReductionLowering::AllocateParts(const Binding& b, const Operand& count) {
  std::vector<const Var*> parts;
  for (const Operand& result : b.blocks[1]->results) {
    parts.push_back(builder().NewVar(ir::Type::Array(ir::DTypeOf(result), {count}), "parts"));
    builder().Emit(OpCode::kAlloc, {parts.back()}, {count});
  }
  return parts;
}

Operands ReductionLowering::LoadAll(const std::vector<const Var*>& arrays, const Operands& index) {
  Operands values;
  for (const Var* array : arrays) values.push_back(builder().Load(array, index));
  return values;
}

void ReductionLowering::StoreAll(const std::vector<const Var*>& arrays, const Operands& index,
                                 const Operands& values) {
  for (size_t k = 0; k < arrays.size(); ++k) StoreElement(arrays[k], index, values[k]);
}

// True where an element is scalar code, of which there may be several copies.
bool ReductionLowering::IsScalarCode(const Reduction& r, bool may_check) {
  bool is_scalar = true;
  ir::ForEachBinding(*r.binding.blocks[0], [&](const Binding& b) {
    is_scalar &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIf ||
                 (may_check && b.op == OpCode::kCheck);
  });
  return is_scalar;
}

// In a loop most are short, and are made over and over: what is one block takes no array of parts.
Operands ReductionLowering::FoldBlocks(const Reduction& r, bool parallel) {
  const bool is_row = r.extents.size() == 1 && !r.binding.attrs.Has(Attr::kMostBlock);
  if (repeats_ == 0 || for_kernels_ || !is_row || !IsScalarCode(r, true))
    return FoldInParts(r, parallel);
  const Operand& size = r.extents[0];
  return Choose(
      builder().Scalar(OpCode::kLe, {size, Int(r.binding.attrs.Int(Attr::kBlock))}),
      [&] { return FoldRows(r, Int(0), Int(1), Int(0), size); },
      [&] { return FoldInParts(r, parallel); }, Attributes{{Attr::kLikely, int64_t{1}}});
}

Operands ReductionLowering::FoldInParts(const Reduction& r, bool parallel) {
  const Operand block = GrownBlock(r);
  const Operand inner = r.extents.back();
  const Operand rows = Product({r.extents.begin(), r.extents.end() - 1});
  const bool one_row = r.extents.size() == 1;
  const Operand is_long =
      one_row ? Operand::Bool(true) : builder().Scalar(OpCode::kGt, {inner, block});
  const Operand columns =
      builder().Scalar(OpCode::kSelect, {is_long, CeilDiv(inner, block), Int(1)});
  const Operand at_least_one = builder().Scalar(OpCode::kMax, {inner, Int(1)});
  const Operand fitting =
      builder().Scalar(OpCode::kMax, {builder().Quotient(block, at_least_one), Int(1)});
  const Operand height = builder().Scalar(OpCode::kSelect, {is_long, Int(1), fitting});
  const Operand count = builder().Mul(CeilDiv(rows, height), columns);
  const int64_t cost = CostOf(*r.binding.blocks[0]) * r.binding.attrs.Int(Attr::kBlock) /
                       std::max<int64_t>(1, std::min<int64_t>(r.lanes, 8));
  const auto fold = [&](const Operand& part) {
    const Operand row_block = one_row ? Int(0) : builder().Quotient(part, columns);
    const Operand column = one_row ? part : builder().Remainder(part, columns);
    const Operand first = builder().Mul(row_block, height);
    const Operand last = Min(builder().Add(first, height), rows);
    const Operand lo = builder().Mul(column, block);
    const Operand end = Min(builder().Add(lo, block), inner);
    const Operand hi = builder().Scalar(OpCode::kSelect, {is_long, end, inner});
    return FoldRows(r, first, last, lo, hi);
  };
  const Attributes kind = parallel ? Parallel(cost) : Attributes{};
  if (const std::optional<bool> deciding = Deciding(r))
    return FoldUntil(r, *deciding, count, kind, fold);
  const std::vector<const Var*> parts = AllocateParts(r.binding, count);
  Loop(Int(0), count, kind, [&](const Operand& part) { StoreAll(parts, part, fold(part)); });
  const auto part = [&](const Operand& i) { return LoadAll(parts, i); };
  if (r.binding.attrs.Has(Attr::kMostBlock)) return RunLanes(r, part, Int(0), count);
  CombineParts(r, parts, count);
  return part(Int(0));
}

std::optional<bool> ReductionLowering::Deciding(const Reduction& r) const {
  if (for_kernels_ || r.binding.results.size() != 1 || r.starts.empty() || !IsScalarCode(r))
    return std::nullopt;
  const ir::Type type = r.binding.result()->type;
  if (!type.IsScalar() || !ir::IsBool(type.dtype())) return std::nullopt;
  const std::optional<OpCode> op = ir::CombineOp(*r.binding.blocks[1]);
  if (op == OpCode::kOr || op == OpCode::kAdd || op == OpCode::kMax) return true;
  if (op == OpCode::kAnd || op == OpCode::kMul || op == OpCode::kMin) return false;
  return std::nullopt;
}

// The first part is made alone: no thread is woken where it decides.
Operands ReductionLowering::FoldUntil(const Reduction& r, bool deciding, const Operand& count,
                                      const Attributes& kind, const ElementAt& fold) {
  const Var* total = builder().NewVar(ir::Type::Array(ir::DType::kBool, {}), "decided");
  builder().Emit(OpCode::kAlloc, {total}, {});
  builder().Store(total, {}, Operand::Bool(false));
  const auto is_open = [&] {
    return builder().Scalar(OpCode::kNot, {builder().Load(total, {})}, "open");
  };
  Loop(Int(0), Int(2), {}, [&](const Operand& turn) {
    const Operand is_first = builder().Scalar(OpCode::kEq, {turn, Int(0)});
    const Operand end = builder().Scalar(OpCode::kSelect, {is_first, Min(count, Int(1)), count});
    const Operand hi = builder().Scalar(OpCode::kSelect, {is_open(), end, turn});
    Loop(turn, hi, kind, [&](const Operand& part) {
      If(is_open(), [&] {
        const Operand made = fold(part)[0];
        const Operand decides = builder().Scalar(OpCode::kEq, {made, Operand::Bool(deciding)});
        If(decides, [&] { builder().Store(total, {}, Operand::Bool(true)); });
      });
    });
  });
  const Operand decided = builder().Load(total, {});
  return {deciding ? decided : builder().Scalar(OpCode::kNot, {decided})};
}

void ReductionLowering::CombineParts(const Reduction& r, const std::vector<const Var*>& parts,
                                     const Operand& count) {
  const Var* step = builder().NewVar(ir::DType::kI64, "step");
  const Block* condition =
      BlockOf({step}, [&] { return Operands{builder().Scalar(OpCode::kLt, {step, count})}; });
  const Var* inner = builder().NewVar(ir::DType::kI64, "step");
  const Block* body = BlockOf({inner}, [&] {
    const Operand twice = builder().Mul(inner, Int(2));
    const Attributes kind = for_kernels_ ? Parallel(1) : Attributes{};
    Loop(Int(0), CeilDiv(builder().Sub(count, inner), twice), kind, [&](const Operand& pair) {
      const Operand left = builder().Mul(pair, twice);
      const Operand right = builder().Add(left, inner);
      StoreAll(parts, left, Combine(r, LoadAll(parts, left), LoadAll(parts, right)));
    });
    return Operands{twice};
  });
  builder().Emit(OpCode::kWhile, {builder().NewVar(ir::DType::kI64)}, {Int(1)}, {},
                 {condition, body});
}

// How many elements a block of the tree has, as ir::GrownBlock says.
Operand ReductionLowering::GrownBlock(const Reduction& r) {
  const int64_t least = r.binding.attrs.Int(Attr::kBlock);
  Operand block = Int(least);
  if (!r.binding.attrs.Has(Attr::kMostBlock)) return block;
  for (int64_t size = least; size < r.binding.attrs.Int(Attr::kMostBlock); size *= 2) {
    const Operand is_many =
        builder().Scalar(OpCode::kGt, {r.extents[0], Int(size * ir::kManyBlocks)});
    block = builder().Scalar(OpCode::kSelect, {is_many, Int(2 * size), block});
  }
  const Operand fewest = CeilDiv(CeilDiv(r.extents[0], Int(ir::kMostBlocks)), Int(least));
  return Max(block, builder().Mul(fewest, Int(least)));
}

Operands ReductionLowering::FoldOnDevice(const Reduction& r) {
  const Operand size = r.extents[0];
  const int64_t least = r.binding.attrs.Int(Attr::kBlock);
  // One kernel makes the part and the whole.
  const bool is_one = !r.starts.empty() && IsAtMost(r.binding.operands[0], least);
  const Operand block = is_one ? Int(least) : GrownBlock(r);
  const Operand count = is_one ? Int(1) : CeilDiv(size, block);
  const PartArrays parts = AllocateParts(r.binding, count);
  Blocks(count, [&](const Operand& part) {
    const PartArrays lanes = FoldLanes(r, [&](const Operand& lane) {
      const Operand lo = builder().Mul(part, block);
      const Operands start = r.starts.empty() ? Element(r, {lo}) : r.starts;
      const Operand hi = Min(builder().Add(lo, block), size);
      return FoldElements(r, builder().Add(lo, lane), hi, start);
    });
    Threads(1, [&](const Operand&) { StoreAll(parts, part, LoadAll(lanes, Int(0))); });
  });
  const PartArrays totals = AllocateTotals(parts);
  // Also where there is no part but an init.
  Blocks(Int(1), [&](const Operand&) {
    const PartArrays lanes =
        FoldLanes(r, [&](const Operand& lane) { return FoldParts(r, parts, lane, count); });
    Threads(1, [&](const Operand&) { StoreTotal(r, lanes, count, totals); });
  });
  Operands loaded;
  for (const Var* total : totals) loaded.push_back(builder().Load(total, {}));
  return loaded;
}

ReductionLowering::PartArrays ReductionLowering::AllocateTotals(const PartArrays& parts) {
  PartArrays totals;
  for (const Var* part : parts) {
    totals.push_back(builder().NewVar(ir::Type::Array(part->type.dtype(), {}), "total"));
    builder().Emit(OpCode::kAlloc, {totals.back()}, {});
  }
  return totals;
}

// In memory that a block's threads share, of which the first element is the whole.
ReductionLowering::PartArrays ReductionLowering::FoldLanes(const Reduction& r,
                                                           const ElementAt& fold) {
  const PartArrays lanes = AllocateParts(r.binding, Int(r.lanes));
  Threads(r.lanes, [&](const Operand& lane) { StoreAll(lanes, lane, fold(lane)); });
  CombineLanes(r, lanes);
  return lanes;
}

// Every so many elements from `first` on, in order. Of scalar code some are made at a time, so that
// what they load is under way together.
Operands ReductionLowering::FoldElements(const Reduction& r, const Operand& first,
                                         const Operand& hi, const Operands& start) {
  const auto fold = [&](int64_t together) {
    return [&, together](const Operand& i, const Operands& so_far) {
      std::vector<Operands> elements;
      for (int64_t k = 0; k < together; ++k)
        elements.push_back(Element(r, {builder().Add(i, Int(k * r.lanes))}));
      Operands total = so_far;
      for (const Operands& each : elements) total = Combine(r, total, each);
      return total;
    };
  };
  if (!IsScalarCode(r)) return Carry(first, hi, start, fold(1), r.lanes);
  const bool is_dear = CostOf(*r.binding.blocks[0]) > kDearToFold;
  const int64_t together = is_dear ? kDearElementsTogether : kElementsTogether;
  const int64_t step = together * r.lanes;
  const Operand end = builder().Sub(hi, Int(step - r.lanes));
  const Operands most = Carry(first, end, start, fold(together), step);
  const Operand steps = CeilDiv(Max(builder().Sub(end, first), Int(0)), Int(step));
  const Operand rest = builder().Add(first, builder().Mul(steps, Int(step)));
  return Carry(rest, hi, most, fold(1), r.lanes);
}

// Every so many parts from `first` on, in order. They are few: what is loaded together may be
// behind the last one, in the place of which that is loaded, for nothing.
Operands ReductionLowering::FoldParts(const Reduction& r, const PartArrays& parts,
                                      const Operand& first, const Operand& count) {
  const auto load = [&](const Operand& part) { return LoadAll(parts, part); };
  Operands start = r.starts;
  if (start.empty() && r.inits.empty()) start = load(Int(0));
  if (start.empty()) {
    const Operand some = builder().Scalar(OpCode::kGt, {count, Int(0)});
    start = Choose(some, [&] { return load(Int(0)); }, [&] { return r.inits; });
  }
  const auto fold = [&](const Operand& i, const Operands& so_far) {
    std::vector<Operand> numbers;
    std::vector<Operands> values;
    for (int64_t k = 0; k < kPartsTogether; ++k) {
      numbers.push_back(builder().Add(i, Int(k * r.lanes)));
      values.push_back(load(Min(numbers.back(), builder().Sub(count, Int(1)))));
    }
    Operands total = Combine(r, so_far, values[0]);
    for (size_t k = 1; k < values.size(); ++k) {
      const Operand is_there = builder().Scalar(OpCode::kLt, {numbers[k], count});
      total = Choose(is_there, [&] { return Combine(r, total, values[k]); }, [&] { return total; });
    }
    return total;
  };
  return Carry(first, count, start, fold, kPartsTogether * r.lanes);
}

Operands ReductionLowering::CombineHalves(const Reduction& r, std::vector<Operands> sums) {
  for (size_t half = sums.size() / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) sums[k] = Combine(r, sums[k], sums[k + half]);
  return sums[0];
}

// A level of the tree has half the pairs of the one before. Written once for the levels of more
// pairs than a warp has threads, and once for those of one warp.
void ReductionLowering::CombineLanes(const Reduction& r, const std::vector<const Var*>& lanes) {
  const auto combine = [&](const Operand& lane, const Operand& half) {
    const Operand other = builder().Add(lane, half);
    StoreAll(lanes, lane, Combine(r, LoadAll(lanes, lane), LoadAll(lanes, other)));
  };
  // Levels of `most` pairs at first, and of more than `least`.
  const auto levels = [&](int64_t most, int64_t least, bool is_warp) {
    const int64_t count = std::bit_width(uint64_t(most)) - std::bit_width(uint64_t(least));
    if (count <= 0) return;
    Loop(Int(0), Int(count), {}, [&](const Operand& level) {
      const Operand half = builder().Scalar(OpCode::kShr, {Int(most), level});
      const auto pair = [&](const Operand& lane) {
        If(builder().Scalar(OpCode::kLt, {lane, half}), [&] { combine(lane, half); });
      };
      is_warp ? WarpThreads(most, pair) : Threads(most, pair);
    });
  };
  const int64_t most = r.lanes / 2;
  levels(most, std::min(most, kWarpThreads), false);
  levels(std::min(most, kWarpThreads), 1, true);
  if (most > 0) Threads(1, [&](const Operand& lane) { combine(lane, Int(1)); });
}

void ReductionLowering::StoreTotal(const Reduction& r, const PartArrays& combined,
                                   const Operand& count, const PartArrays& totals) {
  const Operand some =
      r.inits.empty() ? Operand::Bool(true) : builder().Scalar(OpCode::kGt, {count, Int(0)});
  const Operands total = Choose(
      some, [&] { return AfterInits(r, LoadAll(combined, Int(0))); }, [&] { return r.inits; });
  for (size_t k = 0; k < totals.size(); ++k) builder().Store(totals[k], {}, total[k]);
}

void ReductionLowering::LowerReduce(const Binding& b) {
  const Operands result = Reduced(b);
  for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], Owned(result[k]));
}

Operands ReductionLowering::Reduced(const Binding& b) {
  const Reduction r = Describe(b);
  const int64_t block = b.attrs.Int(Attr::kBlock);
  return block == 0 && r.lanes == 1 ? FoldAll(r)
                                    : FoldTree(r, block, b.attrs.Int(Attr::kParallel) != 0);
}

Operands ReductionLowering::ReducedInOrder(const Binding& b,
                                           const std::function<void(const Operand&)>& beside) {
  const Reduction r = Describe(b);
  const Operands total =
      Carry(Int(0), r.extents[0], r.starts, [&](const Operand& i, const Operands& so_far) {
        beside(i);
        return CombineApart(r, so_far, Element(r, {i}));
      });
  return AfterInits(r, total);
}

// From the init, or from the first element; without an init there is one.
Operands ReductionLowering::FoldAll(const Reduction& r) {
  const ir::Attributes& attrs = r.binding.attrs;
  if (attrs.Has(Attr::kRun) && attrs.Int(Attr::kLanes, 1) == 1) return FoldInRuns(r);
  if (!r.inits.empty()) return FoldInOrder(r, {}, r.inits, false);
  if (!r.starts.empty()) return FoldInOrder(r, {}, r.starts, false);
  return FoldInOrder(r, {}, Element(r, Operands(r.extents.size(), Int(0))), true);
}

Operands ReductionLowering::FoldInRuns(const Reduction& r) {
  const ir::CombineTraits traits = ir::TraitsOf(*r.binding.blocks[1]);
  if (traits.is_idempotent && traits.commutes) return FoldSideBySide(r);
  const Operand size = r.extents[0], run = Int(r.binding.attrs.Int(Attr::kRun));
  const auto fold = [&](const Operand& lo, const Operands& start) {
    return Carry(lo, Min(builder().Add(lo, run), size), start,
                 [&](const Operand& i, const Operands& so_far) {
                   return Combine(r, so_far, Element(r, {i}));
                 });
  };
  const Operands first = fold(Int(0), r.inits.empty() ? r.starts : r.inits);
  return Carry(
      run, size, first,
      [&](const Operand& lo, const Operands& so_far) {
        return Combine(r, so_far, fold(lo, r.starts));
      },
      run.constant().integer);
}

// What may be combined twice and in any order needs no runs. Some that pass by side by side do not
// wait for one another.
Operands ReductionLowering::FoldSideBySide(const Reduction& r) {
  const Operands start = r.inits.empty() ? r.starts : r.inits;
  const bool is_cheap =
      start.size() == 1 && IsScalarCode(r) && CostOf(*r.binding.blocks[0]) <= kCheapSideBySide;
  const bool has_room = options_ == nullptr || options_->vector_bytes >= kRoomyRegister;
  if (!is_cheap || !has_room) return FoldInOrder(r, {}, start, false);
  const Operand size = Max(r.extents[0], Int(0));
  const Operand rest = builder().Remainder(size, Int(kSideBySide));
  const Operand whole = builder().Sub(size, rest);
  const auto step = [&](const Operand& i, const Operand& so_far) {
    return Combine(r, {so_far}, Element(r, {i}))[0];
  };
  const Operands sides = Carry(
      Int(0), whole, Operands(kSideBySide, start[0]),
      [&](const Operand& i, Operands so_far) {
        for (int k = 0; k < kSideBySide; ++k) so_far[k] = step(builder().Add(i, Int(k)), so_far[k]);
        return so_far;
      },
      kSideBySide);
  Operands total = {sides[0]};
  for (int k = 1; k < kSideBySide; ++k) total = Combine(r, total, {sides[k]});
  return Carry(
      whole, builder().Add(whole, rest), total,
      [&](const Operand& i, const Operands& so_far) { return Operands{step(i, so_far[0])}; });
}

Operands ReductionLowering::AfterInits(const Reduction& r, const Operands& total) {
  return r.inits.empty() ? total : Combine(r, r.inits, total);
}

Operands ReductionLowering::FoldTree(const Reduction& r, int64_t block, bool parallel) {
  if (for_kernels_ && parallel && r.lanes > 1) return FoldOnDevice(r);
  if (const int64_t tile = TileOf(r, parallel)) return FoldOrdered(r, tile);
  const auto fold = [&] {
    const Operand rows = Product({r.extents.begin(), r.extents.end() - 1});
    const Operands total =
        block > 0 ? FoldBlocks(r, parallel) : FoldRows(r, Int(0), rows, Int(0), r.extents.back());
    return AfterInits(r, total);
  };
  // Without identities, or with parts to load, an empty space is told apart; without an init it
  // cannot be empty.
  const bool must_ask = !r.inits.empty() && (r.starts.empty() || block > 0);
  const Operand some =
      must_ask ? builder().Scalar(OpCode::kGt, {Product(r.extents), Int(0)}) : Operand::Bool(true);
  return Choose(some, fold, [&] { return r.inits; });
}

}  // namespace parakeet::passes
