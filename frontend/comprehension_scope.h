#ifndef PARAKEET_FRONTEND_COMPREHENSION_SCOPE_H_
#define PARAKEET_FRONTEND_COMPREHENSION_SCOPE_H_

#include "frontend/frame.h"
#include "frontend/syntax.h"

namespace parakeet::frontend {

// While it lives, code belongs to the comprehension, which Python may make a function of.
class ComprehensionFunction {
 public:
  ComprehensionFunction(Frame* frame, const ComprehensionExpr& expr);
  ~ComprehensionFunction();
  ComprehensionFunction(const ComprehensionFunction&) = delete;
  ComprehensionFunction& operator=(const ComprehensionFunction&) = delete;

 private:
  Frame* frame_;
  bool is_function_;
};

// While it lives, what is bound belongs to one element of a comprehension and is forgotten
// afterwards. What `:=` binds for another element cannot be read.
class ComprehensionScope {
 public:
  ComprehensionScope(Frame* frame, const ComprehensionExpr& expr);
  ~ComprehensionScope();
  ComprehensionScope(const ComprehensionScope&) = delete;
  ComprehensionScope& operator=(const ComprehensionScope&) = delete;

 private:
  const ComprehensionFunction function_;
  Frame* frame_;
  Environment outer_;
};

// Makes what `:=` binds in the comprehension unreadable: an element is evaluated in any order.
void HideNamesOfElements(Frame* frame, const ComprehensionExpr& expr);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_COMPREHENSION_SCOPE_H_
