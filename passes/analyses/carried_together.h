#ifndef PARAKEET_PASSES_ANALYSES_CARRIED_TOGETHER_H_
#define PARAKEET_PASSES_ANALYSES_CARRIED_TOGETHER_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// Which scalars that a loop carries, or a branch yields, are always equal to another one: those of
// a loop where they begin equal and every iteration that began with equal ones ends with equal
// ones. All are taken to be equal that begin so, until an iteration tells them apart.
class CarriedTogether {
 public:
  // Of the function's values, each by the binding that makes it; `as` says what a value of the
  // blocks around what is asked for reads as by now.
  CarriedTogether(const ir::DefinitionMap& definitions,
                  std::function<ir::Operand(const ir::Operand&)> as)
      : definitions_(definitions), as_(std::move(as)) {}

  // For every result of an `if`, a `for` or a `while`, the number of the first one that it equals:
  // its own where it equals none before it.
  std::vector<size_t> FirstOf(const ir::Binding& binding) const;

 private:
  // What a value is made of, as far as it is looked at: equal ones are equal.
  using Key = std::vector<ir::Operand>;
  // What values are known to be at a place.
  using Known = std::unordered_map<const ir::Var*, ir::Operand>;

  std::vector<size_t> OfLoop(const ir::Binding& loop) const;
  // Through so many choices; behind them a value is itself.
  Key KeyOf(const ir::Operand& operand, const Known& known, int depth) const;
  Key KeyOfChoice(const ir::Binding& choice, size_t result, const Known& known, int depth) const;
  ir::Operand Read(const ir::Operand& operand, const Known& known) const;
  // What is known where the condition is, or is not, true.
  Known Where(const ir::Operand& condition, bool value, Known known) const;

  const ir::DefinitionMap& definitions_;
  std::function<ir::Operand(const ir::Operand&)> as_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_CARRIED_TOGETHER_H_
