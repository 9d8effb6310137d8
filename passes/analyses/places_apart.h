#ifndef PARAKEET_PASSES_ANALYSES_PLACES_APART_H_
#define PARAKEET_PASSES_ANALYSES_PLACES_APART_H_

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/inequalities.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// What a function says of its values, by whom they are made: all of it stays where it is.
struct MadeValues {
  const WrappingForms& forms;
  const ir::DefinitionMap& makers;
  const ir::DefinitionMap& loops;                                 // by index
  const std::unordered_map<const ir::Var*, ir::Operand>& spaces;  // extents, by index
  const ir::VarSet& sizes;                                        // of arrays that are there
  const ir::VarSet& near;  // scalars that are checked first to lie between -2^48 and 2^48
};

// Whether an access of one iteration of a loop and one of a later iteration may be at one place. If
// they were, their indexes would be equal on each axis, and all values within the ends of loops, of
// quotients and of branches around them: inequalities, of which Inequalities shows that no numbers
// satisfy them. So x[i] and x[n - 1 - i] are apart where i < n // 2, the four places of a square
// that is turned, x[j] and x[j + h] where j goes from i to i + h and i by steps of 2 * h, and x[i]
// and x[i ^ h] behind `if i < i ^ h`, since i ^ h ^ h is i. Multiples of a size are one, or as
// much apart: x[j * n + i] are of one i each where i < n, and x[i * n + j] are apart where j < i.
//
// Assumes that no loop makes 2^48 iterations, nor loops around one another 2^62 of all, and that
// arrays have less than 2^48 elements an axis, at which all accesses are.
class PlacesApart {
 public:
  PlacesApart(const MadeValues& made, const ir::Binding& loop);

  bool AreApart(const ir::Binding& earlier, const ir::Binding& later);

 private:
  // A value, and whether it is that of the later iteration, where the loop changes it.
  using Instance = std::pair<const ir::Var*, bool>;
  // A product of each iteration, by one factor that is positive and that the loop does not change.
  struct Multiples {
    const ir::Binding* earlier;
    const ir::Binding* later;
    ir::Operand factor;
  };

  size_t NumberOf(const ir::Var* var, bool is_later);
  std::optional<Inequalities::Row> RowOf(const LinearForm& form, bool is_later);
  std::optional<Inequalities::Row> Between(const LinearForm& earlier, const LinearForm& later);
  void IsNotNegative(const LinearForm& form, bool is_later, double most);
  void MeetOnAxis(const ir::Operand& earlier, const ir::Operand& later);
  void MeetBehindXor(const ir::Operand& one, bool is_later, const ir::Operand& other);
  void AddOrder();
  void AddAllFacts();
  void AddFacts(const Instance& value);
  void AddLoop(const ir::Binding& loop, bool is_later);
  void AddMaker(const ir::Binding& maker, bool is_later);
  void AddMultiples();
  std::vector<Multiples> FindMultiples();
  void AddStep(const Multiples& multiples, int64_t sign);
  bool Contradicts(const std::vector<Multiples>& multiples, size_t first);
  bool IsPositive(const ir::Operand& value);
  bool AddGuards(const ir::Block& block, const ir::Binding& access, bool is_later);
  void AddCondition(const ir::Operand& condition, bool value, bool is_later, int depth = 0);
  bool IsNear(const LinearForm& form, bool is_later, int depth = 0) const;
  bool IsNear(const ir::Var* value, bool is_later, int depth) const;
  LinearForm EndOf(const ir::Operand& end, const LinearForm& begin) const;
  bool IsProductOf(const ir::Var* value, const ir::Binding& product) const;

  const MadeValues made_;
  const ir::Binding& loop_;
  const ir::VarSet inside_;
  Inequalities system_;
  std::vector<Instance> values_;  // by number
  size_t known_ = 0;              // How many of them all is said of.
  const ir::Binding* accesses_[2] = {nullptr, nullptr};
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_PLACES_APART_H_
