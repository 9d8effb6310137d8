#ifndef PARAKEET_FRONTEND_NESTING_GUARD_H_
#define PARAKEET_FRONTEND_NESTING_GUARD_H_

#include <string>

#include "frontend/read_ast.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {

// Counts levels of nesting while it lives.
class NestingGuard {
 public:
  // `fail` throws, where the levels would be more than `most`.
  template <typename Fail>
  NestingGuard(int* depth, int levels, int most, Fail fail) : depth_(depth), levels_(levels) {
    if (*depth_ + levels_ > most) fail();
    *depth_ += levels_;
  }

  // One level of source: past kMaxNesting a RecursionError.
  NestingGuard(int* depth, ir::Span span)
      : NestingGuard(depth, 1, kMaxNesting, [&] {
          ir::FailUser("RecursionError",
                       "source nests deeper than " + std::to_string(kMaxNesting) + " levels", span);
        }) {}

  ~NestingGuard() { *depth_ -= levels_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  int* depth_;
  int levels_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_NESTING_GUARD_H_
