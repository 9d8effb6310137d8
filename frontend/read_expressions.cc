#include <string>
#include <utility>

#include "frontend/ast_reader.h"
#include "frontend/nesting_guard.h"
#include "frontend/read_operators.h"
#include "frontend/refused_nodes.h"

namespace parakeet::frontend {

struct AstReader::ExprRow {
  const char* kind;
  ExprReader read;
};

ExprPtr AstReader::ReadExpr(const AstNode& node) {
  static constexpr ExprRow kRows[] = {
      {"Name", &AstReader::ReadNameExpr},
      {"Constant", &AstReader::ReadConstant},
      {"BinOp", &AstReader::ReadBinary},
      {"Call", &AstReader::ReadCall},
      {"Attribute", &AstReader::ReadAttribute},
      {"Subscript", &AstReader::ReadSubscript},
      {"UnaryOp", &AstReader::ReadUnary},
      {"Compare", &AstReader::ReadCompare},
      {"Tuple", &AstReader::ReadTuple},
      {"Slice", &AstReader::ReadSlice},
      {"BoolOp", &AstReader::ReadBool},
      {"IfExp", &AstReader::ReadIfExpr},
      {"List", &AstReader::ReadList},
      {"ListComp", &AstReader::ReadListComprehension},
      {"GeneratorExp", &AstReader::ReadGenerator},
      {"Lambda", &AstReader::ReadLambda},
      {"Starred", &AstReader::ReadStarred},
      {"NamedExpr", &AstReader::ReadNamed},
      {"JoinedStr", &AstReader::ReadFormattedString},
  };
  const NestingGuard guard(&depth_, SpanOf(node));
  const std::string kind = node.Kind();
  for (const ExprRow& row : kRows) {
    if (kind == row.kind) return (this->*row.read)(node);
  }
  RefuseNode(kind, SpanOf(node));
}

ExprPtr AstReader::ReadOptional(const AstNode& node) {
  return node.IsNone() ? nullptr : ReadExpr(node);
}

std::vector<ExprPtr> AstReader::ReadAll(const std::vector<AstNode>& nodes) {
  std::vector<ExprPtr> result;
  for (const AstNode& node : nodes) result.push_back(ReadExpr(node));
  return result;
}

ExprPtr AstReader::ReadTarget(const AstNode& node) {
  const NestingGuard guard(&depth_, SpanOf(node));
  const std::string kind = node.Kind();
  if (kind == "Name") return ReadName(node, Context::kBind);
  if (kind == "Subscript") return ReadSubscript(node);
  if (kind == "Attribute") return ReadAttribute(node);
  if (kind == "Starred") {
    auto starred = Make<StarredExpr>(node);
    starred->value = ReadTarget(node.Field("value"));
    return starred;
  }
  if (kind == "Tuple" || kind == "List") {
    auto pattern = Make<TupleExpr>(node);
    for (const AstNode& element : node.List("elts")) {
      pattern->elements.push_back(ReadTarget(element));
    }
    return pattern;
  }
  ir::FailUser("TypeError", "malformed syntax tree: cannot assign to " + kind, SpanOf(node));
}

std::unique_ptr<NameExpr> AstReader::ReadName(const AstNode& node, Context context) {
  auto name = Make<NameExpr>(node);
  name->name = node.Text("id");
  context == Context::kBind ? names_.Bind(name.get()) : names_.Use(name.get());
  return name;
}

ExprPtr AstReader::ReadNameExpr(const AstNode& node) { return ReadName(node, Context::kUse); }

ExprPtr AstReader::ReadBinary(const AstNode& node) {
  auto result = Make<BinaryExpr>(node);
  result->left = ReadExpr(node.Field("left"));
  result->op = ReadBinaryOperator(node.Field("op"));
  result->right = ReadExpr(node.Field("right"));
  return result;
}

ExprPtr AstReader::ReadUnary(const AstNode& node) {
  auto result = Make<UnaryExpr>(node);
  result->op = ReadUnaryOperator(node.Field("op"));
  if (result->op == UnaryOperator::kUSub) {
    if (ExprPtr literal = ReadNegative(node)) return literal;
  }
  result->operand = ReadExpr(node.Field("operand"));
  return result;
}

ExprPtr AstReader::ReadCompare(const AstNode& node) {
  auto result = Make<CompareExpr>(node);
  result->first = ReadExpr(node.Field("left"));
  const std::vector<AstNode> ops = node.List("ops");
  const std::vector<AstNode> operands = node.List("comparators");
  if (ops.empty() || ops.size() != operands.size()) {
    ir::FailUser("TypeError", "malformed syntax tree: operators do not match operands",
                 SpanOf(node));
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    const CompareOperator op = ReadCompareOperator(ops[i]);
    const bool is_membership = op == CompareOperator::kIn || op == CompareOperator::kNotIn;
    // A set that is only asked for elements is as good as a tuple.
    const bool is_set = is_membership && operands[i].Kind() == "Set";
    result->rest.push_back({op, is_set ? ReadTuple(operands[i]) : ReadExpr(operands[i])});
  }
  return result;
}

ExprPtr AstReader::ReadBool(const AstNode& node) {
  auto result = Make<BoolExpr>(node);
  result->op = ReadBoolOperator(node.Field("op"));
  result->operands = ReadAll(node.List("values"));
  if (result->operands.size() < 2) {
    ir::FailUser("TypeError",
                 "malformed syntax tree: `" + Spelling(result->op) + "` needs two operands",
                 SpanOf(node));
  }
  return result;
}

ExprPtr AstReader::ReadIfExpr(const AstNode& node) {
  auto result = Make<IfExpr>(node);
  result->condition = ReadExpr(node.Field("test"));
  result->then = ReadExpr(node.Field("body"));
  result->otherwise = ReadExpr(node.Field("orelse"));
  return result;
}

ExprPtr AstReader::ReadCall(const AstNode& node) {
  auto result = Make<CallExpr>(node);
  result->function = ReadExpr(node.Field("func"));
  result->arguments = ReadAll(node.List("args"));
  for (const AstNode& keyword : node.List("keywords")) {
    if (keyword.Field("arg").IsNone()) {
      RefuseConstruct("`**` in a call", "name the keyword arguments", SpanOf(keyword));
    }
    result->keywords.push_back(
        {keyword.Text("arg"), ReadExpr(keyword.Field("value")), SpanOf(keyword)});
  }
  return result;
}

ExprPtr AstReader::ReadAttribute(const AstNode& node) {
  auto result = Make<AttributeExpr>(node);
  result->value = ReadExpr(node.Field("value"));
  result->name = node.Text("attr");
  return result;
}

ExprPtr AstReader::ReadSubscript(const AstNode& node) {
  auto result = Make<SubscriptExpr>(node);
  result->value = ReadExpr(node.Field("value"));
  result->index = ReadExpr(node.Field("slice"));
  return result;
}

ExprPtr AstReader::ReadSlice(const AstNode& node) {
  auto result = Make<SliceExpr>(node);
  result->start = ReadOptional(node.Field("lower"));
  result->stop = ReadOptional(node.Field("upper"));
  result->step = ReadOptional(node.Field("step"));
  return result;
}

ExprPtr AstReader::ReadTuple(const AstNode& node) {
  auto result = Make<TupleExpr>(node);
  result->elements = ReadAll(node.List("elts"));
  return result;
}

ExprPtr AstReader::ReadList(const AstNode& node) {
  auto result = Make<ListExpr>(node);
  result->elements = ReadAll(node.List("elts"));
  return result;
}

ExprPtr AstReader::ReadStarred(const AstNode& node) {
  auto result = Make<StarredExpr>(node);
  result->value = ReadExpr(node.Field("value"));
  return result;
}

ExprPtr AstReader::ReadListComprehension(const AstNode& node) {
  return ReadComprehension(node, /*is_generator=*/false);
}

ExprPtr AstReader::ReadGenerator(const AstNode& node) {
  return ReadComprehension(node, /*is_generator=*/true);
}

ExprPtr AstReader::ReadComprehension(const AstNode& node, bool is_generator) {
  auto result = Make<ComprehensionExpr>(node);
  result->is_generator = is_generator;
  for (const AstNode& clause : node.List("generators")) {
    if (clause.Integer("is_async") != 0) RefuseNode("AsyncFor", SpanOf(node));
    ComprehensionExpr::Generator generator;
    generator.iterable = ReadExpr(clause.Field("iter"));
    if (result->generators.empty()) names_.EnterComprehension();
    generator.target = ReadTarget(clause.Field("target"));
    generator.conditions = ReadAll(clause.List("ifs"));
    result->generators.push_back(std::move(generator));
  }
  if (result->generators.empty()) {
    ir::FailUser("TypeError", "malformed syntax tree: a comprehension needs a `for`", SpanOf(node));
  }
  result->element = ReadExpr(node.Field("elt"));
  names_.LeaveComprehension();
  return result;
}

ExprPtr AstReader::ReadNamed(const AstNode& node) {
  auto result = Make<NamedExpr>(node);
  result->value = ReadExpr(node.Field("value"));
  const AstNode name = node.Field("target");
  auto target = Make<NameExpr>(name);
  target->name = name.Text("id");
  names_.BindAcrossComprehensions(target.get());
  result->target = std::move(target);
  return result;
}

}  // namespace parakeet::frontend
