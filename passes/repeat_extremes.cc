// Stores the least or the greatest so far many times at once where none of the next elements
// changes it.
//
// Before:
//   %m: f64 = for %i in 1 to %n step 1 (%so_far: f64 = %first) {
//     %a: f64 = load %x[%i]  %next = max %so_far, %a  store %p[%i], %next  yield %next }
// After:
//   %m: f64 = for %s in 1 to %n step 64 (%so_far: f64 = %first) {
//     %end = min (add %s, 64), %n
//     %changes: bool = lanes (%i) in %s to %end or from false tree(lanes 32) {
//       %a = load %x[%i]  %keeps = le %a, %so_far  %c = not %keeps  yield %c }
//     %last: f64 = if %changes { the loop as it was, from %s to %end } else {
//       for vector %i in %s to %end step 1 { store %p[%i], %so_far }
//       yield %so_far }
//     yield %last }
//
// In order, each element waits for the one before it, longer than it takes to be read; what
// wanders, or comes in no order, seldom has a new extreme. Of zeros the sign may change, so
// an extreme of zero is kept by what is beyond zero alone; of a nan, nothing is kept.
//
// Assumes: scheduled loops, before eliminate-dead-code and vectorize-loops.
// Refuses: loops inside lanes; elements that are dear, or that the loop stores; what carries more.
#include <algorithm>
#include <limits>
#include <optional>

#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/vector_legality.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kElementsAtOnce = 64;
constexpr int64_t kLanes = 32;
constexpr int kCheapElement = 16;  // It is made twice where the extreme changes.

class ExtremeRepeater : public LoopWriter {
 public:
  ExtremeRepeater(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool has_lanes = b->op == OpCode::kLanes ||
                           (b->op == OpCode::kFor && b->attrs.Text(Attr::kKind) == "vector");
    const auto extreme = in_lanes_ ? std::nullopt : ExtremeOf(*b);
    if (extreme) return Write(*b, *extreme);
    const bool outer = std::exchange(in_lanes_, in_lanes_ || has_lanes);
    Mutator::Visit(b);
    in_lanes_ = outer;
  }

 private:
  struct Extreme {
    const Binding* next;  // max or min of what is carried and the element
    Block element;        // What makes it.
    Block rest;           // The loop's body, which has `next` from elsewhere.
  };

  static bool IsOrdered(DType dtype) {
    return dtype == DType::kF64 || dtype == DType::kF32 || ir::IsInteger(dtype);
  }

  // The binding that makes what the loop carries, where it is an extreme.
  static const Binding* NextOf(const Binding& loop) {
    const bool is_in_order = loop.op == OpCode::kFor && loop.attrs.Text(Attr::kKind).empty() &&
                             loop.results.size() == 1 && loop.operands[2].IsInt(1);
    if (!is_in_order || !loop.result()->type.IsScalar() || !IsOrdered(loop.result()->type.dtype()))
      return nullptr;
    const Block& body = *loop.blocks[0];
    for (const Binding* b : body.bindings) {
      const bool is_extreme = b->op == OpCode::kMax || b->op == OpCode::kMin;
      if (is_extreme && body.results[0] == Operand(b->result())) return b;
    }
    return nullptr;
  }

  std::optional<Extreme> ExtremeOf(const Binding& loop) const {
    const Binding* next = NextOf(loop);
    if (next == nullptr) return std::nullopt;
    const Block& body = *loop.blocks[0];
    const Operand carried(body.params[1]);
    const bool is_first = next->operands[0] == carried;
    if (is_first == (next->operands[1] == carried)) return std::nullopt;
    const Operand& element = next->operands[is_first ? 1 : 0];
    const Extreme extreme{
        next, {{body.params[0]}, NeededBindings(body, {element}), {element}}, RestOf(body, next)};
    return IsWorthIt(body, extreme) ? std::optional(extreme) : std::nullopt;
  }

  static Block RestOf(const Block& body, const Binding* next) {
    Block rest{body.params, {}, {}};
    std::copy_if(body.bindings.begin(), body.bindings.end(), std::back_inserter(rest.bindings),
                 [&](const Binding* b) { return b != next; });
    return rest;
  }

  bool IsWorthIt(const Block& body, const Extreme& extreme) const {
    bool stores = false;
    for (const Binding* b : body.bindings) {
      stores |= b->op == OpCode::kStore;
      if (b->op != OpCode::kStore && b->op != OpCode::kLoad && !ir::IsScalarOp(b->op)) return false;
    }
    return stores && CostOf(extreme.element) <= kCheapElement &&
           !ir::FreeVars(extreme.element).contains(body.params[1]) &&
           !Intersects(EffectsOf(extreme.element, roots_).reads, EffectsOf(body, roots_).writes) &&
           WhyNotVector(extreme.element, body.params[0]).empty() &&
           WhyNotVector(extreme.rest, body.params[0]).empty();
  }

  void Write(const Binding& loop, const Extreme& extreme) {
    builder().set_span(loop.span);
    context_.Note(loop.span, "what an extreme stays is stored many times at once", Topic::kLanes,
                  Verdict::kDone);
    const Operands operands = Apply(loop.operands);
    const auto some = [&](const Operand& from, const Operands& so_far) {
      const Operand to = Min(builder().Add(from, Int(kElementsAtOnce)), operands[1]);
      const auto in_order = [&] {
        return Carry(
            from, to, so_far,
            [&](const Operand& i, const Operands& carried) {
              const Block* body = ir::CloneBlock(arena(), *loop.blocks[0]);
              return VisitBody(*body, {i, carried[0]});
            },
            1, loop.attrs);
      };
      const auto at_once = [&] {
        Loop(from, to, {{Attr::kKind, std::string("vector")}}, [&](const Operand& i) {
          Replace(extreme.next->result(), so_far[0]);
          VisitBody(*ir::CloneBlock(arena(), extreme.rest), {i, so_far[0]});
        });
        return so_far;
      };
      return Choose(Changes(extreme, from, to, so_far[0]), in_order, at_once);
    };
    const Operands last = Carry(operands[0], operands[1], {operands[3]}, some, kElementsAtOnce);
    Replace(loop.result(), last[0]);
  }

  // Whether an element of a range takes the place of the extreme so far, or may.
  Operand Changes(const Extreme& extreme, const Operand& from, const Operand& to,
                  const Operand& so_far) {
    const bool is_greatest = extreme.next->op == OpCode::kMax;
    const Operand bound = BoundOf(so_far, is_greatest);
    const Var* index = builder().NewVar(DType::kI64, "i");
    const Block* changes = BlockOf({index}, [&] {
      const Operands element = VisitBody(*ir::CloneBlock(arena(), extreme.element), {index});
      const OpCode keeps = is_greatest ? OpCode::kLe : OpCode::kGe;
      return Operands{
          builder().Scalar(OpCode::kNot, {builder().Scalar(keeps, {element[0], bound})})};
    });
    return builder().EmitOne(OpCode::kLanes, DType::kBool, {from, to, Operand::Bool(false)},
                             Attributes{{Attr::kLanes, kLanes}},
                             {changes, ir::CombineBlock(arena(), OpCode::kOr, DType::kBool)});
  }

  // What does not go beyond it leaves the extreme as it is, to the bit.
  Operand BoundOf(const Operand& so_far, bool is_greatest) {
    const DType dtype = ir::DTypeOf(so_far);
    if (ir::IsInteger(dtype)) return so_far;
    const double least = dtype == DType::kF32 ? double{std::numeric_limits<float>::denorm_min()}
                                              : std::numeric_limits<double>::denorm_min();
    const Operand beyond = ir::Constant::Float(is_greatest ? -least : least, dtype);
    const Operand is_zero = builder().Scalar(OpCode::kEq, {so_far, ir::ZeroOf(dtype)});
    return builder().Scalar(OpCode::kSelect, {is_zero, beyond, so_far});
  }

  Roots roots_;
  Context& context_;
  bool in_lanes_ = false;
};

}  // namespace

ir::Program RepeatExtremes(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ExtremeRepeater(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
