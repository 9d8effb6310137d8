// Buffers for results and temporaries: 64-byte aligned, huge-page backed when large, kept in a pool
// when released, because the first touch of fresh memory costs more than most kernels run.
//
// Small buffers (up to 32 KiB) come from a cache of the thread, which also keeps the few larger
// ones that it released last, others from a pool that all threads share. Everything here may be
// called by any thread, also for a buffer of another thread, and in a child after fork: the child
// keeps the pool and its own thread's cache; the free blocks in caches of threads it does not have
// are lost to it.
#ifndef PARAKEET_RUNTIME_BUFFERS_H_
#define PARAKEET_RUNTIME_BUFFERS_H_

#include <cstddef>
#include <cstdint>

namespace parakeet::runtime {

// A buffer of at least `bytes`, contents unspecified; null when memory is exhausted (after the pool
// has been emptied in vain). 0 bytes give a valid address.
void* Allocate(uint64_t bytes);

// Ends the life of a buffer; null is allowed. An address that is no live buffer ends the process
// with a message, since memory is then corrupt already.
void Release(void* buffer);

// Bytes that may be used, at least what was asked for.
uint64_t CapacityOfBuffer(void* buffer);

struct BufferCounters {
  int64_t live_bytes;  // asked for and not released
  int64_t live_buffers;
  int64_t peak_bytes;    // of live_bytes, since the start or ResetPeak; without the small buffers
                         // of threads other than the one that allocates
  int64_t pooled_bytes;  // free and kept, in capacity
  int64_t allocations;   // since the start of the process
};

// Exact while no other thread allocates or releases.
BufferCounters ReadBufferCounters();
void ResetPeak();

// The shared pool keeps at most this many bytes; a thread's cache, beside it, at most 2 MiB. The
// default is an eighth of the memory the process may use.
void SetPoolCap(uint64_t bytes);
uint64_t PoolCap();

// Gives the free blocks of the pool and of this thread's cache back to the system.
void TrimPool();

// The four functions of NumPy's PyDataMem_Handler, over the same pool. The context is not used.
void* NumpyMalloc(void* context, size_t bytes);
void* NumpyCalloc(void* context, size_t count, size_t bytes_each);
void* NumpyRealloc(void* context, void* buffer, size_t bytes);
void NumpyFree(void* context, void* buffer, size_t bytes);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_BUFFERS_H_
