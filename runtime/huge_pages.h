// Mappings that the kernel is advised to back with huge pages.
#ifndef PARAKEET_RUNTIME_HUGE_PAGES_H_
#define PARAKEET_RUNTIME_HUGE_PAGES_H_

#include <cstdint>

namespace parakeet::runtime {

inline constexpr uint64_t kHugePage = uint64_t{2} << 20;

// Zeroed memory whose byte at `offset` is aligned; null when there is none. Where huge pages are
// switched off, small ones serve. The alignment is a power of two, at least a small page.
char* MapHuge(uint64_t size, uint64_t alignment, uint64_t offset);

// Keeps errno, which free functions must not change.
void UnmapHuge(void* mapping, uint64_t size);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_HUGE_PAGES_H_
