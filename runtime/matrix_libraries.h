// The libraries that make products of matrices on devices: cuBLAS, and NumPy's BLAS for the
// emulated device.
#ifndef PARAKEET_RUNTIME_MATRIX_LIBRARIES_H_
#define PARAKEET_RUNTIME_MATRIX_LIBRARIES_H_

#include "runtime/matrix_product.h"

namespace parakeet::runtime {

// Whether products may go to them, for the whole process; true at first.
void LetMatrixLibrariesBeUsed(bool may);
bool MayUseMatrixLibraries();

// Makes the product of matrices in the host's memory by NumPy's BLAS. False where the installed
// NumPy carries none that can be called.
bool MultiplyOnHost(const BlasProduct& product);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_MATRIX_LIBRARIES_H_
