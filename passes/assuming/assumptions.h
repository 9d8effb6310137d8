#ifndef PARAKEET_PASSES_ASSUMING_ASSUMPTIONS_H_
#define PARAKEET_PASSES_ASSUMING_ASSUMPTIONS_H_

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/index_scalars.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {

// What is known of a function's sizes before anything of it happens, and the checks that hold them
// against what is assumed of them, which a site tells from the user's.
class Assumptions {
 public:
  Assumptions(ir::Arena* arena, const ir::Function& function, int64_t site, Context& context);

 protected:
  // Two sizes that are broadcast together.
  using Pair = std::pair<ir::Operand, ir::Operand>;

  // Checks first that the condition, which is known at entry, holds.
  void Require(const ir::Operand& holds);
  // Checks first that two sizes are equal, where both are known then.
  void Assume(const ir::Binding& b, const ir::Operand& n, const ir::Operand& m);
  // Nothing where the two differ, which raises, or where one is 1.
  void AssumeEqual(const ir::Binding& b, const Pair& pair);
  // The sizes of a condition that they are equal or one of them is 1.
  std::optional<Pair> CheckedPair(const ir::Operand& condition) const;
  std::optional<LinearForm> LikelyGap(const Pair& pair);
  const ir::Binding* DefinitionOf(const ir::Operand& operand, ir::OpCode op) const;
  // The size where every slice lies inside its array: min(stop, size) is the stop, max(length, 0)
  // the length. None where it depends on more than what the entry is given.
  std::optional<LinearForm> Likely(const ir::Operand& operand);
  // From here on the value is likely that.
  void Suppose(const ir::Var* value, const LinearForm& form) {
    likely_.insert_or_assign(value, form);
  }
  // From here on the value is taken to be the other, which is known at entry.
  void Suppose(const ir::Var* value, const ir::Operand& other);
  bool IsLikelyOne(const ir::Operand& operand);
  // A size less something, as against something less than nothing.
  bool IsLikelyNatural(const LinearForm& form) const;
  // The least value of a form of loops' indexes, in what is given.
  std::optional<LinearForm> LeastOf(const LinearForm& form);
  // True where the least value is a number that is not negative, whatever the sizes are.
  bool IsNeverNegative(const LinearForm& form);
  // The value as an expression in front of everything; none where it is not known there.
  std::optional<ir::Operand> AtEntry(const ir::Operand& operand);
  bool IsKnownAtEntry(const ir::Operand& operand);
  // The largest or smallest value of a form, at entry; none where it is not known there.
  std::optional<ir::Operand> ExtremeOf(const LinearForm& form, bool largest);
  ir::Operand WriteScalar(const LinearForm& form);
  // True for an index that counts from the end where it is negative.
  bool IsFromTheEnd(const ir::Binding& select) const;
  // True for the entry of a shape that is a quotient where it is negative.
  bool IsShapeEntry(const ir::Binding& b) const;

  static constexpr int kLargestExpression = 64;  // operations of one size

  ir::Builder builder_;
  const ir::Function& function_;
  int64_t site_;
  Context& context_;
  ir::VarSet given_;
  ir::DefinitionMap definitions_;
  IndexRanges loops_;
  IndexScalars scalars_{definitions_, loops_};
  int cost_ = 0;  // of the expression that is written

 private:
  // The sizes of which the binding gives the one that is not 1.
  std::optional<Pair> ChosenPair(const ir::Binding& b) const;
  std::optional<LinearForm> LikelyResult(const ir::Binding& b);
  // Of what loops go through times what is known at entry, which is taken not to be negative.
  std::optional<ir::Operand> ExtremeOfProduct(const ir::Var* product, bool largest);
  bool IsNearIndex(const ir::Operand& bound) const;
  // What the index of a loop is not above, or not below.
  std::optional<ir::Operand> EndOf(const IndexRange& loop, bool largest);

  std::unordered_map<const ir::Var*, std::optional<LinearForm>> likely_;
  std::unordered_map<const ir::Var*, ir::Operand> made_;  // in front of everything
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ASSUMING_ASSUMPTIONS_H_
