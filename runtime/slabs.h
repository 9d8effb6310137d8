// Memory for blocks too small for huge pages of their own: slabs of two huge pages, each cut into
// places of one size.
//
// Arrays of some hundred kilobytes that a loop walks side by side need more small pages than a
// processor remembers. Everything here may be called from any thread.
#ifndef PARAKEET_RUNTIME_SLABS_H_
#define PARAKEET_RUNTIME_SLABS_H_

#include <cstdint>

#include "runtime/huge_pages.h"

namespace parakeet::runtime {

inline constexpr uint64_t kSlabBytes = 2 * kHugePage;

// A place of so many bytes, 64-byte aligned, contents unspecified; null when memory is exhausted.
// Places of one kind have one size; a slab holds two at least.
char* TakePlace(uint32_t kind, uint64_t bytes);

// Gives a place back, and a slab whose last place it was to the system.
void GivePlace(void* place);

inline constexpr uint32_t kPlaceKinds = 64;

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SLABS_H_
