#ifndef PARAKEET_FRONTEND_COMPREHENSION_SCOPE_H_
#define PARAKEET_FRONTEND_COMPREHENSION_SCOPE_H_

#include "frontend/frame.h"
#include "frontend/syntax.h"

namespace parakeet::frontend {

// While it lives, what is bound belongs to one element of a comprehension and is forgotten
// afterwards. What `:=` binds for another element cannot be read.
class ComprehensionScope {
 public:
  ComprehensionScope(Frame* frame, const ComprehensionExpr& expr);
  ~ComprehensionScope();
  ComprehensionScope(const ComprehensionScope&) = delete;
  ComprehensionScope& operator=(const ComprehensionScope&) = delete;

 private:
  Frame* frame_;
  Environment outer_;
  bool is_function_;
};

// Makes what `:=` binds in the comprehension unreadable: an element is evaluated in any order.
void HideNamesOfElements(Frame* frame, const ComprehensionExpr& expr);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_COMPREHENSION_SCOPE_H_
