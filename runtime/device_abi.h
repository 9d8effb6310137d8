// The part of the C ABI (abi.h) for calls on a device: a GPU, or the emulated one.
//
// Host code of such a call sees arrays by device addresses, for which it computes as for others but
// reads and writes through the functions below alone; kernels read and write them directly. Array
// arguments are on the device before the entry runs and array results leave it afterwards: the
// entry's slots hold device addresses.
//
//   compiled host code   calls pk_device_* where code for the host would allocate, load and store,
//                        and pk_device_launch for each grid of threads.
//   kernels              run on the device. Emulated ones call the pk_thread_* functions; a GPU's
//                        have instructions for the same.
#ifndef PARAKEET_RUNTIME_DEVICE_ABI_H_
#define PARAKEET_RUNTIME_DEVICE_ABI_H_

#include <cstddef>
#include <cstdint>

#include "runtime/abi.h"

extern "C" {

// ---------------------------------------------------------------------------------------------
// Kernels
// ---------------------------------------------------------------------------------------------

enum PkKernelKind : int32_t {
  kPkKernelEmulated = 0,  // `code` is a PkEmulatedKernel
  // `code` is `code_bytes` bytes of PTX texts, each ended by a zero and assembled by itself, or a
  // cubin.
  kPkKernelCuda = 1,
};

enum PkKernelFlag : int32_t {
  kPkKernelMayFail = 1,   // a thread may record an error
  kPkKernelBarriers = 2,  // threads of a block wait for one another, so all of them must run
  kPkKernelAnyOrder = 4,  // no block waits for another, and captures have a PkBlockOrder
  // A launch takes more values than a kernel's parameters hold: these are the runtime's part of the
  // captures, and the device's address of a copy of them all.
  kPkKernelCapturesElsewhere = 8,
};

// From this architecture on a CUDA kernel waits by itself for those launched before it, and so may
// begin while they run: whoever makes its code and whoever launches it go by this one number.
inline constexpr int32_t kPkLeastOverlapping = 90;

// Behind the runtime's bytes of the captures: the block that the device numbers i does the work of
// block first + step * i.
typedef struct PkBlockOrder {
  int32_t first;
  int32_t step;
} PkBlockOrder;

// A constant of the image. Its address names the kernel for as long as the image is loaded; kernels
// of one image may have the same code, which is then loaded once.
typedef struct PkKernel {
  int32_t kind;          // PkKernelKind
  int32_t flags;         // PkKernelFlag, or'ed
  int64_t shared_bytes;  // of a block's shared memory, 64-byte aligned
  const void* code;
  int64_t code_bytes;
  const char* name;  // zero-terminated: the symbol in a CUDA module; for reports
} PkKernel;

// What a thread of an emulated block knows. Compiled code reads the fields by offset; the runtime
// keeps its own state behind them.
typedef struct PkThread {
  int64_t block;   // the number of the block in the grid, from 0
  int64_t thread;  // the number of the thread in the block, from 0
  char* shared;    // the block's shared memory
} PkThread;

static_assert(offsetof(PkThread, block) == 0 && offsetof(PkThread, thread) == 8 &&
                  offsetof(PkThread, shared) == 16,
              "compiled code reads PkThread by offset");

typedef void (*PkEmulatedKernel)(PkThread* thread, const void* captures);

enum PkRecordState : int32_t {
  kPkRecordEmpty = 0,
  kPkRecordHolds = 1,    // an error of a launch
  kPkRecordStopped = 2,  // or'ed: a launch before has failed, so this one has done nothing
};

// What threads of a launch record when they fail; a GPU's kernels write it themselves, with `lock`
// held, as ErrorSlot::Record does. All zero before the first launch that uses it.
//
// A call has two, which its launches take in turns. Nobody waits for a kernel before the next is
// launched, but behind a failure nothing may happen: each thread of a launch begins with a look at
// the record of the launch before. Where that is not empty, it marks its own as stopped and ends.
inline constexpr int32_t kPkMostPlace = 32;
inline constexpr int32_t kPkMostScalars = 16;
typedef struct PkErrorRecord {
  int32_t lock;
  int32_t state;  // PkRecordState
  int32_t site;
  int32_t place_count;
  int32_t scalar_count;
  int32_t unused;
  int64_t place[kPkMostPlace];
  int64_t scalars[kPkMostScalars];
} PkErrorRecord;

// ---------------------------------------------------------------------------------------------
// Functions that compiled host code imports by name
// ---------------------------------------------------------------------------------------------

// A further reserved site (PkReservedSite): RuntimeError, with the device's own code as the one
// scalar; the message is what runtime::DeviceErrorText gives for the call.
enum : int32_t { kPkSiteDevice = -3 };

// As pk_alloc and pk_free, for memory of the device. What a kernel that is still running reads or
// writes may be freed: the device frees it in its turn.
void* pk_device_alloc(PkCall* call, int64_t bytes);
void pk_device_free(PkCall* call, void* buffer);

// Copies `bytes` (1 to 16) of one element. They wait for kernels launched before. Return 0, or 1
// with the error slot set, also to what one of these recorded: then nothing was copied.
int32_t pk_device_read(PkCall* call, void* host, const void* device, int64_t bytes);
int32_t pk_device_write(PkCall* call, void* device, const void* host, int64_t bytes);

// Runs `kernel` with `blocks` blocks of `threads` threads (1 to 1024), in the order of the call's
// launches. `blocks` <= 0 runs nothing. `captures` are `bytes` bytes (at most 4000, unless they are
// elsewhere: PkKernelFlag) that every thread sees a copy of, whose first 16 are the runtime's: the
// device's address of the launch's PkErrorRecord, null where it cannot fail, and of the one of the
// launch before, null where that has not failed. Returns 0, or 1 with the error slot set: to
// kPkSiteDevice, or to what a thread of an earlier launch recorded, the least place of all. The
// kernel may still be running afterwards, and what it records comes with a later function here, or
// at the end of the call.
int32_t pk_device_launch(PkCall* call, const PkKernel* kernel, int64_t blocks, int32_t threads,
                         void* captures, int64_t bytes);

// For code that the host runs in the place of kernels: its address of an element of an array of the
// device, whose memory is copied to the host at its first need. One address for one element, until
// pk_device_end_copies copies back what was needed with `is_written`, also behind a failure, and
// frees the copies. Null, or 1, with the error slot set, also to what a kernel before recorded.
void* pk_device_copy_to_host(PkCall* call, void* device, int32_t is_written);
int32_t pk_device_end_copies(PkCall* call);

// As pk_library_call, whose arrays are of the device: each allocation that one lies in is copied to
// the host, and back behind the call.
int64_t pk_device_library_call(PkCall* call, const void* routine, const char* signature,
                               const uint64_t* operands);

enum PkElement : int32_t { kPkF32 = 0, kPkF64 = 1, kPkC64 = 2, kPkC128 = 3 };

// Lets the device's library make a product of matrices of that element (PkElement): cuBLAS where it
// was found, NumPy's BLAS on the emulated device. Returns 0 where it does, and may still be at it;
// 1 where there is none, the product is sooner made by a kernel, or the library does not take it:
// the result then holds anything, and nothing is wrong. `operands` are words: how many axes are
// a batch's, rows, columns, and the depth, which is summed over; 1 where the left operand is
// conjugated, or'ed with 2 for the right; then of the left operand, the right one and the result,
// which overlaps neither: address, sizes, strides in bytes. Axes are, in order, those of the batch,
// then rows and depth, depth and columns, rows and columns.
int64_t pk_device_matmul(PkCall* call, int32_t element, const int64_t* operands);

// ---------------------------------------------------------------------------------------------
// Functions that emulated kernels import by name
// ---------------------------------------------------------------------------------------------

// Waits until every thread of the block that has not ended has come here.
void pk_thread_barrier(PkThread* thread);

// Waits until every thread of the warp (kPkWarpThreads of them, aligned) has come here; so do those
// of the block's other warps.
void pk_thread_warp_barrier(PkThread* thread);

// The lanes of the warp, as bits, that come here with the same number. All threads of the block do;
// what they did to shared memory before is not in order with what they do behind.
uint32_t pk_thread_match(PkThread* thread, uint32_t number);

// The number that the thread of a lane of the warp comes with, or the thread's own where there is
// none; the lane's last five bits count. For the rest as pk_thread_match.
uint64_t pk_thread_shuffle(PkThread* thread, uint64_t number, int32_t lane);

// As pk_fail, for the error record of the launch. The caller then ends its iteration.
void pk_thread_fail(PkThread* thread, int32_t site, int32_t place_count, const int64_t* place,
                    int32_t scalar_count, const int64_t* scalars);

// Memory of one thread, 16-byte aligned, freed at the latest when the thread ends. Null with the
// launch's record set to kPkSiteMemory when there is none.
void* pk_thread_alloc(PkThread* thread, int64_t bytes);
void pk_thread_free(PkThread* thread, void* buffer);

enum PkAccess : int32_t {
  kPkAccessLoad = 0,
  kPkAccessStore = 1,
  kPkAccessAtomic = 2,  // races with nothing; its address is a multiple of its bytes
};

// Stands before each access of an emulated kernel to memory: `bytes` at `address`, which is to lie
// in one allocation of the call, in the block's shared memory, or in the thread's own. A store to
// shared memory that another thread of the block has read or written since the last barrier (of the
// warp, where both are of one), and a load from what another has written since, is a race. Any of
// these ends the process with a message that names the kernel, the block and the thread: compiled
// code is wrong then, not the program.
void pk_thread_check(PkThread* thread, const void* address, int64_t bytes, int32_t access);

}  // extern "C"

inline constexpr int64_t kPkRuntimeBytes = 16;  // of captures
inline constexpr int64_t kPkMostCaptureBytes = 4000;
inline constexpr int32_t kPkMostThreads = 1024;
inline constexpr int32_t kPkWarpThreads = 32;

#endif  // PARAKEET_RUNTIME_DEVICE_ABI_H_
