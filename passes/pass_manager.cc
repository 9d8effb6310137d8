#include "passes/pass_manager.h"

#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/diagnostics.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace parakeet::passes {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The stage after `pass` for a program at `stage`.
ir::Stage StageAfter(const Pass& pass, ir::Stage stage) {
  return pass.before == pass.after ? stage : pass.after;
}

void RequireStage(const Pass& pass, ir::Stage stage) {
  if (pass.before == pass.after || pass.before == stage) return;
  ir::FailBug("pass " + std::string(pass.name) + " takes " + std::string(Name(pass.before)) +
              " IR, not " + std::string(Name(stage)));
}

void RequireVerified(const Pass& pass, const ir::Program& program, ir::Stage stage) {
  const std::vector<std::string> problems = ir::Verify(program, stage);
  if (!problems.empty())
    ir::FailBug("after pass " + std::string(pass.name) + ": " + problems.front());
}

// The texts of functions by their pointers: what stays the same pointer must stay the same text.
using Texts = std::unordered_map<const ir::Function*, std::string>;

// Of functions that `known` has, those that it has.
Texts TextsOf(const ir::Program& program, Texts known = {}) {
  Texts texts;
  for (const ir::Function* function : program.functions) {
    const auto found = known.find(function);
    texts[function] = found == known.end() ? ir::Print(*function) : std::move(found->second);
  }
  return texts;
}

// Asked where a pass makes other functions, of those that it was given, and behind the last pass:
// most passes find nothing to do, and texts take longer than they.
void RequireHonest(std::string_view pass, const Texts& texts) {
  for (const auto& [function, text] : texts) {
    if (ir::Print(*function) == text) continue;
    ir::FailBug("pass " + std::string(pass) +
                ", or one behind the last that made a function, changed @" + function->name +
                " without making a new one");
  }
}

}  // namespace

PipelineResult RunPipeline(const ir::Program& program, ir::Stage stage,
                           const std::vector<std::string_view>& pipeline, Context& context,
                           const RunOptions& options) {
  PipelineResult result{program, stage, {}};
  Texts texts = options.verify ? TextsOf(program) : Texts();
  for (std::string_view name : pipeline) {
    const Pass* pass = FindPass(name);
    if (pass == nullptr) ir::FailBug("no pass is called " + std::string(name));
    if (options.disabled.contains(name)) continue;
    RequireStage(*pass, result.stage);
    context.running = name;
    const Clock::time_point start = Clock::now();
    ir::Program output = pass->run(result.program, context);
    const bool changed = output.functions != result.program.functions;
    result.timings.push_back({std::string(name), MillisecondsSince(start), changed});
    const ir::Stage before = std::exchange(result.stage, StageAfter(*pass, result.stage));
    // The functions of `texts` are its.
    const ir::Program given = std::exchange(result.program, std::move(output));
    if (options.verify) {
      if (changed || result.stage != before) RequireVerified(*pass, result.program, result.stage);
      if (changed) {
        RequireHonest(name, texts);
        texts = TextsOf(result.program, std::move(texts));
      }
    }
    if (options.after_pass) options.after_pass(name, result.program);
  }
  RequireHonest(context.running, texts);
  return result;
}

}  // namespace parakeet::passes
