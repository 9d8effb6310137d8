#ifndef PARAKEET_PASSES_ANALYSES_FIND_CONTRACTIONS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_CONTRACTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/arena.h"
#include "ir/node.h"

namespace parakeet::passes {

// The one ireduce of the map's block; null where there are none or several.
const ir::Binding* ReductionIn(const ir::Binding& map);
// The ireduce that is all of a block that yields one value; null where there is none.
const ir::Binding* OnlyReduction(const ir::Block& block);

// Why an imap or a foreach with that reduction is no contraction; empty where it is one. What the
// map makes beside the reduction is scalar code, part of its elements or of what follows; whether a
// foreach stores to what is summed is not asked.
std::string WhyNoContraction(const ir::Binding& map, const ir::Binding& reduction);
// True where two loads that follow what is summed each follow a free index which the other does
// not.
bool ReusesOperands(const ir::Binding& map, const ir::Binding& reduction);
// Such an imap or foreach as a `contract`.
const ir::Binding* ContractionOf(ir::Arena* arena, const ir::Binding& map,
                                 const ir::Binding& reduction);

// The extents of a contraction's free indexes but for those of a batch, which all that is summed
// follows: what a tile may have as rows or columns.
std::vector<ir::Operand> SidesOf(const ir::Binding& contract);
// Sizes that the function has checked first to be longer than that (expect_long_sides.cc).
struct LongSide {
  const ir::Var* size;
  int64_t longer_than;
};
std::vector<LongSide> SidesCheckedLong(const ir::Function& function, const ir::Sites& sites);
// True of one that is known to be short (other_shapes.h).
bool IsKnownShortSide(const ir::Operand& side);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_CONTRACTIONS_H_
