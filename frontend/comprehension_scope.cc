#include "frontend/comprehension_scope.h"

#include <utility>

#include "frontend/py_ref.h"
#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

// From 3.12 on Python makes no function of a list comprehension, which its messages show.
bool IsFunction(const ComprehensionExpr& expr) {
  return expr.is_generator || Py_Version < 0x030C0000;
}

void Hide(Frame* frame, const Expr& expr) {
  if (const auto* named = TryAs<NamedExpr>(&expr)) {
    const UndefinedValue hidden{"bound by `:=` inside a comprehension and read outside the element",
                                -1, "use a for loop"};
    frame->environment.Bind(named->target->variable, hidden);
  }
  ForEachChild(expr, [&](const Expr& child) { Hide(frame, child); });
}

}  // namespace

ComprehensionFunction::ComprehensionFunction(Frame* frame, const ComprehensionExpr& expr)
    : frame_(frame), is_function_(IsFunction(expr)) {
  if (is_function_) ++frame->inner_functions;
}

ComprehensionFunction::~ComprehensionFunction() {
  if (is_function_) --frame_->inner_functions;
}

ComprehensionScope::ComprehensionScope(Frame* frame, const ComprehensionExpr& expr)
    : function_(frame, expr), frame_(frame), outer_(frame->environment) {
  HideNamesOfElements(frame, expr);
}

ComprehensionScope::~ComprehensionScope() { frame_->environment = std::move(outer_); }

void HideNamesOfElements(Frame* frame, const ComprehensionExpr& expr) { Hide(frame, expr); }

}  // namespace parakeet::frontend
