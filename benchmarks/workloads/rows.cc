// A row at a time, which stays in the first cache between its passes.
#include <algorithm>
#include <cmath>

extern "C" void softmax(const float* x, float* out, long rows, long columns) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rows; ++i) {
    const float* row = x + i * columns;
    float* to = out + i * columns;
    float largest = row[0], sum = 0;
#pragma omp simd reduction(max : largest)
    for (long j = 0; j < columns; ++j) largest = std::max(largest, row[j]);
#pragma omp simd reduction(+ : sum)
    for (long j = 0; j < columns; ++j) sum += to[j] = std::exp(row[j] - largest);
    const float scale = 1.0f / sum;
#pragma omp simd
    for (long j = 0; j < columns; ++j) to[j] *= scale;
  }
}

extern "C" void layer_norm(const float* x, const float* gain, const float* bias, float* out,
                           long rows, long columns) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < rows; ++i) {
    const float* row = x + i * columns;
    float* to = out + i * columns;
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (long j = 0; j < columns; ++j) sum += row[j];
    const float mean = sum / columns;
#pragma omp simd reduction(+ : squares)
    for (long j = 0; j < columns; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const float scale = 1.0f / std::sqrt(squares / columns + 1e-5f);
#pragma omp simd
    for (long j = 0; j < columns; ++j) to[j] = (row[j] - mean) * scale * gain[j] + bias[j];
  }
}
