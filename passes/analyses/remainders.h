#ifndef PARAKEET_PASSES_ANALYSES_REMAINDERS_H_
#define PARAKEET_PASSES_ANALYSES_REMAINDERS_H_

#include <unordered_map>

#include "ir/node.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// Which i64 values of a function are sums modulo something: `mod %s, %n`, and what chooses among
// %s, %s + %n and %s - %n, where no sum can wrap around 2^63.
class Remainders {
 public:
  explicit Remainders(const ir::Function& function);

  // The value is this sum plus a multiple of the modulus.
  struct Remainder {
    LinearForm of;
    ir::Operand modulus;
  };
  // Null where the value is none.
  const Remainder* Find(const ir::Operand& value) const;

 private:
  std::unordered_map<const ir::Var*, Remainder> remainders_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_REMAINDERS_H_
