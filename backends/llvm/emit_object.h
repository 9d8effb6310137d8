// Machine code from an optimised module.
#ifndef PARAKEET_BACKENDS_LLVM_EMIT_OBJECT_H_
#define PARAKEET_BACKENDS_LLVM_EMIT_OBJECT_H_

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace parakeet::backends {

// An ELF object, or the text of its assembly. The module is used up: run it on a copy to keep one.
llvm::SmallVector<char, 0> EmitObject(llvm::Module& module, llvm::TargetMachine& machine);
llvm::SmallVector<char, 0> EmitAssembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EMIT_OBJECT_H_
