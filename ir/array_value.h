#ifndef PARAKEET_IR_ARRAY_VALUE_H_
#define PARAKEET_IR_ARRAY_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/dtype.h"
#include "ir/type.h"

namespace parakeet::ir {

using Storage = std::shared_ptr<std::vector<std::byte>>;
using Index = std::vector<int64_t>;

// An array that the interpreter holds: elements at `data` + sum of index[k] * strides[k], strides
// in bytes and of any sign, data aligned or not. `storage` owns the memory; null where the caller
// owns it. Copies share the elements.
struct ArrayValue {
  DType dtype = DType::kF64;
  Storage storage;
  std::byte* data = nullptr;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  int rank() const { return static_cast<int>(sizes.size()); }
};

// A new array, every byte of it 0xcb: what reads an element before it is written shows. C order
// unless `fortran`. Throws std::bad_alloc where there is no memory, a Bug where a size is negative.
ArrayValue NewArray(DType dtype, std::vector<int64_t> sizes, bool fortran = false);

// The number of elements; -1 where it, or the bytes of so many elements of any dtype, exceed 63
// bits.
int64_t CountOf(std::span<const int64_t> sizes);

Constant LoadElement(DType dtype, const std::byte* place);
void StoreElement(const Constant& value, std::byte* place);

// The place of an element. Throws a Bug where the index is out of range: an access needs a check
// before it.
std::byte* ElementAt(const ArrayValue& array, std::span<const int64_t> index);

// The element, or the array of the trailing axes, at an index of the leading axes.
ArrayValue SubArray(const ArrayValue& array, std::span<const int64_t> index);

// Copies every element to the array of the same dtype and sizes.
void CopyElements(const ArrayValue& from, const ArrayValue& to);

// A new array in C order with the same elements.
ArrayValue CopyOf(const ArrayValue& array);

// The elements in C order under sizes of the same count, where strides can say it (NumPy's rule),
// else nullopt.
std::optional<ArrayValue> ReshapeWithoutCopy(const ArrayValue& array,
                                             const std::vector<int64_t>& sizes);

// Calls `visit` on each index below `extents`, in row-major order; once, with the empty index, when
// there are none.
template <typename Visit>
void ForEachIndex(const std::vector<int64_t>& extents, Visit visit) {
  for (int64_t extent : extents) {
    if (extent <= 0) return;
  }
  Index index(extents.size(), 0);
  while (true) {
    visit(index);
    size_t axis = extents.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_ARRAY_VALUE_H_
