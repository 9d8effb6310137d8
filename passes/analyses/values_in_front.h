#ifndef PARAKEET_PASSES_ANALYSES_VALUES_IN_FRONT_H_
#define PARAKEET_PASSES_ANALYSES_VALUES_IN_FRONT_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/uses.h"

namespace parakeet::passes {

// True for what is computed of integers and bools alone.
bool IsSizeExpression(const ir::Binding& binding);

// The same of other operands. What would be divided by zero is divided by one: where the binding
// stands, that does not come.
ir::Operand WriteSizeExpression(ir::Builder& builder, const ir::Binding& binding,
                                std::vector<ir::Operand> operands);

// Integers and bools of a loop's iterations that are the same in all of them, written in front of
// it.
class ValuesInFront {
 public:
  // `whole` holds the loop; `outside` has what is defined in front of it.
  ValuesInFront(const ir::Block& whole, const ir::DefinitionMap& outside);

  // True for what neither the iteration nor an array decides.
  bool IsKnown(const ir::Operand& value) const;
  // The value of what is known, by bindings that `builder` appends.
  ir::Operand Write(ir::Builder& builder, const ir::Operand& value);
  // What it is where each of these sizes is `size`; nothing where something else decides too.
  std::optional<ir::Constant> WhereSizesAre(int64_t size, const ir::VarSet& sizes,
                                            const ir::Operand& value, ir::Arena* arena) const;
  bool IsInside(const ir::Var* value) const { return inside_.contains(value); }

 private:
  const ir::Binding* DefinitionOf(const ir::Operand& value) const;
  bool FindKnown(const ir::Operand& value) const;

  ir::DefinitionMap definitions_;
  const ir::DefinitionMap& outside_;
  ir::VarSet inside_;
  mutable std::unordered_map<const ir::Var*, bool> known_;
  std::unordered_map<const ir::Var*, ir::Operand> written_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_VALUES_IN_FRONT_H_
