// From the result slots of a call to the Python objects that it returns.
#ifndef PARAKEET_PYLIB_CORE_RESULTS_H_
#define PARAKEET_PYLIB_CORE_RESULTS_H_

#include <cstdint>

#include "pylib/core/arguments.h"
#include "pylib/manifest.h"
#include "pylib/python.h"
#include "runtime/call.h"

namespace parakeet::pylib {

// A new reference, or null with an exception set. Arrays over fresh buffers own them; a view of an
// argument has the argument as its base; an argument that comes back unchanged is the same object.
// Buffers that no array took over stay on the call's list.
// `arguments` are the arrays among the leaves, in their order.
inline PyObject* BuildResult(const Manifest& manifest, const ArrayArgument* arguments,
                             runtime::Call* call, const uint64_t* slots);

// The scalar of a type whose value is in slots, as Python's or as NumPy's.
PyObject* BuildScalar(int type, bool python, const uint64_t* slots);

// What a call without fresh memory of the host needs, of an array among the results; null with an
// exception set. A view of an argument, or the argument itself where it comes back unchanged:
PyObject* BuildArgumentView(const ResultNode& node, const ArrayArgument& argument,
                            const uint64_t* slots);
// Whether it is the whole argument.
bool IsWholeArgument(const ResultNode& node, const ArrayArgument& argument, const uint64_t* slots);
// An array at the address that the slots say, which keeps `base` alive.
PyObject* BuildViewOf(const ResultNode& node, const uint64_t* slots, PyObject* base);

// A read-only array without axes at an address, which keeps `base` alive.
PyObject* BuildNumberAt(void* address, int type, PyObject* base);

// ---------------------------------------------------------------------------------------------

// Where the result is more than one scalar.
PyObject* BuildResults(const Manifest& manifest, const ArrayArgument* arguments,
                       runtime::Call* call, const uint64_t* slots);

inline PyObject* BuildResult(const Manifest& manifest, const ArrayArgument* arguments,
                             runtime::Call* call, const uint64_t* slots) {
  const ResultNode& first = manifest.results.front();
  if (first.kind == ResultKind::kScalar) {
    return BuildScalar(first.type, first.python, slots + first.slot);
  }
  return BuildResults(manifest, arguments, call, slots);
}

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_RESULTS_H_
