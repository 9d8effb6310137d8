#ifndef PARAKEET_PASSES_ANALYSES_SHIFTED_LANES_H_
#define PARAKEET_PASSES_ANALYSES_SHIFTED_LANES_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// What a value of a loop in lanes is: lane l of iteration i is F(i + l + shift). Of values with one
// `function`, the lanes of one are lanes of the other, in this iteration or in the next.
struct ShiftedLanes {
  int function = 0;
  int64_t shift = 0;
  // How much makes it, what several operands need counted for each of them.
  int loads = 0;
  int operations = 0;

  int Size() const { return loads + operations; }
};

// The values of a loop's block that follow from where their lanes are alone. The loop goes by as
// many elements as its values have lanes, and nothing in its block has a block.
class ShiftedValues {
 public:
  ShiftedValues(const ir::Binding& loop, const ir::DefinitionMap& definitions,
                const WrappingForms& forms, const Roots& roots);

  // Null for a value of another kind.
  const ShiftedLanes* Of(const ir::Operand& value) const;

 private:
  void See(const ir::Binding& binding);
  void SeeLoad(const ir::Binding& load);
  void SeeOperation(const ir::Binding& operation);
  void Keep(const ir::Var* value, const std::string& key, ShiftedLanes lanes);
  // The same number in all lanes, in every iteration.
  bool IsUniform(const ir::Operand& value) const;
  bool Stays(const ir::Operand& value) const;

  const ir::Var* index_;
  int64_t lanes_;
  const ir::DefinitionMap& definitions_;
  const WrappingForms& forms_;
  const Roots& roots_;
  ir::VarSet inside_;  // all that the block defines
  ir::VarSet writes_;  // roots
  std::unordered_map<std::string, int> functions_;
  std::unordered_map<const ir::Var*, ShiftedLanes> values_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_SHIFTED_LANES_H_
