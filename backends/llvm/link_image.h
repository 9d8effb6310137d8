// Turns ELF objects into an image (runtime/abi.h), which needs no relocation when it is loaded.
#ifndef PARAKEET_BACKENDS_LLVM_LINK_IMAGE_H_
#define PARAKEET_BACKENDS_LLVM_LINK_IMAGE_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace parakeet::backends {

// `objects` are x86-64 objects of position-independent code in the small code model, aligned to 8
// bytes, and define what they ask of one another; `entry` names the PkEntry function. Unwind tables
// are dropped. Throws a Bug that names the section or relocation where an object has writable data
// or what an image cannot say.
std::string LinkImage(llvm::ArrayRef<llvm::StringRef> objects, llvm::StringRef entry);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_LINK_IMAGE_H_
