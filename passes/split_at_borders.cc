// Splits loops where conditions of their indexes change that say whether memory is read, or where,
// so that nothing is asked between the borders.
//
// Before:
//   for %i in 0 to %n step 1 {
//     %h = sub %i, 1   %ok = ge %h, 0   %a = if %ok { %b = load %x[%h]  yield %b } else { yield 0 }
//     store %y[%i], %a }
// After:
//   %some = lt 0, %n
//   if %some { ... of 0 alone ... }
//   for %i in 1 to %n step 1 {
//     %h = sub %i, 1   %ok = ge %h, 0   ... }
// where %ok is true now, which prove-bounds sees. Of a border that is as wide as a window, as
// `range(-r, r + 1)` around %i, all places are before it or behind it whose window is not whole.
//
// Assumes: nothing; the parts make up the loop wherever the borders are.
// Refuses: loops that carry arrays; long bodies; borders that depend on what the loop computes.
// Loops in what is before the borders, or behind them, are left as they are.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_borders.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kLongestSplit = 400;  // operations
constexpr int64_t kFewIterations = 4;

bool MaySplit(const Binding& b) {
  if (b.op != OpCode::kFor || !b.operands[2].IsInt(1)) return false;
  if (!b.attrs.Text(Attr::kKind).empty() || b.attrs.Has(Attr::kWhy)) return false;
  if (b.operands[0].IsConstant() && b.operands[1].IsConstant() &&
      b.operands[1].constant().integer - b.operands[0].constant().integer <= kFewIterations)
    return false;
  for (const Var* result : b.results) {
    if (!result->type.IsScalar()) return false;
  }
  int operations = 0;
  ir::ForEachBinding(*b.blocks[0], [&](const Binding&) { ++operations; });
  return operations <= kLongestSplit;
}

class BorderSplitter : public ir::Mutator {
 public:
  BorderSplitter(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context), finder_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (is_border_ || !MaySplit(*b)) return Mutator::Visit(b);
    const std::optional<Borders> borders = finder_.Of(*b);
    if (!borders) return Mutator::Visit(b);
    context_.Note(b->span, "split at its borders", Topic::kThreads, Verdict::kDone);
    WriteParts(*b, *borders);
  }

 private:
  void WriteParts(const Binding& b, const Borders& borders) {
    is_border_ = true;
    const Binding border = *Rewrite(&b);
    is_border_ = false;
    const Binding inner = *Rewrite(&b);
    const Operand &lo = border.operands[0], &hi = border.operands[1];
    const Operand begin = Extreme(OpCode::kMax, lo, borders.lower);
    const Operand end = Extreme(OpCode::kMin, hi, borders.upper);
    std::vector<Operand> carried(border.operands.begin() + 3, border.operands.end());
    Operand done = lo;  // up to where iterations have been made
    if (!borders.lower.empty()) {
      done = builder().Scalar(OpCode::kMin, {begin, hi});
      carried = borders.is_one_before
                    ? WriteOne(border, builder().Scalar(OpCode::kLt, {lo, hi}), lo, carried)
                    : WriteLoop(border, lo, done, carried);
    }
    carried = WriteLoop(inner, begin, end, carried);
    if (!borders.upper.empty()) {
      carried = borders.is_one_behind
                    ? WriteOne(border, builder().Scalar(OpCode::kLt, {begin, hi}),
                               builder().Sub(hi, Operand::Int(1)), carried)
                    : WriteLoop(border, builder().Scalar(OpCode::kMax, {done, end}), hi, carried);
    }
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], carried[k]);
  }

  // The largest of the end and the places, or the smallest.
  Operand Extreme(OpCode op, Operand end, const std::vector<LinearForm>& places) {
    for (const LinearForm& place : places) {
      const Operand value =
          Written(builder(), place, [&](const Var* var) { return Apply(Operand(var)); });
      end = builder().Scalar(op, {value, end});
    }
    return end;
  }

  std::vector<const Var*> NewResults(const Binding& loop) {
    std::vector<const Var*> results;
    for (const Var* result : loop.results)
      results.push_back(builder().NewVar(result->type, result->hint));
    return results;
  }

  std::vector<Operand> WriteLoop(const Binding& loop, const Operand& lo, const Operand& hi,
                                 const std::vector<Operand>& carried) {
    std::vector<Operand> operands = {lo, hi, Operand::Int(1)};
    operands.insert(operands.end(), carried.begin(), carried.end());
    const std::vector<const Var*> results = NewResults(loop);
    builder().Emit(OpCode::kFor, results, std::move(operands), loop.attrs,
                   {ir::CloneBlock(arena(), *loop.blocks[0])});
    return {results.begin(), results.end()};
  }

  // One iteration, where there is it.
  std::vector<Operand> WriteOne(const Binding& loop, const Operand& exists, const Operand& index,
                                const std::vector<Operand>& carried) {
    std::vector<Operand> values = {index};
    values.insert(values.end(), carried.begin(), carried.end());
    ir::Builder some = builder().Nested(), none = builder().Nested();
    const std::vector<Operand> yielded = ir::InlineBlock(some, *loop.blocks[0], values);
    const std::vector<const Var*> results = NewResults(loop);
    builder().Emit(OpCode::kIf, results, {exists}, {},
                   {some.Finish({}, yielded), none.Finish({}, carried)});
    return {results.begin(), results.end()};
  }

  Context& context_;
  BorderFinder finder_;
  bool is_border_ = false;  // What is visited is before the borders, or behind them.
};

}  // namespace

ir::Program SplitAtBorders(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return BorderSplitter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
