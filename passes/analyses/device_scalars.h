#ifndef PARAKEET_PASSES_ANALYSES_DEVICE_SCALARS_H_
#define PARAKEET_PASSES_ANALYSES_DEVICE_SCALARS_H_

#include <vector>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// Which numbers of host code around kernels need not come to the host: what it loads from arrays,
// which are the device's, and what is computed of that, unless host code must know them: for
// control flow, sizes, bounds, views, checks, calls, and results that are not `kept`.
//
// What is carried by a loop, or joined behind a branch, is among them as a whole or not at all.
class DeviceScalars {
 public:
  // `kept` are numbers of the function's results that may be in the device's memory.
  DeviceScalars(const ir::Function& function, const std::vector<size_t>& kept);

  bool Has(const ir::Var* value) const { return made_.contains(value); }
  bool Has(const ir::Operand& value) const { return value.IsVar() && Has(value.var()); }
  bool IsEmpty() const { return made_.empty(); }

  // True for a branch that kernels take by themselves, asking for the condition where the device
  // has it: of few kernels, and numbers.
  bool IsBranchOfKernels(const ir::Binding& b) const;

 private:
  void FindMade(const ir::Block& body);
  bool Make(const ir::Block& block);
  bool Make(const ir::Binding& b);
  bool Add(const ir::Var* value);
  void FindNeeded(const ir::Function& function, const std::vector<size_t>& kept);
  bool NeedAll(const ir::Block& body);
  bool Need(const ir::Block& block);
  bool Need(const ir::Binding& b);
  bool NeedInside(const ir::Binding& b);
  bool NeedUses(const ir::Binding& b);
  bool Need(const ir::Operand& value);

  ir::VarSet made_;    // on the device
  ir::VarSet needed_;  // by the host
};

// A value that a loop carries: its parameters in the blocks, what it begins with, what comes next.
struct CarriedSlot {
  std::vector<const ir::Var*> params;
  ir::Operand init;
  ir::Operand next;
  const ir::Var* result;
};
// Of a `for` or `while`.
std::vector<CarriedSlot> CarriedSlots(const ir::Binding& loop);

bool IsKernel(const ir::Binding& b);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_DEVICE_SCALARS_H_
