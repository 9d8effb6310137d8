#ifndef PARAKEET_PASSES_ANALYSES_PREFIX_READERS_H_
#define PARAKEET_PASSES_ANALYSES_PREFIX_READERS_H_

#include <unordered_map>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// A nest that takes each prefix of a scan at the prefix's own index: it can be written where the
// scan has just made it.
struct PrefixReader {
  const ir::Binding* scan;
  const ir::Binding* nest;
  // What the nest makes of a prefix: takes the index, then the values there of some of the scan's
  // results, whose numbers `takes` has.
  ir::Block body;
  std::vector<size_t> takes;
  // What becomes of the array of a result.
  enum Array {
    kStored,   // It is read elsewhere too.
    kLeftOut,  // Nobody else reads it.
    kReused,   // The nest stores over it what it makes.
  };
  std::vector<Array> arrays;
};

// The readers in a function, by their nests. What stands between the two neither reads the prefixes
// nor stores to what the scan reads, so the scan can be written where the nest is. The nest is
// cheap, raises nothing and has no loops. The scan raises nothing and needs no array to be written:
// in a kernel, its threads share it and have its elements in shared memory. What the nest stores to
// is read by the scan's elements at the place of that very store, or not at all: any prefix may be
// stored when the element of its own index has been read.
std::unordered_map<const ir::Binding*, PrefixReader> FindPrefixReaders(const ir::Function& function,
                                                                       bool for_kernels);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_PREFIX_READERS_H_
