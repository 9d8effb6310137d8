// The two rates that rows are held against: bytes of a triad, and fused multiply-adds.
#include <cstddef>

// Streams b and c into a: 24 bytes an element.
extern "C" void triad(const double* b, const double* c, double* a, long n) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}

namespace {

// Of a register: wider vectors would be taken apart through memory.
#ifdef __AVX512F__
constexpr int kBytes = 64;
#else
constexpr int kBytes = 32;
#endif
// Vectors are independent chains, enough to fill both multipliers and few enough for 16 registers.
constexpr int kChains = 12;

template <typename T>
T RunChains(long steps) {
  constexpr int kLanes = kBytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(kBytes)));
  T total = 0;
#pragma omp parallel reduction(+ : total)
  {
    Vector chain[kChains], factor, term;
    for (int l = 0; l < kLanes; ++l) factor[l] = T(0.999), term[l] = T(0.001);
    // Constant indexes alone keep the chains in registers.
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) chain[c] = factor * T(c);
    for (long s = 0; s < steps; ++s) {
#pragma GCC unroll 12
      for (int c = 0; c < kChains; ++c) chain[c] = chain[c] * factor + term;
    }
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) total += chain[c][0];
  }
  return total;
}

}  // namespace

// What one thread does in a step: a multiplication and an addition in each lane.
extern "C" double operations_of_step(long bytes) { return kChains * (kBytes / bytes) * 2; }
extern "C" double peak_f64(long steps) { return RunChains<double>(steps); }
extern "C" double peak_f32(long steps) { return RunChains<float>(steps); }
