#ifndef PARAKEET_BACKENDS_NVVM_ASK_HIGH_HALVES_H_
#define PARAKEET_BACKENDS_NVVM_ASK_HIGH_HALVES_H_

#include "llvm/IR/Module.h"

namespace parakeet::backends {

// Innermost loops that go on while a double is below a positive constant, or nan, go on while its
// high half is below the constant's, which is one operation on integers: units for doubles are few.
// Where that does not hold, the test itself decides, and may begin the loop again:
//
//   loop:    ...  br (%more and %x <= 4.0), loop, after
// ->
//   again:   br loop
//   loop:    ...  br (%more and high(%x) < high(4.0)), loop, closer
//   closer:  br (%more and %x <= 4.0), again, after
//
// The threads of a warp are together in `closer`, once for as long as they stay apart in `loop`.
// Meaning is kept to the bit, nan included. To be run behind LLVM's passes.
void AskHighHalves(llvm::Module& module);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_ASK_HIGH_HALVES_H_
