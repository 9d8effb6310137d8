// Writes a `while` once for where it begins as its checks ask, so that they hold in every
// iteration, and once as it was.
//
// Before:
//   %p = while (%a = %m) { %more = gt %a, 0  ... } do (%b) {
//     %ok = lt %b, %n  check %ok, site 0 at (1)  store %x[%b], %v  %c = sub %b, 1  yield %c }
// After:
//   %fits = le %m, %last
//   %p = if %fits {likely = 1} { ... the loop, whose checks prove-bounds leaves out ... } else {
//     ... the loop ... }
//
// Places that an insertion moves down from a counter, rows of which a merge reads the ends.
//
// Assumes: index form, before prove-bounds, which decides whether the checks hold.
// Refuses: loops that hold loops, or are long; checks of what data say in every iteration.
#include <optional>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_demands.h"
#include "passes/analyses/holds_op.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kLongestVersioned = 80;  // operations

bool MayVersion(const Binding& loop) {
  int operations = 0;
  bool has_loops = false;
  for (const Block* block : loop.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& b) {
      ++operations;
      has_loops |= !b.blocks.empty() && b.op != OpCode::kIf;
    });
  }
  return !has_loops && operations <= kLongestVersioned;
}

class LoopVersioner : public ir::Mutator {
 public:
  LoopVersioner(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), finder_(function) {}

 protected:
  void Visit(const Binding* b) override {
    const bool may = b->op == OpCode::kWhile && MayVersion(*b);
    const std::optional<std::vector<LinearForm>> demands = may ? finder_.Of(*b) : std::nullopt;
    demands ? Write(*b, *demands) : Mutator::Visit(b);
  }

 private:
  void Write(const Binding& loop, const std::vector<LinearForm>& demands) {
    Operand fits = Operand::Bool(true);
    for (const LinearForm& demand : demands)
      fits = builder().Scalar(OpCode::kAnd, {fits, NotNegative(demand)});
    const Block* sides[2] = {VersionOf(loop), VersionOf(loop)};
    builder().Emit(OpCode::kIf, loop.results, {fits}, {{Attr::kLikely, int64_t{1}}},
                   {sides[0], sides[1]});
  }

  // What is subtracted is on the other side of the comparison, where nothing wraps around.
  Operand NotNegative(const LinearForm& demand) {
    LinearForm more = LinearForm::Of(demand.constant > 0 ? demand.constant : 0);
    LinearForm less = LinearForm::Of(demand.constant < 0 ? -demand.constant : 0);
    for (const auto& [var, times] : demand.terms)
      (times > 0 ? more : less).Add(LinearForm::Of(var), times > 0 ? times : -times);
    return builder().Scalar(OpCode::kGe, {ValueOf(more), ValueOf(less)});
  }

  Operand ValueOf(const LinearForm& form) {
    return Written(builder(), form, [&](const Var* var) { return Apply(Operand(var)); });
  }

  const Block* VersionOf(const Binding& loop) {
    const Binding* copy = Rewrite(&loop);
    std::vector<Operand> results(copy->results.begin(), copy->results.end());
    return ir::CloneBlock(arena(), Block{{}, {copy}, std::move(results)});
  }

  DemandFinder finder_;
};

}  // namespace

ir::Program VersionLoops(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!HoldsOp(*function->body, OpCode::kWhile)) return function;
    return LoopVersioner(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
