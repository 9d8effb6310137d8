#ifndef PARAKEET_PASSES_ANALYSES_FIND_REUSE_H_
#define PARAKEET_PASSES_ANALYSES_FIND_REUSE_H_

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// Which results of a function's imaps may be written over an array that ends there: one of the
// same type and order in memory, made in the function, that the imap reads at no index but the one
// it writes, and that nothing looks at afterwards under any name. Where `copies_slices`, the imap
// may also read a row of it, a column, or whatever else depends on fewer indexes than it writes,
// which is to be taken before. So may prefixes of a scan be written over what the scan reads, on a
// host. Facts are those of the function as it stands; all that are found hold together.
class ReuseFinder {
 public:
  ReuseFinder(const ir::Function& function, bool copies_slices);

  // The array that `result` may be written over; null when there is none.
  const ir::Var* ReusedBy(const ir::Var* result) const;
  // The array that the prefixes `result` of a scan may be written over; null when there is none.
  const ir::Var* ScannedOver(const ir::Var* result) const;
  // Loads of the imap's block that take slices of arrays it is written over.
  const std::vector<const ir::Binding*>& SlicesOf(const ir::Binding& imap) const;
  // For each imap that reads arrays and reuses none, in program order, why not.
  const std::vector<std::pair<const ir::Binding*, std::string>>& refusals() const {
    return refusals_;
  }

 private:
  using Slices = std::vector<const ir::Binding*>;

  // A block that the walk is in, and the binding there that it has come to.
  struct Frame {
    const ir::Block* block;
    const ir::Binding* parent;  // null for the function's body
    size_t at = 0;
  };
  // Where a value is defined: by the binding of that number, or as a parameter (number -1).
  struct Place {
    const ir::Block* block = nullptr;
    int binding = -1;
  };

  // By value, the number of the last binding of a block that uses it.
  using LastUses = ir::FlatMap<const ir::Var*, size_t>;

  // What a loop carries under the name of a parameter: its number among the loop's results.
  struct Carried {
    const ir::Binding* loop;
    size_t number;
  };

  void Define(const ir::Block& block);
  void DefineCarried(const ir::Binding& loop);
  void Visit(const ir::Block& block, const ir::Binding* parent);
  void Choose(const ir::Binding& imap);
  void ChooseOfScan(const ir::Binding& scan);
  bool TryReads(const ir::Binding& imap, const ir::Var* result);
  bool TryCarried(const ir::Binding& imap, const ir::Var* result);
  void Take(const ir::Binding& imap, const ir::Var* result, const ir::Var* array,
            const Slices& slices);

  std::string WhyNot(const ir::Binding& imap, const ir::Var* result, const ir::Var* array,
                     Slices* slices) const;
  std::string WhyNotOwned(const ir::Var* array) const;
  std::string WhyNotElementwise(const ir::Binding& imap, const ir::Var* array,
                                Slices* slices) const;
  bool IsSlice(const ir::Binding& imap, const ir::Binding& load) const;
  std::string WhyAlive(const ir::Var* array) const;
  bool LiesAs(const ir::Binding& imap, const ir::Var* array, ir::VarSet& seen) const;
  int FrameOf(const ir::Var* value) const;
  bool IsWithinReach(const ir::Var* array) const;
  bool IsUsedAfter(const ir::Var* value, int frame) const;
  bool MayBeOne(const ir::Var* a, const ir::Var* b) const;
  bool Makes(const ir::Var* value) const;
  const LastUses& LastUsesIn(const ir::Block& block) const;
  const ir::VarSet& FreeOf(const ir::Block& block) const;

  const bool copies_slices_;
  Roots roots_;
  ir::DefinitionMap definitions_;
  std::unordered_map<const ir::Var*, Place> places_;
  std::unordered_map<const ir::Var*, Carried> carried_;
  ir::VarSet params_;
  std::vector<Frame> frames_;
  std::unordered_map<const ir::Var*, const ir::Var*> reused_;
  std::unordered_map<const ir::Var*, const ir::Var*> scanned_over_;
  ir::VarSet taken_;  // the roots of what is reused
  std::unordered_map<const ir::Binding*, Slices> slices_;
  std::vector<std::pair<const ir::Binding*, std::string>> refusals_;
  mutable std::unordered_map<const ir::Block*, LastUses> last_uses_;
  mutable std::unordered_map<const ir::Block*, ir::VarSet> free_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_REUSE_H_
