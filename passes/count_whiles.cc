// Turns a `while` that goes by even steps up to an end, or two that approach one another, into a
// `for`, which knows how often it runs.
//
// Before:
//   %i, %s = while (%i.1 = %lo, %s.1 = 0.0) { %c = lt %i.1, %n  yield %c } do (%i.2, %s.2) {
//     %a = load %x[%i.2]
//     %s.3 = add %s.2, %a
//     %i.3 = add %i.2, 1
//     yield %i.3, %s.3 }
// After:
//   %s = for %i.2 in %lo to %n step 1 (%s.2 = 0.0) {
//     %a = load %x[%i.2]
//     %s.3 = add %s.2, %a
//     %i.3 = add %i.2, 1
//     yield %s.3 }
//   %i = max %n, %lo
// and where the end falls by 1 while %i grows (`while i < j`), the loop goes to the middle, and %j
// is %j0 + %lo - %i. An index that falls to its end is one of a `for` by steps down.
//
// Places of checks get the index behind what they have in common, since a `while` has none among
// them: the first iteration's error is the first.
//
// Assumes: integers of Python's do not get past 2^63.
// Refuses: conditions of more than one comparison, as those of loops that may end early; steps that
// a branch decides about; conditions that read memory or may raise; what is the size of an array
// that is carried beside it.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kLongestCountedStep = 1024;

// Where the place operands of a binding begin, and where they end; the same where it has none.
std::pair<size_t, size_t> PlaceIn(const Binding& b) {
  const size_t count = b.operands.size(), length = b.attrs.Int(Attr::kAt);
  if (b.op == OpCode::kCheck) return {1, 1 + length};
  if (b.op == OpCode::kBroadcastSize) return {2, count};
  return b.op == OpCode::kCall ? std::pair(count - length, count) : std::pair(count, count);
}

bool MayHavePlace(const Binding& b) {
  return b.op == OpCode::kCheck || b.op == OpCode::kBroadcastSize || b.op == OpCode::kCall;
}

// Puts an index into the places in a block, behind what they all begin with that the block does not
// define: that says where the loop stands, and more where all agree.
class PlaceWriter : public ir::Mutator {
 public:
  PlaceWriter(ir::Arena* arena, const Block& body, const Var* index)
      : Mutator(arena), index_(index) {
    const ir::VarSet inside = ir::DefinedVars(body);
    std::optional<std::vector<Operand>> shared;
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (!MayHavePlace(b)) return;
      const auto [first, end] = PlaceIn(b);
      const std::vector<Operand> place(b.operands.begin() + first, b.operands.begin() + end);
      if (!shared) shared = place;
      size_t length = 0;
      while (length < std::min(shared->size(), place.size()) &&
             (*shared)[length] == place[length] &&
             !(place[length].IsVar() && inside.contains(place[length].var())))
        ++length;
      shared->resize(length);
    });
    if (shared) shared_ = shared->size();
  }

  const Block* Write(const Block* body) { return VisitBlock(body); }

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    if (!MayHavePlace(*b)) return builder().Append(rewritten);
    Binding placed = *rewritten;
    placed.operands.insert(placed.operands.begin() + PlaceIn(placed).first + shared_,
                           Operand(index_));
    if (b->op != OpCode::kBroadcastSize)
      placed.attrs = placed.attrs.With(Attr::kAt, placed.attrs.Int(Attr::kAt) + 1);
    builder().Append(arena()->New(std::move(placed)));
  }

 private:
  const Var* index_;
  size_t shared_ = 0;
};

class Counter : public ir::Mutator {
 public:
  Counter(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), makers_(ir::Definitions(*function.body)), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (const std::optional<Count> count = b->op == OpCode::kWhile ? CountOf(*b) : std::nullopt) {
      context_.Note(b->span, "counts how often it runs", Topic::kOther, Verdict::kDone);
      return Write(*b, *count);
    }
    Mutator::Visit(b);
  }

 private:
  // The loop goes on as long as the carried value `index` is below `end` (above, where it falls),
  // or the two that approach one another have not met.
  struct Count {
    size_t index;
    int64_t step;
    Operand end;                  // Where only the index moves; made by the condition's block.
    std::optional<size_t> other;  // What comes towards it, by steps of `other_step`.
    int64_t other_step = 0;
    int64_t more = 0;  // 1 where the end is taken in
  };

  const Binding* MakerOf(const Operand& value) const {
    const auto found = value.IsVar() ? makers_.find(value.var()) : makers_.end();
    return found == makers_.end() ? nullptr : found->second;
  }

  // The carried value that a value of the condition is.
  static std::optional<size_t> CarriedAs(const Binding& loop, const Operand& value) {
    const std::vector<const Var*>& params = loop.blocks[0]->params;
    const auto found =
        std::find(params.begin(), params.end(), value.IsVar() ? value.var() : nullptr);
    if (found == params.end()) return std::nullopt;
    return found - params.begin();
  }

  // True for the size of an array that is carried too: `while len(x) < n: x = append(x, 1.0)`.
  static bool IsSize(const Operand& value, const std::vector<const Var*>& params) {
    return std::any_of(params.begin(), params.end(), [&](const Var* param) {
      const std::vector<Operand>& dims = param->type.dims();
      return std::find(dims.begin(), dims.end(), value) != dims.end();
    });
  }

  // What every iteration adds to the carried value; 0 where that is not known.
  int64_t StepOf(const Binding& loop, size_t k) const {
    const Block& body = *loop.blocks[1];
    const Operand own = body.params[k];
    const Binding* b = MakerOf(body.results[k]);
    if (b == nullptr || own.var()->type != ir::Type(ir::DType::kI64) || b->operands.size() != 2 ||
        IsSize(own, body.params))
      return 0;
    const bool is_sum = b->op == OpCode::kAdd, is_difference = b->op == OpCode::kSub;
    const int side = b->operands[0] == own ? 1 : 0;
    if ((!is_sum && !(is_difference && side == 1)) || b->operands[1 - side] != own ||
        !b->operands[side].IsConstant())
      return 0;
    const int64_t by = b->operands[side].constant().integer;
    if (by < -kLongestCountedStep || by > kLongestCountedStep) return 0;
    return is_sum ? by : -by;
  }

  std::optional<Count> CountOf(const Binding& loop) const {
    const Block& asked = *loop.blocks[0];
    const Binding* b = MakerOf(asked.results[0]);
    if (!loop.attrs.entries().empty() || b == nullptr || !IsPlainCondition(asked, *b))
      return std::nullopt;
    const bool is_less = b->op == OpCode::kLt || b->op == OpCode::kLe;
    const bool is_greater = b->op == OpCode::kGt || b->op == OpCode::kGe;
    if (!is_less && !is_greater) return std::nullopt;
    const Operand low = b->operands[is_less ? 0 : 1], high = b->operands[is_less ? 1 : 0];
    const std::optional<size_t> rises = CarriedAs(loop, low), falls = CarriedAs(loop, high);
    const int64_t up = rises ? StepOf(loop, *rises) : 0, down = falls ? StepOf(loop, *falls) : 0;
    const int64_t more = b->op == OpCode::kLe || b->op == OpCode::kGe;
    if (rises && falls) {
      if (up != 1 || down >= 0) return std::nullopt;
      return Count{*rises, up, {}, falls, down, more};
    }
    if (rises && up > 0) return Count{*rises, up, high, {}, 0, more};
    if (falls && down < 0) return Count{*falls, down, low, {}, 0, -more};
    return std::nullopt;
  }

  // True where the condition is one comparison of integers, and the rest is scalar code that reads
  // nothing of what the loop carries.
  static bool IsPlainCondition(const Block& asked, const Binding& comparison) {
    if (comparison.operands.size() != 2 ||
        ir::TypeOf(comparison.operands[0]) != ir::Type(ir::DType::kI64))
      return false;
    ir::VarSet carried;
    carried.insert(asked.params.begin(), asked.params.end());
    return std::all_of(asked.bindings.begin(), asked.bindings.end(), [&](const Binding* b) {
      if (b == &comparison) return true;
      return ir::IsScalarOp(b->op) &&
             std::none_of(b->operands.begin(), b->operands.end(), [&](const Operand& operand) {
               return operand.IsVar() && carried.contains(operand.var());
             });
    });
  }

  void Write(const Binding& loop, const Count& count) {
    const Block& body = *loop.blocks[1];
    const Var* index = body.params[count.index];
    for (const Binding* b : loop.blocks[0]->bindings) {
      if (b->result() != loop.blocks[0]->results[0].var()) Mutator::Visit(b);
    }
    const Operand begin = Apply(loop.operands[count.index]);
    const Operand end = EndOf(loop, count, begin);
    Binding counted{OpCode::kFor, {}, {begin, end, Operand::Int(count.step)}, {}, {}, loop.span};
    Block inside = body;
    inside.params = {index};
    inside.results.clear();
    for (size_t k = 0; k < loop.results.size(); ++k) {
      if (k == count.index || (count.other && k == *count.other)) continue;
      counted.results.push_back(loop.results[k]);
      counted.operands.push_back(loop.operands[k]);
      inside.params.push_back(body.params[k]);
      inside.results.push_back(body.results[k]);
    }
    if (count.other) {
      // Defined first in the body, of the index.
      ir::Builder builder = this->builder().Nested();
      WriteOther(builder, body.params[*count.other], loop, count, begin, index);
      const Block* first = builder.Finish({}, {});
      inside.bindings.insert(inside.bindings.begin(), first->bindings.begin(),
                             first->bindings.end());
    }
    const Var* place = count.step > 0 ? index : this->builder().NewVar(index->type, "turn");
    PlaceWriter places(arena(), inside, place);
    inside = *places.Write(arena()->New(inside));
    if (count.step < 0) {
      // Later iterations have the greater places.
      const std::vector<Operand> opposite = {Operand::Int(0), index};
      inside.bindings.insert(
          inside.bindings.begin(),
          arena()->New(Binding{OpCode::kSub, {place}, opposite, {}, {}, loop.span}));
    }
    counted.blocks = {arena()->New(std::move(inside))};
    Visit(arena()->New(std::move(counted)));
    WriteLast(loop.results[count.index], count.step, begin, end);
    if (count.other)
      WriteOther(builder(), loop.results[*count.other], loop, count, begin,
                 loop.results[count.index]);
  }

  // What the index is not any more.
  Operand EndOf(const Binding& loop, const Count& count, const Operand& begin) {
    if (!count.other)
      return builder().Scalar(OpCode::kAdd, {Apply(count.end), Operand::Int(count.more)});
    const Operand other = Apply(loop.operands[*count.other]);
    const int64_t nearer = 1 - count.other_step;
    const Operand gap = builder().Scalar(OpCode::kSub, {other, begin});
    const Operand rounded =
        builder().Scalar(OpCode::kAdd, {gap, Operand::Int(nearer - 1 + count.more)});
    const Operand steps = builder().Scalar(OpCode::kFloorDiv, {rounded, Operand::Int(nearer)});
    return builder().Scalar(OpCode::kAdd, {begin, steps});
  }

  // other = other0 + step * (index - begin)
  void WriteOther(ir::Builder& builder, const Var* result, const Binding& loop, const Count& count,
                  const Operand& begin, const Operand& index) {
    const Operand gone = builder.Scalar(OpCode::kSub, {index, begin});
    const Operand moved = builder.Scalar(OpCode::kMul, {gone, Operand::Int(-count.other_step)});
    builder.Emit(OpCode::kSub, {result}, {Apply(loop.operands[*count.other]), moved});
  }

  // The index behind the loop: its end, or where it began beyond that.
  void WriteLast(const Var* result, int64_t step, const Operand& begin, const Operand& end) {
    if (std::abs(step) == 1) {
      builder().Emit(step > 0 ? OpCode::kMax : OpCode::kMin, {result}, {end, begin});
      return;
    }
    // Numbers are divided by what is positive, which may be a shift.
    const int64_t length = std::abs(step);
    const Operand gap = step > 0 ? builder().Scalar(OpCode::kSub, {end, begin})
                                 : builder().Scalar(OpCode::kSub, {begin, end});
    const Operand rounded = builder().Scalar(OpCode::kAdd, {gap, Operand::Int(length - 1)});
    const Operand trips = builder().Scalar(OpCode::kFloorDiv, {rounded, Operand::Int(length)});
    const Operand runs = builder().Scalar(OpCode::kMax, {trips, Operand::Int(0)});
    const Operand moved = builder().Scalar(OpCode::kMul, {runs, Operand::Int(step)});
    builder().Emit(OpCode::kAdd, {result}, {begin, moved});
  }

  const ir::DefinitionMap makers_;
  Context& context_;
};

}  // namespace

ir::Program CountWhiles(const ir::Program& program, Context& context) {
  ir::Arena* arena = program.arena.get();
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Counter(arena, *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
