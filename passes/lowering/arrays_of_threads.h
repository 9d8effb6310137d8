#ifndef PARAKEET_PASSES_LOWERING_ARRAYS_OF_THREADS_H_
#define PARAKEET_PASSES_LOWERING_ARRAYS_OF_THREADS_H_

#include <unordered_map>
#include <vector>

#include "ir/uses.h"
#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

// Arrays that iterations make for themselves, in memory that all threads of a kernel share: one
// allocation in front of it, where each thread has its part. From the device's heap threads would
// get theirs one after another, and elements of neighbouring threads would lie far apart.
//
//   %w: [m]f64 = alloc (%m)  ... store %w[%j], %a
// becomes, of the thread that is number %t of %count,
//   %all: [m][count]f64 = alloc (%m, %count)       in front of the kernel
//   %w: [m]f64 = view %all offset (0, %t) strides ((1), (0))
//
// A matrix that is also seen as one row of its elements lies side by side: [count][m][k].
class ArraysOfThreads : public LoopWriter {
 protected:
  struct OwnArray {
    const ir::Binding* alloc;
    bool is_apart;  // Its elements are to be as far apart as there are threads.
  };
  using Arrays = std::vector<OwnArray>;
  using LoopWriter::LoopWriter;

  // Those of an iteration: of sizes that are known in front of the loop, and that no loop or branch
  // in it gives on. A few elements are in a thread's frame as well.
  static Arrays FindArrays(const ir::Block& iteration);

  // What a thread's arrays take, at least 1.
  ir::Operand BytesOfThread(const Arrays& arrays);
  // In front of the kernel, for so many threads.
  void AllocateForThreads(const Arrays& arrays, const ir::Operand& count);
  // In the thread of that number: from here on the arrays are its parts.
  void TakeParts(const Arrays& arrays, const ir::Operand& thread);

  // True where an allocation has become a part, or a view is of one and has been written.
  bool VisitPart(const ir::Binding& b);

 private:
  Operands SizesOf(const ir::Var& array);

  std::unordered_map<const ir::Var*, const ir::Var*> all_;  // by array, that of all threads
  ir::VarSet apart_;                                        // of these, whose elements are so
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_ARRAYS_OF_THREADS_H_
