// Makes one nest of a loop and the loop inside it, or of a reduction of reductions, where the inner
// extent depends on the outer index: over the most iterations that any outer index has, with a
// guard. A GPU's threads then share all pairs.
//
// Before:
//   %t: i64 = ireduce (%i) in (%n) add from 0 {
//     %lo = add %i, 1  %hi = max %n, %lo  %m = sub %hi, %lo
//     %s: i64 = ireduce (%k) in (%m) add from 0 { %j = add %lo, %k  ... yield %v }
//     yield %s }
// After:
//   %most = sub %n, 1
//   %t: i64 = ireduce (%i, %k) in (%n, %most) add from 0 {
//     %lo = add %i, 1  %hi = max %n, %lo  %m = sub %hi, %lo
//     %is_in = lt %k, %m
//     %w: i64 = if %is_in { %j = add %lo, %k  ... yield %v } else { yield 0 }
//     yield %w }
//
// Where few outer indexes have a long reduction each, as the lags of a correlation, the reductions
// alone go over their most iterations: blocks of threads then share each of them.
//
// The extent is bounded by what it is put together of (analyses/extent_bounds.h): triangles, bands
// and windows that end at borders. With a second version, as before, where a bound rests on values
// that may be anything, and where many outer indexes have a window each: their threads are enough,
// and as busy.
//
// Assumes: index form, of a GPU.
// Refuses: what stands inside another operator; extents that what is loaded decides; code beside
// the inner loop that is dear, may fail or stores, or reads what those store.
#include <algorithm>
#include <optional>

#include "ir/uses.h"
#include "passes/fusing/combine_nests.h"
#include "passes/lowering/box_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kManyOuter = 1 << 14;
// Of no fewer indexes with a reduction each, or of shorter ones, a block of threads makes each.
constexpr int64_t kFewRows = 264;
constexpr int64_t kLongRow = 1 << 16;

class TriangleBoxer : public BoxWriter {
 public:
  TriangleBoxer(ir::Arena* arena, const ir::Function& function, Context& context)
      : BoxWriter(arena), function_(function), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (inside_ || ir::InfoOf(b->op).format != ir::OpFormat::kIndices) return Mutator::Visit(b);
    inside_ = true;
    const Binding& nest = *Rewrite(b);
    inside_ = false;
    if (!Box(nest) && !BoxRows(nest)) builder().Append(&nest);
  }

 private:
  // Appends both ways; false where there is one alone.
  bool Box(const Binding& nest) {
    const Binding* inner = InnerNest(nest);
    if (inner == nullptr || inner->op == OpCode::kImap || !WhyNotCombined(nest, roots_).empty())
      return false;
    ExtentBounds bounds(function_, nest);
    const std::optional<Operands> most = MostExtents(bounds, nest, *inner);
    if (!most || *most == Extents(*inner)) return false;
    context_.Note(nest.span, "made one with the loop inside, behind a guard", Topic::kNests,
                  Verdict::kDone);
    Operand fits = bounds.Holds(builder());
    if (bounds.HasWindow()) {
      const Operand are_few =
          builder().Scalar(OpCode::kLt, {Product(Extents(nest)), Int(kManyOuter)});
      fits = builder().Scalar(OpCode::kAnd, {fits, are_few});
    }
    const Binding* boxed = MadeOne(nest, *inner, *most);
    fits == Operand::Bool(true) ? Append(nest, *boxed) : WriteBoth(nest, fits, boxed);
    return true;
  }

  // Appends both ways of a nest of one long reduction an index; false where there is one alone.
  bool BoxRows(const Binding& nest) {
    const std::optional<size_t> at = OnlyReduction(nest);
    if (!at) return false;
    const Block& body = *nest.blocks[0];
    const Binding& inner = *body.bindings[*at];
    const Operand& extent = inner.operands[0];
    const bool is_own = extent.IsVar() && ir::DefinedVars(body).contains(extent.var());
    const Operand count = Product(Extents(nest));
    if (!is_own || (count.IsConstant() && count.constant().integer >= kFewRows)) return false;
    ExtentBounds bounds(function_, nest);
    const std::optional<Operand> most = bounds.Write(builder(), extent);
    if (!most) return false;
    context_.Note(nest.span, "its reductions go over as many elements each, behind a guard",
                  Topic::kNests, Verdict::kDone);
    const Operand are_few = builder().Scalar(OpCode::kLt, {count, Int(kFewRows)});
    const Operand are_long = builder().Scalar(OpCode::kGt, {*most, Int(kLongRow)});
    const Operand worth = builder().Scalar(OpCode::kAnd, {are_few, are_long});
    Block boxed = body;
    boxed.bindings[*at] = arena()->New(Boxed(inner, {*most}));
    Binding outer = nest;
    outer.blocks[0] = arena()->New(std::move(boxed));
    WriteBoth(
        nest, builder().Scalar(OpCode::kAnd, {bounds.Holds(builder()), worth}),
        ir::CloneBlock(arena(), Block{{}, {arena()->New(std::move(outer))}, {}})->bindings[0]);
    return true;
  }

  // The place of a nest's one loop, a reduction along one axis, beside code that does not raise.
  std::optional<size_t> OnlyReduction(const Binding& nest) const {
    if (nest.op != OpCode::kImap && nest.op != OpCode::kForeach) return std::nullopt;
    const std::vector<const Binding*>& bindings = nest.blocks[0]->bindings;
    std::optional<size_t> only;
    for (size_t k = 0; k < bindings.size(); ++k) {
      const Binding& b = *bindings[k];
      if (EffectsOf(b, roots_).may_fail) return std::nullopt;
      if (b.op == OpCode::kIreduce && !only) {
        only = k;
      } else if (!ir::IsScalarOp(b.op) && b.op != OpCode::kLoad && b.op != OpCode::kStore) {
        return std::nullopt;
      }
    }
    const bool is_along_one =
        only && bindings[*only]->blocks[0]->params.size() == 1 && !ElseOf(*bindings[*only]).empty();
    return is_along_one ? only : std::nullopt;
  }

  // In place of the nest.
  void Append(const Binding& nest, const Binding& boxed) {
    for (size_t k = 0; k < nest.results.size(); ++k) Replace(nest.results[k], boxed.results[k]);
    builder().Append(&boxed);
  }

  // The two as one.
  const Binding* MadeOne(const Binding& nest, const Binding& inner, const Operands& most) {
    Binding outer = nest;
    Block body = *nest.blocks[0];
    body.bindings.back() = arena()->New(Boxed(inner, most));
    outer.blocks[0] = arena()->New(std::move(body));
    return ir::CloneBlock(arena(), Block{{}, {CombinedNest(arena(), outer)}, {}})->bindings[0];
  }

  void WriteBoth(const Binding& nest, const Operand& condition, const Binding* boxed) {
    const auto block_of = [&](const Binding* b) {
      const Operands results(b->results.begin(), b->results.end());
      return arena()->New(Block{{}, {b}, results});
    };
    const Binding* before = ir::CloneBlock(arena(), Block{{}, {&nest}, {}})->bindings[0];
    builder().Emit(OpCode::kIf, nest.results, {condition}, {}, {block_of(boxed), block_of(before)});
  }

  const ir::Function& function_;
  Roots roots_;
  Context& context_;
  bool inside_ = false;
};

}  // namespace

ir::Program BoxTriangles(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return TriangleBoxer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
