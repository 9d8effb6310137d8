// Switches and limits of LLVM's code generator.
#ifndef PARAKEET_BACKENDS_LLVM_CODE_SWITCH_H_
#define PARAKEET_BACKENDS_LLVM_CODE_SWITCH_H_

namespace parakeet::backends {

// LLVM has no other way to set one; the library that we ship has its own copy of these.
struct CodeSwitch {
  const char* option;
  bool value;
};
struct CodeLimit {
  const char* option;
  unsigned value;
};

// For the whole process. Throws a Bug for an option that LLVM does not have.
void Set(const CodeSwitch& each);
void Set(const CodeLimit& each);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_CODE_SWITCH_H_
