#ifndef PARAKEET_FRONTEND_CODE_OBJECT_H_
#define PARAKEET_FRONTEND_CODE_OBJECT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "frontend/py_ref.h"

namespace parakeet::frontend {

// A Python code object, and what tells it from another.
class CodeObject {
 public:
  explicit CodeObject(PyRef code) : code_(std::move(code)) {}

  PyObject* object() const { return code_.get(); }
  std::string Name() const;
  std::string FileName() const;
  int32_t FirstLine() const { return Integer("co_firstlineno"); }
  bool IsLambda() const { return Name() == "<lambda>"; }

  // Where the instructions lie in the source: for a lambda, its body up to closing brackets. Lines
  // from 1, columns from 0 in bytes. None where Python was told to keep no columns.
  struct Extent {
    int32_t line, column, end_line, end_column;
  };
  std::optional<Extent> BodyExtent() const;

  // A field such as "co_names"; a UserError where there is none.
  PyRef Attribute(const char* name) const;
  int32_t Integer(const char* name) const;

 private:
  std::string Shown(const char* name) const;

  PyRef code_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_CODE_OBJECT_H_
