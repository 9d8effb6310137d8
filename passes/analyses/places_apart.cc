#include "passes/analyses/places_apart.h"

#include <algorithm>
#include <cstdlib>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kLargestMeetingTimes = 1 << 15;
constexpr int64_t kLongestStep = 1024;
constexpr int64_t kLargestShift = 15;
constexpr size_t kMostMeetingValues = 24;
constexpr size_t kMostMultiples = 2;             // of which cases are told apart
constexpr int kDeepestNear = 6;                  // of what is near because of others
constexpr int64_t kLargestNearTimes = 128;       // of the values that a near sum is of
constexpr double kFarthest = 281474976710656.0;  // 2^48
constexpr double kNearSum = 4096.0 * kFarthest;  // What 16 near values come to, so often each.
constexpr double kAnySum = 32768.0 * kFarthest;  // any i64 less such a sum, as it is at most: 2^63
constexpr double kIterations = 16384.0 * kFarthest;  // 2^62

bool IsWhole(const Operand& operand) { return ir::TypeOf(operand) == ir::Type(ir::DType::kI64); }

// What a quotient is of, where the divisor is known: `a // 4`, `a >> 2`; 0 for no quotient.
int64_t DivisorOf(const Binding& b) {
  if (b.operands.size() != 2 || !b.operands[1].IsConstant() || !IsWhole(b.operands[0])) return 0;
  const int64_t by = b.operands[1].constant().integer;
  if (b.op == OpCode::kShr) return by >= 0 && by <= kLargestShift ? int64_t{1} << by : 0;
  return b.op == OpCode::kFloorDiv && by > 0 && by <= kLargestMeetingTimes ? by : 0;
}

// The least number that the value is below, and not negative: of `a % 4`; 0 for none.
int64_t ModulusOf(const Binding& b) {
  if (b.op != OpCode::kMod || !b.operands[1].IsConstant() || !IsWhole(b.operands[0])) return 0;
  const int64_t by = b.operands[1].constant().integer;
  return by > 0 && by <= kLargestMeetingTimes ? by : 0;
}

bool IsExtremeOfWholes(const Binding& b) {
  return (b.op == OpCode::kMin || b.op == OpCode::kMax) && IsWhole(b.operands[0]);
}

// What the product is of beside a factor.
const Operand& OtherOf(const Binding& product, const Operand& factor) {
  return product.operands[product.operands[0] == factor ? 1 : 0];
}

const Binding* MakerIn(const ir::DefinitionMap& map, const Var* value) {
  const auto found = map.find(value);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

PlacesApart::PlacesApart(const MadeValues& made, const Binding& loop)
    : made_(made), loop_(loop), inside_(ir::DefinedVars(*loop.blocks[0])) {}

// True where they cannot be at one place, the one in an earlier iteration than the other.
bool PlacesApart::AreApart(const Binding& earlier, const Binding& later) {
  system_ = {};
  values_.clear();
  known_ = 0;
  accesses_[0] = &earlier;
  accesses_[1] = &later;
  AddOrder();
  for (int axis = 0; axis < earlier.operands[0].var()->type.rank(); ++axis)
    MeetOnAxis(earlier.operands[1 + axis], later.operands[1 + axis]);
  for (const bool is_later : {false, true})
    AddGuards(*loop_.blocks[0], *accesses_[is_later], is_later);
  AddAllFacts();
  AddMultiples();
  return Contradicts(FindMultiples(), 0);
}

// Whether no numbers satisfy the system, whichever the multiples from `first` on are: of one
// number, or at least their factor apart.
bool PlacesApart::Contradicts(const std::vector<Multiples>& multiples, size_t first) {
  if (system_.Contradict()) return true;
  if (first == multiples.size()) return false;
  const Inequalities before = system_;
  for (const int64_t sign : {0, 1, -1}) {
    AddStep(multiples[first], sign);
    if (!Contradicts(multiples, first + 1)) return false;
    system_ = before;
  }
  return true;
}

size_t PlacesApart::NumberOf(const Var* var, bool is_later) {
  const Instance value{var, is_later && inside_.contains(var)};
  const Binding* maker = MakerIn(made_.makers, var);
  const bool is_product = maker != nullptr && maker->op == OpCode::kMul;
  const auto is_same = [&](const Instance& known) {
    return known == value || (is_product && known.second == value.second &&
                              inside_.contains(known.first) == inside_.contains(var) &&
                              IsProductOf(known.first, *maker));
  };
  const size_t number = std::find_if(values_.begin(), values_.end(), is_same) - values_.begin();
  if (number == values_.size()) values_.push_back(value);
  return number;
}

// Products are made anew in branches.
bool PlacesApart::IsProductOf(const Var* value, const Binding& product) const {
  const Binding* maker = MakerIn(made_.makers, value);
  return maker != nullptr && maker->op == OpCode::kMul && maker->operands == product.operands;
}

// The form as a row; nothing where it is a multiple too large.
std::optional<Inequalities::Row> PlacesApart::RowOf(const LinearForm& form, bool is_later) {
  Inequalities::Row row;
  row.constant = form.constant;
  for (const auto& [var, times] : form.terms) {
    if (times < -kLargestMeetingTimes || times > kLargestMeetingTimes) return std::nullopt;
    const size_t number = NumberOf(var, is_later);
    if (row.times.size() <= number) row.times.resize(number + 1);
    row.times[number] += times;
  }
  return row;
}

void PlacesApart::IsNotNegative(const LinearForm& form, bool is_later, double most) {
  if (auto row = RowOf(form, is_later)) {
    row->most = most;
    system_.IsNotNegative(*std::move(row));
  }
}

// later - earlier, as a row.
std::optional<Inequalities::Row> PlacesApart::Between(const LinearForm& earlier,
                                                      const LinearForm& later) {
  std::optional<Inequalities::Row> from = RowOf(earlier, false), row = RowOf(later, true);
  if (!from || !row) return std::nullopt;
  row->times.resize(std::max(row->times.size(), from->times.size()));
  for (size_t k = 0; k < from->times.size(); ++k) row->times[k] -= from->times[k];
  if (__builtin_sub_overflow(row->constant, from->constant, &row->constant)) return std::nullopt;
  return row;
}

void PlacesApart::MeetOnAxis(const Operand& earlier, const Operand& later) {
  if (auto row = Between(made_.forms.Of(earlier), made_.forms.Of(later)))
    system_.IsZero(*std::move(row));
  MeetBehindXor(earlier, false, later);
  MeetBehindXor(later, true, earlier);
}

// Where `one` is a ^ b, of which the loop does not change b, and the same as the other's a: then
// a ^ b of the other is the a of this. Where it is the other's a ^ b, both have one a.
void PlacesApart::MeetBehindXor(const Operand& one, bool is_later, const Operand& other) {
  const Binding* maker = one.IsVar() ? MakerIn(made_.makers, one.var()) : nullptr;
  if (maker == nullptr || maker->op != OpCode::kXor) return;
  for (const int side : {0, 1}) {
    const Operand &changed = maker->operands[side], &fixed = maker->operands[1 - side];
    if (fixed.IsVar() && inside_.contains(fixed.var())) continue;
    const LinearForm of = made_.forms.Of(changed), whole = LinearForm::Of(one.var());
    const bool is_whole = other == one;
    if (!is_whole && !SameForm(made_.forms.Of(other), of)) continue;
    const LinearForm& others = is_whole ? of : whole;
    if (auto row = is_later ? Between(others, of) : Between(of, others))
      system_.IsZero(*std::move(row));
  }
}

// The index of the later iteration is at least a step on.
void PlacesApart::AddOrder() {
  const LinearForm index = LinearForm::Of(loop_.blocks[0]->params[0]);
  const int64_t step = loop_.operands[2].constant().integer;
  if (step < -kLongestStep || step > kLongestStep) return;
  auto row = Between(index, index);
  for (int64_t& times : row->times) times *= step > 0 ? 1 : -1;
  row->constant = -std::abs(step);
  row->most = kFarthest * double(std::abs(step));
  system_.IsNotNegative(*std::move(row));
}

// Of values that have been named, and of those that these facts name.
void PlacesApart::AddAllFacts() {
  for (; known_ < values_.size() && known_ < kMostMeetingValues; ++known_) {
    const Instance value = values_[known_];
    AddFacts(value);
  }
}

void PlacesApart::AddFacts(const Instance& value) {
  const auto& [var, is_later] = value;
  const LinearForm form = LinearForm::Of(var);
  if (made_.sizes.contains(var)) IsNotNegative(form, is_later, kFarthest);
  if (const auto space = made_.spaces.find(var); space != made_.spaces.end()) {
    IsNotNegative(form, is_later, kFarthest);
    IsNotNegative(Plus(Difference(EndOf(space->second, {}), form), -1), is_later, kFarthest);
  }
  if (const Binding* loop = MakerIn(made_.loops, var)) AddLoop(*loop, is_later);
  if (const Binding* maker = MakerIn(made_.makers, var)) AddMaker(*maker, is_later);
}

// Where a loop that runs ends: from `begin` to max(n, begin) that is n.
LinearForm PlacesApart::EndOf(const Operand& end, const LinearForm& begin) const {
  const Binding* maker = end.IsVar() ? MakerIn(made_.makers, end.var()) : nullptr;
  for (const int side : {0, 1}) {
    if (maker == nullptr || maker->op != OpCode::kMax) break;
    if (SameForm(made_.forms.Of(maker->operands[side]), begin))
      return made_.forms.Of(maker->operands[1 - side]);
  }
  return made_.forms.Of(end);
}

// The index of a loop that runs lies between its ends.
void PlacesApart::AddLoop(const Binding& loop, bool is_later) {
  const int64_t step = loop.operands[2].constant().integer;
  if (step < -kLongestStep || step > kLongestStep) return;
  const LinearForm index = LinearForm::Of(loop.blocks[0]->params[0]);
  const LinearForm begin = made_.forms.Of(loop.operands[0]);
  const LinearForm end =
      step > 0 ? EndOf(loop.operands[1], begin) : made_.forms.Of(loop.operands[1]);
  const double most = kFarthest * double(std::abs(step));
  const int sign = step > 0 ? 1 : -1;
  LinearForm from_begin, to_end = LinearForm::Of(-1);
  from_begin.Add(Difference(index, begin), sign);
  to_end.Add(Difference(end, index), sign);
  IsNotNegative(from_begin, is_later, most);
  IsNotNegative(to_end, is_later, most);
}

void PlacesApart::AddMaker(const Binding& b, bool is_later) {
  const LinearForm value = LinearForm::Of(b.result());
  if (const int64_t divisor = DivisorOf(b)) {
    LinearForm rest = made_.forms.Of(b.operands[0]);
    rest.Add(value, -divisor);
    IsNotNegative(rest, is_later, double(divisor));
    IsNotNegative(Plus(Difference({}, rest), divisor - 1), is_later, double(divisor));
  } else if (const int64_t modulus = ModulusOf(b)) {
    IsNotNegative(value, is_later, double(modulus));
    IsNotNegative(Plus(Difference({}, value), modulus - 1), is_later, double(modulus));
  } else if (IsExtremeOfWholes(b) && IsNear(value, is_later)) {
    for (const Operand& side : b.operands) {
      LinearForm above;
      above.Add(Difference(made_.forms.Of(side), value), b.op == OpCode::kMin ? 1 : -1);
      IsNotNegative(above, is_later, kNearSum);
    }
  }
}

// Multiples of the loop's index by what is positive, and does not change, are that much apart.
void PlacesApart::AddMultiples() {
  const Var* index = loop_.blocks[0]->params[0];
  const int64_t step = loop_.operands[2].constant().integer;
  if (step < -kLongestStep || step > kLongestStep) return;
  const std::vector<Instance> named = values_;
  for (const auto& [var, is_later] : named) {
    const Binding* maker = MakerIn(made_.makers, var);
    if (is_later || maker == nullptr || maker->op != OpCode::kMul) continue;
    const int side = maker->operands[0] == Operand(index) ? 1 : 0;
    const Operand& factor = maker->operands[side];
    if (maker->operands[1 - side] != Operand(index) || !factor.IsVar() ||
        inside_.contains(factor.var()) || !IsPositive(factor))
      continue;
    const LinearForm multiple = LinearForm::Of(var);
    auto row = Between(multiple, multiple);
    const auto apart = RowOf(made_.forms.Of(factor), false);
    if (!row || !apart) continue;
    row->times.resize(std::max(row->times.size(), apart->times.size()));
    for (int64_t& times : row->times) times *= step > 0 ? 1 : -1;
    for (size_t k = 0; k < apart->times.size(); ++k)
      row->times[k] -= apart->times[k] * std::abs(step);
    row->constant = -apart->constant * std::abs(step);
    row->most = kIterations;
    system_.IsNotNegative(*std::move(row));
  }
  AddAllFacts();
}

// Those of the places that both accesses are at.
std::vector<PlacesApart::Multiples> PlacesApart::FindMultiples() {
  const Operand index(loop_.blocks[0]->params[0]);
  const auto is_fixed = [&](const Operand& factor) {
    return factor.IsVar() && !inside_.contains(factor.var());
  };
  const std::vector<Instance> named = values_;
  std::vector<Multiples> found;
  for (const auto& [value, is_later] : named) {
    const Binding* earlier = MakerIn(made_.makers, value);
    if (is_later || earlier == nullptr || earlier->op != OpCode::kMul) continue;
    for (const auto& [other, is_of_later] : named) {
      const Binding* later = MakerIn(made_.makers, other);
      const bool is_fixed_value = !inside_.contains(other);
      if (!is_of_later && (!is_fixed_value || other == value)) continue;
      if (later == nullptr || later->op != OpCode::kMul) continue;
      for (const Operand& factor : earlier->operands) {
        const Operand &of = OtherOf(*earlier, factor), &of_later = OtherOf(*later, factor);
        const bool is_shared = std::count(later->operands.begin(), later->operands.end(), factor);
        const bool is_known = of == index && of_later == index;  // AddMultiples has said it.
        if (!is_fixed(factor) || !is_shared || is_known || found.size() == kMostMultiples) continue;
        if (IsPositive(factor)) found.push_back({earlier, later, factor});
      }
    }
  }
  return found;
}

// Takes what the later product is of to be the same number, or one more or less at least.
void PlacesApart::AddStep(const Multiples& multiples, int64_t sign) {
  const auto& [earlier, later, factor] = multiples;
  auto row = Between(LinearForm::Of(earlier->result()), LinearForm::Of(later->result()));
  auto of_row =
      Between(made_.forms.Of(OtherOf(*earlier, factor)), made_.forms.Of(OtherOf(*later, factor)));
  const auto apart = RowOf(made_.forms.Of(factor), false);
  if (!row || !of_row || !apart) return;
  AddAllFacts();
  if (sign == 0) {
    system_.IsZero(*std::move(row));
    system_.IsZero(*std::move(of_row));
    return;
  }
  row->times.resize(std::max(row->times.size(), apart->times.size()));
  for (int64_t& times : row->times) times *= sign;
  for (size_t k = 0; k < apart->times.size(); ++k) row->times[k] -= apart->times[k];
  int64_t gone = 0;
  if (__builtin_mul_overflow(sign, row->constant, &gone) ||
      __builtin_sub_overflow(gone, apart->constant, &row->constant))
    return;
  row->most = kIterations;
  system_.IsNotNegative(*std::move(row));
}

// True where the value cannot be 0 or less.
bool PlacesApart::IsPositive(const Operand& value) {
  auto row = RowOf(Difference({}, made_.forms.Of(value)), false);
  if (!row) return false;
  AddAllFacts();
  Inequalities with = system_;
  row->most = kAnySum;
  with.IsNotNegative(*std::move(row));
  return with.Contradict();
}

// What branches and checks on the way to the access have said; false where it is not in the block.
bool PlacesApart::AddGuards(const Block& block, const Binding& access, bool is_later) {
  for (const Binding* b : block.bindings) {
    if (b == &access) return true;
    for (size_t side = 0; side < b->blocks.size(); ++side) {
      if (!AddGuards(*b->blocks[side], access, is_later)) continue;
      if (b->op == OpCode::kIf) AddCondition(b->operands[0], side == 0, is_later);
      return true;
    }
  }
  return false;
}

void PlacesApart::AddCondition(const Operand& condition, bool value, bool is_later, int depth) {
  const Binding* maker = condition.IsVar() ? MakerIn(made_.makers, condition.var()) : nullptr;
  if (maker == nullptr || depth == kDeepestNear) return;
  const Binding& b = *maker;
  if (b.op == OpCode::kNot) return AddCondition(b.operands[0], !value, is_later, depth + 1);
  if (b.op == (value ? OpCode::kAnd : OpCode::kOr)) {
    for (const Operand& part : b.operands) AddCondition(part, value, is_later, depth + 1);
    return;
  }
  if (b.op == OpCode::kIf) {  // `a and b` is b where a is true, and else false; `a or b` likewise
    for (const int side : {0, 1}) {
      if (b.blocks[1 - side]->results[0] != Operand::Bool(!value)) continue;
      AddCondition(b.operands[0], side == 0, is_later, depth + 1);
      AddCondition(b.blocks[side]->results[0], value, is_later, depth + 1);
    }
    return;
  }
  const bool is_less = b.op == OpCode::kLt || b.op == OpCode::kLe;
  const bool is_greater = b.op == OpCode::kGt || b.op == OpCode::kGe;
  if ((!is_less && !is_greater) || !IsWhole(b.operands[0])) return;
  const LinearForm left = made_.forms.Of(b.operands[0]), right = made_.forms.Of(b.operands[1]);
  const int near = IsNear(left, is_later) + IsNear(right, is_later);
  if (near == 0) return;
  // Not a < b is b <= a.
  const bool is_up = is_less == value;
  const bool is_strict = (b.op == OpCode::kLt || b.op == OpCode::kGt) == value;
  const LinearForm gap = is_up ? Difference(right, left) : Difference(left, right);
  IsNotNegative(Plus(gap, is_strict ? -1 : 0), is_later,
                near == 2 ? 2 * kNearSum : kAnySum + kNearSum);
}

// True for a sum of few values that lie between -2^48 and 2^48, which does not wrap around.
bool PlacesApart::IsNear(const LinearForm& form, bool is_later, int depth) const {
  return std::abs(double(form.constant)) < kFarthest &&
         std::all_of(
             form.terms.begin(), form.terms.end(),
             [&](const auto& term) {
               return std::abs(double(term.second)) <= kLargestNearTimes &&
                      IsNear(term.first, is_later, depth + 1);
             });
}

// What an access is at is near, sizes are, indexes that begin there, and what is made of those.
bool PlacesApart::IsNear(const Var* value, bool is_later, int depth) const {
  const std::vector<Operand>& at = accesses_[is_later]->operands;
  const auto places = at.begin() + 1, end = places + at[0].var()->type.rank();
  if (std::find(places, end, Operand(value)) != end) return true;
  if (made_.sizes.contains(value) || made_.spaces.contains(value) || made_.near.contains(value))
    return true;
  const auto are_near = [&](const Binding& b, size_t count) {
    return std::all_of(b.operands.begin(), b.operands.begin() + count, [&](const Operand& of) {
      return IsNear(made_.forms.Of(of), is_later, depth);
    });
  };
  if (depth > kDeepestNear) return false;
  if (const Binding* loop = MakerIn(made_.loops, value)) {
    const int64_t step = loop->operands[2].constant().integer;
    return step >= -kLongestStep && step <= kLongestStep && are_near(*loop, 1);
  }
  const Binding* maker = MakerIn(made_.makers, value);
  if (maker == nullptr) return false;
  if (DivisorOf(*maker) != 0) return are_near(*maker, 1);
  if (IsExtremeOfWholes(*maker)) return are_near(*maker, 2);
  return ModulusOf(*maker) != 0;
}

}  // namespace parakeet::passes
