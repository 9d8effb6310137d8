// The outside things of a compilation as records that another process can check: what was read,
// from where, and what it was (fingerprint.h).
#ifndef PARAKEET_PYLIB_CORE_OUTSIDE_RECORDS_H_
#define PARAKEET_PYLIB_CORE_OUTSIDE_RECORDS_H_

#include <cstdint>
#include <vector>

#include "pylib/disk_entry.h"
#include "pylib/manifest.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// What a compilation begins from: the plain function, and the static arguments in order.
struct Beginning {
  PyObject* function;
  const std::vector<Ref>* statics;
};

// What the compiler handed over with a manifest, or what was found again: tuples.
struct OutsideParts {
  Ref functions;  // by number of the manifest's outside names
  Ref objects;    // one a dependency
};

// Fills holders, records, homes and the manifest's outside names of `entry`, whose manifest is the
// compilation's. False where something that was read cannot be told in another process; no
// exception is set.
bool RecordOutside(const Beginning& beginning, const OutsideParts& parts, DiskEntry* entry);

// Reads again all that the records name. False where something is not what it was; no exception is
// set. Where a function has moved in its file, or to another, the lines of the manifest's sites
// move with it.
bool ReadAgain(const Beginning& beginning, DiskEntry* entry, OutsideParts* parts);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_OUTSIDE_RECORDS_H_
