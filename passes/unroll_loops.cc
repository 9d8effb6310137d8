// Writes out loops of a few iterations that store, or choose what they carry, where they stand
// beside something else in a loop.
//
// Before:
//   for %s in 0 to %steps step 1 {
//     %a = load %v[%i, 0]  ...  store %v[%i, 0], %b
//     for %d in 0 to 3 step 1 { %c = load %v[%i, %d]  store %x[%i, %d], %c } }
// After:
//   for %s in 0 to %steps step 1 {
//     %a = load %v[%i, 0]  ...  store %v[%i, 0], %b
//     %c = load %v[%i, 0]  store %x[%i, 0], %c
//     %d = load %v[%i, 1]  store %x[%i, 1], %d  ... }
//
// So each place is one that other passes know, which may be carried in a register; and lanes take
// the loop around instead of a few iterations. Of a loop whose ends are a number apart, as those of
// a window, `for %j in %y - 1 to %y + 2`, the iterations are counted from 0 first.
//
// Assumes: bounds that are constants have been made so.
// Refuses: loops that hold loops or operators on arrays, that carry arrays, of more than a few
// iterations or of many operations; loops that only sum, which reductions write out; one that is
// all that the loop around does for its own index: their places lie one after the other.
#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kMostIterations = 4;
constexpr int64_t kLongestWindow = 64;
constexpr int kMostOperations = 160;  // Of all iterations together.

class LoopUnroller : public ir::Mutator {
 public:
  LoopUnroller(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context), forms_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (!IsLoop(b->op)) return Mutator::Visit(b);
    const Binding* outer = std::exchange(around_, b);
    const Binding loop = Counted(*b, *Rewrite(b));
    around_ = outer;
    const int64_t count = IterationsOf(loop);
    if (around_ == nullptr || count == 0 || !IsPlain(loop, count) || IsAllOf(*around_, *b))
      return builder().Append(arena()->New(loop));
    context_.Note(loop.span, "written out", Topic::kOther, Verdict::kDone);
    WriteOut(*b, loop, count);
  }

 private:
  // The loop from 0, where its ends are a number apart. Ends that wrap around are so far apart too,
  // as Python's are.
  Binding Counted(const Binding& original, const Binding& loop) {
    if (loop.op != OpCode::kFor || loop.operands[0].IsConstant() ||
        loop.operands[2].constant().integer <= 0)
      return loop;
    const std::vector<const Var*>& carried = loop.results;
    if (std::any_of(carried.begin(), carried.end(), [](auto* c) { return c->type.IsArray(); }))
      return loop;
    const LinearForm length =
        Difference(forms_.Of(original.operands[1]), forms_.Of(original.operands[0]));
    if (!length.IsConstant() || length.constant < 0 || length.constant > kLongestWindow)
      return loop;
    ir::Builder inner = builder().Nested();
    inner.set_span(loop.span);
    std::vector<const Var*> params = loop.blocks[0]->params;
    ir::Substitution values;
    params[0] = inner.NewVar(ir::DType::kI64, params[0]->hint);
    values[loop.blocks[0]->params[0]] = inner.Add(loop.operands[0], params[0]);
    for (size_t k = 1; k < params.size(); ++k) params[k] = ir::CopyVar(inner, params[k], &values);
    std::vector<Operand> results = ir::InlineBlock(inner, *loop.blocks[0], std::move(values));
    Binding counted = loop;
    counted.operands[0] = Operand::Int(0);
    counted.operands[1] = Operand::Int(length.constant);
    counted.blocks = {inner.Finish(std::move(params), std::move(results))};
    return counted;
  }

  // 0 where they are not known, or too many.
  static int64_t IterationsOf(const Binding& loop) {
    if (loop.op != OpCode::kFor || !loop.attrs.Text(Attr::kKind).empty()) return 0;
    for (int k = 0; k < 3; ++k) {
      if (!loop.operands[k].IsConstant()) return 0;
    }
    const int64_t lo = loop.operands[0].constant().integer;
    const int64_t hi = loop.operands[1].constant().integer;
    const int64_t step = loop.operands[2].constant().integer;
    int64_t count = 0;
    for (int64_t i = lo; step > 0 ? i < hi : i > hi; i += step) {
      if (++count > kMostIterations) return 0;
    }
    return count;
  }

  // True for scalar code that stores or chooses what it carries, little of it.
  static bool IsPlain(const Binding& loop, int64_t count) {
    const Block& body = *loop.blocks[0];
    int operations = 0;
    bool is_plain = true, stores = false, chooses = false;
    ir::ForEachBinding(body, [&](const Binding& b) {
      ++operations;
      stores |= b.op == OpCode::kStore;
      is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
                  b.op == OpCode::kCheck || b.op == OpCode::kIf;
      const bool is_choice = b.op == OpCode::kIf || b.op == OpCode::kSelect;
      for (const Var* result : b.results) {
        chooses |= is_choice && std::find(body.results.begin(), body.results.end(),
                                          Operand(result)) != body.results.end();
      }
    });
    for (const Var* result : loop.results) is_plain &= result->type.IsScalar();
    return is_plain && (stores || chooses) && operations * count <= kMostOperations;
  }

  // True where the loop around does nothing beside, and each of its iterations stores elsewhere.
  static bool IsAllOf(const Binding& around, const Binding& loop) {
    if (around.op != OpCode::kFor || !around.results.empty()) return false;
    for (const Binding* b : around.blocks[0]->bindings) {
      if (b != &loop && (!b->blocks.empty() || b->op == OpCode::kStore)) return false;
    }
    ir::VarSet moved = {around.blocks[0]->params[0]};  // what is made of its index
    bool is_elsewhere = true;
    ir::ForEachBinding(*around.blocks[0], [&](const Binding& b) {
      const auto moves = [&](const Operand& operand) {
        return operand.IsVar() && moved.contains(operand.var());
      };
      const bool is_store = b.op == OpCode::kStore;
      const bool any =
          std::any_of(b.operands.begin(), b.operands.end() - (is_store ? 1 : 0), moves);
      if (is_store) is_elsewhere &= any;
      if (any && ir::IsScalarOp(b.op)) moved.insert(b.results.begin(), b.results.end());
    });
    return is_elsewhere;
  }

  void WriteOut(const Binding& from, const Binding& loop, int64_t count) {
    std::vector<Operand> carried(loop.operands.begin() + FirstInit(loop), loop.operands.end());
    for (int64_t k = 0; k < count; ++k) {
      std::vector<Operand> values = {Operand::Int(loop.operands[0].constant().integer +
                                                  k * loop.operands[2].constant().integer)};
      values.insert(values.end(), carried.begin(), carried.end());
      carried = ir::InlineBlock(builder(), *loop.blocks[0], values);
    }
    for (size_t k = 0; k < from.results.size(); ++k) Replace(from.results[k], carried[k]);
  }

  Context& context_;
  const WrappingForms forms_;
  const Binding* around_ = nullptr;  // the innermost loop
};

}  // namespace

ir::Program UnrollLoops(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LoopUnroller(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
