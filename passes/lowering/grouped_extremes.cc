// Groups of iterations that keep an extreme at their place, in segments of the sorted order, so
// that many threads share a place where many iterations meet:
//
//   %a = load %y[%k]  %c = gt %v, %a  if %c { store %y[%k], %v }
//
// A thread of a group's first trip goes on to the end of its segment. In later segments of the
// group a thread each finds what would be kept of the segment alone, and one thread keeps that of
// all, in order. What is kept of nothing is less than all: a nan is never taken, and the first of
// equals stays the first, so each place sees what it would have seen.
#include <algorithm>

#include "ir/builder.h"
#include "passes/lowering/grouped_iterations.h"

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kSegment = 512;  // trips
constexpr int64_t kTogether = 16;  // that a thread reads before it compares

bool IsLess(OpCode op) { return op == OpCode::kLt || op == OpCode::kLe; }
bool IsMore(OpCode op) { return op == OpCode::kGt || op == OpCode::kGe; }

}  // namespace

std::optional<GroupedIterations::Extreme> GroupedIterations::FindExtreme(
    const std::vector<const Binding*>& ordered) {
  if (ordered.size() != 3) return std::nullopt;
  const Binding &load = *ordered[0], &compare = *ordered[1], &branch = *ordered[2];
  if (load.op != OpCode::kLoad || !(IsLess(compare.op) || IsMore(compare.op))) return std::nullopt;
  if (branch.op != OpCode::kIf || branch.operands[0] != Operand(compare.result()) ||
      !branch.results.empty() || branch.blocks[0]->bindings.size() != 1 ||
      !branch.blocks[1]->bindings.empty())
    return std::nullopt;
  const Binding& store = *branch.blocks[0]->bindings[0];
  const bool is_first = compare.operands[1] == Operand(load.result());
  const Operand& value = compare.operands[is_first ? 0 : 1];
  if (value == Operand(load.result()) ||
      compare.operands[is_first ? 1 : 0] != Operand(load.result()))
    return std::nullopt;
  const bool is_kept = store.op == OpCode::kStore && store.operands.back() == value &&
                       std::equal(load.operands.begin(), load.operands.end(),
                                  store.operands.begin(), store.operands.end() - 1);
  const ir::DType dtype = load.result()->type.dtype();
  if (!is_kept || ir::DTypeOf(value) != dtype || ir::IsComplex(dtype) || ir::IsBool(dtype))
    return std::nullopt;
  const bool is_most = IsMore(compare.op) == is_first;
  const auto start = ir::IdentityOf(is_most ? OpCode::kMax : OpCode::kMin, dtype);
  return start ? std::optional(Extreme{&load, &compare, value, *start}) : std::nullopt;
}

Operand GroupedIterations::SegmentEnd(const Sorted& sorted, const Operand& at) {
  const Operand segment = builder().Quotient(at, Int(kSegment));
  return Min(builder().Mul(builder().Add(segment, Int(1)), Int(kSegment)), sorted.total);
}

// What is kept where `so_far` stands.
Operand GroupedIterations::Keep(const Extreme& extreme, const Operand& so_far,
                                const Operand& value) {
  const bool is_first = extreme.compare->operands[0] == extreme.value;
  const Operand takes = builder().Scalar(
      extreme.compare->op, is_first ? Operands{value, so_far} : Operands{so_far, value});
  return builder().Scalar(OpCode::kSelect, {takes, value, so_far});
}

// The value of a trip.
Operand GroupedIterations::ValueAt(const Extreme& extreme, const Groups& groups,
                                   const Sorted& sorted, const Operand& key, const Operand& at) {
  const std::vector<const Var*>& handed = sorted.halves.handed;
  for (size_t k = 0; k < handed.size(); ++k)
    if (extreme.value == Operand(handed[k])) return builder().Load(sorted.handed[k], {at});
  return extreme.value.IsVar() && IsKey(groups, extreme.value.var()) ? key : extreme.value;
}

// The first trip of a segment, of a group that has begun before it: what its trips there keep.
void GroupedIterations::FoldSegment(const Extreme& extreme, const Groups& groups,
                                    const Sorted& sorted, const Operand& key, const Operand& first,
                                    const Var* parts) {
  const Operand end = SegmentEnd(sorted, first);
  const ir::Type type = extreme.load->result()->type;
  const auto trips = [&](const Operands& from, int64_t count) {
    const auto news = [&] {
      return std::vector<const Var*>{builder().NewVar(ir::DType::kI64, "at"),
                                     builder().NewVar(type, "kept")};
    };
    const std::vector<const Var*> tested = news(), carried = news(), results = news();
    const ir::Block* goes_on = BlockOf(tested, [&] {
      const Operand last = builder().Add(tested[0], Int(count - 1));
      const auto is_same = [&] {
        const Operand other = builder().Load(sorted.keys, {last});
        return Operands{builder().Scalar(OpCode::kEq, {other, key})};
      };
      return Choose(builder().Scalar(OpCode::kLt, {last, end}), is_same,
                    [] { return Operands{Operand::Bool(false)}; });
    });
    const ir::Block* trip = BlockOf(carried, [&] {
      Operands values;
      for (int64_t k = 0; k < count; ++k)
        values.push_back(ValueAt(extreme, groups, sorted, key, builder().Add(carried[0], Int(k))));
      Operand kept = carried[1];
      for (const Operand& value : values) kept = Keep(extreme, kept, value);
      return Operands{builder().Add(carried[0], Int(count)), kept};
    });
    builder().Emit(OpCode::kWhile, results, from, {}, {goes_on, trip});
    return Operands(results.begin(), results.end());
  };
  const Operands kept = trips(trips({first, Operand(extreme.start)}, kTogether), 1);
  builder().Store(parts, {builder().Quotient(first, Int(kSegment))}, kept[1]);
}

const Var* GroupedIterations::AllocateSegments(const Extreme& extreme, const Sorted& sorted) {
  const Operand count = CeilDiv(sorted.total, Int(kSegment));
  return builder().EmitOne(OpCode::kAlloc,
                           ir::Type::Array(extreme.load->result()->type.dtype(), {count}), {count},
                           {}, {}, "segments");
}

// True, in a block, for the first trip of a segment.
Operand GroupedIterations::IsSegmentsFirst(const Operand& at) {
  const Operand rest = builder().Remainder(at, Int(kSegment));
  return builder().Scalar(OpCode::kEq, {rest, Int(0)});
}

// A thread for each segment: the first that a group goes on in takes all that follow.
void GroupedIterations::JoinSegments(const Extreme& extreme, const Groups& groups,
                                     const Sorted& sorted, const Var* parts) {
  const Operand count = CeilDiv(sorted.total, Int(kSegment));
  const Var* segment = builder().NewVar(ir::DType::kI64, "segment");
  const auto key_at = [&](const Operand& at) { return builder().Load(sorted.keys, {at}); };
  const ir::Block* body = BlockOf({segment}, [&] {
    const Operand at = builder().Mul(segment, Int(kSegment));
    const Operand key = key_at(at);
    const auto is_same = [&](const Operand& other) {
      return builder().Scalar(OpCode::kEq, {key_at(other), key});
    };
    const auto no = [] { return Operands{Operand::Bool(false)}; };
    const auto begins = [&] {
      const Operand goes_on = is_same(builder().Sub(at, Int(1)));
      const Operand before = builder().Sub(at, Int(kSegment + 1));
      const Operand is_later = Choose(
          builder().Scalar(OpCode::kGe, {before, Int(0)}),
          [&] { return Operands{is_same(before)}; }, no)[0];
      return Operands{
          builder().Scalar(OpCode::kAnd, {goes_on, builder().Scalar(OpCode::kNot, {is_later})})};
    };
    const Operand is_first =
        Choose(builder().Scalar(OpCode::kGt, {segment, Int(0)}), begins, no)[0];
    const Operand is_place = builder().Scalar(OpCode::kNe, {key, Product(groups.places)});
    If(builder().Scalar(OpCode::kAnd, {is_first, is_place}), [&] {
      ir::Substitution places = PlacesOf(groups, sorted, at, key);
      Operands index;
      for (size_t k = 1; k < extreme.load->operands.size(); ++k) {
        const auto found = places.find(extreme.load->operands[k].var());
        index.push_back(found == places.end() ? extreme.load->operands[k] : found->second);
      }
      const Operand array = extreme.load->operands[0];
      const auto news = [&] {
        return std::vector<const Var*>{builder().NewVar(ir::DType::kI64, "segment"),
                                       builder().NewVar(extreme.load->result()->type, "kept")};
      };
      const std::vector<const Var*> tested = news(), carried = news(), results = news();
      const ir::Block* goes_on = BlockOf(tested, [&] {
        return Choose(
            builder().Scalar(OpCode::kLt, {tested[0], count}),
            [&] { return Operands{is_same(builder().Mul(tested[0], Int(kSegment)))}; }, no);
      });
      const ir::Block* step = BlockOf(carried, [&] {
        const Operand part = builder().Load(parts, {carried[0]});
        return Operands{builder().Add(carried[0], Int(1)), Keep(extreme, carried[1], part)};
      });
      builder().Emit(OpCode::kWhile, results, {segment, builder().Load(array, index)}, {},
                     {goes_on, step});
      builder().Store(array, index, results[1]);
    });
    return Operands{};
  });
  builder().Emit(OpCode::kForeach, {}, {count}, {}, {body});
}

}  // namespace parakeet::passes
