#ifndef PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_
#define PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_

#include <string>

#include "ir/node.h"
#include "passes/analyses/access_patterns.h"

namespace parakeet::passes {

// Threads of a GPU's block that makes elements by reductions along rows, and how many places of a
// row that is not long each has in registers.
inline constexpr int64_t kRowThreads = 256;
inline constexpr int64_t kRowPlaces = 8;

// How many neighbours along such rows a thread takes at a time: 16 bytes of the widest elements
// that the nest around the reductions reads or writes in its operators; what an element has once,
// be it yielded or stored, is as wide as it is. `nest` may be null.
int64_t RowNeighbours(const ir::Binding* nest);
inline int64_t RowNeighbours(const ir::Binding& nest) { return RowNeighbours(&nest); }

// True of a reduction of rows that are as long as elements say, and of which each element is found
// by another, or is a test. They are mostly short, so that lanes would wait for one another: such
// are the rows of a sparse matrix, or the neighbours of a node. `around` is what has it for each of
// its own indices.
bool IsRagged(const ir::Binding& reduction, const ir::Binding& around);

// True where a `while` in the block goes on as long as elements say, at places of its own that each
// index is at: a match that is followed as far as it goes. Most are soon over, and lanes would
// gather for the longest of them.
bool FollowsElements(const ir::Block& block, const ir::Var* index);

// True where a `while` in the block looks for something that each index finds for itself: elements
// that lanes would gather, or quotients by no constant, decide when it ends, little else is done,
// and a step mostly only counts. Most have long found it when the last one does. A loop that waits
// for its quotients, as a greatest common divisor does, is none: lanes wait for many at a time.
bool SearchesAlone(const ir::Block& block, const ir::Var* index, const AccessPatterns& patterns);

// True where the nest around an operator does better to give its own index to lanes: of what is
// read or stored anew for each element of the operator, less would lie anywhere; or as much, and
// some lies one after the other along that index, so that no lanes have to be added up.
bool SuitsIndexAround(const ir::Binding& inner, const ir::Binding& nest,
                      const AccessPatterns& patterns);

// Why a reduction's elements are to be combined in their order, whoever takes them; empty where any
// order will do.
std::string WhyNoLanesToCombine(const ir::Binding& reduction);

// Why an ireduce is to combine one element after the other and not in lanes; empty where lanes take
// its last index. `nest` is the innermost imap, foreach or ifilter around it; null for none. With
// `may_check` the elements of sums of floats may be checked, which lanes do together: additions of
// floats wait for one another, what waits for less gains less than that costs.
std::string WhyNoLanes(const ir::Binding& reduction, const ir::Binding* nest,
                       const AccessPatterns& patterns, bool may_check = false);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_
