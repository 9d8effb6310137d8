#include "tests/passes/differential.h"

#include <algorithm>
#include <utility>

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
  Follower(const ir::Program& program, const std::vector<ArgumentSet>& arguments,
           const DifferentialOptions& options, bool waits)
      : original_(program),
        before_(program),
        arguments_(arguments),
        options_(options),
        waits_(waits) {
    using enum ir::OpCode;
    loose_ =
        HoldsDType(program, ir::DType::kF32) || HoldsDType(program, ir::DType::kC64) ? 1e-4 : 1e-10;
    rules_round_ = Holds(program, {kLog, kExp, kPow});
    for (const ArgumentSet& set : arguments) {
      sets_.push_back({set.expected});
      result_.runs += sets_.back().expected.bug.empty();
    }
  }

  void See(std::string_view pass, const ir::Program& after) {
    waits_ &= pass != "choose-trees";
    if (waits_) return;
    if (after.functions == before_.functions) return;
    const bool fuses = Holds(after, {ir::OpCode::kFma});
    // A loop that adds more than once an iteration adds up what an iteration adds first.
    const bool chooses = pass == "choose-trees" || pass == "parallelize-loops" ||
                         pass == "shift-moments" || pass == "shift-column-moments" ||
                         pass == "moments-by-rows";
    const bool rounds = fuses || chooses || (rules_round_ && pass == "simplify") ||
                        (options_.kernels && pass == "lower-to-loops");
    ++changes_;
    for (size_t i = 0; i < sets_.size(); ++i) {
      sets_[i].is_due = true;
      sets_[i].rounds |= rounds;
      // A loop that is counted from here on puts its index among the places inside.
      sets_[i].moves |= pass == "count-whiles";
      if ((i + changes_) % options_.one_in == 0) Run(i, pass, after);
    }
    before_ = after;
  }

  // Runs what has not run since the program changed last.
  void Finish() {
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (sets_[i].is_due) Run(i, "the last pass", before_);
    }
  }

  void Fail(std::string_view pass, const ir::Program& after, const std::string& why) {
    result_.failure = "after " + std::string(pass) + ": " + why + "\n--- program\n" +
                      ir::Print(original_) + "--- before the pass\n" + ir::Print(before_) +
                      "--- after the pass\n" + ir::Print(after);
  }

  DifferentialResult& result() { return result_; }
  const ir::Program& before() const { return before_; }

 private:
  // Of one set of arguments: what it gave when it ran last, and what passes have done since.
  struct Set {
    Outcome expected;
    bool is_due = false;
    bool rounds = false;
    bool moves = false;
  };

  void Run(size_t i, std::string_view pass, const ir::Program& after) {
    const Set before = std::exchange(sets_[i], Set{sets_[i].expected});
    const Outcome& expected = before.expected;
    if (!expected.bug.empty() || !result_.failure.empty()) return;
    Outcome actual = RunOn(after, arguments_[i].values);
    if (GivesUp(after, actual)) {
      sets_[i].expected.bug = actual.error;  // Another program runs for these arguments.
      return;
    }
    if (options_.kernels && !actual.error.empty() && !expected.error.empty()) {
      sets_[i].expected.bug = actual.error;  // A device takes the first of all its threads meet.
      return;
    }
    const std::string difference =
        Difference(before.moves ? WithoutPlace(expected) : expected,
                   before.moves ? WithoutPlace(actual) : actual, before.rounds ? loose_ : kExactly);
    if (!difference.empty()) Fail(pass, after, difference);
    sets_[i].expected = std::move(actual);
  }

  ir::Program original_;
  ir::Program before_;
  const std::vector<ArgumentSet>& arguments_;
  DifferentialOptions options_;
  bool waits_;
  std::vector<Set> sets_;
  size_t changes_ = 0;
  double loose_ = 0.0;
  bool rules_round_ = false;
  DifferentialResult result_;
};

}  // namespace

std::vector<ArgumentSet> RunOnEach(const ir::Program& program, std::vector<ir::Values> arguments) {
  std::vector<ArgumentSet> sets;
  for (ir::Values& values : arguments) {
    Outcome expected = RunOn(program, values);
    sets.push_back({std::move(values), std::move(expected)});
  }
  return sets;
}

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
                                   const std::vector<ArgumentSet>& arguments,
                                   const DifferentialOptions& options) {
  const bool chooses = std::find(passes.begin(), passes.end(), "choose-trees") != passes.end();
  Follower follower(program, arguments, options, options.kernels && chooses);
  passes::Context context;
  context.options.kernels = options.kernels;
  context.options.short_sides = context.options.few_rows = true;  // Arguments are small.
  context.options.vector_bytes = options.vector_bytes;
  context.options.one_thread = options.one_thread;
  passes::RunOptions run;
  run.after_pass = [&](std::string_view pass, const ir::Program& after) {
    if (follower.result().failure.empty()) follower.See(pass, after);
  };
  try {
    passes::RunPipeline(program, stage, passes, context, run);
    follower.Finish();
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
