#ifndef PARAKEET_PASSES_LOWERING_LOWER_DEVICE_SCANS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_DEVICE_SCANS_H_

#include <array>
#include <functional>
#include <vector>

#include "passes/lowering/lower_reductions.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes a scan for blocks of a GPU's threads, in exactly the order
// that ir/interpreter_reductions.cc says of a scan with lanes.
//
//   iscan (%i) in (%n) tree(block 4096, lanes 16)
//
// is three kernels over chunks of 4096 elements. In the first, each of a block's 256 threads
// combines a run of 16 elements, 16 threads combine what 16 threads have, and one what those have:
// the total of the chunk. The second, of one block, does the same with the totals of the chunks. In
// the third, blocks do what they did in the first, and then each thread stores the prefixes of its
// run, combined with what is before it at every level.
//
// The elements of a chunk stand in shared memory, where they are not too large: threads that are
// neighbours load and store neighbours.
class DeviceScanLowering : public ReductionLowering {
 public:
  using ReductionLowering::ReductionLowering;

 protected:
  using Arrays = std::vector<const ir::Var*>;

  // A scan being written.
  struct DeviceScan {
    const Reduction& reduction;  // Its lanes are how many are combined at each level.
    Arrays results;
    bool stores_elements;               // The first kernel leaves the elements in the results.
    ir::Operand chunks{};               // how many
    std::array<Arrays, 3> before = {};  // What is before a chunk; before lanes chunks; lanes^2.
  };
  void ScanOnDevice(DeviceScan scan);

  // for every thread of a block; the others wait for it behind the loop.
  void Threads(int64_t count, const std::function<void(const ir::Operand& thread)>& body);
  void If(const ir::Operand& condition, const std::function<void()>& then);
  // Where entry k stands in shared memory, so that threads which read every `run`th do not wait for
  // one another.
  ir::Operand Spread(const ir::Operand& k, int64_t run);

 private:
  // What a block of threads does with its chunk.
  struct Chunk {
    ir::Operand number;
    ir::Operand start;  // its first element
    ir::Operand size;   // how many
    ir::Operand runs;   // how many of its threads have elements
    Arrays elements;    // in shared memory; none where they are too large
    Arrays before_run;  // by thread: what is before its run, in the group
    Arrays before_group;
  };
  // What is before something at one level, where something is.
  struct Before {
    ir::Operand exists;
    Operands values;
  };

  void FoldChunks(const DeviceScan& scan);
  void FoldTotals(const DeviceScan& scan);
  void WritePrefixes(const DeviceScan& scan);

  // Combines the chunk up to its groups; `loads` says that its elements stand in the results.
  Chunk TakeChunk(const DeviceScan& scan, const ir::Operand& number, bool loads);
  void TakeElements(const DeviceScan& scan, const Chunk& chunk, bool loads);
  void FoldRuns(const DeviceScan& scan, const Chunk& chunk);
  // By one thread; `use` gets the total of the chunk.
  void FoldGroupsOf(const DeviceScan& scan, const Chunk& chunk,
                    const std::function<void(const Operands& total)>& use);
  void WriteRun(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread);
  void StoreChunk(const DeviceScan& scan, const Chunk& chunk);

  // Element k of the chunk.
  Operands ElementOf(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& k);
  std::vector<Before> BeforeRun(const DeviceScan& scan, const Chunk& chunk,
                                const ir::Operand& thread);
  // A left fold of entries lo to hi, of which there are some, from `first`. Each entry but the
  // first becomes what those before it combine to.
  Operands FoldBefore(const Reduction& r, const Arrays& entries, const Operands& first,
                      const ir::Operand& lo, const ir::Operand& hi);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_DEVICE_SCANS_H_
