#ifndef PARAKEET_IR_REDUCTION_TREE_H_
#define PARAKEET_IR_REDUCTION_TREE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace parakeet::ir {

// A GPU's tree (the attribute `most_block`) is over one axis. Its blocks grow: they double, up to
// `most_block`, while there would be more than kManyBlocks of them, and there are never more than
// kMostBlocks. Lanes combine the parts as they do a block's elements.
inline constexpr int64_t kManyBlocks = 1024;
inline constexpr int64_t kMostBlocks = 16384;

// The size of a tree's blocks over so many elements.
inline int64_t GrownBlock(int64_t elements, int64_t block, int64_t most) {
  if (most == 0) return block;
  const int64_t least = block;
  while (block < most && elements > block * kManyBlocks) block *= 2;
  const int64_t fewest = (elements + kMostBlocks - 1) / kMostBlocks;
  return std::max(block, (fewest + least - 1) / least * least);
}

// How a reduction's index space is cut into the parts of its tree, from the size of its blocks
// alone. The space is row-major: `inner` is its last extent, `rows` the product of the others (1
// when there are none). A part is a rectangle of `rows_per_block` rows by at most `block` inner
// indexes; parts are numbered by rows, then columns.
template <typename Number>
struct TreeShape {
  Number columns;         // Parts side by side along the inner index.
  Number rows_per_block;  // Whole rows a part; 1 where a row is cut.
  Number row_blocks;
  Number parts;  // row_blocks * columns, none when there are no rows.
};

// The shape, in any arithmetic that has Number(int64_t), Max, Mul, FloorDiv and CeilDiv: numbers
// below, operands where code is made. With block 0 there is one part.
template <typename Arithmetic, typename Number>
TreeShape<Number> TreeShapeOf(Arithmetic& arithmetic, const Number& rows, const Number& inner,
                              int64_t block) {
  const Number one = arithmetic.MakeNumber(1);
  if (block == 0) return {one, rows, one, one};
  const Number size = arithmetic.MakeNumber(block);
  TreeShape<Number> shape;
  shape.columns = arithmetic.Max(one, arithmetic.CeilDiv(inner, size));
  shape.rows_per_block = arithmetic.Max(one, arithmetic.FloorDiv(size, arithmetic.Max(one, inner)));
  shape.row_blocks = arithmetic.CeilDiv(rows, shape.rows_per_block);
  shape.parts = arithmetic.Mul(shape.row_blocks, shape.columns);
  return shape;
}

// Of non-negative numbers.
struct NumberArithmetic {
  int64_t MakeNumber(int64_t value) const { return value; }
  int64_t Max(int64_t a, int64_t b) const { return std::max(a, b); }
  int64_t Mul(int64_t a, int64_t b) const { return a * b; }
  int64_t FloorDiv(int64_t a, int64_t b) const { return a / b; }
  int64_t CeilDiv(int64_t a, int64_t b) const { return a / b + (a % b != 0); }
};

// The rows and inner indexes of one part, ends excluded.
struct TreePart {
  int64_t first_row;
  int64_t last_row;
  int64_t lo;
  int64_t hi;
};

// The tree of an index space whose extents are known.
class ReductionTree {
 public:
  // With `most_block` blocks grow, over one axis.
  ReductionTree(const std::vector<int64_t>& extents, int64_t block, int64_t most_block = 0)
      : block_(block) {
    for (size_t axis = 0; axis + 1 < extents.size(); ++axis) {
      rows_ *= std::max<int64_t>(extents[axis], 0);
    }
    if (!extents.empty()) inner_ = std::max<int64_t>(extents.back(), 0);
    block_ = GrownBlock(inner_, block, most_block);
    NumberArithmetic numbers;
    shape_ = TreeShapeOf(numbers, rows_, inner_, block_);
  }

  int64_t rows() const { return rows_; }
  int64_t inner() const { return inner_; }
  bool IsEmpty() const { return rows_ == 0 || inner_ == 0; }
  const TreeShape<int64_t>& shape() const { return shape_; }

  TreePart Part(int64_t part) const {
    const int64_t first_row = part / shape_.columns * shape_.rows_per_block;
    const int64_t lo = block_ == 0 ? 0 : part % shape_.columns * block_;
    const int64_t hi = shape_.columns == 1 ? inner_ : std::min(inner_, lo + block_);
    return {first_row, std::min(rows_, first_row + shape_.rows_per_block), lo, hi};
  }

 private:
  int64_t block_;
  int64_t rows_ = 1;
  int64_t inner_ = 1;
  TreeShape<int64_t> shape_{};
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_REDUCTION_TREE_H_
