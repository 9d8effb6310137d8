// Functions that take the lanes of vectors one after another, for what has no vector form.
#ifndef PARAKEET_BACKENDS_LLVM_LANE_LOOPS_H_
#define PARAKEET_BACKENDS_LLVM_LANE_LOOPS_H_

#include <functional>
#include <string>

#include "backends/llvm/emission.h"

namespace parakeet::backends {

using Scalars = llvm::SmallVector<llvm::Value*, 4>;

// Calls a function of the module that runs `one` on the scalars of each lane and gathers what it
// yields, `results` scalars. Operands and results have one vector type. The function is written at
// its first use; `name` and the type tell it from others. A loop, since the code of many calls in a
// row takes long to generate.
Scalars CallByLane(Emission& emission, const std::string& name,
                   llvm::ArrayRef<llvm::Value*> operands, unsigned results,
                   const std::function<Scalars(llvm::ArrayRef<llvm::Value*>)>& one);

// "v8f64", "i32": for the names of functions that are written for one type.
std::string SuffixOf(llvm::Type* type);

// A function of the module without effects, with an empty block "entry".
llvm::Function* NewPureFunction(Emission& emission, const std::string& name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Type*> params);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_LANE_LOOPS_H_
