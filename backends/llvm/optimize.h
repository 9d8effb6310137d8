// LLVM's optimisation of a module, cut down to what our code gains from.
#ifndef PARAKEET_BACKENDS_LLVM_OPTIMIZE_H_
#define PARAKEET_BACKENDS_LLVM_OPTIMIZE_H_

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace parakeet::backends {

// Loops are vectorised before LLVM sees them (vectorize_loops), so its own vectorisers do not run,
// and no pass here may change the bits of a result. For a machine that makes no effort (Effort in
// target.h), code is made shorter alone.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_OPTIMIZE_H_
