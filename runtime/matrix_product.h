// Products of matrices as compiled code asks for them (device_abi.h), and as BLAS takes them.
#ifndef PARAKEET_RUNTIME_MATRIX_PRODUCT_H_
#define PARAKEET_RUNTIME_MATRIX_PRODUCT_H_

#include <cstdint>
#include <optional>

#include "runtime/device_abi.h"

namespace parakeet::runtime {

// How BLAS reads an operand: as it lies in columns, transposed, or transposed and conjugated.
enum class Reading : uint8_t { kAsIs, kTransposed, kConjugated };

// A matrix in columns, and how many elements lie between the beginnings of its columns and of the
// matrices of a batch.
struct BlasMatrix {
  char* data = nullptr;
  Reading reading = Reading::kAsIs;
  int32_t column_stride = 1;
  int64_t batch_stride = 0;
};

// c = a b, `batch` times: a has `rows` rows and `depth` columns as it is read, b `depth` and
// `columns`, c `rows` and `columns`. No count is 0.
struct BlasProduct {
  PkElement element = kPkF64;
  int32_t rows = 1;
  int32_t columns = 1;
  int32_t depth = 1;
  int32_t batch = 1;
  BlasMatrix a;
  BlasMatrix b;
  BlasMatrix c;

  // How many products of two elements are summed.
  double Terms() const { return double(rows) * columns * depth * batch; }
};

int64_t BytesOf(PkElement element);

// The product that pk_device_matmul's operands say; nothing where BLAS has no words for it: an
// operand with neither its rows nor its columns side by side, several batches that are not evenly
// spaced, an operand conjugated as it lies, elements at odd addresses, sizes beyond 32 bits.
std::optional<BlasProduct> ReadProduct(PkElement element, const int64_t* operands);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_MATRIX_PRODUCT_H_
