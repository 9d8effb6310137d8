// cuBLAS, opened at its first need: the few types and functions of it that we use, declared here,
// so that nothing of CUDA is needed to build or to run.
#ifndef PARAKEET_RUNTIME_CUBLAS_H_
#define PARAKEET_RUNTIME_CUBLAS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda_driver.h"
#include "runtime/matrix_product.h"

namespace parakeet::runtime {

using CublasStatus = int;  // 0: done
using CublasHandle = struct CublasState*;

struct Cublas {
#define PARAKEET_CUBLAS_FUNCTION(member, symbol, arguments) CublasStatus(*member) arguments;
#include "runtime/cublas_functions.def"
#undef PARAKEET_CUBLAS_FUNCTION
};

// The files that may be it, in the order in which they are tried: paths, and names for the loader.
// Before the first product; later ones are not looked at.
void SetCublasFiles(std::vector<std::string> files);

// The library; null, with the reason in a line, where there is none. The answer stays the same as
// long as the process lives. `driver` says which versions it can run.
const Cublas* OpenCublas(const CudaDriver& driver, std::string* why);

// The file that OpenCublas has opened; empty before, and where there is none.
std::string CublasFile();

// The functions of another library to use, before any use of one: for tests.
void SetCublas(const Cublas& cublas);

// What one thread has of cuBLAS on one device: a handle for the thread's stream, with a work space
// that is never another stream's, so that a product gives the same bits whatever else runs. Made at
// the first product; both stay as long as the process lives. Used with the device's context
// current.
class CublasOfThread {
 public:
  // `workspace_bytes`: what cuBLAS recommends for the device.
  CublasOfThread(const CudaDriver& driver, CuStream stream, size_t workspace_bytes)
      : driver_(driver), stream_(stream), workspace_bytes_(workspace_bytes) {}

  // False where there is no cuBLAS, or it refuses: nothing has been begun then that a kernel
  // behind it would not write over, or would not fail at itself.
  bool Multiply(const BlasProduct& product);

 private:
  bool Open();

  const CudaDriver& driver_;
  const CuStream stream_;
  const size_t workspace_bytes_;
  bool is_opened_ = false;
  const Cublas* cublas_ = nullptr;  // with a handle; null where there is none
  CublasHandle handle_ = nullptr;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUBLAS_H_
