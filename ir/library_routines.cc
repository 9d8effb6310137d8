#include "ir/library_routines.h"

#include <algorithm>
#include <iterator>

#include "ir/diagnostics.h"

namespace parakeet::ir {
namespace {

constexpr Routine kRoutines[] = {
#define PARAKEET_ROUTINE(name, library, symbol, operands, doc) \
  {name, RoutineLibrary::k##library, symbol, operands, doc},
#include "ir/library_routines.def"
};

constexpr RoutineLibrary kLapack = RoutineLibrary::kLapack;

// LAPACK's letter for a dtype, or 0.
char LapackLetter(DType dtype) {
  switch (dtype) {
    case DType::kF32: return 's';
    case DType::kF64: return 'd';
    case DType::kC64: return 'c';
    case DType::kC128: return 'z';
    default: return 0;
  }
}

}  // namespace

bool Routine::IsWritten(size_t operand) const {
  return operands[operand] >= 'A' && operands[operand] <= 'Z';
}

DType Routine::DTypeOf(size_t operand, DType dtype) const {
  switch (operands[operand]) {
    case 't':
    case 'T':
    case 'v':
    case 'V': return dtype;
    case 'r':
    case 'R': return IsComplex(dtype) ? PartOf(dtype) : dtype;
    case 'B': return DType::kU8;
    default: return DType::kI64;
  }
}

const Routine* FindRoutine(std::string_view name) {
  const Routine* found = std::find_if(std::begin(kRoutines), std::end(kRoutines),
                                      [&](const Routine& row) { return row.name == name; });
  return found == std::end(kRoutines) ? nullptr : found;
}

const Routine* TryRoutineOf(const Binding& library_call) {
  for (const auto& [attr, value] : library_call.attrs.entries()) {
    const auto* name = std::get_if<std::string>(&value);
    const Routine* routine =
        attr == Attr::kCallee && name != nullptr ? FindRoutine(*name) : nullptr;
    if (routine != nullptr && routine->size() == library_call.operands.size()) return routine;
  }
  return nullptr;
}

const Routine& RoutineOf(const Binding& library_call) {
  const Routine* routine = TryRoutineOf(library_call);
  if (routine == nullptr) FailBug("a library_call names no routine", library_call.span);
  return *routine;
}

DType DTypeOf(const Routine& routine, const Binding& library_call) {
  for (size_t i = 0; i < routine.size(); ++i) {
    if (routine.IsArray(i)) return TypeOf(library_call.operands[i]).dtype();
  }
  FailBug(std::string(routine.name) + " takes no array", library_call.span);
}

std::string SymbolOf(const Routine& routine, DType dtype) {
  const char letter = LapackLetter(dtype);
  if (routine.library == RoutineLibrary::kDevice)
    return letter == 0 ? "" : std::string("pk_device_") + routine.symbol;
  if (routine.library != kLapack)
    return std::string("pk_numpy_") + routine.symbol + "_" + std::string(Name(dtype));
  return letter == 0 ? "" : std::string("pk_lapack_") + letter + routine.symbol;
}

std::string SignatureOf(const Routine& routine) {
  return std::string(routine.library == kLapack ? "L" : "S") + routine.operands;
}

}  // namespace parakeet::ir
