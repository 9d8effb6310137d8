#ifndef PARAKEET_PASSES_ANALYSES_FIND_EFFECTS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_EFFECTS_H_

#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// The memory an array value may stand for: parameters, allocations and operators' results, by their
// values. Where a function's parameters may overlap, as those of a function that is not the entry
// may, one of them stands for all.
class Roots {
 public:
  explicit Roots(const ir::Function& function);

  // The roots of an array value; itself for one that no binding of the function defines.
  const ir::VarSet& Of(const ir::Var* array) const;
  // The values that may be views of this one, itself among them.
  ir::VarSet ViewsOf(const ir::Var* array) const;
  // True when the two values may share memory.
  bool MayShare(const ir::Var* a, const ir::Var* b) const;
  // True when two values of one iteration, of whatever loops are around both, may share memory:
  // arrays that change places in every iteration of a loop do not.
  bool MayShareNow(const ir::Var* a, const ir::Var* b) const;
  // True when every root of the array was made in the function.
  bool IsFresh(const ir::Var* array) const;

 private:
  // Whether an array may take its memory from a root that this iteration of the loop around the
  // root has made, or one before it: through what the loop carries.
  struct Ways {
    bool now = false;
    bool before = false;
  };
  const Ways& WaysTo(const ir::Var* array, const ir::Var* root) const;
  void FindApart(const ir::Binding& loop);

  ir::VarSet params_;
  mutable std::unordered_map<const ir::Var*, ir::VarSet> roots_;
  // From a value to those that it may take its memory from,
  std::unordered_map<const ir::Var*, std::vector<const ir::Var*>> sources_;
  // and to those that may take theirs from it.
  std::unordered_map<const ir::Var*, std::vector<const ir::Var*>> dependents_;
  // By array that a loop carries into a block, what the block makes.
  std::unordered_map<const ir::Var*, ir::VarSet> made_behind_;
  mutable std::unordered_map<const ir::Var*, std::unordered_map<const ir::Var*, Ways>> ways_;
  // By array that a loop carries, others that it carries and that are never the same at once.
  std::unordered_map<const ir::Var*, ir::VarSet> apart_;
};

// What running a binding, its blocks included, may do to memory and to the order of errors. A
// binding's writes are those that show outside it; a block's are all.
struct Effects {
  ir::VarSet reads;   // roots
  ir::VarSet writes;  // roots
  bool may_fail = false;

  bool IsPure() const { return writes.empty() && !may_fail; }
};

Effects EffectsOf(const ir::Binding& binding, const Roots& roots);
Effects EffectsOf(const ir::Block& block, const Roots& roots);

// True when running the two in the other order could be seen: one writes what the other touches, or
// a failure of one would come before or after a write or failure of the other.
bool Conflict(const Effects& a, const Effects& b);

// True when the sets share a root.
bool Intersects(const ir::VarSet& a, const ir::VarSet& b);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_EFFECTS_H_
