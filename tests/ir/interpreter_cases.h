#ifndef PARAKEET_TESTS_IR_INTERPRETER_CASES_H_
#define PARAKEET_TESTS_IR_INTERPRETER_CASES_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/interpreter.h"

namespace parakeet::ir {

// A program, the arguments of its function @f, and what it returns or raises, as Show writes it.
struct InterpreterCase {
  std::string_view name;
  std::string_view text;
  Values arguments;
  std::string_view expected;
};

// Cases that between them run every operation of ops.def that is not a scalar operation.
std::vector<InterpreterCase> OperatorCases();
std::vector<InterpreterCase> MemoryCases();
std::vector<InterpreterCase> ControlCases();
std::vector<InterpreterCase> LaneCases();

RuntimeValue F64(double value);
RuntimeValue I64(int64_t value);
// Arrays in C order that own their memory.
ArrayValue F64Array(std::vector<int64_t> sizes, const std::vector<double>& elements);
ArrayValue I64Array(std::vector<int64_t> sizes, const std::vector<int64_t>& elements);
// 0, 1, 2, ... in i64.
ArrayValue Count(std::vector<int64_t> sizes);

// "3", "2.5", "true", "[[1 2] [3 4]]"; results separated by ", ". "error 0 at (1, 2) with (7)" for
// an error.
std::string Show(const RuntimeValue& value);
std::string Show(const RunResult& result);

// Runs @f of the program.
RunResult RunText(std::string_view text, Values arguments);

}  // namespace parakeet::ir

#endif  // PARAKEET_TESTS_IR_INTERPRETER_CASES_H_
