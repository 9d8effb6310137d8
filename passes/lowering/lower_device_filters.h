#ifndef PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_

#include <functional>
#include <vector>

#include "passes/lowering/lower_scans.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes a filter for blocks of a GPU's threads.
//
// Three kernels: each block of 256 threads counts what its 4096 elements keep, one block makes
// places of the counts, and each block stores what it keeps from its place on. For the last, every
// thread counts again what a run of 16 elements keeps, and gives each of them its place in shared
// memory; then neighbours load neighbours, and store them where they go.
//
// Where an element is to be made once, the first kernel makes it, and leaves whether it is kept and
// its values in buffers for all.
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

  void FilterOnDevice(const Filter& filter, bool once);

  // Whether element `i` is kept, then its values.
  Operands ElementAt(const Filter& filter, const ir::Operand& i);
  // Buffers of `size` elements for what is kept.
  Arrays Allocate(const Filter& filter, const ir::Operand& size);
  void GiveResults(const Filter& filter, const ir::Operand& total, const Arrays& kept);

 private:
  // Elements that are made once: whether each is kept, then its values. Else empty.
  using Made = Arrays;

  void CountChunks(const Filter& filter, const Made& made);
  void PlaceChunks(const Filter& filter);
  void WriteChunks(const Filter& filter, const Made& made, const Arrays& kept);
  // Where each element of the chunk goes, in shared memory; -1 where it is not kept.
  const ir::Var* PlaceElements(const Filter& filter, const Made& made, const ir::Operand& start,
                               const ir::Operand& size);

  // The counts of threads, each of which `count` makes.
  const ir::Var* CountByThreads(const std::function<ir::Operand(const ir::Operand& thread)>& count);
  // Where every thread's start, of the counts of threads; `use` gets the total, in one thread.
  std::function<ir::Operand(const ir::Operand& thread)> PlaceThreads(
      const ir::Var* counts, const std::function<void(const ir::Operand& total)>& use);
  // Entries lo to hi become what those before them add up to; what all add up to.
  ir::Operand AddBefore(const ir::Var* counts, const ir::Operand& lo, const ir::Operand& hi);

  void EachChunk(const Filter& filter,
                 const std::function<void(const ir::Operand& chunk, const ir::Operand& start,
                                          const ir::Operand& size)>& body);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_DEVICE_FILTERS_H_
