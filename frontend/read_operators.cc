#include "frontend/read_operators.h"

#include <string>

#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

[[noreturn]] void FailUnknownOperator(const std::string& kind) {
  ir::FailUser("TypeError", "malformed syntax tree: unexpected operator " + kind, {});
}

}  // namespace

#define PARAKEET_MATCH(name, spelling) \
  if (kind == #name) return Operator::k##name;

BinaryOperator ReadBinaryOperator(const AstNode& node) {
  using Operator = BinaryOperator;
  const std::string kind = node.Kind();
  PARAKEET_BINARY_OPERATORS(PARAKEET_MATCH)
  FailUnknownOperator(kind);
}

UnaryOperator ReadUnaryOperator(const AstNode& node) {
  using Operator = UnaryOperator;
  const std::string kind = node.Kind();
  PARAKEET_UNARY_OPERATORS(PARAKEET_MATCH)
  FailUnknownOperator(kind);
}

CompareOperator ReadCompareOperator(const AstNode& node) {
  using Operator = CompareOperator;
  const std::string kind = node.Kind();
  PARAKEET_COMPARE_OPERATORS(PARAKEET_MATCH)
  FailUnknownOperator(kind);
}

BoolOperator ReadBoolOperator(const AstNode& node) {
  using Operator = BoolOperator;
  const std::string kind = node.Kind();
  PARAKEET_BOOL_OPERATORS(PARAKEET_MATCH)
  FailUnknownOperator(kind);
}

#undef PARAKEET_MATCH

}  // namespace parakeet::frontend
