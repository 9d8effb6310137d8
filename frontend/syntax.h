#ifndef PARAKEET_FRONTEND_SYNTAX_H_
#define PARAKEET_FRONTEND_SYNTAX_H_

#include <memory>
#include <string>
#include <vector>

#include "frontend/expressions.h"
#include "ir/span.h"

// The syntax tree: what a user's function says, with a span on every node and every name resolved,
// and nothing of Python's objects in it. It is built by read_ast and never changed. A nested
// function and the variables that it captures stay valid as long as the outermost FunctionSyntax.
namespace parakeet::frontend {

// The kinds of statement: X(Assign) stands for StmtKind::kAssign and struct AssignStmt.
#define PARAKEET_STMT_KINDS(X) \
  X(Assign)                    \
  X(AugAssign)                 \
  X(AnnAssign)                 \
  X(Expr)                      \
  X(If)                        \
  X(While)                     \
  X(For)                       \
  X(Break)                     \
  X(Continue)                  \
  X(Pass)                      \
  X(Return)                    \
  X(Assert)                    \
  X(Raise)                     \
  X(Delete)                    \
  X(FunctionDef)

#define PARAKEET_ENUMERATOR(name) k##name,
enum class StmtKind { PARAKEET_STMT_KINDS(PARAKEET_ENUMERATOR) };
#undef PARAKEET_ENUMERATOR

struct Stmt {
  explicit Stmt(StmtKind kind) : kind(kind) {}
  virtual ~Stmt() = default;
  Stmt(const Stmt&) = delete;
  Stmt& operator=(const Stmt&) = delete;

  const StmtKind kind;
  ir::Span span;
};

using StmtPtr = std::unique_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;

template <StmtKind K>
struct StmtOf : Stmt {
  static constexpr StmtKind kKind = K;
  StmtOf() : Stmt(K) {}
};

// `a = b = value`: the value once, then the targets from left to right. A target (here, in `for`
// and in a comprehension) is a NameExpr, SubscriptExpr, AttributeExpr, or a TupleExpr of targets of
// which one may be a StarredExpr.
struct AssignStmt : StmtOf<StmtKind::kAssign> {
  std::vector<ExprPtr> targets;
  ExprPtr value;
};

// `target op= value`; the target is a NameExpr, SubscriptExpr or AttributeExpr.
struct AugAssignStmt : StmtOf<StmtKind::kAugAssign> {
  ExprPtr target;
  BinaryOperator op;
  ExprPtr value;
};

// `target: annotation = value`. The annotation says nothing to us and is dropped; the value may be
// null, and then nothing happens except that the name is local.
struct AnnAssignStmt : StmtOf<StmtKind::kAnnAssign> {
  ExprPtr target;
  ExprPtr value;
};

// A bare expression. Docstrings and other constants are dropped by the reader (a PassStmt where
// nothing is left).
struct ExprStmt : StmtOf<StmtKind::kExpr> {
  ExprPtr value;
};

// `elif` is an IfStmt alone in `otherwise`.
struct IfStmt : StmtOf<StmtKind::kIf> {
  ExprPtr condition;
  Block then;
  Block otherwise;
};

// `otherwise` runs when the loop ends without `break`; empty for none.
struct WhileStmt : StmtOf<StmtKind::kWhile> {
  ExprPtr condition;
  Block body;
  Block otherwise;
};

struct ForStmt : StmtOf<StmtKind::kFor> {
  ExprPtr target;
  ExprPtr iterable;
  Block body;
  Block otherwise;
};

struct BreakStmt : StmtOf<StmtKind::kBreak> {};
struct ContinueStmt : StmtOf<StmtKind::kContinue> {};
struct PassStmt : StmtOf<StmtKind::kPass> {};

// `value` is null for a bare return.
struct ReturnStmt : StmtOf<StmtKind::kReturn> {
  ExprPtr value;
};

// `message` may be null.
struct AssertStmt : StmtOf<StmtKind::kAssert> {
  ExprPtr condition;
  ExprPtr message;
};

// `raise Name` (no arguments) or `raise Name(arguments)`; `np.linalg.LinAlgError` is a name too.
// check_subset knows the names that may be raised; that the name has not been bound to something
// else (a global) is for who knows the function's globals.
struct RaiseStmt : StmtOf<StmtKind::kRaise> {
  ExprPtr exception;
  std::vector<ExprPtr> arguments;
};

// `del a, b`; check_subset lets names only pass.
struct DeleteStmt : StmtOf<StmtKind::kDelete> {
  std::vector<ExprPtr> targets;
};

// A nested `def`; `target` is the name that it binds, its span is that of the whole statement.
struct FunctionDefStmt : StmtOf<StmtKind::kFunctionDef> {
  std::unique_ptr<const NameExpr> target;
  std::shared_ptr<const FunctionSyntax> function;
};

// Kinds in the order that Python demands of a parameter list. `**kwargs` is refused by the reader.
enum class ParameterKind { kPositionalOnly, kPlain, kVarArgs, kKeywordOnly };

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::kPlain;
  const Variable* variable = nullptr;
  bool has_default = false;
  // Evaluated where a nested function is defined, in the scope around it; null for none. Null for
  // the outermost function too: its defaults are values, in the Python function's __defaults__.
  ExprPtr default_value;
  ir::Span span;
};

// A function: the one given to jit, a nested `def` or a lambda.
struct FunctionSyntax {
  std::string name;  // "<lambda>" for a lambda
  bool is_lambda = false;
  ir::Span span;  // the whole function, from `def` or `lambda` on, without decorators
  ir::Span
      name_span;  // where an error about the whole function puts its caret: the header's first line
  std::vector<Parameter> parameters;
  Block body;  // never empty; a lambda's is one ReturnStmt

  // What it binds: parameters first, then in order of first appearance.
  std::vector<std::unique_ptr<const Variable>> variables;
  // What it, or a function nested in it, uses of the functions around it: the nearest function's
  // first, then in order of first appearance.
  std::vector<const Variable*> free_variables;
  // What it, or a function nested in it, reads from outside the tree: closure cells, globals,
  // builtins. Each once.
  std::vector<std::string> outside_names;
};

using FunctionSyntaxPtr = std::shared_ptr<const FunctionSyntax>;

// The statement as the struct its kind names; a bug where it is of another kind.
template <typename T>
const T& As(const Stmt& stmt) {
  if (stmt.kind != T::kKind) ir::FailBug("syntax node of another kind than expected", stmt.span);
  return static_cast<const T&>(stmt);
}

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SYNTAX_H_
