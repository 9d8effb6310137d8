#include "pylib/core/function.h"

#include <structmember.h>

#include <cstddef>
#include <new>

#include "pylib/core/device_array.h"
#include "pylib/core/dispatch.h"
#include "pylib/core/foreign_array.h"
#include "pylib/core/inspect.h"
#include "pylib/core/number_calls.h"
#include "pylib/core/raise.h"
#include "pylib/core/targets.h"

namespace parakeet::pylib {
namespace {

using Vectorcall = PyObject* (*)(PyObject*, PyObject* const*, size_t, PyObject*);

struct FunctionObject {
  PyObject head;
  Vectorcall vectorcall;
  PyObject* dictionary;
  PyObject* weak_references;
  FunctionState* state;
};

// Parts of vectorcall that 3.11's limited API lacks; their values are the same in every later
// version (PEP 590).
constexpr unsigned long kHasVectorcall = 1UL << 11;
constexpr unsigned long kMethodDescriptor = 1UL << 17;
constexpr size_t kArgumentsOffset = size_t{1} << (8 * sizeof(size_t) - 1);

PyObject* type_object = nullptr;
PyObject* method_type = nullptr;
PyObject* target_word = nullptr;
PyObject* backend_word = nullptr;

FunctionObject* Of(PyObject* object) { return reinterpret_cast<FunctionObject*>(object); }

// The keywords of a call that are ours, not the function's.
struct OwnKeywords {
  PyObject* target = nullptr;
  uint64_t places = 0;
  bool are_all = false;  // the call has keywords, and no other
};

bool IsWord(PyObject* name, PyObject* word) {
  return name == word || PyUnicode_Compare(name, word) == 0;
}

OwnKeywords TakeKeywords(const FunctionState& state, PyObject* names, PyObject* const* values) {
  OwnKeywords own;
  if (names == nullptr || state.owns_target_keyword) return own;
  const Py_ssize_t count = PyTuple_Size(names);
  Py_ssize_t found = 0;
  for (Py_ssize_t i = 0; i < count && i < 64; ++i) {
    PyObject* name = PyTuple_GetItem(names, i);
    if (!IsWord(name, target_word) && !IsWord(name, backend_word)) continue;
    own.target = values[i];
    own.places |= uint64_t{1} << i;
    ++found;
  }
  own.are_all = found == count;
  return own;
}

// target="python": the function as it was written, on arrays of the host.
PyObject* CallPlain(const FunctionState& state, PyObject* const* args, size_t positional,
                    PyObject* names, uint64_t skipped) {
  Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(positional)));
  Ref keywords = Ref::Steal(PyDict_New());
  if (!tuple || !keywords) return nullptr;
  for (size_t i = 0; i < positional; ++i) {
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), Ref::Borrow(args[i]).release());
  }
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i < 64 && (skipped >> i & 1) != 0) continue;
    PyObject* value = args[positional + i];
    if (PyDict_SetItem(keywords.get(), PyTuple_GetItem(names, i), value) != 0) return nullptr;
  }
  const size_t count_of_all = positional + size_t(count);
  if (!had_device_arrays || FindDeviceArray(args, count_of_all) == nullptr) {
    return PyObject_Call(state.function.get(), tuple.get(), keywords.get());
  }
  Ref module = Ref::Steal(PyImport_ImportModule("parakeet.host_copies"));
  if (!module) return nullptr;
  return PyObject_CallMethod(module.get(), "call_plain", "(OOO)", state.function.get(), tuple.get(),
                             keywords.get());
}

// The values of the parameters of a call, bound where it is not direct; null with an exception set.
[[gnu::always_inline]] inline PyObject* const* Bind(const FunctionState& state,
                                                    PyObject* const* args, size_t positional,
                                                    PyObject* names, const OwnKeywords& own,
                                                    BoundValues* bound) {
  const bool has_keywords = names != nullptr && !own.are_all;
  if (!has_keywords && state.parameters.IsDirect(positional)) return args;
  if (state.parameters.Bind(args, positional, names, own.places, bound)) {
    return bound->values.data();
  }
  if (!PyErr_Occurred()) {
    RaiseBindingError(state.function.get(), args, positional, names, own.places);
  }
  return nullptr;
}

// A call that plain Python or a device runs, and any once there have been device arrays.
[[gnu::noinline]] PyObject* CallElsewhere(FunctionState* state, int target, const OwnKeywords& own,
                                          PyObject* const* args, size_t positional,
                                          PyObject* names) {
  if (target < 0) return nullptr;
  if (Target(target) == Target::kPython) {
    return CallPlain(*state, args, positional, names, own.places);
  }
  BoundValues bound;
  PyObject* const* values = Bind(*state, args, positional, names, own, &bound);
  if (values == nullptr) return nullptr;
  const bool is_said = own.target != nullptr && own.target != Py_None;
  if (HasForeignArray(values, state->parameters.size())) {
    const int given = is_said ? target : GivenTarget(state->target);
    return given == -1 ? nullptr : DispatchForeign(state, given, values);
  }
  if (HasDevice(TargetOfNumber(target))) return DispatchOnDevice(state, target, values);
  if (is_said && FindDeviceArray(values, state->parameters.size()) != nullptr) {
    return DispatchOnHost(state, Target(target), values);
  }
  return Dispatch(state, Target(target), values);
}

// Apart from CallFast, which needs a frame of its own for nothing else.
[[gnu::noinline]] PyObject* CallWith(FunctionState* state, PyObject* const* args, size_t positional,
                                     PyObject* names) {
  const OwnKeywords own = TakeKeywords(*state, names, args + positional);
  const int target = ChooseTarget(own.target, state->target);
  if (unsigned(target) >= unsigned(Target::kPython) || had_device_arrays) {
    return CallElsewhere(state, target, own, args, positional, names);
  }
  const bool has_keywords = names != nullptr && !own.are_all;
  if (!has_keywords && state->parameters.IsDirect(positional)) {
    return Dispatch(state, Target(target), args);
  }
  BoundValues bound;
  PyObject* const* values = Bind(*state, args, positional, names, own, &bound);
  return values == nullptr ? nullptr : Dispatch(state, Target(target), values);
}

// A call that has met another library's array.
[[gnu::noinline]] PyObject* CallForeign(FunctionState* state, PyObject* const* args,
                                        size_t positional, PyObject* names) {
  try {
    const OwnKeywords own = TakeKeywords(*state, names, args + positional);
    const bool is_said = own.target != nullptr && own.target != Py_None;
    const int target = is_said ? TargetNamed(own.target) : GivenTarget(state->target);
    if (target < 0) return nullptr;
    BoundValues bound;
    PyObject* const* values = Bind(*state, args, positional, names, own, &bound);
    return values == nullptr ? nullptr : DispatchForeign(state, target, values);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* CallFast(PyObject* self, PyObject* const* args, size_t counts, PyObject* names) {
  try {
    FunctionState* state = Of(self)->state;
    const size_t positional = counts & ~kArgumentsOffset;
    if (names == nullptr && state->parameters.IsDirect(positional)) {
      const int target = ChooseTarget(nullptr, state->target);
      // What is below 0 is an error.
      if (unsigned(target) < unsigned(Target::kPython)) {
        uint64_t slots[DirectArguments::kSlots];
        Specialization* code = FindForNumbers(*state, Target(target), args, slots);
        if (code != nullptr) return RunForNumbers(state, code, Target(target), args, slots);
        return Dispatch(state, Target(target), args);
      }
      if (target < 0) return nullptr;
    }
    return CallWith(state, args, positional, names);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const ForeignArgument&) {
  }
  return CallForeign(Of(self)->state, args, counts & ~kArgumentsOffset, names);
}

// For callers that have a tuple and a dictionary.
PyObject* CallSlow(PyObject* self, PyObject* tuple, PyObject* keywords) {
  InlineVector<PyObject*, 16> values;
  const Py_ssize_t positional = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < positional; ++i) values.Append(PyTuple_GetItem(tuple, i));
  if (keywords == nullptr || PyDict_Size(keywords) == 0) {
    return CallFast(self, values.data(), size_t(positional), nullptr);
  }
  Ref names = Ref::Steal(PyTuple_New(PyDict_Size(keywords)));
  if (!names) return nullptr;
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t count = 0;
  for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value); ++count) {
    PyTuple_SetItem(names.get(), count, Ref::Borrow(name).release());
    values.Append(value);
  }
  return CallFast(self, values.data(), size_t(positional), names.get());
}

// A method: bound to the instance that it is looked up on.
PyObject* BindToInstance(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Ref::Borrow(self).release();
  return PyObject_CallFunctionObjArgs(method_type, self, instance, nullptr);
}

bool Fill(FunctionState* state, PyObject* function, PyObject* fastmath, int target) {
  state->function = Ref::Borrow(function);
  state->fastmath = Ref::Borrow(fastmath);
  state->target = target;
  if (!state->parameters.Read(function)) return false;
  state->in_key.assign(state->parameters.size(), 0);
  state->owns_target_keyword =
      state->parameters.Has(target_word) || state->parameters.Has(backend_word);
  return true;
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* kNames[] = {"function", "target", "fastmath", "boundscheck", "cache", nullptr};
  PyObject *function = nullptr, *fastmath = nullptr;
  int target = -1, boundscheck = 1, may_cache = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OiO!pp:Function", const_cast<char**>(kNames),
                                   &function, &target, &PyTuple_Type, &fastmath, &boundscheck,
                                   &may_cache)) {
    return nullptr;
  }
  Ref self = Ref::Steal(PyType_GenericAlloc(type, 0));
  if (!self) return nullptr;
  Of(self.get())->vectorcall = CallFast;
  Of(self.get())->state = new (std::nothrow) FunctionState();
  FunctionState* state = Of(self.get())->state;
  if (state == nullptr) return PyErr_NoMemory();
  state->object = self.get();
  state->boundscheck = boundscheck != 0;
  state->may_cache = may_cache != 0;
  if (!Fill(state, function, fastmath, target)) return nullptr;
  return self.release();
}

// Specializations hold outside objects of the function too; they are reached through it.
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  Py_VISIT(Of(self)->dictionary);
  if (Of(self)->state != nullptr) Py_VISIT(Of(self)->state->function.get());
  return 0;
}

int Clear(PyObject* self) {
  Py_CLEAR(Of(self)->dictionary);
  return 0;
}

void Free(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (Of(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Clear(self);
  delete Of(self)->state;
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dictionary), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <typename F>
void* Slot(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

bool AddFunctionType(PyObject* module) {
  target_word = PyUnicode_InternFromString("target");
  backend_word = PyUnicode_InternFromString("_backend");
  Ref types = Ref::Steal(PyImport_ImportModule("types"));
  if (types) method_type = PyObject_GetAttrString(types.get(), "MethodType");
  if (target_word == nullptr || backend_word == nullptr || method_type == nullptr) return false;
  static PyType_Slot slots[] = {
      {Py_tp_new, Slot(New)},
      {Py_tp_dealloc, Slot(Free)},
      {Py_tp_traverse, Slot(Traverse)},
      {Py_tp_clear, Slot(Clear)},
      {Py_tp_call, Slot(CallSlow)},
      {Py_tp_descr_get, Slot(BindToInstance)},
      {Py_tp_members, members},
      {Py_tp_getset, properties},
      {Py_tp_methods, InspectionMethods()},
      {0, nullptr},
  };
  static PyType_Spec spec = {
      "parakeet._core.Function", sizeof(FunctionObject), 0,
      unsigned(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | kHasVectorcall | kMethodDescriptor),
      slots};
  type_object = PyType_FromSpec(&spec);
  return type_object != nullptr && PyModule_AddObjectRef(module, "Function", type_object) == 0;
}

bool IsFunction(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == type_object;
}

PyObject* WrappedFunction(PyObject* function) { return Of(function)->state->function.get(); }

FunctionState* StateOf(PyObject* function) { return Of(function)->state; }

}  // namespace parakeet::pylib
