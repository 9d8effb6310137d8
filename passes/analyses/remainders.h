#ifndef PARAKEET_PASSES_ANALYSES_REMAINDERS_H_
#define PARAKEET_PASSES_ANALYSES_REMAINDERS_H_

#include <optional>
#include <unordered_map>

#include "ir/node.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// Which i64 values of a function are sums modulo something: `mod %s, %n`, and what chooses among
// %s, %s + %n and %s - %n, where no sum can wrap around 2^63.
class Remainders {
 public:
  // They are found when one is first asked for, which few functions come to: `function` stays.
  explicit Remainders(const ir::Function& function) : function_(function) {}

  // The value is this sum plus a multiple of the modulus.
  struct Remainder {
    LinearForm of;
    ir::Operand modulus;
  };
  // Null where the value is none.
  const Remainder* Find(const ir::Operand& value) const;

 private:
  const ir::Function& function_;
  mutable std::optional<std::unordered_map<const ir::Var*, Remainder>> remainders_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_REMAINDERS_H_
