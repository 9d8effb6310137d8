// Computes from a loop's index what every iteration moves on by the same number, and so is carried
// no longer.
//
// Before:
//   %k = for %i in 0 to %m step 3 (%k.1 = %from) {
//     ... store %out[%k.1], %a ...
//     %k.2 = add %k.1, 4
//     yield %k.2 }
// After:
//   %trips = ... how often it runs ...
//   for %t in 0 to %trips step 1 {
//     %i = mul %t, 3  %b = mul %t, 4  %k.1 = add %from, %b
//     ... store %out[%k.1], %a ... }
//   %c = mul %trips, 4  %k = add %from, %c
//
// Iterations that store at such places are then known to be apart, and what they check is asked of
// the ends. A loop by 1 or -1 keeps its index.
//
// Assumes: nothing; sums that wrap around are the same ones.
// Refuses: steps that an iteration decides about; what is the size of an array that is carried.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kDeepestStep = 8;  // operations from what a step is made of

// Something that an iteration adds, or takes off.
struct Term {
  Operand value;
  OpCode op;
};

// What a loop carries that its index says.
class CarriedCounts {
 public:
  explicit CarriedCounts(const Binding& loop)
      : body_(*loop.blocks[0]),
        inside_(ir::DefinedVars(body_)),
        makers_(ir::Definitions(Block{{}, body_.bindings, {}})) {}

  // What every iteration adds to the carried value of that number; none where they differ.
  std::optional<std::vector<Term>> StepOf(size_t k) const {
    const Var* param = body_.params[1 + k];
    std::vector<Term> terms;
    const bool is_number = param->type == ir::Type(ir::DType::kI64) && !IsSize(param);
    if (!is_number || !Find(body_.results[k], param, 0, terms) || terms.empty())
      return std::nullopt;
    return terms;
  }

  // Writes in front of the loop what is the same in every iteration.
  Operand InFront(ir::Builder& builder, const Operand& value) const {
    if (!value.IsVar() || !inside_.contains(value.var())) return value;
    const Binding& made = *makers_.at(value.var());
    std::vector<Operand> operands;
    for (const Operand& operand : made.operands) operands.push_back(InFront(builder, operand));
    return builder.Scalar(made.op, std::move(operands));
  }

 private:
  bool IsSize(const Var* param) const {
    return std::any_of(body_.params.begin(), body_.params.end(), [&](const Var* other) {
      if (!other->type.IsArray()) return false;
      const std::vector<Operand>& dims = other->type.dims();
      return std::find(dims.begin(), dims.end(), Operand(param)) != dims.end();
    });
  }

  const Binding* MakerOf(const Operand& value) const {
    const auto found = value.IsVar() ? makers_.find(value.var()) : makers_.end();
    return found == makers_.end() ? nullptr : found->second;
  }

  bool Find(const Operand& value, const Var* param, int depth, std::vector<Term>& terms) const {
    if (value == Operand(param)) return true;
    const Binding* b = MakerOf(value);
    if (b == nullptr || depth == kDeepestStep) return false;
    if (b->op != OpCode::kAdd && b->op != OpCode::kSub) return false;
    for (const size_t side : {0, 1}) {
      if (side == 1 && b->op == OpCode::kSub) break;
      const Operand& more = b->operands[1 - side];
      if (!IsSame(more, 0) || !Find(b->operands[side], param, depth + 1, terms)) continue;
      terms.push_back({more, b->op});
      return true;
    }
    return false;
  }

  bool IsSame(const Operand& value, int depth) const {
    if (!value.IsVar() || !inside_.contains(value.var())) return true;
    const Binding* b = MakerOf(value);
    if (b == nullptr || depth == kDeepestStep) return false;
    switch (b->op) {
      case OpCode::kAdd:
      case OpCode::kSub:
      case OpCode::kMul:
      case OpCode::kMin:
      case OpCode::kMax: break;
      case OpCode::kFloorDiv:
        if (!b->operands[1].IsConstant() || b->operands[1].constant().integer <= 0) return false;
        break;
      default: return false;
    }
    return ir::TypeOf(value) == ir::Type(ir::DType::kI64) &&
           std::all_of(b->operands.begin(), b->operands.end(),
                       [&](const Operand& operand) { return IsSame(operand, depth + 1); });
  }

  const Block& body_;
  const ir::VarSet inside_;
  const ir::DefinitionMap makers_;  // of what the body defines outside its own blocks
};

class CarriedCounter : public ir::Mutator {
 public:
  CarriedCounter(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kFor) return Mutator::Visit(b);
    const Binding* loop = Rewrite(b);
    const CarriedCounts counts(*loop);
    std::vector<std::optional<std::vector<Term>>> steps;
    for (size_t k = 0; k < loop->results.size(); ++k) steps.push_back(counts.StepOf(k));
    const bool has_some =
        std::any_of(steps.begin(), steps.end(), [](const auto& step) { return step.has_value(); });
    if (!has_some) return builder().Append(loop);
    context_.Note(b->span, "what it counts follows from its index", Topic::kOther, Verdict::kDone);
    Write(*loop, counts, steps);
  }

 private:
  void Write(const Binding& loop, const CarriedCounts& counts,
             const std::vector<std::optional<std::vector<Term>>>& steps) {
    const Block& body = *loop.blocks[0];
    const Operand &lo = loop.operands[0], &hi = loop.operands[1];
    const int64_t step = loop.operands[2].constant().integer;
    const bool keeps_index = std::abs(step) == 1;
    const Operand trips = TripsOf(lo, hi, step);
    std::vector<Operand> moves;
    for (const auto& terms : steps) moves.push_back(MoveOf(counts, terms));
    Binding counted = loop;
    counted.results.clear();
    counted.operands = {lo, hi, loop.operands[2]};
    if (!keeps_index) counted.operands = {Operand::Int(0), trips, Operand::Int(1)};
    ir::Builder inside = builder().Nested();
    const Var* index = inside.NewVar(body.params[0]->type, keeps_index ? "i" : "trip");
    const Operand gone = !keeps_index ? Operand(index)
                         : step > 0   ? inside.Sub(index, lo)
                                      : inside.Sub(lo, index);
    std::vector<const Var*> params = {index};
    std::vector<Operand> given = {index};
    ir::Substitution copies;
    if (!keeps_index) given[0] = inside.Add(lo, inside.Mul(index, loop.operands[2]));
    for (size_t k = 0; k < steps.size(); ++k) {
      const Var* param = body.params[1 + k];
      const Operand& init = loop.operands[FirstInit(loop) + k];
      if (steps[k]) {
        given.push_back(inside.Add(init, inside.Mul(gone, moves[k])));
        continue;
      }
      params.push_back(ir::CopyVar(inside, param, &copies));
      given.push_back(params.back());
      counted.results.push_back(loop.results[k]);
      counted.operands.push_back(init);
    }
    const std::vector<Operand> yielded = ir::InlineBlock(inside, body, given);
    std::vector<Operand> results;
    for (size_t k = 0; k < steps.size(); ++k) {
      if (!steps[k]) results.push_back(yielded[k]);
    }
    counted.blocks = {inside.Finish(std::move(params), std::move(results))};
    builder().Append(arena()->New(std::move(counted)));
    for (size_t k = 0; k < steps.size(); ++k) {
      if (steps[k])
        Replace(loop.results[k],
                builder().Add(loop.operands[FirstInit(loop) + k], builder().Mul(trips, moves[k])));
    }
  }

  Operand MoveOf(const CarriedCounts& counts, const std::optional<std::vector<Term>>& terms) {
    Operand move = Operand::Int(0);
    if (!terms) return move;
    for (const Term& term : *terms)
      move = builder().Scalar(term.op, {move, counts.InFront(builder(), term.value)});
    return move;
  }

  // How often it runs. Ends that lie the other way come to the beginning first.
  Operand TripsOf(const Operand& lo, const Operand& hi, int64_t step) {
    const Operand end = builder().Scalar(step > 0 ? OpCode::kMax : OpCode::kMin, {hi, lo});
    const Operand length = step > 0 ? builder().Sub(end, lo) : builder().Sub(lo, end);
    if (std::abs(step) == 1) return length;
    const Operand steps = builder().Scalar(
        OpCode::kFloorDiv, {builder().Sub(length, Operand::Int(1)), Operand::Int(std::abs(step))});
    return builder().Add(steps, Operand::Int(1));
  }

  Context& context_;
};

}  // namespace

ir::Program CountCarried(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return CarriedCounter(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
