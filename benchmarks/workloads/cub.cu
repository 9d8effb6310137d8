// CUB's algorithms over whole arrays. Temporary storage grows to what was asked for and stays.
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace {

void* storage = nullptr;
size_t stored = 0;

// Calls `algorithm(storage, bytes)` once to ask for bytes, and once to work.
template <typename Algorithm>
long Run(Algorithm algorithm) {
  size_t bytes = 0;
  if (cudaError_t error = algorithm(nullptr, bytes)) return error;
  if (bytes > stored) {
    cudaFree(storage);
    if (cudaError_t error = cudaMalloc(&storage, bytes)) return error;
    stored = bytes;
  }
  return algorithm(storage, bytes);
}

struct LogAddExp {
  __device__ double operator()(double a, double b) const {
    const double larger = fmax(a, b), smaller = fmin(a, b);
    if (isinf(larger) && larger == smaller) return larger;
    return larger + log1p(exp(smaller - larger));
  }
};

struct AboveHalf {
  __device__ bool operator()(float x) const { return x > 0.5f; }
};

struct RowStart {
  long columns;
  __host__ __device__ long operator()(long row) const { return row * columns; }
};

auto RowStarts(long first, long columns) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(first), RowStart{columns});
}

template <typename T>
long Sum(const T* x, T* out, long n) {
  return Run([=](void* at, size_t& bytes) { return cub::DeviceReduce::Sum(at, bytes, x, out, n); });
}

template <typename T>
long InclusiveSum(const T* x, T* out, long n) {
  return Run(
      [=](void* at, size_t& bytes) { return cub::DeviceScan::InclusiveSum(at, bytes, x, out, n); });
}

}  // namespace

extern "C" long sum_f64(const double* x, double* out, long n) { return Sum(x, out, n); }
extern "C" long sum_f32(const float* x, float* out, long n) { return Sum(x, out, n); }

extern "C" long argmax(const double* x, double* largest, long* where, long n) {
  return Run([=](void* at, size_t& bytes) {
    return cub::DeviceReduce::ArgMax(at, bytes, x, largest, where, n);
  });
}

extern "C" long sum_rows(const double* x, double* out, long rows, long columns) {
  return Run([=](void* at, size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(at, bytes, x, out, rows, RowStarts(0, columns),
                                           RowStarts(1, columns));
  });
}

extern "C" long max_rows(const double* x, double* out, long rows, long columns) {
  return Run([=](void* at, size_t& bytes) {
    return cub::DeviceSegmentedReduce::Max(at, bytes, x, out, rows, RowStarts(0, columns),
                                           RowStarts(1, columns));
  });
}

extern "C" long cumsum_f64(const double* x, double* out, long n) { return InclusiveSum(x, out, n); }
extern "C" long cumsum_f32(const float* x, float* out, long n) { return InclusiveSum(x, out, n); }

extern "C" long running_logsumexp(const double* x, double* out, long n) {
  return Run([=](void* at, size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(at, bytes, x, out, LogAddExp(), n);
  });
}

extern "C" long histogram(const int* keys, int* out, long n, long bins) {
  return Run([=](void* at, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(at, bytes, keys, out, int(bins) + 1, 0, int(bins),
                                               int(n));
  });
}

extern "C" long compaction(const float* x, float* out, long* count, long n) {
  return Run([=](void* at, size_t& bytes) {
    return cub::DeviceSelect::If(at, bytes, x, out, count, n, AboveHalf());
  });
}

extern "C" long sort(const float* x, float* out, long n) {
  return Run(
      [=](void* at, size_t& bytes) { return cub::DeviceRadixSort::SortKeys(at, bytes, x, out, n); });
}
