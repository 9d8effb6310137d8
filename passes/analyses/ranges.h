#ifndef PARAKEET_PASSES_ANALYSES_RANGES_H_
#define PARAKEET_PASSES_ANALYSES_RANGES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/integer_intervals.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/monomials.h"

namespace parakeet::passes {

// What is known of the i64 values of a function where a walk stands: bounds of sizes and indexes,
// and what checks and branches have said. A value is taken as the sum that defines it only where
// that sum cannot wrap around; data may be any i64. Products of values that cannot wrap around are
// compared as polynomials, where no form that is asked for has any.
//
// Assumes that arrays have less than 2^48 elements an axis, and that no loop gets past 2^48 by
// steps of at most 1024.
class Ranges {
 public:
  // No element of `array` is ever stored to behind the binding that defines it.
  void NeverChanges(const ir::Var* array) { never_change_.insert(array); }
  // A binding that the walk leaves behind, its operands as they are written.
  void Define(const ir::Binding& binding);
  // The size of an array: not negative.
  void IsSize(const ir::Operand& size);
  // `index` goes from `lo` by `step` as long as it is below `hi`, or above for a negative step.
  // True inside the loop, which therefore runs.
  void Bound(const ir::Var* index, const ir::Operand& lo, const ir::Operand& hi, int64_t step);
  // Values standing for others: (from, to).
  using Renames = std::vector<std::pair<const ir::Var*, const ir::Var*>>;
  // The value is at least `limit`, or at most where `high`.
  void Limit(const ir::Var* value, bool high, const LinearForm& limit);
  // The value is between -2^48 and 2^48.
  void IsNear(const ir::Var* value);
  // The bool `condition`, read with `renames`, is `value`.
  void Assume(const ir::Operand& condition, bool value, const Renames& renames = {});

  // The block, walked and not left yet, ends: bounds of what it yields are kept for its binding.
  void EndBlock(const ir::Block& block);

  // What is learned inside a block holds only there: an array whose size proves something may not
  // be made on the way around it. Leave forgets what was learned since the Enter that gave `mark`.
  size_t Enter() const { return undo_.size(); }
  void Leave(size_t mark);

  // The value as an exact sum of others.
  LinearForm FormOf(const ir::Operand& operand) const;
  // What defines the value; null for an index, and for what a block is given.
  const ir::Binding* DefinitionOf(const ir::Operand& value) const;
  // True for a sum that cannot wrap around.
  bool IsExact(const ir::Binding& sum) const { return sums_.contains(sum.result()); }
  // True where the value is computed of what is known before the loop over `index`.
  bool IsKnownBefore(const ir::Operand& value, const ir::Var* index) const;
  // The form with what is known of products in their place, and whether it has any.
  LinearForm Expanded(LinearForm form) const;
  bool HasProducts(const LinearForm& form) const;
  // True when a <= b, or a < b, whatever the values are.
  bool ProvesLe(const ir::Operand& a, const ir::Operand& b) const;
  bool ProvesLt(const ir::Operand& a, const ir::Operand& b) const;
  bool ProvesNonNegative(const LinearForm& form) const;
  // True when the form is between -2^48 and 2^48.
  bool IsNear(const LinearForm& form) const;
  // What the value lies between, 0 among it; infinite where nothing says.
  std::pair<double, double> BoundsOf(const ir::Operand& value) const;
  // What is known to be no more than the value, or no less where `high`.
  std::vector<LinearForm> LimitsOf(const ir::Var* value, bool high) const;
  // A constant that the form is at most, or at least where not `high`, above the value; none where
  // nothing says.
  std::optional<int64_t> GapOf(const LinearForm& form, const ir::Var* value, bool high) const;
  // What the form, or the value that it is, is known to be one of.
  std::vector<LinearForm> ChoicesOf(const LinearForm& form) const;

 private:
  static constexpr double kFar = 281474976710656.0;  // 2^48
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // A value, or each element of an array, is at least each of `lower` and at most each of `upper`;
  // it is one of `one_of`, where that is not empty. `above_low` says that it is above -2^48,
  // `below_high` below 2^48.
  struct Facts {
    std::vector<LinearForm> lower;
    std::vector<LinearForm> upper;
    std::vector<LinearForm> one_of;
    bool above_low = false;
    bool below_high = false;
  };

  int OrderOf(const ir::Var* var) const;
  void Order(const LinearForm& form) const;
  Facts& Change(const ir::Var* var);
  void BoundByDefinition(const ir::Binding& b);
  void BoundCast(const ir::Binding& b);
  std::optional<IntegerInterval> IntervalOfWhole(const ir::Operand& value, int depth) const;
  std::vector<LinearForm> SmallerLimits(const ir::Operand& value) const;
  void BoundByExtremes(const ir::Binding& b);
  void BoundByYields(const ir::Binding& b);
  void BoundLoad(const ir::Binding& b);
  void BoundWithin(const ir::Var* value, double below, double above);
  void BoundProduct(const ir::Binding& b);
  void BoundMultiple(const ir::Binding& b);
  void BoundChosen(const ir::Binding& b);
  std::vector<LinearForm> MostOfAll(const ir::Binding& b, size_t result) const;
  void BoundBits(const ir::Binding& b);
  void BoundQuotient(const ir::Binding& b);
  void BoundShare(const ir::Var* share, const LinearForm& whole, int64_t divisor);
  std::vector<LinearForm> QuotientLimits(const ir::Binding& b) const;
  std::optional<LinearForm> ExactSum(const ir::Binding& b) const;
  void AssumeFactors(const ir::Operand& product);
  void LearnProduct(const ir::Binding& b);
  std::optional<LinearForm> MostOfMultiple(const ir::Operand& times, const ir::Operand& of) const;
  // Of a product the order of its latest factor.
  int OrderOfTerm(const ir::Var* var) const;
  double ReachOfProduct(bool high, const ir::Var* product, int& budget) const;
  // What ProvesNonNegative does where the latest value is a product.
  bool ProvesWithProduct(const LinearForm& form, const ir::Var* product, int& budget) const;
  // `op` of the two is true.
  void AssumeRelation(ir::OpCode op, const LinearForm& a, const LinearForm& b);
  // gap >= 0.
  void AssumeNonNegative(const LinearForm& gap, int depth = 0);
  // How far above 0 (or below, where not `high`) the value may be; infinite where nothing says.
  double Reach(bool high, const LinearForm& form, int& budget) const;
  double Reach(bool high, const ir::Var* var, int& budget) const;
  double Reach(bool high, const LinearForm& form) const;
  bool IsWithin(double limit, bool high, const LinearForm& form) const;
  bool ProvesNonNegative(const LinearForm& form, int& budget) const;
  std::optional<int64_t> GapOf(const LinearForm& form, const ir::Var* value, bool high,
                               int& budget) const;
  // True where a value with these facts cannot be `value`.
  bool IsExcluded(const Facts& facts, const LinearForm& value, int& budget) const;

  ir::VarSet never_change_;
  ir::DefinitionMap definitions_;
  std::unordered_map<const ir::Var*, LinearForm> sums_;
  std::unordered_map<const ir::Var*, Facts> facts_;
  std::unordered_map<const ir::Var*, LinearForm> products_;  // as polynomials
  std::vector<const ir::Binding*> quotients_;                // by what is no constant
  mutable Monomials monomials_;
  std::vector<LinearForm> gaps_;                        // Not negative, and no bound of one value.
  std::vector<std::pair<const ir::Var*, Facts>> undo_;  // No value stands for a gap.
  // How far below and above 0 a result may be.
  struct Reaches {
    double below = 0.0;
    double above = 0.0;
  };
  // A value that a block has yielded: how far it is from 0, what it is no more than, and what it is
  // one of.
  struct Yield {
    Reaches reach;
    std::vector<LinearForm> most;
    std::vector<LinearForm> one_of;
  };
  std::unordered_map<const ir::Block*, std::vector<Yield>> yields_;  // of blocks that have ended
  std::vector<const ir::Var*> sizes_;
  // A bound is made of values that are earlier in this order.
  mutable std::unordered_map<const ir::Var*, int> order_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_RANGES_H_
