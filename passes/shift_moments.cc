// Sums products of differences from means in the traversal that makes the means.
//
// Before:
//   %a: f64 = ireduce (%i) in (%n) add from 0.0 { %x.1 = load %x[%i]  yield %x.1 }
//   %m = div %a, %n.1
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 {
//     %x.2 = load %x[%i]  %u = sub %x.2, %m  %p = mul %u, %u  yield %p }
// After:
//   %some = gt %n, 0
//   %c = if %some { ... yield the mean of 64 elements of %x } else { yield 0.0 }
//   %a: f64 = ireduce (%i) in (%n) add from 0.0 { %x.1 = load %x[%i]  yield %x.1 }
//   %m = div %a, %n.1
//   %p = ireduce (%i) in (%n) add from 0.0 { ...  %u = sub %x.2, %c  %p = mul %u, %u  yield %p }
//   %q = ireduce (%i) in (%n) add from 0.0 { ...  %u = sub %x.2, %c  yield %u }
//   %e = sub %c, %m
//   %t = ... %p + 2 %e %q + %n %e %e
//   %s = if %n %e %e <= %t, finite { yield %t } else { yield ... the sum as it was }
//
// The new sums need no mean, so fuse_horizontally puts them into its traversal: memory is read
// once. With u = u' + e and v = v' + f, sum(u v) = sum(u' v') + e sum(v') + f sum(u') + n e f
// whatever is subtracted. What rounding costs depends on how near to the mean the shift is: where
// n e e is more than the centred squares themselves, and of what is not finite, the sum is made as
// it is written. (Chan, Golub, LeVeque: Algorithms for computing the sample variance, 1983.)
//
// Assumes: index form, in which reductions stand by themselves.
// Refuses: sums inside nests, whose elements are in the cache when they are read again; factors
// that need the mean otherwise; other extents than those of the sum that the mean is of; what may
// fail, or is stored to between.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "ir/dtype.h"
#include "ir/uses.h"
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
using ir::Var;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kSamples = 64;
// Odd, so that an axis gives all its samples, and others beside those of the axes around it.
constexpr int64_t kStrides[kMostAxesOfMoments] = {1, 37, 23, 11, 53};
constexpr int64_t kStepOfPlaces = 40;

// Moments of one space that are told good or not together, by the first of their sums in the block:
// there what all of them need is at hand, so that one traversal makes all sums as they are written.
using MomentGroups = std::map<const Binding*, std::vector<Moment>>;

class MomentShifter : public LoopWriter {
 public:
  MomentShifter(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    if (in_nest_) return Mutator::VisitBlock(block);
    const std::vector<Moment> moments = FindMoments(*block, roots_);
    if (moments.empty()) return Mutator::VisitBlock(block);
    std::map<const Binding*, std::vector<const Moment*>> beginning;
    for (const Moment& moment : moments)
      beginning[block->bindings[moment.begin]].push_back(&moment);
    const MomentGroups groups = GroupsOf(*block, moments);
    std::set<const Binding*> grouped;
    for (const Moment& moment : moments) grouped.insert(moment.sum);
    const auto outer = std::exchange(sums_, {});
    const Block* shifted = BlockOf(block->params, [&] {
      for (const Binding* b : block->bindings) {
        builder().set_span(b->span);
        if (beginning.contains(b)) TakeSamples(beginning.at(b));
        if (!grouped.contains(b)) Visit(b);
        if (const auto group = groups.find(b); group != groups.end()) Shift(group->second);
        if (!EffectsOf(*b, roots_).IsPure()) sums_.clear();
      }
      return Apply(block->results);
    });
    sums_ = outer;
    return shifted;
  }

  void Visit(const Binding* b) override {
    const bool is_nest = b->op != OpCode::kIf && b->op != OpCode::kFor && b->op != OpCode::kWhile;
    const bool was_in_nest = std::exchange(in_nest_, in_nest_ || is_nest);
    Mutator::Visit(b);
    in_nest_ = was_in_nest;
  }

 private:
  static MomentGroups GroupsOf(const Block& block, const std::vector<Moment>& moments) {
    MomentGroups groups;
    std::map<const Binding*, const Moment*> found;
    for (const Moment& moment : moments) found.emplace(moment.sum, &moment);
    std::vector<Moment>* group = nullptr;
    std::set<const Var*> since;  // what the block has defined from the first of the group on
    for (const Binding* b : block.bindings) {
      if (const auto at = found.find(b); at != found.end()) {
        const Moment& moment = *at->second;
        if (group == nullptr || !Joins(moment, group->front(), since)) {
          group = &groups[b];
          since.clear();
        }
        group->push_back(moment);
      }
      since.insert(b->results.begin(), b->results.end());
    }
    return groups;
  }

  static bool Joins(const Moment& moment, const Moment& first, const std::set<const Var*>& since) {
    const Binding &sum = *moment.sum, &other = *first.sum;
    if (moment.begin != first.begin || sum.operands.size() != other.operands.size()) return false;
    if (!std::equal(sum.operands.begin(), sum.operands.end() - 1, other.operands.begin()))
      return false;
    const auto is_there = [&](const Operand& operand) {
      return operand.IsConstant() || !since.contains(operand.var());
    };
    const ir::VarSet needed = ir::FreeVars(*sum.blocks[0]);
    return is_there(sum.operands.back()) &&
           std::all_of(needed.begin(), needed.end(), [&](const Var* var) { return is_there(var); });
  }

  // --- Before the mean: what is subtracted instead of it ---

  // The moments have the same extents.
  void TakeSamples(const std::vector<const Moment*>& moments) {
    std::vector<const Var*> centers;
    std::vector<std::function<Operand()>> samples;
    Operands zeros;
    for (const Moment* moment : moments) {
      const Binding& sum = *moment->sum;
      for (const MomentFactor* factor : {&moment->left, &moment->right}) {
        if (factor->center == nullptr || !shifts_.emplace(factor->center, Operand()).second)
          continue;
        centers.push_back(factor->center);
        samples.push_back([this, &sum, factor] { return SampleMean(sum, factor->element); });
        zeros.emplace_back(ir::ZeroOf(sum.result()->type.dtype()));
      }
    }
    if (centers.empty()) return;
    Operand has_elements = Operand::Bool(true);
    for (const Operand& extent : ExtentsOf(*moments[0]->sum)) {
      has_elements = And(has_elements, builder().Scalar(OpCode::kGt, {extent, Int(0)}));
    }
    const auto take = [&] {
      Operands means;
      for (const auto& sample : samples) means.push_back(sample());
      return means;
    };
    const Operands shifts = Choose(has_elements, take, [&] { return zeros; }, Likely());
    for (size_t k = 0; k < centers.size(); ++k) shifts_[centers[k]] = shifts[k];
  }

  // The mean of elements from all over the index space.
  Operand SampleMean(const Binding& sum, const Operand& element) {
    const Block& body = *sum.blocks[0];
    const Operands extents = ExtentsOf(sum);
    const Binding* total = NewSum(sum, {Int(kSamples)}, [&](const std::vector<const Var*>& params) {
      Substitution values;
      for (size_t axis = 0; axis < extents.size(); ++axis)
        values[body.params[axis]] = SampledIndex(params[0], extents[axis], kStrides[axis]);
      return InBody(body, {element}, std::move(values))[0];
    });
    builder().Append(total);
    const DType dtype = sum.result()->type.dtype();
    return Times(total->result(), Constant::Float(1.0 / kSamples, dtype));
  }

  // One of each 64th of the extent, in another order along each axis, and at another place of it:
  // what comes again every so many elements, as columns of a matrix in one row do, is met at all
  // its places.
  Operand SampledIndex(const Operand& sample, const Operand& extent, int64_t stride) {
    const auto mixed = [&](int64_t step) {
      return And(builder().Mul(sample, Int(step)), Int(kSamples - 1));
    };
    const Operand part =
        builder().Add(builder().Mul(mixed(stride), Int(kSamples)), mixed(stride + kStepOfPlaces));
    return builder().Scalar(OpCode::kFloorDiv,
                            {builder().Mul(part, extent), Int(kSamples * kSamples)});
  }

  // --- In the place of the sum ---

  void Shift(const std::vector<Moment>& group) {
    Operands totals;
    Operand is_good = Operand::Bool(true);
    for (const Moment& moment : group) {
      totals.push_back(TotalOf(moment, is_good));
      context_.Note(moment.sum->span, "summed in the traversal that makes the mean",
                    Topic::kSiblings, Verdict::kDone);
    }
    const auto as_written = [&] {
      Operands sums;
      for (const Moment& moment : group) {
        const Binding* original = SumOf(*moment.sum, moment.sum->blocks[0]->results, {});
        builder().Append(original);
        sums.push_back(original->result());
      }
      return sums;
    };
    const Operands sums = Choose(is_good, [&] { return totals; }, as_written, Likely());
    for (size_t k = 0; k < group.size(); ++k) Replace(group[k].sum->result(), sums[k]);
  }

  // The sum of the shifted ones, and whether that is good, with what was before.
  Operand TotalOf(const Moment& moment, Operand& is_good) {
    const Binding& sum = *moment.sum;
    const DType dtype = sum.result()->type.dtype();
    const Offset left = OffsetOf(moment.left), right = OffsetOf(moment.right);
    const Operand infinity = Constant::Float(kInfinity, dtype);
    const auto ask = [&](const Operand& low, OpCode less, const Operand& high) {
      is_good = And(is_good, builder().Scalar(less, {low, high}));
    };
    const auto squares = [&](const Offset& side) {
      const Operand total = Centered(moment, side, side);
      ask(Times(CountOf(sum), Times(side.value, side.value)), OpCode::kLe, total);
      ask(total, OpCode::kLt, infinity);
      return total;
    };
    if (moment.IsSquare()) return squares(left);
    for (const Offset& side : {left, right}) {
      if (side.factor->center != nullptr) squares(side);
    }
    const Operand total = Centered(moment, left, right);
    ask(builder().Scalar(OpCode::kAbs, {total}), OpCode::kLt, infinity);
    return total;
  }

  // What is to be added to a shifted factor to give the factor; nothing without a center.
  struct Offset {
    const MomentFactor* factor;
    Operand value;
  };

  Offset OffsetOf(const MomentFactor& factor) {
    if (factor.center == nullptr) return {&factor, {}};
    const Operand center = Apply(Operand(factor.center)), shift = shifts_.at(factor.center);
    return {&factor, factor.is_negated ? Minus(center, shift) : Minus(shift, center)};
  }

  // The sum of u v, of the shifted sums.
  Operand Centered(const Moment& moment, const Offset& u, const Offset& v) {
    const Operand a = u.factor->value, b = v.factor->value;
    const bool moves_a = u.factor->center != nullptr, moves_b = v.factor->center != nullptr;
    Operand total = ShiftedSum(moment, {a, b});
    if (moves_a) total = Plus(total, Times(u.value, ShiftedSum(moment, {b})));
    if (moves_b) total = Plus(total, Times(v.value, ShiftedSum(moment, {a})));
    if (moves_a && moves_b)
      total = Plus(total, Times(CountOf(*moment.sum), Times(u.value, v.value)));
    return total;
  }

  // The sum of the product of these values of the body, with shifts for centers.
  Operand ShiftedSum(const Moment& moment, Operands factors) {
    const bool is_as_written = factors == Operands{moment.left.value, moment.right.value};
    if (is_as_written) factors = moment.sum->blocks[0]->results;
    Substitution shifts;
    for (const MomentFactor* factor : {&moment.left, &moment.right}) {
      if (factor->center != nullptr) shifts[factor->center] = shifts_.at(factor->center);
    }
    return Shared(SumOf(*moment.sum, factors, std::move(shifts)));
  }

  // --- Words ---

  static ir::Attributes Likely() { return {{ir::Attr::kLikely, int64_t{1}}}; }

  Operands ExtentsOf(const Binding& sum) {
    return Apply(Operands(sum.operands.begin(), sum.operands.end() - 1));
  }

  Operand CountOf(const Binding& sum) {
    return builder().Cast(Product(ExtentsOf(sum)), sum.result()->type.dtype());
  }

  Operand Times(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kMul, {a, b});
  }
  Operand Plus(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kAdd, {a, b});
  }
  Operand Minus(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kSub, {a, b});
  }
  Operand And(const Operand& a, const Operand& b) { return builder().Scalar(OpCode::kAnd, {a, b}); }

  // A sum like this one, of the product of these values of its body.
  const Binding* SumOf(const Binding& sum, const Operands& factors, Substitution values) {
    const Block& body = *sum.blocks[0];
    return NewSum(sum, ExtentsOf(sum), [&](const std::vector<const Var*>& params) {
      for (size_t axis = 0; axis < params.size(); ++axis)
        values[body.params[axis]] = Operand(params[axis]);
      const Operands made = InBody(body, factors, std::move(values));
      return made.size() == 1 ? made[0] : Times(made[0], made[1]);
    });
  }

  // A sum of the type of `sum` over these extents, not appended.
  const Binding* NewSum(const Binding& sum, const Operands& extents,
                        const std::function<Operand(const std::vector<const Var*>&)>& element) {
    std::vector<const Var*> params;
    for (size_t axis = 0; axis < extents.size(); ++axis)
      params.push_back(builder().NewVar(DType::kI64, "i"));
    Binding made = sum;
    made.span = builder().span();
    made.results = {builder().NewVar(sum.result()->type)};
    made.operands = extents;
    made.operands.push_back(sum.operands.back());
    made.blocks = {BlockOf(params, [&] { return Operands{element(params)}; }),
                   ir::CloneBlock(arena(), *sum.blocks[1])};
    return arena()->New(std::move(made));
  }

  // The value of a sum that the block being written may have already.
  Operand Shared(const Binding* sum) {
    const auto [known, is_new] = sums_.emplace(KeyOf(*sum), sum->result());
    if (is_new) builder().Append(sum);
    return known->second;
  }

  // A copy of what of the body these results need; its parameters are among `values`.
  Operands InBody(const Block& body, const Operands& results, Substitution values) {
    const Block needed{body.params, NeededBindings(body, results), results};
    for (const Var* value : ir::FreeVars(needed)) values.emplace(value, Apply(Operand(value)));
    return ir::InlineBlock(builder(), needed, std::move(values));
  }

  Roots roots_;
  Context& context_;
  bool in_nest_ = false;
  std::map<const Var*, Operand> shifts_;  // by center
  std::map<std::string, Operand> sums_;   // of the block being written, by what they sum
};

}  // namespace

ir::Program ShiftMoments(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MomentShifter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
