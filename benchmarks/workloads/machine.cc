// The two rates that rows are held against: bytes of a triad, and fused multiply-adds.
#include <cstddef>

// Streams b and c into a: 24 bytes an element.
extern "C" void triad(const double* b, const double* c, double* a, long n) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}

namespace {

// Sixteen vectors of 64 bytes are independent chains, enough to fill both multipliers.
template <typename T>
T RunChains(long steps) {
  constexpr int kLanes = 64 / sizeof(T), kChains = 16;
  typedef T Vector __attribute__((vector_size(64)));
  T total = 0;
#pragma omp parallel reduction(+ : total)
  {
    Vector chain[kChains], factor, term;
    for (int l = 0; l < kLanes; ++l) factor[l] = T(0.999), term[l] = T(0.001);
    for (int c = 0; c < kChains; ++c) chain[c] = factor * T(c);
    for (long s = 0; s < steps; ++s) {
#pragma GCC unroll 16
      for (int c = 0; c < kChains; ++c) chain[c] = chain[c] * factor + term;
    }
    for (int c = 0; c < kChains; ++c) total += chain[c][0];
  }
  return total;
}

}  // namespace

// steps * 16 chains * lanes * 2 operations on each thread.
extern "C" double peak_f64(long steps) { return RunChains<double>(steps); }
extern "C" double peak_f32(long steps) { return RunChains<float>(steps); }
