#include "pylib/core/targets.h"

#include <utility>

namespace parakeet::pylib {

std::atomic<int> default_target = int(Target::kParallel);
std::atomic<int> open_target_blocks = 0;

namespace {

std::atomic<bool> uses_libnvvm = false;

// Calls parakeet.targets.<name>, which gives a number; -1 with an exception set.
int Ask(const char* name, PyObject* argument) {
  Ref module = Ref::Steal(PyImport_ImportModule("parakeet.targets"));
  Ref function = module ? Ref::Steal(PyObject_GetAttrString(module.get(), name)) : Ref();
  if (!function) return -1;
  Ref number = Ref::Steal(PyObject_CallFunctionObjArgs(function.get(), argument, nullptr));
  return number ? int(PyLong_AsLong(number.get())) : -1;
}

}  // namespace

int TargetNamed(PyObject* name) {
  // Filled by use; a name's number never changes.
  static PyObject* const known = PyDict_New();
  // The name that was asked for last, owned: calls in a loop pass the same object.
  static PyObject* last_name = nullptr;
  static int last_number = -1;
  if (name == last_name) return last_number;
  PyObject* number = PyUnicode_CheckExact(name) ? PyDict_GetItemWithError(known, name) : nullptr;
  if (number != nullptr) {
    last_number = int(PyLong_AsLong(number));
    Ref::Steal(std::exchange(last_name, Ref::Borrow(name).release()));
    return last_number;
  }
  const int target = Ask("number_of", name);
  if (target < 0) return -1;
  Ref value = Ref::Steal(PyLong_FromLong(target));
  if (PyUnicode_CheckExact(name) && value) PyDict_SetItem(known, name, value.get());
  return PyErr_Occurred() ? -1 : target;
}

int ChooseTargetAmong(PyObject* keyword, int decorated) {
  if (keyword != nullptr && keyword != Py_None) return TargetNamed(keyword);
  const int given = GivenTarget(decorated);
  return given != kNoTarget ? given : DefaultTarget();
}

int GivenTarget(int decorated) {
  if (open_target_blocks.load(std::memory_order_relaxed) > 0) {
    const int target = Ask("number_in_context", nullptr);
    if (target != kNoTarget) return target;
  }
  return decorated >= 0 ? decorated : kNoTarget;
}

void SetDefaultTarget(int target) { default_target.store(target, std::memory_order_relaxed); }
int DefaultTarget() { return default_target.load(std::memory_order_relaxed); }
void SetUsesLibNvvm(bool value) { uses_libnvvm.store(value, std::memory_order_relaxed); }
bool UsesLibNvvm() { return uses_libnvvm.load(std::memory_order_relaxed); }
void CountTargetBlocks(int change) {
  open_target_blocks.fetch_add(change, std::memory_order_relaxed);
}

}  // namespace parakeet::pylib
