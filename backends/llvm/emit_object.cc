#include "backends/llvm/emit_object.h"

#include "ir/diagnostics.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"

namespace parakeet::backends {
namespace {

llvm::SmallVector<char, 0> EmitFile(llvm::Module& module, llvm::TargetMachine& machine,
                                    llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    ir::FailBug("the code generator cannot write such a file");
  }
  passes.run(module);
  return bytes;
}

}  // namespace

llvm::SmallVector<char, 0> EmitObject(llvm::Module& module, llvm::TargetMachine& machine) {
  return EmitFile(module, machine, llvm::CodeGenFileType::ObjectFile);
}

llvm::SmallVector<char, 0> EmitAssembly(llvm::Module& module, llvm::TargetMachine& machine) {
  return EmitFile(module, machine, llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace parakeet::backends
