#include "pylib/core/targets.h"

#include <atomic>

namespace parakeet::pylib {
namespace {

std::atomic<int> default_target = int(Target::kParallel);
std::atomic<int> open_blocks = 0;

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
  PyObject* number = PyUnicode_CheckExact(name) ? PyDict_GetItemWithError(known, name) : nullptr;
  if (number != nullptr) return int(PyLong_AsLong(number));
  const int target = Ask("number_of", name);
  if (target < 0) return -1;
  Ref value = Ref::Steal(PyLong_FromLong(target));
  if (PyUnicode_CheckExact(name) && value) PyDict_SetItem(known, name, value.get());
  return PyErr_Occurred() ? -1 : target;
}

int ChooseTarget(PyObject* keyword, int decorated) {
  if (keyword != nullptr && keyword != Py_None) return TargetNamed(keyword);
  if (open_blocks.load(std::memory_order_relaxed) > 0) {
    // A number, or what says that no block is open in this context.
    const int target = Ask("number_in_context", nullptr);
    if (target < 0 || target <= int(Target::kPython)) return target;
  }
  return decorated >= 0 ? decorated : DefaultTarget();
}

void SetDefaultTarget(int target) { default_target.store(target, std::memory_order_relaxed); }
int DefaultTarget() { return default_target.load(std::memory_order_relaxed); }
void CountTargetBlocks(int change) { open_blocks.fetch_add(change, std::memory_order_relaxed); }

}  // namespace parakeet::pylib
