#include <string>
#include <utility>

#include "frontend/ast_reader.h"
#include "frontend/nesting_guard.h"
#include "frontend/read_operators.h"
#include "frontend/refused_nodes.h"

namespace parakeet::frontend {
namespace {

// Docstrings, `...` and numbers standing alone as statements do nothing.
bool IsConstantStatement(const AstNode& node) {
  return node.Kind() == "Expr" && node.Field("value").Kind() == "Constant";
}

bool SaysWhatIsWarnedOf(const AstNode& context) {
  if (context.Kind() != "Call") return false;
  const AstNode callee = context.Field("func");
  const std::string kind = callee.Kind();
  if (kind != "Name" && kind != "Attribute") return false;
  const std::string name = callee.Text(kind == "Name" ? "id" : "attr");
  return name == "errstate" || name == "catch_warnings";
}

}  // namespace

struct AstReader::StmtRow {
  const char* kind;
  StmtReader read;
};

StmtPtr AstReader::ReadStmt(const AstNode& node) {
  static constexpr StmtRow kRows[] = {
      {"Assign", &AstReader::ReadAssign},
      {"Expr", &AstReader::ReadExprStmt},
      {"Return", &AstReader::ReadReturn},
      {"For", &AstReader::ReadFor},
      {"If", &AstReader::ReadIf},
      {"AugAssign", &AstReader::ReadAugAssign},
      {"While", &AstReader::ReadWhile},
      {"FunctionDef", &AstReader::ReadFunctionDef},
      {"AnnAssign", &AstReader::ReadAnnAssign},
      {"Assert", &AstReader::ReadAssert},
      {"With", &AstReader::ReadWith},
      {"Raise", &AstReader::ReadRaise},
      {"Break", &AstReader::ReadBreak},
      {"Continue", &AstReader::ReadContinue},
      {"Pass", &AstReader::ReadPass},
      {"Delete", &AstReader::ReadDelete},
  };
  const NestingGuard guard(&depth_, SpanOf(node));
  const std::string kind = node.Kind();
  for (const StmtRow& row : kRows) {
    if (kind == row.kind) return (this->*row.read)(node);
  }
  RefuseNode(kind, SpanOf(node));
}

Block AstReader::ReadBlock(const std::vector<AstNode>& statements) {
  Block block;
  for (const AstNode& statement : statements) {
    if (!IsConstantStatement(statement)) block.push_back(ReadStmt(statement));
  }
  if (block.empty() && !statements.empty()) block.push_back(ReadPass(statements.front()));
  return block;
}

StmtPtr AstReader::ReadAssign(const AstNode& node) {
  auto result = Make<AssignStmt>(node);
  result->value = ReadExpr(node.Field("value"));
  for (const AstNode& target : node.List("targets")) {
    result->targets.push_back(ReadTarget(target));
  }
  return result;
}

StmtPtr AstReader::ReadAugAssign(const AstNode& node) {
  auto result = Make<AugAssignStmt>(node);
  result->target = ReadTarget(node.Field("target"));
  result->op = ReadBinaryOperator(node.Field("op"));
  result->value = ReadExpr(node.Field("value"));
  return result;
}

StmtPtr AstReader::ReadAnnAssign(const AstNode& node) {
  auto result = Make<AnnAssignStmt>(node);
  const AstNode value = node.Field("value");
  // `x: int` makes x local; `(x): int` and `a[i]: int` say nothing at all.
  if (value.IsNone() && node.Integer("simple") == 0) return ReadPass(node);
  result->value = ReadOptional(value);
  result->target = ReadTarget(node.Field("target"));
  return result;
}

StmtPtr AstReader::ReadExprStmt(const AstNode& node) {
  auto result = Make<ExprStmt>(node);
  result->value = ReadExpr(node.Field("value"));
  return result;
}

StmtPtr AstReader::ReadIf(const AstNode& node) {
  auto result = Make<IfStmt>(node);
  result->condition = ReadExpr(node.Field("test"));
  result->then = ReadBlock(node.List("body"));
  result->otherwise = ReadBlock(node.List("orelse"));
  return result;
}

StmtPtr AstReader::ReadWhile(const AstNode& node) {
  auto result = Make<WhileStmt>(node);
  result->condition = ReadExpr(node.Field("test"));
  result->body = ReadBlock(node.List("body"));
  result->otherwise = ReadBlock(node.List("orelse"));
  return result;
}

StmtPtr AstReader::ReadFor(const AstNode& node) {
  auto result = Make<ForStmt>(node);
  result->iterable = ReadExpr(node.Field("iter"));
  result->target = ReadTarget(node.Field("target"));
  result->body = ReadBlock(node.List("body"));
  result->otherwise = ReadBlock(node.List("orelse"));
  return result;
}

StmtPtr AstReader::ReadBreak(const AstNode& node) { return Make<BreakStmt>(node); }
StmtPtr AstReader::ReadContinue(const AstNode& node) { return Make<ContinueStmt>(node); }
StmtPtr AstReader::ReadPass(const AstNode& node) { return Make<PassStmt>(node); }

StmtPtr AstReader::ReadReturn(const AstNode& node) {
  auto result = Make<ReturnStmt>(node);
  result->value = ReadOptional(node.Field("value"));
  return result;
}

StmtPtr AstReader::ReadAssert(const AstNode& node) {
  auto result = Make<AssertStmt>(node);
  result->condition = ReadExpr(node.Field("test"));
  result->message = ReadOptional(node.Field("msg"));
  return result;
}

// Contexts that only say what is warned of, `np.errstate` and `warnings.catch_warnings`: the
// library has functions for them, which give True or refuse, so that each is an `if` around the
// rest.
StmtPtr AstReader::ReadWith(const AstNode& node) {
  std::vector<std::unique_ptr<IfStmt>> contexts;
  for (const AstNode& item : node.List("items")) {
    const AstNode context = item.Field("context_expr");
    if (!SaysWhatIsWarnedOf(context) || !item.Field("optional_vars").IsNone()) {
      RefuseNode("With", SpanOf(node));
    }
    contexts.push_back(Make<IfStmt>(node));
    contexts.back()->condition = ReadExpr(context);
  }
  contexts.back()->then = ReadBlock(node.List("body"));
  while (contexts.size() > 1) {
    std::unique_ptr<IfStmt> inner = std::move(contexts.back());
    contexts.pop_back();
    contexts.back()->then.push_back(std::move(inner));
  }
  return std::move(contexts.front());
}

StmtPtr AstReader::ReadRaise(const AstNode& node) {
  const char* const kAdvice = "write `raise ValueError(\"...\")` with a built-in exception";
  auto result = Make<RaiseStmt>(node);
  const AstNode exception = node.Field("exc");
  if (exception.IsNone())
    RefuseConstruct("`raise` of the exception in flight", kAdvice, SpanOf(node));
  if (const AstNode cause = node.Field("cause"); !cause.IsNone()) {
    RefuseConstruct("`raise ... from`", "leave the cause out", SpanOf(cause));
  }
  const bool is_call = exception.Kind() == "Call";
  const AstNode name = is_call ? exception.Field("func") : exception;
  if (name.Kind() != "Name" && name.Kind() != "Attribute")
    RefuseConstruct("`raise` of an expression", kAdvice, SpanOf(exception));
  result->exception = ReadExpr(name);
  if (is_call) {
    const std::vector<AstNode> keywords = exception.List("keywords");
    if (!keywords.empty()) {
      RefuseConstruct("a keyword argument of an exception", "pass it by position",
                      SpanOf(keywords.front()));
    }
    result->arguments = ReadAll(exception.List("args"));
  }
  return result;
}

StmtPtr AstReader::ReadDelete(const AstNode& node) {
  auto result = Make<DeleteStmt>(node);
  for (const AstNode& target : node.List("targets")) {
    result->targets.push_back(ReadTarget(target));
  }
  return result;
}

}  // namespace parakeet::frontend
