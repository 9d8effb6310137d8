#include "runtime/matrix_libraries.h"

#include <atomic>
#include <string>

#include "runtime/lapack_library.h"

namespace parakeet::runtime {
namespace {

std::atomic<bool> may_use{true};

const char* RoutineFor(PkElement element) {
  switch (element) {
    case kPkF32: return "sgemm";
    case kPkF64: return "dgemm";
    case kPkC64: return "cgemm";
    case kPkC128: return "zgemm";
  }
  return "";
}

// transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc.
constexpr const char* kSignature = "uunnnttntntTn";

uint64_t LetterOf(Reading reading) {
  constexpr char kLetters[] = {'N', 'T', 'C'};
  return uint64_t(kLetters[size_t(reading)]);
}

template <typename Address>
uint64_t FactorWord(Address* address) {
  return reinterpret_cast<uint64_t>(address);
}

// 1 and 0 in the element's own form.
struct Factors {
  double one[2] = {1, 0};
  float short_one[2] = {1, 0};
  double zero[2] = {0, 0};
};

}  // namespace

void LetMatrixLibrariesBeUsed(bool may) { may_use.store(may, std::memory_order_relaxed); }
bool MayUseMatrixLibraries() { return may_use.load(std::memory_order_relaxed); }

bool MultiplyOnHost(const BlasProduct& product) {
  std::string error;
  const void* routine = FindLapack(RoutineFor(product.element), &error);
  if (routine == nullptr) return false;
  const Factors factors;
  const bool is_short = product.element == kPkF32 || product.element == kPkC64;
  const uint64_t one = is_short ? FactorWord(factors.short_one) : FactorWord(factors.one);
  const int64_t bytes = BytesOf(product.element);
  for (int64_t number = 0; number < product.batch; ++number) {
    const auto address = [&](const BlasMatrix& matrix) {
      return FactorWord(matrix.data + number * matrix.batch_stride * bytes);
    };
    const uint64_t operands[] = {LetterOf(product.a.reading),
                                 LetterOf(product.b.reading),
                                 uint64_t(product.rows),
                                 uint64_t(product.columns),
                                 uint64_t(product.depth),
                                 one,
                                 1,
                                 address(product.a),
                                 0,
                                 uint64_t(product.a.column_stride),
                                 address(product.b),
                                 0,
                                 uint64_t(product.b.column_stride),
                                 FactorWord(factors.zero),
                                 1,
                                 address(product.c),
                                 0,
                                 uint64_t(product.c.column_stride)};
    CallFortran(routine, kSignature, operands, LapackHasWideIntegers());
  }
  return true;
}

}  // namespace parakeet::runtime
