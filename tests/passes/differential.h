#ifndef PARAKEET_TESTS_PASSES_DIFFERENTIAL_H_
#define PARAKEET_TESTS_PASSES_DIFFERENTIAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/node.h"
#include "tests/passes/outcome.h"

namespace parakeet {

// The passes of a pipeline that take a program of this stage, to its end.
std::vector<std::string_view> PassesFrom(const std::vector<std::string_view>& pipeline,
                                         ir::Stage stage);

struct DifferentialOptions {
  bool kernels = false;
  // After a pass one set of arguments in so many runs, in turns; behind the last one all do.
  int one_in = 1;
  int vector_bytes = 64;  // of a register of the host
  bool one_thread = false;
};

// Arguments, and what a program gives for them before any pass.
struct ArgumentSet {
  ir::Values values;
  Outcome expected;
};

std::vector<ArgumentSet> RunOnEach(const ir::Program& program, std::vector<ir::Values> arguments);

// How the runs of one program went.
struct DifferentialResult {
  int runs = 0;         // sets of arguments for which the program is valid
  std::string failure;  // the first disagreement with program, pass and texts; empty for none
};

// Runs the program on each set of arguments after each pass; before all passes it gave what they
// say. Results, errors and stores into arguments must agree: bit for bit while no pass chooses the
// trees of reductions (within a tolerance where simplify has rules for a float operation in it),
// within a tolerance from before parallelize-loops, choose-trees or a pass of moments to after it,
// and from there bit for bit again, except for what an fma rounds once.
//
// With the option `kernels` it looks from choose-trees on only: what comes before is the CPU's. To
// the interpreter blocks and threads are plain loops, so of several errors any may come first.
// Whether a row is combined in lanes is chosen as it runs, so lower-to-loops has a tolerance.
DifferentialResult RunDifferential(const ir::Program& program, ir::Stage stage,
                                   const std::vector<std::string_view>& passes,
                                   const std::vector<ArgumentSet>& arguments,
                                   const DifferentialOptions& options = {});

}  // namespace parakeet

#endif  // PARAKEET_TESTS_PASSES_DIFFERENTIAL_H_
