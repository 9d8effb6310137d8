// Sorts rows of a few elements in registers, as sort_by_network does, where callers alone say how
// many there are (Options::lengths).
//
// Before: (the caller says that %m is 3)
//   %r: [n][m]f64 = imap (%i) in (%n) { %v: [m]f64 = imap (%k) in (%m) { ... }
//                                       %s: i64 = library_call @sort(%v)  yield %v }
// After:
//   %r: [n][m]f64 = imap (%i) in (%n) { ... exchanges of pairs ...
//                                       %v: [m]f64 = alloc (%m)  store ...  yield %v }
//
// Of rows whose length is that of a parameter's axis and is not said, the pass says that it would
// like to know (Context::better_with_lengths).
//
// Assumes: index form, behind what fuses: no reduction is another for what this pass writes, so
// that orders of sums do not follow from lengths.
// Refuses: what sort_by_network refuses; a row that is sorted by itself.
#include "passes/analyses/known_lengths.h"
#include "passes/lowering/row_sorter.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::OpCode;

class KnownRowSorter : public RowSorter {
 public:
  KnownRowSorter(ir::Arena* arena, const ir::Function& function, Context& context)
      : RowSorter(arena, function, context), lengths_(function, context.options) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    nests_ += is_nest;
    RowSorter::Visit(b);
    nests_ -= is_nest;
  }

  std::optional<int64_t> LengthOf(const Binding& call, const ir::Operand& extent) override {
    if (nests_ == 0) return std::nullopt;
    const std::optional<int64_t> length = lengths_.Of(extent);
    if (!length) {
      const std::set<size_t> parameters = lengths_.ParametersOf(extent);
      context().better_with_lengths.insert(parameters.begin(), parameters.end());
    }
    return length;
  }

 private:
  KnownLengths lengths_;
  int nests_ = 0;  // around what is visited
};

}  // namespace

ir::Program SortKnownRows(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return KnownRowSorter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
