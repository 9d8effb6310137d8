#ifndef PARAKEET_IR_LIBRARY_ROUTINES_H_
#define PARAKEET_IR_LIBRARY_ROUTINES_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "ir/node.h"

namespace parakeet::ir {

enum class RoutineLibrary : uint8_t { kNumPy, kLapack, kDevice };

// One row of library_routines.def.
struct Routine {
  const char* name;
  RoutineLibrary library;
  const char* symbol;
  const char* operands;
  const char* doc;

  size_t size() const { return std::string_view(operands).size(); }
  bool IsArray(size_t operand) const {
    return operands[operand] != 'n' && operands[operand] != 'u';
  }
  bool IsWritten(size_t operand) const;
  // The dtype of an array operand where the routine is that for `dtype`.
  DType DTypeOf(size_t operand, DType dtype) const;
};

// Null where there is none of that name.
const Routine* FindRoutine(std::string_view name);
// The routine that a library_call names, if it has as many operands; else null.
const Routine* TryRoutineOf(const Binding& library_call);
// The same; throws a Bug where there is none.
const Routine& RoutineOf(const Binding& library_call);
// The dtype that a call is for: that of its first array.
DType DTypeOf(const Routine& routine, const Binding& library_call);

// What compiled code imports it by (runtime/abi.h), "pk_numpy_sort_f64"; one name of a device's for
// all dtypes. Empty where the library has none for the dtype.
std::string SymbolOf(const Routine& routine, DType dtype);
// How pk_library_call is told of it: a letter for the library, S or L, then those of the operands.
std::string SignatureOf(const Routine& routine);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_LIBRARY_ROUTINES_H_
