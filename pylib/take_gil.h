// Taking the GIL back after code ran without it. C and C++ include it.
#ifndef PARAKEET_PYLIB_TAKE_GIL_H_
#define PARAKEET_PYLIB_TAKE_GIL_H_

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// PyEval_RestoreThread, except for a daemon thread that comes back when the interpreter has begun
// to end. Python before 3.14 ends such a thread with pthread_exit, which unwinds its stack: through
// C++ frames whose destructors then touch Python's objects, and whose unwinder, linked statically,
// is not the one at work. Here the thread sleeps until the process is gone, as it does from 3.14
// on.
void PkTakeGil(PyThreadState* state);

#ifdef __cplusplus
}
#endif

#endif  // PARAKEET_PYLIB_TAKE_GIL_H_
