// Makes in front of a loop an array that every iteration makes, of one size, and leaves behind. A
// size that each iteration computes of what is the same moves with it.
//
// Before:
//   for %i in %lo to %hi step 1 {
//     %a: [m]f64 = alloc (%m)  ...  store %y[%i], %v }
// After:
//   %runs = lt %lo, %hi
//   if %runs {
//     %a: [m]f64 = alloc (%m)
//     for %i in %lo to %hi step 1 { ...  store %y[%i], %v } }
//
// A window that is sorted for each element: `buf = np.empty(w)` in a loop. In a loop over threads'
// parts each part has one of its own.
//
// Assumes: scheduled IR, before plan-memory, which gives it back behind the loop. An array that is
// made has undefined elements.
// Refuses: loops over threads; what leaves the iteration; sizes that may be negative where a check
// comes first; bodies with other arrays that do not live beside it, since all together would be
// larger than each in its time; loops that carry arrays and may not run.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
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

bool MakesArraysInLoops(const Block& body) {
  bool makes = false;
  ir::ForEachBinding(body, [&](const Binding& b) {
    makes |= b.op == OpCode::kFor && HoldsOp(*b.blocks[0], OpCode::kAlloc);
  });
  return makes;
}

class ArrayHoister : public ir::Mutator {
 public:
  ArrayHoister(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function), sizes_(function.Sizes()) {}

 protected:
  // Inner loops first: what leaves them may then leave this one.
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    if (b->op != OpCode::kFor || !b->attrs.Text(Attr::kKind).empty())
      return builder().Append(rewritten);
    const std::vector<const Binding*> moving = MovingOf(*rewritten);
    moving.empty() ? builder().Append(rewritten) : Write(*rewritten, moving);
  }

 private:
  std::vector<const Binding*> MovingOf(const Binding& loop) const {
    const Block& body = *loop.blocks[0];
    const bool carries_arrays =
        std::any_of(loop.results.begin(), loop.results.end(),
                    [](const Var* result) { return result->type.IsArray(); });
    if (carries_arrays && !SurelyRuns(loop)) return {};
    const auto is_alloc = [](const Binding* b) { return b->op == OpCode::kAlloc; };
    if (std::none_of(body.bindings.begin(), body.bindings.end(), is_alloc)) return {};
    std::vector<const Binding*> moving;
    ir::VarSet inside = ir::DefinedVars(body);
    std::vector<const Binding*> scalars;  // that are the same in every iteration
    bool may_have_failed = false;
    size_t last_begin = 0, first_end = body.bindings.size();
    for (size_t at = 0; at < body.bindings.size(); ++at) {
      const Binding& b = *body.bindings[at];
      if (b.op == OpCode::kAlloc) {
        if (!IsSame(b, inside, may_have_failed) || Leaves(*b.result(), body)) return {};
        moving.push_back(&b);
        last_begin = at;
        first_end = std::min(first_end, LastUseOf(b.result(), body));
      } else if (MakesArrays(b)) {
        last_begin = at;
      } else if (ir::IsScalarOp(b.op) && !ReadsAnyOf(b, inside)) {
        scalars.push_back(&b);
        inside.erase(b.result());
      }
      may_have_failed = may_have_failed || EffectsOf(b, roots_).may_fail;
    }
    return last_begin <= first_end ? WithSizes(moving, scalars) : std::vector<const Binding*>{};
  }

  static bool ReadsAnyOf(const Binding& b, const ir::VarSet& values) {
    return std::any_of(b.operands.begin(), b.operands.end(), [&](const Operand& operand) {
      return operand.IsVar() && values.contains(operand.var());
    });
  }

  // The arrays, behind what of the scalars their sizes are made of.
  static std::vector<const Binding*> WithSizes(std::vector<const Binding*> moving,
                                               const std::vector<const Binding*>& scalars) {
    ir::VarSet needed;
    for (const Binding* alloc : moving) needed.merge(ir::FreeVars(*alloc));
    for (auto scalar = scalars.rbegin(); scalar != scalars.rend(); ++scalar) {
      if (!needed.contains((*scalar)->result())) continue;
      needed.merge(ir::FreeVars(**scalar));
      moving.insert(moving.begin(), *scalar);
    }
    return moving;
  }

  static bool SurelyRuns(const Binding& loop) {
    const Operand &lo = loop.operands[0], &hi = loop.operands[1];
    if (!lo.IsConstant() || !hi.IsConstant()) return false;
    const int64_t first = lo.constant().integer, end = hi.constant().integer;
    return loop.operands[2].constant().integer > 0 ? first < end : first > end;
  }

  bool IsSame(const Binding& alloc, const ir::VarSet& inside, bool may_have_failed) const {
    return std::all_of(alloc.operands.begin(), alloc.operands.end(), [&](const Operand& size) {
      if (size.IsConstant()) return true;
      if (inside.contains(size.var())) return false;
      return !may_have_failed ||
             std::find(sizes_.begin(), sizes_.end(), size.var()) != sizes_.end();
    });
  }

  bool Leaves(const Var& array, const Block& body) const {
    return std::any_of(body.results.begin(), body.results.end(),
                       [&](const Operand& result) { return IsOf(result.var(), &array); });
  }

  bool IsOf(const Var* value, const Var* array) const {
    return value != nullptr && value->type.IsArray() && roots_.Of(value).contains(array);
  }

  size_t LastUseOf(const Var* array, const Block& body) const {
    size_t last = 0;
    for (size_t at = 0; at < body.bindings.size(); ++at) {
      ir::ForEachUse(*body.bindings[at], [&](const Var* used) {
        if (IsOf(used, array)) last = at;
      });
    }
    return last;
  }

  static bool MakesArrays(const Binding& b) {
    return std::any_of(b.blocks.begin(), b.blocks.end(),
                       [](const Block* block) { return HoldsOp(*block, OpCode::kAlloc); });
  }

  void Write(const Binding& loop, const std::vector<const Binding*>& moving) {
    Binding copy = loop;
    Block body = *loop.blocks[0];
    std::erase_if(body.bindings, [&](const Binding* b) {
      return std::find(moving.begin(), moving.end(), b) != moving.end();
    });
    copy.blocks[0] = arena()->New(std::move(body));
    if (SurelyRuns(loop)) {
      for (const Binding* b : moving) builder().Append(b);
      return builder().Append(arena()->New(std::move(copy)));
    }
    ir::Builder some = builder().Nested(), none = builder().Nested();
    for (const Binding* b : moving) some.Append(b);
    std::vector<const Var*> results;
    std::vector<Operand> made;
    for (const Var* result : loop.results) {
      results.push_back(result);
      made.push_back(copy.results[made.size()] = some.NewVar(result->type, result->hint));
    }
    some.Append(arena()->New(std::move(copy)));
    const bool down = loop.operands[2].constant().integer < 0;
    const Operand runs =
        builder().Scalar(down ? OpCode::kGt : OpCode::kLt, {loop.operands[0], loop.operands[1]});
    std::vector<Operand> inits(loop.operands.begin() + 3, loop.operands.end());
    builder().Emit(OpCode::kIf, std::move(results), {runs}, {},
                   {some.Finish({}, std::move(made)), none.Finish({}, std::move(inits))});
  }

  Roots roots_;
  std::vector<const Var*> sizes_;  // Of what the function is given: never negative.
};

}  // namespace

ir::Program HoistArrays(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!MakesArraysInLoops(*function->body)) return function;
    return ArrayHoister(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
