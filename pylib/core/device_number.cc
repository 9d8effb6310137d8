#include "pylib/core/device_number.h"

#include <string>

#include "pylib/core/device_array.h"
#include "pylib/core/device_dispatch.h"
#include "pylib/core/numpy_access.h"
#include "pylib/core/raise.h"
#include "pylib/core/without_gil.h"

namespace parakeet::pylib {
namespace {

// Of any type that compiled code takes.
constexpr int kMostBytes = 16;

int TypeOf(PyObject* device_array) {
  return CanonicalType(FieldsOf(AddressesOf(device_array))->descriptor->type);
}

// False with an exception set.
bool CopyDown(PyObject* device_array, void* value, int bytes) {
  runtime::Device* device = OpenDeviceOf(NumberOf(device_array));
  if (device == nullptr) return false;
  const void* address = FieldsOf(AddressesOf(device_array))->data;
  auto* stream = reinterpret_cast<void*>(StreamOf(device_array));
  int32_t code = 0;
  std::string text;
  {
    const WithoutGil others_run;
    if (StreamOf(device_array) > 0) code = device->WaitForStream(stream);
    if (code == 0) code = device->CopyDown(value, address, bytes);
    if (code != 0) text = runtime::DeviceErrorText(code);
  }
  if (code != 0) RaiseDeviceError(text);
  return code == 0;
}

}  // namespace

bool IsTakenThere(PyObject* device_number, int number) {
  const int type = TypeOf(device_number);
  const bool is_inexact = type >= kFloat32;  // kFloat16 is the last
  return is_inexact && NumberOf(device_number) == number;
}

Ref ItemOf(PyObject* device_array) {
  if (PyObject* item = KeptItem(device_array)) return Ref::Borrow(item);
  const int type = TypeOf(device_array);
  alignas(16) char value[kMostBytes];
  uint64_t slots[2];
  if (!CopyDown(device_array, value, SizeOfType(type))) return Ref();
  ScalarToSlots(type, value, slots);
  Ref item = Ref::Steal(MakeScalar(type, slots));
  if (item) KeepItem(device_array, item.get());
  return item;
}

PyObject* DeviceItem(PyObject*, PyObject* device_array) {
  const bool is_one = IsDeviceArray(device_array) && FieldsOf(AddressesOf(device_array))->rank == 0;
  if (is_one) return ItemOf(device_array).release();
  PyErr_SetString(PyExc_TypeError, "device_item() takes a device array without axes");
  return nullptr;
}

}  // namespace parakeet::pylib
