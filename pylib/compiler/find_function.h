#ifndef PARAKEET_PYLIB_COMPILER_FIND_FUNCTION_H_
#define PARAKEET_PYLIB_COMPILER_FIND_FUNCTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/py_ref.h"

namespace parakeet::pylib {

// Tells by code objects which function a line of source belongs to, for the last entry of a
// traceback. Used with the GIL held; leaves no exception set.
class FunctionFinder {
 public:
  // Adds a Python function, or a jitted one, and the functions nested in it. Anything else adds
  // nothing.
  void Add(PyObject* object);

  // The name of the innermost function on that line; `otherwise` where none of those added is.
  std::string Find(const std::string& file, int32_t line, const std::string& otherwise) const;

 private:
  struct Extent {
    std::string file;
    std::string name;
    int32_t first_line;
    int32_t last_line;
  };

  void AddCode(PyObject* code, int depth);

  std::vector<Extent> extents_;  // outer functions before those nested in them
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_FIND_FUNCTION_H_
