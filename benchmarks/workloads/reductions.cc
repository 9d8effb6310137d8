// Reductions, two passes where the mean comes first.
#include <vector>

extern "C" double sum_all(const double* x, long n) {
  double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += x[i];
  return sum;
}

extern "C" void regression(const double* x, const double* y, double* out, long n) {
  double sx = 0, sy = 0, xy = 0, xx = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sx, sy)
  for (long i = 0; i < n; ++i) sx += x[i], sy += y[i];
  const double mx = sx / n, my = sy / n;
#pragma omp parallel for simd schedule(static) reduction(+ : xy, xx)
  for (long i = 0; i < n; ++i) xy += (x[i] - mx) * (y[i] - my), xx += (x[i] - mx) * (x[i] - mx);
  out[0] = xy / xx;
  out[1] = my - out[0] * mx;
}

extern "C" void mean_and_variance(const double* x, double* out, long n) {
  const double mean = sum_all(x, n) / n;
  double squares = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : squares)
  for (long i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  out[0] = mean;
  out[1] = squares / n;
}

extern "C" void sum_rows(const double* x, double* out, long rows, long columns) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rows; ++i) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (long j = 0; j < columns; ++j) sum += x[i * columns + j];
    out[i] = sum;
  }
}

extern "C" void sum_columns(const double* x, double* out, long rows, long columns) {
  for (long j = 0; j < columns; ++j) out[j] = 0;
#pragma omp parallel
  {
    std::vector<double> sums(columns);
#pragma omp for schedule(static)
    for (long i = 0; i < rows; ++i) {
#pragma omp simd
      for (long j = 0; j < columns; ++j) sums[j] += x[i * columns + j];
    }
#pragma omp critical
    for (long j = 0; j < columns; ++j) out[j] += sums[j];
  }
}
