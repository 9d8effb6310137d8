// Machine code from an optimised module.
#ifndef PARAKEET_BACKENDS_LLVM_EMIT_OBJECT_H_
#define PARAKEET_BACKENDS_LLVM_EMIT_OBJECT_H_

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace parakeet::backends {

// The code generator's passes, in line for one module: an object may be asked for long after they
// were made, and they take a tenth of the time that a short one takes.
class ObjectWriter {
 public:
  explicit ObjectWriter(llvm::TargetMachine& machine);
  // An ELF object; once. The module is used up.
  llvm::SmallVector<char, 0> Write(llvm::Module& module);

 private:
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_;
  llvm::legacy::PassManager passes_;
};

// The text of its assembly. The module is used up: run it on a copy to keep one.
llvm::SmallVector<char, 0> EmitAssembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EMIT_OBJECT_H_
