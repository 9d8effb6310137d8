#ifndef PARAKEET_PASSES_LOWERING_LAST_STORES_H_
#define PARAKEET_PASSES_LOWERING_LAST_STORES_H_

#include <unordered_map>
#include <vector>

#include "passes/analyses/stored_places.h"
#include "passes/lowering/loop_nest.h"
#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

// A nest whose iterations store at places that are computed, as two foreach: in the first, each
// iteration says by an atomic maximum where it is going to store; in the second, it stores where no
// later one is. What is stored at each place is what the loop would have stored there last. One
// value that all iterations store, as of `seen[places] = True`, each of them just stores.
class LastStores : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

 protected:
  // The indexes of the nest along which iterations never meet: they say nothing in the first.
  static ir::VarSet ApartIn(const LoopNest& nest, const std::vector<StoredArray>& stored);

  // Nothing of what is stored to is read in the nest, whose ordered indexes have less than 2^31
  // iterations.
  void WriteLastStores(const LoopNest& nest, const std::vector<StoredArray>& stored,
                       const ir::VarSet& apart);

  // Where stores of a nest are being written so, writes a store; else false.
  bool VisitStore(const ir::Binding& b);

 private:
  // Of one array: the number of the last iteration that stores there, by the axes that count.
  struct Claims {
    const ir::Var* last;
    std::vector<int> axes;
  };
  enum class Phase { kNone, kClaim, kStore };

  Claims MakeClaims(const StoredArray& stored, const ir::VarSet& apart);
  void WritePhase(Phase phase, const LoopNest& nest, const std::vector<const ir::Var*>& indexes);
  Operands ClaimedPlace(const ir::Binding& store, const Claims& claims);

  std::unordered_map<const ir::Var*, Claims> claims_;  // by array
  ir::VarSet of_one_value_;                            // Arrays in which all store the same.
  ir::VarSet apart_;
  Phase phase_ = Phase::kNone;
  ir::VarSet left_out_;      // What the first foreach does not compute.
  ir::Operand number_ = {};  // Of the iteration.
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LAST_STORES_H_
