#include "passes/analyses/nest_ends.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr size_t kMostProducts = 12;
constexpr size_t kMostCorners = 8;
constexpr int kDeepestKnown = 6;
constexpr int64_t kLargestTable = 4096;
constexpr double kMostOfSize = 281474976710656.0;  // 2^48, as Ranges has it
constexpr double kFar = 4611686018427387904.0;     // 2^62

bool IsInI64(const Operand& value) { return ir::TypeOf(value) == ir::Type(DType::kI64); }

bool IsByIndex(OpCode op) { return ir::InfoOf(op).format == ir::OpFormat::kIndices; }

int SignOf(int64_t number) { return number < 0 ? -1 : 1; }

// The divisor where it is a positive number.
bool IsByPositive(const Binding& b) {
  return b.operands[1].IsConstant() && b.operands[1].constant().integer > 0;
}

}  // namespace

bool NestEnds::Moves::IsStill() const {
  return steps.empty() && std::all_of(products.begin(), products.end(),
                                      [](const auto& part) { return part.first.empty(); });
}

NestEnds::NestEnds(const Binding& loop, const ir::DefinitionMap& outside, const ir::VarSet& sizes)
    : outside_(outside),
      sizes_(sizes),
      inside_(ir::DefinedVars(*loop.blocks[0])),
      makers_(ir::Definitions(*loop.blocks[0])),
      body_(*loop.blocks[0]) {
  FindRanges(Block{{}, {&loop}, {}});
}

void NestEnds::FindRanges(const Block& block) {
  for (const Binding* b : block.bindings) {
    const bool is_loop = b->op == OpCode::kFor;
    const size_t count = is_loop ? 1 : IsByIndex(b->op) ? b->blocks[0]->params.size() : 0;
    for (size_t axis = 0; axis < count; ++axis) {
      const Var* index = b->blocks[0]->params[axis];
      indexes_.push_back(index);
      ranges_.emplace(
          index, is_loop ? Range{b->operands[0], b->operands[1], b->operands[2].constant().integer}
                         : Range{Operand::Int(0), b->operands[axis], 1});
    }
    for (const Block* inner : b->blocks) FindRanges(*inner);
  }
}

const Binding* NestEnds::Made(const Operand& value) const {
  const auto found = value.IsVar() ? makers_.find(value.var()) : makers_.end();
  return found == makers_.end() ? nullptr : found->second;
}

// What makes `p < 0 ? p + size : p`.
const Binding* NestEnds::FromTheEnd(const Operand& value) const {
  const Binding* select = Made(value);
  if (select == nullptr || select->op != OpCode::kSelect) return nullptr;
  const Binding* is_negative = Made(select->operands[0]);
  const Binding* from_end = Made(select->operands[1]);
  const Operand& place = select->operands[2];
  const bool is_index = is_negative != nullptr && from_end != nullptr &&
                        is_negative->op == OpCode::kLt && from_end->op == OpCode::kAdd &&
                        is_negative->operands == std::vector{place, Operand::Int(0)} &&
                        from_end->operands[0] == place;
  return is_index ? select : nullptr;
}

// --- How values follow indexes. ---

std::optional<NestEnds::Moves> NestEnds::MovesOf(const Operand& value) {
  if (!IsInI64(value)) return std::nullopt;
  if (value.IsConstant()) return Moves{{{{}, SignOf(value.constant().integer)}}, {}};
  const Var* var = value.var();
  if (ranges_.contains(var)) return Moves{{{{var}, 1}}, {}};
  if (!inside_.contains(var)) return Moves{{{{}, sizes_.contains(var) ? 1 : 0}}, {}};
  const auto known = moves_.find(var);
  if (known != moves_.end()) return known->second;
  const Binding* made = Made(value);
  std::optional<Moves> moves = made == nullptr ? std::nullopt : MadeBy(*made);
  moves_[var] = moves;
  return moves;
}

std::optional<NestEnds::Moves> NestEnds::MadeBy(const Binding& b) {
  if (b.op == OpCode::kSelect) {
    const Binding* select = FromTheEnd(b.results[0]);
    if (select == nullptr) return std::nullopt;
    const bool is_new =
        std::find(selections_.begin(), selections_.end(), select) == selections_.end();
    if (is_new) selections_.push_back(select);
    const Operand& place = select->operands[2];
    return !is_new || IsFromTheStart(*select) ? MovesOf(place) : std::nullopt;
  }
  const bool is_extreme = b.op == OpCode::kMin || b.op == OpCode::kMax;
  const bool is_quotient = b.op == OpCode::kFloorDiv && IsByPositive(b);
  const bool is_sum = b.op == OpCode::kAdd || b.op == OpCode::kSub;
  if (!is_extreme && !is_quotient && !is_sum && b.op != OpCode::kMul) return std::nullopt;
  const std::optional<Moves> left = MovesOf(b.operands[0]), right = MovesOf(b.operands[1]);
  if (!left || !right) return std::nullopt;
  if (is_extreme) return OneWay({*left, *right});
  if (is_quotient) return OneWay({*left});
  if (b.op == OpCode::kMul) return Product(*left, *right);
  Moves sum = *left;
  return AddTo(sum, *right, b.op == OpCode::kAdd ? 1 : -1) ? std::optional(sum) : std::nullopt;
}

// Asks so wherever the place is used: of branches, only those in which it is made bound it.
bool NestEnds::IsFromTheStart(const Binding& select) {
  const std::vector<Narrowed> all = narrowed_;
  std::erase_if(narrowed_, [&](const Narrowed& each) {
    return !ir::DefinedVars(*each.block).contains(select.result());
  });
  const bool is_asked = Demand(OpCode::kGe, select.operands[2], Operand::Int(0));
  narrowed_ = all;
  return is_asked;
}

// False where what goes one way no longer does.
bool NestEnds::AddTo(Moves& sum, const Moves& other, int sign) {
  for (const auto& [factors, of_other] : other.products) {
    const auto [at, is_new] = sum.products.emplace(factors, sign * of_other);
    if (!is_new && at->second != sign * of_other) at->second = 0;
  }
  for (const auto& [index, way] : other.steps) {
    const auto [at, is_new] = sum.steps.emplace(index, sign * way);
    if (!is_new && at->second != sign * way) return false;
  }
  return sum.products.size() <= kMostProducts;
}

std::optional<NestEnds::Moves> NestEnds::Product(const Moves& a, const Moves& b) {
  if (!a.steps.empty() || !b.steps.empty()) {
    const Moves& still = a.steps.empty() ? a : b;
    const Moves& other = a.steps.empty() ? b : a;
    const int sign = still.IsStill() ? still.products.at({}) : 0;
    Moves product;
    if (sign == 0 || !AddTo(product, other, sign)) return std::nullopt;
    return product;
  }
  Moves product;
  for (const auto& [of_a, sign_a] : a.products) {
    for (const auto& [of_b, sign_b] : b.products) {
      std::vector<const Var*> factors = of_a;
      factors.insert(factors.end(), of_b.begin(), of_b.end());
      std::sort(factors.begin(), factors.end());
      const bool is_square = std::adjacent_find(factors.begin(), factors.end()) != factors.end();
      if (is_square || !AddTo(product, Moves{{{factors, sign_a * sign_b}}, {}}, 1))
        return std::nullopt;
    }
  }
  return product;
}

// Of what rises where one of these does, and falls where one does.
std::optional<NestEnds::Moves> NestEnds::OneWay(const std::vector<Moves>& parts) {
  Moves moves{{{{}, 0}}, {}};
  for (const Moves& part : parts) {
    ir::VarSet indexes;
    for (const auto& product : part.products)
      indexes.insert(product.first.begin(), product.first.end());
    for (const auto& step : part.steps) indexes.insert(step.first);
    for (const Var* index : indexes) {
      const std::optional<int> slope = SlopeOf(part, index);
      if (!slope || *slope == 0) return std::nullopt;
      const auto [at, is_new] = moves.steps.emplace(index, *slope);
      if (!is_new && at->second != *slope) return std::nullopt;
    }
  }
  return moves;
}

// Which way the value goes with the index: 0 for either; none where it may go both.
std::optional<int> NestEnds::SlopeOf(const Moves& moves, const Var* index) {
  std::optional<int> slope;
  for (const auto& [factors, sign] : moves.products) {
    if (std::find(factors.begin(), factors.end(), index) == factors.end()) continue;
    const int of_product = factors.size() == 1 ? sign : 0;
    slope = !slope || *slope == of_product ? of_product : 0;
  }
  const auto step = moves.steps.find(index);
  if (step == moves.steps.end()) return slope;
  const bool agrees = !slope || *slope == step->second;
  return agrees ? std::optional(step->second) : std::nullopt;
}

// The same where the index is at an end of its range.
std::optional<NestEnds::Moves> NestEnds::AtEnd(const Moves& moves, const Var* index, bool high) {
  const Range& range = ranges_.at(index);
  const bool is_last = high == (range.step > 0);
  std::optional<Moves> end =
      IsNarrowed(index, high) ? Moves{{{{}, 0}}, {}} : MovesOf(is_last ? range.hi : range.lo);
  if (!end || !AddTo(*end, Moves{{{{}, 0}}, {}}, 1)) return std::nullopt;
  Moves rest, times;
  for (const auto& [factors, sign] : moves.products) {
    std::vector<const Var*> left = factors;
    const bool has_index = std::erase(left, index) > 0;
    (has_index ? times : rest).products.emplace(left, sign);
  }
  for (const auto& [of, way] : moves.steps) {
    if (of != index) rest.steps.emplace(of, way);
  }
  const auto step = moves.steps.find(index);
  if (step != moves.steps.end()) {
    const std::optional<Moves> one_way = OneWay({*end});
    if (!one_way || !AddTo(rest, *one_way, step->second)) return std::nullopt;
  }
  if (times.products.empty()) return rest;
  const std::optional<Moves> moved = Product(times, *end);
  return moved && AddTo(rest, *moved, 1) ? std::optional(rest) : std::nullopt;
}

// --- What branches leave of ranges. ---

bool NestEnds::Enter(const Block& block, const Operand& condition) {
  const Binding* made = Made(condition);
  if (made == nullptr) return false;
  if (made->op != OpCode::kAnd) return Narrow(block, *made, false) || Narrow(block, *made, true);
  const bool by_first = Enter(block, made->operands[0]);
  return Enter(block, made->operands[1]) || by_first;
}

// By `index < end`, or `end < index` where turned, of an end that is known in front of the loop.
bool NestEnds::Narrow(const Block& block, const Binding& comparison, bool turned) {
  const bool is_strict = comparison.op == OpCode::kLt || comparison.op == OpCode::kGt;
  const bool is_less = comparison.op == OpCode::kLt || comparison.op == OpCode::kLe;
  if (!is_less && comparison.op != OpCode::kGt && comparison.op != OpCode::kGe) return false;
  const Operand& index = comparison.operands[turned];
  const Operand& end = comparison.operands[!turned];
  const auto range = index.IsVar() ? ranges_.find(index.var()) : ranges_.end();
  const auto is_inside = [&](const Operand& value) {
    return value.IsVar() && inside_.contains(value.var());
  };
  if (range == ranges_.end() || is_inside(end)) return false;
  if (is_inside(range->second.lo) || is_inside(range->second.hi)) return false;
  const bool high = is_less != turned;
  narrowed_.push_back({&block, index.var(), high, end, is_strict ? (high ? -1 : 1) : 0});
  return true;
}

void NestEnds::Leave(const Block& block) {
  std::erase_if(narrowed_, [&](const Narrowed& each) { return each.block == &block; });
}

bool NestEnds::IsNarrowed(const Var* index, bool high) const {
  return std::any_of(narrowed_.begin(), narrowed_.end(), [&](const Narrowed& each) {
    return each.index == index && each.high == high;
  });
}

// --- Which comparisons are decided. ---

bool NestEnds::Add(const Operand& condition) {
  const Binding* made = Made(condition);
  if (made == nullptr) return false;
  if (made->op == OpCode::kAnd) return Add(made->operands[0]) && Add(made->operands[1]);
  switch (made->op) {
    case OpCode::kLt:
    case OpCode::kLe:
    case OpCode::kGt:
    case OpCode::kGe: return Demand(made->op, made->operands[0], made->operands[1]);
    default: return false;
  }
}

// The worst that small integers which data say may be in the comparison; the value where it is no
// such integer.
Operand NestEnds::Bounded(OpCode op, const Operand& value) {
  if (!value.IsVar() || !inside_.contains(value.var()) || MovesOf(value)) return value;
  if (!data_) data_.emplace(nullptr).See(body_);
  const std::optional<IntegerInterval> interval = data_->Of(value);
  if (!interval || interval->lo < 0 || interval->hi > kLargestTable) return value;
  asks_of_data_ = true;
  return Operand::Int(op == OpCode::kLt || op == OpCode::kLe ? interval->hi : interval->lo);
}

bool NestEnds::Demand(OpCode op, const Operand& compared, const Operand& right) {
  const Operand left = Bounded(op, compared);
  const std::optional<Moves> of_left = MovesOf(left), of_right = MovesOf(right);
  if (!of_left || !of_right) return false;
  Moves gap = *of_left;
  if (!AddTo(gap, *of_right, -1)) return false;
  Test test{op, left, right, {}, narrowed_};
  const int worse = op == OpCode::kLt || op == OpCode::kLe ? 1 : -1;
  if (!FindCorners(gap, indexes_.size(), worse, {}, test.corners)) return false;
  tests_.push_back(std::move(test));
  return true;
}

// The corners at which the gap is as large as anywhere, or as small for -1.
bool NestEnds::FindCorners(const Moves& gap, size_t inner, int worse, const Corner& so_far,
                           std::vector<Corner>& corners) {
  const auto is_in = [&](const Var* index) {
    return gap.steps.contains(index) ||
           std::any_of(gap.products.begin(), gap.products.end(), [&](const auto& part) {
             return std::find(part.first.begin(), part.first.end(), index) != part.first.end();
           });
  };
  while (inner > 0 && !is_in(indexes_[inner - 1])) --inner;
  if (inner == 0) {
    corners.push_back(so_far);
    return corners.size() <= kMostCorners;
  }
  const Var* index = indexes_[inner - 1];
  const std::optional<int> slope = SlopeOf(gap, index);
  if (!slope) return false;
  for (const bool high : {false, true}) {
    if (*slope != 0 && high != (*slope == worse)) continue;
    const std::optional<Moves> there = AtEnd(gap, index, high);
    Corner corner = so_far;
    corner.emplace_back(index, high);
    if (!there || !FindCorners(*there, inner - 1, worse, corner, corners)) return false;
  }
  return true;
}

// --- What is asked in front of the loop. ---

Operand NestEnds::Write(Builder& builder) {
  Operand all = Operand::Bool(true);
  for (const Test& test : tests_) {
    for (const Corner& corner : test.corners) {
      Values values;
      for (auto end = corner.rbegin(); end != corner.rend(); ++end)
        values.insert_or_assign(end->first, EndIn(builder, test, end->first, end->second, values));
      const Operand holds = builder.Scalar(
          test.op, {ValueOf(builder, test.left, values), ValueOf(builder, test.right, values)});
      all = builder.Scalar(OpCode::kAnd, {all, holds});
    }
    for (const Operand& side : {test.left, test.right}) MustBeNear(Magnitude(builder, side));
  }
  for (const Operand& magnitude : far_) {
    const Operand is_near =
        builder.Scalar(OpCode::kLt, {magnitude, Operand(ir::Constant::Float(kFar))});
    all = builder.Scalar(OpCode::kAnd, {all, is_near});
  }
  return all;
}

void NestEnds::MustBeNear(const Operand& magnitude) {
  if (std::find(far_.begin(), far_.end(), magnitude) == far_.end()) far_.push_back(magnitude);
}

// The last index exactly where the loop's range is known in front, else one that it is not past.
Operand NestEnds::EndOf(Builder& builder, const Var* index, bool high, Values& values) const {
  const Range& range = ranges_.at(index);
  if (high != (range.step > 0)) return ValueOf(builder, range.lo, values);
  const Operand sign = Operand::Int(SignOf(range.step));
  const Operand last = builder.Sub(ValueOf(builder, range.hi, values), sign);
  const bool is_known = !(range.lo.IsVar() && inside_.contains(range.lo.var())) &&
                        !(range.hi.IsVar() && inside_.contains(range.hi.var()));
  if (std::abs(range.step) == 1 || !is_known) return last;
  const Operand steps =
      builder.Scalar(OpCode::kFloorDiv, {builder.Sub(last, range.lo), Operand::Int(range.step)});
  return builder.Add(range.lo, builder.Mul(steps, Operand::Int(range.step)));
}

// The end where the test is asked, or one farther out.
Operand NestEnds::EndIn(Builder& builder, const Test& test, const Var* index, bool high,
                        Values& values) {
  Operand end = EndOf(builder, index, high, values);
  for (const Narrowed& each : test.narrowed) {
    if (each.index != index || each.high != high) continue;
    MustBeNear(Magnitude(builder, each.end));
    const Operand bound = builder.Add(each.end, Operand::Int(each.beside));
    end = builder.Scalar(high ? OpCode::kMin : OpCode::kMax, {end, bound});
  }
  return end;
}

Operand NestEnds::ValueOf(Builder& builder, const Operand& value, Values& values) const {
  if (!value.IsVar() || !inside_.contains(value.var())) return value;
  const auto known = values.find(value.var());
  if (known != values.end()) return known->second;
  const Binding& b = *makers_.at(value.var());
  Operand made = Operand::Int(0);
  if (b.op == OpCode::kSelect) {
    made = ValueOf(builder, b.operands[2], values);
  } else {
    const Operand left = ValueOf(builder, b.operands[0], values);
    made = builder.Scalar(b.op, {left, ValueOf(builder, b.operands[1], values)});
  }
  values.insert_or_assign(value.var(), made);
  return made;
}

// No less than how far the value is from 0 anywhere, as a float. Notes what is to be near so that
// it is that: sums and products that wrap around may come back, what is made of them otherwise not.
Operand NestEnds::Magnitude(Builder& builder, const Operand& value) {
  if (const auto known = KnownMagnitude(value, 0)) return Operand(ir::Constant::Float(*known));
  const auto found = magnitudes_.find(value.var());
  if (found != magnitudes_.end()) return found->second;
  const auto largest = [&](const Operand& a, const Operand& b) {
    const Operand most =
        builder.Scalar(OpCode::kMax, {Magnitude(builder, a), Magnitude(builder, b)});
    MustBeNear(most);
    return most;
  };
  Operand magnitude = Operand::Int(0);
  const auto range = ranges_.find(value.var());
  if (range != ranges_.end()) {
    magnitude = largest(range->second.lo, range->second.hi);
  } else if (!inside_.contains(value.var())) {
    magnitude = builder.Scalar(OpCode::kAbs, {builder.Cast(value, DType::kF64)});
  } else {
    const Binding& b = *makers_.at(value.var());
    switch (b.op) {
      case OpCode::kSelect: magnitude = Magnitude(builder, b.operands[2]); break;
      case OpCode::kFloorDiv: magnitude = largest(b.operands[0], b.operands[0]); break;
      case OpCode::kMin:
      case OpCode::kMax: magnitude = largest(b.operands[0], b.operands[1]); break;
      default:
        magnitude =
            builder.Scalar(b.op == OpCode::kMul ? OpCode::kMul : OpCode::kAdd,
                           {Magnitude(builder, b.operands[0]), Magnitude(builder, b.operands[1])});
    }
  }
  magnitudes_.insert_or_assign(value.var(), magnitude);
  return magnitude;
}

// The same where sizes and numbers say it.
std::optional<double> NestEnds::KnownMagnitude(const Operand& value, int depth) const {
  if (value.IsConstant()) return std::abs(static_cast<double>(value.constant().integer));
  if (sizes_.contains(value.var())) return kMostOfSize;
  const auto found = outside_.find(value.var());
  if (inside_.contains(value.var()) || found == outside_.end() || depth == kDeepestKnown)
    return std::nullopt;
  const Binding& b = *found->second;
  const bool is_quotient = b.op == OpCode::kFloorDiv && IsByPositive(b);
  const bool is_known = b.op == OpCode::kAdd || b.op == OpCode::kSub || b.op == OpCode::kMin ||
                        b.op == OpCode::kMax || is_quotient;
  if (!is_known) return std::nullopt;
  const auto left = KnownMagnitude(b.operands[0], depth + 1);
  const auto right = is_quotient ? left : KnownMagnitude(b.operands[1], depth + 1);
  if (!left || !right) return std::nullopt;
  return b.op == OpCode::kAdd || b.op == OpCode::kSub ? *left + *right : std::max(*left, *right);
}

}  // namespace parakeet::passes
