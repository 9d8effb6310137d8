#ifndef PARAKEET_FRONTEND_AST_READER_H_
#define PARAKEET_FRONTEND_AST_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/ast_node.h"
#include "frontend/resolve_names.h"
#include "frontend/syntax.h"

namespace parakeet::frontend {

// The reader behind ReadAst: one member a class of node. read_functions.cc holds functions and
// their parameters, read_statements.cc and read_expressions.cc the rest, each with its table from
// node class to member.
class AstReader {
 public:
  AstReader(int32_t file, int32_t line_shift) : file_(file), line_shift_(line_shift) {}

  FunctionSyntaxPtr ReadOutermost(const AstNode& node);

 private:
  using ExprReader = ExprPtr (AstReader::*)(const AstNode&);
  using StmtReader = StmtPtr (AstReader::*)(const AstNode&);
  struct ExprRow;
  struct StmtRow;

  struct Default {
    bool is_given = false;
    ExprPtr value;  // null for the outermost function's
  };

  // Whether a name is read, or bound by a pattern.
  enum class Context { kUse, kBind };

  ir::Span SpanOf(const AstNode& node) const { return node.SpanIn(file_, line_shift_); }
  template <typename T>
  std::unique_ptr<T> Make(const AstNode& node) const {
    auto made = std::make_unique<T>();
    made->span = SpanOf(node);
    return made;
  }

  // Functions.
  FunctionSyntaxPtr ReadFunction(const AstNode& node, bool is_outermost);
  void ReadParameters(const AstNode& arguments, bool is_outermost, FunctionSyntax* function);
  void ReadParameter(const AstNode& argument, ParameterKind kind, Default* default_value,
                     FunctionSyntax* function);
  std::vector<Default> ReadDefaults(const std::vector<AstNode>& nodes, bool is_outermost);
  Block ReadLambdaBody(const AstNode& body);

  // Statements.
  Block ReadBlock(const std::vector<AstNode>& statements);
  StmtPtr ReadStmt(const AstNode& node);
  StmtPtr ReadAssign(const AstNode& node);
  StmtPtr ReadAugAssign(const AstNode& node);
  StmtPtr ReadAnnAssign(const AstNode& node);
  StmtPtr ReadExprStmt(const AstNode& node);
  StmtPtr ReadIf(const AstNode& node);
  StmtPtr ReadWhile(const AstNode& node);
  StmtPtr ReadFor(const AstNode& node);
  StmtPtr ReadBreak(const AstNode& node);
  StmtPtr ReadContinue(const AstNode& node);
  StmtPtr ReadPass(const AstNode& node);
  StmtPtr ReadReturn(const AstNode& node);
  StmtPtr ReadAssert(const AstNode& node);
  StmtPtr ReadWith(const AstNode& node);
  StmtPtr ReadRaise(const AstNode& node);
  StmtPtr ReadDelete(const AstNode& node);
  StmtPtr ReadFunctionDef(const AstNode& node);

  // Expressions.
  ExprPtr ReadExpr(const AstNode& node);
  ExprPtr ReadOptional(const AstNode& node);  // null for None
  std::vector<ExprPtr> ReadAll(const std::vector<AstNode>& nodes);
  ExprPtr ReadTarget(const AstNode& node);
  std::unique_ptr<NameExpr> ReadName(const AstNode& node, Context context);
  ExprPtr ReadNameExpr(const AstNode& node);
  ExprPtr ReadConstant(const AstNode& node);
  void ReadConstantValue(PyObject* value, ConstantExpr* constant) const;
  void ReadInteger(PyObject* value, ConstantExpr* constant) const;
  ExprPtr ReadBinary(const AstNode& node);
  ExprPtr ReadUnary(const AstNode& node);
  ExprPtr ReadNegative(const AstNode& node);  // null unless the operand is a number
  ExprPtr ReadCompare(const AstNode& node);
  ExprPtr ReadBool(const AstNode& node);
  ExprPtr ReadIfExpr(const AstNode& node);
  ExprPtr ReadCall(const AstNode& node);
  ExprPtr ReadAttribute(const AstNode& node);
  ExprPtr ReadSubscript(const AstNode& node);
  ExprPtr ReadSlice(const AstNode& node);
  ExprPtr ReadTuple(const AstNode& node);
  ExprPtr ReadList(const AstNode& node);
  ExprPtr ReadStarred(const AstNode& node);
  ExprPtr ReadListComprehension(const AstNode& node);
  ExprPtr ReadGenerator(const AstNode& node);
  ExprPtr ReadComprehension(const AstNode& node, bool is_generator);
  ExprPtr ReadLambda(const AstNode& node);
  ExprPtr ReadNamed(const AstNode& node);
  ExprPtr ReadFormattedString(const AstNode& node);
  FormattedStringExpr::Piece ReadPiece(const AstNode& node);
  std::string ReadFormatSpec(const AstNode& node);

  const int32_t file_;
  const int32_t line_shift_;
  int depth_ = 0;
  NameResolver names_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_AST_READER_H_
