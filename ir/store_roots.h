#ifndef PARAKEET_IR_STORE_ROOTS_H_
#define PARAKEET_IR_STORE_ROOTS_H_

#include <climits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/breaches.h"
#include "ir/node.h"

namespace parakeet::ir {

// Whose memory an array may be, as far as the verifier asks: how many blocks of data-parallel
// operators are around the outermost allocation that it may be a view of. A store at depth d must
// be to memory of depth d. Bindings are added as they are walked; Report answers when all are
// known, since a loop's array may come from its body's end.
class StoreRoots {
 public:
  // A parameter of the function.
  void AddParam(const Var* param) { Own(param, 0); }
  // A binding at a depth, and its blocks' parameters; not what its blocks contain.
  void Add(const Binding& binding, int depth);
  void Report(Breaches& breaches);

 private:
  struct Node {
    int depth = INT_MAX;
    std::vector<const Var*> dependents;
  };
  struct Effect {
    const Binding* binding;
    const Var* array;
    int depth;
  };

  void AddEffect(const Binding& binding, int depth);
  void AddLoop(const Binding& binding, const Block& last, size_t first_init);
  void Own(const Var* var, int depth);
  // `var` may be the memory of `from`.
  void Derive(const Var* var, const Operand& from);
  void Propagate();
  void FindMade();

  std::unordered_map<const Var*, Node> nodes_;
  std::vector<std::vector<const Var*>> owned_;  // By depth.
  std::vector<Effect> effects_;
  std::vector<const Var*> makers_;  // Results of allocations and calls.
  std::unordered_set<const Var*> made_;
};

// True for the operators whose blocks may store only to what they allocate.
bool IsDataParallel(OpCode op);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_STORE_ROOTS_H_
