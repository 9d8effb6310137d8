// The extension module parakeet._core.

#include <string>

#include "pylib/build_id.h"
#include "pylib/core/arguments.h"
#include "pylib/core/compile.h"
#include "pylib/core/compile_lock.h"
#include "pylib/core/compiler_library.h"
#include "pylib/core/content.h"
#include "pylib/core/cubin_cache.h"
#include "pylib/core/device_array.h"
#include "pylib/core/device_dispatch.h"
#include "pylib/core/device_lines.h"
#include "pylib/core/device_number.h"
#include "pylib/core/disk_cache.h"
#include "pylib/core/dispatch.h"
#include "pylib/core/dlpack.h"
#include "pylib/core/function.h"
#include "pylib/core/matrix_libraries.h"
#include "pylib/core/numpy_access.h"
#include "pylib/core/outside.h"
#include "pylib/core/profile.h"
#include "pylib/core/targets.h"
#include "runtime/buffers.h"
#include "runtime/call.h"
#include "runtime/cuda_device.h"
#include "runtime/cuda_launches.h"
#include "runtime/device.h"
#include "runtime/openmp_library.h"
#include "runtime/pinned_buffers.h"
#include "runtime/team.h"

namespace parakeet::pylib {
namespace {

PyObject* None() { return Ref::Borrow(Py_None).release(); }

PyObject* GetNumThreads(PyObject*, PyObject*) { return PyLong_FromLong(runtime::ThreadCount()); }

PyObject* SetNumThreads(PyObject*, PyObject* count) {
  const long value = PyLong_AsLong(count);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  const bool is_in_range = value >= 1 && value <= runtime::kMaxThreads;
  if (is_in_range && runtime::SetThreadCount(int32_t(value))) return None();
  return PyErr_Format(PyExc_ValueError, "the number of threads must be from 1 to %d, not %ld",
                      runtime::kMaxThreads, value);
}

PyObject* PySetDefaultTarget(PyObject*, PyObject* number) {
  const long target = PyLong_AsLong(number);
  if (target == -1 && PyErr_Occurred()) return nullptr;
  SetDefaultTarget(int(target));
  return None();
}

PyObject* GetDefaultTarget(PyObject*, PyObject*) { return PyLong_FromLong(DefaultTarget()); }

PyObject* PySetTargetVariable(PyObject*, PyObject* variable) {
  SetTargetVariable(variable);
  return None();
}

PyObject* PyCountTargetBlocks(PyObject*, PyObject* change) {
  const long value = PyLong_AsLong(change);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  CountTargetBlocks(int(value));
  return None();
}

PyObject* PySetTiming(PyObject*, PyObject* value) {
  const int is_on = PyObject_IsTrue(value);
  if (is_on < 0) return nullptr;
  SetTiming(is_on != 0);
  return None();
}

PyObject* PySetUsesLibNvvm(PyObject*, PyObject* value) {
  const int is_on = PyObject_IsTrue(value);
  if (is_on < 0) return nullptr;
  SetUsesLibNvvm(is_on != 0);
  return None();
}

PyObject* PyStartProfile(PyObject*, PyObject*) { return StartProfile() ? None() : nullptr; }

PyObject* PyStopProfile(PyObject*, PyObject*) { return StopProfile(); }

PyObject* OverloadsChanged(PyObject*, PyObject*) {
  ++overloads_version;
  return None();
}

PyObject* SetArrayType(PyObject*, PyObject* type) {
  array_placeholder_type = reinterpret_cast<PyTypeObject*>(Ref::Borrow(type).release());
  return None();
}

PyObject* PySetShown(PyObject*, PyObject* args) {
  PyObject *show = nullptr, *texts = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &show, &texts)) return nullptr;
  return SetShown(show, texts) ? None() : nullptr;
}

PyObject* KeyedCalls(PyObject*, PyObject*) { return PyLong_FromLongLong(keyed_calls); }

PyObject* BufferCounters(PyObject*, PyObject*) {
  const runtime::BufferCounters counters = runtime::ReadBufferCounters();
  return Py_BuildValue("{sLsLsLsLsL}", "live_bytes", (long long)counters.live_bytes, "live_buffers",
                       (long long)counters.live_buffers, "peak_bytes",
                       (long long)counters.peak_bytes, "pooled_bytes",
                       (long long)counters.pooled_bytes, "allocations",
                       (long long)counters.allocations);
}

PyObject* ResetBufferPeak(PyObject*, PyObject*) {
  runtime::ResetPeak();
  return None();
}

PyObject* TrimPool(PyObject*, PyObject*) {
  runtime::TrimPool();
  return None();
}

// How many there are, and where there is none why.
PyObject* CountGpus(PyObject*, PyObject*) {
  std::string why;
  const int count = runtime::CountDevices(runtime::DeviceKind::kCuda, &why);
  return Py_BuildValue("(is)", count, why.c_str());
}

PyObject* DeviceCountersOf(PyObject*, PyObject* number) {
  const long target = PyLong_AsLong(number);
  if (target == -1 && PyErr_Occurred()) return nullptr;
  const runtime::Device* device = OpenDeviceOf(int(target));
  if (device == nullptr) return nullptr;
  const runtime::DeviceCounters counters = device->Counters();
  return Py_BuildValue("{sLsLsLsLsLsLsLsLsLsL}", "live_bytes", (long long)counters.live_bytes,
                       "live_buffers", (long long)counters.live_buffers, "peak_bytes",
                       (long long)counters.peak_bytes, "launches", (long long)counters.launches,
                       "replays", (long long)counters.replays, "assembled",
                       (long long)counters.assembled, "products", (long long)counters.products,
                       "limit_bytes", (long long)counters.limit_bytes, "bytes_up",
                       (long long)counters.bytes_up, "bytes_down", (long long)counters.bytes_down);
}

// device_memory(number): free and total bytes, as the driver says; zeros of the emulated device.
PyObject* DeviceMemoryOf(PyObject*, PyObject* number) {
  const long target = PyLong_AsLong(number);
  if (target == -1 && PyErr_Occurred()) return nullptr;
  runtime::Device* device = OpenDeviceOf(int(target));
  if (device == nullptr) return nullptr;
  const runtime::DeviceMemory memory = device->Memory();
  return Py_BuildValue("(LL)", (long long)memory.free_bytes, (long long)memory.total_bytes);
}

PyObject* HasDeviceArrays(PyObject*, PyObject*) { return PyBool_FromLong(had_device_arrays); }

// set_device_limit(number, bytes): 0 is no limit.
PyObject* SetDeviceLimit(PyObject*, PyObject* args) {
  int number = 0;
  long long bytes = 0;
  if (!PyArg_ParseTuple(args, "iL", &number, &bytes)) return nullptr;
  runtime::Device* device = OpenDeviceOf(number);
  if (device == nullptr) return nullptr;
  device->SetLimit(bytes);
  return None();
}

PyObject* SetCubinUseOf(PyObject*, PyObject* use) {
  const long number = PyLong_AsLong(use);
  if (number == -1 && PyErr_Occurred()) return nullptr;
  SetCubinUse(CubinUse(number));
  return None();
}

PyObject* UseGraphsOf(PyObject*, PyObject* is_on) {
  const int is_true = PyObject_IsTrue(is_on);
  if (is_true < 0) return nullptr;
  runtime::UseGraphs(is_true != 0);
  return None();
}

PyObject* PySetKernelHeap(PyObject*, PyObject* bytes) {
  const long long size = PyLong_AsLongLong(bytes);
  if (size == -1 && PyErr_Occurred()) return nullptr;
  runtime::SetKernelHeap(size);
  return None();
}

PyObject* PySetMostPinned(PyObject*, PyObject* bytes) {
  const long long size = PyLong_AsLongLong(bytes);
  if (size == -1 && PyErr_Occurred()) return nullptr;
  runtime::SetMostPinned(size);
  return None();
}

PyObject* PyMostPinned(PyObject*, PyObject*) { return PyLong_FromLongLong(runtime::MostPinned()); }

PyObject* OpenMpFile(PyObject*, PyObject*) {
  return PyUnicode_DecodeFSDefault(runtime::OpenMpLibraryFile().c_str());
}

// set_cache_folder(folder, limit): an empty text is no folder.
PyObject* PySetCacheFolder(PyObject*, PyObject* args) {
  PyObject* folder = nullptr;
  long long limit = 0;
  if (!PyArg_ParseTuple(args, "O&L", PyUnicode_FSConverter, &folder, &limit)) return nullptr;
  const Ref bytes = Ref::Steal(folder);
  SetCacheFolder(PyBytes_AsString(bytes.get()), limit);
  return None();
}

PyObject* CacheCounts(PyObject*, PyObject*) {
  const CacheCounters counters = ReadCacheCounters();
  const CacheUsage usage = MeasureCache();
  return Py_BuildValue("{sLsLsLsL}", "disk_hits", (long long)counters.hits, "disk_misses",
                       (long long)counters.misses, "disk_entries", (long long)usage.entries,
                       "disk_bytes", (long long)usage.bytes);
}

PyObject* PyClearCache(PyObject*, PyObject*) {
  ClearCache();
  return None();
}

PyObject* CompilerIsOpen(PyObject*, PyObject*) { return PyBool_FromLong(IsCompilerOpen()); }

PyObject* AfterFork(PyObject*, PyObject*) {
  CompileLock::ForgetHolders();
  ForgetDevices();
  return None();
}

PyMethodDef functions[] = {
    {"get_num_threads", GetNumThreads, METH_NOARGS, nullptr},
    {"set_num_threads", SetNumThreads, METH_O, nullptr},
    {"get_default_target", GetDefaultTarget, METH_NOARGS, nullptr},
    {"set_default_target", PySetDefaultTarget, METH_O, nullptr},
    {"set_target_variable", PySetTargetVariable, METH_O, nullptr},
    {"count_target_blocks", PyCountTargetBlocks, METH_O, nullptr},
    {"set_timing", PySetTiming, METH_O, nullptr},
    {"set_uses_libnvvm", PySetUsesLibNvvm, METH_O, nullptr},
    {"start_profile", PyStartProfile, METH_NOARGS, nullptr},
    {"stop_profile", PyStopProfile, METH_NOARGS, nullptr},
    {"overloads_changed", OverloadsChanged, METH_NOARGS, nullptr},
    {"set_array_type", SetArrayType, METH_O, nullptr},
    {"set_shown", PySetShown, METH_VARARGS, nullptr},
    {"keyed_calls", KeyedCalls, METH_NOARGS, nullptr},
    {"buffer_counters", BufferCounters, METH_NOARGS, nullptr},
    {"reset_buffer_peak", ResetBufferPeak, METH_NOARGS, nullptr},
    {"trim_pool", TrimPool, METH_NOARGS, nullptr},
    {"count_gpus", CountGpus, METH_NOARGS, nullptr},
    {"device_counters", DeviceCountersOf, METH_O, nullptr},
    {"device_memory", DeviceMemoryOf, METH_O, nullptr},
    {"has_device_arrays", HasDeviceArrays, METH_NOARGS, nullptr},
    {"set_device_limit", SetDeviceLimit, METH_VARARGS, nullptr},
    {"array_at", ArrayAt, METH_VARARGS, nullptr},
    {"count_device_lines", CountDeviceLines, METH_O, nullptr},
    {"device_lines", DeviceLines, METH_O, nullptr},
    {"device_allocate", DeviceAllocate, METH_VARARGS, nullptr},
    {"device_copy", DeviceCopy, METH_VARARGS, nullptr},
    {"device_item", DeviceItem, METH_O, nullptr},
    {"device_of_address", DeviceOfAddress, METH_O, nullptr},
    {"device_during", DeviceDuring, METH_VARARGS, nullptr},
    {"device_order", DeviceOrder, METH_VARARGS, nullptr},
    {"device_stream", DeviceStream, METH_O, nullptr},
    {"device_wait", DeviceWait, METH_O, nullptr},
    {"dlpack_export", ExportDlpack, METH_VARARGS, nullptr},
    {"dlpack_import", ImportDlpack, METH_O, nullptr},
    {"openmp_file", OpenMpFile, METH_NOARGS, nullptr},
    {"set_cublas_files", SetCublasFiles, METH_O, nullptr},
    {"find_cublas", FindCublas, METH_NOARGS, nullptr},
    {"use_matrix_libraries", UseMatrixLibraries, METH_O, nullptr},
    {"use_graphs", UseGraphsOf, METH_O, nullptr},
    {"set_cubin_use", SetCubinUseOf, METH_O, nullptr},
    {"set_kernel_heap", PySetKernelHeap, METH_O, nullptr},
    {"set_most_pinned", PySetMostPinned, METH_O, nullptr},
    {"most_pinned", PyMostPinned, METH_NOARGS, nullptr},
    {"set_cache_folder", PySetCacheFolder, METH_VARARGS, nullptr},
    {"cache_counts", CacheCounts, METH_NOARGS, nullptr},
    {"clear_cache", PyClearCache, METH_NOARGS, nullptr},
    {"compiler_is_open", CompilerIsOpen, METH_NOARGS, nullptr},
    {"_after_fork_in_child", AfterFork, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "parakeet._core",
                          "dispatch of jitted functions",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

bool StartRuntime() {
  StartCubinCache();
  runtime::SetOpenMpPath(PackageFolder() + "/lib/libomp.so");
  PyObject* function = PySys_GetObject("getrecursionlimit");
  Ref limit = function != nullptr ? Ref::Steal(PyObject_CallObject(function, nullptr)) : Ref();
  if (!limit) return false;
  runtime::SetRecursionLimit(int32_t(PyLong_AsLong(limit.get())));
  const std::string problem = runtime::ThreadCountProblem();
  return problem.empty() || PyErr_WarnEx(PyExc_RuntimeWarning, problem.c_str(), 2) == 0;
}

bool Fill(PyObject* module) {
  return LoadNumpy() && LoadContent() && AddFunctionType(module) && AddDeviceArrayType(module) &&
         PyModule_AddStringConstant(module, "build_id", BuildId()) == 0 &&
         PyModule_AddIntConstant(module, "max_threads", runtime::kMaxThreads) == 0 &&
         StartRuntime();
}

}  // namespace
}  // namespace parakeet::pylib

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__core() {
  using parakeet::pylib::Ref;
  Ref module = Ref::Steal(PyModule_Create(&parakeet::pylib::definition));
  if (!module || !parakeet::pylib::Fill(module.get())) return nullptr;
  return module.release();
}
