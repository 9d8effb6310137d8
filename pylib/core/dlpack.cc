#include "pylib/core/dlpack.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pylib/core/device_array.h"
#include "pylib/core/numpy_access.h"
#include "pylib/key.h"

namespace parakeet::pylib {
namespace {

// The structs of dlpack.h, version 0.8, whose layout every later one keeps for such capsules.
struct DlDevice {
  int32_t type;
  int32_t number;
};
struct DlType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  int32_t rank;
  DlType type;
  int64_t* shape;
  int64_t* strides;  // in elements; null: in C order
  uint64_t offset;   // bytes
};
struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};

// That of version 1.
struct DlManagedVersioned {
  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(DlManagedVersioned*);
  uint64_t flags;
  DlTensor tensor;
};
constexpr uint64_t kReadOnly = 1, kIsCopy = 2;
constexpr uint32_t kKnownMajor = 1;

enum DlDeviceType : int32_t { kDlCpu = 1, kDlCuda = 2 };
// A letter of NumPy's for each code.
constexpr char kLetters[] = {'i', 'u', 'f', 0, 0, 'c', 'b'};

constexpr char kFresh[] = "dltensor";
constexpr char kUsed[] = "used_dltensor";
constexpr char kFreshVersioned[] = "dltensor_versioned";
constexpr char kUsedVersioned[] = "used_dltensor_versioned";

// What a tensor of ours stands on: one of the two.
struct Exported {
  DlManaged managed = {};
  DlManagedVersioned versioned = {};
  std::vector<int64_t> shape, strides;
  PyObject* array = nullptr;
};

// Called by whoever has the tensor, on any thread.
template <typename Managed>
void FreeExported(Managed* managed) {
  auto* exported = static_cast<Exported*>(managed->context);
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(exported->array);
  PyGILState_Release(state);
  delete exported;
}

// Of a capsule that nobody has taken over.
template <typename Managed>
void FreeFresh(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  if (std::strncmp(name, "used", 4) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <typename Managed>
void FreeImported(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

// A tensor of another library, and the names of its capsule before and after it is taken over.
struct Imported {
  const DlTensor* tensor;
  bool is_read_only;
  void* managed;
  const char* used_name;
  PyCapsule_Destructor destructor;
};

// False with an exception set.
bool Open(PyObject* capsule, Imported* imported) {
  if (!PyCapsule_IsValid(capsule, kFreshVersioned)) {
    auto* managed = static_cast<DlManaged*>(PyCapsule_GetPointer(capsule, kFresh));
    if (managed == nullptr) return false;
    *imported = {&managed->tensor, false, managed, kUsed, FreeImported<DlManaged>};
    return true;
  }
  auto* managed = static_cast<DlManagedVersioned*>(PyCapsule_GetPointer(capsule, kFreshVersioned));
  if (managed->major > kKnownMajor) {
    PyErr_Format(PyExc_BufferError, "DLPack's version %u is not known here", managed->major);
    return false;
  }
  *imported = {&managed->tensor, (managed->flags & kReadOnly) != 0, managed, kUsedVersioned,
               FreeImported<DlManagedVersioned>};
  return true;
}

DlType TypeOf(int type) {
  const auto bits = uint8_t(8 * SizeOfType(type));
  switch (type) {
    case kBool: return {6, 8, 1};
    case kInt8:
    case kInt16:
    case kInt32:
    case kInt64: return {0, bits, 1};
    case kUint8:
    case kUint16:
    case kUint32:
    case kUint64: return {1, bits, 1};
    case kComplex64:
    case kComplex128: return {5, bits, 1};
    default: return {2, bits, 1};
  }
}

void Describe(const ArrayFields* fields, int number, Exported* exported, DlTensor* described) {
  const int type = CanonicalType(fields->descriptor->type);
  for (int axis = 0; axis < fields->rank; ++axis) {
    exported->shape.push_back(fields->sizes[axis]);
    exported->strides.push_back(fields->strides[axis] / SizeOfType(type));
  }
  const bool is_gpu = TargetOfNumber(number) == Target::kGpu;
  DlTensor& tensor = *described;
  tensor.data = fields->data;
  tensor.device = {is_gpu ? kDlCuda : kDlCpu, DeviceOfNumber(number)};
  tensor.rank = fields->rank;
  tensor.type = TypeOf(type);
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
}

Ref TupleOfNumbers(int32_t count, const int64_t* numbers) {
  Ref tuple = Ref::Steal(PyTuple_New(count));
  for (int32_t i = 0; tuple && i < count; ++i) {
    PyTuple_SetItem(tuple.get(), i, PyLong_FromLongLong(numbers[i]));
  }
  return tuple;
}

std::vector<int64_t> StridesOf(const DlTensor& tensor) {
  std::vector<int64_t> strides(tensor.rank);
  int64_t step = tensor.type.bits / 8;
  for (int32_t axis = tensor.rank; axis-- > 0;) {
    const int64_t own = tensor.type.bits / 8;
    strides[axis] = tensor.strides != nullptr ? tensor.strides[axis] * own : step;
    step *= tensor.shape[axis];
  }
  return strides;
}

}  // namespace

PyObject* ExportDlpack(PyObject*, PyObject* args) {
  PyObject* array = nullptr;
  int is_versioned = 0, is_copy = 0;
  if (!PyArg_ParseTuple(args, "O!pp", device_array_type, &array, &is_versioned, &is_copy))
    return nullptr;
  auto exported = std::make_unique<Exported>();
  const ArrayFields* fields = FieldsOf(AddressesOf(array));
  DlManaged& managed = exported->managed;
  DlManagedVersioned& versioned = exported->versioned;
  Describe(fields, NumberOf(array), exported.get(),
           is_versioned ? &versioned.tensor : &managed.tensor);
  managed.context = versioned.context = exported.get();
  managed.deleter = FreeExported<DlManaged>;
  versioned.deleter = FreeExported<DlManagedVersioned>;
  versioned.major = kKnownMajor;
  versioned.flags = (fields->flags & kFlagWritable) != 0 ? 0 : kReadOnly;
  if (is_copy) versioned.flags |= kIsCopy;
  PyObject* capsule =
      is_versioned ? PyCapsule_New(&versioned, kFreshVersioned, FreeFresh<DlManagedVersioned>)
                   : PyCapsule_New(&managed, kFresh, FreeFresh<DlManaged>);
  if (capsule == nullptr) return nullptr;
  exported->array = Ref::Borrow(array).release();
  exported.release();
  return capsule;
}

PyObject* ImportDlpack(PyObject*, PyObject* capsule) {
  Imported imported;
  if (!Open(capsule, &imported)) return nullptr;
  const DlTensor& tensor = *imported.tensor;
  const bool is_known = tensor.type.code < sizeof kLetters && kLetters[tensor.type.code] != 0;
  if (!is_known || tensor.type.lanes != 1 || tensor.type.bits % 8 != 0) {
    PyErr_Format(PyExc_BufferError, "NumPy has no type for DLPack's code %d of %d bits",
                 int(tensor.type.code), int(tensor.type.bits));
    return nullptr;
  }
  Ref shape = TupleOfNumbers(tensor.rank, tensor.shape);
  Ref strides = TupleOfNumbers(tensor.rank, StridesOf(tensor).data());
  const std::string text =
      std::string("=") + kLetters[tensor.type.code] + std::to_string(tensor.type.bits / 8);
  const uint64_t address = reinterpret_cast<uint64_t>(tensor.data) + tensor.offset;
  Ref owner = Ref::Steal(PyCapsule_New(imported.managed, imported.used_name, nullptr));
  if (!shape || !strides || !owner) return nullptr;
  Ref parts = Ref::Steal(Py_BuildValue("(OiiKOOsN)", owner.get(), int(tensor.device.type),
                                       int(tensor.device.number), (unsigned long long)address,
                                       shape.get(), strides.get(), text.c_str(),
                                       PyBool_FromLong(imported.is_read_only)));
  if (!parts || PyCapsule_SetName(capsule, imported.used_name) != 0) return nullptr;
  PyCapsule_SetDestructor(capsule, nullptr);
  PyCapsule_SetDestructor(owner.get(), imported.destructor);
  return parts.release();
}

}  // namespace parakeet::pylib
