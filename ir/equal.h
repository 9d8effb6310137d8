#ifndef PARAKEET_IR_EQUAL_H_
#define PARAKEET_IR_EQUAL_H_

#include "ir/node.h"

namespace parakeet::ir {

// True when the two differ at most in the names of values (alpha-equivalence) and in spans and
// source files. Constants compare bit for bit; function names, attributes, layouts and sites'
// exceptions and messages count.
bool Equal(const Program& a, const Program& b);
bool Equal(const Function& a, const Function& b);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_EQUAL_H_
