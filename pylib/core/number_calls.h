// Calls of numbers alone that give one number: they are done in less time than others take to be
// told apart, so they have a way of their own, with nothing in it that such a call cannot need.
#ifndef PARAKEET_PYLIB_CORE_NUMBER_CALLS_H_
#define PARAKEET_PYLIB_CORE_NUMBER_CALLS_H_

#include <cstdint>

#include "pylib/core/dispatch.h"
#include "pylib/core/expected_call.h"
#include "pylib/core/function.h"
#include "pylib/core/profile.h"
#include "pylib/core/results.h"
#include "runtime/call.h"

namespace parakeet::pylib {

// The code that the calls before let expect, where it takes these numbers, with their slots (as
// many as a DirectArguments has). Null where it does not, or where that is left open.
inline Specialization* FindForNumbers(const FunctionState& function, Target target,
                                      PyObject* const* values, uint64_t* slots) {
  const size_t expected = function.table.expected();
  Specialization* code = function.table.recent(expected);
  if (code == nullptr || !code->is_of_numbers || function.has_static) return nullptr;
  if (is_profiling.load(std::memory_order_relaxed)) return nullptr;
  if (is_timing.load(std::memory_order_relaxed)) return nullptr;
  if (!code->expected.TakeNumbers(HeaderWord(target, false), values, slots)) return nullptr;
  return code->outside.Holds() ? function.table.Took(expected) : nullptr;
}

// Runs that code, with the GIL all the while, so that nobody drops it. As Dispatch.
inline PyObject* RunForNumbers(FunctionState* function, Specialization* code, Target target,
                               PyObject* const* values, const uint64_t* slots) {
  ++code->calls;
  function->last = code;
  runtime::Call call(1);
  uint64_t result[2];
  const int32_t status = code->image->entry()(&call, slots, result);
  if (status != 0) return EndFailedCall(function, *code, target, values, call.error());
  const ResultNode& node = code->manifest.results.front();
  return BuildScalar(node.type, node.python, result);
}

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_NUMBER_CALLS_H_
