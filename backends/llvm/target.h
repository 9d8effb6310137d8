// The machine that code is generated for.
#ifndef PARAKEET_BACKENDS_LLVM_TARGET_H_
#define PARAKEET_BACKENDS_LLVM_TARGET_H_

#include <memory>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace parakeet::backends {

struct Processor {
  std::string cpu;       // LLVM's name
  std::string features;  // beside what the name says, as LLVM writes them
  int vector_bits;       // of the widest vector register: 512, 256 or 128
  bool gathers_fast;     // what LLVM's tuning says of its gather instructions
};

// Empty texts mean the host's. Throws a Bug for a processor that LLVM does not know.
Processor FindProcessor(const std::string& cpu, const std::string& features);

// Makes the machine that the first Target for the host takes. Any thread may call it.
void PrepareMachine();
// Then what the first object for the host needs, on a machine of its own: code is emitted and
// optimised for the first one meanwhile.
void PrepareWriter();

// What is done for code to be fast: all there is, or as little as there is, which takes a third of
// the time.
enum class Effort { kWhole, kLeast };

// A target machine on loan from a pool of the process: making one costs as much as compiling a
// small kernel, and LLVM's may serve one thread at a time. Any thread may take one.
class Target {
 public:
  // As FindProcessor takes them.
  Target(const std::string& cpu, const std::string& features, Effort effort = Effort::kWhole);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  llvm::TargetMachine& machine() const { return *machine_; }
  // Says in the function's attributes that it is for this machine.
  void Mark(llvm::Function& function) const;
  // An ELF object from an optimised module, which is used up.
  llvm::SmallVector<char, 0> WriteObject(llvm::Module& module);
  int vector_bits() const { return processor_.vector_bits; }

 private:
  const Processor processor_;
  const std::string key_;  // of its machines in the pool
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_TARGET_H_
