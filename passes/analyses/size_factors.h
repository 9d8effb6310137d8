#ifndef PARAKEET_PASSES_ANALYSES_SIZE_FACTORS_H_
#define PARAKEET_PASSES_ANALYSES_SIZE_FACTORS_H_

#include <optional>
#include <utility>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// What sizes are products of, and what the checks and arrays that a walk has come by say of them.
class SizeFactors {
 public:
  using Operands = std::vector<ir::Operand>;

  explicit SizeFactors(const ir::Function& function);

  // The factors of a size: itself where it is not seen to be a product.
  Operands Of(const ir::Operand& size) const;
  // The factors of a product without `part`'s, as they are or as a check says; nothing where it is
  // no factor.
  std::optional<Operands> Without(const Operands& product, const ir::Operand& part) const;
  // True of what is surely not negative: sizes, and what is made of them.
  bool IsSize(const ir::Operand& operand) const;
  bool AreEqual(const ir::Operand& a, const ir::Operand& b) const;

  // What a check says, and that an array has been made, holds from here on, until it is forgotten.
  struct Known {
    size_t equal;
    size_t sizes;
    size_t made;
  };
  void Learn(const ir::Binding& b);
  Known known() const { return {equal_.size(), checked_.size(), made_.size()}; }
  void Forget(const Known& known);

 private:
  const ir::Binding* DefinitionOf(const ir::Operand& operand) const;
  std::optional<Operands> OfQuotient(const ir::Binding& b) const;
  bool AreOfArrays(const Operands& factors) const;
  bool TakesOtherWhereNegative(const Operands& select) const;
  void LearnCheck(const ir::Binding& check);

  ir::DefinitionMap definitions_;
  ir::VarSet sizes_;
  std::vector<std::pair<Operands, Operands>> equal_;
  Operands checked_;  // not to be negative
  Operands made_;     // lengths of arrays that were made
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_SIZE_FACTORS_H_
