// Reads before a loop what each of its iterations reads in lanes from the same place.
//
// Before:
//   for %i in 0 to %n step 1 { %a: f64x8 = load_lanes %w[0, 1], %mask {axis = 0, masked = 1}  ... }
// After:
//   %some = lt 0, %n
//   %b: f64x8 = if %some { %a: f64x8 = load_lanes %w[0, 1], %mask {axis = 0, masked = 1}  yield
//   %a } else { %z: f64x8 = splat 0.0  yield %z }
//   for %i in 0 to %n step 1 { ... }
//
// A column of a small matrix is gathered once, where rows of a few elements are lanes.
//
// Assumes: scheduled form, behind vectorize-loops. Loads of one element are LLVM's to move.
// Refuses: what the loop may store to; what is read behind something that may raise or that leaves
// the loop; more than kMostLoads of a loop, which would not stay in registers.
#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/lowering/loop_counts.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kMostLoads = 8;

class LoadHoister : public ir::Mutator {
 public:
  LoadHoister(ir::Arena* arena, const ir::Function& function) : Mutator(arena), roots_(function) {}

 protected:
  // Inner loops first: what leaves them is in a branch, and stays there.
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    const bool in_order = b->op == OpCode::kFor && b->attrs.Text(Attr::kKind).empty();
    builder().Append(in_order ? Hoist(*rewritten) : rewritten);
  }

 private:
  const Binding* Hoist(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const size_t before = builder().bindings().size();
    ir::VarSet inside = ir::DefinedVars(body);
    const ir::VarSet writes = EffectsOf(body, roots_).writes;
    Block rest = body;
    rest.bindings.clear();
    int loads = 0;
    bool first = true;  // Every iteration gets here.
    for (const Binding* b : body.bindings) {
      first = first && !EffectsOf(*b, roots_).may_fail;
      const bool moves_along = b->op == OpCode::kSplat || b->op == OpCode::kIota ||
                               (ir::IsScalarOp(b->op) && b->results.size() == 1);
      if (moves_along && IsInvariant(*b, inside)) {
        inside.erase(b->result());
        builder().Append(b);
      } else if (b->op == OpCode::kLoadLanes && first && loads < kMostLoads &&
                 IsInvariant(*b, inside) && !Intersects(roots_.Of(b->operands[0].var()), writes)) {
        ++loads;
        Replace(b->result(), LoadBefore(loop, *b));
      } else {
        rest.bindings.push_back(b);
      }
    }
    if (loads == 0) {
      builder().bindings().resize(before);
      return &loop;
    }
    Binding copy = loop;
    copy.blocks = {arena()->New(std::move(rest))};
    return Rewrite(arena()->New(std::move(copy)));
  }

  static bool IsInvariant(const Binding& b, const ir::VarSet& inside) {
    return std::none_of(b.operands.begin(), b.operands.end(),
                        [&](const Operand& operand) { return inside.contains(operand.var()); });
  }

  Operand LoadBefore(const Binding& loop, const Binding& load) {
    const Operand runs = RunsAtAll(builder(), loop);
    const ir::Type type = load.result()->type;
    ir::Builder some = builder().Nested(), none = builder().Nested();
    const Operand value =
        some.EmitOne(OpCode::kLoadLanes, type, load.operands, load.attrs, {}, load.result()->hint);
    const Operand zero = none.EmitOne(OpCode::kSplat, type, {ir::ZeroOf(type.dtype())});
    return builder().EmitOne(OpCode::kIf, type, {runs}, {},
                             {some.Finish({}, {value}), none.Finish({}, {zero})},
                             load.result()->hint);
  }

  const Roots roots_;
};

}  // namespace

ir::Program HoistLoads(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LoadHoister(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
