#include "backends/llvm/emit_object.h"

#include <mutex>
#include <utility>

#include "backends/llvm/code_switch.h"
#include "ir/diagnostics.h"

namespace parakeet::backends {
namespace {

void AddPasses(llvm::legacy::PassManager* passes, llvm::TargetMachine& machine,
               llvm::raw_pwrite_stream& stream, llvm::CodeGenFileType type) {
  // What is for the host's processor has been through it where it gains (optimize.cc). The switch
  // is read as the passes are put in line.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Set(CodeSwitch{"disable-lsr", machine.getTargetTriple().isX86()});
  if (machine.addPassesToEmitFile(*passes, stream, nullptr, type, /*DisableVerify=*/true)) {
    ir::FailBug("the code generator cannot write such a file");
  }
}

}  // namespace

ObjectWriter::ObjectWriter(llvm::TargetMachine& machine) : stream_(bytes_) {
  AddPasses(&passes_, machine, stream_, llvm::CodeGenFileType::ObjectFile);
}

llvm::SmallVector<char, 0> ObjectWriter::Write(llvm::Module& module) {
  passes_.run(module);
  return std::move(bytes_);
}

llvm::SmallVector<char, 0> EmitAssembly(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  AddPasses(&passes, machine, stream, llvm::CodeGenFileType::AssemblyFile);
  passes.run(module);
  return bytes;
}

}  // namespace parakeet::backends
