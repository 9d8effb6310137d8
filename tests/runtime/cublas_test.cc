// Products on a CUDA device by a cuBLAS that is the test's own, which does its work at once.
#include "runtime/cublas.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/device_call.h"
#include "runtime/matrix_libraries.h"
#include "tests/runtime/fake_cuda_driver.h"

namespace parakeet::runtime {
namespace {

// A handle, and what was done with it.
struct Handle {
  CuStream stream = nullptr;
  size_t workspace_bytes = 0;
  bool was_stream_first = false;
  int products = 0;
  int batched = 0;
};

std::vector<std::unique_ptr<Handle>>& Handles() {
  static std::vector<std::unique_ptr<Handle>> handles;
  return handles;
}

CublasStatus refusal = 0;
int last_type = -1;
int last_sums = -1;
int last_algorithm = 0;

Handle& Of(CublasHandle handle) { return *reinterpret_cast<Handle*>(handle); }

CublasStatus Create(CublasHandle* handle) {
  Handles().push_back(std::make_unique<Handle>());
  *handle = reinterpret_cast<CublasHandle>(Handles().back().get());
  return 0;
}

CublasStatus SetStream(CublasHandle handle, CuStream stream) {
  Of(handle).stream = stream;
  return 0;
}

// cuBLAS forgets the work space when it is given a stream.
CublasStatus SetWorkspace(CublasHandle handle, void* workspace, size_t bytes) {
  EXPECT_NE(workspace, nullptr);
  Of(handle).workspace_bytes = bytes;
  Of(handle).was_stream_first = Of(handle).stream != nullptr;
  return 0;
}

// Of f64.
CublasStatus Multiply(int a_reading, int b_reading, int rows, int columns, int depth,
                      const void* alpha, const void* a, int a_stride, const void* b, int b_stride,
                      const void* beta, void* c, int c_stride) {
  const auto at = [](const void* matrix, int reading, int64_t stride, int row, int column) {
    const auto* elements = static_cast<const double*>(matrix);
    return reading == 0 ? elements[column * stride + row] : elements[row * stride + column];
  };
  EXPECT_EQ(*static_cast<const double*>(alpha), 1);
  EXPECT_EQ(*static_cast<const double*>(beta), 0);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += at(a, a_reading, a_stride, row, k) * at(b, b_reading, b_stride, k, column);
      static_cast<double*>(c)[int64_t(column) * c_stride + row] = sum;
    }
  }
  return 0;
}

CublasStatus Gemm(CublasHandle handle, int a_reading, int b_reading, int rows, int columns,
                  int depth, const void* alpha, const void* a, int a_type, int a_stride,
                  const void* b, int, int b_stride, const void* beta, void* c, int, int c_stride,
                  int compute_type, int algorithm) {
  if (refusal != 0) return refusal;
  last_type = a_type, last_sums = compute_type, last_algorithm = algorithm;
  ++Of(handle).products;
  if (a_type != 1) return 0;
  return Multiply(a_reading, b_reading, rows, columns, depth, alpha, a, a_stride, b, b_stride, beta,
                  c, c_stride);
}

CublasStatus GemmBatched(CublasHandle handle, int a_reading, int b_reading, int rows, int columns,
                         int depth, const void* alpha, const void* a, int, int a_stride,
                         long long a_batch, const void* b, int, int b_stride, long long b_batch,
                         const void* beta, void* c, int, int c_stride, long long c_batch, int batch,
                         int, int) {
  if (refusal != 0) return refusal;
  ++Of(handle).batched;
  for (int number = 0; number < batch; ++number) {
    Multiply(a_reading, b_reading, rows, columns, depth, alpha,
             static_cast<const double*>(a) + number * a_batch, a_stride,
             static_cast<const double*>(b) + number * b_batch, b_stride, beta,
             static_cast<double*>(c) + number * c_batch, c_stride);
  }
  return 0;
}

Device& Cuda() {
  static const bool is_set =
      (SetCudaDriver(FakeCudaDriver()),
       SetCublas({Create, SetStream, SetWorkspace, Gemm, GemmBatched}), true);
  EXPECT_TRUE(is_set);
  std::string why;
  return *OpenDevice(DeviceKind::kCuda, 0, &why);
}

// `batch` products of square matrices of `size` rows in C order.
class Squares {
 public:
  explicit Squares(int64_t size, int64_t batch = 1) : size_(size), batch_(batch) {
    for (double*& array : arrays_) {
      array = static_cast<double*>(Cuda().Allocate(size * size * batch * 8));
      for (int64_t i = 0; i < size * size * batch; ++i) array[i] = double((i * 7 + i / size) % 11);
    }
  }
  ~Squares() {
    for (double* array : arrays_) Cuda().Free(array);
  }

  int64_t Ask(PkElement element = kPkF64) {
    Call call(1);
    DeviceCall on_device(&call, &Cuda());
    std::vector<int64_t> words = {1, 1, 1, 1, 0};
    for (double* array : arrays_) {
      const int64_t row = size_ * BytesOf(element);
      words.insert(words.end(), {reinterpret_cast<int64_t>(array), batch_, size_, size_,
                                 row * size_, row, BytesOf(element)});
    }
    const int64_t status = pk_device_matmul(&call, element, words.data());
    EXPECT_FALSE(call.has_failed());
    return status;
  }

  bool IsRight() const {
    const int64_t matrix = size_ * size_;
    for (int64_t at = 0; at < matrix * batch_; at += 1 + at % 5) {
      const int64_t number = at / matrix, row = at % matrix / size_, column = at % size_;
      const double* left = arrays_[0] + number * matrix + row * size_;
      double sum = 0;
      for (int64_t k = 0; k < size_; ++k)
        sum += left[k] * arrays_[1][number * matrix + k * size_ + column];
      if (arrays_[2][at] != sum) return false;
    }
    return true;
  }

 private:
  const int64_t size_;
  const int64_t batch_;
  double* arrays_[3] = {};
};

TEST(Cublas, MakesProductsOnTheThreadsStream) {
  Squares squares(150);
  const int64_t before = Cuda().Counters().products;
  EXPECT_EQ(squares.Ask(), 0);
  EXPECT_EQ(squares.Ask(), 0);
  EXPECT_TRUE(squares.IsRight());
  EXPECT_EQ(Cuda().Counters().products - before, 2);
  ASSERT_EQ(Handles().size(), 1u);
  EXPECT_EQ(Handles()[0]->products, 2);
  EXPECT_EQ(Handles()[0]->stream, Cuda().Stream());
  EXPECT_EQ(Handles()[0]->workspace_bytes, size_t{32} << 20);
  EXPECT_TRUE(Handles()[0]->was_stream_first);
  EXPECT_EQ(last_type, 1);
  EXPECT_EQ(last_sums, 70);
  EXPECT_EQ(last_algorithm, -1);
}

TEST(Cublas, MakesSinglesInSingles) {
  Squares squares(150);
  EXPECT_EQ(squares.Ask(kPkF32), 0);
  EXPECT_EQ(last_type, 0);
  EXPECT_EQ(last_sums, 68);
  EXPECT_EQ(squares.Ask(kPkC64), 0);
  EXPECT_EQ(last_type, 4);
}

TEST(Cublas, MakesBatchesAtOnce) {
  Squares squares(40, 50);
  const int before = Handles()[0]->batched;
  EXPECT_EQ(squares.Ask(), 0);
  EXPECT_TRUE(squares.IsRight());
  EXPECT_EQ(Handles()[0]->batched - before, 1);
}

TEST(Cublas, EveryThreadHasAHandle) {
  const size_t before = Handles().size();
  std::thread other([] { EXPECT_EQ(Squares(150).Ask(), 0); });
  other.join();
  ASSERT_EQ(Handles().size(), before + 1);
  EXPECT_NE(Handles().back()->stream, Handles()[0]->stream);
  EXPECT_EQ(Cuda().Counters().live_bytes, 0);
}

TEST(Cublas, LeavesToKernelsWhatTheyDoAsWell) {
  EXPECT_EQ(Squares(20).Ask(), 1);
  LetMatrixLibrariesBeUsed(false);
  EXPECT_EQ(Squares(150).Ask(), 1);
  LetMatrixLibrariesBeUsed(true);
  refusal = 15;
  EXPECT_EQ(Squares(150).Ask(), 1);
  EXPECT_EQ(Squares(40, 50).Ask(), 1);
  refusal = 0;
  EXPECT_EQ(Squares(150).Ask(), 0);
}

}  // namespace
}  // namespace parakeet::runtime
