#include "frontend/print_syntax.h"

#include <string>

#include "frontend/print_expressions.h"

namespace parakeet::frontend {
namespace {

class Printer {
 public:
  explicit Printer(bool spans) : spans_(spans) {}

  std::string TakeText() { return std::move(text_); }

  // `outer` is the function around it, from which its defaults are seen.
  void PrintFunction(const FunctionSyntax& function, const FunctionSyntax* outer, ir::Span span) {
    const std::string parameters = ExpressionPrinter(outer).PrintParameters(function);
    const FunctionSyntax* const around = function_;
    function_ = &function;
    Line("def " + function.name + "(" + parameters + "):", span);
    ++depth_;
    Line(Names(function), {});
    for (const StmtPtr& statement : function.body) Print(*statement);
    --depth_;
    function_ = around;
  }

 private:
  static std::string Names(const FunctionSyntax& function) {
    std::string result = "# binds";
    for (const auto& variable : function.variables) {
      result += " " + variable->name + (variable->is_of_comprehension ? "'" : "") +
                (variable->is_captured ? "&" : "");
    }
    if (!function.free_variables.empty()) result += "; captures";
    for (const Variable* variable : function.free_variables) result += " " + variable->name;
    if (!function.outside_names.empty()) result += "; outside";
    for (const std::string& name : function.outside_names) result += " " + name;
    return result;
  }

  void Line(const std::string& line, ir::Span span) {
    text_ += std::string(2 * depth_, ' ') + line;
    if (spans_ && span.line > 0) {
      text_ += "  # " + std::to_string(span.line) + ":" + std::to_string(span.column) + "-" +
               std::to_string(span.end_line) + ":" + std::to_string(span.end_column);
    }
    text_ += "\n";
  }

  std::string Text(const ExprPtr& expr) const { return ExpressionPrinter(function_).Print(expr); }

  void PrintBlock(const std::string& header, const Block& block, ir::Span span) {
    Line(header, span);
    ++depth_;
    for (const StmtPtr& statement : block) Print(*statement);
    --depth_;
  }

  void PrintElse(const Block& block) {
    if (!block.empty()) PrintBlock("else:", block, {});
  }

  void Print(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kIf: {
        const auto& choice = As<IfStmt>(stmt);
        PrintBlock("if " + Text(choice.condition) + ":", choice.then, stmt.span);
        return PrintElse(choice.otherwise);
      }
      case StmtKind::kWhile: {
        const auto& loop = As<WhileStmt>(stmt);
        PrintBlock("while " + Text(loop.condition) + ":", loop.body, stmt.span);
        return PrintElse(loop.otherwise);
      }
      case StmtKind::kFor: {
        const auto& loop = As<ForStmt>(stmt);
        PrintBlock("for " + Text(loop.target) + " in " + Text(loop.iterable) + ":", loop.body,
                   stmt.span);
        return PrintElse(loop.otherwise);
      }
      case StmtKind::kFunctionDef:
        return PrintFunction(*As<FunctionDefStmt>(stmt).function, function_, stmt.span);
      default: return Line(SimpleText(stmt), stmt.span);
    }
  }

  // A statement without blocks in it.
  std::string SimpleText(const Stmt& stmt) const {
    const ExpressionPrinter printer(function_);
    switch (stmt.kind) {
      case StmtKind::kAssign: {
        std::string result;
        for (const ExprPtr& target : As<AssignStmt>(stmt).targets) result += Text(target) + " = ";
        return result + Text(As<AssignStmt>(stmt).value);
      }
      case StmtKind::kAugAssign: {
        const auto& assign = As<AugAssignStmt>(stmt);
        return Text(assign.target) + " " + Spelling(assign.op) + "= " + Text(assign.value);
      }
      case StmtKind::kAnnAssign: {
        const auto& assign = As<AnnAssignStmt>(stmt);
        return Text(assign.target) + ": _" + (assign.value ? " = " + Text(assign.value) : "");
      }
      case StmtKind::kExpr: return Text(As<ExprStmt>(stmt).value);
      case StmtKind::kBreak: return "break";
      case StmtKind::kContinue: return "continue";
      case StmtKind::kPass: return "pass";
      case StmtKind::kReturn: {
        const ExprPtr& value = As<ReturnStmt>(stmt).value;
        return value == nullptr ? "return" : "return " + Text(value);
      }
      case StmtKind::kAssert: {
        const auto& check = As<AssertStmt>(stmt);
        return "assert " + Text(check.condition) +
               (check.message == nullptr ? "" : ", " + Text(check.message));
      }
      case StmtKind::kRaise: {
        const auto& raise = As<RaiseStmt>(stmt);
        return "raise " + printer.Print(*raise.exception) + "(" +
               printer.PrintList(raise.arguments) + ")";
      }
      case StmtKind::kDelete: return "del " + printer.PrintList(As<DeleteStmt>(stmt).targets);
      default: return "";
    }
  }

  const bool spans_;
  int depth_ = 0;
  const FunctionSyntax* function_ = nullptr;
  std::string text_;
};

}  // namespace

std::string PrintSyntax(const FunctionSyntax& function, bool spans) {
  Printer printer(spans);
  printer.PrintFunction(function, nullptr, function.span);
  return printer.TakeText();
}

std::string PrintSyntax(const Expr& expr) { return ExpressionPrinter(nullptr).Print(expr); }

}  // namespace parakeet::frontend
