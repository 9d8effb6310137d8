#include "backends/llvm/code_switch.h"

#include <string>

#include "ir/diagnostics.h"
#include "llvm/Support/CommandLine.h"

namespace parakeet::backends {
namespace {

llvm::cl::Option* Find(const char* name) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(name);
  if (found == options.end()) ir::FailBug("LLVM has no option " + std::string(name));
  return found->second;
}

}  // namespace

void Set(const CodeSwitch& each) {
  static_cast<llvm::cl::opt<bool>*>(Find(each.option))->setValue(each.value);
}

void Set(const CodeLimit& each) {
  static_cast<llvm::cl::opt<unsigned>*>(Find(each.option))->setValue(each.value);
}

}  // namespace parakeet::backends
