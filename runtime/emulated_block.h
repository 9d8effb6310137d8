// One block of an emulated kernel: its threads, its shared memory and what is checked of them.
#ifndef PARAKEET_RUNTIME_EMULATED_BLOCK_H_
#define PARAKEET_RUNTIME_EMULATED_BLOCK_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/buffers.h"
#include "runtime/device_abi.h"
#include "runtime/emulated_memory.h"
#include "runtime/fibre.h"
#include "runtime/shared_accesses.h"

namespace parakeet::runtime {

// What the blocks of a launch have in common.
struct EmulatedLaunch {
  const PkKernel* kernel;
  int32_t threads;
  const void* captures;
  const EmulatedMemory* memory;

  PkErrorRecord* error_record() const { return *static_cast<PkErrorRecord* const*>(captures); }
};

class BlockRunner;

// What threads wait at: all of a block at one of a kind.
enum class MeetingPlace { kBarrier, kWarpBarrier, kExchange };

// What PkThread* points to.
struct EmulatedThread : PkThread {
  MeetingPlace waits_at = MeetingPlace::kBarrier;
  // The numbers of its last two exchanges: who goes on first comes to the next one before others
  // have looked.
  uint64_t numbers[2] = {};
  int exchanges = 0;
  BlockRunner* runner = nullptr;
  Fibre fibre;
  std::vector<std::pair<char*, int64_t>> own;  // what pk_thread_alloc gave
};

// Runs blocks one after another, each on the thread that calls Run. A thread of the block that
// waits at barriers is a fibre; else the threads are turns of a loop.
class BlockRunner {
 public:
  // False where there is no memory for the block.
  bool Run(const EmulatedLaunch& launch, int64_t block);

  void Wait(EmulatedThread* thread, MeetingPlace place);
  uint32_t Match(EmulatedThread* thread, uint32_t number);
  uint64_t Shuffle(EmulatedThread* thread, uint64_t number, int32_t lane);
  void Check(EmulatedThread* thread, const void* address, int64_t bytes, int32_t access);
  void Fail(EmulatedThread* thread, int32_t site, int32_t place_count, const int64_t* place,
            int32_t scalar_count, const int64_t* scalars);
  void* Allocate(EmulatedThread* thread, int64_t bytes);
  void Free(EmulatedThread* thread, void* buffer);

 private:
  struct MemoryFreer {
    void operator()(char* memory) const { std::free(memory); }
  };

  // Where an exchange's numbers are, and the threads of the warp.
  struct Exchange {
    int turn;
    int32_t first, lanes;
  };
  // Comes with a number to the warp's other threads.
  Exchange Offer(EmulatedThread* thread, uint64_t number);

  bool MakeSharedMemory(int64_t bytes);
  void Begin(EmulatedThread* thread, int64_t block, int64_t number);
  void RunThread(EmulatedThread* thread);
  void RunInTurn(int64_t block);
  bool RunAsFibres(int64_t block);
  // Runs every thread up to its next barrier or its end, and says whether there is a next one.
  bool RunToBarrier(bool is_first);
  // All threads have come to one meeting place; `last` is one of them.
  void Meet(const EmulatedThread* last);
  void CheckShared(EmulatedThread* thread, int64_t offset, int64_t bytes, int32_t access);
  void LetOthersRun(const EmulatedThread* thread, const void* address);
  [[noreturn]] void End(const EmulatedThread* thread, const char* what);

  const EmulatedLaunch* launch_ = nullptr;
  std::vector<std::unique_ptr<EmulatedThread>> threads_;
  FibreStacks stacks_;
  std::unique_ptr<char, MemoryFreer> shared_;
  int64_t shared_capacity_ = 0;
  SharedAccesses accesses_;
  EmulatedMemory::Found found_;
  const void* looks_at_ = nullptr;  // The last atomic's address
  int64_t looking_ = 0;             // and thread, and how often the same before.
  int64_t looks_ = 0;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_EMULATED_BLOCK_H_
