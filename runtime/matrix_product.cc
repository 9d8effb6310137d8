#include "runtime/matrix_product.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace parakeet::runtime {
namespace {

enum Operand { kLeft, kRight, kResult };

// An index: how often, and by how many bytes each operand moves with it.
struct Axis {
  int64_t extent = 1;
  std::array<int64_t, 3> steps = {};
};
using Axes = std::vector<Axis>;

// The operands as compiled code hands them over.
struct Given {
  std::array<char*, 3> data;
  Axes batch, rows, columns, depth;
  bool conjugates_left;
  bool conjugates_right;
};

// With one axis of each kind.
struct Simple {
  std::array<char*, 3> data;
  Axis batch, rows, columns, depth;
  bool conjugates_left;
  bool conjugates_right;
};

// The address of an array, its sizes, and its strides, along the axes of three groups.
const int64_t* ReadArray(const int64_t* words, Operand operand, Given* given,
                         std::array<Axes*, 3> groups) {
  given->data[operand] = reinterpret_cast<char*>(*words++);
  size_t rank = 0;
  for (const Axes* group : groups) rank += group->size();
  const int64_t* strides = words + rank;
  for (Axes* group : groups) {
    for (Axis& axis : *group) {
      axis.extent = *words++;
      axis.steps[operand] = *strides++;
    }
  }
  return strides;
}

Given Read(const int64_t* words) {
  Given given;
  for (Axes* group : {&given.batch, &given.rows, &given.columns, &given.depth})
    group->resize(size_t(*words++));
  given.conjugates_left = (*words & 1) != 0;
  given.conjugates_right = (*words++ & 2) != 0;
  words = ReadArray(words, kLeft, &given, {&given.batch, &given.rows, &given.depth});
  words = ReadArray(words, kRight, &given, {&given.batch, &given.depth, &given.columns});
  ReadArray(words, kResult, &given, {&given.batch, &given.rows, &given.columns});
  return given;
}

bool IsOneAxis(const Axis& outer, const Axis& inner) {
  for (size_t k = 0; k < outer.steps.size(); ++k) {
    if (outer.steps[k] != inner.steps[k] * inner.extent) return false;
  }
  return true;
}

// Axes that follow one another in memory, of every operand alike, are one.
void Merge(Axes* axes, Operand by) {
  std::erase_if(*axes, [](const Axis& axis) { return axis.extent == 1; });
  std::stable_sort(axes->begin(), axes->end(),
                   [&](const Axis& a, const Axis& b) { return a.steps[by] > b.steps[by]; });
  for (size_t k = 1; k < axes->size();) {
    Axis& outer = (*axes)[k - 1];
    const Axis& inner = (*axes)[k];
    if (!IsOneAxis(outer, inner)) {
      ++k;
      continue;
    }
    outer = {outer.extent * inner.extent, inner.steps};
    axes->erase(axes->begin() + std::ptrdiff_t(k));
  }
}

// The last axis; those before it become a batch's, of which the other operand is the same in each.
Axis TakeLast(Axes* axes, Axes* batch) {
  if (axes->empty()) return {};
  const Axis last = axes->back();
  batch->insert(batch->end(), axes->begin(), axes->end() - 1);
  return last;
}

bool IsEmpty(const Axis& axis) { return axis.extent <= 0; }

bool HasElements(const Given& given) {
  for (const Axes* axes : {&given.batch, &given.rows, &given.columns, &given.depth}) {
    if (std::any_of(axes->begin(), axes->end(), IsEmpty)) return false;
  }
  return true;
}

std::optional<Simple> Simplify(Given given) {
  if (!HasElements(given)) return std::nullopt;
  Merge(&given.rows, kLeft);
  Merge(&given.columns, kRight);
  Merge(&given.depth, kLeft);
  Simple simple = {given.data, {}, {}, {}, {}, given.conjugates_left, given.conjugates_right};
  simple.rows = TakeLast(&given.rows, &given.batch);
  simple.columns = TakeLast(&given.columns, &given.batch);
  Merge(&given.batch, kResult);
  if (given.batch.size() > 1 || given.depth.size() > 1) return std::nullopt;
  if (!given.batch.empty()) simple.batch = given.batch[0];
  if (!given.depth.empty()) simple.depth = given.depth[0];
  for (const Axis* axis : {&simple.batch, &simple.rows, &simple.columns, &simple.depth}) {
    if (axis->extent > INT32_MAX) return std::nullopt;
  }
  return simple;
}

// The transposed product, of the transposed operands.
void Transpose(Simple* product) {
  std::swap(product->rows, product->columns);
  for (Axis* axis : {&product->batch, &product->rows, &product->columns, &product->depth})
    std::swap(axis->steps[kLeft], axis->steps[kRight]);
  std::swap(product->data[kLeft], product->data[kRight]);
  std::swap(product->conjugates_left, product->conjugates_right);
}

// A matrix by its rows and columns: counts, and steps in bytes.
struct Matrix {
  int64_t rows;
  int64_t row_step;
  int64_t columns;
  int64_t column_step;
};

// How far apart columns begin, where the rows of a column lie side by side; 0 where they do not.
int32_t ColumnStride(const Matrix& matrix, int64_t bytes) {
  if (matrix.rows > 1 && matrix.row_step != bytes) return 0;
  if (matrix.columns == 1) return int32_t(matrix.rows);
  const int64_t stride = matrix.column_step / bytes;
  const bool fits = matrix.column_step % bytes == 0 && stride >= matrix.rows;
  return fits && stride <= INT32_MAX ? int32_t(stride) : 0;
}

bool Orient(const Matrix& matrix, bool conjugates, int64_t bytes, BlasMatrix* made) {
  made->reading = Reading::kAsIs;
  made->column_stride = conjugates ? 0 : ColumnStride(matrix, bytes);
  if (made->column_stride != 0) return true;
  made->reading = conjugates ? Reading::kConjugated : Reading::kTransposed;
  made->column_stride =
      ColumnStride({matrix.columns, matrix.column_step, matrix.rows, matrix.row_step}, bytes);
  return made->column_stride != 0;
}

bool Place(char* data, int64_t step, int64_t bytes, BlasMatrix* made) {
  made->data = data;
  made->batch_stride = step / bytes;
  return reinterpret_cast<uintptr_t>(data) % uintptr_t(bytes) == 0 && step % bytes == 0 &&
         step >= 0;
}

}  // namespace

int64_t BytesOf(PkElement element) {
  switch (element) {
    case kPkF32: return 4;
    case kPkF64:
    case kPkC64: return 8;
    case kPkC128: return 16;
  }
  return 1;
}

std::optional<BlasProduct> ReadProduct(PkElement element, const int64_t* operands) {
  std::optional<Simple> found = Simplify(Read(operands));
  if (!found) return std::nullopt;
  Simple& product = *found;
  const int64_t bytes = BytesOf(element);
  const auto result = [&] {
    return Matrix{product.rows.extent, product.rows.steps[kResult], product.columns.extent,
                  product.columns.steps[kResult]};
  };
  if (ColumnStride(result(), bytes) == 0) Transpose(&product);
  const Axis &batch = product.batch, &rows = product.rows, &columns = product.columns;
  const Axis& depth = product.depth;
  const Matrix a = {rows.extent, rows.steps[kLeft], depth.extent, depth.steps[kLeft]};
  const Matrix b = {depth.extent, depth.steps[kRight], columns.extent, columns.steps[kRight]};
  BlasProduct made = {element,
                      int32_t(rows.extent),
                      int32_t(columns.extent),
                      int32_t(depth.extent),
                      int32_t(batch.extent),
                      {},
                      {},
                      {}};
  made.c.column_stride = ColumnStride(result(), bytes);
  const bool fits = made.c.column_stride != 0 &&
                    Orient(a, product.conjugates_left, bytes, &made.a) &&
                    Orient(b, product.conjugates_right, bytes, &made.b) &&
                    Place(product.data[kLeft], batch.steps[kLeft], bytes, &made.a) &&
                    Place(product.data[kRight], batch.steps[kRight], bytes, &made.b) &&
                    Place(product.data[kResult], batch.steps[kResult], bytes, &made.c);
  return fits ? std::optional(made) : std::nullopt;
}

}  // namespace parakeet::runtime
