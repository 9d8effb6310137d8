#ifndef PARAKEET_FRONTEND_READ_AST_H_
#define PARAKEET_FRONTEND_READ_AST_H_

#include <cstdint>

#include "frontend/py_ref.h"
#include "frontend/syntax.h"

namespace parakeet::frontend {

// Reads an `ast.FunctionDef` or `ast.Lambda` into a syntax tree. Spans name `file` (an index into
// the caller's SourceMap) and the nodes' lines plus `line_shift`. The function's own decorators,
// annotations and default values are not read, nor its docstring. Called with the GIL held; leaves
// no Python exception set.
//
// Throws a Limitation for a construct outside the language, at its span, and a UserError for source
// nested too deeply (RecursionError) and for a tree that Python's parser would not make (TypeError,
// ValueError). Rules about where a construct may stand are check_subset's.
FunctionSyntaxPtr ReadAst(PyObject* node, int32_t file, int32_t line_shift = 0);

// Expressions and statements may nest this deep, counted together: no recursion over a tree
// overflows the stack.
inline constexpr int kMaxNesting = 400;

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_READ_AST_H_
