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

// Of shared memory: of a row, and how many there are of a block, so that several blocks fit.
constexpr int64_t kRowBytes = 32768;
constexpr size_t kMostBuffers = 2;
// Of so short a row, a thread makes the sum alone.
constexpr int64_t kShortRow = 64;
constexpr int64_t kFewRaggedRows = 1 << 16;  // Of lengths of their own, which may be long.

bool IsNest(const Binding& b) {
  return b.op == OpCode::kImap || b.op == OpCode::kForeach || b.op == OpCode::kIreduce;
}

}  // namespace

// Whether every thread of a block may make it alike, beside the operators.
bool BlockRowLowering::IsPlainChoice(const Binding& b) {
  bool is_plain = b.op == OpCode::kIf && IsScalarChoice(b);
  for (const Block* block : b.blocks)
    ir::ForEachBinding(*block, [&](const Binding& in) { is_plain &= !IsNest(in); });
  return is_plain;
}

bool BlockRowLowering::IsAtMost(const Operand& size, int64_t most) const {
  if (ReductionLowering::IsAtMost(size, most)) return true;
  const auto made = size.IsVar() ? definitions_.find(size.var()) : definitions_.end();
  return made != definitions_.end() && made->second->op == OpCode::kMin &&
         (IsAtMost(made->second->operands[0], most) || IsAtMost(made->second->operands[1], most));
}

std::optional<Operand> BlockRowLowering::WorthBlocks(const Binding& nest) {
  const Block& body = *nest.blocks[0];
  const ir::VarSet inside = ir::DefinedVars(body);
  const Binding* first = nullptr;
  bool is_known = true;
  for (const Binding* b : body.bindings) {
    if (IsNest(*b)) {
      is_known &= KnowsSizesOf(*b, inside);
      if (b->op == OpCode::kImap && !is_known) return std::nullopt;
      if (b->op != OpCode::kIreduce) continue;
      const Reduction r = Describe(*b);
      const bool along_memory = b->attrs.Int(Attr::kLanes, 1) > 1;
      if (!along_memory || (r.starts.empty() && !r.inits.empty())) return std::nullopt;
      if (first == nullptr) first = b;
      continue;
    }
    const bool is_plain = ir::IsScalarOp(b->op) || b->op == OpCode::kLoad ||
                          b->op == OpCode::kStore || b->op == OpCode::kCheck;
    if (!is_plain && !IsPlainChoice(*b)) return std::nullopt;
  }
  if (first == nullptr) return std::nullopt;
  // Rows of lengths that their elements work out are taken for long where they are few.
  const bool are_few = nest.operands.size() == 1 && IsAtMost(nest.operands[0], kFewRaggedRows - 1);
  if (!is_known && are_few) return Operand::Bool(true);
  if (!is_known)
    return builder().Scalar(OpCode::kLt, {Product(Apply(nest.operands)), Int(kFewRaggedRows)});
  const size_t indices = first->blocks[0]->params.size();
  const Operand size =
      Product(Apply(Operands(first->operands.begin(), first->operands.begin() + indices)));
  return builder().Scalar(OpCode::kGe, {size, Int(kShortRow)});
}

void BlockRowLowering::WriteBlocks(const Binding& nest, const Operands& extents, const Body& body) {
  const auto is_peeled = [&](const Binding& b) { return Describe(b).starts.empty(); };
  const CachedRows rows = FindCachedRows(nest, roots_, is_peeled, kMostBuffers);
  const CachedRows none{rows.operators, {}, {}};
  const auto fits = FitsShared(rows);
  const auto write = [&](const CachedRows& cached) {
    WriteBlocks(nest, extents, body, cached);
    return Operands{};
  };
  if (!fits) return void(write(none));
  Choose(*fits, [&] { return write(rows); }, [&] { return write(none); });
}

std::optional<Operand> BlockRowLowering::FitsShared(const CachedRows& cached) {
  std::optional<Operand> fits;
  for (const CachedRow& row : cached.rows) {
    const int64_t most = kRowBytes / ir::SizeInBytes(row.array->type.dtype());
    const Operand is_short = builder().Scalar(OpCode::kLe, {Apply(row.length), Int(most)});
    fits = fits ? builder().Scalar(OpCode::kAnd, {*fits, is_short}) : is_short;
  }
  return fits;
}

void BlockRowLowering::WriteBlocks(const Binding& nest, const Operands& extents, const Body& body,
                                   const CachedRows& cached) {
  cached_ = cached;
  for (const CachedRow& row : cached_.rows) cached_by_name_[row.array] = &row;
  AllocateMade(nest, extents, cached);
  const Radix radix = RadixOf(extents);
  Blocks(Product(extents), [&](const Operand& block) {
    buffers_.clear();
    for (const ir::DType dtype : cached.buffers) {
      const Operand size = Int(kRowBytes / ir::SizeInBytes(dtype));
      buffers_.push_back(
          builder().EmitOne(OpCode::kAlloc, ir::Type::Array(dtype, {size}), {size}, {}, {}, "row"));
    }
    by_block_ = true;
    op_ = 0;
    row_ = IndexOf(block, radix);
    body(row_);
    by_block_ = false;
  });
  cached_by_name_.clear();
}

// Arrays that elements make, as one for all elements.
void BlockRowLowering::AllocateMade(const Binding& nest, const Operands& extents,
                                    const CachedRows& cached) {
  for (const Binding* b : cached.operators) {
    if (b->op != OpCode::kImap) continue;
    for (const Var* result : b->results) {
      if (CachedOf(result) != nullptr) continue;
      Operands dims = extents;
      for (const Operand& size : result->type.dims()) dims.push_back(Apply(size));
      made_[result] = builder().EmitOne(OpCode::kAlloc, ir::Type::Array(result->type.dtype(), dims),
                                        dims, {}, {}, result->hint);
    }
  }
}

const CachedRow* BlockRowLowering::CachedOf(const Var* array) const {
  const auto found = cached_by_name_.find(array);
  return found == cached_by_name_.end() ? nullptr : found->second;
}

bool BlockRowLowering::VisitCached(const Binding& access) {
  const CachedRow* row = cached_by_name_.empty() ? nullptr : CachedOf(access.operands[0].var());
  if (row == nullptr) return false;
  const Operands operands = Apply(access.operands);
  const Operand place = operands[row->array->type.rank()];
  const Var* buffer = buffers_[row->buffer];
  if (access.op == OpCode::kStore) {
    if (op_ < row->last.op) builder().Store(buffer, {place}, operands.back());
    if (op_ == row->last_store) Mutator::Visit(&access);
  } else if (row->brings && op_ == row->first.op) {
    Mutator::Visit(&access);
    builder().Store(buffer, {place}, Apply(Operand(access.result())));
  } else {
    Replace(access.result(), builder().Load(buffer, {place}, access.result()->hint));
  }
  return true;
}

// --- What an element does for a block ---

bool BlockRowLowering::VisitByBlock(const Binding& b) {
  if (!by_block_) {
    const bool is_access = b.op == OpCode::kLoad || b.op == OpCode::kStore;
    return is_access && VisitCached(b);
  }
  switch (b.op) {
    case OpCode::kIreduce:
      ReduceByBlock(b);
      ++op_;
      return true;
    case OpCode::kImap:
    case OpCode::kForeach:
      MapByBlock(b);
      ++op_;
      return true;
    case OpCode::kStore: ByOneThread([&] { Mutator::Visit(&b); }); return true;
    default: return false;
  }
}

void BlockRowLowering::ByOneThread(const std::function<void()>& write) {
  Threads(1, [&](const Operand&) {
    by_block_ = false;
    write();
    by_block_ = true;
  });
}

void BlockRowLowering::ByThreads(const Operands& extents, const Body& body) {
  Threads(kRowThreads, [&](const Operand& thread) {
    by_block_ = false;
    Loop(
        thread, Product(extents), {}, [&](const Operand& place) { body(Delinear(place, extents)); },
        kRowThreads);
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
  r.lanes = kRowThreads;
  const std::vector<const Var*> lanes = AllocateParts(b, Int(kRowThreads));
  Threads(kRowThreads, [&](const Operand& lane) {
    by_block_ = false;
    StoreAll(lanes, lane, FoldLanes(r, lane));
    by_block_ = true;
  });
  CombineLanes(r, lanes);
  const Operands total = AfterInits(r, LoadAll(lanes, Int(0)));
  for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], total[k]);
}

// The lanes of a thread: every 256th from its own on, which do not wait for one another, run by
// run. Rows so short that lanes would take neighbours are made by groups, where those can.
BlockRowLowering::Operands BlockRowLowering::FoldLanes(const Reduction& r, const Operand& lane) {
  const Operand size = Product(r.extents);
  const int64_t run = r.binding.attrs.Int(Attr::kRun), count = SumsOf(r.binding);
  const auto fold = [&] {
    if (run == 0) return FoldRun(r, lane, Int(0), size);
    Operands starts;
    for (int64_t k = 0; k < count; ++k) {
      const Operands start = StartOf(r);
      starts.insert(starts.end(), start.begin(), start.end());
    }
    return Carry(
        Int(0), size, starts,
        [&](const Operand& lo, const Operands& so_far) {
          const Operands own = FoldRun(r, lane, lo, Min(builder().Add(lo, Int(run)), size));
          return CombineSums(r, so_far, own);
        },
        run);
  };
  const Operands sums = runs_.arrays.empty() ? fold() : SumsOfRuns(r, lane);
  std::vector<Operands> lanes;
  const size_t width = sums.size() / count;
  for (int64_t k = 0; k < count; ++k)
    lanes.emplace_back(sums.begin() + k * width, sums.begin() + (k + 1) * width);
  return CombineHalves(r, std::move(lanes));
}

int64_t BlockRowLowering::SumsOf(const Binding& reduction) {
  return std::max<int64_t>(reduction.attrs.Int(Attr::kLanes, 1) / kRowThreads, 1);
}

BlockRowLowering::Operands BlockRowLowering::StartOf(const Reduction& r) {
  return r.starts.empty() ? ReductionLowering::Element(r, Operands(r.extents.size(), Int(0)))
                          : r.starts;
}

// Of several sums, each with its own.
BlockRowLowering::Operands BlockRowLowering::CombineSums(const Reduction& r, const Operands& left,
                                                         const Operands& right) {
  const size_t width = r.binding.results.size();
  Operands sums;
  for (size_t at = 0; at < left.size(); at += width) {
    const Operands sum = Combine(r, Operands(left.begin() + at, left.begin() + at + width),
                                 Operands(right.begin() + at, right.begin() + at + width));
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  return sums;
}

// The sums side by side of the elements from lo to hi.
BlockRowLowering::Operands BlockRowLowering::FoldRun(const Reduction& r, const Operand& lane,
                                                     const Operand& lo, const Operand& hi) {
  const int64_t count = SumsOf(r.binding);
  const bool takes_neighbours = r.binding.attrs.Int(Attr::kStep, 1) > 1;  // where rows are short
  if (count == 1 && r.extents.size() == 1 && !takes_neighbours)
    return FoldElements(r, builder().Add(lo, lane), hi, StartOf(r));
  const Operand size = builder().Sub(hi, lo);
  const Operand rest = builder().Remainder(size, Int(count * kRowThreads));
  const Operand whole = builder().Sub(hi, rest);
  const Operands start = StartOf(r);
  const auto fold = [&](const Operands& sums, int64_t k, const Operand& first) {
    const auto begin = sums.begin() + k * start.size();
    const Operand place = builder().Add(first, Int(k * kRowThreads));
    return Combine(r, Operands(begin, begin + start.size()),
                   ReductionLowering::Element(r, Delinear(place, r.extents)));
  };
  Operands sums;
  for (int64_t k = 0; k < count; ++k) sums.insert(sums.end(), start.begin(), start.end());
  const auto fold_each = [&](const Operand& first, const Operands& so_far) {
    Operands next;
    for (int64_t k = 0; k < count; ++k) {
      const Operands sum = fold(so_far, k, first);
      next.insert(next.end(), sum.begin(), sum.end());
    }
    return next;
  };
  sums = Carry(builder().Add(lo, lane), whole, sums, fold_each, count * kRowThreads);
  Operands all;
  for (int64_t k = 0; k < count; ++k) {
    const Operand first = builder().Add(whole, lane);
    const auto begin = sums.begin() + k * start.size();
    const Operands sum = Choose(
        builder().Scalar(OpCode::kLt, {builder().Add(first, Int(k * kRowThreads)), hi}),
        [&] { return fold(sums, k, first); },
        [&] { return Operands(begin, begin + start.size()); });
    all.insert(all.end(), sum.begin(), sum.end());
  }
  return all;
}

void BlockRowLowering::MapByBlock(const Binding& b) {
  const Operands operands = Apply(b.operands);
  ByThreads(operands, [&](const Operands& index) {
    const Operands values = VisitBody(*ir::CloneBlock(arena(), *b.blocks[0]), index);
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (const CachedRow* row = CachedOf(ResultOf(k))) {
        builder().Store(buffers_[row->buffer], index, values[k]);
        continue;
      }
      Operands place = row_;
      place.insert(place.end(), index.begin(), index.end());
      StoreElement(made_.at(ResultOf(k)), place, values[k]);
    }
  });
  for (size_t k = 0; k < b.results.size(); ++k) {
    const CachedRow* row = CachedOf(ResultOf(k));
    row != nullptr ? void(cached_by_name_[b.results[k]] = row)
                   : Replace(b.results[k], RowOf(*b.results[k], made_.at(ResultOf(k))));
  }
}

// The row of the array for all elements: `view` takes its place, then how far each axis moves.
const Var* BlockRowLowering::RowOf(const Var& result, const Var* whole) {
  Operands view = {whole};
  view.insert(view.end(), row_.begin(), row_.end());
  const size_t rank = result.type.rank();
  view.insert(view.end(), rank, Int(0));
  for (size_t axis = 0; axis < row_.size() + rank; ++axis) {
    for (size_t own = 0; own < rank; ++own) view.push_back(Int(axis == row_.size() + own));
  }
  return builder().EmitOne(OpCode::kView, Apply(result.type), view, {}, {}, result.hint);
}

}  // namespace parakeet::passes
