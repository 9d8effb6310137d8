#ifndef PARAKEET_PASSES_LOWERING_CHECKS_ALONE_H_
#define PARAKEET_PASSES_LOWERING_CHECKS_ALONE_H_

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// The checks of a loop without what else it does. What they are made of is made again, each behind
// the checks that come before it in its iteration. An index that moves by one is looked at in the
// first and the last iteration, where it is to lie within its axis, and not be counted from the
// end: a loop of which that is not true is one whose checks may fail.
class ChecksAlone {
 public:
  // What says of all iterations of a `for` whether their checks hold: a loop that carries it, for
  // passes that come before parallelize-loops, or a reduction.
  enum class Form { kLoop, kReduction };

  // The loop is one of the function that `roots` is of.
  ChecksAlone(const ir::Binding& loop, const Roots& roots, Form form = Form::kLoop);

  // Whether all checks are made of scalar code alone, and of elements that the loop does not store
  // to: of nothing that it carries, nor in loops that end when they like.
  bool is_possible() const { return is_possible_; }

  // Appends what finds out whether all checks hold; returns that.
  ir::Operand Write(ir::Builder& builder) const;
  // The loop's block where they do, without them; every definition is made new.
  const ir::Block* Unchecked(ir::Arena* arena) const;

 private:
  bool FindChecks(const ir::Block& block);
  void FindEnds(const ir::Binding& loop);
  void Need(const ir::Var* value);
  bool MayMakeAgain(const ir::Var* value) const;
  bool IsNeeded(const ir::Binding& b) const;
  ir::Operand WriteEnds(ir::Builder& builder, const ir::Binding& loop) const;
  bool NeedsGuard(const ir::Block& block, size_t from) const;
  ir::Operand WriteBlock(ir::Builder& builder, const ir::Block& block, size_t from) const;
  ir::Operand WriteWithin(ir::Builder& builder, const ir::Binding& b) const;
  ir::Operand WriteEach(ir::Builder& builder, const ir::Binding& b) const;
  ir::Operand WriteLoop(ir::Builder& builder, const ir::Binding& loop, ir::Builder& inner,
                        const ir::Operand& holds) const;
  const ir::Block* WithoutChecks(ir::Arena* arena, const ir::Block& block) const;

  const ir::Binding& loop_;
  const Roots& roots_;
  const Form form_;
  const ir::VarSet written_;                            // roots
  const ir::DefinitionMap makers_;                      // in the loop
  std::unordered_set<const ir::Binding*> with_checks_;  // or checks
  // What holds throughout a loop where it does in its first and its last iteration.
  struct Ends {
    std::vector<ir::Operand> tests;
    std::vector<const ir::Binding*> selections;  // of `position < 0 ? position + size : position`
  };
  std::unordered_map<const ir::Binding*, Ends> at_ends_;
  ir::VarSet carried_;
  ir::VarSet needed_;
  bool is_possible_ = false;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_CHECKS_ALONE_H_
