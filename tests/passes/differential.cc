#include "tests/passes/differential.h"

#include <algorithm>

#include "ir/diagnostics.h"
#include "ir/printer.h"
#include "ir/uses.h"
#include "passes/other_shapes.h"
#include "passes/pass_manager.h"
#include "passes/pipelines.h"

namespace parakeet {
namespace {

bool Holds(const ir::Program& program, const std::vector<ir::OpCode>& ops) {
  bool found = false;
  for (const ir::Function* function : program.functions) {
    ir::ForEachBinding(*function->body, [&](const ir::Binding& b) {
      found = found || std::find(ops.begin(), ops.end(), b.op) != ops.end();
    });
  }
  return found;
}

bool HoldsDType(const ir::Program& program, ir::DType dtype) {
  bool found = false;
  for (const ir::Function* function : program.functions) {
    ir::ForEachBinding(*function->body, [&](const ir::Binding& b) {
      for (const ir::Var* result : b.results) found = found || result->type.dtype() == dtype;
    });
  }
  return found;
}

// Whether the arguments have other shapes than the program takes them to have.
bool GivesUp(const ir::Program& program, const Outcome& outcome) {
  for (size_t site = 0; site < program.sites.size(); ++site) {
    const bool is_guard = passes::IsGuard(program.sites[site].exception);
    if (is_guard && outcome.error.starts_with("site " + std::to_string(site) + " ")) return true;
  }
  return false;
}

// Without the place of its error, as "site 0 with (3,2,)".
Outcome WithoutPlace(Outcome outcome) {
  const size_t from = outcome.error.find(" at ("), to = outcome.error.find(") with");
  if (from != std::string::npos && to != std::string::npos)
    outcome.error.erase(from, to + 1 - from);
  return outcome;
}

// Follows one program through its passes.
class Follower {
 public:
  Follower(const ir::Program& program, const std::vector<ir::Values>& arguments, bool kernels,
           bool waits)
      : original_(program),
        before_(program),
        arguments_(arguments),
        kernels_(kernels),
        waits_(waits) {
    using enum ir::OpCode;
    loose_ =
        HoldsDType(program, ir::DType::kF32) || HoldsDType(program, ir::DType::kC64) ? 1e-4 : 1e-10;
    rules_round_ = Holds(program, {kLog, kExp, kPow});
    for (const ir::Values& values : arguments) {
      expected_.push_back(RunOn(program, values));
      result_.runs += expected_.back().bug.empty();
    }
  }

  void See(std::string_view pass, const ir::Program& after) {
    waits_ &= pass != "choose-trees";
    if (waits_) return;
    const bool changed = after.functions != before_.functions;
    const bool fuses = Holds(after, {ir::OpCode::kFma});
    // A loop that adds more than once an iteration adds up what an iteration adds first.
    const bool chooses = pass == "choose-trees" || pass == "parallelize-loops" ||
                         pass == "shift-moments" || pass == "shift-column-moments";
    const bool rounds = fuses || chooses || (rules_round_ && pass == "simplify") ||
                        (kernels_ && pass == "lower-to-loops");
    for (size_t i = 0; changed && i < arguments_.size() && result_.failure.empty(); ++i) {
      if (!expected_[i].bug.empty()) continue;
      Outcome actual = RunOn(after, arguments_[i]);
      if (GivesUp(after, actual)) {
        expected_[i].bug = actual.error;  // Another program runs for these arguments.
        continue;
      }
      if (kernels_ && !actual.error.empty() && !expected_[i].error.empty()) {
        expected_[i].bug = actual.error;  // A device takes the first of all that its threads meet.
        continue;
      }
      // A loop that is counted from here on puts its index among the places inside.
      const bool moves = pass == "count-whiles";
      const std::string difference =
          Difference(moves ? WithoutPlace(expected_[i]) : expected_[i],
                     moves ? WithoutPlace(actual) : actual, rounds ? loose_ : kExactly);
      if (!difference.empty()) Fail(pass, after, difference);
      expected_[i] = std::move(actual);
    }
    before_ = after;
  }

  void Fail(std::string_view pass, const ir::Program& after, const std::string& why) {
    result_.failure = "after " + std::string(pass) + ": " + why + "\n--- program\n" +
                      ir::Print(original_) + "--- before the pass\n" + ir::Print(before_) +
                      "--- after the pass\n" + ir::Print(after);
  }

  DifferentialResult& result() { return result_; }
  const ir::Program& before() const { return before_; }

 private:
  ir::Program original_;
  ir::Program before_;
  const std::vector<ir::Values>& arguments_;
  bool kernels_;
  bool waits_;
  std::vector<Outcome> expected_;
  double loose_ = 0.0;
  bool rules_round_ = false;
  DifferentialResult result_;
};

}  // namespace

std::vector<std::string_view> PassesFrom(const std::vector<std::string_view>& pipeline,
                                         ir::Stage stage) {
  auto first = pipeline.begin();
  if (stage == ir::Stage::kIndexed)
    first = std::find(pipeline.begin(), pipeline.end(), "express-by-index");
  if (stage == ir::Stage::kScheduled)
    first = std::find(pipeline.begin(), pipeline.end(), "lower-to-loops");
  if (stage != ir::Stage::kParallel) ++first;
  return {first, pipeline.end()};
}

DifferentialResult RunDifferential(const ir::Program& program, ir::Stage stage,
                                   const std::vector<std::string_view>& passes,
                                   const std::vector<ir::Values>& arguments, bool kernels) {
  const bool chooses = std::find(passes.begin(), passes.end(), "choose-trees") != passes.end();
  Follower follower(program, arguments, kernels, kernels && chooses);
  passes::Context context;
  context.options.kernels = kernels;
  context.options.short_sides = true;  // Arguments are small.
  passes::RunOptions options;
  options.after_pass = [&](std::string_view pass, const ir::Program& after) {
    if (follower.result().failure.empty()) follower.See(pass, after);
  };
  try {
    passes::RunPipeline(program, stage, passes, context, options);
  } catch (const ir::Failure& failure) {
    if (follower.result().failure.empty()) {
      follower.Fail(context.running, follower.before(), failure.what());
    }
  } catch (const std::exception& error) {
    follower.Fail(context.running, follower.before(), error.what());
  }
  return follower.result();
}

}  // namespace parakeet
