// What a jitted function tells about itself: the raw methods of _core.Function, from which
// parakeet.inspection makes f.explain, f.ir, f.timings and the rest.
#ifndef PARAKEET_PYLIB_CORE_INSPECT_H_
#define PARAKEET_PYLIB_CORE_INSPECT_H_

#include "pylib/python.h"

namespace parakeet::pylib {

PyMethodDef* InspectionMethods();

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_INSPECT_H_
