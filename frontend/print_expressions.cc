#include "frontend/print_expressions.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace parakeet::frontend {
namespace {

// The shortest of 15 to 17 digits that reads back as the same double.
std::string PrintReal(double value) {
  char text[40];
  for (int digits = 15; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  const std::string result = text;
  return result.find_first_of(".en") == std::string::npos ? result + ".0" : result;
}

// In double quotes; what could break a line of text is escaped.
std::string Quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
      result += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
    result += escaped;
  }
  return result + "\"";
}

std::string PrintConstant(const ConstantExpr& constant) {
  switch (constant.constant) {
    case ConstantKind::kNone: return "None";
    case ConstantKind::kBool: return constant.integer != 0 ? "True" : "False";
    case ConstantKind::kInt: return std::to_string(constant.integer);
    case ConstantKind::kUnsigned: return std::to_string(static_cast<uint64_t>(constant.integer));
    case ConstantKind::kFloat: return PrintReal(constant.real);
    case ConstantKind::kComplex:
      return "complex(" + PrintReal(constant.real) + ", " + PrintReal(constant.imaginary) + ")";
    case ConstantKind::kString: return Quote(constant.text);
    case ConstantKind::kEllipsis: return "...";
  }
  return "";
}

}  // namespace

std::string ExpressionPrinter::Print(const Expr& expr) const {
  switch (expr.kind) {
    case ExprKind::kName: return PrintName(As<NameExpr>(expr));
    case ExprKind::kConstant: return PrintConstant(As<ConstantExpr>(expr));
    case ExprKind::kBinary: {
      const auto& binary = As<BinaryExpr>(expr);
      return "(" + Print(binary.left) + " " + Spelling(binary.op) + " " + Print(binary.right) + ")";
    }
    case ExprKind::kUnary: {
      const auto& unary = As<UnaryExpr>(expr);
      const std::string space = unary.op == UnaryOperator::kNot ? " " : "";
      return "(" + Spelling(unary.op) + space + Print(unary.operand) + ")";
    }
    case ExprKind::kCompare: return PrintCompare(As<CompareExpr>(expr));
    case ExprKind::kBool: return PrintBool(As<BoolExpr>(expr));
    case ExprKind::kIf: {
      const auto& choice = As<IfExpr>(expr);
      return "(" + Print(choice.then) + " if " + Print(choice.condition) + " else " +
             Print(choice.otherwise) + ")";
    }
    case ExprKind::kCall: return PrintCall(As<CallExpr>(expr));
    case ExprKind::kAttribute:
      return Print(As<AttributeExpr>(expr).value) + "." + As<AttributeExpr>(expr).name;
    case ExprKind::kSubscript:
      return Print(As<SubscriptExpr>(expr).value) + "[" + Print(As<SubscriptExpr>(expr).index) +
             "]";
    case ExprKind::kSlice: return PrintSlice(As<SliceExpr>(expr));
    case ExprKind::kTuple: return PrintTuple(As<TupleExpr>(expr));
    case ExprKind::kList: return "[" + PrintList(As<ListExpr>(expr).elements) + "]";
    case ExprKind::kStarred: return "*" + Print(As<StarredExpr>(expr).value);
    case ExprKind::kComprehension: return PrintComprehension(As<ComprehensionExpr>(expr));
    case ExprKind::kLambda: return PrintLambda(*As<LambdaExpr>(expr).function);
    case ExprKind::kNamed:
      return "(" + Print(*As<NamedExpr>(expr).target) + " := " + Print(As<NamedExpr>(expr).value) +
             ")";
    case ExprKind::kFormattedString: return PrintFormattedString(As<FormattedStringExpr>(expr));
  }
  return "";
}

std::string ExpressionPrinter::PrintName(const NameExpr& name) const {
  const Variable* variable = name.variable;
  if (variable == nullptr) return name.name;
  const bool is_captured = function_ != nullptr && variable->function != function_;
  return (is_captured ? "^" : "") + name.name + (variable->is_of_comprehension ? "'" : "");
}

std::string ExpressionPrinter::PrintList(const std::vector<ExprPtr>& list) const {
  std::string result;
  for (const ExprPtr& item : list) result += (result.empty() ? "" : ", ") + Print(item);
  return result;
}

std::string ExpressionPrinter::PrintCompare(const CompareExpr& compare) const {
  std::string result = "(" + Print(compare.first);
  for (const CompareExpr::Link& link : compare.rest) {
    result += " " + Spelling(link.op) + " " + Print(link.operand);
  }
  return result + ")";
}

std::string ExpressionPrinter::PrintBool(const BoolExpr& expr) const {
  std::string result;
  for (const ExprPtr& operand : expr.operands) {
    result += (result.empty() ? "(" : " " + Spelling(expr.op) + " ") + Print(operand);
  }
  return result + ")";
}

std::string ExpressionPrinter::PrintCall(const CallExpr& call) const {
  std::string arguments = PrintList(call.arguments);
  for (const CallExpr::Keyword& keyword : call.keywords) {
    arguments += (arguments.empty() ? "" : ", ") + keyword.name + "=" + Print(keyword.value);
  }
  return Print(call.function) + "(" + arguments + ")";
}

std::string ExpressionPrinter::PrintSlice(const SliceExpr& slice) const {
  return Print(slice.start) + ":" + Print(slice.stop) +
         (slice.step == nullptr ? "" : ":" + Print(slice.step));
}

std::string ExpressionPrinter::PrintTuple(const TupleExpr& tuple) const {
  return "(" + PrintList(tuple.elements) + (tuple.elements.size() == 1 ? ",)" : ")");
}

std::string ExpressionPrinter::PrintComprehension(const ComprehensionExpr& comprehension) const {
  std::string result = Print(comprehension.element);
  for (const ComprehensionExpr::Generator& generator : comprehension.generators) {
    result += " for " + Print(generator.target) + " in " + Print(generator.iterable);
    for (const ExprPtr& condition : generator.conditions) result += " if " + Print(condition);
  }
  return comprehension.is_generator ? "(" + result + ")" : "[" + result + "]";
}

std::string ExpressionPrinter::PrintLambda(const FunctionSyntax& lambda) const {
  const std::string parameters = PrintParameters(lambda);
  const auto& body = As<ReturnStmt>(*lambda.body.front());
  return "(lambda" + (parameters.empty() ? "" : " " + parameters) + ": " +
         ExpressionPrinter(&lambda).Print(body.value) + ")";
}

std::string ExpressionPrinter::PrintParameters(const FunctionSyntax& function) const {
  std::string result;
  const auto add = [&](const std::string& text) { result += (result.empty() ? "" : ", ") + text; };
  const auto& parameters = function.parameters;
  bool keyword_only_open = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (parameter.kind == ParameterKind::kKeywordOnly && !keyword_only_open) add("*");
    keyword_only_open = parameter.kind >= ParameterKind::kVarArgs;
    const std::string value = parameter.default_value ? Print(parameter.default_value) : "...";
    add((parameter.kind == ParameterKind::kVarArgs ? "*" : "") + parameter.name +
        (parameter.has_default ? "=" + value : ""));
    const bool ends_positional_only =
        parameter.kind == ParameterKind::kPositionalOnly &&
        (i + 1 == parameters.size() || parameters[i + 1].kind != ParameterKind::kPositionalOnly);
    if (ends_positional_only) add("/");
  }
  return result;
}

std::string ExpressionPrinter::PrintFormattedString(const FormattedStringExpr& string) const {
  std::string result = "f(";
  for (const FormattedStringExpr::Piece& piece : string.pieces) {
    if (result.size() > 2) result += ", ";
    if (piece.value == nullptr) {
      result += Quote(piece.text);
      continue;
    }
    result += "{" + Print(piece.value);
    if (piece.conversion != 0) result += std::string("!") + piece.conversion;
    if (!piece.format.empty()) result += ":" + Quote(piece.format);
    result += "}";
  }
  return result + ")";
}

}  // namespace parakeet::frontend
