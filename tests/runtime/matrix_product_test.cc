// Products as compiled code says them, read as BLAS's and made by a plain BLAS of the test.
#include "runtime/matrix_product.h"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

namespace parakeet::runtime {
namespace {

using Number = std::complex<double>;

// An array of the test: where it begins in `memory`, its sizes, its strides in elements.
struct Operand {
  std::vector<Number>* memory;
  int64_t begin;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

void Append(const Operand& array, std::vector<int64_t>* words) {
  words->push_back(reinterpret_cast<int64_t>(array.memory->data() + array.begin));
  words->insert(words->end(), array.sizes.begin(), array.sizes.end());
  for (const int64_t stride : array.strides) words->push_back(stride * int64_t(sizeof(Number)));
}

std::vector<Number> SomeNumbers(size_t count) {
  std::vector<Number> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = {double(i % 7) - 3, double(i % 5) - 2};
  return numbers;
}

Number At(const BlasMatrix& matrix, int64_t number, int64_t row, int64_t column) {
  const auto* elements =
      reinterpret_cast<const Number*>(matrix.data) + number * matrix.batch_stride;
  if (matrix.reading == Reading::kAsIs) return elements[column * matrix.column_stride + row];
  const Number element = elements[row * matrix.column_stride + column];
  return matrix.reading == Reading::kConjugated ? std::conj(element) : element;
}

void Make(const BlasProduct& product) {
  for (int64_t number = 0; number < product.batch; ++number) {
    for (int64_t row = 0; row < product.rows; ++row) {
      for (int64_t column = 0; column < product.columns; ++column) {
        Number sum = 0;
        for (int64_t k = 0; k < product.depth; ++k)
          sum += At(product.a, number, row, k) * At(product.b, number, k, column);
        auto* c = reinterpret_cast<Number*>(product.c.data) + number * product.c.batch_stride;
        c[column * product.c.column_stride + row] = sum;
      }
    }
  }
}

// One product of two matrices, whose result has a free place behind each row.
struct Case {
  int64_t rows = 3, columns = 4, depth = 5;
  std::vector<int64_t> left_strides, right_strides, result_strides;
  int64_t conjugated = 0;
};

std::optional<BlasProduct> Product(const Case& it, std::vector<Number>* left,
                                   std::vector<Number>* right, std::vector<Number>* result) {
  std::vector<int64_t> words = {0, 1, 1, 1, it.conjugated};
  Append({left, 0, {it.rows, it.depth}, it.left_strides}, &words);
  Append({right, 0, {it.depth, it.columns}, it.right_strides}, &words);
  Append({result, 0, {it.rows, it.columns}, it.result_strides}, &words);
  return ReadProduct(kPkC128, words.data());
}

void Check(const Case& it) {
  std::vector<Number> left = SomeNumbers(200), right = SomeNumbers(300), result(200, -1);
  std::swap(right[0], right[17]);
  const auto product = Product(it, &left, &right, &result);
  ASSERT_TRUE(product.has_value());
  Make(*product);
  for (int64_t i = 0; i < it.rows; ++i) {
    for (int64_t j = 0; j < it.columns; ++j) {
      Number sum = 0;
      for (int64_t k = 0; k < it.depth; ++k) {
        const Number a = left[i * it.left_strides[0] + k * it.left_strides[1]];
        const Number b = right[k * it.right_strides[0] + j * it.right_strides[1]];
        sum += ((it.conjugated & 1) != 0 ? std::conj(a) : a) *
               ((it.conjugated & 2) != 0 ? std::conj(b) : b);
      }
      EXPECT_EQ(result[i * it.result_strides[0] + j * it.result_strides[1]], sum);
    }
  }
}

TEST(MatrixProduct, TakesRowsAndColumnsInEveryOrder) {
  const std::vector<std::vector<int64_t>> lefts = {{5, 1}, {9, 1}, {1, 3}, {1, 11}};
  const std::vector<std::vector<int64_t>> rights = {{4, 1}, {12, 1}, {1, 5}, {1, 8}};
  for (const auto& left : lefts) {
    for (const auto& right : rights) {
      for (const auto& result : std::vector<std::vector<int64_t>>{{4, 1}, {6, 1}, {1, 3}, {1, 7}})
        Check({3, 4, 5, left, right, result});
    }
  }
}

TEST(MatrixProduct, TakesSizesOfOneHoweverTheyLie) {
  Check({1, 4, 5, {77, 1}, {4, 1}, {99, 1}});
  Check({1, 4, 5, {77, 3}, {4, 1}, {99, 1}});
  Check({3, 1, 5, {5, 1}, {6, 77}, {2, 99}});
  Check({3, 4, 1, {6, 77}, {77, 2}, {4, 1}});
  Check({1, 1, 5, {0, 2}, {3, 0}, {0, 0}});
}

TEST(MatrixProduct, ConjugatesWhatIsTransposed) {
  Check({3, 4, 5, {1, 3}, {4, 1}, {4, 1}, 1});
  Check({3, 4, 5, {5, 1}, {1, 5}, {4, 1}, 2});
  Check({3, 4, 5, {1, 3}, {1, 5}, {4, 1}, 3});
  std::vector<Number> left = SomeNumbers(200), right = SomeNumbers(200), result(200);
  EXPECT_FALSE(Product({3, 4, 5, {5, 1}, {4, 1}, {4, 1}, 1}, &left, &right, &result));
}

TEST(MatrixProduct, RefusesWhatBlasHasNoWordsFor) {
  std::vector<Number> left = SomeNumbers(200), right = SomeNumbers(200), result(200);
  const auto fits = [&](const Case& it) { return Product(it, &left, &right, &result).has_value(); };
  EXPECT_TRUE(fits({3, 4, 5, {5, 1}, {4, 1}, {4, 1}}));
  EXPECT_FALSE(fits({3, 4, 5, {10, 2}, {4, 1}, {4, 1}}));  // nothing side by side
  EXPECT_FALSE(fits({3, 4, 5, {-5, 1}, {4, 1}, {4, 1}}));  // backwards
  EXPECT_FALSE(fits({3, 4, 5, {1, 1}, {4, 1}, {4, 1}}));   // rows that overlap
  EXPECT_FALSE(fits({3, 4, 5, {0, 1}, {4, 1}, {4, 1}}));   // one row again and again
  EXPECT_FALSE(fits({3, 4, 5, {5, 1}, {4, 1}, {8, 2}}));
  EXPECT_FALSE(fits({0, 4, 5, {5, 1}, {4, 1}, {4, 1}}));
  EXPECT_FALSE(fits({3, 4, 0, {5, 1}, {4, 1}, {4, 1}}));
}

TEST(MatrixProduct, MakesOneAxisOfSeveral) {
  std::vector<Number> left = SomeNumbers(200), right = SomeNumbers(200), result(200);
  // "abk,kc->abc": rows of all matrices are rows of one.
  std::vector<int64_t> words = {0, 2, 1, 1, 0};
  Append({&left, 0, {2, 3, 5}, {15, 5, 1}}, &words);
  Append({&right, 0, {5, 4}, {4, 1}}, &words);
  Append({&result, 0, {2, 3, 4}, {12, 4, 1}}, &words);
  auto product = ReadProduct(kPkC128, words.data());
  ASSERT_TRUE(product);
  EXPECT_EQ(product->batch, 1);
  EXPECT_EQ(int64_t(product->rows) * product->columns, 24);
  // "abk,kc->bac": not one of the result, so that one of them is a batch of one right operand.
  words = {0, 2, 1, 1, 0};
  Append({&left, 0, {2, 3, 5}, {15, 5, 1}}, &words);
  Append({&right, 0, {5, 4}, {4, 1}}, &words);
  Append({&result, 0, {2, 3, 4}, {4, 8, 1}}, &words);
  product = ReadProduct(kPkC128, words.data());
  ASSERT_TRUE(product);
  EXPECT_EQ(product->batch, 2);
  Make(*product);
  for (int64_t a = 0; a < 2; ++a) {
    for (int64_t b = 0; b < 3; ++b) {
      for (int64_t c = 0; c < 4; ++c) {
        Number sum = 0;
        for (int64_t k = 0; k < 5; ++k) sum += left[a * 15 + b * 5 + k] * right[k * 4 + c];
        EXPECT_EQ(result[a * 4 + b * 8 + c], sum);
      }
    }
  }
  // Two axes of the depth that the right operand has the other way round.
  words = {0, 1, 1, 2, 0};
  Append({&left, 0, {3, 2, 5}, {10, 5, 1}}, &words);
  Append({&right, 0, {2, 5, 4}, {4, 8, 1}}, &words);
  Append({&result, 0, {3, 4}, {4, 1}}, &words);
  EXPECT_FALSE(ReadProduct(kPkC128, words.data()));
}

TEST(MatrixProduct, AsksForWholeElements) {
  std::vector<Number> numbers = SomeNumbers(400);
  std::vector<int64_t> words = {0, 1, 1, 1, 0};
  Append({&numbers, 0, {3, 5}, {5, 1}}, &words);
  Append({&numbers, 50, {5, 4}, {4, 1}}, &words);
  Append({&numbers, 100, {3, 4}, {4, 1}}, &words);
  EXPECT_TRUE(ReadProduct(kPkC128, words.data()));
  words[5] += 8;  // of the left operand's address
  EXPECT_FALSE(ReadProduct(kPkC128, words.data()));
}

}  // namespace
}  // namespace parakeet::runtime
