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
// A loop that elements of arrays bound, as a row of a sparse matrix, is likely all between borders,
// those of its checks included: it is written once for that, and once as it was, under an `if`.
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
    if (borders->is_likely_all) return WriteVersions(*b, *borders);
    context_.Note(b->span, "split at its borders", Topic::kThreads, Verdict::kDone);
    WriteParts(*b, *borders);
  }

 private:
  // The loop with loops inside it split, and as it is.
  std::pair<Binding, Binding> Rewritten(const Binding& b) {
    is_border_ = true;
    const Binding border = *Rewrite(&b);
    is_border_ = false;
    return {*Rewrite(&b), border};
  }

  // One loop for where all of it is between the borders, one for where it is not.
  void WriteVersions(const Binding& b, const Borders& borders) {
    auto [inner, other] = Rewritten(b);
    const Operand &lo = inner.operands[0], &hi = inner.operands[1];
    Operand is_inside = Operand::Bool(true);
    const auto demand = [&](OpCode op, const Operand& end, const LinearForm& place) {
      const Operand holds = builder().Scalar(op, {end, PlaceOf(place)});
      is_inside = builder().Scalar(OpCode::kAnd, {is_inside, holds});
    };
    for (const LinearForm& place : borders.lower) demand(OpCode::kGe, lo, place);
    for (const LinearForm& place : borders.upper) demand(OpCode::kLe, hi, place);
    other.attrs = other.attrs.With(Attr::kWhy, std::string("an index of it may be out of range"));
    const std::vector<Operand> carried(inner.operands.begin() + 3, inner.operands.end());
    ir::Builder sides[2] = {builder().Nested(), builder().Nested()};
    std::vector<Operand> results[2];
    for (const int side : {0, 1})
      results[side] = CopyLoop(sides[side], side == 0 ? inner : other, lo, hi, carried);
    builder().Emit(OpCode::kIf, b.results, {is_inside}, {{Attr::kLikely, int64_t{1}}},
                   {sides[0].Finish({}, results[0]), sides[1].Finish({}, results[1])});
  }

  void WriteParts(const Binding& b, const Borders& borders) {
    const auto [inner, border] = Rewritten(b);
    const Operand &lo = border.operands[0], &hi = border.operands[1];
    const Operand begin = Extreme(OpCode::kMax, lo, borders.lower);
    const Operand end = Extreme(OpCode::kMin, hi, borders.upper);
    std::vector<Operand> carried(border.operands.begin() + 3, border.operands.end());
    Operand done = lo;  // up to where iterations have been made
    if (!borders.lower.empty()) {
      done = builder().Scalar(OpCode::kMin, {begin, hi});
      carried = borders.is_one_before
                    ? WriteOne(border, builder().Scalar(OpCode::kLt, {lo, hi}), lo, carried)
                    : CopyLoop(builder(), border, lo, done, carried);
    }
    // Borders may lie anywhere, as far behind each other as numbers go.
    carried =
        CopyLoop(builder(), inner, begin, builder().Scalar(OpCode::kMax, {begin, end}), carried);
    if (!borders.upper.empty()) {
      carried = borders.is_one_behind
                    ? WriteOne(border, builder().Scalar(OpCode::kLt, {begin, hi}),
                               builder().Sub(hi, Operand::Int(1)), carried)
                    : CopyLoop(builder(), border, builder().Scalar(OpCode::kMax, {done, end}), hi,
                               carried);
    }
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], carried[k]);
  }

  // The largest of the end and the places, or the smallest.
  Operand Extreme(OpCode op, Operand end, const std::vector<LinearForm>& places) {
    for (const LinearForm& place : places) end = builder().Scalar(op, {PlaceOf(place), end});
    return end;
  }

  Operand PlaceOf(const LinearForm& place) {
    return Written(builder(), place, [&](const Var* var) { return Apply(Operand(var)); });
  }

  // One iteration, where there is it.
  std::vector<Operand> WriteOne(const Binding& loop, const Operand& exists, const Operand& index,
                                const std::vector<Operand>& carried) {
    std::vector<Operand> values = {index};
    values.insert(values.end(), carried.begin(), carried.end());
    ir::Builder some = builder().Nested(), none = builder().Nested();
    const std::vector<Operand> yielded = ir::InlineBlock(some, *loop.blocks[0], values);
    std::vector<const Var*> results;
    ir::Substitution copies;
    for (const Var* result : loop.results)
      results.push_back(ir::CopyVar(builder(), result, &copies));
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
