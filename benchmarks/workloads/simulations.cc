// Steps of k-means, of gravity, and shortest paths.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

extern "C" void k_means(const double* points, const double* centres, double* sums, long* labels,
                        long n, long axes, long count) {
  constexpr long kLanes = 16;
  std::vector<double> totals(count);
#pragma omp parallel
  {
    std::vector<double> own(count * axes), members(count);
#pragma omp for schedule(static)
    for (long block = 0; block < (n + kLanes - 1) / kLanes; ++block) {
      const long begin = block * kLanes, width = std::min(kLanes, n - begin);
      double x[64][kLanes], nearest[kLanes];
      long label[kLanes] = {};
      for (long d = 0; d < axes; ++d)
        for (long l = 0; l < kLanes; ++l)
          x[d][l] = points[(begin + std::min(l, width - 1)) * axes + d];
      for (auto& distance : nearest) distance = std::numeric_limits<double>::max();
      for (long c = 0; c < count; ++c) {
        double squared[kLanes] = {};
        for (long d = 0; d < axes; ++d) {
          const double centre = centres[c * axes + d];
#pragma omp simd
          for (long l = 0; l < kLanes; ++l) squared[l] += (x[d][l] - centre) * (x[d][l] - centre);
        }
#pragma omp simd
        for (long l = 0; l < kLanes; ++l) {
          const bool nearer = squared[l] < nearest[l];
          nearest[l] = nearer ? squared[l] : nearest[l];
          label[l] = nearer ? c : label[l];
        }
      }
      for (long l = 0; l < width; ++l) {
        labels[begin + l] = label[l];
        members[label[l]] += 1;
        for (long d = 0; d < axes; ++d) own[label[l] * axes + d] += x[d][l];
      }
    }
#pragma omp critical
    {
      for (long k = 0; k < count * axes; ++k) sums[k] += own[k];
      for (long c = 0; c < count; ++c) totals[c] += members[c];
    }
  }
  for (long c = 0; c < count; ++c)
    for (long d = 0; d < axes; ++d) sums[c * axes + d] /= std::max(totals[c], 1.0);
}

extern "C" void n_body(const double* positions, const double* masses, double softening, double* out,
                       long n) {
  std::vector<double> columns(3 * n);
  for (long j = 0; j < n; ++j)
    for (long d = 0; d < 3; ++d) columns[d * n + j] = positions[3 * j + d];
  const double *x = columns.data(), *y = x + n, *z = y + n;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) {
    double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
    for (long j = 0; j < n; ++j) {
      const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const double squared = dx * dx + dy * dy + dz * dz + softening;
      const double weight = masses[j] / (squared * std::sqrt(squared));
      ax += weight * dx, ay += weight * dy, az += weight * dz;
    }
    out[3 * i] = ax, out[3 * i + 1] = ay, out[3 * i + 2] = az;
  }
}

extern "C" void floyd_warshall(double* path, long n) {
#pragma omp parallel
  for (long k = 0; k < n; ++k) {
    const double* through = path + k * n;
#pragma omp for schedule(static)
    for (long i = 0; i < n; ++i) {
      double* row = path + i * n;
      const double to = row[k];
      // Row k does not change in step k: its own distance is zero.
#pragma omp simd
      for (long j = 0; j < n; ++j) row[j] = std::min(row[j], to + through[j]);
    }
  }
}
