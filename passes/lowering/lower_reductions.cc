#include "passes/lowering/lower_reductions.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/reduction_tree.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"

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

// Of a block that combines the parts of others, and how many each combines before they wait: powers
// of two, so that the tree is the same. Of more parts a thread, the loads of a warp lie too far
// apart.
constexpr int64_t kCombiningThreads = 512;
constexpr int64_t kPartsOfThread = 4;
constexpr int64_t kPartsOfBlock = kCombiningThreads * kPartsOfThread;
constexpr int64_t kElementsTogether = 4;  // of a lane

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
  if (r.lanes > 1) return RunLanes(r, row, lo, hi);
  const auto at = [&](const Operand& i) {
    Operands index = row;
    index.push_back(i);
    return index;
  };
  const bool peel = r.starts.empty();
  const Operands start = peel ? Element(r, at(lo)) : r.starts;
  return Carry(peel ? builder().Add(lo, Int(1)) : lo, hi, start,
               [&](const Operand& i, const Operands& so_far) {
                 return Combine(r, so_far, Element(r, at(i)));
               });
}

Operands ReductionLowering::RunLanes(const Reduction& r, const Operands& row, const Operand& lo,
                                     const Operand& hi) {
  const auto element = [&](const Operand& i) {
    Operands index = row;
    index.push_back(i);
    return Element(r, index);
  };
  Operands operands = {lo, hi};
  const Operands starts = r.starts.empty() ? element(lo) : r.starts;
  operands.insert(operands.end(), starts.begin(), starts.end());
  const Var* index = builder().NewVar(ir::DType::kI64, "i");
  const Block* body = BlockOf({index}, [&] { return element(index); });
  std::vector<const Var*> results;
  for (const Operand& start : starts)
    results.push_back(builder().NewVar(ir::TypeOf(start), "lane"));
  builder().Emit(OpCode::kLanes, results, std::move(operands), Attributes{{Attr::kLanes, r.lanes}},
                 {body, ir::CloneBlock(arena(), *r.binding.blocks[1])});
  return Operands(results.begin(), results.end());
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

Operands ReductionLowering::LoadAll(const std::vector<const Var*>& arrays, const Operand& index) {
  Operands values;
  for (const Var* array : arrays) values.push_back(builder().Load(array, {index}));
  return values;
}

void ReductionLowering::StoreAll(const std::vector<const Var*>& arrays, const Operand& index,
                                 const Operands& values) {
  for (size_t k = 0; k < arrays.size(); ++k) StoreElement(arrays[k], {index}, values[k]);
}

Operands ReductionLowering::FoldBlocks(const Reduction& r, bool parallel) {
  const Operand block = GrownBlock(r);
  const Operand inner = r.extents.back();
  const Operand rows = Product({r.extents.begin(), r.extents.end() - 1});
  const bool one_row = r.extents.size() == 1;
  const Operand is_long =
      one_row ? Operand::Bool(true) : builder().Scalar(OpCode::kGt, {inner, block});
  const Operand columns =
      builder().Scalar(OpCode::kSelect, {is_long, CeilDiv(inner, block), Int(1)});
  const Operand at_least_one = builder().Scalar(OpCode::kMax, {inner, Int(1)});
  const Operand fitting = builder().Scalar(
      OpCode::kMax, {builder().Scalar(OpCode::kFloorDiv, {block, at_least_one}), Int(1)});
  const Operand height = builder().Scalar(OpCode::kSelect, {is_long, Int(1), fitting});
  const Operand count = builder().Mul(CeilDiv(rows, height), columns);
  const std::vector<const Var*> parts = AllocateParts(r.binding, count);
  const int64_t cost = CostOf(*r.binding.blocks[0]) * r.binding.attrs.Int(Attr::kBlock) /
                       std::max<int64_t>(1, std::min<int64_t>(r.lanes, 8));
  Loop(Int(0), count, parallel ? Parallel(cost) : Attributes{}, [&](const Operand& part) {
    const Operand row_block =
        one_row ? Int(0) : builder().Scalar(OpCode::kFloorDiv, {part, columns});
    const Operand column = one_row ? part : builder().Scalar(OpCode::kMod, {part, columns});
    const Operand first = builder().Mul(row_block, height);
    const Operand last = Min(builder().Add(first, height), rows);
    const Operand lo = builder().Mul(column, block);
    const Operand end = Min(builder().Add(lo, block), inner);
    const Operand hi = builder().Scalar(OpCode::kSelect, {is_long, end, inner});
    StoreAll(parts, part, FoldRows(r, first, last, lo, hi));
  });
  CombineParts(r, parts, count);
  return LoadAll(parts, Int(0));
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
  for (int64_t size = least; size < r.binding.attrs.Int(Attr::kMostBlock); size *= 2) {
    const Operand is_many =
        builder().Scalar(OpCode::kGt, {r.extents[0], Int(size * ir::kManyBlocks)});
    block = builder().Scalar(OpCode::kSelect, {is_many, Int(2 * size), block});
  }
  return block;
}

Operands ReductionLowering::FoldOnDevice(const Reduction& r) {
  const Operand size = r.extents[0];
  const Operand block = GrownBlock(r);
  const Operand count = CeilDiv(size, block);
  const std::vector<const Var*> parts = AllocateParts(r.binding, count);
  Blocks(count, [&](const Operand& part) {
    const std::vector<const Var*> lanes = AllocateParts(r.binding, Int(r.lanes));
    Threads(r.lanes, [&](const Operand& lane) {
      const Operand lo = builder().Mul(part, block);
      const Operand hi = Min(builder().Add(lo, block), size);
      const Operands start = r.starts.empty() ? Element(r, {lo}) : r.starts;
      StoreAll(lanes, lane, FoldLane(r, builder().Add(lo, lane), hi, start));
    });
    CombineLanes(r, lanes);
    Threads(1, [&](const Operand&) { StoreAll(parts, part, LoadAll(lanes, Int(0))); });
  });
  PartArrays totals;
  for (const Var* part : parts) {
    totals.push_back(builder().NewVar(ir::Type::Array(part->type.dtype(), {}), "total"));
    builder().Emit(OpCode::kAlloc, {totals.back()}, {});
  }
  CombinePartsOnDevice(r, parts, count, totals);
  Operands loaded;
  for (const Var* total : totals) loaded.push_back(builder().Load(total, {}));
  return loaded;
}

// Every so many elements from `first` on, in order. Of scalar code some are made at a time, so that
// what they load is under way together.
Operands ReductionLowering::FoldLane(const Reduction& r, const Operand& first, const Operand& hi,
                                     const Operands& start) {
  bool is_plain = true;
  ir::ForEachBinding(*r.binding.blocks[0], [&](const Binding& b) {
    is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIf;
  });
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
  if (!is_plain) return Carry(first, hi, start, fold(1), r.lanes);
  const int64_t step = kElementsTogether * r.lanes;
  const Operand end = builder().Sub(hi, Int(step - r.lanes));
  const Operands most = Carry(first, end, start, fold(kElementsTogether), step);
  const Operand steps = CeilDiv(Max(builder().Sub(end, first), Int(0)), Int(step));
  const Operand rest = builder().Add(first, builder().Mul(steps, Int(step)));
  return Carry(rest, hi, most, fold(1), r.lanes);
}

Operands ReductionLowering::CombineHalves(const Reduction& r, std::vector<Operands> sums) {
  for (size_t half = sums.size() / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) sums[k] = Combine(r, sums[k], sums[k + half]);
  return sums[0];
}

void ReductionLowering::CombineLanes(const Reduction& r, const std::vector<const Var*>& lanes) {
  for (int64_t half = r.lanes / 2; half > 0; half /= 2) {
    Threads(half, [&](const Operand& lane) {
      const Operand other = builder().Add(lane, Int(half));
      StoreAll(lanes, lane, Combine(r, LoadAll(lanes, lane), LoadAll(lanes, other)));
    });
  }
}

// Kernels for so many levels of the tree each, whose blocks make one of some neighbours, while
// there are more than one block takes; then one of one block, which makes the total, and is there
// also where there is no part but an init.
void ReductionLowering::CombinePartsOnDevice(const Reduction& r, const PartArrays& parts,
                                             const Operand& count, const PartArrays& totals) {
  const Var* step = builder().NewVar(ir::DType::kI64, "step");
  const Block* condition = BlockOf({step}, [&] {
    return Operands{builder().Scalar(OpCode::kGt, {CeilDiv(count, step), Int(kPartsOfBlock)})};
  });
  const Var* inner = builder().NewVar(ir::DType::kI64, "step");
  const Block* body = BlockOf({inner}, [&] {
    const Operand left = CeilDiv(count, inner);
    Blocks(CeilDiv(left, Int(kPartsOfBlock)), [&](const Operand& block) {
      const PartRange range{builder().Mul(block, Int(kPartsOfBlock)), inner, left};
      const PartArrays combined = CombineNeighbours(r, parts, range);
      Threads(1, [&](const Operand&) {
        StoreAll(parts, builder().Mul(range.first, inner), LoadAll(combined, Int(0)));
      });
    });
    return Operands{builder().Mul(inner, Int(kPartsOfBlock))};
  });
  const Var* apart = builder().NewVar(ir::DType::kI64, "apart");
  builder().Emit(OpCode::kWhile, {apart}, {Int(1)}, {}, {condition, body});
  const Operand left = CeilDiv(count, apart);
  Blocks(Int(1), [&](const Operand&) {
    const PartArrays combined = CombineNeighbours(r, parts, {Int(0), apart, left});
    Threads(1, [&](const Operand&) { StoreTotal(r, combined, count, totals); });
  });
}

// By a block of threads, in memory that they share, of which the first element is the whole.
ReductionLowering::PartArrays ReductionLowering::CombineNeighbours(const Reduction& r,
                                                                   const PartArrays& parts,
                                                                   const PartRange& range) {
  const PartArrays shared = AllocateParts(r.binding, Int(kCombiningThreads));
  const auto number_of = [&](const Operand& thread) {
    return builder().Add(range.first, builder().Mul(thread, Int(kPartsOfThread)));
  };
  const auto is_there = [&](const Operand& number) {
    return builder().Scalar(OpCode::kLt, {number, range.count});
  };
  Threads(kCombiningThreads, [&](const Operand& thread) {
    const Operand first = number_of(thread);
    If(is_there(first),
       [&] { StoreAll(shared, thread, CombineRun(r, parts, {first, range.step, range.count})); });
  });
  for (int64_t width = 1; width < kCombiningThreads; width *= 2) {
    Threads(kCombiningThreads / (2 * width), [&](const Operand& pair) {
      const Operand left = builder().Mul(pair, Int(2 * width));
      const Operand right = builder().Add(left, Int(width));
      If(is_there(number_of(right)), [&] {
        StoreAll(shared, left, Combine(r, LoadAll(shared, left), LoadAll(shared, right)));
      });
    });
  }
  return shared;
}

// By one thread. All loads come before what is made of them, so that they are under way together.
Operands ReductionLowering::CombineRun(const Reduction& r, const PartArrays& parts,
                                       const PartRange& range) {
  Operand place = builder().Mul(range.first, range.step);
  std::vector<Operands> values = {LoadAll(parts, place)};
  std::vector<Operand> is_there = {Operand::Bool(true)};
  for (int64_t k = 1; k < kPartsOfThread; ++k) {
    place = builder().Add(place, range.step);
    is_there.push_back(
        builder().Scalar(OpCode::kLt, {builder().Add(range.first, Int(k)), range.count}));
    values.push_back(
        Choose(is_there.back(), [&] { return LoadAll(parts, place); }, [&] { return values[0]; }));
  }
  for (size_t width = 1; width < values.size(); width *= 2) {
    for (size_t k = 0; k < values.size(); k += 2 * width) {
      values[k] = Choose(
          is_there[k + width], [&] { return Combine(r, values[k], values[k + width]); },
          [&] { return values[k]; });
    }
  }
  return values[0];
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
  const Reduction r = Describe(b);
  const int64_t block = b.attrs.Int(Attr::kBlock);
  const Operands result = block == 0 && r.lanes == 1
                              ? FoldAll(r)
                              : FoldTree(r, block, b.attrs.Int(Attr::kParallel) != 0);
  for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], Owned(result[k]));
}

// From the init, or from the first element; without an init there is one.
Operands ReductionLowering::FoldAll(const Reduction& r) {
  if (!r.inits.empty()) return FoldInOrder(r, {}, r.inits, false);
  if (!r.starts.empty()) return FoldInOrder(r, {}, r.starts, false);
  return FoldInOrder(r, {}, Element(r, Operands(r.extents.size(), Int(0))), true);
}

Operands ReductionLowering::AfterInits(const Reduction& r, const Operands& total) {
  return r.inits.empty() ? total : Combine(r, r.inits, total);
}

Operands ReductionLowering::FoldTree(const Reduction& r, int64_t block, bool parallel) {
  if (for_kernels_ && parallel && r.lanes > 1) return FoldOnDevice(r);
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
