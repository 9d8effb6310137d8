// Computes in fewer bits what i64 are computed for that only some bits of are read, or that are
// known to be small: more of them fit a register.
//
// Before:
//   %a: i64 = cast %x  %b: i64 = cast %y  %s: i64 = add %a, %b  %p: bool = gt %s, 300     (of u8)
//   %c: i64 = select %p, 1, 0  %d: i64 = or %c, 2  %e: u8 = cast %d
// After:
//   %a: i16 = cast %x  %b: i16 = cast %y  %s: i16 = add %a, %b  %p: bool = gt %s, 300:i16
//   %c: u8 = select %p, 1:u8, 0:u8  %e: u8 = or %c, 2:u8
//
// Integers wrap: the low bits of a sum, a product or a choice are made of the low bits of its
// operands. What a comparison, a shift to the right, a quotient or a float is made of must be the
// number itself, whose bounds then fit the narrower type. What a loop carries is bounded by going
// through its iterations, where these are few, and what a reduction sums by how many elements it
// has.
//
// Assumes: index form, behind fusion, or loops with lanes. Inside of these alone: a loop by itself
// gains nothing.
// Refuses: numbers together with one that an index, a store, or anything else reads or makes that
// takes all of its bits.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/dtype.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/integer_intervals.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Interval = IntegerInterval;

// Of sums, and the largest of them, so that none overflows what intervals are made of.
constexpr int64_t kMostElements = int64_t{1} << 20;

bool IsWide(const Operand& operand) { return ir::TypeOf(operand) == ir::Type(DType::kI64); }

bool IsNarrowSource(DType dtype) {
  return ir::IsBool(dtype) || (ir::IsInteger(dtype) && ir::SizeInBits(dtype) <= 32);
}

// Operations on integers whose low bits follow from the low bits of their operands.
bool IsModular(OpCode op) {
  return op == OpCode::kAdd || op == OpCode::kSub || op == OpCode::kMul || op == OpCode::kNeg ||
         op == OpCode::kAnd || op == OpCode::kOr || op == OpCode::kXor || op == OpCode::kNot ||
         op == OpCode::kSelect;
}

// Else it begins with the first element.
bool BeginsWithInits(const Binding& reduction) {
  return reduction.operands.size() > reduction.blocks[0]->params.size();
}

// Finds groups of numbers that are computed from one another, and what is asked of each.
class Groups {
 public:
  explicit Groups(const ir::Function& function) { See(*function.body, false); }

  // The type that the number and all of its group are computed in; none where it stays i64.
  std::optional<DType> TypeOf(const Var* var) {
    const auto found = numbers_.find(var);
    if (found == numbers_.end()) return std::nullopt;
    return TypeOf(groups_[Find(found->second)]);
  }
  bool Narrows(const Operand& operand) {
    return operand.IsVar() && TypeOf(operand.var()).has_value();
  }

 private:
  struct Group {
    bool stays = false;
    int bits = 1;                 // that are read, at least
    std::optional<Interval> all;  // of the numbers that are read as such
  };

  static std::optional<DType> TypeOf(const Group& group) {
    if (group.stays) return std::nullopt;
    for (const DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32}) {
      if (ir::SizeInBits(dtype) < group.bits) continue;
      if (!group.all || group.all->Fits(dtype)) return dtype;
    }
    return std::nullopt;
  }

  size_t Find(size_t number) {
    while (parents_[number] != number) number = parents_[number] = parents_[parents_[number]];
    return number;
  }

  size_t NumberOf(const Var* var) {
    const auto [found, is_new] = numbers_.try_emplace(var, parents_.size());
    if (is_new) {
      parents_.push_back(found->second);
      groups_.push_back({.stays = true});  // until it is defined
    }
    return found->second;
  }

  void Define(const Var* var, std::optional<Interval> interval) {
    groups_[NumberOf(var)].stays = false;
    if (interval) intervals_[var] = *interval;
  }

  void Join(const Operand& a, const Operand& b) {
    if (!a.IsVar() || !b.IsVar()) return;
    const size_t from = Find(NumberOf(b.var())), to = Find(NumberOf(a.var()));
    if (from == to) return;
    parents_[from] = to;
    Group& group = groups_[to];
    const Group& other = groups_[from];
    group.stays |= other.stays;
    group.bits = std::max(group.bits, other.bits);
    if (other.all) group.all ? group.all->Include(*other.all) : void(group.all = other.all);
  }

  Group& GroupOf(const Operand& operand) { return groups_[Find(NumberOf(operand.var()))]; }

  std::optional<Interval> BoundsOf(const Operand& operand) const {
    if (operand.IsConstant()) return IntervalOf(operand.constant());
    return BoundsOf(operand.var());
  }

  std::optional<Interval> BoundsOf(const Var* var) const {
    const auto found = intervals_.find(var);
    return found == intervals_.end() ? std::nullopt : std::optional(found->second);
  }

  // The number itself is read, beside others of `group`.
  void ReadWhole(const Operand& operand, Group& group) {
    const std::optional<Interval> bounds = BoundsOf(operand);
    if (!bounds) {
      group.stays = true;
    } else {
      group.all ? group.all->Include(*bounds) : void(group.all = bounds);
    }
  }

  void Keep(const Operand& operand) {
    if (operand.IsVar() && IsWide(operand)) GroupOf(operand).stays = true;
  }

  void See(const Block& block, bool in_nest) {
    for (const Binding* b : block.bindings) See(*b, in_nest);
  }

  void See(const Binding& b, bool in_nest) {
    const bool is_nest =
        ir::InfoOf(b.op).format == ir::OpFormat::kIndices || b.op == OpCode::kLanes;
    if (in_nest && b.op == OpCode::kFor) return SeeLoop(b);
    if (in_nest && b.op == OpCode::kIreduce && b.blocks.size() == 2) return SeeReduction(b);
    for (const Block* inner : b.blocks) See(*inner, in_nest || is_nest);
    if (in_nest && b.op == OpCode::kIf) return SeeChoice(b);
    if (in_nest && b.op == OpCode::kCast) return SeeCast(b);
    if (in_nest && b.op == OpCode::kCheck) return SeeCheck(b);
    if (in_nest && ir::IsScalarOp(b.op) && SeeScalar(b)) return;
    for (const Operand& operand : b.operands) Keep(operand);
    KeepSizes(b);
    for (const Block* inner : b.blocks) {
      for (const Operand& result : inner->results) Keep(result);
    }
  }

  // What an iteration has of the one before it is computed in one type in all of them.
  void SeeLoop(const Binding& b) {
    const Block& body = *b.blocks[0];
    for (int k = 0; k < 3; ++k) Keep(b.operands[k]);
    BlockIntervals intervals([&](const Var* var) { return BoundsOf(var); });
    const BlockIntervals::Carried carried = intervals.CarriedBy(b);
    for (size_t k = 0; k < b.results.size(); ++k) {
      const Var* param = body.params[FirstCarried(b) + k];
      if (IsWide(param)) Define(param, carried.params[k]);
    }
    See(body, true);
    for (size_t k = 0; k < b.results.size(); ++k) {
      const Operand result = b.results[k];
      if (!IsWide(result)) continue;
      Define(result.var(), carried.results[k]);
      Join(result, body.params[FirstCarried(b) + k]);
      Join(result, body.results[k]);
      Join(result, b.operands[FirstInit(b) + k]);
    }
    KeepSizes(b);
  }

  // Accumulators, and what they are combined from.
  void SeeReduction(const Binding& b) {
    const Block &element = *b.blocks[0], &combine = *b.blocks[1];
    const size_t rank = element.params.size(), count = b.results.size();
    for (size_t k = 0; k < rank; ++k) Keep(b.operands[k]);
    See(element, true);
    for (size_t k = 0; k < count; ++k) {
      const std::optional<Interval> bounds = BoundsOfReduced(b, k);
      for (const Var* param : {combine.params[k], combine.params[count + k]}) {
        if (IsWide(param)) Define(param, bounds);
      }
    }
    See(combine, true);
    for (size_t k = 0; k < count; ++k) {
      const Operand result = b.results[k];
      if (!IsWide(result)) continue;
      Define(result.var(), BoundsOfReduced(b, k));
      for (const Operand& other : {Operand(combine.params[k]), Operand(combine.params[count + k]),
                                   combine.results[k], element.results[k]})
        Join(result, other);
      if (BeginsWithInits(b)) Join(result, b.operands[rank + k]);
    }
    KeepSizes(b);
  }

  // Of all that is combined of some of the elements and what it begins with, in whatever order.
  std::optional<Interval> BoundsOfReduced(const Binding& b, size_t k) const {
    const size_t rank = b.blocks[0]->params.size();
    const std::optional<OpCode> op = ir::CombineOp(*b.blocks[1], static_cast<int>(k));
    const std::optional<Interval> element = BoundsOf(b.blocks[0]->results[k]);
    std::optional<Interval> all = BeginsWithInits(b) ? BoundsOf(b.operands[rank + k]) : element;
    if (!op || !element || !all) return std::nullopt;
    if (*op == OpCode::kMin || *op == OpCode::kMax) {
      all->Include(*element);
      return all;
    }
    if (*op != OpCode::kAdd) return std::nullopt;
    int64_t count = 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (!b.operands[axis].IsConstant()) return std::nullopt;
      count *= std::clamp<int64_t>(b.operands[axis].constant().integer, 0, kMostElements + 1);
      if (count > kMostElements) return std::nullopt;
    }
    const int64_t lo = std::min<int64_t>(element->lo, 0), hi = std::max<int64_t>(element->hi, 0);
    if (lo < -kMostElements || hi > kMostElements) return std::nullopt;
    return Interval{std::min<int64_t>(all->lo, 0) + count * lo,
                    std::max<int64_t>(all->hi, 0) + count * hi};
  }

  void SeeChoice(const Binding& b) {
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!IsWide(b.results[k])) continue;
      std::optional<Interval> bounds = BoundsOf(b.blocks[0]->results[k]);
      const std::optional<Interval> other = BoundsOf(b.blocks[1]->results[k]);
      if (bounds && other) bounds->Include(*other);
      Define(b.results[k], other ? bounds : std::nullopt);
      for (const Block* inner : b.blocks) Join(b.results[k], inner->results[k]);
    }
    KeepSizes(b);
  }

  // Those of arrays that it makes, which may be its own results.
  void KeepSizes(const Binding& b) {
    for (const Var* result : b.results) {
      for (const Operand& dim : result->type.dims()) Keep(dim);
    }
  }

  void SeeCast(const Binding& b) {
    const DType from = ir::DTypeOf(b.operands[0]), to = ir::DTypeOf(b.result());
    if (IsWide(b.result()) && IsNarrowSource(from)) Define(b.result(), IntervalOf(from));
    if (!b.operands[0].IsVar() || !IsWide(b.operands[0])) return;
    Group& group = GroupOf(b.operands[0]);
    if (ir::IsInteger(to) && ir::SizeInBits(to) < 64) {
      group.bits = std::max(group.bits, ir::SizeInBits(to));
    } else {
      ReadWhole(b.operands[0], group);
    }
  }

  // What it tells of is told in full.
  void SeeCheck(const Binding& b) {
    for (const Operand& operand : b.operands) {
      if (operand.IsVar() && IsWide(operand)) ReadWhole(operand, GroupOf(operand));
    }
  }

  // False where its operands are read as anything reads them.
  bool SeeScalar(const Binding& b) {
    const size_t first = b.op == OpCode::kSelect ? 1 : 0;
    if (b.operands.size() <= first || !IsWide(b.operands[first])) return false;
    if (ir::IsComparison(b.op)) {
      Join(b.operands[0], b.operands[1]);
      return ReadWhole(b, b.operands[b.operands[0].IsVar() ? 0 : 1]);
    }
    if (!IsWide(b.result())) return false;
    const bool is_extreme = b.op == OpCode::kMin || b.op == OpCode::kMax;
    const bool is_shift = (b.op == OpCode::kShl || b.op == OpCode::kShr) && IsShort(b.operands[1]);
    const bool is_division = (b.op == OpCode::kFloorDiv || b.op == OpCode::kMod) &&
                             b.operands[1].IsConstant() && b.operands[1].constant().integer > 0;
    const bool is_abs = b.op == OpCode::kAbs;
    if (!is_extreme && !is_shift && !is_division && !is_abs && !IsModular(b.op)) return false;
    Define(b.result(), BoundsOf(b));
    for (size_t k = first; k < b.operands.size(); ++k) Join(b.result(), b.operands[k]);
    // The number that is farthest from 0 has another sign, where there is one.
    if (is_abs) ReadWhole(b.result(), GroupOf(b.result()));
    if (is_abs) return ReadWhole(b, b.result());
    return is_extreme || is_division || b.op == OpCode::kShr ? ReadWhole(b, b.result()) : true;
  }

  // A distance that is one in any type.
  static bool IsShort(const Operand& distance) {
    return distance.IsConstant() && distance.constant().integer >= 0 &&
           distance.constant().integer < 32;
  }

  bool ReadWhole(const Binding& b, const Operand& member) {
    if (!member.IsVar()) return false;
    for (const Operand& operand : b.operands) ReadWhole(operand, GroupOf(member));
    return true;
  }

  std::optional<Interval> BoundsOf(const Binding& b) const {
    return IntervalOf(b, [&](const Operand& operand) { return BoundsOf(operand); });
  }

  std::unordered_map<const Var*, size_t> numbers_;
  std::vector<size_t> parents_;
  std::vector<Group> groups_;
  std::unordered_map<const Var*, Interval> intervals_;
};

class IntegerNarrower : public ir::Mutator {
 public:
  IntegerNarrower(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), groups_(function) {}

 protected:
  void Visit(const Binding* b) override {
    const std::optional<DType> dtype = TypeIn(*b);
    if (b->op == OpCode::kIf) return VisitChoice(*b);
    if (b->op == OpCode::kFor) return VisitLoop(*b);
    if (b->op == OpCode::kIreduce && b->blocks.size() == 2) return VisitReduction(*b);
    if (b->op == OpCode::kCheck) return VisitCheck(*b);
    if (!dtype) return Mutator::Visit(b);
    if (b->op == OpCode::kCast) {
      const DType to = groups_.TypeOf(b->result()).value_or(ir::DTypeOf(b->result()));
      return Replace(b->result(), builder().Cast(Apply(b->operands[0]), to));
    }
    std::vector<Operand> operands = Apply(b->operands);
    for (Operand& operand : operands) operand = InType(operand, *dtype);
    Replace(b->result(), builder().Scalar(b->op, std::move(operands), b->result()->hint));
  }

 private:
  // The type of what the binding reads or makes that is narrowed, none where nothing is.
  std::optional<DType> TypeIn(const Binding& b) {
    if (!ir::IsScalarOp(b.op) || b.results.size() != 1) return std::nullopt;
    for (const Operand& operand : b.operands) {
      if (groups_.Narrows(operand)) return groups_.TypeOf(operand.var());
    }
    return groups_.TypeOf(b.result());
  }

  static Operand InType(const Operand& operand, DType dtype) {
    if (!operand.IsConstant() || !IsWide(operand)) return operand;
    const int drop = 64 - ir::SizeInBits(dtype);
    const auto bits = static_cast<uint64_t>(operand.constant().integer) << drop;
    return ir::ConstantOf(dtype, ir::IsSigned(dtype) ? static_cast<int64_t>(bits) >> drop
                                                     : static_cast<int64_t>(bits >> drop));
  }

  void VisitChoice(const Binding& b) {
    Binding choice = *Rewrite(&b);
    for (size_t k = 0; k < b.results.size(); ++k) {
      const std::optional<DType> dtype = groups_.TypeOf(b.results[k]);
      if (!dtype) continue;
      choice.results[k] = builder().NewVar(*dtype, b.results[k]->hint);
      Replace(b.results[k], choice.results[k]);
      for (const Block*& inner : choice.blocks) {
        Block ended = *inner;
        ended.results[k] = InType(ended.results[k], *dtype);
        inner = arena()->New(std::move(ended));
      }
    }
    builder().Append(arena()->New(std::move(choice)));
  }

  void VisitLoop(const Binding& b) {
    std::vector<std::optional<DType>> dtypes;
    for (size_t k = 0; k < b.results.size(); ++k) {
      dtypes.push_back(groups_.TypeOf(b.results[k]));
      if (!dtypes[k]) continue;
      const Var* param = b.blocks[0]->params[FirstCarried(b) + k];
      Replace(param, builder().NewVar(*dtypes[k], param->hint));
    }
    Binding loop = *Rewrite(&b);
    Block body = *loop.blocks[0];
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!dtypes[k]) continue;
      const size_t param = FirstCarried(b) + k;
      body.params[param] = Apply(b.blocks[0]->params[param]).var();
      body.results[k] = InType(body.results[k], *dtypes[k]);
      Operand& init = loop.operands[FirstInit(b) + k];
      init = InType(init, *dtypes[k]);
      loop.results[k] = builder().NewVar(*dtypes[k], b.results[k]->hint);
      Replace(b.results[k], loop.results[k]);
    }
    loop.blocks[0] = arena()->New(std::move(body));
    builder().Append(arena()->New(std::move(loop)));
  }

  void VisitReduction(const Binding& b) {
    const size_t rank = b.blocks[0]->params.size(), count = b.results.size();
    std::vector<std::optional<DType>> dtypes;
    for (size_t k = 0; k < count; ++k) {
      dtypes.push_back(groups_.TypeOf(b.results[k]));
      if (!dtypes[k]) continue;
      for (const size_t side : {k, count + k}) {
        const Var* param = b.blocks[1]->params[side];
        Replace(param, builder().NewVar(*dtypes[k], param->hint));
      }
    }
    Binding reduction = *Rewrite(&b);
    Block element = *reduction.blocks[0], combine = *reduction.blocks[1];
    for (size_t k = 0; k < count; ++k) {
      if (!dtypes[k]) continue;
      for (const size_t side : {k, count + k})
        combine.params[side] = Apply(b.blocks[1]->params[side]).var();
      element.results[k] = InType(element.results[k], *dtypes[k]);
      combine.results[k] = InType(combine.results[k], *dtypes[k]);
      if (BeginsWithInits(b)) {
        Operand& init = reduction.operands[rank + k];
        init = InType(init, *dtypes[k]);
      }
      reduction.results[k] = builder().NewVar(*dtypes[k], b.results[k]->hint);
      Replace(b.results[k], reduction.results[k]);
    }
    reduction.blocks = {arena()->New(std::move(element)), arena()->New(std::move(combine))};
    builder().Append(arena()->New(std::move(reduction)));
  }

  void VisitCheck(const Binding& b) {
    Binding check = b;
    for (Operand& operand : check.operands) {
      const bool narrows = groups_.Narrows(operand);
      operand = Apply(operand);
      if (narrows) operand = builder().Cast(operand, DType::kI64);
    }
    builder().Append(arena()->New(std::move(check)));
  }

  Groups groups_;
};

}  // namespace

ir::Program NarrowIntegers(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return IntegerNarrower(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
