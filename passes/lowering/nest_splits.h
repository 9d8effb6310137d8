#ifndef PARAKEET_PASSES_LOWERING_NEST_SPLITS_H_
#define PARAKEET_PASSES_LOWERING_NEST_SPLITS_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// One of the nests that a nest is split into: what it does of the nest's block, beside scalar code
// and loads that are no part's, which every part repeats that needs them.
using NestPart = std::vector<const ir::Binding*>;

// Rows, each with the array of all of them.
using RowArrays = std::unordered_map<const ir::Var*, const ir::Var*>;

// True for what every part may repeat.
bool IsRepeated(const ir::Binding& b);

// Whether nothing is done with these arrays in the block but that elements are loaded.
bool LoadsAlone(const ir::Block& block, const ir::VarSet& arrays);

// Appends a foreach for each part, behind one another, with arrays of what later ones read of
// earlier ones. Rows in `kept` are stored to their arrays by the parts. Iterations of the foreach
// touch nothing that others store. Appends nothing, and says why, where the nest cannot be split:
// the block checks by itself, or parts repeat loads of what is stored over; a part reads what a
// later one makes, or passes on a whole array that another makes.
std::string SplitNest(ir::Builder& builder, const ir::Binding& nest,
                      const std::vector<NestPart>& parts, RowArrays kept, const Roots& roots);

// The same where parts that store to nothing but rows of their own become maps of what later ones
// read, as fusion knows them.
std::string SplitIntoMaps(ir::Builder& builder, const ir::Binding& nest,
                          const std::vector<NestPart>& parts, const Roots& roots);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_NEST_SPLITS_H_
