// Makes the sums of a triangle for some rows at a time, each of which alone would be a matrix times
// a vector.
//
// Before:
//   foreach (%i) in (%n) {
//     %m = sub %n, %i
//     %v: [m]f64 = imap (%j) in (%m) {
//       %at = add %i, %j
//       %s = ireduce (%k) in (%l) add from 0.0 { ... load %X[%k, %i] ... load %Y[%k, %at] ... }
//       ... %s ... }
//     ... }
// After:
//   foreach (%b) in (%blocks) {
//     %lo = %b * %each   %h = min (%n - %lo), %each   %w = %n - %lo
//     %sums: [h][w]f64 = imap (%r, %c) in (%h, %w) {
//       %p = add %lo, %r  %q = add %lo, %c
//       %s = ireduce (%k) in (%l) add from 0.0 { ... load %X[%k, %p] ... load %Y[%k, %q] ... }
//       yield %s }
//     foreach (%r) in (%h) {
//       %i = %lo + %r
//       ... %s = load %sums[%r, %r + %j] ... } }
//
// Rows that begin at the diagonal, as here, rows that end there, and rows of one length, by the
// last index of the loop. Each block is a contraction (recognize_contractions.cc), whose operands
// are used again while they are in registers; what it makes beyond the triangle reads what rows of
// the block read, and no other block stores there.
//
// On a GPU all rows are one block, where the rows are stored: there is memory for as much as is
// stored, and kernels take whole arrays.
//
// Assumes: index form after fusion, before recognize-contractions.
// Refuses: what is no contraction even so; rows of other lengths; iterations that may fail, or that
// store to what is summed before it is; nests within nests, which are on one thread.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/uses.h"
#include "passes/analyses/contraction_operands.h"
#include "passes/analyses/find_contractions.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Rows of a block: what packs a block's columns is paid for by so many, and half as many are made
// for nothing; blocks enough for threads where there are many rows.
constexpr int64_t kLeastRowsOfBlock = 32;
constexpr int64_t kLeastOfOneLength = 64;  // Where all that is made is read.
constexpr int64_t kTriangleBlocks = 32;

// A nest of one index in an iteration of the loop, with the sum that blocks make.
struct Row {
  const Binding* nest = nullptr;
  const Binding* reduction = nullptr;
  // What no row decides and `growth` times the loop's index: -1, 0 or 1.
  LinearForm length;
  int64_t growth = 0;
};

// Where a block of rows begins, how many it has and how long the longest is.
struct Extent {
  Operand lo, height, width;
};

class TriangleBlocker : public LoopWriter {
 public:
  TriangleBlocker(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), forms_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (writing_) return b == row_.reduction ? ReadSum() : Mutator::Visit(b);
    if (b->op == OpCode::kForeach && IsBlocked(*b)) return WriteBlocks(*b);
    // What is within a nest is on one thread.
    const bool is_nest = InfoOf(b->op).format == ir::OpFormat::kIndices;
    is_nest ? builder().Append(b) : Mutator::Visit(b);
  }

 private:
  // --- What is to be blocked. ---

  bool IsBlocked(const Binding& loop) {
    if (EffectsOf(loop, roots_).may_fail) return false;
    const Block& body = *loop.blocks[0];
    ir::VarSet stored;
    for (const Binding* nest : body.bindings) {
      const ir::VarSet writes = EffectsOf(*nest, roots_).writes;
      stored.insert(writes.begin(), writes.end());
      const bool is_nest = nest->op == OpCode::kImap || nest->op == OpCode::kForeach;
      if (!is_nest || nest->operands.size() != 1) continue;
      const Binding* reduction = ReductionIn(*nest);
      if (reduction == nullptr || reduction->results.size() != 1) continue;
      const LinearForm length = LengthOf(nest->operands[0], loop);
      row_ = {nest, reduction, length, length.Coefficient(body.params.back())};
      if (row_.growth >= -1 && row_.growth <= 1 && IsKnownOutside(length, loop) &&
          (!context_.options.kernels || IsOneBlock(loop)) && IsContraction(loop) &&
          !Intersects(stored, EffectsOf(*reduction, roots_).reads))
        return true;
    }
    return false;
  }

  // Whether arrays hold all that one block is made of.
  bool IsOneBlock(const Binding& loop) const {
    const std::vector<const Binding*>& bindings = loop.blocks[0]->bindings;
    return loop.operands.size() == 1 &&
           std::any_of(bindings.begin(), bindings.end(), [&](const Binding* b) {
             return b->op == OpCode::kForeach && b->operands == row_.nest->operands;
           });
  }

  // The length of a row, of maxima that an iteration makes of it those which are it for all rows:
  // of `range(%i, %n)` it is max(%n, %i) - %i.
  LinearForm LengthOf(const Operand& extent, const Binding& loop) const {
    LinearForm length = forms_.Of(extent);
    for (const Binding* b : loop.blocks[0]->bindings) {
      if (b->op != OpCode::kMax || length.Coefficient(b->result()) == 0) continue;
      const LinearForm a = forms_.Of(b->operands[0]), other = forms_.Of(b->operands[1]);
      if (IsNeverLess(a, other, loop)) length = length.With(b->result(), a);
      if (IsNeverLess(other, a, loop)) length = length.With(b->result(), other);
    }
    return length;
  }

  // True where a is b or more for all indexes of the loop: for the first or the last, where it is
  // least more.
  bool IsNeverLess(const LinearForm& a, const LinearForm& b, const Binding& loop) const {
    const Var* index = loop.blocks[0]->params.back();
    const LinearForm more = Difference(a, b);
    const int64_t step = more.Coefficient(index);
    const LinearForm last = Plus(forms_.Of(loop.operands.back()), -1);
    const LinearForm least = more.With(index, step < 0 ? last : LinearForm());
    return step >= -1 && step <= 1 && least.IsConstant() && least.constant >= 0;
  }

  static bool IsKnownOutside(const LinearForm& form, const Binding& loop) {
    const Block& body = *loop.blocks[0];
    ir::VarSet inside = ir::DefinedVars(body);
    for (const Var* index : body.params) inside.erase(index);
    return std::none_of(form.terms.begin(), form.terms.end(),
                        [&](const auto& term) { return inside.contains(term.first); });
  }

  bool IsContraction(const Binding& loop) {
    ir::Builder scratch = builder().Nested();
    const Operand lo(scratch.NewVar(ir::DType::kI64)), height(scratch.NewVar(ir::DType::kI64));
    const Operand width(scratch.NewVar(ir::DType::kI64));
    const Binding* sums = SumsOf(scratch, loop, {lo, height, width});
    if (sums == nullptr) return false;
    const Binding* plain = WithPlainOperands(scratch, forms_, *sums);
    return WhyNoContraction(*plain, *ReductionIn(*plain)).empty();
  }

  // --- Writing blocks. ---

  void WriteBlocks(const Binding& loop) {
    Operands extents = Apply(loop.operands);
    const Operand rows = extents.back();
    if (context_.options.kernels) {
      context_.Note(loop.span, "makes sums for all rows at once");
      return WriteBlock(loop, {Int(0), rows, Max(WidthOf(loop, Int(0), rows), Int(0))});
    }
    context_.Note(loop.span, "makes sums some rows at a time");
    const Operand each =
        Max(builder().Scalar(OpCode::kFloorDiv, {rows, Int(kTriangleBlocks)}), Int(LeastRows()));
    std::vector<const Var*> indexes = loop.blocks[0]->params;
    indexes.back() = builder().NewVar(ir::DType::kI64, "b");
    const Block* block = BlockOf(indexes, [&] {
      const Operand lo = builder().Mul(indexes.back(), each);
      const Operand height = Min(builder().Sub(rows, lo), each);
      WriteBlock(loop, {lo, height, WidthOf(loop, lo, height)});
      return Operands{};
    });
    extents.back() = CeilDiv(rows, each);
    builder().Emit(OpCode::kForeach, {}, extents, {}, {block});
  }

  int64_t LeastRows() const { return row_.growth == 0 ? kLeastOfOneLength : kLeastRowsOfBlock; }

  void WriteBlock(const Binding& loop, const Extent& extent) {
    const Binding* sums = SumsOf(builder(), loop, extent);
    builder().Append(sums);
    const Var* row = builder().NewVar(ir::DType::kI64, "i");
    sums_ = sums->result();
    place_ = row;
    writing_ = true;
    const Block& iteration = *loop.blocks[0];
    const Block* body = BlockOf({row}, [&] {
      Operands place(iteration.params.begin(), iteration.params.end());
      place.back() = builder().Add(extent.lo, row);
      return VisitBody(iteration, place);
    });
    writing_ = false;
    builder().Emit(OpCode::kForeach, {}, {extent.height}, {}, {body});
  }

  // The length of the block's first or last row, whichever is longer.
  Operand WidthOf(const Binding& loop, const Operand& lo, const Operand& height) {
    LinearForm longest = forms_.Of(lo);
    if (row_.growth > 0) longest.Add(Plus(forms_.Of(height), -1), 1);
    return WrittenHere(builder(), row_.length.With(loop.blocks[0]->params.back(), longest));
  }

  Operand WrittenHere(ir::Builder& into, const LinearForm& form) {
    const size_t before = into.bindings().size();
    const Operand value = Written(into, form, [&](const Var* var) { return Apply(Operand(var)); });
    for (size_t k = before; k < into.bindings().size(); ++k) forms_.Learn(*into.bindings()[k]);
    return value;
  }

  void ReadSum() {
    Operand column = Apply(Operand(row_.nest->blocks[0]->params[0]));
    if (row_.growth < 0) column = builder().Add(place_, column);
    Replace(row_.reduction->result(), builder().Load(sums_, {place_, column}));
  }

  // --- The sums of a block. ---

  // Null where they are made of more than loads and scalars, or take the indexes for more than
  // places: for how much is summed, too.
  const Binding* SumsOf(ir::Builder& into, const Binding& loop, const Extent& extent) {
    const std::vector<Operand>& lengths = row_.reduction->operands;
    const Block &outer = *loop.blocks[0], &inner = *row_.nest->blocks[0];
    const Var *row = into.NewVar(ir::DType::kI64, "i"), *column = into.NewVar(ir::DType::kI64, "j");
    LinearForm own = forms_.Of(extent.lo), along = LinearForm::Of(column);
    own.Add(LinearForm::Of(row), 1);
    if (row_.growth < 0) along.Add(LinearForm::Of(row), -1);
    places_ = {{outer.params.back(), own}, {inner.params[0], along}};
    if (std::any_of(lengths.begin(), lengths.end(), [&](auto& o) { return IsOfIndexes(o); }))
      return nullptr;
    const ir::VarSet read = ir::FreeVars(*row_.reduction);
    std::vector<const Binding*> made = NeededBindings(inner, read);
    ir::VarSet around = read;
    for (const Binding* b : made) ir::ForEachUse(*b, [&](const Var* used) { around.insert(used); });
    const auto first = NeededBindings(outer, around);
    made.insert(made.begin(), first.begin(), first.end());
    ir::Builder code = into.Nested();
    Block element = *row_.reduction->blocks[0];
    ir::Builder summed = into.Nested();
    for (const Binding* b : made) {
      if (!Rewrite(*b, code)) return nullptr;
    }
    for (const Binding* b : element.bindings) {
      if (!Rewrite(*b, summed)) return nullptr;
    }
    Binding sum = *row_.reduction;
    sum.blocks[0] = summed.Finish(element.params, element.results);
    const ir::DType dtype = ir::DTypeOf(Operand(sum.result()));
    sum.results = {into.NewVar(sum.result()->type, "s")};
    code.Append(arena()->New(sum));
    const Block* body = code.Finish({row, column}, {Operand(sum.results[0])});
    const Var* sums = into.NewVar(ir::Type::Array(dtype, {extent.height, extent.width}), "sums");
    return arena()->New(
        Binding{OpCode::kImap, {sums}, {extent.height, extent.width}, {body}, {}, loop.span});
  }

  // Appends what makes an element at a block's indexes. Sums of indexes are written where loads
  // read at them.
  bool Rewrite(const Binding& b, ir::Builder& into) {
    if (!b.blocks.empty()) return false;
    if (b.op == OpCode::kLoad) {
      Binding load = b;
      for (size_t k = 1; k < load.operands.size(); ++k) {
        if (IsOfIndexes(b.operands[k])) load.operands[k] = PlaceOf(b.operands[k], into);
      }
      into.Append(arena()->New(std::move(load)));
      return true;
    }
    const bool is_of_indexes = std::any_of(b.operands.begin(), b.operands.end(),
                                           [&](const Operand& o) { return IsOfIndexes(o); });
    if (!is_of_indexes && ir::IsScalarOp(b.op)) into.Append(&b);
    return is_of_indexes ? forms_.IsKnown(b) : ir::IsScalarOp(b.op);
  }

  bool IsOfIndexes(const Operand& operand) const {
    return std::any_of(places_.begin(), places_.end(), [&](const auto& place) {
      return forms_.Of(operand).Coefficient(place.first) != 0;
    });
  }

  Operand PlaceOf(const Operand& operand, ir::Builder& into) {
    LinearForm form = forms_.Of(operand);
    for (const auto& [index, place] : places_) form = form.With(index, place);
    return WrittenHere(into, form);
  }

  Roots roots_;
  WrappingForms forms_;
  Context& context_;
  Row row_;
  // By index of the loop and of the row, what it is in a block.
  std::vector<std::pair<const Var*, LinearForm>> places_;
  // While the iterations of a block are written: its sums, and the row of them.
  const Var* sums_ = nullptr;
  const Var* place_ = nullptr;
  bool writing_ = false;
};

}  // namespace

ir::Program BlockTriangles(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return TriangleBlocker(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
