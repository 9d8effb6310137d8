// Divergent loops as CUDA C says them: a thread for each point.

namespace {

constexpr int kThreads = 256;

__device__ long Escape(double x, double y, double cr, double ci, long most) {
  long steps = 0;
  while (steps < most && x * x + y * y <= 4.0) {
    const double next = x * x - y * y + cr;
    y = 2.0 * x * y + ci;
    x = next;
    ++steps;
  }
  return steps;
}

__global__ void Julia(const double* xs, const double* ys, double cr, double ci, long most,
                      long* out, long rows, long columns) {
  const long at = blockIdx.x * long(kThreads) + threadIdx.x;
  if (at < rows * columns) out[at] = Escape(xs[at % columns], ys[at / columns], cr, ci, most);
}

__global__ void Mandelbrot(const double* xs, const double* ys, long most, long* out, long rows,
                           long columns) {
  const long at = blockIdx.x * long(kThreads) + threadIdx.x;
  if (at < rows * columns) out[at] = Escape(0, 0, xs[at % columns], ys[at / columns], most);
}

__global__ void Collatz(const long* numbers, long* out, long count) {
  const long at = blockIdx.x * long(kThreads) + threadIdx.x;
  if (at >= count) return;
  long n = numbers[at], steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n >> 1;
    ++steps;
  }
  out[at] = steps;
}

unsigned Blocks(long count) { return unsigned((count + kThreads - 1) / kThreads); }

}  // namespace

extern "C" long julia(const double* xs, const double* ys, double cr, double ci, long most,
                      long* out, long rows, long columns) {
  Julia<<<Blocks(rows * columns), kThreads>>>(xs, ys, cr, ci, most, out, rows, columns);
  return cudaGetLastError();
}

extern "C" long mandelbrot(const double* xs, const double* ys, long most, long* out, long rows,
                           long columns) {
  Mandelbrot<<<Blocks(rows * columns), kThreads>>>(xs, ys, most, out, rows, columns);
  return cudaGetLastError();
}

extern "C" long collatz(const long* numbers, long* out, long count) {
  Collatz<<<Blocks(count), kThreads>>>(numbers, out, count);
  return cudaGetLastError();
}
