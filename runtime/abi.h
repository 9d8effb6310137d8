// The C ABI between compiled code, the compiler library and the runtime: plain C types only, no
// ownership, no exception and no C++ object crosses it.
//
//   compiled code    takes a PkCall and slots (below), calls the pk_* functions by name.
//   backends/        writes code to this ABI and packs it into an image (end of this file).
//   runtime/         implements it. It is linked into `_core` only; the compiler library gets a
//                    PkRuntime table from `_core` and compares abi_id before any other use.
//
// Any change to a struct, a slot rule or a function below raises kPkAbiVersion: images of another
// version in a disk cache are then refused by LoadImage, and a compiler library by its caller.
#ifndef PARAKEET_RUNTIME_ABI_H_
#define PARAKEET_RUNTIME_ABI_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

// ---------------------------------------------------------------------------------------------
// Version
// ---------------------------------------------------------------------------------------------

inline constexpr uint32_t kPkAbiVersion = 8;

// A build may define PARAKEET_BUILD_ID as a string literal, so that a compiler library and a
// `_core` of different builds refuse each other even where nobody raised the version.
#ifndef PARAKEET_BUILD_ID
#define PARAKEET_BUILD_ID ""
#endif

// FNV-1a over the build's id, started from the version.
constexpr uint64_t PkComputeAbiId(const char* build_id) {
  uint64_t hash = 0xcbf29ce484222325u ^ kPkAbiVersion;
  for (; *build_id != 0; ++build_id) hash = (hash ^ uint8_t(*build_id)) * 0x100000001b3u;
  return hash * 0x100000001b3u;
}

inline constexpr uint64_t kPkAbiId = PkComputeAbiId(PARAKEET_BUILD_ID);

extern "C" {

// ---------------------------------------------------------------------------------------------
// The context of one running call
// ---------------------------------------------------------------------------------------------

// Compiled code reads the two fields by offset; the runtime keeps its own state behind them
// (runtime/call.h). The context lives on the stack of the caller and serves one call of one entry;
// the threads of that call's parallel regions share it.
typedef struct PkCall {
  // 0, or 1 once the error slot is set. Other threads set it while code runs: read it with a
  // relaxed (LLVM: monotonic) atomic load. It never goes back to 0 during a call. A later loop
  // returns at once when it is set; a loop already running goes on as far as the order of errors
  // needs (an earlier iteration may still fail and must win).
  int32_t failed;
  // Threads for a parallel region, >= 1. The OpenMP library may grant fewer, never more: code that
  // sizes one thing per worker sizes it by `team` and cuts the work by the granted number.
  int32_t team;
} PkCall;

static_assert(offsetof(PkCall, failed) == 0, "compiled code reads PkCall.failed at offset 0");
static_assert(offsetof(PkCall, team) == 4, "compiled code reads PkCall.team at offset 4");

// The signature of compiled code. Returns 0, or 1 when the error slot is set; results are then
// unspecified. `args` and `results` hold slots of 8 bytes, in order of parameters and results:
//
//   scalar argument or result   1 slot: signed integers sign-extended, unsigned ones zero-extended
//                               to 64 bits; bool 0 or 1; f64 its bits; f32 its bits in the low 32,
//                               f16 in the low 16, the rest zero.
//   complex                     2 slots, real and imaginary part, each a float of half the size.
//   array argument of rank r    1 + 2r slots: data, r sizes in elements, r strides in bytes.
//   array result of rank r      3 + 2r slots: root, base, data, r sizes, r strides in bytes.
//
// `data` is the address of the element whose indexes are all 0; strides may be 0 or negative.
// `root` is a signed number: k >= 0 says a view of the k-th array argument (counting arrays only,
// from 0), and `base` is null; -1 - j says the fresh buffer number j (from 0), whose address, as
// pk_alloc returned it, is `base`: results with the same j share one buffer. Every fresh buffer of
// a result stays on the call's list until the caller takes it off with KeepResult.
typedef int32_t (*PkEntry)(PkCall* call, const uint64_t* args, uint64_t* results);

// ---------------------------------------------------------------------------------------------
// Functions that compiled code imports by name
// ---------------------------------------------------------------------------------------------

// Error sites. Numbers >= 0 are the manifest's. Reserved ones are set by the runtime itself with an
// empty place, which is less than every other place, and these scalars:
enum PkReservedSite : int32_t {
  kPkSiteMemory = -1,     // MemoryError; one scalar: the bytes asked for.
  kPkSiteRecursion = -2,  // RecursionError; one scalar: the depth reached.
};

// `bytes` of memory, 64-byte aligned, contents unspecified, on the call's list: an error, and the
// end of the call, free what is still there. 0 bytes give a valid address. When memory is exhausted
// or `bytes` is negative (an overflowed size), sets the slot to kPkSiteMemory and returns null.
// Any thread of the call may call it.
void* pk_alloc(PkCall* call, int64_t bytes);

// Frees what pk_alloc of the same call returned; null is allowed. Any thread of the call may.
void pk_free(PkCall* call, void* buffer);

// Records a failed check and sets `failed`. Of several, from any threads, the slot keeps the one
// with the lexicographically least `place`, where a prefix is less than what it begins; of equal
// places the first recorded. `scalars` are what the message shows, encoded as slots. Both are
// copied; a count may be 0 and its pointer then null.
void pk_fail(PkCall* call, int32_t site, int32_t place_count, const int64_t* place,
             int32_t scalar_count, const int64_t* scalars);

// What functions that may recurse are handed, beside how many calls there is room for: the call,
// and the least address at which one of their frames may begin on this thread. Compiled code reads
// both by offset. A function's own frame must stay below kPkMaxFrameBytes.
typedef struct PkStack {
  PkCall* call;
  uintptr_t floor;
} PkStack;

// Fills `stack` for calls from this thread and returns how many of them may be open one in another.
int32_t pk_find_stack(PkCall* call, PkStack* stack);

// Fails as kPkSiteRecursion, in a function that begins below the floor or with `room` of 0.
void pk_too_deep(PkCall* call, int32_t room);

// What pk_fork is told of a loop.
enum PkForkHow : int32_t {
  kPkForkEven = 1,    // Each trip takes as long as the next.
  kPkForkYields = 2,  // Workers sleep behind the region, and do not wait for the next.
};

enum : int64_t { kPkLeastWorthForking = 16'000 };  // Cycles that pk_fork runs alone in any case.

// What a parallel loop does for trips begin .. end - 1.
typedef void (*PkForkBody)(PkCall* call, void* captures, int64_t begin, int64_t end);

// Runs `body` for trips 0 .. trips - 1, which take `cost` cycles each, 0 where nobody knows: by
// pieces on the team of the call where that is worth a fork (fork.h), else at once on this thread.
// Returns when all have run. The first fork binds the OpenMP library; without one there is none.
void pk_fork(PkCall* call, PkForkBody body, void* captures, int64_t trips, int64_t cost,
             int32_t how);

// In profiled code alone, outside parallel regions: time is that of `region` from here on, until
// the next such call or the end of the call. The region is to move `bytes` of arrays and to do
// `operations` on floats; -1 where that is not known. Regions are numbered from 0, as the manifest
// says where they are; one is nothing where the call keeps no profile.
void pk_mark(PkCall* call, int32_t region, int64_t bytes, int64_t operations);

// Calls a routine of another library, imported by name, and gives its status.
//
//   signature   zero-terminated: a letter for the library, then one an operand.
//               L: LAPACK ("pk_lapack_dgesv"), all by reference, with the status as last argument.
//               S: NumPy's sort kernels ("pk_numpy_sort_f64", "pk_numpy_stable_sort_f64",
//               "pk_numpy_argsort_f64"), and selection by them ("pk_numpy_select_f64",
//               "pk_numpy_argselect_f64", "pk_numpy_partition_f64" ...); the status is 0, of a
//               select how many elements are nan, or -1 where there was no memory.
//               n an integer, u a letter by its code, k K an array of i64, others arrays.
//   operands    one word for n and u; for an array its address and its number of elements.
//
// Any thread of the call may; where no team is at work, sorting makes use of the call's threads.
int64_t pk_library_call(PkCall* call, const void* routine, const char* signature,
                        const uint64_t* operands);

}  // extern "C"

inline constexpr int64_t kPkBufferAlignment = 64;
inline constexpr int64_t kPkMaxFrameBytes = 64 * 1024;

constexpr int64_t PkArraySlots(int64_t rank) { return 1 + 2 * rank; }
constexpr int64_t PkArrayResultSlots(int64_t rank) { return 3 + 2 * rank; }

// ---------------------------------------------------------------------------------------------
// The table the compiler library is given
// ---------------------------------------------------------------------------------------------

extern "C" {

// Filled by runtime::Table() (runtime/symbols.h), constant for the life of the process.
typedef struct PkRuntime {
  uint64_t abi_id;  // kPkAbiId of the runtime; the first thing to compare.
  // The address of a function that an image may import, or null:
  //   pk_*                   the functions above
  //   __kmpc_*, kmp_*, omp_* of the OpenMP library, which is bound by the first such question
  //   _ZGV*                  vector math, of libmvec.so.1
  //   pk_lapack_*            of the LAPACK that NumPy's linalg is linked to
  //   pk_numpy_*             sort kernels, of NumPy itself
  //   others                 of libm.so.6, then libc.so.6, then the few arithmetic helpers that
  //                          compilers call (__truncsfhf2, __divti3 ...)
  // Thread-safe.
  const void* (*symbol)(const char* name);
  // Why symbol(name) is null, as a message; valid until this thread asks again.
  const char* (*why_missing)(const char* name);
  // Monotonic clock in nanoseconds.
  int64_t (*now)(void);
} PkRuntime;

}  // extern "C"

// ---------------------------------------------------------------------------------------------
// Images: compiled code at rest
// ---------------------------------------------------------------------------------------------
//
// The bytes of an image, without gaps and little-endian:
//
//   PkImageHeader | text_size bytes of text | slot_count PkImageSlots | names_size bytes of names
//
// and how LoadImage lays it into memory, in one mapping that begins on a page boundary:
//
//   offset 0                       text: machine code and read-only constants; readable, executable
//   PkImageTableOffset(text_size)  table: slot_count words of 8 bytes; readable
//
// Text is position-independent and needs no relocation: it refers to itself and to the table
// relative to the instruction pointer, since the distance between them is fixed when the image is
// linked. An external call is `call *[rip + table slot]`, the form that a GOT load of an ELF object
// (R_X86_64_GOTPCREL, GOTPCRELX) takes; a PLT32 call to an import needs a stub `jmp *[rip + slot]`
// in text. Constants may ask for any alignment up to a page, relative to the start of text.
//
// A slot is an import's address, an address inside the mapping, or a literal word; so a read-only
// object that holds pointers (.data.rel.ro, as OpenMP's ident_t) is a run of slots. The table is
// writable only while LoadImage fills it. There is no writable data, initialised or zero: compiled
// code keeps its state in the call, so that an image may be shared by threads and forked
// processes; the linker refuses an object that has any.

inline constexpr char kPkImageMagic[8] = {'P', 'K', 'I', 'M', 'A', 'G', 'E', '\n'};
inline constexpr uint64_t kPkImagePage = 4096;
inline constexpr uint32_t kPkImageMachine = 62;  // ELF's EM_X86_64, the one machine so far
inline constexpr uint64_t kPkImageMaxText = uint64_t{1} << 30;  // in reach of 32-bit displacements
inline constexpr uint64_t kPkImageMaxSlots = uint64_t{1} << 20;
inline constexpr uint64_t kPkImageMaxNames = uint64_t{1} << 26;

extern "C" {

typedef struct PkImageHeader {
  char magic[8];        // kPkImageMagic
  uint64_t checksum;    // PkImageChecksum of all bytes from `abi_id` to the end of the image
  uint64_t abi_id;      // kPkAbiId of the compiler that wrote it
  uint32_t machine;     // kPkImageMachine
  uint32_t slot_count;  // <= kPkImageMaxSlots
  uint64_t image_size;  // bytes of the whole image, this header included
  uint64_t text_size;   // 1 .. kPkImageMaxText
  uint64_t entry;       // offset of the PkEntry function in text
  uint64_t names_size;  // <= kPkImageMaxNames
} PkImageHeader;

enum PkImageSlotKind : uint32_t {
  kPkSlotLiteral = 0,   // the word is `value`
  kPkSlotInternal = 1,  // address of the mapping + `value`; value < size of text and table together
  kPkSlotImport = 2,    // address of the symbol whose name begins at names[name]; value is 0
};

typedef struct PkImageSlot {
  uint32_t kind;  // PkImageSlotKind
  uint32_t name;  // imports: offset of a zero-terminated name in names; else 0
  uint64_t value;
} PkImageSlot;

}  // extern "C"

static_assert(sizeof(PkImageHeader) == 64 && offsetof(PkImageHeader, abi_id) == 16, "file format");
static_assert(sizeof(PkImageSlot) == 16, "file format");

constexpr uint64_t PkImageTableOffset(uint64_t text_size) {
  return (text_size + kPkImagePage - 1) / kPkImagePage * kPkImagePage;
}

// Detects damage, not malice: words of 8 bytes, the last padded with zeros, multiplied in turn into
// a running state whose high half is folded down, so that each bit reaches all later ones.
inline uint64_t PkImageChecksum(const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  uint64_t hash = 0x9e3779b97f4a7c15u ^ size;
  while (size > 0) {
    uint64_t word = 0;
    const size_t step = size < 8 ? size : 8;
    std::memcpy(&word, at, step);
    hash = (hash ^ word) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
    at += step;
    size -= step;
  }
  return hash;
}

#endif  // PARAKEET_RUNTIME_ABI_H_
