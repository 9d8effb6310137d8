#include "ir/array_value.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "ir/diagnostics.h"
#include "ir/float16.h"

namespace parakeet::ir {
namespace {

constexpr std::byte kUnwritten{0xcb};
// Bytes that a process can address at all. What asks for more is refused without asking the system.
constexpr int64_t kAddressSpace = int64_t{1} << 47;
constexpr int64_t kLargestElement = 16;

template <typename T>
T Read(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

template <typename T>
void Write(T value, std::byte* place) {
  std::memcpy(place, &value, sizeof value);
}

std::vector<int64_t> ContiguousStrides(const std::vector<int64_t>& sizes, int64_t element,
                                       bool fortran) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = element;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t axis = fortran ? i : sizes.size() - 1 - i;
    strides[axis] = stride;
    stride *= std::max<int64_t>(sizes[axis], 1);
  }
  return strides;
}

// True where the next axis's elements follow each other as if both were one axis.
bool FollowsOn(const ArrayValue& array, size_t axis) {
  return array.strides[axis] == array.strides[axis + 1] * array.sizes[axis + 1];
}

// The array without its axes of size 1, whose strides say nothing.
ArrayValue WithoutUnitAxes(const ArrayValue& array) {
  ArrayValue result = array;
  result.sizes.clear();
  result.strides.clear();
  for (int axis = 0; axis < array.rank(); ++axis) {
    if (array.sizes[axis] == 1) continue;
    result.sizes.push_back(array.sizes[axis]);
    result.strides.push_back(array.strides[axis]);
  }
  return result;
}

// Sets the strides of `view`, whose elements are those of `old`, none of them on an axis of size 1.
// Old and new axes are matched in groups of equal counts; within a group the old axes must follow
// on. False where they do not.
bool SplitAxes(const ArrayValue& old, ArrayValue& view) {
  size_t old_end = 0;
  size_t new_end = 0;
  while (old_end < old.sizes.size()) {
    const size_t new_begin = new_end;
    int64_t old_count = old.sizes[old_end++];
    int64_t new_count = view.sizes[new_end++];
    while (old_count != new_count) {
      if (new_count < old_count) {
        new_count *= view.sizes[new_end++];
      } else if (FollowsOn(old, old_end - 1)) {
        old_count *= old.sizes[old_end++];
      } else {
        return false;
      }
    }
    int64_t stride = old.strides[old_end - 1];
    for (size_t axis = new_end; axis > new_begin; --axis) {
      view.strides[axis - 1] = stride;
      stride *= view.sizes[axis - 1];
    }
  }
  return true;
}

}  // namespace

int64_t CountOf(std::span<const int64_t> sizes) {
  constexpr int64_t kLimit = std::numeric_limits<int64_t>::max() / kLargestElement;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size > kLimit / count) return -1;
    count *= size;
  }
  return count;
}

ArrayValue NewArray(DType dtype, std::vector<int64_t> sizes, bool fortran) {
  for (int64_t size : sizes) {
    if (size < 0) FailBug("an array's size is negative: " + std::to_string(size));
  }
  const int64_t count = CountOf(sizes);
  if (count < 0 || count > kAddressSpace / SizeInBytes(dtype)) throw std::bad_alloc();
  ArrayValue array;
  array.dtype = dtype;
  array.storage = std::make_shared<std::vector<std::byte>>(count * SizeInBytes(dtype), kUnwritten);
  array.data = array.storage->data();
  array.strides = ContiguousStrides(sizes, SizeInBytes(dtype), fortran);
  array.sizes = std::move(sizes);
  return array;
}

Constant LoadElement(DType dtype, const std::byte* place) {
  switch (dtype) {
    case DType::kBool: return Constant::Bool(*place != std::byte{0});
    case DType::kI8: return Constant::Int(Read<int8_t>(place), dtype);
    case DType::kU8: return Constant::Int(Read<uint8_t>(place), dtype);
    case DType::kI16: return Constant::Int(Read<int16_t>(place), dtype);
    case DType::kU16: return Constant::Int(Read<uint16_t>(place), dtype);
    case DType::kI32: return Constant::Int(Read<int32_t>(place), dtype);
    case DType::kU32: return Constant::Int(Read<uint32_t>(place), dtype);
    case DType::kI64:
    case DType::kU64: return Constant::Int(Read<int64_t>(place), dtype);
    case DType::kF16: return Constant::Float(DoubleFromHalf(Read<uint16_t>(place)), dtype);
    case DType::kF32: return Constant::Float(Read<float>(place), dtype);
    case DType::kF64: return Constant::Float(Read<double>(place), dtype);
    case DType::kC64: return Constant::Complex(Read<float>(place), Read<float>(place + 4), dtype);
    case DType::kC128:
      return Constant::Complex(Read<double>(place), Read<double>(place + 8), dtype);
  }
  FailBug("an element has no dtype");
}

void StoreElement(const Constant& value, std::byte* place) {
  switch (value.dtype) {
    case DType::kBool: return Write<uint8_t>(value.integer != 0, place);
    case DType::kI8:
    case DType::kU8: return Write(static_cast<uint8_t>(value.integer), place);
    case DType::kI16:
    case DType::kU16: return Write(static_cast<uint16_t>(value.integer), place);
    case DType::kI32:
    case DType::kU32: return Write(static_cast<uint32_t>(value.integer), place);
    case DType::kI64:
    case DType::kU64: return Write(value.integer, place);
    case DType::kF16: return Write(HalfFromDouble(value.real), place);
    case DType::kF32: return Write(static_cast<float>(value.real), place);
    case DType::kF64: return Write(value.real, place);
    case DType::kC64:
      Write(static_cast<float>(value.real), place);
      return Write(static_cast<float>(value.imag), place + 4);
    case DType::kC128: Write(value.real, place); return Write(value.imag, place + 8);
  }
}

std::byte* ElementAt(const ArrayValue& array, std::span<const int64_t> index) {
  if (index.size() > array.sizes.size()) {
    FailBug("an index has more entries than the array has axes");
  }
  std::byte* place = array.data;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    if (index[axis] < 0 || index[axis] >= array.sizes[axis]) {
      FailBug("index " + std::to_string(index[axis]) + " is out of range for axis " +
              std::to_string(axis) + " of size " + std::to_string(array.sizes[axis]) +
              ": a check is missing before the access");
    }
    place += index[axis] * array.strides[axis];
  }
  return place;
}

ArrayValue SubArray(const ArrayValue& array, std::span<const int64_t> index) {
  const auto axes = static_cast<std::ptrdiff_t>(index.size());
  std::byte* place = ElementAt(array, index);
  return {array.dtype,
          array.storage,
          place,
          {array.sizes.begin() + axes, array.sizes.end()},
          {array.strides.begin() + axes, array.strides.end()}};
}

void CopyElements(const ArrayValue& from, const ArrayValue& to) {
  if (from.dtype != to.dtype || from.sizes != to.sizes) {
    FailBug("a copy takes two arrays of one dtype and one shape");
  }
  const int bytes = SizeInBytes(from.dtype);
  ForEachIndex(from.sizes, [&](const Index& index) {
    std::memmove(ElementAt(to, index), ElementAt(from, index), bytes);
  });
}

ArrayValue CopyOf(const ArrayValue& array) {
  ArrayValue copy = NewArray(array.dtype, array.sizes);
  CopyElements(array, copy);
  return copy;
}

std::optional<ArrayValue> ReshapeWithoutCopy(const ArrayValue& array,
                                             const std::vector<int64_t>& sizes) {
  const int64_t count = CountOf(array.sizes);
  if (count != CountOf(sizes)) FailBug("a reshape keeps the number of elements");
  ArrayValue result = array;
  result.sizes = sizes;
  result.strides = ContiguousStrides(sizes, SizeInBytes(array.dtype), false);
  if (count == 0 || SplitAxes(WithoutUnitAxes(array), result)) return result;
  return std::nullopt;
}

}  // namespace parakeet::ir
