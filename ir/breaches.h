#ifndef PARAKEET_IR_BREACHES_H_
#define PARAKEET_IR_BREACHES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/names.h"
#include "ir/node.h"
#include "ir/verifier.h"

namespace parakeet::ir {

// The verifier's findings so far, and what it is looking at.
class Breaches {
 public:
  void Enter(const Function* function);
  void Enter(const Binding* binding) { binding_ = binding; }

  void Add(Invariant invariant, std::string_view found);
  // Add, unless `holds`; returns `holds`.
  bool Require(bool holds, Invariant invariant, std::string_view found);

  // A value as the function's text names it.
  std::string Text(const Operand& operand);
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  const Names& FunctionNames();

  const Function* function_ = nullptr;
  const Binding* binding_ = nullptr;
  std::optional<Names> names_;  // Made for the first breach of a function: most have none.
  std::vector<std::string> messages_;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_BREACHES_H_
