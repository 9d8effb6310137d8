#ifndef PARAKEET_FRONTEND_AST_NODE_H_
#define PARAKEET_FRONTEND_AST_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/py_ref.h"
#include "ir/span.h"

namespace parakeet::frontend {

// A node of Python's `ast`, or a value in one of its fields. A tree put together by hand may lack
// fields or hold anything in them: each access that finds something else than it expects throws a
// UserError (TypeError).
class AstNode {
 public:
  explicit AstNode(PyRef object) : object_(std::move(object)) {}

  PyObject* object() const { return object_.get(); }
  bool IsNone() const { return object_.IsNone(); }

  // The name of the node's class: "BinOp".
  std::string Kind() const;
  AstNode Field(const char* name) const;
  std::vector<AstNode> List(const char* name) const;
  std::string Text(const char* name) const;
  int32_t Integer(const char* name) const;

  // The node's place, its lines moved by `line_shift`; `file` is the Span's. Unknown for nodes
  // without a place, such as operators.
  ir::Span SpanIn(int32_t file, int32_t line_shift) const;

 private:
  PyRef object_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_AST_NODE_H_
