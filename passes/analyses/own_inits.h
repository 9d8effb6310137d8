#ifndef PARAKEET_PASSES_ANALYSES_OWN_INITS_H_
#define PARAKEET_PASSES_ANALYSES_OWN_INITS_H_

#include <unordered_map>

#include "ir/node.h"

namespace parakeet::passes {

// The arrays that are made for nothing but for a loop to begin with. Nobody can tell whether such
// a loop that does not run leaves that very array or one with the same elements.
class OwnInits {
 public:
  explicit OwnInits(const ir::Function& function);

  // True for an init that an imap beside the loop makes, which lies in memory in that order, and
  // that nothing else reads. The loop may have been rewritten: its results are what it is known by.
  bool Has(const ir::Binding& loop, const ir::Operand& init, const ir::Attributes& order) const;
  // True where all inits of the loop are such.
  bool HasAll(const ir::Binding& loop, const ir::Attributes& order) const;

 private:
  struct Init {
    ir::Attributes order;
    const ir::Var* result;  // The loop's first.
  };

  void See(const ir::Block& block, const std::unordered_map<const ir::Var*, int>& uses);

  std::unordered_map<const ir::Var*, Init> inits_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_OWN_INITS_H_
