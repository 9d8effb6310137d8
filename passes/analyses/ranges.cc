#include "passes/analyses/ranges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ir/builder.h"
#include "ir/dtype.h"

namespace parakeet::passes {

using ir::Binding;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// Forms with larger numbers are not looked at, so that adding a few of them overflows nothing.
constexpr int64_t kLargestCoefficient = int64_t{1} << 40;
constexpr int64_t kLargestConstant = int64_t{1} << 50;
constexpr int64_t kLargestStep = 1024;
constexpr double kWithoutWrap = 4611686018427387904.0;  // 2^62
constexpr int kBudget = 200;                            // Steps of a proof before it is given up.
// Values that an assumption is freed of, one after the other.
constexpr int kDeepestAssumption = 2;
constexpr size_t kMostGaps = 64;   // That every step of a proof looks at.
constexpr size_t kMostLimits = 4;  // Of a value that are looked at for that.
constexpr int kDeepestWhole = 5;   // Operations that a narrow integer is made of.

bool IsI64(const Operand& operand) { return ir::TypeOf(operand) == ir::Type(DType::kI64); }

// Of -2^63 too, which no i64 is the magnitude of.
bool IsWithinLimit(int64_t number, int64_t limit) { return number >= -limit && number <= limit; }

bool HasSmallNumbers(const LinearForm& form) {
  for (const auto& [var, coefficient] : form.terms) {
    if (!IsWithinLimit(coefficient, kLargestCoefficient)) return false;
  }
  return IsWithinLimit(form.constant, kLargestConstant);
}

// The form with another in place of a value; none where a number would wrap around.
std::optional<LinearForm> Replaced(const LinearForm& form, const Var* var, const LinearForm& by) {
  double largest = std::abs(static_cast<double>(by.constant));
  for (const auto& [term, coefficient] : by.terms)
    largest = std::max(largest, std::abs(static_cast<double>(coefficient)));
  const double times = std::abs(static_cast<double>(form.Coefficient(var)));
  if (times * largest > kWithoutWrap) return std::nullopt;
  return form.With(var, by);
}

// The comparison that is true where `op` is false.
OpCode Opposite(OpCode op) {
  switch (op) {
    case OpCode::kLt: return OpCode::kGe;
    case OpCode::kLe: return OpCode::kGt;
    case OpCode::kGt: return OpCode::kLe;
    case OpCode::kGe: return OpCode::kLt;
    case OpCode::kEq: return OpCode::kNe;
    default: return OpCode::kEq;
  }
}

}  // namespace

// Values that no walk has defined (parameters, what loops carry) come as they are first met.
int Ranges::OrderOf(const Var* var) const {
  return order_.try_emplace(var, static_cast<int>(order_.size())).first->second;
}

void Ranges::Order(const LinearForm& form) const {
  for (const auto& [var, coefficient] : form.terms) OrderOf(var);
}

Ranges::Facts& Ranges::Change(const Var* var) {
  OrderOf(var);
  Facts& facts = facts_[var];
  undo_.emplace_back(var, facts);
  return facts;
}

void Ranges::Leave(size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back()) {
    auto& [var, facts] = undo_.back();
    if (var == nullptr) gaps_.pop_back();
    else facts_[var] = std::move(facts);
  }
}

// --- What becomes known. ---

void Ranges::Define(const Binding& b) {
  for (const Var* result : b.results) {
    definitions_[result] = &b;
    for (const Operand& dim : result->type.dims()) IsSize(dim);
  }
  if (b.op == OpCode::kIreduce) BoundByExtremes(b);
  if (b.op == OpCode::kImap || b.op == OpCode::kIreduce) BoundByYields(b);
  if (b.op == OpCode::kIf) BoundChosen(b);
  if (b.results.size() != 1 || !IsI64(b.result())) return;
  if (b.op == OpCode::kLoad) BoundLoad(b);
  if (!ir::IsScalarOp(b.op)) return;
  if (b.op == OpCode::kFloorDiv && b.operands[1].IsVar()) quotients_.push_back(&b);
  if (auto sum = ExactSum(b)) sums_[b.result()] = std::move(*sum);
  else if (b.op == OpCode::kMul) LearnProduct(b);
  BoundByDefinition(b);
  OrderOf(b.result());
}

void Ranges::Limit(const Var* value, bool high, const LinearForm& limit) {
  if (!HasSmallNumbers(limit)) return;
  Order(limit);
  Facts& facts = Change(value);
  (high ? facts.upper : facts.lower).push_back(limit);
}

void Ranges::IsNear(const Var* value) {
  Facts& facts = Change(value);
  facts.above_low = facts.below_high = true;
}

void Ranges::IsSize(const Operand& size) {
  if (!size.IsVar()) return;
  const auto known = facts_.find(size.var());
  if (known != facts_.end() && known->second.below_high && known->second.above_low) return;
  Facts& facts = Change(size.var());
  facts.lower.push_back(LinearForm::Of(int64_t{0}));
  facts.above_low = facts.below_high = true;
  if (std::find(sizes_.begin(), sizes_.end(), size.var()) == sizes_.end())
    sizes_.push_back(size.var());
}

void Ranges::Bound(const Var* index, const Operand& lo, const Operand& hi, int64_t step) {
  const LinearForm first = FormOf(lo);
  const LinearForm end = FormOf(hi);
  Order(first);
  Order(end);
  const bool up = step > 0;
  const bool slow = std::abs(step) <= kLargestStep;
  // The loop runs, so that its end is past its beginning.
  AssumeNonNegative(Plus(up ? Difference(end, first) : Difference(first, end), -1));
  if (up && lo.IsInt(0)) AssumeFactors(hi);
  const auto is_near = [&](bool high, const LinearForm& form) {
    return IsWithin(kFar, high, form);
  };
  Facts facts;
  facts.lower.push_back(up ? first : Plus(end, 1));
  facts.upper.push_back(up ? Plus(end, -1) : first);
  facts.above_low =
      up ? is_near(false, first) : is_near(false, end) || (is_near(false, first) && slow);
  facts.below_high =
      up ? is_near(true, end) || (is_near(true, first) && slow) : is_near(true, first);
  Change(index) = std::move(facts);
}

// A product above 0 of what is not negative has no factor that is 0.
void Ranges::AssumeFactors(const Operand& product) {
  const auto found = product.IsVar() ? definitions_.find(product.var()) : definitions_.end();
  if (found == definitions_.end() || found->second->op != OpCode::kMul) return;
  for (const Operand& factor : found->second->operands) {
    if (!ProvesLe(Operand::Int(0), factor)) return;
  }
  for (const Operand& factor : found->second->operands) {
    AssumeNonNegative(Plus(FormOf(factor), -1));
    AssumeFactors(factor);
  }
}

void Ranges::Assume(const Operand& condition, bool value, const Renames& renames) {
  const auto found = condition.IsVar() ? definitions_.find(condition.var()) : definitions_.end();
  if (found == definitions_.end()) return;
  const Binding& b = *found->second;
  const auto form = [&](int k) {
    LinearForm result = FormOf(b.operands[k]);
    for (const auto& [from, to] : renames) result = result.With(from, LinearForm::Of(to));
    return result;
  };
  switch (b.op) {
    case OpCode::kNot: return Assume(b.operands[0], !value, renames);
    case OpCode::kAnd:
    case OpCode::kOr:
      if (value != (b.op == OpCode::kAnd)) return;
      for (const Operand& part : b.operands) Assume(part, value, renames);
      return;
    case OpCode::kLt:
    case OpCode::kLe:
    case OpCode::kGt:
    case OpCode::kGe:
    case OpCode::kEq:
    case OpCode::kNe:
      if (IsI64(b.operands[0])) AssumeRelation(value ? b.op : Opposite(b.op), form(0), form(1));
      return;
    case OpCode::kIf:  // `a and b` is b where a is true, and else false; `a or b` is true, or b
      for (const int side : {0, 1}) {
        if (b.blocks[1 - side]->results[0] != Operand::Bool(!value)) continue;
        Assume(b.operands[0], side == 0, renames);
        for (const Binding* inner : b.blocks[side]->bindings) {
          if (inner->op == OpCode::kCheck) Assume(inner->operands[0], true, renames);
        }
        Assume(b.blocks[side]->results[0], value, renames);
      }
      return;
    default: return;
  }
}

void Ranges::AssumeRelation(OpCode op, const LinearForm& a, const LinearForm& b) {
  const LinearForm up = Difference(b, a);
  const LinearForm down = Difference(a, b);
  switch (op) {
    case OpCode::kLt: return AssumeNonNegative(Plus(up, -1));
    case OpCode::kLe: return AssumeNonNegative(up);
    case OpCode::kGt: return AssumeNonNegative(Plus(down, -1));
    case OpCode::kGe: return AssumeNonNegative(down);
    case OpCode::kEq: AssumeNonNegative(up); return AssumeNonNegative(down);
    case OpCode::kNe: {  // of what is known not to be on the other side
      int budget = kBudget;
      if (ProvesNonNegative(down, budget)) return AssumeNonNegative(Plus(down, -1));
      budget = kBudget;
      if (ProvesNonNegative(up, budget)) AssumeNonNegative(Plus(up, -1));
      return;
    }
    default: return;
  }
}

// A bound of the form's latest value, and of those before it by what limits that one.
void Ranges::AssumeNonNegative(const LinearForm& gap, int depth) {
  if (!HasSmallNumbers(gap)) return;
  if (LinearForm expanded; depth == 0 && gaps_.size() < kMostGaps &&
                           HasProducts(expanded = Expanded(gap)) && HasSmallNumbers(expanded)) {
    undo_.emplace_back(nullptr, Facts{});
    gaps_.push_back(std::move(expanded));
  }
  const std::pair<const Var*, int64_t>* latest = nullptr;
  for (const auto& term : gap.terms) {
    if (latest == nullptr || OrderOf(term.first) > OrderOf(latest->first)) latest = &term;
  }
  if (latest == nullptr) return;
  if (std::abs(latest->second) != 1) {
    undo_.emplace_back(nullptr, Facts{});
    gaps_.push_back(gap);
    return;
  }
  // v + rest >= 0 says v >= -rest; -v + rest >= 0 says v <= rest.
  const auto [var, coefficient] = *latest;
  LinearForm bound;
  for (const auto& [term, times] : gap.terms) {
    if (term != var) bound.Add(LinearForm::Of(term), times * -coefficient);
  }
  bound.constant = gap.constant * -coefficient;
  const std::vector<LinearForm> others = LimitsOf(var, coefficient > 0);
  const std::vector<LinearForm> known = LimitsOf(var, coefficient < 0);
  if (std::any_of(known.begin(), known.end(),
                  [&](const LinearForm& other) { return SameForm(other, bound); }))
    return;
  Facts& facts = Change(var);
  (coefficient > 0 ? facts.lower : facts.upper).push_back(std::move(bound));

  for (size_t k = 0; depth < kDeepestAssumption && k < std::min(others.size(), kMostLimits); ++k) {
    AssumeNonNegative(gap.With(var, others[k]), depth + 1);
  }
}

// --- What definitions say. ---

std::optional<LinearForm> Ranges::ExactSum(const Binding& b) const {
  LinearForm form;
  if (b.op == OpCode::kAdd || b.op == OpCode::kSub) {
    form = FormOf(b.operands[0]);
    form.Add(FormOf(b.operands[1]), b.op == OpCode::kAdd ? 1 : -1);
  } else if (b.op == OpCode::kMul && (b.operands[0].IsConstant() || b.operands[1].IsConstant())) {
    const int side = b.operands[1].IsConstant() ? 0 : 1;
    const int64_t times = b.operands[1 - side].constant().integer;
    if (!IsWithinLimit(times, kLargestCoefficient)) return std::nullopt;
    form.Add(FormOf(b.operands[side]), times);
  } else {
    return std::nullopt;
  }
  if (!HasSmallNumbers(form)) return std::nullopt;
  // One value moved one way wraps around at one end only.
  const bool is_one = form.terms.size() == 1 && form.terms[0].second == 1;
  const bool can_fall = !is_one || form.constant < 0;
  const bool can_rise = !is_one || form.constant > 0;
  if (can_fall && !IsWithin(kWithoutWrap, false, form)) return std::nullopt;
  if (can_rise && !IsWithin(kWithoutWrap, true, form)) return std::nullopt;
  return form;
}

void Ranges::BoundByDefinition(const Binding& b) {
  const auto form = [&](int k) { return FormOf(b.operands[k]); };
  Facts facts;
  switch (b.op) {
    case OpCode::kMin: facts = {{}, {form(0), form(1)}, {form(0), form(1)}}; break;
    case OpCode::kMax: facts = {{form(0), form(1)}, {}, {form(0), form(1)}}; break;
    case OpCode::kSelect: facts = {{}, {}, {form(1), form(2)}}; break;
    case OpCode::kMod:  // below a positive divisor, and not negative
      if (!ProvesLt(Operand::Int(0), b.operands[1])) return;
      facts.lower = {LinearForm::Of(int64_t{0})};
      facts.upper = {Plus(form(1), -1)};
      break;
    case OpCode::kFloorDiv:  // of what is not negative by a positive divisor: no more
      BoundQuotient(b);
      if (!ProvesLt(Operand::Int(0), b.operands[1])) return;
      if (!ProvesLe(Operand::Int(0), b.operands[0])) return;
      facts.lower = {LinearForm::Of(int64_t{0})};
      facts.upper = QuotientLimits(b);
      facts.upper.push_back(form(0));
      break;
    case OpCode::kCast: return BoundCast(b);
    case OpCode::kMul: return BoundProduct(b);
    case OpCode::kAnd:
    case OpCode::kOr:
    case OpCode::kXor:
    case OpCode::kShl:
    case OpCode::kShr: return BoundBits(b);
    default: return;
  }
  for (const std::vector<LinearForm>* limits : {&facts.lower, &facts.upper, &facts.one_of}) {
    for (const LinearForm& limit : *limits) Order(limit);
  }
  Facts& known = Change(b.result());
  for (LinearForm& limit : facts.lower) known.lower.push_back(std::move(limit));
  for (LinearForm& limit : facts.upper) known.upper.push_back(std::move(limit));
  known.one_of = std::move(facts.one_of);
}

// What a branch yields is what the value is.
void Ranges::BoundChosen(const Binding& b) {
  for (size_t k = 0; k < b.results.size(); ++k) {
    if (!IsI64(b.results[k])) continue;
    Facts facts;
    Reaches most;
    for (const ir::Block* block : b.blocks) {
      const auto ended = yields_.find(block);
      const std::vector<LinearForm> choices =
          ended == yields_.end() ? ChoicesOf(FormOf(block->results[k])) : ended->second[k].one_of;
      facts.one_of.insert(facts.one_of.end(), choices.begin(), choices.end());
      const Reaches reach =
          ended == yields_.end() ? Reaches{kInfinity, kInfinity} : ended->second[k].reach;
      most = {std::max(most.below, reach.below), std::max(most.above, reach.above)};
    }
    for (const LinearForm& one : facts.one_of) Order(one);
    for (const LinearForm& limit : MostOfAll(b, k)) {
      Order(limit);
      facts.upper.push_back(limit);
    }
    if (most.below <= kFar) facts.lower.push_back(LinearForm::Of(-int64_t(most.below)));
    if (most.above <= kFar) facts.upper.push_back(LinearForm::Of(int64_t(most.above)));
    Change(b.results[k]) = std::move(facts);
  }
}

// Bits of numbers that are not negative: of an `and`, those of one side; of an `or`, no more than
// both have places for.
void Ranges::BoundBits(const Binding& b) {
  const auto is_natural = [&](int k) { return ProvesLe(Operand::Int(0), b.operands[k]); };
  const auto reach = [&](int k) { return Reach(true, FormOf(b.operands[k])); };
  const bool is_shift = b.op == OpCode::kShl || b.op == OpCode::kShr;
  const int naturals = int(is_natural(0)) + int(is_natural(1));
  if (naturals < (b.op == OpCode::kAnd ? 1 : 2)) return;
  if (is_shift && !b.operands[1].IsConstant()) return;
  Facts facts;
  facts.lower = {LinearForm::Of(int64_t{0})};
  if (b.op == OpCode::kAnd) {
    for (const int side : {0, 1}) {
      if (is_natural(side)) facts.upper.push_back(FormOf(b.operands[side]));
    }
  } else if (is_shift) {
    const int64_t bits = b.operands[1].constant().integer;
    const double one = reach(0);
    if (bits > 48 || one > kFar) return;
    const double most =
        b.op == OpCode::kShl ? one * double(int64_t{1} << bits) : double(int64_t(one) >> bits);
    if (most > kFar) return;
    facts.upper = {LinearForm::Of(int64_t(most))};
  } else {
    const double most = std::max(reach(0), reach(1));
    if (most >= kFar) return;
    facts.upper = {LinearForm::Of(int64_t(std::bit_ceil(uint64_t(most) + 1)) - 1)};
  }
  for (const LinearForm& limit : facts.upper) Order(limit);
  Change(b.result()) = std::move(facts);
}

// A sum divided by a constant is no less, or less, than a part of it where the multiple is:
// (lo + hi) // 2 >= lo where lo + hi >= 2 * lo.
void Ranges::BoundQuotient(const Binding& b) {
  const LinearForm sum = FormOf(b.operands[0]);
  if (!b.operands[1].IsConstant()) {
    if (ProvesLt(Operand::Int(0), b.operands[1]))
      BoundWithin(b.result(), Reach(false, sum), Reach(true, sum));
    return;
  }
  const int64_t divisor = b.operands[1].constant().integer;
  if (divisor > 0) {
    const double above = Reach(true, sum), below = Reach(false, sum);
    BoundWithin(b.result(), std::ceil(below / double(divisor)),
                std::floor(above / double(divisor)));
    BoundShare(b.result(), sum, divisor);
  }
  if (divisor < 2 || divisor > kLargestCoefficient || sum.IsConstant()) return;
  AssumeNonNegative(Difference(sum, {0, {{b.result(), divisor}}}));
  if (sum.terms.size() < 2) return;
  Facts facts;
  for (const auto& [part, times] : sum.terms) {
    LinearForm above = sum;  // sum - divisor * part
    above.Add(LinearForm::Of(part), -divisor);
    if (ProvesNonNegative(above)) facts.lower.push_back(LinearForm::Of(part));
    LinearForm below = LinearForm::Of(int64_t{-1});  // divisor * part - 1 - sum
    below.Add(above, -1);
    const bool is_less = ProvesNonNegative(below);
    if (is_less || ProvesNonNegative(Plus(below, divisor)))
      facts.upper.push_back(Plus(LinearForm::Of(part), is_less ? -1 : 0));
  }
  Facts& known = Change(b.result());
  known.lower.insert(known.lower.end(), facts.lower.begin(), facts.lower.end());
  known.upper.insert(known.upper.end(), facts.upper.begin(), facts.upper.end());
}

// What is below twice a size is, halved, below the size.
void Ranges::BoundShare(const Var* share, const LinearForm& whole, int64_t divisor) {
  if (whole.terms.size() != 1 || whole.terms[0].second != 1) return;
  for (const bool high : {false, true}) {
    for (LinearForm limit : LimitsOf(whole.terms[0].first, high)) {
      limit = Plus(std::move(limit), whole.constant);
      if (std::any_of(limit.terms.begin(), limit.terms.end(),
                      [&](const auto& term) { return term.second % divisor != 0; }))
        continue;
      for (auto& term : limit.terms) term.second /= divisor;
      const int64_t rest = (limit.constant % divisor + divisor) % divisor;
      limit.constant = (limit.constant - rest) / divisor;
      Limit(share, high, limit);
    }
  }
}

// The value is no further below and above 0 than this; infinity says nothing.
void Ranges::BoundWithin(const Var* value, double below, double above) {
  if (below > kFar && above > kFar) return;
  Facts& facts = Change(value);
  if (below <= kFar) facts.lower.push_back(LinearForm::Of(-int64_t(below)));
  if (above <= kFar) facts.upper.push_back(LinearForm::Of(int64_t(above)));
}

// Of numbers that are known to be small; and an index times 0 or 1, where an axis may be repeated.
void Ranges::BoundProduct(const Binding& b) {
  Reaches x, y;
  for (auto [reaches, side] : {std::pair(&x, 0), std::pair(&y, 1)}) {
    const LinearForm form = FormOf(b.operands[side]);
    *reaches = {Reach(false, form), Reach(true, form)};
  }
  if (std::max({x.below, x.above, y.below, y.above}) <= kFar)
    BoundWithin(b.result(), std::max(x.above * y.below, x.below * y.above),
                std::max(x.above * y.above, x.below * y.below));
  BoundMultiple(b);
  for (const int side : {0, 1}) {
    const auto times = definitions_.find(b.operands[side].var());
    if (times == definitions_.end() || times->second->op != OpCode::kCast) continue;
    if (ir::DTypeOf(times->second->operands[0]) != DType::kBool) continue;
    if (!ProvesLe(Operand::Int(0), b.operands[1 - side])) continue;
    const LinearForm index = FormOf(b.operands[1 - side]);
    Order(index);
    Facts& facts = Change(b.result());
    facts.lower = {LinearForm::Of(int64_t{0})};
    facts.upper = {index};
  }
}

// --- Products. ---

void Ranges::LearnProduct(const Binding& b) {
  std::vector<LinearForm> factors;
  double most = 1.0;
  for (const Operand& factor : b.operands) {
    factors.push_back(FormOf(factor));
    most *= std::max({1.0, Reach(false, factors.back()), Reach(true, factors.back())});
  }
  if (!(most <= kWithoutWrap) && !MostOfMultiple(b.operands[0], b.operands[1]) &&
      !MostOfMultiple(b.operands[1], b.operands[0]))
    return;
  if (auto product = monomials_.Times(Expanded(factors[0]), Expanded(factors[1])))
    products_[b.result()] = std::move(*product);
}

LinearForm Ranges::Expanded(LinearForm form) const {
  for (const auto& [var, coefficient] : LinearForm(form).terms) {
    const auto product = products_.find(var);
    if (product == products_.end()) continue;
    if (auto with = Replaced(form, var, product->second)) form = std::move(*with);
  }
  return form;
}

bool Ranges::HasProducts(const LinearForm& form) const {
  return std::any_of(form.terms.begin(), form.terms.end(),
                     [&](const auto& term) { return monomials_.IsProduct(term.first); });
}

int Ranges::OrderOfTerm(const Var* var) const {
  int latest = -1;
  for (const Var* factor : monomials_.FactorsOf(var)) latest = std::max(latest, OrderOf(factor));
  return latest;
}

double Ranges::ReachOfProduct(bool high, const Var* product, int& budget) const {
  double most = 1.0;
  bool is_natural = true;
  for (const Var* factor : monomials_.FactorsOf(product)) {
    const double below = Reach(false, factor, budget), above = Reach(true, factor, budget);
    is_natural &= below == 0.0;
    most *= std::max({1.0, below, above});
  }
  return is_natural && !high ? 0.0 : most;
}

// x * y with y not negative is no less than what x is no less than, times y; the latest factor is
// replaced first.
bool Ranges::ProvesWithProduct(const LinearForm& form, const Var* product, int& budget) const {
  std::vector<const Var*> factors = monomials_.FactorsOf(product);
  std::sort(factors.begin(), factors.end(),
            [&](const Var* a, const Var* b) { return OrderOf(a) > OrderOf(b); });
  const bool high = form.Coefficient(product) < 0;
  return std::any_of(factors.begin(), factors.end(), [&](const Var* factor) {
    std::vector<const Var*> others = factors;
    others.erase(std::find(others.begin(), others.end(), factor));
    const bool are_natural = std::all_of(others.begin(), others.end(), [&](const Var* other) {
      return ProvesNonNegative(LinearForm::Of(other), budget);
    });
    if (!are_natural) return false;
    const LinearForm rest = LinearForm::Of(monomials_.ProductOf(std::move(others)));
    const std::vector<LinearForm> limits = LimitsOf(factor, high);
    return std::any_of(limits.begin(), limits.end(), [&](const LinearForm& limit) {
      const auto bound = monomials_.Times(Expanded(limit), rest);
      const auto with = bound ? Replaced(form, product, *bound) : std::nullopt;
      return with && ProvesNonNegative(*with, budget);
    });
  });
}

// A narrower integer has all its values; the smaller of two unsigned ones is no more than a size
// that one of them was.
void Ranges::BoundCast(const Binding& b) {
  const DType from = ir::DTypeOf(b.operands[0]);
  const bool is_unsigned = ir::IsBool(from) || ir::IsUnsigned(from);
  if (!ir::IsBool(from) && !ir::IsInteger(from)) return;
  Facts facts;
  if (is_unsigned) facts.upper = SmallerLimits(b.operands[0]);
  if (const auto interval = IntervalOfWhole(b.operands[0], kDeepestWhole)) {
    facts.upper.push_back(LinearForm::Of(interval->hi));
    facts.lower = {LinearForm::Of(interval->lo)};
  } else if (!facts.upper.empty()) {
    facts.lower = {LinearForm::Of(int64_t{0})};
  }
  if (facts.upper.empty()) return;
  for (const LinearForm& limit : facts.upper) Order(limit);
  Change(b.result()) = std::move(facts);
}

// What a bool or an integer of another type than i64 lies between: what a mask or a shift leaves.
std::optional<IntegerInterval> Ranges::IntervalOfWhole(const Operand& value, int depth) const {
  if (value.IsConstant()) return IntervalOf(value.constant());
  const DType dtype = ir::DTypeOf(value);
  if (!ir::IsBool(dtype) && !ir::IsInteger(dtype)) return std::nullopt;
  const bool is_narrow = ir::IsBool(dtype) || ir::SizeInBits(dtype) <= 32;
  const auto any = is_narrow ? std::optional(IntervalOf(dtype)) : std::nullopt;
  const Binding* made = DefinitionOf(value);
  if (depth == 0 || made == nullptr || !ir::IsScalarOp(made->op)) return any;
  const auto of = [&](const Operand& operand) { return IntervalOfWhole(operand, depth - 1); };
  const bool is_cast = made->op == OpCode::kCast;
  if (!is_cast && ir::DTypeOf(made->operands.back()) != dtype) return any;
  const auto interval = is_cast ? of(made->operands[0]) : IntervalOf(*made, of);
  return interval && interval->Fits(dtype) ? interval : any;
}

// The sizes and constants that an unsigned minimum is made of.
std::vector<LinearForm> Ranges::SmallerLimits(const Operand& value) const {
  std::vector<LinearForm> limits;
  const auto smaller = definitions_.find(value.IsVar() ? value.var() : nullptr);
  if (smaller == definitions_.end() || smaller->second->op != OpCode::kMin) return limits;
  for (const Operand& side : smaller->second->operands) {
    if (side.IsConstant() && side.constant().integer >= 0)
      limits.push_back(LinearForm::Of(side.constant().integer));
    const auto cast = definitions_.find(side.IsVar() ? side.var() : nullptr);
    if (cast == definitions_.end() || cast->second->op != OpCode::kCast) continue;
    const Operand& size = cast->second->operands[0];
    // What is left of a size that wraps around is less.
    if (IsI64(size) && ProvesLe(Operand::Int(0), size)) limits.push_back(FormOf(size));
  }
  return limits;
}

// --- Questions. ---

const Binding* Ranges::DefinitionOf(const Operand& value) const {
  const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
  return found == definitions_.end() ? nullptr : found->second;
}

bool Ranges::IsKnownBefore(const Operand& value, const Var* index) const {
  ir::VarSet seen;
  std::vector<Operand> values = {value};
  while (!values.empty()) {
    const Operand one = values.back();
    values.pop_back();
    if (!one.IsVar() || !seen.insert(one.var()).second) continue;
    const Binding* made = DefinitionOf(one);
    if (made == nullptr) {  // Indexes have an order since their loops began.
      const auto order = order_.find(one.var());
      if (order != order_.end() && order->second >= OrderOf(index)) return false;
      continue;
    }
    if (!made->blocks.empty()) return false;
    values.insert(values.end(), made->operands.begin(), made->operands.end());
  }
  return true;
}

LinearForm Ranges::FormOf(const Operand& operand) const {
  if (operand.IsConstant()) return LinearForm::Of(operand.constant().integer);
  const auto sum = sums_.find(operand.var());
  return sum == sums_.end() ? LinearForm::Of(operand.var()) : sum->second;
}

double Ranges::Reach(bool high, const LinearForm& form, int& budget) const {
  if (!HasSmallNumbers(form)) return kInfinity;
  double reach = std::max(0.0, static_cast<double>(high ? form.constant : -form.constant));
  for (const auto& [var, coefficient] : form.terms) {
    reach +=
        std::abs(static_cast<double>(coefficient)) * Reach(high == (coefficient > 0), var, budget);
  }
  return reach;
}

double Ranges::Reach(bool high, const LinearForm& form) const {
  int budget = kBudget;
  return Reach(high, form, budget);
}

// Bounds are made of earlier values, so this ends.
double Ranges::Reach(bool high, const Var* var, int& budget) const {
  if (monomials_.IsProduct(var)) return ReachOfProduct(high, var, budget);
  double reach = kInfinity;
  const auto found = facts_.find(var);
  if (found != facts_.end() && (high ? found->second.below_high : found->second.above_low))
    reach = kFar;
  if (--budget < 0) return reach;
  const auto product = products_.find(var);
  if (product != products_.end()) reach = std::min(reach, Reach(high, product->second, budget));
  if (found == facts_.end()) return reach;
  for (const LinearForm& limit : high ? found->second.upper : found->second.lower)
    reach = std::min(reach, Reach(high, limit, budget));
  if (reach <= kFar || found->second.one_of.empty()) return reach;
  double most = 0.0;
  for (const LinearForm& one : found->second.one_of)
    most = std::max(most, Reach(high, one, budget));
  return std::min(reach, most);
}

bool Ranges::IsWithin(double limit, bool high, const LinearForm& form) const {
  return Reach(high, form) <= limit;
}

bool Ranges::ProvesLe(const Operand& a, const Operand& b) const {
  return ProvesNonNegative(Difference(FormOf(b), FormOf(a)));
}

bool Ranges::ProvesLt(const Operand& a, const Operand& b) const {
  return ProvesNonNegative(Plus(Difference(FormOf(b), FormOf(a)), -1));
}

bool Ranges::IsNear(const LinearForm& form) const {
  return IsWithin(kFar, true, form) && IsWithin(kFar, false, form);
}

std::pair<double, double> Ranges::BoundsOf(const Operand& value) const {
  return {-Reach(false, FormOf(value)), Reach(true, FormOf(value))};
}

std::vector<LinearForm> Ranges::LimitsOf(const Var* value, bool high) const {
  const auto found = facts_.find(value);
  if (found == facts_.end()) return {};
  return high ? found->second.upper : found->second.lower;
}

std::optional<int64_t> Ranges::GapOf(const LinearForm& form, const Var* value, bool high) const {
  int budget = kBudget;
  return GapOf(form, value, high, budget);
}

std::optional<int64_t> Ranges::GapOf(const LinearForm& form, const Var* value, bool high,
                                     int& budget) const {
  const LinearForm gap = Difference(form, LinearForm::Of(value));
  if (gap.IsConstant()) return gap.constant;
  const bool is_moved = std::any_of(form.terms.begin(), form.terms.end(),
                                    [&](const auto& term) { return term.first == value; });
  if (is_moved) {  // by what is known to be small
    const double reach = Reach(high, gap, budget);
    if (reach > kFar) return std::nullopt;
    return high ? int64_t(reach) : -int64_t(reach);
  }
  if (form.terms.size() != 1 || form.terms[0].second != 1 || --budget < 0) return std::nullopt;
  const Var* last = form.terms[0].first;
  const auto found = facts_.find(last);
  if (found == facts_.end()) return std::nullopt;
  const auto gap_with = [&](const LinearForm& other) {
    return GapOf(form.With(last, other), value, high, budget);
  };
  std::optional<int64_t> closest;
  for (const LinearForm& limit : high ? found->second.upper : found->second.lower) {
    const auto with = gap_with(limit);
    if (with)
      closest = high ? std::min(closest.value_or(*with), *with)
                     : std::max(closest.value_or(*with), *with);
  }
  if (closest) return closest;
  std::optional<int64_t> most;
  for (const LinearForm& one : found->second.one_of) {
    const auto with = gap_with(one);
    if (!with) return std::nullopt;
    most = high ? std::max(most.value_or(*with), *with) : std::min(most.value_or(*with), *with);
  }
  return most;
}

bool Ranges::ProvesNonNegative(const LinearForm& form) const {
  int budget = kBudget;
  return ProvesNonNegative(form, budget);
}

// Replaces the latest value by what bounds it, until a constant is left or nothing is known. The
// forms are of exact values, so that their numbers need only not overflow themselves.
bool Ranges::ProvesNonNegative(const LinearForm& form, int& budget) const {
  if (form.IsConstant()) return form.constant >= 0;
  if (--budget < 0 || !HasSmallNumbers(form)) return false;
  for (const LinearForm& gap : gaps_) {
    const LinearForm more = Difference(form, gap);
    if (more.IsConstant() && more.constant >= 0) return true;
  }
  const std::pair<const Var*, int64_t>* latest = &form.terms.front();
  for (const auto& term : form.terms) {
    if (OrderOfTerm(term.first) > OrderOfTerm(latest->first)) latest = &term;
  }
  const auto [var, coefficient] = *latest;
  if (monomials_.IsProduct(var)) return ProvesWithProduct(form, var, budget);
  const auto holds_with = [&](const LinearForm& value) {
    const auto with = Replaced(form, var, value);
    return with && ProvesNonNegative(*with, budget);
  };
  const auto product = products_.find(var);
  if (product != products_.end() && holds_with(product->second)) return true;
  const auto found = facts_.find(var);
  if (found == facts_.end()) return false;
  const std::vector<LinearForm>& limits =
      coefficient > 0 ? found->second.lower : found->second.upper;
  if (std::any_of(limits.begin(), limits.end(), holds_with)) return true;
  // What the value is, unless its bounds say that it is not: max(x, 0) in a loop that runs is x.
  const auto holds_if = [&](const LinearForm& one) {
    return holds_with(one) || IsExcluded(found->second, one, budget);
  };
  const std::vector<LinearForm>& all = found->second.one_of;
  return !all.empty() && std::all_of(all.begin(), all.end(), holds_if);
}

bool Ranges::IsExcluded(const Facts& facts, const LinearForm& value, int& budget) const {
  const auto is_below = [&](const LinearForm& bound) {
    return ProvesNonNegative(Plus(Difference(bound, value), -1), budget);
  };
  const auto is_above = [&](const LinearForm& bound) {
    return ProvesNonNegative(Plus(Difference(value, bound), -1), budget);
  };
  return std::any_of(facts.lower.begin(), facts.lower.end(), is_below) ||
         std::any_of(facts.upper.begin(), facts.upper.end(), is_above);
}

}  // namespace parakeet::passes
