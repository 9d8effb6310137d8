// Calls of routines of other libraries.
#include "ir/diagnostics.h"
#include "ir/interpreter_machine.h"
#include "ir/library_routines.h"

namespace parakeet::ir {
namespace {

bool IsDense(const ArrayValue& array) {
  if (CountOf(array.sizes) == 0) return true;
  int64_t stride = SizeInBytes(array.dtype);
  for (size_t axis = array.sizes.size(); axis-- > 0;) {
    if (array.sizes[axis] > 1 && array.strides[axis] != stride) return false;
    stride *= array.sizes[axis];
  }
  return true;
}

}  // namespace

void Machine::AppendOperand(const Step& step, size_t operand, std::vector<uint64_t>& words) const {
  const int slot = step.operands[operand];
  if (!TypeOf(step.binding->operands[operand]).IsArray()) {
    words.push_back(static_cast<uint64_t>(IntAt(slot)));
    return;
  }
  const ArrayValue& array = ArrayAt(slot);
  if (!IsDense(array)) FailBug("a routine is given an array that is not dense", step.binding->span);
  words.push_back(reinterpret_cast<uint64_t>(array.data));
  words.push_back(static_cast<uint64_t>(CountOf(array.sizes)));
}

void Machine::LibraryCall(const Step& step) {
  // There is no device: what its library would do is done otherwise.
  if (RoutineOf(*step.binding).library == RoutineLibrary::kDevice)
    return Set(step, 0, Constant::Int(1));
  if (!library_) FailBug("there is no library to call", step.binding->span);
  const Routine& routine = RoutineOf(*step.binding);
  std::vector<uint64_t> words;
  for (size_t i = 0; i < routine.size(); ++i) AppendOperand(step, i, words);
  const std::string symbol = SymbolOf(routine, DTypeOf(routine, *step.binding));
  Set(step, 0, Constant::Int(library_(symbol, SignatureOf(routine), words)));
}

}  // namespace parakeet::ir
