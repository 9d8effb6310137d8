#ifndef PARAKEET_PASSES_ANALYSES_SHORT_EXTENTS_H_
#define PARAKEET_PASSES_ANALYSES_SHORT_EXTENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// How long loops over windows are at most: `range(max(i - 1, 0), min(i + 2, n))` has three
// iterations or fewer. Forms are taken modulo 2^64, so that this is likely, not sure: good for
// choices, not for proofs.
class ShortExtents {
 public:
  explicit ShortExtents(const ir::Function& function);

  // What the extent is no more than; none where nothing says.
  std::optional<int64_t> MostOf(const ir::Operand& extent) const;
  // True where an operator with these extents has no more than `most` elements.
  bool AreWithin(const std::vector<ir::Operand>& extents, int64_t most) const;

 private:
  ir::Operand EndOf(const ir::Binding& extent) const;
  // What the value is one of, and no more than each where `op` is a minimum, no less where it is a
  // maximum.
  void Sides(const ir::Operand& value, ir::OpCode op, std::vector<LinearForm>& sides) const;

  const WrappingForms forms_;
  const ir::DefinitionMap definitions_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_SHORT_EXTENTS_H_
