// Sums products of differences from means row by row, each about a number of its own.
//
// Before:
//   %a: f64 = ireduce (%i) in (%n) add from 0.0 { %x.1 = load %x[%i]  yield %x.1 }
//   %m = div %a, %n.1
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 {
//     %x.2 = load %x[%i]  %u = sub %x.2, %m  %p = mul %u, %u  yield %p }
// After:
//   %f = the first element
//   %sum, %mean, %square = imap (%r) in (%rows) {
//     %k = the mean of four elements of the row, which has %l
//     %b, %d, %v = ireduce (%j) in (%l) (add, add, add) {
//       ...  %u = sub %x.2, %k  %p = mul %u, %u  yield %x.1, %u, %p }
//     yield %b, %k - %f + %d / %l, %v - %d %d / %l }
//   %a, %d, %c, %v = ireduce (%r) in (%rows) (add, add, add, add) {
//     %l = the length of the row  %u = sub %mean[%r], %mean[0]
//     yield %sum[%r], %l %u, %l / %n.1 (%f + %mean[%r]), %square[%r] + %l %u %u }
//   %m = div %a, %n.1
//   %e = sub %c, %m
//   %s = %v - %d %d / %n.1 + %n.1 %e %e
//
// A GPU reads memory once, and needs neither samples in front, to say what to subtract, nor kernels
// behind, that sum as written where that was far from the mean: a row of which some elements are
// far from its mean differs from that as much itself. (Chan, Golub, LeVeque: Algorithms for
// computing the sample variance, 1983.)
//
// Assumes: index form, in which reductions stand by themselves; kernels.
// Refuses: sums of singles, whose bits are too few for rows so long; sums inside nests; products
// with what no mean is taken from, where an infinity keeps its sign; of several axes, unless all
// that they read lies in C order and is of their extents; short ones of constant extents; more sums
// than registers hold well; what is summed beside reductions of other kinds over the same elements,
// which would be read once more.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "ir/dtype.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/binding_key.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_moments.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Constant;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Substitution;
using ir::Type;
using ir::Var;

// A row is one block of threads, of no fewer elements than that, a multiple of what fills whole
// accesses of a block. They all run at a time, of two sums or three and of more, which take four
// blocks on each of an H200's 132 multiprocessors to read memory as fast as it comes.
constexpr int64_t kRowsOfFewSums = 396;
constexpr int64_t kRowsOfMoreSums = 528;
constexpr size_t kFewSums = 3;
constexpr int64_t kLeastOfRow = 2048;
constexpr int64_t kStepOfRow = 1024;
// What a row's numbers are about is the mean of so many of its elements, at other places of each
// row, lest what comes again every so many elements is all of them.
constexpr int64_t kSamples = 4;
constexpr int64_t kStepOfPlaces = 1237;
constexpr int64_t kFirstPlace = 611;  // a first element of all may be like no other
// Means, and sums of two arrays with their products.
constexpr size_t kMostSums = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A number of each element, in the body of a sum.
struct Value {
  const Binding* sum;
  Operand element;
};

// Sums over one space, with all that they are made of there from the first of them on.
struct Family {
  std::vector<const Binding*> sums;  // as they are written, of which means are made
  std::vector<Moment> moments;
  size_t begin = 0;  // in the block

  const Binding& first() const { return *moments[0].sum; }
};

size_t RankOf(const Binding& sum) { return sum.blocks[0]->params.size(); }

std::vector<Operand> ExtentsOf(const Binding& sum) {
  return {sum.operands.begin(), sum.operands.begin() + RankOf(sum)};
}

// Which sums of a block are made by rows together.
class FamilyFinder {
 public:
  FamilyFinder(const Block& block, const Roots& roots, const AccessPatterns& patterns)
      : block_(block), roots_(roots), patterns_(patterns) {
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      for (const Var* made : block.bindings[at]->results) made_at_[made] = at;
    }
  }

  std::vector<Family> Find() const {
    std::vector<Family> families;
    for (const Moment& moment : FindMoments(block_, roots_)) {
      auto family = std::find_if(families.begin(), families.end(),
                                 [&](const Family& each) { return IsOfSpace(*moment.sum, each); });
      if (family == families.end()) family = families.insert(family, {{}, {}, moment.begin});
      family->begin = std::min(family->begin, moment.begin);
      family->moments.push_back(moment);
    }
    std::erase_if(families, [&](Family& family) { return !Complete(family); });
    return families;
  }

 private:
  // Adds the sums beside the moments; false where the family is not made by rows.
  bool Complete(Family& family) const {
    if (IsShort(family.first())) return false;
    size_t last = 0;
    for (const Moment& moment : family.moments) {
      last = std::max(last, made_at_.at(moment.sum->result()));
      for (const MomentFactor* factor : {&moment.left, &moment.right}) {
        if (factor->center == nullptr || !IsThere(family, *moment.sum, factor->element))
          return false;
      }
      if (!IsDouble(*moment.sum) || !LiesInRows(*moment.sum)) return false;
    }
    for (size_t at = family.begin; at <= last; ++at) {
      const Binding* b = block_.bindings[at];
      const auto effects = EffectsOf(*b, roots_);
      if (!effects.writes.empty() || effects.may_fail) return false;
      const bool is_moment = std::any_of(family.moments.begin(), family.moments.end(),
                                         [&](const Moment& moment) { return moment.sum == b; });
      if (is_moment || b->op != OpCode::kIreduce || !IsOfSpace(*b, family)) continue;
      const bool is_sum = IsPlainSum(*b) && IsDouble(*b) && LiesInRows(*b) &&
                          IsThere(family, *b, b->blocks[0]->results[0]);
      if (!is_sum) return false;
      family.sums.push_back(b);
    }
    return true;
  }

  static bool IsShort(const Binding& sum) {
    int64_t count = 1;
    for (const Operand& extent : ExtentsOf(sum)) {
      if (!extent.IsConstant()) return false;
      count *= std::max<int64_t>(extent.constant().integer, 0);
    }
    return count <= kLeastOfRow;
  }

  static bool IsOfSpace(const Binding& b, const Family& family) {
    return RankOf(b) == RankOf(family.first()) && ExtentsOf(b) == ExtentsOf(family.first());
  }

  static bool IsDouble(const Binding& sum) {
    return sum.result()->type.IsScalar() && sum.result()->type.dtype() == DType::kF64;
  }

  // Whether all that the element is made of is there where the family begins.
  bool IsThere(const Family& family, const Binding& sum, const Operand& element) const {
    const Block& body = *sum.blocks[0];
    const Block needed{body.params, NeededBindings(body, {element}), {element}};
    const ir::VarSet free = ir::FreeVars(needed);
    return std::all_of(free.begin(), free.end(), [&](const Var* value) {
      const auto made = made_at_.find(value);
      return made == made_at_.end() || made->second < family.begin;
    });
  }

  // Whether what it reads lies one behind the other as its space does: of one axis, however far
  // apart.
  bool LiesInRows(const Binding& sum) const {
    const Block& body = *sum.blocks[0];
    if (RankOf(sum) == 1) return true;
    const std::vector<Operand> index(body.params.begin(), body.params.end());
    return std::all_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
      if (b->op != OpCode::kLoad) return true;
      const Var* array = b->operands[0].var();
      const std::vector<Operand> place(b->operands.begin() + 1, b->operands.end());
      return place == index && patterns_.LiesInC(array) && array->type.dims() == ExtentsOf(sum);
    });
  }

  const Block& block_;
  const Roots& roots_;
  const AccessPatterns& patterns_;
  std::map<const Var*, size_t> made_at_;
};

class RowSummer : public LoopWriter {
 public:
  RowSummer(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), patterns_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    if (in_nest_) return Mutator::VisitBlock(block);
    const std::vector<Family> families = FamilyFinder(*block, roots_, patterns_).Find();
    if (families.empty()) return Mutator::VisitBlock(block);
    std::multimap<const Binding*, const Family*> beginning;
    for (const Family& family : families) beginning.emplace(block->bindings[family.begin], &family);
    return BlockOf(block->params, [&] {
      for (const Binding* b : block->bindings) {
        builder().set_span(b->span);
        const auto [first, last] = beginning.equal_range(b);
        for (auto family = first; family != last; ++family) MakeTotals(*family->second);
        const auto moment = moments_.find(b);
        if (moment != moments_.end()) {
          Replace(b->result(), moment->second());
        } else if (!sums_.contains(b)) {
          Visit(b);
        }
      }
      return Apply(block->results);
    });
  }

  void Visit(const Binding* b) override {
    const bool is_nest = b->op != OpCode::kIf && b->op != OpCode::kFor && b->op != OpCode::kWhile;
    const bool was_in_nest = std::exchange(in_nest_, in_nest_ || is_nest);
    Mutator::Visit(b);
    in_nest_ = was_in_nest;
  }

 private:
  // A moment, and the numbers of its values and of their product.
  struct Product {
    const Moment* moment;
    size_t left, right, pair;
  };

  // What is summed of one space.
  struct Plan {
    std::vector<const Binding*> sums;  // as they are written
    std::vector<Value> values;
    std::vector<std::pair<size_t, size_t>> pairs;  // of values, whose products are summed
    std::vector<Product> products;
    Operands extents;
    Operand count, rows, length;  // of elements, of rows, and of a row but the last one

    size_t SumsOfRow() const { return sums.size() + values.size() + pairs.size(); }
  };

  // Of all elements.
  struct Totals {
    Operand has_elements, count;
    Operands means;     // by value
    Operands products;  // about the means, by pair
  };

  void MakeTotals(const Family& family) {
    const Plan plan = PlanOf(family);
    if (plan.SumsOfRow() > kMostSums) return;
    const Totals totals = Combine(plan, MakeRows(plan));
    sums_.insert(plan.sums.begin(), plan.sums.end());
    for (const Product& product : plan.products) {
      const Binding& sum = *product.moment->sum;
      moments_[&sum] = [this, product, totals] { return SumOf(product, totals); };
      context_.Note(sum.span, "summed in the traversal that makes the mean", Topic::kSiblings,
                    Verdict::kDone);
    }
  }

  Plan PlanOf(const Family& family) {
    Plan plan;
    plan.sums = family.sums;
    plan.extents = Apply(ExtentsOf(family.first()));
    plan.count = Max(LoopWriter::Product(plan.extents), Int(0));
    std::map<std::string, size_t> numbers;
    for (const Moment& moment : family.moments) {
      const auto number_of = [&](const MomentFactor& factor) {
        const Value value{moment.sum, factor.element};
        const auto [found, is_new] = numbers.emplace(KeyOfValue(value), plan.values.size());
        if (is_new) plan.values.push_back(value);
        return found->second;
      };
      const size_t left = number_of(moment.left), right = number_of(moment.right);
      const std::pair<size_t, size_t> pair = std::minmax(left, right);
      const auto known = std::find(plan.pairs.begin(), plan.pairs.end(), pair);
      plan.products.push_back(
          {&moment, left, right, static_cast<size_t>(known - plan.pairs.begin())});
      if (known == plan.pairs.end()) plan.pairs.push_back(pair);
    }
    const Operand most = Int(plan.SumsOfRow() <= kFewSums ? kRowsOfFewSums : kRowsOfMoreSums);
    const Operand steps = CeilDiv(CeilDiv(plan.count, most), Int(kStepOfRow));
    plan.length = Max(builder().Mul(steps, Int(kStepOfRow)), Int(kLeastOfRow));
    plan.rows = Min(CeilDiv(plan.count, plan.length), most);
    return plan;
  }

  std::string KeyOfValue(const Value& value) {
    Binding alone = *value.sum;
    const Block& body = *alone.blocks[0];
    alone.blocks[0] =
        arena()->New(Block{body.params, NeededBindings(body, {value.element}), {value.element}});
    return KeyOf(alone);
  }

  // --- Rows ---

  // An element for each row: sums as written, how far means are from the first element, and
  // products about the row's means. Of what lies far from 0, means by themselves would lose bits.
  std::vector<const Var*> MakeRows(const Plan& plan) {
    const Var* row = builder().NewVar(DType::kI64, "row");
    const Block* body = BlockOf({row}, [&] { return PartsOfRow(plan, row); });
    std::vector<const Var*> parts;
    for (size_t k = 0; k < body->results.size(); ++k)
      parts.push_back(builder().NewVar(Type::Array(DType::kF64, {plan.rows}), "part"));
    builder().Emit(OpCode::kImap, parts, {plan.rows}, {}, {body});
    return parts;
  }

  Operands PartsOfRow(const Plan& plan, const Operand& row) {
    const Operand begin = builder().Mul(row, plan.length);
    const Operand length = LengthOf(plan, row);
    const Operands first = ValuesAt(plan, Int(0)), about = Samples(plan, row, begin, length);
    const Operands sums = Sum(length, [&](const Operand& at) {
      return ElementsAbout(plan, builder().Add(begin, at), about);
    });
    const size_t values = plan.sums.size(), pairs = values + plan.values.size();
    Operands parts(sums.begin(), sums.begin() + values);
    const Operand share = Over(Float(1.0), AsFloat(length));
    for (size_t k = 0; k < plan.values.size(); ++k)
      parts.push_back(Plus(Minus(about[k], first[k]), Times(sums[values + k], share)));
    for (size_t k = 0; k < plan.pairs.size(); ++k) {
      const auto& [left, right] = plan.pairs[k];
      const Operand shift = Times(Times(sums[values + left], sums[values + right]), share);
      parts.push_back(AboutMeans(sums[pairs + k], shift));
    }
    return parts;
  }

  Operand LengthOf(const Plan& plan, const Operand& row) {
    return Min(plan.length, builder().Sub(plan.count, builder().Mul(row, plan.length)));
  }

  Operands Samples(const Plan& plan, const Operand& row, const Operand& begin,
                   const Operand& length) {
    const Operand part = builder().Quotient(length, Int(kSamples));
    const Operand mixed = builder().Add(builder().Mul(row, Int(kStepOfPlaces)), Int(kFirstPlace));
    Operand at = builder().Add(begin, builder().Remainder(mixed, Max(part, Int(1))));
    Operands totals = ValuesAt(plan, at);
    for (int64_t k = 1; k < kSamples; ++k) {
      at = builder().Add(at, part);
      const Operands values = ValuesAt(plan, at);
      for (size_t each = 0; each < totals.size(); ++each)
        totals[each] = Plus(totals[each], values[each]);
    }
    for (Operand& total : totals) total = Times(total, Float(1.0 / kSamples));
    return totals;
  }

  // What a row sums of an element: as it is written, values so much less, their products.
  Operands ElementsAbout(const Plan& plan, const Operand& at, const Operands& about) {
    Operands elements = WrittenAt(plan, at), differences = ValuesAt(plan, at);
    for (size_t k = 0; k < differences.size(); ++k)
      differences[k] = Minus(differences[k], about[k]);
    elements.insert(elements.end(), differences.begin(), differences.end());
    for (const auto& [left, right] : plan.pairs)
      elements.push_back(Times(differences[left], differences[right]));
    return elements;
  }

  // Products about means, of those about other numbers: what is not finite stays so.
  Operand AboutMeans(const Operand& products, const Operand& shift) {
    const Operand size = builder().Scalar(OpCode::kAbs, {shift});
    const Operand is_finite = builder().Scalar(OpCode::kLt, {size, Float(kInfinity)});
    return builder().Scalar(OpCode::kSelect, {is_finite, Minus(products, shift), products});
  }

  // --- All rows ---

  Totals Combine(const Plan& plan, const std::vector<const Var*>& parts) {
    const Operand count = AsFloat(plan.count);
    const Operand share = Over(Float(1.0), count);
    const Operands sums =
        Sum(plan.rows, [&](const Operand& row) { return ElementsOfRow(plan, parts, row, share); });
    const size_t differences = plan.sums.size(), means = differences + plan.values.size(),
                 products = means + plan.values.size();
    for (size_t k = 0; k < plan.sums.size(); ++k) Replace(plan.sums[k]->result(), sums[k]);
    Totals totals{builder().Scalar(OpCode::kGt, {plan.count, Int(0)}),
                  count,
                  {sums.begin() + means, sums.begin() + products},
                  {}};
    for (size_t k = 0; k < plan.pairs.size(); ++k) {
      const auto& [left, right] = plan.pairs[k];
      const Operand product = Times(sums[differences + left], sums[differences + right]);
      const Operand shift = Times(product, share);
      totals.products.push_back(AboutMeans(sums[products + k], shift));
    }
    return totals;
  }

  // What all of them sum of a row: as it is written, differences of its means from the first row's,
  // shares of its means, products.
  Operands ElementsOfRow(const Plan& plan, const std::vector<const Var*>& parts, const Operand& row,
                         const Operand& share) {
    const size_t values = plan.sums.size(), pairs = values + plan.values.size();
    const Operand weight = AsFloat(LengthOf(plan, row)), weighted_share = Times(weight, share);
    const auto part = [&](size_t number, const Operand& of) {
      return Operand(builder().Load(parts[number], {of}));
    };
    Operands elements, differences, weighted, means;
    for (size_t k = 0; k < values; ++k) elements.push_back(part(k, row));
    const Operands first = ValuesAt(plan, Int(0));
    for (size_t k = 0; k < plan.values.size(); ++k) {
      const Operand mean = part(values + k, row);
      differences.push_back(Minus(mean, part(values + k, Int(0))));
      weighted.push_back(Times(weight, differences[k]));
      means.push_back(Times(weighted_share, Plus(first[k], mean)));
    }
    elements.insert(elements.end(), weighted.begin(), weighted.end());
    elements.insert(elements.end(), means.begin(), means.end());
    for (size_t k = 0; k < plan.pairs.size(); ++k) {
      const auto& [left, right] = plan.pairs[k];
      elements.push_back(Plus(part(pairs + k, row), Times(weighted[left], differences[right])));
    }
    return elements;
  }

  // --- In the place of a moment ---

  Operand SumOf(const Product& product, const Totals& totals) {
    const Moment& moment = *product.moment;
    const auto offset = [&](const MomentFactor& factor, size_t number) {
      return Minus(totals.means[number], Apply(Operand(factor.center)));
    };
    const Operand offsets =
        Times(offset(moment.left, product.left), offset(moment.right, product.right));
    Operand total = Plus(totals.products[product.pair], Times(totals.count, offsets));
    if (moment.left.is_negated != moment.right.is_negated)
      total = builder().Scalar(OpCode::kNeg, {total});
    return builder().Scalar(OpCode::kSelect, {totals.has_elements, total, Float(0.0)});
  }

  // --- Words ---

  static Operand Float(double value) { return Constant::Float(value, DType::kF64); }
  Operand AsFloat(const Operand& count) { return builder().Cast(count, DType::kF64); }
  Operand Times(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kMul, {a, b});
  }
  Operand Over(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kDiv, {a, b});
  }
  Operand Plus(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kAdd, {a, b});
  }
  Operand Minus(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kSub, {a, b});
  }

  // The sums of what `elements` gives of each index, from 0.
  Operands Sum(const Operand& extent, const std::function<Operands(const Operand& at)>& elements) {
    const Var* at = builder().NewVar(DType::kI64, "i");
    const Block* element = BlockOf({at}, [&] { return elements(at); });
    std::vector<const Var*> totals, left, right;
    Operands operands{extent};
    for (size_t k = 0; k < element->results.size(); ++k) {
      operands.push_back(Float(0.0));
      totals.push_back(builder().NewVar(DType::kF64, "sum"));
      left.push_back(builder().NewVar(DType::kF64));
      right.push_back(builder().NewVar(DType::kF64));
    }
    std::vector<const Var*> params = left;
    params.insert(params.end(), right.begin(), right.end());
    const Block* combine = BlockOf(params, [&] {
      Operands sums;
      for (size_t k = 0; k < left.size(); ++k) sums.push_back(Plus(left[k], right[k]));
      return sums;
    });
    builder().Emit(OpCode::kIreduce, totals, operands, {}, {element, combine});
    return {totals.begin(), totals.end()};
  }

  Operands WrittenAt(const Plan& plan, const Operand& at) {
    Operands elements;
    for (const Binding* sum : plan.sums)
      elements.push_back(ValueAt(plan, {sum, sum->blocks[0]->results[0]}, at));
    return elements;
  }

  Operands ValuesAt(const Plan& plan, const Operand& at) {
    Operands elements;
    for (const Value& value : plan.values) elements.push_back(ValueAt(plan, value, at));
    return elements;
  }

  // A value of the element at a place of the space, in C order.
  Operand ValueAt(const Plan& plan, const Value& value, const Operand& at) {
    const Block& body = *value.sum->blocks[0];
    const Operands index = Delinear(at, plan.extents);
    const Block needed{body.params, NeededBindings(body, {value.element}), {value.element}};
    Substitution values;
    for (size_t axis = 0; axis < index.size(); ++axis) values[body.params[axis]] = index[axis];
    for (const Var* free : ir::FreeVars(needed)) values.emplace(free, Apply(Operand(free)));
    return ir::InlineBlock(builder(), needed, std::move(values))[0];
  }

  Roots roots_;
  AccessPatterns patterns_;
  Context& context_;
  bool in_nest_ = false;
  std::set<const Binding*> sums_;                               // that are made by rows
  std::map<const Binding*, std::function<Operand()>> moments_;  // so, and what each of them is then
};

}  // namespace

ir::Program MomentsByRows(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return RowSummer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
