#ifndef PARAKEET_PASSES_ANALYSES_PLACE_STEPS_H_
#define PARAKEET_PASSES_ANALYSES_PLACE_STEPS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// A part of a place: a value, or 1 where there is none, times a number and values that the whole
// nest shares.
struct Step {
  const ir::Var* var = nullptr;
  int64_t times = 0;
  std::vector<const ir::Var*> factors = {};
};

// The places of a nest's accesses as sums of multiples of its indexes: `(i * m + j) * k + l` goes
// by `m * k`, `k` and 1. Equal to the places modulo 2^64.
class PlaceSteps {
 public:
  using Extents = std::unordered_map<const ir::Var*, ir::Operand>;  // by index

  // Of a nest in which `made` is defined, its indexes among it. What is given is kept by reference:
  // it may grow.
  PlaceSteps(const WrappingForms& forms, const Extents& extents, const ir::VarSet& made,
             const ir::DefinitionMap& definitions)
      : forms_(forms), extents_(extents), made_(made), definitions_(definitions) {}

  bool IsIndex(const ir::Var* var) const { return extents_.contains(var); }
  // True for what is computed in the nest.
  bool IsMade(const ir::Var* var) const { return made_.contains(var) && !IsIndex(var); }

  // The parts that a place is the sum of, through products with what the whole nest shares.
  std::vector<Step> Of(const ir::Operand& at) const;
  // True for a load at multiples of indexes from a place on that is the same for the whole nest.
  bool ReadsLinearly(const ir::Binding& load) const;
  // Such a load of a view, whose axes are the indexes that it goes by, one that goes from element
  // to element last. Writes the view.
  ir::Binding LoadOfView(ir::Builder& builder, const ir::Binding& load) const;

 private:
  bool IsShared(const ir::Operand& operand) const {
    return operand.IsVar() && !made_.contains(operand.var()) && !IsIndex(operand.var());
  }
  const ir::Binding* ProductOf(const ir::Var* var) const;

  const WrappingForms& forms_;
  const Extents& extents_;
  const ir::VarSet& made_;
  const ir::DefinitionMap& definitions_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_PLACE_STEPS_H_
