// Counts, selection and order, a block a thread.
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <vector>

// Four tables a thread, or equal neighbours would wait for one another.
extern "C" void histogram(const int* keys, long* out, long n, long bins) {
#pragma omp parallel
  {
    std::vector<int> counts(4 * bins);
    int* table = counts.data();
#pragma omp for schedule(static)
    for (long i = 0; i < n / 4; ++i) {
      ++table[keys[4 * i]];
      ++table[bins + keys[4 * i + 1]];
      ++table[2 * bins + keys[4 * i + 2]];
      ++table[3 * bins + keys[4 * i + 3]];
    }
#pragma omp critical
    for (long b = 0; b < 4 * bins; ++b) out[b % bins] += table[b];
  }
  for (long i = n / 4 * 4; i < n; ++i) ++out[keys[i]];
}

// Each thread packs its block where it lies in the result, and then the blocks move together.
extern "C" double compaction(const float* x, float* out, long n) {
  const int most = omp_get_max_threads();
  std::vector<long> kept(most), begins(most);
#pragma omp parallel
  {
    const long thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const long begin = n * thread / threads, end = n * (thread + 1) / threads;
    long to = begin;
    for (long i = begin; i < end; ++i) {
      out[to] = x[i];
      to += x[i] > 0.5f;
    }
    kept[thread] = to - begin;
    begins[thread] = begin;
  }
  long total = 0;
  for (int t = 0; t < most; ++t) {
    std::memmove(out + total, out + begins[t], kept[t] * sizeof(float));
    total += kept[t];
  }
  return total;
}

// Two halves at a time are sorted and merged.
static void SortBlock(float* x, float* scratch, long n, int depth) {
  if (depth == 0) return std::sort(x, x + n);
  const long half = n / 2;
#pragma omp task
  SortBlock(x, scratch, half, depth - 1);
  SortBlock(x + half, scratch + half, n - half, depth - 1);
#pragma omp taskwait
  std::merge(x, x + half, x + half, x + n, scratch);
  std::memcpy(x, scratch, n * sizeof(float));
}

extern "C" void sort(const float* x, float* out, long n) {
  std::memcpy(out, x, n * sizeof(float));
  std::vector<float> scratch(n);
  int depth = 0;
  while ((1 << depth) < omp_get_max_threads()) ++depth;
#pragma omp parallel
#pragma omp single
  SortBlock(out, scratch.data(), n, depth);
}
