#ifndef PARAKEET_FRONTEND_EXPRESSIONS_H_
#define PARAKEET_FRONTEND_EXPRESSIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/operators.h"
#include "ir/diagnostics.h"
#include "ir/span.h"

namespace parakeet::frontend {

struct FunctionSyntax;  // frontend/syntax.h

// The kinds of expression: X(Name) stands for ExprKind::kName and struct NameExpr.
#define PARAKEET_EXPR_KINDS(X) \
  X(Name)                      \
  X(Constant)                  \
  X(Binary)                    \
  X(Unary)                     \
  X(Compare)                   \
  X(Bool)                      \
  X(If)                        \
  X(Call)                      \
  X(Attribute)                 \
  X(Subscript)                 \
  X(Slice)                     \
  X(Tuple)                     \
  X(List)                      \
  X(Starred)                   \
  X(Comprehension)             \
  X(Lambda)                    \
  X(Named)                     \
  X(FormattedString)

#define PARAKEET_ENUMERATOR(name) k##name,
enum class ExprKind { PARAKEET_EXPR_KINDS(PARAKEET_ENUMERATOR) };
#undef PARAKEET_ENUMERATOR

// An expression of the user's source. Everything outside the reader sees it const, and owned by the
// FunctionSyntax that it stands in.
struct Expr {
  explicit Expr(ExprKind kind) : kind(kind) {}
  virtual ~Expr() = default;
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;

  const ExprKind kind;
  ir::Span span;
};

using ExprPtr = std::unique_ptr<const Expr>;

template <ExprKind K>
struct ExprOf : Expr {
  static constexpr ExprKind kKind = K;
  ExprOf() : Expr(K) {}
};

// A name that a function binds: a parameter, an assigned name, or a variable of a comprehension
// (which Python keeps apart from a name of the function spelled alike, so both are here). Variables
// are told apart by address.
struct Variable {
  std::string name;
  const FunctionSyntax* function = nullptr;  // the function it is local to
  int32_t index = 0;                         // in function->variables
  int32_t bindings = 0;                      // places that bind it, parameters and `del` included
  bool is_parameter = false;
  bool is_captured = false;  // read by a function nested in its own
  bool is_of_comprehension = false;
};

// A name, read or bound. `variable` is null where no function of this tree binds it: then it is a
// closure cell of the Python function, a global or a builtin. `variable->function` is an enclosing
// function where the name is captured.
struct NameExpr : ExprOf<ExprKind::kName> {
  std::string name;
  const Variable* variable = nullptr;
};

enum class ConstantKind {
  kNone,
  kBool,      // integer is 0 or 1
  kInt,       // integer
  kUnsigned,  // 2**63 to 2**64 - 1: integer holds the 64 bits
  kFloat,     // real
  kComplex,   // real and imaginary
  kString,    // text, in UTF-8; may hold NULs
  kEllipsis,
};

// A literal. A minus sign in front of a number is part of it. Integers beyond 64 bits are refused
// by the reader.
struct ConstantExpr : ExprOf<ExprKind::kConstant> {
  ConstantKind constant = ConstantKind::kNone;
  int64_t integer = 0;
  double real = 0;
  double imaginary = 0;
  std::string text;
};

struct BinaryExpr : ExprOf<ExprKind::kBinary> {
  BinaryOperator op;
  ExprPtr left;
  ExprPtr right;
};

struct UnaryExpr : ExprOf<ExprKind::kUnary> {
  UnaryOperator op;
  ExprPtr operand;
};

// `first op[0] operand[0] op[1] operand[1] ...`: a chain, each operand evaluated once. Never empty.
struct CompareExpr : ExprOf<ExprKind::kCompare> {
  struct Link {
    CompareOperator op;
    ExprPtr operand;
  };
  ExprPtr first;
  std::vector<Link> rest;
};

// `a and b and c`: short-circuiting, its value is one of the operands. At least two operands.
struct BoolExpr : ExprOf<ExprKind::kBool> {
  BoolOperator op;
  std::vector<ExprPtr> operands;
};

// `then if condition else otherwise`.
struct IfExpr : ExprOf<ExprKind::kIf> {
  ExprPtr condition;
  ExprPtr then;
  ExprPtr otherwise;
};

// Arguments in the order written; positional ones may be StarredExpr. There is no `**`.
struct CallExpr : ExprOf<ExprKind::kCall> {
  struct Keyword {
    std::string name;
    ExprPtr value;
    ir::Span span;
  };
  ExprPtr function;
  std::vector<ExprPtr> arguments;
  std::vector<Keyword> keywords;
};

struct AttributeExpr : ExprOf<ExprKind::kAttribute> {
  ExprPtr value;
  std::string name;
};

// `value[index]`; the index may be a SliceExpr, or a TupleExpr with slices in it.
struct SubscriptExpr : ExprOf<ExprKind::kSubscript> {
  ExprPtr value;
  ExprPtr index;
};

// `start:stop:step` within a subscript; each may be null.
struct SliceExpr : ExprOf<ExprKind::kSlice> {
  ExprPtr start;
  ExprPtr stop;
  ExprPtr step;
};

// A tuple display, or a pattern on the left of an assignment (`[a, b] = x` is one too).
struct TupleExpr : ExprOf<ExprKind::kTuple> {
  std::vector<ExprPtr> elements;
};

struct ListExpr : ExprOf<ExprKind::kList> {
  std::vector<ExprPtr> elements;
};

// `*value` in a call, a display or a pattern (at most one in a pattern).
struct StarredExpr : ExprOf<ExprKind::kStarred> {
  ExprPtr value;
};

// A list comprehension or a generator expression. The first iterable is evaluated outside the
// comprehension's scope.
struct ComprehensionExpr : ExprOf<ExprKind::kComprehension> {
  struct Generator {
    ExprPtr target;  // a pattern: NameExpr, TupleExpr, StarredExpr, SubscriptExpr or AttributeExpr
    ExprPtr iterable;
    std::vector<ExprPtr> conditions;
  };
  bool is_generator = false;
  ExprPtr element;
  std::vector<Generator> generators;  // outermost first
};

// The function's body is a single ReturnStmt.
struct LambdaExpr : ExprOf<ExprKind::kLambda> {
  std::shared_ptr<const FunctionSyntax> function;
};

// `target := value`; within a comprehension it binds in the function around it.
struct NamedExpr : ExprOf<ExprKind::kNamed> {
  std::unique_ptr<const NameExpr> target;
  ExprPtr value;
};

// An f-string: texts and values in turn.
struct FormattedStringExpr : ExprOf<ExprKind::kFormattedString> {
  struct Piece {
    std::string text;     // when value is null
    ExprPtr value;        // else `{value!conversion:format}`
    char conversion = 0;  // 's', 'r', 'a', or 0 for none
    std::string format;   // "" for none
  };
  std::vector<Piece> pieces;
};

// The expression as the struct its kind names; a bug where it is of another kind.
template <typename T>
const T& As(const Expr& expr) {
  if (expr.kind != T::kKind) ir::FailBug("syntax node of another kind than expected", expr.span);
  return static_cast<const T&>(expr);
}

// Null where `expr` is null or of another kind.
template <typename T>
const T* TryAs(const Expr* expr) {
  return expr != nullptr && expr->kind == T::kKind ? static_cast<const T*>(expr) : nullptr;
}

template <typename T>
const T* TryAs(const ExprPtr& expr) {
  return TryAs<T>(expr.get());
}

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_EXPRESSIONS_H_
