#ifndef PARAKEET_PASSES_FUSING_PANEL_GROUPS_H_
#define PARAKEET_PASSES_FUSING_PANEL_GROUPS_H_

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// Operators of one block of the program that go through the rows of one matrix. A row is what an
// array has at its indexes but the last; of arrays of one axis, each element is one, and scans may
// be among those that go through them.
struct PanelGroup {
  std::vector<const ir::Binding*> members;  // in order
  ir::VarSet matrix;                        // roots
  std::vector<ir::Operand> rows;            // extents
  std::optional<ir::Operand> columns;       // none of arrays of one axis
  int64_t bytes = 0;                        // of the matrix's widest element
};

// What a reduction's sum of nothing is, of one of its results; none where that is not combined by
// one operation that has it.
std::optional<ir::Constant> SumIdentity(const ir::Binding& sum, size_t result);

class PanelGrouper {
 public:
  explicit PanelGrouper(const ir::Function& function) : roots_(function), patterns_(function) {}

  // The groups among the bindings, which change places: members of a group stand side by side, what
  // they need before them and what needs them behind.
  std::vector<PanelGroup> Find(std::vector<const ir::Binding*>& bindings);

  // The reduction of a nest over columns that sums each of them, of elements made by scalar code;
  // null where the nest is another one.
  const ir::Binding* SumOfColumns(const ir::Binding& nest) const;

 private:
  // What a binding does and needs.
  struct Deeds {
    Effects effects;
    ir::VarSet needs;
  };

  const Deeds& DeedsOf(const ir::Binding& b);
  PanelGroup SeedOf(const ir::Binding& b) const;
  PanelGroup ColumnsOf(const ir::Binding& nest, const ir::Binding& sum) const;
  PanelGroup SpaceOf(const ir::Binding& total) const;
  PanelGroup PrefixesOf(const ir::Binding& scan) const;
  bool IsWorthwhile(const PanelGroup& group) const;
  std::vector<size_t> Grow(const std::vector<const ir::Binding*>& bindings, size_t at,
                           PanelGroup& group);
  void Add(const ir::Binding& b, PanelGroup& group) const;
  bool Joins(const std::vector<const ir::Binding*>& bindings, const std::vector<size_t>& places,
             size_t at, const PanelGroup& group);
  std::optional<std::vector<const ir::Binding*>> InOrder(
      const std::vector<const ir::Binding*>& bindings, const std::vector<size_t>& places);
  bool Fits(const ir::Binding& b, const PanelGroup& group);
  bool GoesByRows(const ir::Binding& nest, const PanelGroup& group);
  bool GoTogether(const ir::Binding& before, const ir::Binding& later, const PanelGroup& group);
  bool IsByRow(const ir::Binding& b, const ir::VarSet& arrays, size_t depth) const;

  Roots roots_;
  AccessPatterns patterns_;
  std::unordered_map<const ir::Binding*, Deeds> deeds_;
  ir::FlatSet<const ir::Binding*> grouped_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_PANEL_GROUPS_H_
