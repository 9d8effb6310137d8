// Carries the element at a place that a loop carries and chooses, instead of reading it again.
//
// Before:
//   %at = for %i in %lo to %hi step 1 (%at.1 = %k) {
//     %a = load %x[%i]
//     %b = load %x[%at.1]
//     %c = gt %a, %b
//     %at.2 = if %c { yield %i } else { yield %at.1 }
//     yield %at.2 }
// After:
//   %runs = lt %lo, %hi
//   %first = if %runs { %e = load %x[%k]  yield %e } else { yield 0.0 }
//   %at, %last = for %i in %lo to %hi step 1 (%at.1 = %k, %b = %first) {
//     %a = load %x[%i]
//     %c = gt %a, %b
//     %at.2, %kept = if %c { yield %i, %a } else { yield %at.1, %b }
//     yield %at.2, %kept }
// which parallelize_loops then sees to be an extreme and its place; and a loop in order waits for
// no load.
//
// Assumes: index form; checks that are left are there for a reason.
// Refuses: arrays that the loop stores to; places that are chosen without their element being read
// beside; loads that a check or a branch stands in front of, or at places of which more than one
// number is carried.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class Carrier : public ir::Mutator {
 public:
  Carrier(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context), roots_(function) {}

 protected:
  void Visit(const Binding* b) override {
    while (b->op == OpCode::kFor) {
      const std::optional<Reading> found = FindReading(*b);
      if (!found) break;
      context_.Note(b->span, "carries what it would read at a place that it keeps", Topic::kOther,
                    Verdict::kDone);
      b = Carry(*b, *found);
    }
    Mutator::Visit(b);
  }

 private:
  struct Reading {
    const Binding* load;
    size_t carried;         // The number of the place among what the loop carries.
    const Binding* choice;  // An `if` or select that keeps the place or takes another.
    bool keeps_first;       // The place is what the choice yields where its condition holds.
    Operand other;          // The element at the other place.
  };

  std::optional<Reading> FindReading(const Binding& loop) const {
    const Block& body = *loop.blocks[0];
    const ir::VarSet inside = ir::DefinedVars(body);
    const ir::VarSet written = EffectsOf(body, roots_).writes;
    for (const Binding* load : body.bindings) {
      if (EffectsOf(*load, roots_).may_fail) return std::nullopt;
      if (load->op != OpCode::kLoad || inside.contains(load->operands[0].var()) ||
          Intersects(roots_.Of(load->operands[0].var()), written))
        continue;
      const std::optional<size_t> axis = AxisInside(*load, inside);
      if (!axis) continue;
      for (size_t k = 0; k < loop.results.size(); ++k) {
        if (load->operands[*axis] != Operand(body.params[1 + k])) continue;
        if (auto reading = ReadingAt(body, *load, *axis, k)) return reading;
      }
    }
    return std::nullopt;
  }

  // The one operand that is a value of the loop's.
  static std::optional<size_t> AxisInside(const Binding& load, const ir::VarSet& inside) {
    std::optional<size_t> axis;
    for (size_t k = 1; k < load.operands.size(); ++k) {
      if (!load.operands[k].IsVar() || !inside.contains(load.operands[k].var())) continue;
      if (axis) return std::nullopt;
      axis = k;
    }
    return axis;
  }

  static std::optional<Reading> ReadingAt(const Block& body, const Binding& load, size_t axis,
                                          size_t carried) {
    const Operand place(body.params[1 + carried]), next = body.results[carried];
    for (const Binding* b : body.bindings) {
      const auto result = std::find(b->results.begin(), b->results.end(), next.var());
      if (next.IsVar() && result != b->results.end()) {
        if (b->op != OpCode::kIf && b->op != OpCode::kSelect) return std::nullopt;
        const size_t r = result - b->results.begin();
        const bool is_if = b->op == OpCode::kIf;
        const Operand sides[2] = {is_if ? b->blocks[0]->results[r] : b->operands[1],
                                  is_if ? b->blocks[1]->results[r] : b->operands[2]};
        if ((sides[0] == place) == (sides[1] == place)) return std::nullopt;
        const bool keeps_first = sides[0] == place;
        const auto element = ElementAt(body, *b, load, axis, sides[keeps_first]);
        if (!element) return std::nullopt;
        return Reading{&load, carried, b, keeps_first, *element};
      }
    }
    return std::nullopt;
  }

  // What has been read, in front of the choice, where the load would read at `place`.
  static std::optional<Operand> ElementAt(const Block& body, const Binding& choice,
                                          const Binding& load, size_t axis, const Operand& place) {
    std::vector<Operand> wanted = load.operands;
    wanted[axis] = place;
    for (const Binding* b : body.bindings) {
      if (b == &choice) break;
      if (b->op == OpCode::kLoad && b->operands == wanted) return Operand(b->result());
    }
    return std::nullopt;
  }

  const Binding* Carry(const Binding& loop, const Reading& reading) {
    const Block& old = *loop.blocks[0];
    const Var* element = reading.load->result();
    Binding carrying = loop;
    Block body = old;
    std::erase(body.bindings, reading.load);
    body.params.push_back(element);
    carrying.operands.push_back(First(loop, reading));
    carrying.results.push_back(builder().NewVar(element->type, "last"));
    const Var* kept = builder().NewVar(element->type, element->hint);
    body.results.push_back(Operand(kept));
    const auto at = std::find(body.bindings.begin(), body.bindings.end(), reading.choice);
    if (reading.choice->op == OpCode::kIf) {
      Binding choice = *reading.choice;
      choice.results.push_back(kept);
      for (size_t side = 0; side < 2; ++side) {
        Block block = *choice.blocks[side];
        block.results.push_back((side == 0) == reading.keeps_first ? Operand(element)
                                                                   : reading.other);
        choice.blocks[side] = arena()->New(std::move(block));
      }
      *at = arena()->New(std::move(choice));
    } else {
      const Operand sides[2] = {reading.keeps_first ? Operand(element) : reading.other,
                                reading.keeps_first ? reading.other : Operand(element)};
      const Binding select{
          OpCode::kSelect,     {kept}, {reading.choice->operands[0], sides[0], sides[1]}, {}, {},
          reading.choice->span};
      body.bindings.insert(at + 1, arena()->New(select));
    }
    carrying.blocks = {arena()->New(std::move(body))};
    return arena()->New(std::move(carrying));
  }

  // The element where the loop begins, if it does.
  Operand First(const Binding& loop, const Reading& reading) {
    const bool rises = loop.operands[2].constant().integer > 0;
    const Operand lo = Apply(loop.operands[0]), hi = Apply(loop.operands[1]);
    const Operand runs = builder().Scalar(rises ? OpCode::kLt : OpCode::kGt, {lo, hi});
    std::vector<Operand> index;
    for (size_t k = 1; k < reading.load->operands.size(); ++k) {
      const Operand& place = reading.load->operands[k];
      const bool is_carried = place == Operand(loop.blocks[0]->params[1 + reading.carried]);
      index.push_back(Apply(is_carried ? loop.operands[3 + reading.carried] : place));
    }
    ir::Builder inner = builder().Nested();
    const Operand value = inner.Load(Apply(reading.load->operands[0]), index);
    const Block* none = builder().Nested().Finish(
        {}, {Operand(ir::ZeroOf(ir::DTypeOf(reading.load->operands[0])))});
    return builder().EmitOne(OpCode::kIf, reading.load->result()->type, {runs}, {},
                             {inner.Finish({}, {value}), none}, "first");
  }

  Context& context_;
  const Roots roots_;
};

}  // namespace

ir::Program CarryChosen(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Carrier(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
