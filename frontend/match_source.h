#ifndef PARAKEET_FRONTEND_MATCH_SOURCE_H_
#define PARAKEET_FRONTEND_MATCH_SOURCE_H_

#include <string>
#include <vector>

#include "frontend/code_object.h"
#include "frontend/compile_source.h"
#include "frontend/py_ref.h"

namespace parakeet::frontend {

// Tells whether source is the source of a code object, by compiling it and comparing
// (compare_code.h says what counts as the same).
class SourceMatcher {
 public:
  // `globals` is the function's dict. `code` outlives the matcher.
  SourceMatcher(const CodeObject& code, PyObject* globals);

  // Compiles `node` (a FunctionDef or Lambda) alone, in scopes like the ones that the code was
  // compiled in. What a call `a.f()` compiles to depends on whether the module imports `a`
  // (Python 3.11.2 and later): several guesses are tried, which fail where it imports some objects
  // that are no modules, and not others.
  bool Matches(PyObject* node);
  // Compiles a whole Module. True where a function in it, on the same first line, is the code.
  bool MatchesSomeIn(PyObject* module);
  // Whether some compilation wanted for stack.
  bool is_too_deep() const { return is_too_deep_; }

 private:
  PyRef Compile(const Compiled& scopes, PyObject* node);
  int FutureFlags() const;

  const CodeObject& code_;
  std::vector<std::string> scopes_;   // headers, outermost first
  std::vector<std::string> imports_;  // guesses, likeliest first
  bool is_too_deep_ = false;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_MATCH_SOURCE_H_
