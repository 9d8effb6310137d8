#ifndef PARAKEET_FRONTEND_BRANCHES_H_
#define PARAKEET_FRONTEND_BRANCHES_H_

#include "frontend/frame.h"
#include "frontend/value.h"
#include "ir/builder.h"

namespace parakeet::frontend {

// One side of an `if` whose block is still open: conversions that the join asks for are appended
// before it is finished.
struct Branch {
  ir::Builder block;
  Environment environment;
  // What it evaluated to, beside what it bound. Empty where control does not reach its end.
  Values values;

  // Whether control may reach its end; where not, it left by a jump or is unreachable.
  bool reaches = true;

  bool Jumps() const { return !reaches && !IsUnreachable(); }
  bool IsUnreachable() const { return environment.state == Environment::State::kUnreachable; }
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_BRANCHES_H_
