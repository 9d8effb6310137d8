#ifndef PARAKEET_FRONTEND_BUILD_IR_H_
#define PARAKEET_FRONTEND_BUILD_IR_H_

#include <memory>
#include <vector>

#include "frontend/argument.h"
#include "frontend/context.h"
#include "frontend/py_ref.h"
#include "frontend/resolve.h"
#include "ir/node.h"

namespace parakeet::frontend {

// One compilation: a Python function (a jitted object is unwrapped by the caller) at certain
// arguments, one a parameter of the Python function, defaults included, `*args` as one tuple. The
// arguments whose value decides a type are kStatic, numbers included.
struct Request {
  PyObject* function = nullptr;
  std::vector<Argument> arguments;
  SyntaxArchive* library = nullptr;  // The library's trees; null: all are read from source.
  bool on_device = false;            // Whether kernels will run it.
};

// What the entry function's results are, as Python sees them. Scalars and arrays are results of the
// function by number.
struct ResultTree {
  enum class Kind { kNone, kScalar, kArray, kTuple, kList };
  Kind kind = Kind::kNone;
  int result = -1;
  bool python = false;  // A Python scalar, not NumPy's. Of an array: never.
  std::vector<ResultTree> children;
};

struct Built {
  ir::Program program;
  ResultTree results;
  // Hidden parameters, after the leaves of the arguments.
  std::vector<Capture> captures;
  std::vector<Dependency> dependencies;
};

// The program of the parallel stage, entry function first. Its parameters are the leaves of the
// arguments, depth first (arrays and run-time scalars only), then the captures. Sizes that results
// need are results too, before the arrays.
//
// Throws ir::Failure for what is refused, with spans of `sources`, which the program shares. Throws
// NeedStatic where the value of a parameter decides a type: the caller gives that argument as
// kStatic and asks again. Called with the GIL held; leaves no exception set.
Built BuildIr(const Request& request, const std::shared_ptr<ir::SourceMap>& sources);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_BUILD_IR_H_
