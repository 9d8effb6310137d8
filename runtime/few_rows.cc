#include "runtime/few_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <string_view>

namespace parakeet::runtime {
namespace {

// Without what is defined for products of infinities, which costs more than the product.
template <typename T>
T Times(T a, T b) {
  return a * b;
}
template <typename R>
std::complex<R> Times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// What LAPACK chooses pivots by.
template <typename T>
T Magnitude(T a) {
  return std::abs(a);
}
template <typename R>
R Magnitude(std::complex<R> a) {
  return std::abs(a.real()) + std::abs(a.imag());
}

// What numbers are divided by: by its inverse, unless that may be infinite where quotients are not.
template <typename T>
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(T by) : by_(by), inverse_(T(1) / by) {
    has_inverse_ = !(Magnitude(by) < std::numeric_limits<decltype(Magnitude(by))>::min());
  }
  T Divide(T a) const { return has_inverse_ ? Times(a, inverse_) : a / by_; }

 private:
  T by_;
  T inverse_;
  bool has_inverse_;
};

// What becomes of nan and infinities, NumPy's LAPACK says.
template <typename T>
bool AreFinite(const T* a, int64_t n, int64_t lda) {
  T sum(0);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) sum += a[i + j * lda] - a[i + j * lda];
  }
  return sum == T(0);
}

// Columns of `a` lie `lda` apart. Column by column: sums of products are subtracted as a whole, and
// columns scaled by an inverse, as LAPACK does, so that matrices are found singular where NumPy
// finds them so. Rows change places by `pivots`, which count from 1. Gives 0, or the first pivot
// that is zero, from 1.
template <typename T>
int64_t Factor(T* a, int64_t n, int64_t lda, int64_t* pivots) {
  int64_t status = 0;
  for (int64_t j = 0; j < n; ++j) {
    T* column = a + j * lda;
    for (int64_t i = 0; i < j; ++i) std::swap(column[i], column[pivots[i] - 1]);
    for (int64_t i = 1; i < j; ++i) {
      T sum(0);
      for (int64_t k = 0; k < i; ++k) sum += Times(a[i + k * lda], column[k]);
      column[i] -= sum;
    }
    T sums[kFewRows] = {};
    for (int64_t k = 0; k < j; ++k) {
      const T factor = column[k];
      for (int64_t i = j; i < n; ++i) sums[i] += Times(a[i + k * lda], factor);
    }
    int64_t pivot = j;
    for (int64_t i = j; i < n; ++i) {
      column[i] -= sums[i];
      if (Magnitude(column[i]) > Magnitude(column[pivot])) pivot = i;
    }
    pivots[j] = pivot + 1;
    if (column[pivot] == T(0)) {
      if (status == 0) status = j + 1;
      continue;
    }
    for (int64_t k = 0; k <= j; ++k) std::swap(a[j + k * lda], a[pivot + k * lda]);
    const Divisor<T> by(column[j]);
    for (int64_t i = j + 1; i < n; ++i) column[i] = by.Divide(column[i]);
  }
  return status;
}

// Of each of the columns that lie `stride` apart.
template <typename T>
void Solve(const T* a, int64_t n, int64_t lda, const int64_t* pivots, T* columns, int64_t count,
           int64_t stride) {
  Divisor<T> diagonal[kFewRows];
  for (int64_t k = 0; k < n; ++k) diagonal[k] = Divisor<T>(a[k + k * lda]);
  for (T* x = columns; x != columns + count * stride; x += stride) {
    for (int64_t i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
    for (int64_t k = 0; k < n; ++k) {
      const T value = x[k];
      for (int64_t i = k + 1; i < n; ++i) x[i] -= Times(a[i + k * lda], value);
    }
    for (int64_t k = n; k-- > 0;) {
      const T value = x[k] = diagonal[k].Divide(x[k]);
      for (int64_t i = 0; i < k; ++i) x[i] -= Times(a[i + k * lda], value);
    }
  }
}

template <typename T>
T* ArrayAt(uint64_t word) {
  return reinterpret_cast<T*>(word);
}

// n, right sides, A, its count, lda, pivots, their count, B, its count, ldb.
template <typename T>
std::optional<int64_t> Gesv(const uint64_t* operands) {
  const auto n = int64_t(operands[0]), columns = int64_t(operands[1]);
  const auto lda = int64_t(operands[4]), ldb = int64_t(operands[9]);
  T* a = ArrayAt<T>(operands[2]);
  if (n > kFewRows || !AreFinite(a, n, lda)) return std::nullopt;
  auto* pivots = ArrayAt<int64_t>(operands[5]);
  const int64_t status = Factor(a, n, lda, pivots);
  if (status == 0) Solve(a, n, lda, pivots, ArrayAt<T>(operands[7]), columns, ldb);
  return status;
}

// m, n, A, its count, lda, pivots, their count.
template <typename T>
std::optional<int64_t> Getrf(const uint64_t* operands) {
  const auto m = int64_t(operands[0]), n = int64_t(operands[1]), lda = int64_t(operands[4]);
  T* a = ArrayAt<T>(operands[2]);
  if (n > kFewRows || m != n || !AreFinite(a, n, lda)) return std::nullopt;
  return Factor(a, n, lda, ArrayAt<int64_t>(operands[5]));
}

struct StandIn {
  std::string_view name;
  FewRowsKernel kernel;
};

using C64 = std::complex<float>;
using C128 = std::complex<double>;

constexpr std::array<StandIn, 8> kStandIns = {{{"sgesv", Gesv<float>},
                                               {"dgesv", Gesv<double>},
                                               {"cgesv", Gesv<C64>},
                                               {"zgesv", Gesv<C128>},
                                               {"sgetrf", Getrf<float>},
                                               {"dgetrf", Getrf<double>},
                                               {"cgetrf", Getrf<C64>},
                                               {"zgetrf", Getrf<C128>}}};

std::array<std::atomic<const void*>, kStandIns.size()> routines;

}  // namespace

FewRowsKernel FewRowsKernelNamed(const char* name) {
  for (const StandIn& each : kStandIns) {
    if (each.name == name) return each.kernel;
  }
  return nullptr;
}

void StandInForRoutine(const char* name, const void* routine) {
  for (size_t k = 0; k < kStandIns.size(); ++k) {
    if (kStandIns[k].name == name) routines[k].store(routine, std::memory_order_relaxed);
  }
}

FewRowsKernel FewRowsKernelFor(const void* routine) {
  for (size_t k = 0; k < kStandIns.size(); ++k) {
    if (routines[k].load(std::memory_order_relaxed) == routine) return kStandIns[k].kernel;
  }
  return nullptr;
}

}  // namespace parakeet::runtime
