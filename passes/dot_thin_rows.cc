// Makes each element of a contraction by a reduction of its own where it has few rows and what is
// summed lies along the sums: a few rows by the rows of a matrix, `q @ k.T`.
//
// Before:
//   %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} {
//     %a = load %x[%i, %k]  %b = load %y[%j, %k]  %c = mul %a, %b  yield %c }
// After:
//   %sums = mul %n, %m  %few = or (le %n, 12), (le %sums, 128)  %thin = and %few, (ge %l, 64)
//   %r: [n][m]f64 = if %thin {
//     %q = imap (%i, %j) in (%n, %m) { %s = ireduce (%k) in (%l) add from 0.0 { ... } yield %s }
//     yield %q } else { %q = contract ...  yield %q }
//
// A tile would gather its columns from as many rows, for a few rows that read them again; lanes of
// a reduction read along them. Registers of 32 bytes are sixteen: tiles of six rows leave less of
// them empty, and sums of several elements at once are made in parts, so that tiles are faster but
// for few rows or long sums.
//
// Assumes: index form, behind all that looks for contractions or fuses into them; before
// split_complex_sums and choose_trees, which see to such sums as to any other.
// Refuses: several summed axes; combines without a value to start lanes from; loads that do not lie
// along what is summed; rows that are known to be many, as of sides that are checked to be long
// (expect_long_sides.cc).
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/mutator.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_contractions.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Of rows that fill a tile badly; complex ones take fewer.
constexpr int64_t kMostRows = 12;
constexpr int64_t kMostComplexRows = 8;
constexpr int64_t kMostSums = 128;  // of more rows
constexpr int64_t kLeastLength = 64;
// With sixteen registers.
constexpr int kBytesOfSixteen = 32;
constexpr int64_t kMostRowsOfSixteen = 10;
constexpr int64_t kFewRows = 4;
constexpr int64_t kLeastLengthOfSixteen = 256;  // of more than a few rows
static_assert(kLongestShortSide >= kMostRows && kLongestShortSide * kLongestShortSide >= kMostSums,
              "of long sides, rows and sums are many");

class RowDotter : public ir::Mutator {
 public:
  RowDotter(ir::Arena* arena, const ir::Function& function, ir::VarSet long_sides, Context& context)
      : Mutator(arena),
        patterns_(function),
        long_sides_(std::move(long_sides)),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool may_be = b->op == OpCode::kContract && LiesAlong(*b);
    const std::optional<Operand> thin = may_be ? IsThin(*b) : std::nullopt;
    if (!thin) return Mutator::Visit(b);
    context_.Note(b->span, "of few rows, each element is a reduction", Topic::kContraction);
    const Binding& contraction = *Rewrite(b);
    const auto branch = [&](const Binding& made) {
      ir::Builder inner = builder().Nested();
      std::vector<Operand> results;
      Binding copy = made;
      for (const Var*& result : copy.results) {
        result = inner.NewVar(result->type, result->hint);
        results.emplace_back(result);
      }
      inner.Append(arena()->New(std::move(copy)));
      return inner.Finish({}, results);
    };
    builder().Emit(OpCode::kIf, contraction.results, {*thin}, {},
                   {branch(NestOf(contraction)), branch(contraction)});
  }

 private:
  // Whether lanes of each sum would read neighbours alone.
  bool LiesAlong(const Binding& b) const {
    const Block& element = *b.blocks[0];
    const size_t free = b.attrs.Int(Attr::kFree);
    const size_t indices = element.params.size();
    if (free < 2 || indices != free + 1 || b.attrs.Int(Attr::kFortran) != 0) return false;
    const ir::CombineTraits traits = ir::TraitsOf(*b.blocks[1]);
    if (!traits.commutes || traits.identities.empty()) return false;
    int loads = 0;
    for (const Binding* load : element.bindings) {
      if (load->op != OpCode::kLoad) continue;
      ++loads;
      if (!patterns_.LiesNext(*load, element.params.back())) return false;
    }
    return loads > 1;
  }

  // Of sizes; nothing where it is known not to be.
  std::optional<Operand> IsThin(const Binding& b) {
    const size_t free = b.attrs.Int(Attr::kFree);
    const auto is_long = [&](const Operand& size) { return long_sides_.contains(size.var()); };
    const auto last = b.operands.begin() + free - 1;
    if (is_long(*last) && std::any_of(b.operands.begin(), last, is_long)) return std::nullopt;
    Operand rows = Operand::Int(1);
    for (size_t axis = 0; axis + 1 < free; ++axis)
      rows = builder().Scalar(OpCode::kMul, {rows, Apply(b.operands[axis])});
    const Operand sums = builder().Scalar(OpCode::kMul, {rows, Apply(b.operands[free - 1])});
    const bool is_complex = ir::IsComplex(ir::DTypeOf(b.blocks[0]->results[0]));
    const bool has_sixteen = context_.options.vector_bytes == kBytesOfSixteen;
    const int64_t most_real = has_sixteen ? kMostRowsOfSixteen : kMostRows;
    const int64_t most = is_complex ? kMostComplexRows : most_real;
    const Operand are_few_sums = AtMost(sums, kMostSums);
    const Operand few = builder().Scalar(OpCode::kOr, {AtMost(rows, most), are_few_sums});
    if (few == Operand::Bool(false)) return std::nullopt;
    Operand least = Operand::Int(kLeastLength);
    if (has_sixteen && !is_complex) {
      const Operand soon = builder().Scalar(OpCode::kOr, {AtMost(rows, kFewRows), are_few_sums});
      least = builder().Scalar(OpCode::kSelect, {soon, least, Operand::Int(kLeastLengthOfSixteen)});
    }
    const Operand is_deep = builder().Scalar(OpCode::kGe, {Apply(b.operands[free]), least});
    const Operand thin = builder().Scalar(OpCode::kAnd, {few, is_deep});
    return thin == Operand::Bool(false) ? std::nullopt : std::optional(thin);
  }

  Operand AtMost(const Operand& size, int64_t most) {
    return builder().Scalar(OpCode::kLe, {size, Operand::Int(most)});
  }

  // The contraction as it says itself: a map over the free indices of a reduction over the last.
  Binding NestOf(const Binding& b) {
    const size_t free = b.attrs.Int(Attr::kFree);
    Block element = *ir::CloneBlock(arena(), *b.blocks[0]);
    const std::vector<const Var*> params(element.params.begin(), element.params.begin() + free);
    element.params.erase(element.params.begin(), element.params.begin() + free);
    const Var* sum = builder().NewVar(ir::TypeOf(element.results[0]), "s");
    ir::Builder body = builder().Nested();
    body.Emit(OpCode::kIreduce, {sum}, {b.operands.begin() + free, b.operands.end()}, {},
              {arena()->New(std::move(element)), ir::CloneBlock(arena(), *b.blocks[1])});
    std::vector<Operand> results = {sum};
    if (b.blocks.size() > 2) {
      std::vector<Operand> arguments(params.begin(), params.end());
      arguments.emplace_back(sum);
      results = ir::InlineBlock(body, *ir::CloneBlock(arena(), *b.blocks[2]), arguments);
    }
    Binding nest{b.results.empty() ? OpCode::kForeach : OpCode::kImap,
                 b.results,
                 {b.operands.begin(), b.operands.begin() + free},
                 {},
                 b.attrs.Without(Attr::kFree).With(Attr::kPart, int64_t{1}),
                 b.span};
    nest.blocks = {body.Finish(params, results)};
    return nest;
  }

  AccessPatterns patterns_;
  const ir::VarSet long_sides_;
  Context& context_;
};

}  // namespace

ir::Program DotThinRows(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    ir::VarSet long_sides;
    for (const LongSide& side : SidesCheckedLong(*function, program.sites)) {
      if (side.longer_than >= kLongestShortSide) long_sides.insert(side.size);
    }
    return RowDotter(program.arena.get(), *function, std::move(long_sides), context).Run(function);
  });
}

}  // namespace parakeet::passes
