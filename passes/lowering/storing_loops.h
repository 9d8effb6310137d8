#ifndef PARAKEET_PASSES_LOWERING_STORING_LOOPS_H_
#define PARAKEET_PASSES_LOWERING_STORING_LOOPS_H_

#include <utility>
#include <vector>

#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {

// A writer of loops that store at places which elements say: it knows the arrays of the function,
// and what stands around the loop that it visits. `Writer` is a LoopWriter.
template <typename Writer>
class StoringLoops : public Writer {
 public:
  StoringLoops(ir::Arena* arena, const ir::Function& function, Context& context)
      : Writer(arena), roots_(function), context_(context) {
    for (const ir::Param& param : function.params) {
      AddRoot(param.var);
      if (function.may_overlap) overlapping_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const ir::Binding& b) {
      for (const ir::Var* result : b.results) AddRoot(result);
    });
  }

 protected:
  // As Mutator::Visit, inside an operator or kernel where the binding is one.
  void VisitWithin(const ir::Binding& b, bool is_operator) {
    const bool is_loop = b.op == ir::OpCode::kFor || b.op == ir::OpCode::kWhile;
    const bool outer = std::exchange(inside_, inside_ || is_operator);
    const ir::VarSet around = around_;
    for (const ir::Block* block : b.blocks) {
      if (is_loop) around_.merge(ir::DefinedVars(*block));
    }
    this->ir::Mutator::Visit(&b);
    around_ = around;
    inside_ = outer;
  }

  static bool IsOperator(const ir::Binding& b) {
    return ir::InfoOf(b.op).format == ir::OpFormat::kIndices;
  }

  Roots roots_;
  Context& context_;
  std::vector<const ir::Var*> arrays_;  // of the function, and those that may share memory
  ir::VarSet overlapping_;
  ir::VarSet around_;    // What is defined in the loops around.
  bool inside_ = false;  // An operator, which may run on several threads itself.

 private:
  void AddRoot(const ir::Var* var) {
    if (var->type.IsArray()) arrays_.push_back(var);
  }
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_STORING_LOOPS_H_
