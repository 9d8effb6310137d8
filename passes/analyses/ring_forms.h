#ifndef PARAKEET_PASSES_ANALYSES_RING_FORMS_H_
#define PARAKEET_PASSES_ANALYSES_RING_FORMS_H_

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// The forms of indexes along an axis whose last place is followed by its first one, as where arrays
// are rolled or borders are periodic: equal to an index but for multiples of the axis' length.
class RingForms {
 public:
  // Both outlive this.
  RingForms(const WrappingForms& forms, const ir::DefinitionMap& definitions)
      : forms_(forms), definitions_(definitions) {}

  LinearForm Of(const ir::Operand& index, const ir::Operand& length) const {
    return Of(index, length, 0);
  }

 private:
  LinearForm Of(const ir::Operand& index, const ir::Operand& length, int depth) const;
  const ir::Binding* DefinitionOf(const ir::Operand& operand) const;
  bool IsLength(const ir::Operand& value, const ir::Operand& length) const;

  const WrappingForms& forms_;
  const ir::DefinitionMap& definitions_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_RING_FORMS_H_
