// What a jitted function tells about itself: the raw methods of _core.Function, from which
// parakeet.inspection makes f.explain, f.ir, f.timings and the rest.
#ifndef PARAKEET_PYLIB_CORE_INSPECT_H_
#define PARAKEET_PYLIB_CORE_INSPECT_H_

#include "pylib/core/specialization.h"
#include "pylib/python.h"

namespace parakeet::pylib {

PyMethodDef* InspectionMethods();

// A dictionary about one specialization; null with an exception set. `is_last`: it was called last.
Ref RecordOf(const Specialization& entry, bool is_last);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_INSPECT_H_
