// Scans, a block a thread: each sums its block, then all run with what stands before them.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

extern "C" void cumsum(const double* x, double* out, long n) {
  std::vector<double> before(omp_get_max_threads() + 1);
#pragma omp parallel
  {
    const long thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const long begin = n * thread / threads, end = n * (thread + 1) / threads;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (long i = begin; i < end; ++i) sum += x[i];
    before[thread + 1] = sum;
#pragma omp barrier
#pragma omp single
    for (long t = 0; t < threads; ++t) before[t + 1] += before[t];
    double running = before[thread];
    for (long i = begin; i < end; ++i) out[i] = running += x[i];
  }
}

static inline double Combine(double a, double b) {
  const double larger = std::max(a, b);
  return larger + std::log1p(std::exp(-std::fabs(a - b)));
}

// With the largest element known, the scan is one of sums of exponentials.
extern "C" void running_logsumexp(const double* x, double* out, long n) {
  double largest = x[0];
#pragma omp parallel for simd schedule(static) reduction(max : largest)
  for (long i = 0; i < n; ++i) largest = std::max(largest, x[i]);
  const double smallest_kept = largest - 30.0;
  bool safe = true;
#pragma omp parallel for schedule(static) reduction(&& : safe)
  for (long i = 0; i < n; ++i) safe = safe && x[i] >= smallest_kept;
  if (!safe) {
    double running = out[0] = x[0];
    for (long i = 1; i < n; ++i) out[i] = running = Combine(running, x[i]);
    return;
  }
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) out[i] = std::exp(x[i] - largest);
  cumsum(out, out, n);
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) out[i] = std::log(out[i]) + largest;
}
