// Names the sum over k of a[..k..] * b[..k..], under any two operations, as one `contract`.
//
// Before:
//   imap (%i, %j) in (%n, %m) { %s = ireduce (%k) in (%l) add from 0.0 { load %X[%i, %k]  load
//   %Y[%k, %j]  mul  yield }  yield %s }
// After:
//   contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { load %X[%i, %k]  load %Y[%k,
//   %j]  mul  yield }
// with what the map makes of the sum as its block `then`.
//
// Assumes: index form after fusion; index structure alone is looked at, never how the user spelled
// it.
// Refuses: a matrix times a vector, and whatever else has no two operands that each follow a free
// index which the other does not (only then is either used again while it is in registers); a
// computed index, as that of a window; an element with control flow, stores or
// checks; several or array accumulators; more than scalar code and loads beside the reduction.
#include "ir/mutator.h"
#include "passes/analyses/find_contractions.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::OpCode;

class ContractionFinder : public ir::Mutator {
 public:
  ContractionFinder(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    const Binding* reduction = b->op == OpCode::kImap ? ReductionIn(*rewritten) : nullptr;
    if (reduction != nullptr) {
      const std::string reason = WhyNoContraction(*rewritten, *reduction);
      if (reason.empty()) {
        rewritten = ContractionOf(arena(), *rewritten, *reduction);
        context_.Note(b->span, "recognised as a contraction", Topic::kContraction, Verdict::kDone);
      } else {
        // What uses nothing again never looked like one.
        context_.Note(b->span, "not a contraction: " + reason, Topic::kContraction,
                      ReusesOperands(*rewritten, *reduction) ? Verdict::kRefused : Verdict::kAside);
      }
    }
    builder().Append(rewritten);
  }

 private:
  Context& context_;
};

}  // namespace

ir::Program RecognizeContractions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ContractionFinder(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
