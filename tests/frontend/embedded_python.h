#ifndef PARAKEET_TESTS_FRONTEND_EMBEDDED_PYTHON_H_
#define PARAKEET_TESTS_FRONTEND_EMBEDDED_PYTHON_H_

#include <gtest/gtest.h>

#include <string>

#include "frontend/py_ref.h"
#include "frontend/syntax.h"

namespace parakeet::frontend {

// A test in a process with a Python interpreter in it, started once. Links libpython:
// @python//:embedded, or -lpython3.11 by hand.
class EmbeddedPython : public testing::Test {
 protected:
  static void SetUpTestSuite();

  // Runs `source` as a module under the file name `file`, and tells linecache about it unless told
  // not to. Returns its namespace. A Python error fails the test.
  static PyRef Run(const std::string& source, const std::string& file = "demo.py",
                   bool tell_linecache = true);
  // The value of `expression` in `module`, a namespace.
  static PyRef Evaluate(const PyRef& module, const std::string& expression);

  // The syntax tree of the first statement of `source`, a `def`; it is read and not checked.
  static FunctionSyntaxPtr Read(const std::string& source);
  // What `expression` is read as, printed; names are outside of any function.
  static std::string ReadExpression(const std::string& expression);
  // Reads and checks the first statement of `source`; "exception: rendered message" of the failure,
  // "accepted" for none.
  static std::string Judge(const std::string& source);
  // The same for what FindSource and the rest make of the Python function `expression` in `module`.
  static std::string JudgeFunction(const PyRef& module, const std::string& expression);
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_TESTS_FRONTEND_EMBEDDED_PYTHON_H_
