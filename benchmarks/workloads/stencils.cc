// Stencils: rows shared among threads, lanes along the contiguous axis.
#include <utility>

namespace {

template <int kWidth>
void Convolve(const double* image, const double* weights, double* out, long rows, long columns) {
  double w[kWidth][kWidth];
  for (int p = 0; p < kWidth; ++p)
    for (int q = 0; q < kWidth; ++q) w[p][q] = weights[p * kWidth + q];
  const long width = columns - kWidth + 1;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rows - kWidth + 1; ++i) {
#pragma omp simd
    for (long j = 0; j < width; ++j) {
      double sum = 0;
#pragma GCC unroll 5
      for (int p = 0; p < kWidth; ++p) {
#pragma GCC unroll 5
        for (int q = 0; q < kWidth; ++q) sum += image[(i + p) * columns + j + q] * w[p][q];
      }
      out[i * width + j] = sum;
    }
  }
}

}  // namespace

extern "C" void convolution_3(const double* image, const double* weights, double* out, long rows,
                              long columns) {
  Convolve<3>(image, weights, out, rows, columns);
}

extern "C" void convolution_5(const double* image, const double* weights, double* out, long rows,
                              long columns) {
  Convolve<5>(image, weights, out, rows, columns);
}

// Everything is computed again at each point, so that nothing but the result is stored.
extern "C" void hdiff(const double* field, const double* coefficient, double* out, long I, long J,
                      long K) {
  const long row = (J + 4) * K;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < I; ++i) {
    for (long j = 0; j < J; ++j) {
      const double* f = field + (i + 2) * row + (j + 2) * K;
      const double* c = coefficient + (i * J + j) * K;
      double* to = out + (i * J + j) * K;
#pragma omp simd
      for (long k = 0; k < K; ++k) {
        const auto laplacian = [&](long at) {
          return 4.0 * f[at + k] -
                 (f[at + row + k] + f[at - row + k] + f[at + K + k] + f[at - K + k]);
        };
        const auto flux = [&](long from, long at) {
          const double change = laplacian(at) - laplacian(from);
          return change * (f[at + k] - f[from + k]) > 0 ? 0.0 : change;
        };
        to[k] = f[k] - c[k] * (flux(0, row) - flux(-row, 0) + flux(0, K) - flux(-K, 0));
      }
    }
  }
}

extern "C" void jacobi(double* u, double* v, long rows, long columns, long sweeps) {
#pragma omp parallel
  for (long s = 0; s < sweeps; ++s) {
    const double* from = s % 2 ? v : u;
    double* to = s % 2 ? u : v;
#pragma omp for schedule(static)
    for (long i = 1; i < rows - 1; ++i) {
      const double* x = from + i * columns;
#pragma omp simd
      for (long j = 1; j < columns - 1; ++j)
        to[i * columns + j] = 0.2 * (x[j] + x[j - 1] + x[j + 1] + x[j + columns] + x[j - columns]);
    }
  }
}

extern "C" void heat(double* u, double* v, long I, long J, long K, long sweeps) {
  double *from = u, *to = v;
  for (long s = 0; s < sweeps; ++s, std::swap(from, to)) {
#pragma omp parallel for schedule(static)
    for (long i = 1; i < I - 1; ++i) {
      for (long j = 1; j < J - 1; ++j) {
        const double* x = from + (i * J + j) * K;
        double* y = to + (i * J + j) * K;
#pragma omp simd
        for (long k = 1; k < K - 1; ++k)
          y[k] = 0.25 * x[k] +
                 0.125 * (x[k + J * K] + x[k - J * K] + x[k + K] + x[k - K] + x[k + 1] + x[k - 1]);
      }
    }
  }
  if (from != u) {
    for (long n = 0; n < I * J * K; ++n) u[n] = from[n];
  }
}

extern "C" void fdtd(double* ex, double* ey, double* hz, const double* source, long rows,
                     long columns, long steps) {
  const long n = columns;
#pragma omp parallel
  for (long t = 0; t < steps; ++t) {
#pragma omp for schedule(static)
    for (long i = 0; i < rows; ++i) {
      double *e = ey + i * n, *x = ex + i * n;
      const double* h = hz + i * n;
      if (i == 0) {
        for (long j = 0; j < n; ++j) e[j] = source[t];
      } else {
#pragma omp simd
        for (long j = 0; j < n; ++j) e[j] -= 0.5 * (h[j] - h[j - n]);
      }
#pragma omp simd
      for (long j = 1; j < n; ++j) x[j] -= 0.5 * (h[j] - h[j - 1]);
    }
#pragma omp for schedule(static)
    for (long i = 0; i < rows - 1; ++i) {
      const double *x = ex + i * n, *e = ey + i * n;
      double* h = hz + i * n;
#pragma omp simd
      for (long j = 0; j < n - 1; ++j) h[j] -= 0.7 * (x[j + 1] - x[j] + e[j + n] - e[j]);
    }
  }
}
