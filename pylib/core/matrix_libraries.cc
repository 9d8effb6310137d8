#include "pylib/core/matrix_libraries.h"

#include <string>
#include <utility>
#include <vector>

#include "pylib/core/without_gil.h"
#include "runtime/cublas.h"
#include "runtime/matrix_libraries.h"

namespace parakeet::pylib {
namespace {

// Empty with an exception set.
std::string PathOf(PyObject* file) {
  PyObject* encoded = nullptr;
  if (!PyUnicode_FSConverter(file, &encoded)) return "";
  const Ref bytes = Ref::Steal(encoded);
  return PyBytes_AsString(bytes.get());
}

}  // namespace

bool OfferCublas() {
  const Ref module = Ref::Steal(PyImport_ImportModule("parakeet.cuda_libraries"));
  const Ref offer = module ? Ref::Steal(PyObject_GetAttrString(module.get(), "offer")) : Ref();
  if (!offer) return false;
  return bool(Ref::Steal(PyObject_CallObject(offer.get(), nullptr)));
}

PyObject* SetCublasFiles(PyObject*, PyObject* files) {
  std::vector<std::string> paths;
  const Py_ssize_t count = PySequence_Size(files);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref file = Ref::Steal(PySequence_GetItem(files, i));
    paths.push_back(file ? PathOf(file.get()) : "");
    if (PyErr_Occurred()) return nullptr;
  }
  if (count < 0) return nullptr;
  runtime::SetCublasFiles(std::move(paths));
  return Ref::Borrow(Py_None).release();
}

PyObject* FindCublas(PyObject*, PyObject*) {
  std::string why;
  {
    const WithoutGil others_run;  // it is a large file
    const runtime::CudaDriver* driver = runtime::OpenCudaDriver(&why);
    if (driver != nullptr) runtime::OpenCublas(*driver, &why);
  }
  return Py_BuildValue("(ss)", runtime::CublasFile().c_str(), why.c_str());
}

PyObject* UseMatrixLibraries(PyObject*, PyObject* whether) {
  const int may = PyObject_IsTrue(whether);
  if (may < 0) return nullptr;
  runtime::LetMatrixLibrariesBeUsed(may != 0);
  return Ref::Borrow(Py_None).release();
}

}  // namespace parakeet::pylib
