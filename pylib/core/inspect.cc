#include "pylib/core/inspect.h"

#include <new>
#include <string>

#include "pylib/core/compile.h"
#include "pylib/core/describe.h"
#include "pylib/core/dispatch.h"
#include "pylib/core/foreign_array.h"
#include "pylib/core/function.h"
#include "pylib/core/raise.h"

namespace parakeet::pylib {
namespace {

bool SetItem(PyObject* dictionary, const char* name, Ref value) {
  return value && PyDict_SetItemString(dictionary, name, value.get()) == 0;
}

Ref PhasesOf(const Manifest& manifest) {
  Ref phases = Ref::Steal(PyDict_New());
  for (const PhaseTime& phase : manifest.phases) {
    if (!phases) return phases;
    double ms = phase.ms;
    if (PyObject* earlier = PyDict_GetItemString(phases.get(), phase.name.c_str())) {
      ms += PyFloat_AsDouble(earlier);  // a pass that ran several times
    }
    if (!SetItem(phases.get(), phase.name.c_str(), Ref::Steal(PyFloat_FromDouble(ms))))
      return Ref();
  }
  return phases;
}

PyObject* Specializations(PyObject* self, PyObject*) {
  FunctionState* state = StateOf(self);
  Ref list = Ref::Steal(PyList_New(0));
  for (const auto& entry : state->table.all()) {
    Ref record = RecordOf(*entry, entry.get() == state->last);
    if (!record || !list || PyList_Append(list.get(), record.get()) != 0) return nullptr;
  }
  return list.release();
}

// The values that positional arguments in `tuple` and `keywords` bind.
bool BindTuple(const FunctionState& state, PyObject* tuple, PyObject* keywords,
               BoundValues* bound) {
  InlineVector<PyObject*, 16> values;
  const Py_ssize_t positional = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < positional; ++i) values.Append(PyTuple_GetItem(tuple, i));
  Ref names = Ref::Steal(PyTuple_New(PyDict_Size(keywords)));
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t count = 0;
  for (Py_ssize_t at = 0; names && PyDict_Next(keywords, &at, &name, &value); ++count) {
    PyTuple_SetItem(names.get(), count, Ref::Borrow(name).release());
    values.Append(value);
  }
  if (!names) return false;
  if (state.parameters.Bind(values.data(), size_t(positional), names.get(), 0, bound)) return true;
  if (!PyErr_Occurred()) {
    RaiseBindingError(state.function.get(), values.data(), size_t(positional), names.get());
  }
  return false;
}

// _compile(target, args, kwargs): makes the code for such a call.
PyObject* CompileFor(PyObject* self, PyObject* args) {
  int target = 0;
  PyObject *tuple = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(args, "iO!O!", &target, &PyTuple_Type, &tuple, &PyDict_Type, &keywords)) {
    return nullptr;
  }
  BoundValues bound;
  if (!BindTuple(*StateOf(self), tuple, keywords, &bound)) return nullptr;
  Specialization* made = Prepare(StateOf(self), target, bound.values.data());
  return made == nullptr ? nullptr : RecordOf(*made, false).release();
}

// _dump(what, stage, target, args, kwargs): a text for such a call.
PyObject* DumpText(PyObject* self, PyObject* args) {
  const char *what = nullptr, *stage = nullptr;
  int target = 0;
  PyObject *tuple = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(args, "ssiO!O!", &what, &stage, &target, &PyTuple_Type, &tuple,
                        &PyDict_Type, &keywords)) {
    return nullptr;
  }
  BoundValues bound;
  if (!BindTuple(*StateOf(self), tuple, keywords, &bound)) return nullptr;
  return DumpFor(StateOf(self), target, bound.values.data(), what, stage);
}

// _dump_of(number, what, stage): for the specialization of that number. None where there is none.
PyObject* DumpOf(PyObject* self, PyObject* args) {
  long long number = 0;
  const char *what = nullptr, *stage = nullptr;
  if (!PyArg_ParseTuple(args, "Lss", &number, &what, &stage)) return nullptr;
  for (const auto& entry : StateOf(self)->table.all()) {
    if (entry->number != number) continue;
    return DumpSpecialization(StateOf(self), *entry, what, stage);
  }
  return Ref::Borrow(Py_None).release();
}

// _dump_last(what, stage): for the last call. None where there was none.
PyObject* DumpLast(PyObject* self, PyObject* args) {
  const char *what = nullptr, *stage = nullptr;
  if (!PyArg_ParseTuple(args, "ss", &what, &stage)) return nullptr;
  FunctionState* state = StateOf(self);
  if (state->last == nullptr) return Ref::Borrow(Py_None).release();
  return DumpSpecialization(state, *state->last, what, stage);
}

// Forgets everything that was compiled; calls that run now end as they began.
PyObject* ClearTable(PyObject* self, PyObject*) {
  StateOf(self)->last = nullptr;
  StateOf(self)->table.Clear();
  return Ref::Borrow(Py_None).release();
}

// No C++ exception may pass into Python.
template <PyObject* (*function)(PyObject*, PyObject*)>
PyObject* Guarded(PyObject* self, PyObject* args) {
  try {
    return function(self, args);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const ForeignArgument& refused) {
    // What is on a device has been borrowed before (parakeet.inspection).
    const FunctionState* state = StateOf(self);
    RaiseRefusal(state->function.get(), refused.parameter, refused.value.get());
    return nullptr;
  }
}

PyMethodDef methods[] = {
    {"_specializations", Guarded<Specializations>, METH_NOARGS, nullptr},
    {"_compile", Guarded<CompileFor>, METH_VARARGS, nullptr},
    {"_dump", Guarded<DumpText>, METH_VARARGS, nullptr},
    {"_dump_of", Guarded<DumpOf>, METH_VARARGS, nullptr},
    {"_dump_last", Guarded<DumpLast>, METH_VARARGS, nullptr},
    {"_clear", Guarded<ClearTable>, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

Ref RecordOf(const Specialization& entry, bool is_last) {
  Ref record = Ref::Steal(PyDict_New());
  if (!record) return record;
  const bool ok =
      SetItem(record.get(), "signature", Ref::Steal(Describe(entry.key, entry.statics))) &&
      SetItem(record.get(), "target", Ref::Steal(PyLong_FromLong(long(TargetOf(entry.key[0]))))) &&
      SetItem(record.get(), "compile_ms", Ref::Steal(PyFloat_FromDouble(entry.compile_ms))) &&
      SetItem(record.get(), "arguments", Ref::Steal(DescribeEach(entry.key, entry.statics))) &&
      SetItem(record.get(), "number", Ref::Steal(PyLong_FromLongLong(entry.number))) &&
      SetItem(record.get(), "is_profiled", Ref::Steal(PyBool_FromLong(IsProfiled(entry.key[0])))) &&
      SetItem(record.get(), "from_disk", Ref::Steal(PyBool_FromLong(entry.is_from_disk))) &&
      SetItem(record.get(), "phases", PhasesOf(entry.manifest)) &&
      SetItem(record.get(), "calls", Ref::Steal(PyLong_FromLongLong(entry.calls))) &&
      SetItem(record.get(), "timed_calls", Ref::Steal(PyLong_FromLongLong(entry.timed_calls))) &&
      SetItem(record.get(), "run_ns", Ref::Steal(PyLong_FromLongLong(entry.run_ns))) &&
      SetItem(record.get(), "is_last", Ref::Steal(PyBool_FromLong(is_last)));
  return ok ? std::move(record) : Ref();
}

PyMethodDef* InspectionMethods() { return methods; }

}  // namespace parakeet::pylib
