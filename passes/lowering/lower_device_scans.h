#ifndef PARAKEET_PASSES_LOWERING_LOWER_DEVICE_SCANS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_DEVICE_SCANS_H_

#include <functional>
#include <vector>

#include "passes/lowering/look_back.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes a scan for blocks of a GPU's threads, in exactly the order
// that ir/interpreter_reductions.cc says of a scan with lanes.
//
//   iscan (%i) in (%n) tree(block 4096, lanes 16)
//
// is one kernel over chunks of 4096 elements, 256 of which are a row of chunks. Each of a block's
// 256 threads combines a run of 16 elements, 16 threads combine what 16 threads have, and one what
// those have: the total of the chunk, which it publishes. Each thread then waits for the total of
// another chunk before it in the row, 16 of them combine 16 totals each, and one what those have.
// The last block of a row combines that with what is before the row, and publishes what is before
// the next. Last, each thread makes the prefixes of its run, combined with what is before it at
// every level.
//
// So a block waits for totals, which wait for nothing, and for one prefix, of the row before. What
// is combined with what follows from places alone, whichever was there first.
//
// The elements of a chunk stand in shared memory, where they are not too large: threads that are
// neighbours load and store neighbours. Else they stand in the results until prefixes do.
class DeviceScanLowering : public LookBackLowering {
 public:
  using LookBackLowering::LookBackLowering;

 protected:
  using Arrays = std::vector<const ir::Var*>;

  // `r` has lanes: how many are combined at each level.
  void ScanOnDevice(const Reduction& r, const Arrays& results);

  // Where entry k stands in shared memory, so that threads which read every `run`th do not wait for
  // one another.
  ir::Operand Spread(const ir::Operand& k, int64_t run);

 private:
  // A scan being written.
  struct DeviceScan {
    const Reduction& reduction;
    const Arrays& results;
    int64_t length;      // of a chunk
    int64_t threads;     // of a block: runs of a chunk
    ir::Operand chunks;  // how many
    LookBack look_back;  // A word for each chunk, then one for each row.
    Arrays totals;       // of chunks
    Arrays before_row;   // of chunks; of no use for the first
  };
  // What a block of threads does with its chunk.
  struct Chunk {
    ir::Operand number;
    ir::Operand row;    // of chunks
    ir::Operand rank;   // in the row
    ir::Operand start;  // its first element
    ChunkSize size;
    ir::Operand runs;   // how many of its threads have elements
    Arrays elements;    // In shared memory; none where they are too large.
    Arrays before_run;  // by thread: what is before its run, in the group
    Arrays before_group;
    Arrays total;
    Arrays totals;         // of those before it in the row
    Arrays groups;         // The same by groups of chunks, the last of which is its own.
    Arrays before_groups;  // What is before its own group, in the row,
    Arrays before_row;     // and before the row.
  };
  // What is before something at one level, where something is.
  struct Before {
    ir::Operand exists;
    Operands values;
  };

  void WriteChunk(const DeviceScan& scan);
  Chunk TakeChunk(const DeviceScan& scan);
  void TakeElements(const DeviceScan& scan, const Chunk& chunk);
  void FoldRuns(const DeviceScan& scan, const Chunk& chunk);
  void PublishTotal(const DeviceScan& scan, const Chunk& chunk);
  void AwaitOthers(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread);
  void FoldOthers(const DeviceScan& scan, const Chunk& chunk);
  void PublishRow(const DeviceScan& scan, const Chunk& chunk);
  void WriteRun(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread);
  void StoreChunk(const DeviceScan& scan, const Chunk& chunk);

  // Element k of the chunk, and what takes its place.
  Operands ElementOf(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& k);
  void StoreAt(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& k,
               const Operands& values);
  std::vector<Before> BeforeRun(const DeviceScan& scan, const Chunk& chunk,
                                const ir::Operand& thread);

  // Whether the combine is written for what is whole apart.
  static bool IsCheap(const Reduction& r);
  // A left fold of entries lo to hi, of which there are some, usually so many. Where it keeps what
  // is before, each entry but the first becomes what those before it combine to.
  Operands FoldEntries(const Reduction& r, const Arrays& entries, const ir::Operand& lo,
                       const ir::Operand& hi, int64_t usually, bool keeps_before);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_DEVICE_SCANS_H_
