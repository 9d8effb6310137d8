#ifndef PARAKEET_PASSES_LOWERING_STEP_WRITER_H_
#define PARAKEET_PASSES_LOWERING_STEP_WRITER_H_

#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_time_steps.h"
#include "passes/analyses/linear_forms.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {

// Copies of arrays are worth so many steps.
constexpr int64_t kFewestBehindCopy = 8;

// A pass over time loops, of which it writes several steps at once in front of the loop: what
// passes that do so have in common. Loops inside nests are left alone, and all where arrays may be
// one.
class StepWriter : public LoopWriter {
 public:
  StepWriter(ir::Arena* arena, const ir::Function& function, Context& context);

 protected:
  // Writes the loop with steps at once, or nothing and false. `storing` is the loop as `steps` has
  // it: what maps make is stored to arrays that are made before.
  virtual bool WriteLoop(const ir::Binding& loop, const ir::Binding& storing,
                         const TimeSteps& steps) = 0;

  void Visit(const ir::Binding* b) override;

  // The loop as it was, behind so many of its steps, carrying on with `behind`.
  void WriteRest(const ir::Binding& loop, const ir::Operand& done, const Operands& behind);

  // Arrays of the steps' own, and copies of what the loop begins with.
  void MakeOwn(const TimeSteps& steps);

  // What the loop carries behind steps that leave all arrays where they were, and what numbers are
  // there.
  Operands Behind(const ir::Binding& loop, const TimeSteps& steps, const Operands& numbers) const;

  // What is done in a step, its checks and the making of arrays aside.
  static ir::Block WithoutArrays(const ir::Block& body);

  ir::Operand FloorDiv(const ir::Operand& a, const ir::Operand& b) {
    return builder().Quotient(a, b);
  }
  // True where all are.
  ir::Operand All(const Operands& conditions);

  const WrappingForms& forms() const { return forms_; }
  Context& context() { return context_; }

 private:
  // The body with what maps make stored to arrays that are made before.
  const ir::Block* Storing(const ir::Block& body);

  const Roots roots_;
  const WrappingForms forms_;
  const ir::DefinitionMap definitions_;
  Context& context_;
  bool may_overlap_ = false;  // Arguments, or two elements of one.
  bool in_nest_ = false;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_STEP_WRITER_H_
