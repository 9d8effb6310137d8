#include <iterator>
#include <string>
#include <utility>

#include "frontend/ast_reader.h"
#include "frontend/read_ast.h"
#include "frontend/refused_nodes.h"

namespace parakeet::frontend {
namespace {

// The header's keyword and name: `def name` or `lambda`.
ir::Span HeaderSpan(const FunctionSyntax& function) {
  ir::Span span = function.span;
  const size_t width = function.is_lambda ? std::string("lambda").size()
                                          : std::string("def ").size() + function.name.size();
  span.end_line = span.line;
  span.end_column = span.column + static_cast<int32_t>(width);
  return span;
}

StmtPtr MakePass(ir::Span span) {
  auto pass = std::make_unique<PassStmt>();
  pass->span = span;
  return pass;
}

}  // namespace

FunctionSyntaxPtr ReadAst(PyObject* node, int32_t file, int32_t line_shift) {
  return AstReader(file, line_shift).ReadOutermost(AstNode(PyRef::Borrow(node)));
}

FunctionSyntaxPtr AstReader::ReadOutermost(const AstNode& node) {
  const std::string kind = node.Kind();
  if (kind == "FunctionDef" || kind == "Lambda") return ReadFunction(node, /*is_outermost=*/true);
  if (kind == "AsyncFunctionDef") RefuseNode(kind, SpanOf(node));
  ir::FailUser("TypeError", "expected a FunctionDef or Lambda node, got " + kind, SpanOf(node));
}

FunctionSyntaxPtr AstReader::ReadFunction(const AstNode& node, bool is_outermost) {
  auto function = std::make_shared<FunctionSyntax>();
  function->is_lambda = node.Kind() == "Lambda";
  function->name = function->is_lambda ? "<lambda>" : node.Text("name");
  function->span = SpanOf(node);
  function->name_span = HeaderSpan(*function);
  ReadParameters(node.Field("args"), is_outermost, function.get());
  function->body =
      function->is_lambda ? ReadLambdaBody(node.Field("body")) : ReadBlock(node.List("body"));
  if (function->body.empty()) function->body.push_back(MakePass(function->span));
  names_.LeaveFunction();
  return function;
}

// Opens the function's scope, after its defaults have been read in the scope around it.
void AstReader::ReadParameters(const AstNode& arguments, bool is_outermost,
                               FunctionSyntax* function) {
  if (const AstNode kwargs = arguments.Field("kwarg"); !kwargs.IsNone()) {
    RefuseConstruct("`**" + kwargs.Text("arg") + "`", "name the parameters", SpanOf(kwargs));
  }
  std::vector<Default> defaults = ReadDefaults(arguments.List("defaults"), is_outermost);
  std::vector<Default> keyword_defaults = ReadDefaults(arguments.List("kw_defaults"), is_outermost);
  const std::vector<AstNode> positional_only = arguments.List("posonlyargs");
  const std::vector<AstNode> plain = arguments.List("args");
  const std::vector<AstNode> keyword_only = arguments.List("kwonlyargs");
  const size_t count = positional_only.size() + plain.size();
  if (defaults.size() > count || keyword_defaults.size() != keyword_only.size()) {
    ir::FailUser("TypeError", "malformed syntax tree: defaults do not match parameters",
                 function->name_span);
  }
  // The defaults belong to the last parameters.
  std::vector<Default> of_positional(count - defaults.size());
  std::move(defaults.begin(), defaults.end(), std::back_inserter(of_positional));

  names_.EnterFunction(function);
  size_t next = 0;
  for (const AstNode& node : positional_only) {
    ReadParameter(node, ParameterKind::kPositionalOnly, &of_positional[next++], function);
  }
  for (const AstNode& node : plain) {
    ReadParameter(node, ParameterKind::kPlain, &of_positional[next++], function);
  }
  if (const AstNode rest = arguments.Field("vararg"); !rest.IsNone()) {
    Default none;
    ReadParameter(rest, ParameterKind::kVarArgs, &none, function);
  }
  for (size_t i = 0; i < keyword_only.size(); ++i) {
    ReadParameter(keyword_only[i], ParameterKind::kKeywordOnly, &keyword_defaults[i], function);
  }
}

std::vector<AstReader::Default> AstReader::ReadDefaults(const std::vector<AstNode>& nodes,
                                                        bool is_outermost) {
  std::vector<Default> defaults;
  for (const AstNode& node : nodes) {
    const bool is_given = !node.IsNone();
    defaults.push_back({is_given, is_given && !is_outermost ? ReadExpr(node) : nullptr});
  }
  return defaults;
}

void AstReader::ReadParameter(const AstNode& argument, ParameterKind kind, Default* default_value,
                              FunctionSyntax* function) {
  Parameter parameter;
  parameter.name = argument.Text("arg");
  parameter.kind = kind;
  parameter.variable = names_.BindParameter(parameter.name);
  parameter.has_default = default_value->is_given;
  parameter.default_value = std::move(default_value->value);
  parameter.span = SpanOf(argument);
  // The annotation is part of the node's place; the caret belongs under the name.
  parameter.span.end_line = parameter.span.line;
  parameter.span.end_column = parameter.span.column + static_cast<int32_t>(parameter.name.size());
  function->parameters.push_back(std::move(parameter));
}

Block AstReader::ReadLambdaBody(const AstNode& body) {
  auto result = Make<ReturnStmt>(body);
  result->value = ReadExpr(body);
  Block block;
  block.push_back(std::move(result));
  return block;
}

StmtPtr AstReader::ReadFunctionDef(const AstNode& node) {
  const std::vector<AstNode> decorators = node.List("decorator_list");
  if (!decorators.empty()) {
    RefuseConstruct("a decorator on a nested function", "a nested function needs none",
                    SpanOf(decorators.front()));
  }
  const PyRef type_parameters = PyRef::Steal(PyObject_GetAttrString(node.object(), "type_params"));
  PyErr_Clear();  // Python before 3.12 has no such field.
  if (type_parameters && PyObject_IsTrue(type_parameters.get()) == 1) {
    RefuseConstruct("a type parameter list", "leave it out: types are inferred", SpanOf(node));
  }
  auto result = Make<FunctionDefStmt>(node);
  auto target = std::make_unique<NameExpr>();
  target->name = node.Text("name");
  names_.Bind(target.get());
  result->function = ReadFunction(node, /*is_outermost=*/false);
  target->span = result->function->name_span;
  result->target = std::move(target);
  return result;
}

ExprPtr AstReader::ReadLambda(const AstNode& node) {
  auto result = Make<LambdaExpr>(node);
  result->function = ReadFunction(node, /*is_outermost=*/false);
  return result;
}

}  // namespace parakeet::frontend
