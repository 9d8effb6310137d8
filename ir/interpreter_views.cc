#include <numeric>

#include "ir/diagnostics.h"
#include "ir/interpreter_machine.h"

namespace parakeet::ir {
namespace {

// A view under construction of `from`: same memory, other axes.
ArrayValue ViewOf(const ArrayValue& from) { return {from.dtype, from.storage, from.data, {}, {}}; }

void AddAxis(ArrayValue& view, int64_t size, int64_t stride) {
  view.sizes.push_back(size);
  view.strides.push_back(stride);
}

// The elements from `first` to `last` of an axis are there. Views without elements are not asked.
void RequireInRange(int64_t first, int64_t last, int64_t size) {
  if (first < 0 || last < 0 || first >= size || last >= size) {
    FailBug("a view reaches from " + std::to_string(first) + " to " + std::to_string(last) +
            " on an axis of size " + std::to_string(size));
  }
}

}  // namespace

void Machine::Slice(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  ArrayValue view = ViewOf(array);
  size_t operand = 1;
  size_t axis = 0;
  for (char entry : step.binding->attrs.Text(Attr::kAxes)) {
    if (entry == 'n') {
      AddAxis(view, 1, 0);
      continue;
    }
    if (axis == array.sizes.size()) {
      FailBug("a slice has more entries than the array has axes", step.binding->span);
    }
    const int64_t start = IntAt(step.operands[operand++]);
    const int64_t size = entry == 'i' ? 1 : IntAt(step.operands[operand++]);
    const int64_t by = entry == 'i' ? 1 : IntAt(step.operands[operand++]);
    if (size > 0) {
      RequireInRange(start, start + (size - 1) * by, array.sizes[axis]);
      view.data += start * array.strides[axis];
    }
    if (entry == 'r') AddAxis(view, size, by * array.strides[axis]);
    ++axis;
  }
  if (axis != array.sizes.size()) {
    FailBug("a slice has an entry for every axis", step.binding->span);
  }
  Set(step, 0, std::move(view));
}

void Machine::Transpose(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  ArrayValue view = ViewOf(array);
  for (int64_t axis : step.binding->attrs.Ints(Attr::kPerm)) {
    AddAxis(view, array.sizes.at(axis), array.strides.at(axis));
  }
  Set(step, 0, std::move(view));
}

void Machine::Broadcast(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  const std::vector<int64_t> sizes = IntsAt(step.result_sizes[0], 0, step.result_sizes[0].size());
  if (sizes.size() < array.sizes.size()) {
    FailBug("a broadcast keeps every axis", step.binding->span);
  }
  const size_t added = sizes.size() - array.sizes.size();
  ArrayValue view = ViewOf(array);
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    const int64_t old_size = axis < added ? 1 : array.sizes[axis - added];
    if (old_size != 1 && old_size != sizes[axis]) {
      FailBug("an axis of size " + std::to_string(old_size) + " is broadcast to " +
                  std::to_string(sizes[axis]),
              step.binding->span);
    }
    const bool repeats = axis < added || (old_size == 1 && sizes[axis] != 1);
    AddAxis(view, sizes[axis], repeats ? 0 : array.strides[axis - added]);
  }
  Set(step, 0, std::move(view));
}

// A view where strides can say it, as NumPy does, else a new array.
void Machine::Reshape(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  const std::vector<int64_t> sizes = IntsAt(step.result_sizes[0], 0, step.result_sizes[0].size());
  std::optional<ArrayValue> view = ReshapeWithoutCopy(array, sizes);
  if (!view) {
    ArrayValue copy = New(array.dtype, array.sizes);
    CopyElements(array, copy);
    view = ReshapeWithoutCopy(copy, sizes);
  }
  Set(step, 0, std::move(*view));
}

// Operands: the root, an offset for each root axis, then for each root axis a coefficient for each
// result axis.
void Machine::View(const Step& step) {
  ArrayValue root = ArrayAt(step.operands[0]);
  if (step.binding->attrs.Int(Attr::kFlat) != 0) {
    std::optional<ArrayValue> flat = ReshapeWithoutCopy(root, {CountOf(root.sizes)});
    if (!flat) FailBug("a flat view takes a contiguous root", step.binding->span);
    root = std::move(*flat);
  }
  ArrayValue view = ViewOf(root);
  view.dtype = step.binding->result()->type.dtype();
  view.sizes = IntsAt(step.result_sizes[0], 0, step.result_sizes[0].size());
  view.strides.assign(view.sizes.size(), 0);
  const size_t root_rank = root.sizes.size();
  const size_t rank = view.sizes.size();
  if (step.operands.size() != 1 + root_rank + root_rank * rank) {
    FailBug("a view takes an offset and strides for each axis of its root", step.binding->span);
  }
  const bool empty = CountOf(view.sizes) == 0;
  for (size_t axis = 0; axis < root_rank; ++axis) {
    const int64_t offset = IntAt(step.operands[1 + axis]);
    const Index along = IntsAt(step.operands, 1 + root_rank + axis * rank, rank);
    int64_t least = offset;
    int64_t greatest = offset;
    for (size_t j = 0; j < rank; ++j) {
      view.strides[j] += along[j] * root.strides[axis];
      (along[j] < 0 ? least : greatest) += along[j] * (view.sizes[j] - 1);
    }
    if (empty) continue;
    RequireInRange(least, greatest, root.sizes[axis]);
    view.data += offset * root.strides[axis];
  }
  Set(step, 0, std::move(view));
}

}  // namespace parakeet::ir
