#ifndef PARAKEET_PASSES_FUSING_STORING_SIBLINGS_H_
#define PARAKEET_PASSES_FUSING_STORING_SIBLINGS_H_

#include "ir/builder.h"
#include "ir/node.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// Nests over one index space that reduce the same memory and store what they make of it, each to
// rows of its own: the places of the greatest of each column, then the greatest themselves, be it
// to another row of the array that both read. They are one nest where the second stands, in which
// all is stored behind what is read. So are nests that store to neighbours of one another, as the
// columns of an array of three: each would go through all of its memory.
class StoringSiblings {
 public:
  // Both are borrowed.
  StoringSiblings(const ir::Function& function, const Roots& roots)
      : roots_(roots), forms_(function) {}

  // Whether binding `first` of the block may run with binding `later`.
  bool MayJoin(const ir::Block& block, size_t first, size_t later) const;

  // The two as one nest.
  static const ir::Binding* Join(ir::Builder& builder, const ir::Binding& first,
                                 const ir::Binding& later);

 private:
  bool MayWait(const ir::Block& block, size_t first, size_t later) const;
  bool StoreToNeighbours(const ir::Binding& a, const ir::Binding& b) const;
  bool AreApart(const ir::Binding& one, const ir::Binding& other) const;
  bool AreApart(const ir::Binding& store, const ir::Binding& access, size_t axes) const;

  const Roots& roots_;
  const WrappingForms forms_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_STORING_SIBLINGS_H_
