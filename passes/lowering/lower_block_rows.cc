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
// Fewer elements than a GPU has threads, each a sum of so many, are summed in parts by so many
// threads in all, of no fewer terms each.
constexpr int64_t kFewRowSums = 1 << 16;
constexpr int64_t kLongSum = 512;
constexpr int64_t kManyThreads = 1 << 17;
constexpr int64_t kLeastPart = 64;

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
  bool is_known = true;
  for (const Binding* b : body.bindings) {
    if (IsNest(*b)) {
      is_known &= HasKnownSizes(*b, inside);
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
    if (!is_plain) return std::nullopt;
  }
  if (first == nullptr) return std::nullopt;
  // Rows of lengths that their elements work out are taken for long where they are few.
  if (!is_known)
    return builder().Scalar(OpCode::kLt, {Product(Apply(nest.operands)), Int(kFewRowSums)});
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

// --- Sums in parts ---

const Binding* BlockRowLowering::OnlyReduction(const Binding& nest) {
  const Block& body = *nest.blocks[0];
  const ir::VarSet inside = ir::DefinedVars(body);
  const Binding* only = nullptr;
  for (const Binding* b : body.bindings) {
    const bool is_reduction = b->op == OpCode::kIreduce && only == nullptr;
    if (is_reduction) only = b;
    const bool is_plain = ir::IsScalarOp(b->op) || b->op == OpCode::kLoad ||
                          (b->op == OpCode::kStore && only != nullptr);
    if (!is_reduction && !is_plain) return nullptr;
  }
  if (only == nullptr || !HasKnownSizes(*only, inside)) return nullptr;
  const Reduction r = Describe(*only);
  return r.has_arrays ? nullptr : only;
}

std::optional<Operand> BlockRowLowering::WorthParts(const Binding& nest) {
  const Binding* reduction = OnlyReduction(nest);
  if (reduction == nullptr) return std::nullopt;
  const Operand is_long =
      builder().Scalar(OpCode::kGe, {Product(Describe(*reduction).extents), Int(kLongSum)});
  const Operand are_few =
      builder().Scalar(OpCode::kLt, {Product(Apply(nest.operands)), Int(kFewRowSums)});
  return builder().Scalar(OpCode::kAnd, {is_long, are_few});
}

void BlockRowLowering::WriteInParts(const Binding& nest, const Operands& extents,
                                    const std::function<void()>& nest_again) {
  const Binding& reduction = *OnlyReduction(nest);
  const Operand size = Product(Describe(reduction).extents);
  const Operand elements = Product(extents);
  const Operand wanted =
      Min(CeilDiv(Int(kManyThreads), Max(elements, Int(1))), CeilDiv(size, Int(kLeastPart)));
  const Operand length = CeilDiv(size, wanted);
  Parts parts{CeilDiv(size, length), extents};
  for (const Var* result : reduction.results) {
    const ir::Type type = ir::Type::Array(result->type.dtype(), {parts.count, elements});
    parts.arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "parts"));
  }
  const Attributes parallel = OverThreads();
  Loop(Int(0), builder().Mul(parts.count, elements), parallel, [&](const Operand& at) {
    const Operands place = Delinear(at, {parts.count, elements});
    MakePart(nest, parts, place[0], place[1], length);
  });
  parts_ = parts;
  nest_again();
  parts_ = {};
}

void BlockRowLowering::MakePart(const Binding& nest, const Parts& parts, const Operand& part,
                                const Operand& element, const Operand& length) {
  Block body = *ir::CloneBlock(arena(), *nest.blocks[0]);
  const auto at = std::find_if(body.bindings.begin(), body.bindings.end(),
                               [](const Binding* b) { return b->op == OpCode::kIreduce; });
  const Binding& reduction = **at;
  body.bindings.erase(at, body.bindings.end());
  body.results.clear();
  VisitBody(body, Delinear(element, parts.extents));
  const Reduction r = Describe(reduction);
  const auto make = [&](const Operand& i) {
    return ReductionLowering::Element(r, Delinear(i, r.extents));
  };
  const Operand lo = builder().Mul(part, length);
  const Operand hi = Min(builder().Add(lo, length), Product(r.extents));
  const bool peel = r.starts.empty();
  const Operands total =
      Carry(peel ? builder().Add(lo, Int(1)) : lo, hi, peel ? make(lo) : r.starts,
            [&](const Operand& i, const Operands& so_far) { return Combine(r, so_far, make(i)); });
  for (size_t k = 0; k < total.size(); ++k)
    builder().Store(parts.arrays[k], {part, element}, total[k]);
}

bool BlockRowLowering::SumParts(const Binding& reduction) {
  if (parts_.arrays.empty()) return false;
  const Parts parts = std::exchange(parts_, {});
  const Reduction r = Describe(reduction);
  const Operand element = Linear(row_, parts.extents);
  const auto load = [&](const Operand& part) {
    Operands values;
    for (const Var* array : parts.arrays) values.push_back(builder().Load(array, {part, element}));
    return values;
  };
  const Operands sums = Carry(
      Int(1), parts.count, load(Int(0)),
      [&](const Operand& part, const Operands& so_far) { return Combine(r, so_far, load(part)); });
  const Operands total = AfterInits(r, sums);
  for (size_t k = 0; k < reduction.results.size(); ++k) Replace(reduction.results[k], total[k]);
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

// The lanes of a thread: every 256th from its own on, which do not wait for one another. Rows so
// short that lanes would take neighbours are made by groups, where those can.
BlockRowLowering::Operands BlockRowLowering::FoldLanes(const Reduction& r, const Operand& lane) {
  const int64_t count = std::max<int64_t>(r.binding.attrs.Int(Attr::kLanes, 1) / kRowThreads, 1);
  const Operand size = Product(r.extents);
  const Operand rest = builder().Scalar(OpCode::kMod, {size, Int(count * kRowThreads)});
  const Operand whole = builder().Sub(size, rest);
  const Operands start = r.starts.empty()
                             ? ReductionLowering::Element(r, Operands(r.extents.size(), Int(0)))
                             : r.starts;
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
  sums = Carry(lane, whole, sums, fold_each, count * kRowThreads);
  std::vector<Operands> lanes;
  for (int64_t k = 0; k < count; ++k) {
    const Operand first = builder().Add(whole, lane);
    const auto begin = sums.begin() + k * start.size();
    lanes.push_back(Choose(
        builder().Scalar(OpCode::kLt, {builder().Add(first, Int(k * kRowThreads)), size}),
        [&] { return fold(sums, k, first); },
        [&] { return Operands(begin, begin + start.size()); }));
  }
  return CombineHalves(r, std::move(lanes));
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
