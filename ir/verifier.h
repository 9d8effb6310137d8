#ifndef PARAKEET_IR_VERIFIER_H_
#define PARAKEET_IR_VERIFIER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/node.h"

namespace parakeet::ir {

// The invariants of the IR, each a sentence of invariants.def.
enum class Invariant : uint8_t {
#define PARAKEET_INVARIANT(enumerator, sentence) k##enumerator,
#include "ir/invariants.def"
};
std::string_view Sentence(Invariant invariant);

// What is wrong with a program that claims to be at `stage`, one message a breach, of which the
// first twenty are kept; empty when nothing is. A message names the function, the binding, what is
// found, and the invariant's sentence. Takes time linear in the size of the program.
//
// Not seen: sizes given by different values are taken for equal where they must be; a call inside a
// data-parallel block is not known to store, nor what it returns to be one of its arguments.
std::vector<std::string> Verify(const Program& program, Stage stage);

// Throws a Bug that lists the breaches, if there are any. `made_by` says who made the program.
void VerifyOrFail(const Program& program, Stage stage, std::string_view made_by = "");

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_VERIFIER_H_
