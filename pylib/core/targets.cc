#include "pylib/core/targets.h"

#include <utility>

#include "pylib/core/beyond_limited_api.h"

namespace parakeet::pylib {

std::atomic<int> default_target = int(Target::kParallel);
std::atomic<int> open_target_blocks = 0;

namespace {

std::atomic<bool> uses_libnvvm = false;

// A contextvars.ContextVar, owned; null until parakeet.targets is imported.
PyObject* innermost = nullptr;

// By parakeet.targets; -1 with an exception set.
int AskNumberOf(PyObject* name) {
  Ref module = Ref::Steal(PyImport_ImportModule("parakeet.targets"));
  Ref function = module ? Ref::Steal(PyObject_GetAttrString(module.get(), "number_of")) : Ref();
  if (!function) return -1;
  Ref number = Ref::Steal(PyObject_CallFunctionObjArgs(function.get(), name, nullptr));
  return number ? int(PyLong_AsLong(number.get())) : -1;
}

// What the innermost block of this context says, or kNoTarget; -1 with an exception set.
int TargetInContext() {
  PyObject* number = nullptr;
  if (innermost == nullptr) return kNoTarget;
  if (PyContextVar_Get(innermost, nullptr, &number) != 0) return -1;
  if (number == nullptr) return kNoTarget;
  const int target = int(PyLong_AsLong(number));
  Py_DECREF(number);
  return target;
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
  const int target = AskNumberOf(name);
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
    const int target = TargetInContext();
    if (target != kNoTarget) return target;
  }
  return decorated >= 0 ? decorated : kNoTarget;
}

void SetDefaultTarget(int target) { default_target.store(target, std::memory_order_relaxed); }
int DefaultTarget() { return default_target.load(std::memory_order_relaxed); }
void SetUsesLibNvvm(bool value) { uses_libnvvm.store(value, std::memory_order_relaxed); }
bool UsesLibNvvm() { return uses_libnvvm.load(std::memory_order_relaxed); }
void SetTargetVariable(PyObject* variable) {
  Ref::Steal(std::exchange(innermost, Ref::Borrow(variable).release()));
}
void CountTargetBlocks(int change) {
  open_target_blocks.fetch_add(change, std::memory_order_relaxed);
}

}  // namespace parakeet::pylib
