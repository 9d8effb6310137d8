#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/reduction_lanes.h"
#include "passes/lowering/block_threads.h"
#include "passes/lowering/lower_block_rows.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// Fewer elements than a GPU has threads, each a sum of so many, are summed in parts by so many
// threads in all, of no fewer terms each. Terms that load what all elements share, as a vector's in
// a product with a matrix, have half of a thread's loads for other bytes: on an H200, `x @ a` of
// 9000 by 9000 took 0.192 ms by 2^17 threads and 0.162 by 2^18, sums of columns 0.158 and 0.167.
// Terms that cost much hold registers, so that threads are there in several waves, of which the
// last is rarely full: of more waves it is a smaller part.
constexpr int64_t kFewRowSums = 1 << 16;
constexpr int64_t kLongSum = 512;
constexpr int64_t kManyThreads = 1 << 17;
constexpr int64_t kManyThreadsOfShared = 1 << 18;
constexpr int64_t kManyThreadsOfDear = 1 << 19;
constexpr int kDearTerm = 16;
constexpr int64_t kLeastPart = 64;
// Of more parts than a thread sums in the time that a kernel takes to begin, as many become one.
constexpr int64_t kManyParts = 256;
constexpr int64_t kJoinedParts = 128;
// Parts that a thread loads before it adds them, where that costs little: while one load is on its
// way, so are the others.
constexpr int kPartsAhead = 8;
constexpr int kCheapCombine = 8;

// Whether a term loads something at places of which the element decides none.
bool LoadsWhatAllShare(const Binding& nest, const Binding& reduction) {
  ir::VarSet own(nest.blocks[0]->params.begin(), nest.blocks[0]->params.end());
  const auto is_own = [&](const Binding& b) {
    const bool is = std::any_of(b.operands.begin(), b.operands.end(), [&](const Operand& o) {
      return o.IsVar() && own.contains(o.var());
    });
    if (is) own.insert(b.results.begin(), b.results.end());
    return is;
  };
  for (const Binding* b : nest.blocks[0]->bindings) {
    if (b == &reduction) break;
    is_own(*b);
  }
  const std::vector<const Binding*>& term = reduction.blocks[0]->bindings;
  return std::any_of(term.begin(), term.end(),
                     [&](const Binding* b) { return !is_own(*b) && b->op == OpCode::kLoad; });
}

int64_t ThreadsFor(const Binding& nest, const Binding& reduction) {
  if (CostOf(*reduction.blocks[0]) >= kDearTerm) return kManyThreadsOfDear;
  return LoadsWhatAllShare(nest, reduction) ? kManyThreadsOfShared : kManyThreads;
}

}  // namespace

bool BlockRowLowering::KnowsSizesOf(const Binding& b, const ir::VarSet& inside) {
  const size_t indices = b.blocks[0]->params.size();
  return std::none_of(b.operands.begin(), b.operands.begin() + indices,
                      [&](const Operand& size) { return inside.contains(size.var()); });
}

// --- Sums in parts ---

// What a thread does by itself behind the sum, be it another sum.
bool BlockRowLowering::IsScalarChoice(const Binding& choice) {
  bool is_scalar = true;
  for (const ir::Block* block : choice.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& b) {
      is_scalar &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIreduce ||
                   b.op == OpCode::kIf;
      for (const Var* result : b.results) is_scalar &= result->type.IsScalar();
    });
  }
  return is_scalar;
}

const Binding* BlockRowLowering::OnlyReduction(const Binding& nest) {
  const Block& body = *nest.blocks[0];
  const ir::VarSet inside = ir::DefinedVars(body);
  const Binding* only = nullptr;
  for (const Binding* b : body.bindings) {
    const bool is_reduction = b->op == OpCode::kIreduce && only == nullptr;
    if (is_reduction) only = b;
    const bool is_behind = b->op == OpCode::kStore || (b->op == OpCode::kIf && IsScalarChoice(*b));
    const bool is_plain =
        ir::IsScalarOp(b->op) || b->op == OpCode::kLoad || (is_behind && only != nullptr);
    if (!is_reduction && !is_plain) return nullptr;
  }
  if (only == nullptr || !KnowsSizesOf(*only, inside)) return nullptr;
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
  const Operand threads = Int(ThreadsFor(nest, reduction));
  const Operand wanted =
      Min(CeilDiv(threads, Max(elements, Int(1))), CeilDiv(size, Int(kLeastPart)));
  const Operand length = CeilDiv(size, wanted);
  Parts parts{CeilDiv(size, length), extents};
  const Operand are_many = builder().Scalar(OpCode::kGt, {parts.count, Int(kManyParts)});
  const auto if_many = [&](const Operand& many, const Operand& few) {
    return builder().Scalar(OpCode::kSelect, {are_many, many, few});
  };
  const Operand joined = if_many(CeilDiv(parts.count, Int(kJoinedParts)), Int(0));
  parts.first = if_many(parts.count, Int(0));
  parts.behind = builder().Add(parts.count, joined);
  for (const Var* result : reduction.results) {
    const ir::Type type = ir::Type::Array(result->type.dtype(), {parts.behind, elements});
    parts.arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "parts"));
  }
  const Attributes parallel = OverThreads();
  Loop(Int(0), builder().Mul(parts.count, elements), parallel, [&](const Operand& at) {
    const Operands place = Delinear(at, {parts.count, elements});
    MakePart(nest, parts, place[0], place[1], length);
  });
  If(are_many, [&] { JoinParts(nest, parts); });
  parts_ = parts;
  nest_again();
  parts_ = {};
}

// Writes what a copy of the element does before its reduction, which is returned.
const Binding& BlockRowLowering::BeginElement(const Binding& nest, const Operands& index) {
  Block body = *ir::CloneBlock(arena(), *nest.blocks[0]);
  const auto at = std::find_if(body.bindings.begin(), body.bindings.end(),
                               [](const Binding* b) { return b->op == OpCode::kIreduce; });
  const Binding& reduction = **at;
  body.bindings.erase(at, body.bindings.end());
  body.results.clear();
  VisitBody(body, index);
  return reduction;
}

void BlockRowLowering::MakePart(const Binding& nest, const Parts& parts, const Operand& part,
                                const Operand& element, const Operand& length) {
  const Reduction r = Describe(BeginElement(nest, Delinear(element, parts.extents)));
  const auto make = [&](const Operand& i) {
    return ReductionLowering::Element(r, Delinear(i, r.extents));
  };
  const Operand lo = builder().Mul(part, length);
  const Operand hi = Min(builder().Add(lo, length), Product(r.extents));
  const bool peel = r.starts.empty();
  const Operands total =
      Carry(peel ? builder().Add(lo, Int(1)) : lo, hi, peel ? make(lo) : r.starts,
            [&](const Operand& i, const Operands& so_far) { return Combine(r, so_far, make(i)); });
  StorePart(parts, part, element, total);
}

LoopWriter::Operands BlockRowLowering::PartAt(const Parts& parts, const Operand& part,
                                              const Operand& element) {
  Operands values;
  for (const Var* array : parts.arrays) values.push_back(builder().Load(array, {part, element}));
  return values;
}

// An element's, from part `lo` to part `hi`, in order.
LoopWriter::Operands BlockRowLowering::SumOfParts(const Reduction& r, const Parts& parts,
                                                  const Operand& lo, const Operand& hi,
                                                  const Operand& element) {
  const auto fold = [&](const Operand& from, const Operand& to, const Operands& so_far, int ahead) {
    const auto step = [&](const Operand& part, Operands total) {
      std::vector<Operands> values;
      for (int k = 0; k < ahead; ++k)
        values.push_back(PartAt(parts, builder().Add(part, Int(k)), element));
      for (const Operands& value : values) total = Combine(r, total, value);
      return total;
    };
    return Carry(from, to, so_far, step, ahead);
  };
  const Operands start = PartAt(parts, lo, element);
  const Operand first = builder().Add(lo, Int(1));
  if (CostOf(*r.binding.blocks[1]) > kCheapCombine) return fold(first, hi, start, 1);
  const Operand end = EndOfWhole(first, hi, kPartsAhead);
  return fold(end, hi, fold(first, end, start, kPartsAhead), 1);
}

void BlockRowLowering::StorePart(const Parts& parts, const Operand& part, const Operand& element,
                                 const Operands& total) {
  for (size_t k = 0; k < total.size(); ++k)
    builder().Store(parts.arrays[k], {part, element}, total[k]);
}

// Neighbours, to places behind them all.
void BlockRowLowering::JoinParts(const Binding& nest, const Parts& parts) {
  const Operands groups = {CeilDiv(parts.count, Int(kJoinedParts)), Product(parts.extents)};
  Loop(Int(0), Product(groups), OverThreads(), [&](const Operand& at) {
    const Operands place = Delinear(at, groups);
    const Reduction r = Describe(BeginElement(nest, Delinear(place[1], parts.extents)));
    const Operand first = builder().Mul(place[0], Int(kJoinedParts));
    const Operand last = Min(builder().Add(first, Int(kJoinedParts)), parts.count);
    const Operands total = SumOfParts(r, parts, first, last, place[1]);
    StorePart(parts, builder().Add(parts.count, place[0]), place[1], total);
  });
}

bool BlockRowLowering::SumParts(const Binding& reduction) {
  if (parts_.arrays.empty()) return false;
  const Parts parts = std::exchange(parts_, {});
  const Reduction r = Describe(reduction);
  const Operand element = Linear(row_, parts.extents);
  const Operands total = AfterInits(r, SumOfParts(r, parts, parts.first, parts.behind, element));
  for (size_t k = 0; k < reduction.results.size(); ++k) Replace(reduction.results[k], total[k]);
  return true;
}

// --- Rows in runs ---

std::optional<Operand> BlockRowLowering::WorthRuns(const Binding& nest) {
  const Binding* reduction = OnlyReduction(nest);
  if (reduction == nullptr || reduction->attrs.Int(Attr::kLanes, 1) == 1 ||
      !reduction->attrs.Has(Attr::kRun))
    return std::nullopt;
  // Blocks would take what other sums come to from the same runs.
  for (const Binding* b : nest.blocks[0]->bindings)
    if (b->op == OpCode::kIf) return std::nullopt;
  const Operand is_long = builder().Scalar(
      OpCode::kGt, {Product(Describe(*reduction).extents), Int(reduction->attrs.Int(Attr::kRun))});
  const Operand are_few =
      builder().Scalar(OpCode::kLt, {Product(Apply(nest.operands)), Int(kFewBlocks)});
  return builder().Scalar(OpCode::kAnd, {is_long, are_few});
}

void BlockRowLowering::WriteInRuns(const Binding& nest, const Operands& extents,
                                   const std::function<void()>& nest_again) {
  const Binding& reduction = *OnlyReduction(nest);
  const Operand size = Product(Describe(reduction).extents);
  const int64_t run = reduction.attrs.Int(Attr::kRun);
  Parts runs{CeilDiv(size, Int(run)), extents};
  const Operand blocks = builder().Mul(Product(extents), runs.count);
  for (const Var* result : reduction.results) {
    const Operand lanes = Int(SumsOf(reduction) * kRowThreads);
    const ir::Type type = ir::Type::Array(result->type.dtype(), {blocks, lanes});
    runs.arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "runs"));
  }
  Operands places = extents;
  places.push_back(runs.count);
  const Radix radix = RadixOf(places);
  Blocks(blocks, [&](const Operand& number) {
    Operands index = IndexOf(number, radix);
    const Operand lo = builder().Mul(index.back(), Int(run));
    index.pop_back();
    const Binding& copy = BeginElement(nest, index);
    Reduction r = Describe(copy);
    Threads(kRowThreads, [&](const Operand& lane) {
      const Operand hi = Min(builder().Add(lo, Int(run)), size);
      const Operands sums = FoldRun(r, lane, lo, hi);
      for (size_t k = 0; k < sums.size(); ++k) {
        const int64_t first = int64_t(k / runs.arrays.size()) * kRowThreads;
        builder().Store(runs.arrays[k % runs.arrays.size()],
                        {number, builder().Add(lane, Int(first))}, sums[k]);
      }
    });
  });
  runs_ = runs;
  nest_again();
  runs_ = {};
}

// What a lane has of each run, in order.
BlockRowLowering::Operands BlockRowLowering::SumsOfRuns(const Reduction& r, const Operand& lane) {
  const Operand first = builder().Mul(Linear(row_, runs_.extents), runs_.count);
  const auto load = [&](const Operand& run) {
    Operands sums;
    for (int64_t k = 0; k < SumsOf(r.binding); ++k) {
      const Operand place = builder().Add(lane, Int(k * kRowThreads));
      for (const Var* array : runs_.arrays)
        sums.push_back(builder().Load(array, {builder().Add(first, run), place}));
    }
    return sums;
  };
  return Carry(Int(1), runs_.count, load(Int(0)), [&](const Operand& run, const Operands& so_far) {
    return CombineSums(r, so_far, load(run));
  });
}

}  // namespace parakeet::passes
