#ifndef PARAKEET_PASSES_LOWERING_SERIAL_LOOPS_H_
#define PARAKEET_PASSES_LOWERING_SERIAL_LOOPS_H_

#include "ir/mutator.h"

namespace parakeet::passes {

// Writes a loop that hardly ever runs: it and the loops inside it stay as they are.
class SerialLoops : public ir::Mutator {
 public:
  using Mutator::Mutator;
  const ir::Binding* Turn(const ir::Binding& loop) {
    ir::Binding turned = *Rewrite(&loop);
    turned.attrs = turned.attrs.With(ir::Attr::kKind, std::string("serial"));
    return arena()->New(std::move(turned));
  }

 protected:
  void Visit(const ir::Binding* b) override {
    b->op == ir::OpCode::kFor ? builder().Append(Turn(*b)) : Mutator::Visit(b);
  }
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_SERIAL_LOOPS_H_
