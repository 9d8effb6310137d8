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
// another chunk before it in the row, and 16 of them combine 16 totals each, while one waits for
// what is before the row. The last block of a row combines all that, and publishes what is before
// the next. Last, each thread makes the prefixes of its run, combined with what is before it at
// every level.
//
// So a block waits for totals, which wait for nothing, and for one prefix, of the row before. What
// is combined with what follows from places alone, whichever was there first.
//
// The elements of a chunk stand in shared memory, where they are not too large: threads that are
// neighbours load and store neighbours. Else they stand in the results until prefixes do.
//
// Of many scans side by side, of one length, the first chunks of all come first, then the second
// ones: when a block begins, those before its chunk have mostly been made.
class DeviceScanLowering : public LookBackLowering {
 public:
  using LookBackLowering::LookBackLowering;

 protected:
  // Takes a prefix.
  using Put = std::function<void(const ir::Operand& index, const Operands& values)>;
  // What costs no more to do with a prefix is written for whole chunks apart.
  static constexpr int kCheapPut = 32;

  // `r` has lanes: how many are combined at each level. Elements that do not fit shared memory need
  // the results; prefixes of others are only put.
  void ScanOnDevice(const Reduction& r, const Arrays& results, const Put& put, bool puts_cheaply);

  // So many scans of one length.
  struct ChunkGrid {
    int64_t length;      // of a chunk
    int64_t threads;     // of a block: runs of a chunk
    ir::Operand scans;   // how many
    ir::Operand chunks;  // of each
    // The total of each chunk, then what is before each row of them; of no use for the first.
    LookBack look_back;
    int64_t words;  // of each of these
  };
  // Host code; `scan` has a tree with lanes.
  ChunkGrid GridOf(const ir::Binding& scan, const ir::Operand& scans, const ir::Operand& length);
  // What block `number` does; the elements fit shared memory.
  void WriteChunk(const ChunkGrid& grid, const Reduction& r, const ir::Operand& number,
                  const Put& put, bool puts_cheaply);
  // Whether the combine is written for what is whole apart.
  static bool IsCheap(const Reduction& r);
  // `values` where the condition holds, else `otherwise`.
  Operands SelectAll(const ir::Operand& condition, const Operands& values,
                     const Operands& otherwise);

  // A scan being written.
  struct DeviceScan {
    const Reduction& reduction;
    const ChunkGrid& grid;
    Arrays results;  // Hold elements that are too large.
    const Put& put;
    bool puts_cheaply;
  };
  // What a block of threads does with its chunk.
  struct Chunk {
    ir::Operand line;                         // The number of its scan,
    ir::Operand place;                        // and its own in that.
    ir::Operand row;                          // of chunks
    ir::Operand rank;                         // in the row
    ir::Operand start;                        // its first element
    ir::Operand entry = ir::Operand::Int(0);  // Which it is of those that the block has.
    ChunkSize size;
    ir::Operand runs;   // how many of its threads have elements
    Arrays elements;    // In shared memory; none where they are too large.
    Arrays prefixes;    // By thread and step: of its run alone, in registers.
    Arrays before_run;  // by thread: what is before its run, in the group
    Arrays before_group;
    Exposed total;
    Exposed totals;      // of those before it in the row
    Arrays groups;       // The same by groups of chunks, the last of which is its own.
    Exposed before_row;  // What is before the row,
    Exposed behind_row;  // and before the next.
  };
  // What is before something at one level, where something is.
  struct Before {
    ir::Operand exists;
    Operands values;
  };

  // Where the chunk of that place is, and what so many chunks of a block wait for others with.
  void SetPlace(const ChunkGrid& grid, int64_t lanes, const ir::Operand& line,
                const ir::Operand& place, Chunk* chunk);
  void AllocateWaiting(const ir::Binding& scan, int64_t lanes, int64_t count, Chunk* chunk);
  void AwaitOthers(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread);
  void FoldOthers(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& group);
  void AwaitRow(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread);
  ir::Operand WordOf(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& place);
  void PublishRow(const DeviceScan& scan, const Chunk& chunk);
  // What is before the chunk, at each level where something is.
  std::vector<Before> BeforeChunk(const DeviceScan& scan, const Chunk& chunk);

 private:
  void WriteChunk(const DeviceScan& scan, const ir::Operand& number);
  Chunk TakeChunk(const DeviceScan& scan, const ir::Operand& number);
  void TakeElements(const DeviceScan& scan, const Chunk& chunk);
  void FoldRuns(const DeviceScan& scan, const Chunk& chunk);
  void PublishTotal(const DeviceScan& scan, const Chunk& chunk);
  ir::Operand OfChunk(const Chunk& chunk, int64_t count, const ir::Operand& k);
  // What is before the chunk's own group of chunks, where there are some.
  Operands BeforeGroups(const DeviceScan& scan, const Chunk& chunk);
  void WriteRun(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread);
  void StoreChunk(const DeviceScan& scan, const Chunk& chunk);

  // What a run's element and those before it in the run combine to takes the element's place, or is
  // in registers.
  void KeepPrefix(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread,
                  const PlaceInRun& place, const Operands& prefix);
  Operands KeptPrefix(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& thread,
                      const PlaceInRun& place);

  // Element k of the chunk, and what takes its place, which is at `spread` in shared memory.
  Operands ElementAt(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& k,
                     const ir::Operand& spread);
  void StoreAt(const DeviceScan& scan, const Chunk& chunk, const ir::Operand& k,
               const ir::Operand& spread, const Operands& values);
  Before BeforeAt(const Reduction& r, const ir::Operand& rank,
                  const std::function<Operands()>& make);
  std::vector<Before> BeforeRun(const DeviceScan& scan, const Chunk& chunk,
                                const ir::Operand& thread);

  // A left fold of entries lo to hi, of which there are some, and room for `most`. Where it keeps
  // what is before, each entry but the first becomes what those before it combine to. What is cheap
  // is written for as many as there is room for, so that all loads are under way at a time; what is
  // not there is the identity, where there is one.
  Operands FoldEntries(const Reduction& r, const Arrays& entries, const ir::Operand& lo,
                       const ir::Operand& hi, int64_t most, bool keeps_before);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_DEVICE_SCANS_H_
