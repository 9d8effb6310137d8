// Turns an ELF object into an image (runtime/abi.h), which needs no relocation when it is loaded.
#ifndef PARAKEET_BACKENDS_LLVM_LINK_IMAGE_H_
#define PARAKEET_BACKENDS_LLVM_LINK_IMAGE_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace parakeet::backends {

// `object` is an x86-64 object of position-independent code in the small code model, aligned to 8
// bytes; `entry` names its PkEntry function. Unwind tables are dropped. Throws a Bug that names
// the section or relocation where the object has writable data or what an image cannot say.
std::string LinkImage(llvm::StringRef object, llvm::StringRef entry);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_LINK_IMAGE_H_
