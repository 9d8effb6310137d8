#include "passes/lowering/lane_reductions.h"

#include <algorithm>

#include "ir/combines.h"
#include "passes/analyses/find_cost.h"
#include "passes/lowering/lane_counts.h"
#include "passes/lowering/lane_values.h"

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

using Operands = LoopWriter::Operands;

namespace {

// The accumulators of a reduction in lanes are as many registers.
constexpr int kRegistersOfTree = 4;
constexpr int kDearElement = 8;

// Of several sums that do nothing but read, registers of 32 bytes, of which there are sixteen, hold
// parts of the lanes: a line of the cache each.
constexpr size_t kSeveral = 4;
constexpr int kBytesOfSixteen = 32;
constexpr int kRegistersOfSums = 8;
constexpr int kBytesOfLine = 64;
constexpr int kLongestByParts = 512;

// So few elements take as many lanes, or twice as many: the other accumulators would hold nothing.
constexpr int kFew = 8;
constexpr int kFewOfDear = 4;

bool HasBools(const Binding& reduction) {
  return std::any_of(reduction.results.begin(), reduction.results.end(),
                     [](const Var* result) { return result->type.dtype() == DType::kBool; });
}

// True where elements take so long that they are made for no more accumulators than are left.
bool IsDear(const Binding& reduction) {
  return !HasBools(reduction) && reduction.attrs.Int(Attr::kLanes) >= 8 * kRegistersOfTree &&
         CostOf(*reduction.blocks[0]) >= kDearElement;
}

bool ReadsAlone(const Block& element) {
  return std::all_of(element.bindings.begin(), element.bindings.end(), [](const Binding* b) {
    return b->op == OpCode::kLoad || ir::IsScalarOp(b->op);
  });
}

// How many lanes are made at a time. No bit depends on it.
int LanesOfPart(const Binding& reduction, int vector_bytes) {
  const auto lanes = static_cast<int>(reduction.attrs.Int(Attr::kLanes));
  int64_t bytes = 0, widest = 1;
  for (const Var* result : reduction.results) {
    const int64_t size = ir::SizeInBytes(result->type.dtype());
    bytes += lanes * size;
    widest = std::max(widest, size);
  }
  const bool fits = bytes <= kRegistersOfSums * vector_bytes;
  if (fits || reduction.results.size() < kSeveral || reduction.blocks.size() > 2 ||
      vector_bytes != kBytesOfSixteen || !ReadsAlone(*reduction.blocks[0]))
    return lanes;
  return std::min<int>(lanes, kBytesOfLine / static_cast<int>(widest));
}

// True where accumulators that take no element leave the others as they are.
bool StartsFromNothing(const Binding& reduction) {
  const std::vector<ir::Constant> identities = ir::TraitsOf(*reduction.blocks[1]).identities;
  const std::vector<Operand> starts(reduction.operands.begin() + 2, reduction.operands.end());
  return identities.size() == starts.size() &&
         std::equal(identities.begin(), identities.end(), starts.begin(),
                    [](const ir::Constant& identity, const Operand& start) {
                      return start.IsConstant() && start == Operand(identity);
                    });
}

// True for the rows of something, each made by short code, that may have a few elements.
bool MayBeFew(const Binding& reduction) {
  const auto is_plain = [](const Binding* b) {
    return b->op == OpCode::kLoad || b->op == OpCode::kIf || ir::IsScalarOp(b->op);
  };
  const std::vector<const Binding*>& element = reduction.blocks[0]->bindings;
  return reduction.attrs.Int(Attr::kLanes) > 2 * kFew && reduction.attrs.Int(Attr::kBlock) == 0 &&
         reduction.blocks.size() == 2 && !reduction.operands[1].IsConstant() &&
         !IsLong(*reduction.blocks[0]) && std::all_of(element.begin(), element.end(), is_plain) &&
         StartsFromNothing(reduction);
}

}  // namespace

struct LaneReductionWriter::Reduction {
  const Binding& reduction;
  Operand lo, hi;
  int lanes;

  const Block& element() const { return *reduction.blocks[0]; }
  // How two accumulators become one,
  const Block& combine() const { return *reduction.blocks[1]; }
  // and how one takes an element.
  const Block& take() const { return *reduction.blocks.back(); }
};

LaneReductionWriter::Reduction LaneReductionWriter::Describe(const Binding& reduction) const {
  return {reduction, Apply(reduction.operands[0]), Apply(reduction.operands[1]),
          static_cast<int>(reduction.attrs.Int(Attr::kLanes))};
}

void LaneReductionWriter::WriteReduction(const Binding& reduction, bool in_loop) {
  const Reduction r = Describe(reduction);
  const int few = IsDear(reduction) ? kFewOfDear : kFew;
  const auto of_few = [&](int count) {
    return [&, count] { return Halve(r, Tail(r, r.lo, Starts(r, count)), few); };
  };
  const auto of_many = [&] { return Halve(r, All(r), few); };
  const auto has_at_most = [&](int count) {
    return builder().Scalar(OpCode::kLe, {builder().Sub(r.hi, r.lo), Int(count)});
  };
  const auto of_more = [&] { return Choose(has_at_most(2 * few), of_few(2 * few), of_many); };
  const Operands lanes =
      in_loop && MayBeFew(reduction) ? Choose(has_at_most(few), of_few(few), of_more) : All(r);
  const Operands ends = Halve(r, lanes, 1);
  for (size_t k = 0; k < reduction.results.size(); ++k) Replace(reduction.results[k], ends[k]);
}

Operands LaneReductionWriter::All(const Reduction& r) {
  const int part = LanesOfPart(r.reduction, vector_bytes_);
  return part < r.lanes ? AllByParts(r, part) : Part(r, Int(0), r.lanes);
}

// So many of the lanes, from the one of that number on.
Operands LaneReductionWriter::Part(const Reduction& r, const Operand& first, int count) {
  const Operand end = EndOfWhole(r.lo, r.hi, r.lanes);
  const Operands whole = Carry(
      r.lo, end, Starts(r, count),
      [&](const Operand& i, const Operands& so_far) {
        return Step(r, builder().Add(i, first), so_far);
      },
      r.lanes);
  const Operand rest = builder().Add(end, first);
  const bool goes_on = count == r.lanes && IsDear(r.reduction);
  const auto tail = [&] { return goes_on ? DearTail(r, rest, whole) : Tail(r, rest, whole); };
  return Choose(builder().Scalar(OpCode::kLt, {rest, r.hi}), tail, [&] { return whole; });
}

// All lanes, some of them at a time: of short rows, which the first cache holds, some after the
// others, in registers from end to end; of long ones all in each step, in arrays, so that memory is
// read in order.
Operands LaneReductionWriter::AllByParts(const Reduction& r, int part) {
  std::vector<const Var*> sums;
  for (const Var* result : r.reduction.results)
    sums.push_back(InMemory(result->type.dtype(), r.lanes));
  const auto each_part = [&](const std::function<Operands(const Operand& first)>& write) {
    Loop(
        Int(0), Int(r.lanes), {},
        [&](const Operand& first) { StoreSums(sums, first, write(first)); }, part);
  };
  const auto in_registers = [&] {
    each_part([&](const Operand& first) { return Part(r, first, part); });
    return Operands{};
  };
  const auto in_memory = [&] {
    each_part([&](const Operand&) { return Starts(r, part); });
    const Operand end = EndOfWhole(r.lo, r.hi, r.lanes);
    const auto step = [&](const Operand& i) {
      each_part([&](const Operand& first) {
        const Operands so_far = LoadSums(sums, first, part);
        return Step(r, builder().Add(i, first), so_far);
      });
    };
    Loop(r.lo, end, {}, step, r.lanes);
    each_part([&](const Operand& first) {
      const Operands so_far = LoadSums(sums, first, part);
      const Operand rest = builder().Add(end, first);
      return Choose(
          builder().Scalar(OpCode::kLt, {rest, r.hi}), [&] { return Tail(r, rest, so_far); },
          [&] { return so_far; });
    });
    return Operands{};
  };
  const Operand is_short =
      builder().Scalar(OpCode::kLe, {builder().Sub(r.hi, r.lo), Int(kLongestByParts)});
  Choose(is_short, in_registers, in_memory);
  return LoadSums(sums, Int(0), r.lanes);
}

// What so many lanes start from.
Operands LaneReductionWriter::Starts(const Reduction& r, int count) {
  const LaneValues values(count);
  Operands starts;
  for (size_t k = 2; k < r.reduction.operands.size(); ++k)
    starts.push_back(values.Splat(builder(), Apply(r.reduction.operands[k])));
  return starts;
}

// The iterations from `start` on, one to each accumulator.
Operands LaneReductionWriter::Step(const Reduction& r, const Operand& start,
                                   const Operands& so_far) {
  const int lanes = ir::TypeOf(so_far[0]).lanes();
  return CombineVectors(r.take(), so_far,
                        WriteValues(r.element(), lanes, start, r.hi, std::nullopt));
}

// The iterations from `start` on, as many as there are accumulators or less, each to one of them:
// of a part, where more than its lanes may be left, the mask leaves those of the next parts out.
Operands LaneReductionWriter::Tail(const Reduction& r, const Operand& start,
                                   const Operands& so_far) {
  const Type type = ir::TypeOf(so_far[0]);
  const int lanes = type.lanes();
  const Operand mask = MaskOfTail(builder(), start, r.hi, lanes, ir::SizeInBytes(type.dtype()));
  Operands more =
      CombineVectors(r.take(), so_far, WriteValues(r.element(), lanes, start, r.hi, mask));
  for (size_t k = 0; k < more.size(); ++k)
    more[k] = builder().Scalar(OpCode::kSelect, {mask, more[k], so_far[k]});
  return more;
}

// The same of elements that take long: a register of them at a time, of accumulators in memory.
Operands LaneReductionWriter::DearTail(const Reduction& r, const Operand& start,
                                       const Operands& so_far) {
  std::vector<const Var*> sums;
  for (const Operand& one : so_far) sums.push_back(InMemory(ir::DTypeOf(one), r.lanes));
  StoreSums(sums, Int(0), so_far);
  const int step = r.lanes / kRegistersOfTree;
  Loop(
      start, r.hi, {},
      [&](const Operand& i) {
        const Operand place = builder().Sub(i, start);
        StoreSums(sums, place, Tail(r, i, LoadSums(sums, place, step)));
      },
      step);
  return LoadSums(sums, Int(0), r.lanes);
}

// So many lanes of more.
Operands LaneReductionWriter::Halve(const Reduction& r, Operands lanes, int to) {
  for (int left = ir::TypeOf(lanes[0]).lanes(); left > to; left /= 2)
    lanes = CombineVectors(r.combine(), Half(lanes, false), Half(lanes, true));
  return lanes;
}

// Lanes of one of several sums, in an array.
const Var* LaneReductionWriter::InMemory(DType dtype, int lanes) {
  const std::vector<Operand> size = {Int(lanes)};
  return builder().EmitOne(OpCode::kAlloc, Type::Array(dtype, size), size, {}, {}, "lanes");
}

void LaneReductionWriter::StoreSums(const std::vector<const Var*>& sums, const Operand& first,
                                    const Operands& all) {
  for (size_t k = 0; k < sums.size(); ++k)
    builder().Emit(OpCode::kStoreLanes, {}, {sums[k], first, all[k]}, {{Attr::kAxis, int64_t{0}}});
}

Operands LaneReductionWriter::LoadSums(const std::vector<const Var*>& sums, const Operand& first,
                                       int count) {
  Operands values;
  for (const Var* sum : sums) {
    const Type type = Type::Vector(sum->type.dtype(), count);
    values.push_back(
        builder().EmitOne(OpCode::kLoadLanes, type, {sum, first}, {{Attr::kAxis, int64_t{0}}}));
  }
  return values;
}

}  // namespace parakeet::passes
