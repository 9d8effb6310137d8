// How masks that are made of several comparisons are kept on x86 without mask registers.
#ifndef PARAKEET_BACKENDS_LLVM_MASK_WIDTHS_H_
#define PARAKEET_BACKENDS_LLVM_MASK_WIDTHS_H_

#include "llvm/IR/Function.h"

namespace parakeet::backends {

// Without mask registers, a comparison makes integers as wide as what it compares, each all ones or
// none, and a select takes such. LLVM keeps what is made of several comparisons, or used in another
// block than its own, in lanes of sixteen bits or less: it packs what each comparison has made, and
// takes it apart again for each select, in some ten instructions for one. Such masks become vectors
// of integers as wide as the elements that they are of.
//
// Masks that loops carry stay, and those that would be more than eight registers of so many bytes.
void WidenMasks(llvm::Function& function, unsigned bytes_of_register);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_MASK_WIDTHS_H_
