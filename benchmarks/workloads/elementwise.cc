// Element by element, one pass each; -ffast-math lets the mathematics become libmvec's.
#include <algorithm>
#include <cmath>

extern "C" void chain(const double* x, const double* y, const double* z, double* out, long n) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) {
    const double t = x[i] * 2.5 + y[i], u = t * t - z[i];
    out[i] = std::max(u, t) / (1.0 + std::fabs(z[i])) - 0.5 * x[i];
  }
}

extern "C" void tanh_f64(const double* x, double a, double b, double* out, long n) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) out[i] = std::tanh(x[i] * a) + b;
}

extern "C" void tanh_f32(const float* x, double a, double b, float* out, long n) {
  const float factor = a, term = b;
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) out[i] = std::tanh(x[i] * factor) + term;
}

static inline double Normal(double d) {
  const double k = 1.0 / (1.0 + 0.2316419 * std::fabs(d));
  const double polynomial =
      k *
      (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  const double tail = polynomial * 0.3989422804014327 * std::exp(-0.5 * d * d);
  return d > 0 ? 1.0 - tail : tail;
}

extern "C" void black_scholes(const double* price, const double* strike, const double* years,
                              double rate, double volatility, double* call, double* put, long n) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) {
    const double root = volatility * std::sqrt(years[i]);
    const double d1 =
        (std::log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root;
    const double discounted = strike[i] * std::exp(-rate * years[i]);
    const double n1 = Normal(d1), n2 = Normal(d1 - root);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1);
  }
}

extern "C" void transposed(long* out, long rows, long columns) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j) out[i * columns + j] = 2 * (j * rows + i);
}
