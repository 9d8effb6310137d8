// Makes what a reduction, scan or filter goes through as an array first, where each of its elements
// is a reduction of a row that is long enough for several threads of a GPU.
//
// Before:
//   %t: f64 = ireduce (%i) in (%n) add from 0.0 {
//     %s: f64 = ireduce (%j) in (%m) max tree(block 0, lanes 256) { %a = load %x[%i, %j] ... }
//     %e: f64 = exp %s  yield %e }
// After:
//   %t: f64 = if %m >= 64 and %n <= 67108864 {
//     %rows: [n]f64 = imap (%i) in (%n) {
//       %s: f64 = ireduce (%j) in (%m) max ... { ... }  %e: f64 = exp %s  yield %e }
//     %u: f64 = ireduce (%i) in (%n) add from 0.0 { %r: f64 = load %rows[%i]  yield %r }  yield %u
//   } else { ... as before ... }
//
// A reduction gives each element to one thread, which goes through its row alone; an imap gives it
// to a group or a block of them (lowering/lower_row_groups.h, lower_block_rows.h).
//
// Assumes: choose_trees has run, whose orders stay; fusion is over, which would join them again.
// Refuses: what stands inside another operator; elements that are arrays; rows that do not lie
// along memory, of a few elements, or of a length that the element works out.
#include <algorithm>

#include "ir/uses.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kLongRow = 64;
// Of more, as of all pairs, threads are enough without memory for them.
constexpr int64_t kMostRows = int64_t{1} << 26;

class RowMaker : public LoopWriter {
 public:
  RowMaker(ir::Arena* arena, Context& context) : LoopWriter(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (ir::InfoOf(b->op).format != ir::OpFormat::kIndices) return Mutator::Visit(b);
    const bool folds =
        b->op == OpCode::kIreduce || b->op == OpCode::kIscan || b->op == OpCode::kIfilter;
    const Binding* row = folds ? RowOf(*b) : nullptr;
    if (row == nullptr) return builder().Append(Rewrite(b));
    context_.Note(b->span, "its rows are made first", Topic::kThreads, Verdict::kDone);
    const Binding& fold = *Rewrite(b);
    // What a filter goes through is small beside what it keeps, and its results have lengths that
    // no two ways of making them would share.
    if (fold.op == OpCode::kIfilter) return WriteApart(fold);
    const Operand is_long =
        builder().Scalar(OpCode::kGe, {Product(Apply(Extents(*row))), Int(kLongRow)});
    const Operand are_few = builder().Scalar(OpCode::kLe, {Product(Extents(fold)), Int(kMostRows)});
    WriteBoth(fold, builder().Scalar(OpCode::kAnd, {is_long, are_few}));
  }

 private:
  static Operands Extents(const Binding& b) {
    return {b.operands.begin(), b.operands.begin() + b.blocks[0]->params.size()};
  }

  // A reduction of a row that the element of `fold` makes; null for none that is worth it.
  static const Binding* RowOf(const Binding& fold) {
    const Block& element = *fold.blocks[0];
    const auto is_scalar = [](const Operand& value) { return !ir::TypeOf(value).IsArray(); };
    if (!std::all_of(element.results.begin(), element.results.end(), is_scalar)) return nullptr;
    const ir::VarSet inside = ir::DefinedVars(element);
    const Binding* found = nullptr;
    for (const Binding* b : element.bindings) {
      if (b->op != OpCode::kIreduce || b->attrs.Int(Attr::kLanes, 1) <= 1) continue;
      const Operands sizes = Extents(*b);
      const auto is_inside = [&](const Operand& size) { return inside.contains(size.var()); };
      if (std::any_of(sizes.begin(), sizes.end(), is_inside)) return nullptr;
      if (found == nullptr) found = b;
    }
    return found != nullptr && !IsShort(*found) ? found : nullptr;
  }

  static bool IsShort(const Binding& row) {
    int64_t count = 1;
    for (const Operand& size : Extents(row)) {
      if (!size.IsConstant()) return false;
      count *= size.constant().integer;
    }
    return count < kLongRow;
  }

  void WriteBoth(const Binding& fold, const Operand& is_long) {
    const Binding& copy = *ir::CloneBlock(arena(), Block{{}, {&fold}, {}})->bindings[0];
    const Block* apart = BlockOf({}, [&] {
      WriteApart(fold);
      return Operands(fold.results.begin(), fold.results.end());
    });
    const Block* together = BlockOf({}, [&] {
      builder().Append(&copy);
      return Operands(copy.results.begin(), copy.results.end());
    });
    std::vector<const Var*> results;
    for (const Var* result : fold.results)
      results.push_back(builder().NewVar(result->type, result->hint));
    for (size_t k = 0; k < results.size(); ++k) Replace(fold.results[k], results[k]);
    builder().Emit(OpCode::kIf, results, {is_long}, {}, {apart, together});
  }

  void WriteApart(const Binding& fold) {
    const Block& element = *fold.blocks[0];
    const Operands extents = Extents(fold);
    std::vector<const Var*> rows;
    for (const Operand& value : element.results)
      rows.push_back(builder().NewVar(ir::Type::Array(ir::DTypeOf(value), extents), "rows"));
    builder().set_span(fold.span);
    builder().Emit(OpCode::kImap, rows, extents, {}, {&element});
    std::vector<const Var*> index;
    for (const Var* param : element.params)
      index.push_back(builder().NewVar(param->type, param->hint));
    Binding reads = fold;
    reads.blocks[0] = BlockOf(index, [&] {
      Operands values;
      for (const Var* row : rows)
        values.push_back(builder().Load(row, Operands(index.begin(), index.end())));
      return values;
    });
    builder().Append(arena()->New(std::move(reads)));
  }

  Context& context_;
};

}  // namespace

ir::Program MakeRowsFirst(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return RowMaker(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
