// Looks at all checks of a loop before it runs, where nothing but them keeps its iterations from
// running in any order: its stores are known outside, and those behind an error would show.
//
// Before:
//   for %i in 0 to %n step 1 {
//     %k = load %idx[%i]  %ok = lt %k, %m  check %ok, site 0 with (%k, %m)
//     %a = load %x[%k]  store %y[%i], %a }
// After:
//   %all: bool = for %i in 0 to %n step 1 (%before: bool = true) {
//     %k = load %idx[%i]  %ok = lt %k, %m  %both = and %before, %ok  yield %both }
//   if %all {
//     for %i in 0 to %n step 1 { %k = load %idx[%i]  %a = load %x[%k]  store %y[%i], %a }
//   } else {
//     for serial %i in 0 to %n step 1 { ... as it was ... }
//   } {likely = 1}
//
// What is left is a reduction, and a loop of independent iterations without checks, which has lanes
// where the checks had kept it from having them. One that fails runs as written, and raises.
//
// Assumes: index form; right before parallelize-loops, whose question it asks; bounds proven first.
// Refuses: loops whose iterations depend on one another, or that carry values; checks of what the
// loop stores or carries, of elements of arrays that it makes, or within `while` loops.
#include "ir/mutator.h"
#include "passes/analyses/loop_independence.h"
#include "passes/lowering/checks_alone.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/serial_loops.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;

class CheckFirstWriter : public ir::Mutator {
 public:
  CheckFirstWriter(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), independence_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_kept_by_checks =
        b->op == OpCode::kFor && b->attrs.Text(Attr::kKind).empty() && b->results.empty() &&
        independence_.ShownBehindErrors(*b) != nullptr && independence_.WhyDependent(*b).empty();
    if (!is_kept_by_checks) return Mutator::Visit(b);
    const ChecksAlone checks(*b, independence_.roots());
    if (!checks.is_possible()) return Mutator::Visit(b);
    context_.Note(b->span, "its checks are made first", Topic::kThreads, Verdict::kDone);
    const Operand all = checks.Write(builder());
    Binding unchecked = *b;
    unchecked.blocks = {checks.Unchecked(arena())};
    ir::Builder then = builder().Nested(), otherwise = builder().Nested();
    then.Append(arena()->New(std::move(unchecked)));
    otherwise.Append(SerialLoops(arena()).Turn(*b));
    builder().Emit(OpCode::kIf, {}, {all}, {{Attr::kLikely, int64_t{1}}},
                   {then.Finish({}, {}), otherwise.Finish({}, {})});
  }

 private:
  const LoopIndependence independence_;
  Context& context_;
};

}  // namespace

ir::Program CheckFirst(const ir::Program& program, Context& context) {
  ir::Arena* arena = program.arena.get();
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* counted = CountLoops(arena, function);
    return CheckFirstWriter(arena, *counted, context).Run(counted);
  });
}

}  // namespace parakeet::passes
