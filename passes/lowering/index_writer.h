#ifndef PARAKEET_PASSES_LOWERING_INDEX_WRITER_H_
#define PARAKEET_PASSES_LOWERING_INDEX_WRITER_H_

#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

// What writes indexes into kernels, where a division of 64 bits costs as much as a stencil. The
// host knows the sizes before a launch, and what to multiply by:
//
//   place / d = place * ceil(2^63 / d) / 2^63    for places and sizes of less than 2^31
//
// since what that is too much by, place * (less than d) / (d * 2^63), is less than 1 / d. (T.
// Granlund, P. L. Montgomery: Division by Invariant Integers using Multiplication, 1994.)
class IndexWriter : public LoopWriter {
 protected:
  using LoopWriter::LoopWriter;

  // Sizes that places are taken apart by, none of them negative.
  struct Radix {
    Operands sizes;
    ir::Operand fits;  // a bool: whether all is less than 2^31
    // By axis, of those behind the first: the halves of ceil(2^63 / size).
    Operands high = {};
    Operands low = {};
  };
  // What the host makes of the sizes.
  Radix RadixOf(const Operands& sizes);
  // In a kernel, the index of the element `place` in C order; by divisions where the sizes are not
  // less than 2^31.
  Operands IndexOf(const ir::Operand& place, const Radix& radix);
  // The same where the place and the sizes are less than 2^31.
  Operands IndexByProducts(const ir::Operand& place, const Radix& radix);

 private:
  Operands IndexByDivisions(const ir::Operand& place, const Radix& radix);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_INDEX_WRITER_H_
