#include "pylib/core/results.h"

#include <cstring>
#include <vector>

#include "pylib/core/numpy_access.h"
#include "runtime/buffers.h"

namespace parakeet::pylib {
namespace {

// Makes a field of an array that NumPy has no function for.
ArrayFields* MutableFields(PyObject* array) { return reinterpret_cast<ArrayFields*>(array); }

// An array over memory that something else owns.
Ref NewArray(int type, int rank, const uint64_t* sizes, const uint64_t* strides, void* data,
             bool is_writable) {
  PyObject* descriptor = numpy.descriptors[type];
  Py_INCREF(descriptor);
  return Ref::Steal(numpy.new_from_descr(numpy.array_type, descriptor, rank,
                                         reinterpret_cast<const Py_ssize_t*>(sizes),
                                         reinterpret_cast<const Py_ssize_t*>(strides), data,
                                         is_writable ? kFlagWritable : 0, nullptr));
}

// Hands a buffer of the call over to the array that begins with it.
void Own(PyObject* array, runtime::Call* call, void* buffer) {
  ArrayFields* fields = MutableFields(array);
  Py_INCREF(numpy.memory_handler);
  fields->memory_handler = numpy.memory_handler;
  fields->flags |= kFlagOwnData;
  runtime::KeepResult(call, buffer);
}

// Whether an array result, as slots (runtime/abi.h), is a fresh buffer from its beginning.
bool IsWholeBuffer(const uint64_t* slots) { return int64_t(slots[0]) < 0 && slots[1] == slots[2]; }

// Such a result that is all that a call returns: nobody else has the buffer.
PyObject* ArrayOfBuffer(const ResultNode& node, runtime::Call* call, const uint64_t* slots) {
  void* buffer = reinterpret_cast<void*>(slots[1]);
  Ref array = NewArray(node.type, node.rank, slots + 3, slots + 3 + node.rank, buffer, true);
  if (array) Own(array.get(), call, buffer);
  return array.release();
}

// An array at the address that the slots say.
Ref ViewOf(const ResultNode& node, const uint64_t* slots, bool is_writable) {
  const uint64_t* sizes = slots + node.slot + 3;
  return NewArray(node.type, node.rank, sizes, sizes + node.rank,
                  reinterpret_cast<void*>(slots[node.slot + 2]), is_writable);
}

class ResultBuilder {
 public:
  ResultBuilder(const Manifest& manifest, const ArrayArgument* arguments, runtime::Call* call,
                const uint64_t* slots)
      : nodes_(manifest.results), arguments_(arguments), call_(call), slots_(slots) {}

  // The node at `next_` and all below it.
  Ref Build() {
    const ResultNode& node = nodes_[next_++];
    switch (node.kind) {
      case ResultKind::kNone: return Ref::Borrow(Py_None);
      case ResultKind::kScalar:
        return Ref::Steal(BuildScalar(node.type, node.python, slots_ + node.slot));
      case ResultKind::kArray: return Array(next_ - 1);
      case ResultKind::kTuple: return Parts(PyTuple_New(node.length), node.length, PyTuple_SetItem);
      case ResultKind::kList: return Parts(PyList_New(node.length), node.length, PyList_SetItem);
    }
    return Ref();
  }

 private:
  // The nodes that follow, in a new tuple or list.
  Ref Parts(PyObject* made, uint32_t length, int (*set)(PyObject*, Py_ssize_t, PyObject*)) {
    Ref parts = Ref::Steal(made);
    for (uint32_t i = 0; parts && i < length; ++i) {
      Ref item = Build();
      if (!item) return item;
      set(parts.get(), i, item.release());
    }
    return parts;
  }

  // Slots of an array result: root, base, data, sizes, strides (runtime/abi.h).
  int64_t RootOf(const ResultNode& node) const { return int64_t(slots_[node.slot]); }
  void* BaseOf(const ResultNode& node) const {
    return reinterpret_cast<void*>(slots_[node.slot + 1]);
  }
  void* DataOf(const ResultNode& node) const {
    return reinterpret_cast<void*>(slots_[node.slot + 2]);
  }

  Ref Array(size_t at) {
    if (nodes_.size() == 1) return RootOf(nodes_[0]) >= 0 ? ArgumentView(nodes_[0]) : Fresh(0);
    if (Ref same = Earlier(at)) return same;
    Ref array = RootOf(nodes_[at]) >= 0 ? ArgumentView(nodes_[at]) : Fresh(at);
    built_.push_back({at, array});
    return array;
  }

  bool IsSameArray(const ResultNode& a, const ResultNode& b) const {
    return b.kind == ResultKind::kArray && a.type == b.type && a.rank == b.rank &&
           a.is_view == b.is_view &&
           std::memcmp(slots_ + a.slot, slots_ + b.slot, (3 + 2 * a.rank) * sizeof(uint64_t)) == 0;
  }

  // The same array returned twice is one object.
  Ref Earlier(size_t at) const {
    for (const Built& built : built_) {
      if (IsSameArray(nodes_[at], nodes_[built.node])) return built.array;
    }
    return Ref();
  }

  // A whole fresh buffer is owned by its array; views of one buffer share a base that owns it.
  Ref Fresh(size_t at) {
    const ResultNode& node = nodes_[at];
    if (DataOf(node) == BaseOf(node) && IsOnlyUser(node)) {
      Ref array = View(node, true);
      if (array) Own(array.get(), call_, BaseOf(node));
      return array;
    }
    Ref owner = OwnerOf(node);
    Ref array = owner ? View(node, true) : Ref();
    if (array && numpy.set_base(array.get(), owner.release()) != 0) return Ref();
    return array;
  }

  bool IsOnlyUser(const ResultNode& node) const {
    if (nodes_.size() == 1) return true;
    for (const ResultNode& other : nodes_) {
      if (other.kind == ResultKind::kArray && RootOf(other) == RootOf(node) &&
          !IsSameArray(node, other)) {
        return false;
      }
    }
    return true;
  }

  // An array of bytes that owns the buffer.
  Ref OwnerOf(const ResultNode& node) {
    for (const Owner& owner : owners_) {
      if (owner.root == RootOf(node)) return owner.array;
    }
    const uint64_t size = runtime::CapacityOfBuffer(BaseOf(node)), stride = 1;
    Ref array = NewArray(kUint8, 1, &size, &stride, BaseOf(node), true);
    if (!array) return array;
    Own(array.get(), call_, BaseOf(node));
    owners_.push_back({RootOf(node), array});
    return array;
  }

  Ref View(const ResultNode& node, bool is_writable) const {
    return ViewOf(node, slots_, is_writable);
  }

  Ref ArgumentView(const ResultNode& node) {
    return Ref::Steal(BuildArgumentView(node, arguments_[RootOf(node)], slots_));
  }

  struct Built {
    size_t node;
    Ref array;
  };
  struct Owner {
    int64_t root;
    Ref array;
  };

  const std::vector<ResultNode>& nodes_;
  const ArrayArgument* arguments_;
  runtime::Call* call_;
  const uint64_t* slots_;
  size_t next_ = 0;
  std::vector<Built> built_;
  std::vector<Owner> owners_;
};

template <typename T>
T FromBits(const uint64_t* slot) {
  T value;
  std::memcpy(&value, slot, sizeof(T));
  return value;
}

}  // namespace

PyObject* BuildScalar(int type, bool python, const uint64_t* slots) {
  if (!python) return MakeScalar(type, slots);
  switch (type) {
    case kBool: return PyBool_FromLong(slots[0] != 0);
    case kFloat64: return PyFloat_FromDouble(FromBits<double>(slots));
    case kComplex128:
      return PyComplex_FromDoubles(FromBits<double>(slots), FromBits<double>(slots + 1));
    case kUint64: return PyLong_FromUnsignedLongLong(slots[0]);
    default: return PyLong_FromLongLong(int64_t(slots[0]));
  }
}

// Strides of axes that have one element or none say nothing.
bool IsWholeArgument(const ResultNode& node, const ArrayArgument& argument, const uint64_t* slots) {
  const ArrayFields* array = FieldsOf(argument.array);
  const auto* data = reinterpret_cast<const char*>(slots[node.slot + 2]);
  if (data != array->data || node.rank != array->rank) return false;
  if (CanonicalType(array->descriptor->type) != node.type) return false;
  const uint64_t* sizes = slots + node.slot + 3;
  for (int axis = 0; axis < array->rank; ++axis) {
    if (int64_t(sizes[axis]) != array->sizes[axis]) return false;
    const bool counts = array->sizes[axis] > 1;
    if (counts && int64_t(sizes[node.rank + axis]) != array->strides[axis]) return false;
  }
  return true;
}

PyObject* BuildArgumentView(const ResultNode& node, const ArrayArgument& argument,
                            const uint64_t* slots) {
  // What a list argument is seen through is nothing that Python could show.
  const bool is_itself = !node.is_view || argument.original != argument.array;
  if (is_itself && IsWholeArgument(node, argument, slots)) {
    return Ref::Borrow(argument.original).release();
  }
  return BuildViewOf(node, slots, argument.array);
}

PyObject* BuildViewOf(const ResultNode& node, const uint64_t* slots, PyObject* base) {
  const bool is_writable = !IsArray(base) || (FieldsOf(base)->flags & kFlagWritable) != 0;
  Ref view = ViewOf(node, slots, is_writable);
  if (!view) return nullptr;
  return numpy.set_base(view.get(), Ref::Borrow(base).release()) == 0 ? view.release() : nullptr;
}

PyObject* BuildNumberAt(void* address, int type, PyObject* base) {
  Ref number = NewArray(type, 0, nullptr, nullptr, address, false);
  if (!number) return nullptr;
  return numpy.set_base(number.get(), Ref::Borrow(base).release()) == 0 ? number.release()
                                                                        : nullptr;
}

PyObject* BuildResults(const Manifest& manifest, const ArrayArgument* arguments,
                       runtime::Call* call, const uint64_t* slots) {
  const ResultNode& first = manifest.results.front();
  if (first.kind == ResultKind::kNone) return Ref::Borrow(Py_None).release();
  if (first.kind == ResultKind::kArray && IsWholeBuffer(slots + first.slot)) {
    return ArrayOfBuffer(first, call, slots + first.slot);
  }
  return ResultBuilder(manifest, arguments, call, slots).Build().release();
}

}  // namespace parakeet::pylib
