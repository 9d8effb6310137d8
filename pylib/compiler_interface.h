// What libparakeet_compiler exports to `_core`, which opens it at the first miss. Plain C types and
// Python objects only; no exception leaves the library. Every function is called with the GIL held
// except parakeet_compiler_interpret.
#ifndef PARAKEET_PYLIB_COMPILER_INTERFACE_H_
#define PARAKEET_PYLIB_COMPILER_INTERFACE_H_

#include <cstdint>

#include "pylib/python.h"
#include "runtime/abi.h"

extern "C" {

// What to compile: a function for the arguments that a key describes (key.h).
typedef struct PkCompileRequest {
  PyObject* function;   // the plain Python function
  const uint64_t* key;  // the words of key.h
  int64_t key_size;
  PyObject* statics;   // a tuple: the objects of the key's static words, in order
  PyObject* fastmath;  // a tuple of LLVM's names of fast-math flags
  int32_t boundscheck;
  // For each parameter, what the key says of it (InKey). Null where it will not say more lengths.
  const uint8_t* in_key;
  // Whether arrays of the call have short last axes that the key is silent on.
  int32_t has_short_axes;
  // What code would take of the call's arguments (PkEntry), but for captures. Null where the key's
  // header says short sides.
  const uint64_t* slots;
  int64_t slot_count;
} PkCompileRequest;

// New references; null where they do not apply.
typedef struct PkCompileResult {
  PyObject* image;           // bytes for runtime::LoadImage; null for the interpreter
  PyObject* manifest;        // bytes (manifest.h)
  PyObject* functions;       // a tuple: the functions that the manifest's outside names refer to
  PyObject* objects;         // a tuple: what each of the manifest's dependencies was
  void* program;             // the interpreter's, to be freed with parakeet_compiler_free
  int32_t needed_parameter;  // of which more is needed, when the status says so
} PkCompileResult;

enum PkCompileStatus : int32_t {
  kPkCompileFailed = -1,  // a Python exception is set
  kPkCompileDone = 0,
  kPkCompileNeedsStatic = 1,   // ask again with that parameter's value in the key
  kPkCompileNeedsLengths = 2,  // or with the lengths of its short axes
  kPkCompileShortAxes = 3,    // or with those of all last axes; there is a manifest, which says why
  kPkCompileShortSides = 4,   // or with a header that says short sides
  kPkCompileFewLongRows = 5,  // or few rows
};

// Hands over the runtime. Returns 0, or -1 with an ImportError when the two libraries are of
// different builds.
typedef int32_t (*PkCompilerInit)(const PkRuntime* runtime, const char* build_id);

// Has a thread make what the first compilation would have to make, and returns; any thread may call
// it, without the GIL.
typedef void (*PkCompilerPrepare)(void);

// Returns a PkCompileStatus. May give up the GIL in between.
typedef int32_t (*PkCompilerCompile)(const PkCompileRequest* request, PkCompileResult* result);

// Runs a program of the interpreter, as a PkEntry runs code (runtime/abi.h), without the GIL.
// Returns 0; 1 when the error slot is set; -1 with a Python exception set.
typedef int32_t (*PkCompilerInterpret)(void* program, PkCall* call, const uint64_t* args,
                                       uint64_t* results);
typedef void (*PkCompilerFree)(void* program);

// A text about the same compilation, for people: `what` is "ir" (after the pass `stage`, or the
// frontend's where that is empty), "llvm", "asm", "ptx" (of kernels for a GPU, of the architecture
// `stage` where that is not empty: "80") or "account" (what became of the source, as JSON). Returns
// a PkCompileStatus; the text is a new reference to a str, parameter as in PkCompileResult.
typedef int32_t (*PkCompilerDump)(const PkCompileRequest* request, const char* what,
                                  const char* stage, PyObject** text, int32_t* parameter);

}  // extern "C"

#endif  // PARAKEET_PYLIB_COMPILER_INTERFACE_H_
