#ifndef PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_

#include <functional>
#include <vector>

#include "passes/lowering/lower_scans.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes a filter for blocks of a GPU's threads.
//
// One kernel over chunks of 4096 elements, 256 of which are a row of chunks. Each of a block's 256
// threads makes elements, then counts what a run of 16 of them keeps; the block publishes how many
// its chunk keeps, waits for the same of the chunks before it in the row and for what rows before
// keep, and lists the elements it keeps; then neighbours store neighbours, in a buffer that has
// room for all elements. What fills less than a quarter of that is copied into an array of its own
// size.
//
// Elements stand in shared memory, where they are not too large. Else they are made again, or,
// where they are to be made once, stand in buffers for all.
class DeviceFilterLowering : public ScanLowering {
 public:
  using ScanLowering::ScanLowering;

 protected:
  // A filter being written in blocks of elements in C order.
  struct Filter {
    const ir::Binding& binding;
    Operands extents;
    ir::Operand size;                 // of the index space
    ir::Operand blocks;               // how many
    const ir::Var* starts = nullptr;  // by block: its count, then where it starts; last the total
  };

  void FilterOnDevice(Filter filter, bool once);

  // Whether element `i` is kept, then its values.
  Operands ElementAt(const Filter& filter, const ir::Operand& i);
  // Buffers of `size` elements for what is kept.
  Arrays Allocate(const Filter& filter, const ir::Operand& size);
  void GiveResults(const Filter& filter, const ir::Operand& total, const Arrays& kept);

 private:
  // A filter on the device.
  struct DeviceFilter {
    const Filter& filter;
    LookBack look_back;    // A word for each chunk, one for each row: twice a count, and 1.
    const ir::Var* total;  // an array of one
    Arrays kept;           // buffers for all elements
    Arrays made;           // The same, where each element's values stand; or none.
    bool in_shared;        // Whether values stand in shared memory.
  };
  // What a block of threads does with its chunk.
  struct FilterChunk {
    ir::Operand number;
    ir::Operand row;
    ir::Operand rank;   // in the row
    ir::Operand start;  // its first element
    ChunkSize size;
    Arrays values;          // in shared memory
    const ir::Var* marks;   // whether each is kept
    const ir::Var* counts;  // By thread: what its run keeps, then the runs before it in the group;
    const ir::Var* groups;  // by group, what those before it keep.
    const ir::Var* list;    // what is kept
    const ir::Var* own;     // how many
    const ir::Var* others;  // by chunks before it in the row
    const ir::Var* sums;    // the same by groups of 16
    const ir::Var* before;  // how many rows before its own keep
  };

  void WriteFilterChunk(const DeviceFilter& device, const ir::Operand& number);
  FilterChunk TakeFilterChunk(const DeviceFilter& device, const ir::Operand& number);
  void MakeElements(const DeviceFilter& device, const FilterChunk& chunk);
  void CountRuns(const FilterChunk& chunk);
  void PublishCount(const DeviceFilter& device, const FilterChunk& chunk);
  void AwaitCounts(const DeviceFilter& device, const FilterChunk& chunk, const ir::Operand& thread);
  void AddCounts(const DeviceFilter& device, const FilterChunk& chunk, const ir::Operand& thread);
  ir::Operand BeforeChunk(const FilterChunk& chunk);
  void PublishRow(const DeviceFilter& device, const FilterChunk& chunk);
  ir::Operand AwaitRows(const DeviceFilter& device, const FilterChunk& chunk);
  ir::Operand AwaitCount(const DeviceFilter& device, const ir::Operand& word);
  void TellCount(const DeviceFilter& device, const ir::Operand& word, const ir::Operand& count);
  void ListKept(const FilterChunk& chunk, const ir::Operand& thread);
  void StoreKept(const DeviceFilter& device, const FilterChunk& chunk);
  Operands ValuesOf(const DeviceFilter& device, const FilterChunk& chunk, const ir::Operand& k);

  // What is kept, in arrays with `total` elements.
  Arrays Fit(const Filter& filter, const Arrays& kept, const ir::Operand& total);

  // Elements of the run of a thread.
  Operands CarryMarks(const FilterChunk& chunk, const ir::Operand& thread, const ir::Operand& first,
                      const std::function<void(const ir::Operand& k, const ir::Operand& mark,
                                               const ir::Operand& so_far)>& use);
  // What so many entries from lo on add up to; each becomes what those before it add up to, or
  // stays.
  ir::Operand AddEntries(const ir::Var* counts, const ir::Operand& lo, int64_t size,
                         bool keeps_before);
  const ir::Var* SharedOf(ir::DType dtype, int64_t count, const char* hint);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_
