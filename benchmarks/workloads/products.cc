// Products in register tiles over packed panels: simple, and near what a library does.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};
template <typename T>
using Aligned = std::unique_ptr<T[], Free>;

template <typename T>
Aligned<T> Allocate(long n) {
  return Aligned<T>(static_cast<T*>(std::aligned_alloc(64, (n * sizeof(T) + 63) / 64 * 64)));
}

struct Multiply {
  template <typename V>
  static void Step(V& sum, V a, V b) {
    sum += a * b;
  }
  static constexpr double kNeutral = 0;
};

struct Tropical {
  template <typename V>
  static void Step(V& sum, V a, V b) {
    const V t = a + b;
    sum = sum < t ? sum : t;
  }
  static constexpr double kNeutral = std::numeric_limits<double>::max();
};

// A register, and the rows of a tile: twice as many sums as rows, beside what they are made of.
#ifdef __AVX512F__
constexpr long kBytes = 64, kTall = 12;
#else
constexpr long kBytes = 32, kTall = 6;
#endif

// out[m, n] from A[m, k] and B[k, n]: tiles of some rows by two vectors.
template <typename Ring, typename T, typename Finish>
void Product(const T* A, const T* B, T* out, long m, long k, long n, Finish finish) {
  constexpr long kLanes = kBytes / sizeof(T), kWide = 2 * kLanes;
  typedef T Vector __attribute__((vector_size(kBytes)));
  const long panels = (n + kWide - 1) / kWide, strips = (m + kTall - 1) / kTall;
  // B in panels of kWide columns, A in strips of kTall rows; what sticks out is zero.
  const auto b = Allocate<T>(panels * k * kWide), a = Allocate<T>(strips * k * kTall);
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (long p = 0; p < panels; ++p) {
      for (long l = 0; l < k; ++l) {
        for (long j = 0; j < kWide; ++j) {
          const long column = p * kWide + j;
          b[(p * k + l) * kWide + j] = column < n ? B[l * n + column] : T(0);
        }
      }
    }
#pragma omp for schedule(static)
    for (long s = 0; s < strips; ++s) {
      for (long l = 0; l < k; ++l) {
        for (long i = 0; i < kTall; ++i) {
          const long row = s * kTall + i;
          a[(s * k + l) * kTall + i] = row < m ? A[row * k + l] : T(0);
        }
      }
    }
#pragma omp for collapse(2) schedule(dynamic, 8)
    for (long s = 0; s < strips; ++s) {
      for (long p = 0; p < panels; ++p) {
        Vector sums[kTall][2];
        // Constant indexes alone keep the sums in registers.
#pragma GCC unroll 12
        for (long i = 0; i < kTall; ++i) sums[i][0] = sums[i][1] = Vector{} + T(Ring::kNeutral);
        for (long l = 0; l < k; ++l) {
          const Vector* row = reinterpret_cast<const Vector*>(&b[(p * k + l) * kWide]);
          const T* column = &a[(s * k + l) * kTall];
#pragma GCC unroll 12
          for (long i = 0; i < kTall; ++i) {
            const Vector x = Vector{} + column[i];
            Ring::Step(sums[i][0], x, row[0]);
            Ring::Step(sums[i][1], x, row[1]);
          }
        }
        const long tall = std::min(kTall, m - s * kTall), wide = std::min(kWide, n - p * kWide);
        alignas(64) T tile[kTall][kWide];
#pragma GCC unroll 12
        for (long i = 0; i < kTall; ++i) {
          reinterpret_cast<Vector*>(tile[i])[0] = sums[i][0];
          reinterpret_cast<Vector*>(tile[i])[1] = sums[i][1];
        }
        for (long i = 0; i < tall; ++i) {
          T* to = out + (s * kTall + i) * n + p * kWide;
          std::memcpy(to, tile[i], wide * sizeof(T));
          finish(to, p * kWide, wide);
        }
      }
    }
  }
}

}  // namespace

extern "C" void matmul(const float* A, const float* B, float* out, long m, long k, long n) {
  Product<Multiply>(A, B, out, m, k, n, [](float*, long, long) {});
}

extern "C" void dense_layer(const float* A, const float* B, const float* bias, float* out, long m,
                            long k, long n) {
  Product<Multiply>(A, B, out, m, k, n, [=](float* row, long begin, long count) {
#pragma omp simd
    for (long j = 0; j < count; ++j) row[j] = std::tanh(row[j] + bias[begin + j]);
  });
}

extern "C" void tropical(const double* A, const double* B, double* out, long m, long k, long n) {
  Product<Tropical>(A, B, out, m, k, n, [](double*, long, long) {});
}

extern "C" void distances(const double* X, const double* Y, double* out, long m, long k, long n) {
  const auto columns = Allocate<double>(k * n);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) columns[l * n + j] = Y[j * k + l];
#pragma omp for schedule(static)
    for (long i = 0; i < m; ++i) {
      for (long begin = 0; begin < n; begin += 512) {
        const long end = std::min(n, begin + 512);
        double* to = out + i * n;
        for (long j = begin; j < end; ++j) to[j] = 0;
        for (long l = 0; l < k; ++l) {
          const double x = X[i * k + l];
#pragma omp simd
          for (long j = begin; j < end; ++j)
            to[j] += (x - columns[l * n + j]) * (x - columns[l * n + j]);
        }
      }
    }
  }
}
