#ifndef PARAKEET_PASSES_LOWERING_BOX_WRITER_H_
#define PARAKEET_PASSES_LOWERING_BOX_WRITER_H_

#include <optional>
#include <vector>

#include "passes/analyses/extent_bounds.h"
#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

// Writes nests whose extents depend on an index around them over the most iterations that any index
// has, behind a guard.
class BoxWriter : public LoopWriter {
 protected:
  using LoopWriter::LoopWriter;

  // What an operator inside `nest` has at most along each axis, appended in front of the nest;
  // nothing where an extent of the iteration's own has no bound, or nothing leaves what a reduction
  // has so far as it is.
  std::optional<Operands> MostExtents(ExtentBounds& bounds, const ir::Binding& nest,
                                      const ir::Binding& inner);

  // What the iterations that are none give: of a reduction, what changes nothing; of a map, zeros.
  static Operands ElseOf(const ir::Binding& inner);

  // The inner one over the box of `most`, with the same results: those of maps are longer.
  ir::Binding Boxed(const ir::Binding& inner, const Operands& most);

  static Operands Extents(const ir::Binding& nest);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_BOX_WRITER_H_
