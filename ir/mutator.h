#ifndef PARAKEET_IR_MUTATOR_H_
#define PARAKEET_IR_MUTATOR_H_

#include <vector>

#include "ir/builder.h"
#include "ir/flat_table.h"
#include "ir/node.h"

namespace parakeet::ir {

// Values standing for other values.
using Substitution = FlatMap<const Var*, Operand>;

// Rewrites a function from the outside in, block by block, binding by binding. What a subclass does
// not change keeps its pointer, so an unchanged function comes back as the same pointer. A result
// whose type mentions a replaced size gets a new Var.
//
//   class Fold : public Mutator {
//     void Visit(const Binding* binding) override {
//       if (auto value = Known(binding)) return Replace(binding->result(), *value);
//       Mutator::Visit(binding);
//     }
//   };
class Mutator {
 public:
  explicit Mutator(Arena* arena) : builder_(arena) {}
  virtual ~Mutator() = default;

  // The function with its body rewritten; the same pointer when nothing changed.
  const Function* Run(const Function* function);

 protected:
  // Rewrites one binding into the current block: by default, itself with operands substituted and
  // blocks rewritten. Overrides call Emit, Append or Replace, or this for what they leave alone.
  virtual void Visit(const Binding* binding);

  // The block with its bindings visited, in a scope of its own.
  virtual const Block* VisitBlock(const Block* block);

  // The binding after substitution, with its blocks visited; not appended.
  const Binding* Rewrite(const Binding* binding);

  // From here on `from` reads as `to`.
  void Replace(const Var* from, const Operand& to) { substitution_[from] = Apply(to); }
  // From here on `from` reads as itself again.
  void Restore(const Var* from) { substitution_.erase(from); }

  Operand Apply(const Operand& operand) const;
  std::vector<Operand> Apply(const std::vector<Operand>& operands) const;
  Type Apply(const Type& type) const;

  // The block being written. Its span is the visited binding's.
  Builder& builder() { return builder_; }
  Arena* arena() const { return builder_.arena(); }

 private:
  const Var* ApplyToResult(const Var* result);

  Builder builder_;
  Substitution substitution_;
};

// Appends a copy of `block`'s bindings to `builder`, every definition made new, its parameters
// standing for `arguments`; returns what it yields. Substituting a body twice therefore defines no
// value twice.
std::vector<Operand> InlineBlock(Builder& builder, const Block& block,
                                 const std::vector<Operand>& arguments);

// As InlineBlock, with further values replaced.
std::vector<Operand> InlineBlock(Builder& builder, const Block& block, Substitution substitution);

// The block with every definition made new, parameters included.
const Block* CloneBlock(Arena* arena, const Block& block, Substitution substitution = {});

// A new variable like another one, for which `copies` says from then on that it stands. Its sizes
// are those that stand for the other's: a loop's arrays may have sizes that it carries too.
const Var* CopyVar(Builder& builder, const Var* var, Substitution* copies);

// Appends a copy of a `for` over other indexes, that begins with other values; returns its results.
std::vector<Operand> CopyLoop(Builder& builder, const Binding& loop, const Operand& lo,
                              const Operand& hi, const std::vector<Operand>& carried);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_MUTATOR_H_
