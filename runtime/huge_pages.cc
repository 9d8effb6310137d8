#include "runtime/huge_pages.h"

#include <errno.h>
#include <sys/mman.h>

namespace parakeet::runtime {

char* MapHuge(uint64_t size, uint64_t alignment, uint64_t offset) {
  const uint64_t reserved = size + alignment;
  void* at = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(at);
  const uint64_t before = -(reinterpret_cast<uintptr_t>(begin) + offset) & (alignment - 1);
  char* mapping = begin + before;
  if (before > 0) munmap(begin, before);
  const uint64_t behind = reserved - before - size;
  if (behind > 0) munmap(mapping + size, behind);
  // Of all of it, small pages at the ends too: that keeps it one area of the kernel's limited
  // number of them.
  madvise(mapping, size, MADV_HUGEPAGE);
  return mapping;
}

void UnmapHuge(void* mapping, uint64_t size) {
  const int saved_errno = errno;
  munmap(mapping, size);
  errno = saved_errno;
}

}  // namespace parakeet::runtime
