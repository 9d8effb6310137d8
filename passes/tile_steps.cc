// Goes through several steps of a time loop at once, some rows at a time, so that what a step makes
// is in cache where the next one reads it, and threads wait for each other once for all of them.
//
// Before:
//   for %t in 0 to %steps step 1 {
//     foreach (%i, %j) in (%h, %w) { %p = add 1, %i  ... load %u[%p, %j], %u[%i, %j], ...
//       store %v[%p, %j], %s }
//     foreach (%k, %l) in (%h, %w) { ... the same of %v, to %u } }
// After:
//   for %g in 0 to %groups step 1 {
//     for %phase in 0 to 2 step 1 {
//       foreach (%band) in (%bands - %phase) {cost = ...} {
//         %lo, %hi = the band's rows; in the second phase the row where the next band begins
//         for %s in 0 to %many step 1 {
//           foreach (%i, %j) in (the band's rows, %s * 2 further in, or out, %w) { ... }
//           foreach (%k, %l) in (its rows, %s * 2 + 1 further in, or out, %w) { ... } } } }
//   for %t in %done to %steps step 1 { ... as before ... }
//
// In the first phase each nest leaves out the rows of a band beside others that it would need more
// of: the part that is done becomes narrower from nest to nest. The second phase does what is
// left out between two bands, which becomes wider. No element is made twice, and each is made of
// what it was made of before, so no bits change.
//
// Of arrays that take turns, so many steps are written that all are back where they were. Those
// that are left, and all where the bands would be few, the arrays are in cache as they are, there
// is little to do, or a check of the steps would fail, are done as before.
//
// Where rows are rolled, or borders are periodic, the bands are a ring, and the last and the first
// have something between them too.
//
// Arrays that steps make, as where a step's result is named as its argument was, have the memory of
// those that have ended; what the loop begins with is copied first. Numbers that are carried are
// made for all steps before.
//
// Assumes: index form; no nest is written as lines yet.
// Refuses: steps that hold more than nests and arithmetic, carry numbers that nests make, may
// raise, or touch rows that lie further from their own than a few, or nobody knows how far; arrays
// that may be one.
#include "passes/analyses/carried_values.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/step_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kCyclesOfBand = 1 << 18;  // As good as any: what is worth threads is known here.
// Beyond all rows.
constexpr int64_t kFar = int64_t{1} << 40;

class StepTiler : public StepWriter {
 public:
  using StepWriter::StepWriter;

 private:
  // How the rows and the steps are shared out.
  struct Plan {
    Operand rows;    // of all
    Operand bands;   // how many they make
    Operand groups;  // of steps
    Operand many;    // steps together, as TimeSteps says, of a group
    Operand all;     // of the loop, each of so many
  };

  bool WriteLoop(const Binding& loop, const Binding& storing, const TimeSteps& steps) override {
    context().Note(loop.span, "several steps at once, some rows at a time", Topic::kMemory,
                   Verdict::kDone);
    builder().set_span({});  // What goes around the nests is not the source's.
    const Plan plan = PlanOf(loop, steps);
    const Operand is_worth = builder().Scalar(OpCode::kGt, {plan.groups, Int(0)});
    const Operands first(loop.operands.begin() + FirstInit(loop), loop.operands.end());
    Operands behind = first;
    if (steps.own.empty() && steps.numbers.empty()) {
      WriteGroups(storing, steps, plan);
    } else {
      const auto tiled = [&] {
        MakeOwn(steps);
        const Operand count = builder().Mul(plan.all, Int(steps.together));
        MakeNumbers(storing, steps, count);
        WriteGroups(storing, steps, plan);
        return Behind(storing, steps, NumbersAt(count));
      };
      behind = Choose(is_worth, tiled, [&] { return first; });
    }
    const Operand done = builder().Scalar(
        OpCode::kSelect, {is_worth, builder().Mul(plan.all, Int(steps.together)), Int(0)});
    WriteRest(loop, done, behind);
    return true;
  }

  void WriteGroups(const Binding& loop, const TimeSteps& steps, const Plan& plan) {
    Loop(Int(0), plan.groups, {}, [&](const Operand& group) {
      const Operand first = builder().Mul(group, plan.many);
      const Operand many = Min(plan.many, builder().Sub(plan.all, first));
      Loop(Int(0), Int(2), {},
           [&](const Operand& phase) { WritePhase(loop, steps, plan, phase, first, many); });
    });
  }

  // Stores what the numbers that are carried are before each of so many steps, and behind all.
  void MakeNumbers(const Binding& loop, const TimeSteps& steps, const Operand& count) {
    numbers_.clear();
    const Block& body = *loop.blocks[0];
    Operands first, next;
    for (const size_t k : steps.numbers) {
      const Operand& init = loop.operands[FirstInit(loop) + k];
      const Operand size = builder().Add(count, Int(1));
      const ir::Type type = ir::Type::Array(ir::DTypeOf(init), {size});
      numbers_.push_back(builder().EmitOne(OpCode::kAlloc, type, {size}));
      first.push_back(init);
      next.push_back(body.results[k]);
    }
    if (numbers_.empty()) return;
    const auto store = [&](const Operand& at, const Operands& values) {
      for (size_t k = 0; k < values.size(); ++k) builder().Store(numbers_[k], {at}, values[k]);
    };
    const Block makers{body.params, NeededBindings(body, next), next};
    const Operands last = Carry(Int(0), count, first, [&](const Operand& at, const Operands& now) {
      store(at, now);
      ir::Substitution known;
      known[body.params[0]] = builder().Add(loop.operands[0], at);
      for (size_t k = 0; FirstInit(loop) + k < loop.operands.size(); ++k)
        known[body.params[FirstCarried(loop) + k]] = loop.operands[FirstInit(loop) + k];
      for (size_t k = 0; k < now.size(); ++k)
        known[body.params[FirstCarried(loop) + steps.numbers[k]]] = now[k];
      return ir::InlineBlock(builder(), makers, std::move(known));
    });
    store(count, last);
  }

  // What the numbers that are carried are behind so many steps.
  Operands NumbersAt(const Operand& count) {
    Operands now;
    for (const Var* numbers : numbers_) now.push_back(builder().Load(numbers, {count}));
    return now;
  }

  Plan PlanOf(const Binding& loop, const TimeSteps& steps) {
    const auto& tiled = context().options.tiled;
    const Operand threads =
        builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {}, {}, {}, "threads");
    const Operand rows = steps.stored->type.dims()[0];
    const Operand bytes = Max(BytesOfRow(steps), Int(1));
    const int64_t shift = std::max<int64_t>(steps.behind + steps.before, 1);
    const int64_t least = steps.reach + (steps.together == 1 ? 2 * shift : shift);
    const Operand in_cache = FloorDiv(Int(tiled.of_band), bytes);
    const Operand fit = Max(in_cache, Int(least));
    const Operand of_thread = CeilDiv(Max(FloorDiv(rows, fit), Int(1)), threads);
    const Operand bands = Min(builder().Mul(of_thread, threads), FloorDiv(rows, Int(least)));
    Plan plan;
    plan.rows = rows;
    plan.bands = Max(bands, Int(1));
    const Operand end = loop.operands[1], begin = loop.operands[0];
    plan.all = FloorDiv(Max(builder().Sub(end, begin), Int(0)), Int(steps.together));
    const Operand inner = builder().Sub(FloorDiv(rows, plan.bands), Int(steps.reach));
    plan.many = Min(Max(FloorDiv(inner, Int(2 * shift)), Int(1)), Max(plan.all, Int(1)));
    const Operand work =
        builder().Mul(builder().Mul(rows, bytes), builder().Mul(plan.many, Int(steps.together)));
    Operands conditions = {
        builder().Scalar(OpCode::kGt, {bands, Int(1)}),
        builder().Scalar(OpCode::kGe, {in_cache, Int(least)}),
        builder().Scalar(OpCode::kGe, {bands, threads}),
        builder().Scalar(OpCode::kGe, {work, builder().Mul(threads, Int(tiled.of_thread))}),
        builder().Scalar(OpCode::kGt, {builder().Mul(plan.many, Int(steps.together)), Int(1)})};
    if (!steps.own.empty()) {
      const Operand count = builder().Mul(plan.all, Int(steps.together));
      conditions.push_back(builder().Scalar(OpCode::kGe, {count, Int(kFewestBehindCopy)}));
    }
    conditions.insert(conditions.end(), steps.conditions.begin(), steps.conditions.end());
    const Operand is_worth = All(conditions);
    plan.groups =
        builder().Scalar(OpCode::kSelect, {is_worth, CeilDiv(plan.all, plan.many), Int(0)});
    return plan;
  }

  // Of all arrays of as many axes as one that is stored to.
  Operand BytesOfRow(const TimeSteps& steps) {
    Operand bytes = Int(0);
    for (const Var* array : steps.arrays) {
      if (array->type.rank() != steps.stored->type.rank()) continue;
      const Operands& dims = array->type.dims();
      const Operand size = Int(ir::SizeInBytes(array->type.dtype()));
      bytes = builder().Add(bytes, builder().Mul(Product({dims.begin() + 1, dims.end()}), size));
    }
    return bytes;
  }

  // Where a nest of the first group of steps begins and ends, and how much further each group.
  struct Ends {
    Operand is_second;  // phase
    Operand lo, hi;
    Operand lo_further, hi_further;
  };

  void WritePhase(const Binding& loop, const TimeSteps& steps, const Plan& plan,
                  const Operand& phase, const Operand& first, const Operand& many) {
    const Operand is_second = builder().Scalar(OpCode::kEq, {phase, Int(1)});
    const auto either = [&](const Operand& second, const Operand& one) {
      return builder().Scalar(OpCode::kSelect, {is_second, second, one});
    };
    const Var* band = builder().NewVar(ir::DType::kI64, "band");
    const Block* block = BlockOf({band}, [&] {
      const auto first_of = [&](const Operand& number) {
        return FloorDiv(builder().Mul(number, plan.rows), plan.bands);
      };
      const Operand next = builder().Add(band, Int(1));
      Operand lo = first_of(band), hi = first_of(next);
      const Operand end = hi;
      if (!steps.is_ring) {
        const Operand is_first = builder().Scalar(OpCode::kEq, {band, Int(0)});
        const Operand is_last = builder().Scalar(OpCode::kEq, {next, plan.bands});
        lo = builder().Scalar(OpCode::kSelect, {is_first, Int(-kFar), lo});
        hi = builder().Scalar(OpCode::kSelect, {is_last, Int(kFar), hi});
      }
      const Ends ends{is_second, either(end, lo), either(end, hi),
                      either(Int(-steps.before), Int(steps.behind)),
                      either(Int(steps.behind), Int(-steps.before))};
      Loop(Int(0), many, {}, [&](const Operand& at) {
        Ends own = ends;
        own.lo = builder().Add(ends.lo, builder().Mul(at, ends.lo_further));
        own.hi = builder().Add(ends.hi, builder().Mul(at, ends.hi_further));
        const Operand step = builder().Mul(builder().Add(first, at), Int(steps.together));
        WriteSteps(loop, steps, plan, own, step);
      });
      return Operands{};
    });
    // A profile has all steps that are done at once on the loop's line.
    const ir::Span outer = builder().span();
    builder().set_span(loop.span);
    // Of a ring, the last band and the first have one between them, too.
    const Operand count = steps.is_ring ? plan.bands : builder().Sub(plan.bands, phase);
    builder().Emit(OpCode::kForeach, {}, {count}, {{Attr::kCost, kCyclesOfBand}}, {block});
    builder().set_span(outer);
  }

  // The steps that TimeSteps has together, from the one of that number on.
  void WriteSteps(const Binding& loop, const TimeSteps& steps, const Plan& plan, const Ends& ends,
                  const Operand& number) {
    const Block& body = *loop.blocks[0];
    auto rows = steps.nests.begin();
    Operands carried(loop.operands.begin() + FirstInit(loop), loop.operands.end());
    for (size_t at = 0; at < steps.names.size(); ++at) {
      ir::Substitution known;
      const Operand own_number = builder().Add(number, Int(int64_t(at)));
      for (size_t k = 0; k < steps.numbers.size(); ++k)
        carried[steps.numbers[k]] = builder().Load(numbers_[k], {own_number});
      known[body.params[0]] = builder().Add(loop.operands[0], own_number);
      for (size_t k = 0; k < carried.size(); ++k)
        known[body.params[FirstCarried(loop) + k]] = carried[k];
      for (const auto& [local, outside] : steps.names[at]) known[local] = outside;
      ir::Builder step = builder().Nested();
      carried = ir::InlineBlock(step, WithoutArrays(body), std::move(known));
      for (const Binding* b : step.bindings()) {
        if (b->op == OpCode::kForeach) {
          steps.is_ring ? WriteRing(*b, *rows, ends, plan) : WriteRows(*b, *rows, ends);
          ++rows;
        } else {
          builder().Append(b);
        }
      }
    }
  }

  // The rows behind the last one are the first ones.
  void WriteRing(const Binding& nest, const RowNest& rows, const Ends& ends, const Plan& plan) {
    const Operand is_around =
        builder().Scalar(OpCode::kGt, {builder().Add(ends.hi, Int(rows.behind)), plan.rows});
    const Operand parts = builder().Scalar(OpCode::kSelect, {is_around, Int(2), Int(1)});
    Loop(Int(0), parts, {}, [&](const Operand& part) {
      const Operand around = builder().Mul(part, plan.rows);
      Ends own = ends;
      own.lo = builder().Sub(ends.lo, around);
      own.hi = builder().Sub(ends.hi, around);
      WriteRows(nest, rows, own);
    });
  }

  void WriteRows(const Binding& nest, const RowNest& rows, const Ends& ends) {
    const auto shift = [&](int64_t second, int64_t first) {
      return builder().Scalar(OpCode::kSelect, {ends.is_second, Int(second), Int(first)});
    };
    builder().set_span(nest.span);
    const Operand lo = builder().Add(ends.lo, shift(-rows.before, rows.behind));
    const Operand hi = builder().Add(ends.hi, shift(rows.behind, -rows.before));
    const Operand first = Written(builder(), rows.first);
    Binding part = nest;
    if (!rows.goes_by_rows) {
      const Operand is_in = builder().Scalar(
          OpCode::kAnd,
          {builder().Scalar(OpCode::kGe, {first, lo}), builder().Scalar(OpCode::kLt, {first, hi})});
      part.operands[0] = builder().Scalar(OpCode::kSelect, {is_in, nest.operands[0], Int(0)});
      return builder().Append(arena()->New(std::move(part)));
    }
    const Operand from = Max(lo, first);
    const Operand to = Min(hi, builder().Add(first, nest.operands[0]));
    const Operand skipped = builder().Sub(from, first);
    part.operands[0] = Max(builder().Sub(to, from), Int(0));
    std::vector<const Var*> params;
    for (const Var* param : nest.blocks[0]->params)
      params.push_back(builder().NewVar(param->type, param->hint));
    part.blocks = {BlockOf(params, [&] {
      Operands index(params.begin(), params.end());
      index[0] = builder().Add(skipped, index[0]);
      return ir::InlineBlock(builder(), *nest.blocks[0], index);
    })};
    builder().Append(arena()->New(std::move(part)));
  }

  std::vector<const Var*> numbers_;  // that the loop being written carries, for each step
};

}  // namespace

ir::Program TileSteps(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return StepTiler(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
