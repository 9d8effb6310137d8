#ifndef PARAKEET_FRONTEND_NESTING_GUARD_H_
#define PARAKEET_FRONTEND_NESTING_GUARD_H_

#include <string>

#include "frontend/read_ast.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {

// Counts one level of nesting while it lives; past kMaxNesting it throws a RecursionError.
class NestingGuard {
 public:
  NestingGuard(int* depth, ir::Span span) : depth_(depth) {
    if (*depth_ >= kMaxNesting) {
      ir::FailUser("RecursionError",
                   "source nests deeper than " + std::to_string(kMaxNesting) + " levels", span);
    }
    ++*depth_;
  }
  ~NestingGuard() { --*depth_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  int* depth_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_NESTING_GUARD_H_
