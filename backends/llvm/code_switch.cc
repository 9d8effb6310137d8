#include "backends/llvm/code_switch.h"

#include <string>

#include "ir/diagnostics.h"
#include "llvm/Support/CommandLine.h"

namespace parakeet::backends {

void Set(const CodeSwitch& each) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(each.option);
  if (found == options.end()) ir::FailBug("LLVM has no option " + std::string(each.option));
  static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(each.value);
}

}  // namespace parakeet::backends
