#ifndef PARAKEET_IR_DIAGNOSTICS_H_
#define PARAKEET_IR_DIAGNOSTICS_H_

#include <stdexcept>
#include <string>

#include "ir/span.h"

namespace parakeet::ir {

// The three kinds of failure. A user's mistake is raised as the exception a Python user expects; a
// limitation says what would work instead; a bug is ours.
enum class FailureKind { kUserError, kLimitation, kBug };

// A failure of compilation, thrown from where it is found and caught by the compile driver only.
class Failure : public std::runtime_error {
 public:
  Failure(FailureKind kind, std::string exception, const std::string& message, Span span)
      : std::runtime_error(message), kind_(kind), exception_(std::move(exception)), span_(span) {}

  FailureKind kind() const { return kind_; }
  // The name of the Python exception class to raise: "TypeError", "NameError", "Limitation" ...
  const std::string& exception() const { return exception_; }
  const Span& span() const { return span_; }

 private:
  FailureKind kind_;
  std::string exception_;
  Span span_;
};

// Each throws. Messages are lower case, without full stop, with expected and actual.
[[noreturn]] void FailUser(const std::string& exception, const std::string& message, Span span);
[[noreturn]] void FailLimitation(const std::string& message, Span span);
[[noreturn]] void FailBug(const std::string& message, Span span = {});

// "demo.py:12:9: message", then the source line and a caret under the span, where they are known.
// The column shown counts characters from 1.
std::string Render(const Failure& failure, const SourceMap& sources);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_DIAGNOSTICS_H_
