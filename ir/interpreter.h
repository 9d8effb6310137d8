#ifndef PARAKEET_IR_INTERPRETER_H_
#define PARAKEET_IR_INTERPRETER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/array_value.h"
#include "ir/node.h"

namespace parakeet::ir {

// One value a lane.
struct VectorValue {
  DType dtype = DType::kF64;
  std::vector<Constant> lanes;
};

using RuntimeValue = std::variant<Constant, ArrayValue, VectorValue>;
using Values = std::vector<RuntimeValue>;

// Sites of errors that no check of the program raises; a program's own are >= 0. Each has one
// scalar: the bytes asked for (-1 beyond 63 bits) of MemoryError, the depth of RecursionError.
constexpr int64_t kMemorySite = -1;
constexpr int64_t kRecursionSite = -2;

// How many calls may be open at once.
constexpr int kRecursionLimit = 1000;

// A check that failed: its site, its place in program order, and the scalars of its message.
struct RunError {
  int64_t site = 0;
  std::vector<int64_t> place;
  std::vector<Constant> scalars;
};

// What a function returned, or the error that ended the run. What it had stored before stays
// stored.
struct RunResult {
  Values values;
  std::optional<RunError> error;
};

// Calls a routine of another library: its symbol, its signature, and its operands, all as
// pk_library_call of runtime/abi.h has them. Gives the routine's status.
using CallLibrary = std::function<int64_t(const std::string& symbol, const std::string& signature,
                                          const std::vector<uint64_t>& operands)>;

// Runs a function of a program of any stage: the meaning of the IR, slow and obvious. Everything
// runs in program order and in the order of indexes, so the first check that fails is the one
// reported; reductions follow their tree (ir/reduction_tree.h). Arguments must have the parameters'
// dtypes, ranks and sizes; sizes that the parameters' types name are bound from them. An array that
// comes back as a view of an argument, or as the argument, has its storage and points into its
// data. Throws a Bug where the program is not valid: an access out of range, a size that its type
// contradicts, an operation on what it does not take, a library_call where there is no `library`.
RunResult Interpret(const Program& program, std::string_view function, Values arguments,
                    const CallLibrary& library = {});

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_INTERPRETER_H_
