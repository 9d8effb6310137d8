// Divergent loops, lanes at a time: a lane that has ended counts no more, all end with the last.
#include <algorithm>

namespace {

constexpr long kLanes = 16;

template <typename Start>
void Escape(const double* xs, const double* ys, long most, long* out, long rows, long columns,
            Start start) {
#pragma omp parallel for schedule(dynamic, 4)
  for (long i = 0; i < rows; ++i) {
    for (long begin = 0; begin < columns; begin += kLanes) {
      const long count = std::min(kLanes, columns - begin);
      double x[kLanes], y[kLanes], cr[kLanes], ci[kLanes];
      long steps[kLanes] = {};
      for (long l = 0; l < kLanes; ++l)
        start(xs[begin + std::min(l, count - 1)], ys[i], x[l], y[l], cr[l], ci[l]);
      for (long s = 0; s < most; ++s) {
        long inside = 0;
#pragma omp simd reduction(+ : inside)
        for (long l = 0; l < kLanes; ++l) {
          const double xx = x[l] * x[l], yy = y[l] * y[l], xy = x[l] * y[l];
          // A point outside stays outside: what it becomes is not used.
          const bool in = xx + yy <= 4.0;
          steps[l] += in;
          inside += in;
          x[l] = in ? xx - yy + cr[l] : x[l];
          y[l] = in ? 2.0 * xy + ci[l] : y[l];
        }
        if (inside == 0) break;
      }
      for (long l = 0; l < count; ++l) out[i * columns + begin + l] = steps[l];
    }
  }
}

}  // namespace

extern "C" void julia(const double* xs, const double* ys, double cr, double ci, long most,
                      long* out, long rows, long columns) {
  Escape(xs, ys, most, out, rows, columns,
         [=](double px, double py, double& x, double& y, double& r, double& i) {
           x = px, y = py, r = cr, i = ci;
         });
}

extern "C" void mandelbrot(const double* xs, const double* ys, long most, long* out, long rows,
                           long columns) {
  Escape(xs, ys, most, out, rows, columns,
         [](double px, double py, double& x, double& y, double& r, double& i) {
           x = y = 0, r = px, i = py;
         });
}

extern "C" void collatz(const long* numbers, long* out, long n) {
  constexpr long kWide = 32;
#pragma omp parallel for schedule(dynamic, 64)
  for (long block = 0; block < (n + kWide - 1) / kWide; ++block) {
    const long begin = block * kWide, count = std::min(kWide, n - begin);
    long value[kWide], steps[kWide] = {};
    for (long l = 0; l < kWide; ++l) value[l] = l < count ? numbers[begin + l] : 1;
    for (long running = 1; running != 0;) {
      running = 0;
#pragma omp simd reduction(+ : running)
      for (long l = 0; l < kWide; ++l) {
        const long v = value[l], odd = v & 1, go = v != 1;
        const long next = odd ? 3 * v + 1 : v >> 1;
        value[l] = go ? next : v;
        steps[l] += go;
        running += go;
      }
    }
    for (long l = 0; l < count; ++l) out[begin + l] = steps[l];
  }
}
