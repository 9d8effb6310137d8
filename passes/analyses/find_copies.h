#ifndef PARAKEET_PASSES_ANALYSES_FIND_COPIES_H_
#define PARAKEET_PASSES_ANALYSES_FIND_COPIES_H_

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// An array that its block makes, fills, and at last copies into another.
struct CopiedArray {
  const ir::Binding* copy = nullptr;  // the foreach
  const ir::Var* target = nullptr;
  const ir::Block* index = nullptr;  // from an index of the array to the one of the target
};

// The arrays of a function that may as well be made where they are copied to: nobody touches the
// target, and nothing fails, from when they are made until they are copied.
class CopyFinder {
 public:
  CopyFinder(ir::Arena* arena, const ir::Function& function);

  // Null for an array that is to be made as it is.
  const CopiedArray* Of(const ir::Var* array) const;
  bool IsCopy(const ir::Binding* binding) const { return copies_.contains(binding); }
  // For each copy that is left, in program order, why.
  const std::vector<std::pair<const ir::Binding*, std::string>>& refusals() const {
    return refusals_;
  }

 private:
  // How a block's top level uses what is made there.
  struct Uses {
    std::unordered_map<const ir::Var*, size_t> last;  // the number of the last user
    // The last that takes it other than to load or store elements of it.
    std::unordered_map<const ir::Var*, ir::OpCode> passed_by;
  };

  void Visit(const ir::Block& block);
  const Uses& UsesIn(const ir::Block& block);
  void Choose(const ir::Block& block, size_t at);
  std::string WhyNot(const ir::Block& block, size_t at, const CopiedArray& copied,
                     const ir::Var* array);
  std::string WhyNotEarlier(const ir::Block& block, size_t made, size_t at,
                            const CopiedArray& copied, const ir::Var* array) const;

  ir::Arena* arena_;
  Roots roots_;
  bool may_overlap_;  // Two elements of an argument may be one place.
  std::unordered_map<const ir::Var*, CopiedArray> arrays_;
  std::unordered_map<const ir::Binding*, const ir::Var*> copies_;
  std::vector<std::pair<const ir::Binding*, std::string>> refusals_;
  std::unordered_map<const ir::Block*, Uses> uses_;
};

// Why the array, made at the block's top level, must be an array of its own: who sees it other than
// by loads and stores of elements, and by routines of libraries where they may. Empty when none
// does; what the block yields is not asked.
std::string WhyWhole(const ir::Block& block, const ir::Var* array, bool routines_may = false);

// True where the block looks at elements of the array, and does nothing else with it.
bool OnlyLoads(const ir::Block& block, const ir::Var* array);

// The array of which an imap has all elements where they are; null where the binding is no such.
const ir::Var* CopiedWhole(const ir::Binding& imap);

// The number of the imap or alloc of the block that makes the array; -1 when there is none.
int MakerOf(const ir::Block& block, const ir::Var* array);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_COPIES_H_
