#ifndef PARAKEET_PASSES_ANALYSES_ROW_SCANS_H_
#define PARAKEET_PASSES_ANALYSES_ROW_SCANS_H_

#include <optional>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// A nest that does nothing but scan rows and store what it makes of each prefix:
//
//   foreach (%i) in (%n) {
//     %w = load %weights[%i]                       before: scalar code, loads and checks
//     %s: [m]f64 = iscan (%j) in (%m) add { ... }
//     foreach (%k) in (%m) { %p = load %s[%k]  ...  store %y[%i, %k], %q } }
//
// The prefixes are loaded at %k alone, so that each may be stored as soon as it is made.
struct RowScan {
  ir::Block before;           // Takes the nest's indices, and yields nothing.
  const ir::Binding* scan;    // over one axis
  const ir::Binding* stores;  // the foreach
  bool has_known_length;      // The same for all rows, and known around them.
};

// What such a nest consists of; nothing of any other. Where an element reads what a prefix is
// stored over, at another index, prefixes would be stored too soon: that is none. Nor are those
// where a check may fail and what was stored would show.
std::optional<RowScan> FindRowScan(const ir::Binding& nest, const Roots& roots);

// The parts of a nest that is known to be one.
RowScan RowScanOf(const ir::Binding& nest);

// True where `loop` loads the scan's prefixes at its own index, and `block` does nothing else with
// them.
bool ReadsOwnPrefixes(const ir::Binding& scan, const ir::Binding& loop, const ir::Block& block);

// True where the block checks something, and stores what would be seen behind an error.
bool ShowsStores(const ir::Block& block, const Roots& roots);

// Whether a GPU's threads may share a scan. Where a thread fails, the others combine whatever
// stands where its elements should: that must end.
bool ScansOnDevice(const ir::Binding& scan);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_ROW_SCANS_H_
