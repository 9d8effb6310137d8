// The functions from which the lines of a manifest are counted, so that an entry of the disk cache
// holds where its functions have moved in their files.
#ifndef PARAKEET_PYLIB_CORE_SOURCE_HOMES_H_
#define PARAKEET_PYLIB_CORE_SOURCE_HOMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pylib/disk_entry.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// Used with the GIL held; leaves no exception set.
class SourceHomes {
 public:
  // A function, or anything else, which is no home.
  void Add(const Origin& origin, PyObject* object);
  // Says of each site of the entry's manifest to which of the functions added its line
  // belongs: the last in its file that begins before it.
  void Assign(DiskEntry* entry) const;

 private:
  uint32_t HomeOf(const std::string& file, int32_t line) const;

  std::vector<SourceHome> homes_;
};

// Moves the lines of the entry's manifest that belong to home `number` to where `function` is.
void MoveHome(PyObject* function, uint32_t number, DiskEntry* entry);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_SOURCE_HOMES_H_
