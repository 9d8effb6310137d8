#ifndef PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_

#include <functional>
#include <vector>

#include "passes/lowering/lower_row_scans.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes a filter for blocks of a GPU's threads.
//
// One kernel over chunks of 4096 elements, 256 of which are a row of chunks. Each of a block's 256
// threads makes 16 elements, and holds them where they are dear; a warp's lanes tell one another
// which they keep. The block publishes how many its chunk keeps, waits for the same of the chunks
// before it in the row and for what rows before keep; then each thread stores its own, neighbours
// beside neighbours, in a buffer that has room for all elements. What fills less than a quarter of
// that is copied into an array of its own size.
class DeviceFilterLowering : public RowScanLowering {
 public:
  using RowScanLowering::RowScanLowering;

 protected:
  // A filter being written in blocks of elements in C order.
  struct Filter {
    const ir::Binding& binding;
    Operands extents;
    ir::Operand size;                 // of the index space
    ir::Operand blocks;               // how many
    const ir::Var* starts = nullptr;  // by block: its count, then where it starts; last the total
  };

  // `once`: elements are dear, or may raise.
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
    bool once;             // Whether threads hold their elements; else they are made again.
  };
  // What a block of threads does with its chunk.
  struct FilterChunk {
    ir::Operand number;
    ir::Operand row;
    ir::Operand rank;   // in the row
    ir::Operand start;  // its first element
    ir::Operand size;   // and how many there are
    // Of each thread, turn by turn: its elements, where it holds them, and whether it keeps them;
    Arrays values;
    const ir::Var* marks;
    // and, of one or several chunks before it in the row, how many they keep.
    const ir::Var* others;
    const ir::Var* next_others;
    // In shared memory: what each warp keeps, what the chunks keep that its threads await, and what
    // rows before keep.
    const ir::Var* of_warps;
    const ir::Var* before_warps;
    const ir::Var* before_row;
  };

  void WriteFilterChunk(const DeviceFilter& device, const ir::Operand& number);
  FilterChunk TakeFilterChunk(const DeviceFilter& device, const ir::Operand& number);
  void MakeElements(const DeviceFilter& device, const FilterChunk& chunk);
  ir::Operand LanesThatKeep(const FilterChunk& chunk, const ir::Operand& thread,
                            const ir::Operand& turn);
  void CountKept(const FilterChunk& chunk);
  void PublishCount(const DeviceFilter& device, const FilterChunk& chunk);
  void AwaitCounts(const DeviceFilter& device, const FilterChunk& chunk, const ir::Operand& thread);
  void AddCounts(const DeviceFilter& device, const FilterChunk& chunk);
  ir::Operand BeforeChunk(const FilterChunk& chunk);
  void PublishRow(const DeviceFilter& device, const FilterChunk& chunk);
  ir::Operand AwaitRows(const DeviceFilter& device, const FilterChunk& chunk);
  ir::Operand AwaitCount(const DeviceFilter& device, const ir::Operand& word);
  void TellCount(const DeviceFilter& device, const ir::Operand& word, const ir::Operand& count);
  Operands ValuesOf(const DeviceFilter& device, const FilterChunk& chunk, const ir::Operand& thread,
                    const ir::Operand& turn);
  void StoreKept(const DeviceFilter& device, const FilterChunk& chunk, const ir::Operand& thread);

  // What is kept, in arrays with `total` elements.
  Arrays Fit(const Filter& filter, const Arrays& kept, const ir::Operand& total);

  // Which element of the chunk is the thread's at its turn.
  ir::Operand TurnsElement(const ir::Operand& thread, const ir::Operand& turn);
  ir::Operand LaneOf(const ir::Operand& thread);
  ir::Operand WarpOf(const ir::Operand& thread);
  // What the first warps have together.
  ir::Operand AddWarps(const ir::Var* counts, const ir::Operand& warps);
  const ir::Var* Shared(ir::DType dtype, int64_t count, const char* hint);
  const ir::Var* Own(ir::DType dtype, int64_t count, const char* hint);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_
