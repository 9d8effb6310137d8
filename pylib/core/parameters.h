// A function's parameters, and how the arguments of a call are bound to them.
#ifndef PARAKEET_PYLIB_CORE_PARAMETERS_H_
#define PARAKEET_PYLIB_CORE_PARAMETERS_H_

#include <vector>

#include "pylib/core/inline_vector.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// One value a parameter, borrowed from the caller, the defaults or `star`.
struct BoundValues {
  InlineVector<PyObject*, 16> values;
  Ref star;  // the tuple of what `*args` took
};

// In the order written: positional ones, `*args`, keyword-only ones.
class Parameters {
 public:
  // Reads the code object and defaults of a Python function. False with an exception set.
  bool Read(PyObject* function);

  size_t size() const { return parameters_.size(); }
  bool Has(PyObject* name) const;
  // Whether a call with so many positional arguments and no keywords binds each to the parameter of
  // the same place.
  bool IsDirect(size_t positional) const { return positional == direct_count_; }

  // `names` is null or a tuple of the keywords, whose values follow the positional arguments;
  // `skipped` marks keywords that are not the function's (bit k: the k-th). False without an
  // exception where Python would raise a TypeError; false with one where something else failed.
  bool Bind(PyObject* const* arguments, size_t positional, PyObject* names, uint64_t skipped,
            BoundValues* bound) const;

 private:
  struct Parameter {
    Ref name;
    Ref default_value;  // none: it must be given
    bool by_position;
    bool by_keyword;
    bool is_star;
  };

  bool ReadDefaults(PyObject* function, Py_ssize_t positional);
  Py_ssize_t Find(PyObject* name) const;
  // Where all parameters may be given by position, and no argument is left over or has a name.
  bool BindPlain(PyObject* const* arguments, size_t positional, BoundValues* bound) const;
  bool BindPositional(PyObject* const* arguments, size_t positional, BoundValues* bound) const;
  bool FillDefaults(BoundValues* bound) const;

  std::vector<Parameter> parameters_;
  bool is_plain_ = true;     // all of them may be given by position, and there is no `*args`
  size_t direct_count_ = 0;  // their number; more than any call has where they are not plain
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_PARAMETERS_H_
