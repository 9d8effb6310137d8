// Splits nests that go through their rows several times into a nest for each time, where rows are
// so few and so long that blocks of a GPU's threads should share each of them.
//
// Before:
//   foreach (%i) in (%n) {
//     %t: f64 = ireduce (%j) in (%m) add from 0.0 tree(block 0, lanes 1024) {run = 16384} { ... }
//     foreach (%j) in (%m) { ... %t ... store %y[%i, %j], %q } }
// After:
//   if (%n < 264 and %m > 16384) {
//     %ts: [n]f64 = alloc (%n)
//     foreach (%i) in (%n) { %t: f64 = ireduce (%j) in (%m) add ... { ... }  store %ts[%i], %t }
//     foreach (%i, %j) in (%n, %m) { %t: f64 = load %ts[%i]  ...  store %y[%i, %j], %q } } else {
//     foreach (%i) in (%n) { ... as before ... } }
//
// Assumes: choose_trees has run, whose orders stay.
// Refuses: nests without a reduction in runs, or with one operator; those that yield rows, and what
// cannot be split (lowering/nest_splits.h).
#include <algorithm>
#include <string>

#include "ir/uses.h"
#include "passes/lowering/block_threads.h"
#include "passes/lowering/loop_writer.h"
#include "passes/lowering/nest_splits.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class LongRowSplitter : public LoopWriter {
 public:
  LongRowSplitter(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_control =
        b->op == OpCode::kFor || b->op == OpCode::kWhile || b->op == OpCode::kIf;
    if (inside_ || is_control) return Mutator::Visit(b);
    inside_ = true;
    const Binding& nest = *Rewrite(b);
    inside_ = false;
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    if (!is_nest || !Split(nest)) builder().Append(&nest);
  }

 private:
  static bool IsInRuns(const Binding& b) {
    return b.op == OpCode::kIreduce && b.attrs.Int(Attr::kLanes, 1) > 1 && b.attrs.Has(Attr::kRun);
  }

  // Each operator is a part, with what is stored behind it.
  static std::vector<NestPart> PartsOf(const ir::Block& body) {
    std::vector<NestPart> parts;
    bool ends = true;
    for (const Binding* b : body.bindings) {
      if (IsRepeated(*b)) continue;
      if (ends || b->op != OpCode::kStore) parts.emplace_back();
      parts.back().push_back(b);
      ends = false;
    }
    return parts;
  }

  // Appends both ways; false where there is one alone.
  bool Split(const Binding& nest) {
    const std::vector<const Binding*>& bindings = nest.blocks[0]->bindings;
    const auto first = std::find_if(bindings.begin(), bindings.end(),
                                    [](const Binding* b) { return IsInRuns(*b); });
    const bool yields_rows = std::any_of(nest.results.begin(), nest.results.end(), [&](auto* r) {
      return r->type.rank() != int(nest.operands.size());
    });
    if (first == bindings.end() || yields_rows || IsFortran(nest)) return false;
    const Binding& stored = Stored(nest);
    const std::vector<NestPart> parts = PartsOf(*stored.blocks[0]);
    if (parts.size() < 2) return false;
    Builder split = builder().Nested();
    const std::string reason = SplitNest(split, stored, parts, {}, roots_);
    const ir::VarSet inside = ir::DefinedVars(*nest.blocks[0]);
    const size_t axes = (*first)->blocks[0]->params.size();
    const Operands sizes((*first)->operands.begin(), (*first)->operands.begin() + axes);
    const bool is_known = std::none_of(sizes.begin(), sizes.end(),
                                       [&](auto& size) { return inside.contains(size.var()); });
    if (!reason.empty() || !is_known) {
      if (!reason.empty())
        context_.Note(nest.span, "a row is one block's: " + reason, Topic::kThreads,
                      Verdict::kRefused);
      return false;
    }
    for (const Var* result : nest.results)
      builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
    const Operand is_long =
        builder().Scalar(OpCode::kGt, {Product(sizes), Int((*first)->attrs.Int(Attr::kRun))});
    const Operand are_few =
        builder().Scalar(OpCode::kLt, {Product(nest.operands), Int(kFewBlocks)});
    Builder whole = builder().Nested();
    whole.Append(&stored);
    builder().Emit(OpCode::kIf, {}, {builder().Scalar(OpCode::kAnd, {is_long, are_few})}, {},
                   {split.Finish({}, {}), whole.Finish({}, {})});
    return true;
  }

  // An imap as a foreach that stores what it yields.
  const Binding& Stored(const Binding& nest) {
    if (nest.op == OpCode::kForeach) return nest;
    Binding stored = nest;
    stored.op = OpCode::kForeach;
    stored.results.clear();
    Builder body = builder().Nested();
    for (const Binding* b : nest.blocks[0]->bindings) body.Append(b);
    const Operands index(nest.blocks[0]->params.begin(), nest.blocks[0]->params.end());
    for (size_t k = 0; k < nest.results.size(); ++k)
      body.Store(nest.results[k], index, nest.blocks[0]->results[k]);
    stored.blocks = {body.Finish(nest.blocks[0]->params, {})};
    return *arena()->New(std::move(stored));
  }

  Roots roots_;
  Context& context_;
  bool inside_ = false;
};

}  // namespace

ir::Program SplitLongRows(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LongRowSplitter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
