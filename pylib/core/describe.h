// A key in words, for people: "serial (float64[:, :], float, axis=None)".
#ifndef PARAKEET_PYLIB_CORE_DESCRIBE_H_
#define PARAKEET_PYLIB_CORE_DESCRIBE_H_

#include <cstdint>
#include <vector>

#include "pylib/python.h"

namespace parakeet::pylib {

// A new reference to a str: the argument types in parentheses. An axis that is `1` has length 1;
// after the axes stand F or S for a layout other than C, r for read-only, u for unaligned. A static
// argument shows its value.
PyObject* Describe(const std::vector<uint64_t>& key, const std::vector<Ref>& statics);

// The same as a list, a str for each parameter.
PyObject* DescribeEach(const std::vector<uint64_t>& key, const std::vector<Ref>& statics);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DESCRIBE_H_
