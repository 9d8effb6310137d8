#ifndef PARAKEET_TESTS_PASSES_OUTCOME_H_
#define PARAKEET_TESTS_PASSES_OUTCOME_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ir/interpreter.h"
#include "ir/node.h"

namespace parakeet {

using Random = std::mt19937;

// What is asked of arguments: sizes are chosen among `sizes`, and `specials` puts NaNs, infinities
// and zeros of both signs among floats.
struct ArgumentOptions {
  std::vector<int64_t> sizes;
  bool specials = false;
};

// Arguments for the program's first function: of its types and layouts, strides of strided ones any
// (reversed, Fortran, every second element), the rest from `random`.
ir::Values RandomArguments(const ir::Function& function, const ArgumentOptions& options,
                           Random& random);

// Arguments of their own with the same elements and strides; arrays that share storage share it
// still.
ir::Values CopyArguments(const ir::Values& arguments);

// What a run left to see: results, what array arguments hold afterwards, and the error.
struct Outcome {
  std::string bug;  // why the program is not valid for these arguments; empty when it is
  std::vector<std::vector<ir::Constant>> values;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::vector<int64_t>> strides;  // 0 along what has fewer than two elements
  std::vector<int> owners;  // of each result, the argument or earlier result it shares memory with
  std::string error;
};

// Runs the first function on copies of the arguments.
Outcome RunOn(const ir::Program& program, const ir::Values& arguments);

// How far floats may differ: 0 for not at all, bit for bit (any NaN equals any other).
constexpr double kExactly = 0.0;

// The first thing in which the two differ, in words; empty where they agree.
std::string Difference(const Outcome& expected, const Outcome& actual, double tolerance);

}  // namespace parakeet

#endif  // PARAKEET_TESTS_PASSES_OUTCOME_H_
