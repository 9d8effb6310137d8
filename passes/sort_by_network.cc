// Sorts rows of a few elements, of which the program says how many there are, in registers.
//
// Before:
//   %v: [3]f64 = map (%a in %row) { yield %a }
//   %s: i64 = library_call @sort(%v)
// After: (lowering/sorting_network.h)
//   %a = load %row[0]  %b = load %row[1]  %c = load %row[2]
//   ... exchanges of pairs, each a min and a max ...
//   %v: [3]f64 = alloc (3)  store %v[0], %d  store %v[1], %e  store %v[2], %f
//
// Orders, selections and partitions are made likewise; lanes and threads of a GPU then take a row
// each, and what reads some places of a row needs no other: a median is the middle of a network.
//
// Assumes: views are still views, through which elements are read wherever they lie; what a row is
// copied for, so that a library may have it dense, is not made then.
// Refuses: rows of more than kMostInNetwork elements; complex numbers; stable sorts of floats,
// which keep zeros of either sign in order; indexes that are sorted and do not count up.
#include "passes/lowering/row_sorter.h"

namespace parakeet::passes {
namespace {

class NetworkSorter : public RowSorter {
 public:
  using RowSorter::RowSorter;

 protected:
  std::optional<int64_t> LengthOf(const ir::Binding&, const ir::Operand& extent) override {
    if (!extent.IsConstant()) return std::nullopt;
    return extent.constant().integer;
  }
};

}  // namespace

ir::Program SortByNetwork(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return NetworkSorter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
