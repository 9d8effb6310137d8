#ifndef PARAKEET_IR_VERIFY_BINDING_H_
#define PARAKEET_IR_VERIFY_BINDING_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/breaches.h"
#include "ir/node.h"

namespace parakeet::ir {

// What bindings are checked against: the program's sites and functions, looked up in constant time.
struct Surroundings {
  Stage stage;
  std::vector<int> holes;  // Of each site's message.
  std::unordered_map<std::string_view, const Function*> functions;
};

// True where a value of type `a` may stand for one of type `b`: the same but for sizes, of which
// only those that are constants on both sides must be equal.
bool IsCompatible(const Type& a, const Type& b);

// Checks one binding by its operation's row: counts, attributes, types, and how its blocks fit.
// What the blocks contain is checked elsewhere.
class BindingVerifier {
 public:
  BindingVerifier(const Surroundings& surroundings, Breaches* breaches, const Binding& binding)
      : around_(surroundings), breaches_(*breaches), b_(binding) {}

  void Verify();

 private:
  // --- verify_binding.cc ---
  bool AttributesHaveTheirKinds();
  bool CountsMatch();
  void Dispatch();
  void Scalar();
  void Check();
  void BroadcastSize();
  void SiteTakes(int scalars);
  void Call();
  void LibraryCall();

  // --- verify_operators.cc ---
  void Map();
  void Reduce();
  void Scan();
  void Filter();
  void Imap();
  void Ireduce();
  void Iscan();
  void Foreach();
  void Ifilter();
  void Contract();
  bool Epilogue(size_t free);
  void Lanes();
  void If();
  void For();
  void While();
  // The index space of map and its like: the leading sizes of the arrays; false where there is
  // none.
  bool Elements(std::vector<Operand>* extents);
  // The extents of imap and its like.
  bool Indices(std::vector<Operand>* extents);
  // Every result holds, at each index of `extents`, what the block yields from `first` on.
  void ResultsOver(const std::vector<Operand>& extents, size_t first_result, size_t first_yield,
                   size_t block = 0);
  // Results (where no third block makes them), initial values (none, unless `needs_inits`) and
  // block 1 fit the accumulators that block 0 yields.
  bool Accumulators(size_t first_init, bool needs_inits);
  bool TreeIsSound();
  void KeptValues(const std::vector<Type>& elements);
  bool Yields(const Block& block, const std::vector<Type>& types, std::string_view which);
  bool Takes(const Block& block, size_t first, const std::vector<Type>& types,
             std::string_view which);

  // --- verify_memory.cc ---
  void Slice();
  void Transpose();
  void Broadcast();
  void Reshape();
  void Ascribe();
  void View();
  void Alloc();
  void Free();
  void Copy();
  void Mark();
  void Load();
  void Store();
  void Atomic();
  void Match();
  void Shuffle();
  void Prefetch();
  void LoadLanes();
  void StoreLanes();
  void VectorOperation();
  // The array has an axis for each index; what follows the index begins at `*rest`.
  bool Index(size_t* rest);
  bool Mask(size_t place, int lanes);
  bool LaneAttributes(int rank);
  // Result 0 is an array of the first operand's dtype, with `rank` axes.
  bool ViewOfRank(size_t rank);
  bool SizeAgrees(const Operand& actual, const Operand& expected);

  // --- Shared ---
  Type TypeAt(size_t operand) const { return TypeOf(b_.operands[operand]); }
  const Type& ResultType(size_t result = 0) const { return b_.results[result]->type; }
  bool Require(bool holds, Invariant invariant, std::string_view found) {
    return breaches_.Require(holds, invariant, found);
  }
  bool RequireType(const Type& actual, const Type& expected, std::string_view what,
                   Invariant invariant = Invariant::kTypesMatch);
  // Operands from `begin` to `end` are i64 scalars.
  bool RequireInts(size_t begin, size_t end);
  bool RequireArray(size_t operand);

  const Surroundings& around_;
  Breaches& breaches_;
  const Binding& b_;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_VERIFY_BINDING_H_
