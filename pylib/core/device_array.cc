#include "pylib/core/device_array.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>

#include "pylib/core/device_dispatch.h"
#include "pylib/core/device_lines.h"
#include "pylib/core/numpy_access.h"
#include "pylib/core/raise.h"
#include "pylib/core/without_gil.h"

namespace parakeet::pylib {

PyTypeObject* device_array_type = nullptr;
bool had_device_arrays = false;

namespace {

struct DeviceArrayObject {
  PyObject head;
  PyObject* addresses;
  PyObject* weak_references;
  PyObject* lender;
  PyObject* item;
  long long stream;
  int number;
  char is_number;
};

DeviceArrayObject* Of(PyObject* object) { return reinterpret_cast<DeviceArrayObject*>(object); }

PyObject* New(PyTypeObject*, PyObject* args, PyObject*) {
  PyObject *addresses = nullptr, *lender = nullptr;
  int number = 0;
  long long stream = kOurStreams;
  if (!PyArg_ParseTuple(args, "O!i|LO:DeviceArray", numpy.array_type, &addresses, &number, &stream,
                        &lender)) {
    return nullptr;
  }
  return MakeDeviceArray(addresses, number, stream, lender == Py_None ? nullptr : lender);
}

void Free(PyObject* self) {
  if (Of(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Py_XDECREF(Of(self)->addresses);
  Py_XDECREF(Of(self)->lender);
  Py_XDECREF(Of(self)->item);
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
  PyObject_Free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DeviceArrayObject, weak_references), READONLY,
     nullptr},
    {"_addresses", T_OBJECT_EX, offsetof(DeviceArrayObject, addresses), READONLY, nullptr},
    {"_number", T_INT, offsetof(DeviceArrayObject, number), READONLY, nullptr},
    {"_is_number", T_BOOL, offsetof(DeviceArrayObject, is_number), READONLY, nullptr},
    {"_stream", T_LONGLONG, offsetof(DeviceArrayObject, stream), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

template <typename F>
void* Slot(F* function) {
  return reinterpret_cast<void*>(function);
}

constexpr char kOwnerName[] = "parakeet.device_memory";

// The type number that NumPy's interface writes as a byte order, a letter and a number of bytes; -1
// for others.
int TypeWritten(const char* text) {
  const int bytes = std::atoi(text[0] != 0 && text[1] != 0 ? text + 2 : "");
  if (text[0] == '>') return -1;
  const auto among = [&](std::initializer_list<int> types) {
    const auto found = std::find_if(types.begin(), types.end(),
                                    [&](int type) { return SizeOfType(type) == bytes; });
    return found == types.end() ? -1 : *found;
  };
  switch (text[1]) {
    case 'b': return among({kBool});
    case 'i': return among({kInt8, kInt16, kInt32, kInt64});
    case 'u': return among({kUint8, kUint16, kUint32, kUint64});
    case 'f': return among({kFloat16, kFloat32, kFloat64});
    case 'c': return among({kComplex64, kComplex128});
    default: return -1;
  }
}

// Integers of a tuple, at most kMaxRank; -1 with an exception set.
int ReadIntegers(PyObject* tuple, Py_ssize_t* integers) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count && count <= kMaxRank; ++i) {
    integers[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
  }
  if (count > kMaxRank) PyErr_SetString(PyExc_ValueError, "an array of more than 32 dimensions");
  return PyErr_Occurred() ? -1 : int(count);
}

// What an owner knows of its buffer.
struct Owned {
  runtime::Device* device;
  int64_t bytes;
  DeviceLine* line;
};

// Lists may hold themselves; deeper ones than this are no arguments.
constexpr int kDeepestContainer = 50;

PyObject* FindWithin(PyObject* value, int depth) {
  if (IsDeviceArray(value)) return IsDeviceNumber(value) ? nullptr : value;
  const bool is_list = PyList_Check(value);
  if ((!is_list && !PyTuple_Check(value)) || depth == kDeepestContainer) return nullptr;
  const Py_ssize_t length = is_list ? PyList_Size(value) : PyTuple_Size(value);
  for (Py_ssize_t k = 0; k < length; ++k) {
    PyObject* item = is_list ? PyList_GetItem(value, k) : PyTuple_GetItem(value, k);
    if (PyObject* found = FindWithin(item, depth + 1)) return found;
  }
  return nullptr;
}

void FreeOwned(PyObject* capsule) {
  const std::unique_ptr<Owned> owned(static_cast<Owned*>(PyCapsule_GetContext(capsule)));
  owned->device->Free(PyCapsule_GetPointer(capsule, kOwnerName));
  UncountBuffer(owned->line, owned->bytes);
}

}  // namespace

bool AddDeviceArrayType(PyObject* module) {
  static PyType_Slot slots[] = {
      {Py_tp_new, Slot(New)},
      {Py_tp_dealloc, Slot(Free)},
      {Py_tp_members, members},
      {0, nullptr},
  };
  static PyType_Spec spec = {"parakeet.DeviceArray", sizeof(DeviceArrayObject), 0,
                             unsigned(Py_TPFLAGS_DEFAULT), slots};
  PyObject* type = PyType_FromSpec(&spec);
  device_array_type = reinterpret_cast<PyTypeObject*>(type);
  return type != nullptr && PyModule_AddObjectRef(module, "DeviceArray", type) == 0;
}

PyObject* AddressesOf(PyObject* device_array) { return Of(device_array)->addresses; }
int NumberOf(PyObject* device_array) { return Of(device_array)->number; }
int64_t StreamOf(PyObject* device_array) { return Of(device_array)->stream; }
PyObject* LenderOf(PyObject* device_array) { return Of(device_array)->lender; }

bool IsDeviceNumber(PyObject* object) {
  return IsDeviceArray(object) && Of(object)->is_number != 0;
}

PyObject* KeptItem(PyObject* device_array) { return Of(device_array)->item; }

void KeepItem(PyObject* device_array, PyObject* item) {
  if (Of(device_array)->is_number == 0 || Of(device_array)->item != nullptr) return;
  Of(device_array)->item = Ref::Borrow(item).release();
}

PyObject* MakeDeviceArray(PyObject* addresses, int number, int64_t stream, PyObject* lender) {
  PyObject* made = PyType_GenericAlloc(device_array_type, 0);
  if (made == nullptr) return nullptr;
  Of(made)->addresses = Ref::Borrow(addresses).release();
  Of(made)->number = number;
  Of(made)->stream = stream;
  Of(made)->lender = Ref::Borrow(lender).release();
  had_device_arrays = true;
  return made;
}

PyObject* MakeDeviceNumber(PyObject* addresses, int number) {
  PyObject* made = MakeDeviceArray(addresses, number);
  if (made != nullptr) Of(made)->is_number = 1;
  return made;
}

PyObject* OwnOnDevice(runtime::Device* device, void* buffer, int64_t bytes) {
  auto owned = std::make_unique<Owned>(Owned{device, bytes, nullptr});
  Ref owner = Ref::Steal(PyCapsule_New(buffer, kOwnerName, nullptr));
  if (!owner || PyCapsule_SetContext(owner.get(), owned.get()) != 0 ||
      PyCapsule_SetDestructor(owner.get(), FreeOwned) != 0) {
    device->Free(buffer);
    return nullptr;
  }
  owned.release()->line = CountBuffer(device, bytes);
  return owner.release();
}

PyObject* FindDeviceArray(PyObject* const* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (PyObject* found = FindWithin(values[i], 0)) return found;
  }
  return nullptr;
}

PyObject* DeviceAllocate(PyObject*, PyObject* args) {
  int number = 0;
  long long bytes = 0;
  if (!PyArg_ParseTuple(args, "iL", &number, &bytes)) return nullptr;
  runtime::Device* device = OpenDeviceOf(number);
  if (device == nullptr) return nullptr;
  void* buffer = device->Allocate(bytes);
  if (buffer == nullptr) {
    RaiseDeviceMemory(device, bytes, device->Counters().live_bytes);
    return nullptr;
  }
  Ref owner = Ref::Steal(OwnOnDevice(device, buffer, bytes));
  if (!owner) return nullptr;
  return Py_BuildValue("(OK)", owner.get(), (unsigned long long)reinterpret_cast<uint64_t>(buffer));
}

PyObject* ArrayAt(PyObject*, PyObject* args) {
  PyObject *owner = nullptr, *shape = nullptr, *steps = nullptr;
  unsigned long long address = 0;
  const char* text = nullptr;
  int is_read_only = 0;
  if (!PyArg_ParseTuple(args, "OKO!sOp", &owner, &address, &PyTuple_Type, &shape, &text, &steps,
                        &is_read_only)) {
    return nullptr;
  }
  const int type = TypeWritten(text);
  if (type < 0) {
    PyErr_Format(PyExc_TypeError, "an array of elements '%s' cannot be on a device", text);
    return nullptr;
  }
  Py_ssize_t sizes[kMaxRank], strides[kMaxRank];
  const int rank = ReadIntegers(shape, sizes);
  if (rank < 0) return nullptr;
  const bool has_strides = PyTuple_Check(steps);
  if (has_strides && ReadIntegers(steps, strides) != rank) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "strides of another rank");
    return nullptr;
  }
  // NumPy would allocate for a null address, which is that of no elements.
  if (address == 0) address = uint64_t(SizeOfType(type));
  Ref array = Ref::Steal(numpy.new_from_descr(
      numpy.array_type, Ref::Borrow(numpy.descriptors[type]).release(), rank, sizes,
      has_strides ? strides : nullptr, reinterpret_cast<void*>(uintptr_t(address)),
      is_read_only ? 0 : kFlagWritable, nullptr));
  if (!array || numpy.set_base(array.get(), Ref::Borrow(owner).release()) != 0) return nullptr;
  return array.release();
}

PyObject* DeviceStream(PyObject*, PyObject* number) {
  const long target = PyLong_AsLong(number);
  if (target == -1 && PyErr_Occurred()) return nullptr;
  runtime::Device* device = OpenDeviceOf(int(target));
  return device == nullptr ? nullptr : PyLong_FromVoidPtr(device->Stream());
}

PyObject* DeviceDuring(PyObject*, PyObject* args) {
  int number = 0;
  PyObject* function = nullptr;
  if (!PyArg_ParseTuple(args, "iO", &number, &function)) return nullptr;
  runtime::Device* device = OpenDeviceOf(number);
  if (device == nullptr) return nullptr;
  void* before = device->Enter();
  PyObject* result = PyObject_CallNoArgs(function);
  device->Leave(before);
  return result;
}

PyObject* DeviceWait(PyObject*, PyObject* number) {
  const long target = PyLong_AsLong(number);
  if (target == -1 && PyErr_Occurred()) return nullptr;
  runtime::Device* device = OpenDeviceOf(int(target));
  if (device == nullptr) return nullptr;
  int32_t code = 0;
  std::string text;
  {
    const WithoutGil others_run;
    code = device->Wait();
    if (code != 0) text = runtime::DeviceErrorText(code);
  }
  if (code == 0) return Ref::Borrow(Py_None).release();
  RaiseDeviceError(text);
  return nullptr;
}

PyObject* DeviceOfAddress(PyObject*, PyObject* address) {
  const unsigned long long word = PyLong_AsUnsignedLongLong(address);
  if (PyErr_Occurred()) return nullptr;
  int number = 0;
  const auto* memory = reinterpret_cast<const void*>(word);
  if (runtime::FindDevice(runtime::DeviceKind::kEmulated, memory, &number)) {
    return PyLong_FromLong(NumberOfDevice(runtime::DeviceKind::kEmulated, number));
  }
  if (runtime::FindDevice(runtime::DeviceKind::kCuda, memory, &number)) {
    return PyLong_FromLong(NumberOfDevice(runtime::DeviceKind::kCuda, number));
  }
  return Ref::Borrow(Py_None).release();
}

PyObject* DeviceOrder(PyObject*, PyObject* args) {
  int number = 0, is_ours_first = 0;
  unsigned long long stream = 0;
  if (!PyArg_ParseTuple(args, "ipK", &number, &is_ours_first, &stream)) return nullptr;
  runtime::Device* device = OpenDeviceOf(number);
  if (device == nullptr) return nullptr;
  auto* other = reinterpret_cast<void*>(stream);
  const int32_t code = is_ours_first ? device->MakeStreamWait(other) : device->WaitForStream(other);
  if (code == 0) return Ref::Borrow(Py_None).release();
  RaiseDeviceError(runtime::DeviceErrorText(code));
  return nullptr;
}

PyObject* DeviceCopy(PyObject*, PyObject* args) {
  int number = 0, is_up = 0;
  unsigned long long on_device = 0, on_host = 0;
  long long bytes = 0;
  if (!PyArg_ParseTuple(args, "ipKKL", &number, &is_up, &on_device, &on_host, &bytes)) {
    return nullptr;
  }
  runtime::Device* device = OpenDeviceOf(number);
  if (device == nullptr) return nullptr;
  auto *there = reinterpret_cast<void*>(on_device), *here = reinterpret_cast<void*>(on_host);
  int32_t code = 0;
  std::string text;
  {
    const WithoutGil others_run;
    code = is_up ? device->CopyUp(there, here, bytes) : device->CopyDown(here, there, bytes);
    if (code == 0 && is_up) code = device->Share();
    if (code != 0) text = runtime::DeviceErrorText(code);
  }
  if (code == 0) return Ref::Borrow(Py_None).release();
  RaiseDeviceError(text);
  return nullptr;
}

}  // namespace parakeet::pylib
