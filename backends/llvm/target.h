// The machine that code is generated for.
#ifndef PARAKEET_BACKENDS_LLVM_TARGET_H_
#define PARAKEET_BACKENDS_LLVM_TARGET_H_

#include <memory>
#include <string>

#include "llvm/Target/TargetMachine.h"

namespace parakeet::backends {

// A target machine on loan from a pool of the process: making one costs as much as compiling a
// small kernel, and LLVM's may serve one thread at a time. Any thread may take one.
class Target {
 public:
  // Empty texts mean the host's. Throws a Bug for a processor that LLVM does not know.
  Target(const std::string& cpu, const std::string& features);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  llvm::TargetMachine& machine() const { return *machine_; }
  // Says in the function's attributes that it is for this machine.
  void Mark(llvm::Function& function) const;
  // Makes the tables that LLVM makes when it is first asked about such a function.
  void MakeTables() const;
  // Bits of the widest vector register: 512, 256 or 128.
  int vector_bits() const { return vector_bits_; }
  // What LLVM's tuning of the processor says of its gather instructions.
  bool gathers_fast() const;

 private:
  std::string key_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  int vector_bits_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_TARGET_H_
