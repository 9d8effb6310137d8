// A scope in which other Python threads run.
#ifndef PARAKEET_PYLIB_CORE_WITHOUT_GIL_H_
#define PARAKEET_PYLIB_CORE_WITHOUT_GIL_H_

#include "pylib/take_gil.h"

namespace parakeet::pylib {

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PkTakeGil(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_WITHOUT_GIL_H_
