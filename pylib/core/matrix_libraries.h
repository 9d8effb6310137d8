// The libraries that make products of matrices on devices (runtime/matrix_libraries.h), as Python
// finds and sets them.
#ifndef PARAKEET_PYLIB_CORE_MATRIX_LIBRARIES_H_
#define PARAKEET_PYLIB_CORE_MATRIX_LIBRARIES_H_

#include "pylib/python.h"

namespace parakeet::pylib {

// Lets parakeet.cuda_libraries say where cuBLAS may be. False with an exception set.
bool OfferCublas();

// set_cublas_files(files): see runtime/cublas.h.
PyObject* SetCublasFiles(PyObject*, PyObject* files);
// find_cublas() -> (file, why): opens it. One of the two is empty.
PyObject* FindCublas(PyObject*, PyObject*);
// use_matrix_libraries(whether)
PyObject* UseMatrixLibraries(PyObject*, PyObject* whether);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_MATRIX_LIBRARIES_H_
