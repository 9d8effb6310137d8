#ifndef PARAKEET_PASSES_PASS_MANAGER_H_
#define PARAKEET_PASSES_PASS_MANAGER_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace parakeet::passes {

// How the manager runs a pipeline. Tests and dumps verify; a user's call does not.
struct RunOptions {
  bool verify = true;
  // Names of passes to leave out.
  std::set<std::string, std::less<>> disabled;
  // Called with each pass's name and output; empty for none.
  std::function<void(std::string_view pass, const ir::Program&)> after_pass;
};

struct PassTiming {
  std::string name;
  double ms = 0.0;
  bool changed = false;
};

struct PipelineResult {
  ir::Program program;
  ir::Stage stage = ir::Stage::kParallel;
  std::vector<PassTiming> timings;
};

// Runs the passes in order. A pass whose rows in passes.def say `parallel -> parallel` runs at
// whichever stage the program is at and keeps it. Throws a Bug that names the pass when its output
// does not verify, when a function changed under the same pointer, or when a name is unknown.
PipelineResult RunPipeline(const ir::Program& program, ir::Stage stage,
                           const std::vector<std::string_view>& pipeline, Context& context,
                           const RunOptions& options = {});

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_PASS_MANAGER_H_
