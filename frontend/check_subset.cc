#include "frontend/check_subset.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "frontend/refused_nodes.h"
#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

// What is refused, and what works instead; the rules below say where.
struct Refusal {
  const char* construct;
  const char* advice;
};

constexpr Refusal kFormattedString = {"an f-string outside of `raise` and `assert`",
                                      "use it as the message of `raise` or `assert`"};
constexpr Refusal kStringOperand = {"an operation on a string",
                                    "strings are static arguments, messages and docstrings only; "
                                    "a message may be an f-string"};
constexpr Refusal kStringIndex = {"indexing with a string",
                                  "pass the fields as separate arrays and index with integers"};
constexpr Refusal kGenerator = {"a generator expression outside of a call, `for` or an unpacking",
                                "write a list comprehension, which makes an array"};
constexpr Refusal kStarred = {"`*` here", "use it in a call, a tuple, a list or a pattern"};
constexpr Refusal kManyStars = {"a pattern with two stars", "keep one `*`"};
constexpr Refusal kAttributeTarget = {"assignment to this attribute",
                                      "only `real`, `imag` and `shape` can be assigned"};
constexpr Refusal kDelete = {"`del` of anything but a name",
                             "select what to keep: `x[mask]`, np.concatenate"};
constexpr Refusal kRaisedName = {"`raise` of anything but a built-in exception",
                                 "raise ValueError, IndexError, ... with a message"};

[[noreturn]] void Refuse(const Refusal& refusal, ir::Span span) {
  RefuseConstruct(refusal.construct, refusal.advice, span);
}

// The exceptions that a message alone makes; then NumPy's own, which functions of the library
// raise.
constexpr std::string_view kExceptions[] = {"ArithmeticError",
                                            "AssertionError",
                                            "AttributeError",
                                            "BufferError",
                                            "EOFError",
                                            "Exception",
                                            "FileExistsError",
                                            "FileNotFoundError",
                                            "FloatingPointError",
                                            "IOError",
                                            "ImportError",
                                            "IndexError",
                                            "KeyError",
                                            "LookupError",
                                            "MemoryError",
                                            "NameError",
                                            "NotImplementedError",
                                            "OSError",
                                            "OverflowError",
                                            "PermissionError",
                                            "RecursionError",
                                            "ReferenceError",
                                            "RuntimeError",
                                            "RuntimeWarning",
                                            "StopIteration",
                                            "SystemError",
                                            "TimeoutError",
                                            "TypeError",
                                            "UnboundLocalError",
                                            "UnicodeError",
                                            "UserWarning",
                                            "ValueError",
                                            "ZeroDivisionError",
                                            "AxisError",
                                            "LinAlgError"};

template <typename List, typename Item>
bool Contains(const List& list, const Item& item) {
  return std::find(std::begin(list), std::end(list), item) != std::end(list);
}

bool IsString(const Expr& expr) {
  const auto* constant = TryAs<ConstantExpr>(&expr);
  const bool is_text = constant != nullptr && constant->constant == ConstantKind::kString;
  return is_text || expr.kind == ExprKind::kFormattedString;
}

bool IsGenerator(const Expr& expr) {
  const auto* comprehension = TryAs<ComprehensionExpr>(&expr);
  return comprehension != nullptr && comprehension->is_generator;
}

// Where an expression stands, as far as a rule asks.
enum class Place {
  kValue,
  kArgument,  // of a call: generators and `*` may stand here
  kDisplay,   // in a tuple or list: `*` may
  kIterable,  // of a `for`, or unpacked: generators may
  kMessage,   // of `raise` and `assert`: f-strings may
};

void CheckExpr(const Expr& expr, Place place);
void CheckTarget(const Expr& target);
void CheckBlock(const Block& block);

void CheckOptional(const ExprPtr& expr, Place place) {
  if (expr != nullptr) CheckExpr(*expr, place);
}

void CheckNoString(const Expr& operand) {
  if (IsString(operand)) Refuse(kStringOperand, operand.span);
}

void CheckIndex(const Expr& index) {
  if (IsString(index)) Refuse(kStringIndex, index.span);
  if (const auto* tuple = TryAs<TupleExpr>(&index)) {
    for (const ExprPtr& element : tuple->elements) CheckIndex(*element);
  }
}

void CheckFunction(const FunctionSyntax& function) {
  for (const Parameter& parameter : function.parameters) {
    CheckOptional(parameter.default_value, Place::kValue);
  }
  CheckBlock(function.body);
}

void CheckCall(const CallExpr& call) {
  CheckExpr(*call.function, Place::kValue);
  for (const ExprPtr& argument : call.arguments) CheckExpr(*argument, Place::kArgument);
  for (const auto& keyword : call.keywords) {
    if (keyword.value->kind == ExprKind::kStarred) Refuse(kStarred, keyword.span);
    CheckExpr(*keyword.value, Place::kArgument);
  }
}

void CheckComprehension(const ComprehensionExpr& comprehension) {
  for (const auto& generator : comprehension.generators) {
    CheckTarget(*generator.target);
    CheckExpr(*generator.iterable, Place::kIterable);
    for (const ExprPtr& condition : generator.conditions) CheckExpr(*condition, Place::kValue);
  }
  CheckExpr(*comprehension.element, Place::kValue);
}

void CheckPlace(const Expr& expr, Place place) {
  const bool is_starred = expr.kind == ExprKind::kStarred;
  if (is_starred && place != Place::kArgument && place != Place::kDisplay) {
    Refuse(kStarred, expr.span);
  }
  const bool takes_generator = place == Place::kArgument || place == Place::kIterable;
  if (IsGenerator(expr) && !takes_generator) Refuse(kGenerator, expr.span);
  if (place == Place::kIterable) CheckNoString(expr);
  if (expr.kind == ExprKind::kFormattedString && place != Place::kMessage) {
    Refuse(kFormattedString, expr.span);
  }
}

void CheckExpr(const Expr& expr, Place place) {
  CheckPlace(expr, place);
  Place of_children = Place::kValue;
  switch (expr.kind) {
    case ExprKind::kBinary:
    case ExprKind::kUnary:
    case ExprKind::kAttribute: ForEachChild(expr, CheckNoString); break;
    case ExprKind::kSubscript:
      CheckNoString(*As<SubscriptExpr>(expr).value);
      CheckIndex(*As<SubscriptExpr>(expr).index);
      break;
    case ExprKind::kTuple:
    case ExprKind::kList: of_children = Place::kDisplay; break;
    case ExprKind::kStarred: of_children = Place::kIterable; break;
    case ExprKind::kCall: return CheckCall(As<CallExpr>(expr));
    case ExprKind::kComprehension: return CheckComprehension(As<ComprehensionExpr>(expr));
    case ExprKind::kLambda: return CheckFunction(*As<LambdaExpr>(expr).function);
    default: break;
  }
  ForEachChild(expr, [&](const Expr& child) { CheckExpr(child, of_children); });
}

void CheckTarget(const Expr& target) {
  if (const auto* pattern = TryAs<TupleExpr>(&target)) {
    const auto is_star = [](const ExprPtr& e) { return e->kind == ExprKind::kStarred; };
    const auto& elements = pattern->elements;
    if (std::count_if(elements.begin(), elements.end(), is_star) > 1) {
      Refuse(kManyStars, target.span);
    }
    for (const ExprPtr& element : elements) {
      CheckTarget(is_star(element) ? *As<StarredExpr>(*element).value : *element);
    }
    return;
  }
  if (const auto* attribute = TryAs<AttributeExpr>(&target)) {
    constexpr std::string_view kAssignable[] = {"real", "imag", "shape"};
    if (!Contains(kAssignable, attribute->name)) Refuse(kAttributeTarget, target.span);
  }
  CheckExpr(target, Place::kValue);
}

// What is taken apart, `a, b = (f(x) for x in pair)`, may be a generator.
void CheckAssign(const AssignStmt& assign) {
  bool is_unpacked = true;
  for (const ExprPtr& target : assign.targets) {
    CheckTarget(*target);
    is_unpacked = is_unpacked && target->kind == ExprKind::kTuple;
  }
  const bool is_generator = is_unpacked && IsGenerator(*assign.value);
  CheckExpr(*assign.value, is_generator ? Place::kIterable : Place::kValue);
}

void CheckRaise(const RaiseStmt& raise) {
  const auto* name = TryAs<NameExpr>(raise.exception.get());
  const auto* attribute = TryAs<AttributeExpr>(raise.exception.get());
  const bool is_known = name != nullptr
                            ? name->variable == nullptr && Contains(kExceptions, name->name)
                            : attribute != nullptr && Contains(kExceptions, attribute->name);
  if (!is_known) Refuse(kRaisedName, raise.exception->span);
  for (const ExprPtr& argument : raise.arguments) CheckExpr(*argument, Place::kMessage);
}

void CheckDeleted(const Expr& target) {
  if (const auto* pattern = TryAs<TupleExpr>(&target)) {
    for (const ExprPtr& element : pattern->elements) CheckDeleted(*element);
  } else if (target.kind != ExprKind::kName) {
    Refuse(kDelete, target.span);
  }
}

void CheckStmt(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kAssign: return CheckAssign(As<AssignStmt>(stmt));
    case StmtKind::kAugAssign:
      CheckTarget(*As<AugAssignStmt>(stmt).target);
      CheckNoString(*As<AugAssignStmt>(stmt).value);
      return CheckExpr(*As<AugAssignStmt>(stmt).value, Place::kValue);
    case StmtKind::kAnnAssign:
      CheckTarget(*As<AnnAssignStmt>(stmt).target);
      return CheckOptional(As<AnnAssignStmt>(stmt).value, Place::kValue);
    case StmtKind::kFor:
      CheckTarget(*As<ForStmt>(stmt).target);
      CheckExpr(*As<ForStmt>(stmt).iterable, Place::kIterable);
      break;
    case StmtKind::kAssert:
      CheckExpr(*As<AssertStmt>(stmt).condition, Place::kValue);
      return CheckOptional(As<AssertStmt>(stmt).message, Place::kMessage);
    case StmtKind::kRaise: return CheckRaise(As<RaiseStmt>(stmt));
    case StmtKind::kDelete:
      for (const ExprPtr& target : As<DeleteStmt>(stmt).targets) CheckDeleted(*target);
      return;
    case StmtKind::kFunctionDef: return CheckFunction(*As<FunctionDefStmt>(stmt).function);
    default: ForEachChild(stmt, [](const Expr& child) { CheckExpr(child, Place::kValue); });
  }
  ForEachBlock(stmt, CheckBlock);
}

void CheckBlock(const Block& block) {
  for (const StmtPtr& statement : block) CheckStmt(*statement);
}

}  // namespace

void CheckSubset(const FunctionSyntax& function) { CheckFunction(function); }

}  // namespace parakeet::frontend
