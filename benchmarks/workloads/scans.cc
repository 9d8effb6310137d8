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

extern "C" void running_logsumexp(const double* x, double* out, long n) {
  std::vector<double> before(omp_get_max_threads() + 1, -1e300);
#pragma omp parallel
  {
    const long thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const long begin = n * thread / threads, end = n * (thread + 1) / threads;
    double largest = -1e300, sum = 0;
#pragma omp simd reduction(max : largest)
    for (long i = begin; i < end; ++i) largest = std::max(largest, x[i]);
#pragma omp simd reduction(+ : sum)
    for (long i = begin; i < end; ++i) sum += std::exp(x[i] - largest);
    before[thread + 1] = largest + std::log(sum);
#pragma omp barrier
#pragma omp single
    for (long t = 1; t < threads; ++t) before[t + 1] = Combine(before[t], before[t + 1]);
    double running = before[thread];
    long i = begin;
    // -ffast-math knows no infinity, so the first element of all combines with nothing.
    if (thread == 0 && n > 0) running = out[i] = x[i], ++i;
    for (; i < end; ++i) out[i] = running = Combine(running, x[i]);
  }
}
