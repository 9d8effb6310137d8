// What the library exports (pylib/compiler_interface.h). Each function here catches every C++
// exception.

#include <memory>
#include <string>

#include "backends/compile.h"
#include "backends/forks_wait.h"
#include "frontend/context.h"
#include "pylib/build_id.h"
#include "pylib/compiler/compilation.h"
#include "pylib/compiler/dump.h"
#include "pylib/compiler/interpret.h"
#include "pylib/compiler/raise_failure.h"
#include "pylib/compiler_interface.h"
#include "pylib/manifest.h"
#include "pylib/take_gil.h"

namespace parakeet::pylib {
namespace {

using frontend::PyRef;

const PkRuntime* runtime_table = nullptr;

// While it lives, other Python threads run.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PkTakeGil(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// What the interpreter runs: made by parakeet_compiler_compile, freed by parakeet_compiler_free.
struct InterpreterProgram {
  ir::Program program;
};

PyObject* BytesFrom(const std::string& text) {
  return PyBytes_FromStringAndSize(text.data(), Py_ssize_t(text.size()));
}

PyObject* TupleFrom(const std::vector<PyRef>& objects) {
  PyObject* tuple = PyTuple_New(Py_ssize_t(objects.size()));
  for (size_t i = 0; tuple != nullptr && i < objects.size(); ++i) {
    Py_INCREF(objects[i].get());
    PyTuple_SetItem(tuple, Py_ssize_t(i), objects[i].get());
  }
  return tuple;
}

int32_t Deliver(const Description& description, PkCompileResult* result) {
  result->manifest = BytesFrom(Serialize(description.manifest));
  result->functions = TupleFrom(description.functions);
  result->objects = TupleFrom(description.objects);
  return PyErr_Occurred() ? kPkCompileFailed : kPkCompileDone;
}

int32_t Run(Compilation* compilation, PkCompileResult* result) {
  compilation->BuildProgram();
  if (compilation->target() == Target::kInterpreter) {
    result->program = new InterpreterProgram{compilation->program()};
    return Deliver(compilation->description(), result);
  }
  backends::Compiled compiled;
  try {
    const WithoutGil others_run;
    const backends::ForksWait until_compiled;
    compilation->RunPasses();
    compiled = compilation->Generate(false, false);
  } catch (const NeedShortAxes&) {
    const int32_t status = Deliver(compilation->description(), result);
    return status == kPkCompileDone ? kPkCompileShortAxes : status;
  }
  result->image = BytesFrom(compiled.image);
  return Deliver(compilation->description(), result);
}

// Runs `step` of a compilation; turns what it throws into a status.
template <typename Step>
int32_t Guard(const PkCompileRequest* request, int32_t* parameter, const Step& step) {
  std::unique_ptr<Compilation> compilation;
  try {
    compilation = std::make_unique<Compilation>(*request);
    return step(compilation.get());
  } catch (const frontend::NeedStatic& need) {
    *parameter = need.parameter;
    return kPkCompileNeedsStatic;
  } catch (const NeedLengths& need) {
    *parameter = need.parameter;
    return kPkCompileNeedsLengths;
  } catch (const NeedShortAxes&) {
    return kPkCompileShortAxes;
  } catch (const NeedShortSides&) {
    return kPkCompileShortSides;
  } catch (const NeedFewRows&) {
    return kPkCompileFewLongRows;
  } catch (const ir::Failure& failure) {
    if (compilation == nullptr) {
      RaiseFailure(failure, ir::SourceMap(), ir::Program(), "the driver");
    } else {
      RaiseFailure(failure, compilation->sources(), compilation->last_program(),
                   compilation->running());
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    RaiseBug(error.what());
  } catch (...) {
    RaiseBug("an exception of no known kind");
  }
  return kPkCompileFailed;
}

// For callers without the GIL.
void RaiseInterpreterBug(const char* what) {
  const PyGILState_STATE state = PyGILState_Ensure();
  RaiseBug(std::string("in the interpreter: ") + what);
  PyGILState_Release(state);
}

}  // namespace
}  // namespace parakeet::pylib

#define PARAKEET_EXPORT extern "C" __attribute__((visibility("default")))

PARAKEET_EXPORT int32_t parakeet_compiler_init(const PkRuntime* runtime, const char* build_id) {
  if (runtime->abi_id != kPkAbiId || std::string(build_id) != parakeet::pylib::BuildId()) {
    PyErr_SetString(PyExc_ImportError,
                    "the compiler library is of another build than parakeet._core");
    return -1;
  }
  parakeet::pylib::runtime_table = runtime;
  return 0;
}

PARAKEET_EXPORT void parakeet_compiler_prepare() {
  try {
    parakeet::backends::Prepare();
  } catch (...) {
    // The first compilation will tell.
  }
}

PARAKEET_EXPORT int32_t parakeet_compiler_compile(const PkCompileRequest* request,
                                                  PkCompileResult* result) {
  using namespace parakeet::pylib;
  return Guard(request, &result->needed_parameter,
               [&](Compilation* compilation) { return Run(compilation, result); });
}

PARAKEET_EXPORT int32_t parakeet_compiler_interpret(void* program, PkCall* call,
                                                    const uint64_t* args, uint64_t* results) {
  using namespace parakeet::pylib;
  try {
    const auto* interpreted = static_cast<const InterpreterProgram*>(program);
    return InterpretCall(interpreted->program, *runtime_table, call, args, results);
  } catch (const std::exception& error) {
    RaiseInterpreterBug(error.what());
  } catch (...) {
    RaiseInterpreterBug("an exception of no known kind");
  }
  return -1;
}

PARAKEET_EXPORT void parakeet_compiler_free(void* program) {
  delete static_cast<parakeet::pylib::InterpreterProgram*>(program);
}

PARAKEET_EXPORT int32_t parakeet_compiler_dump(const PkCompileRequest* request, const char* what,
                                               const char* stage, PyObject** text,
                                               int32_t* parameter) {
  using namespace parakeet::pylib;
  return Guard(request, parameter, [&](Compilation* compilation) -> int32_t {
    compilation->BuildProgram();
    std::string dumped;
    {
      const WithoutGil others_run;
      const parakeet::backends::ForksWait until_dumped;
      dumped = Dump(compilation, what, stage);
    }
    *text = PyUnicode_DecodeUTF8(dumped.data(), Py_ssize_t(dumped.size()), "backslashreplace");
    return *text == nullptr ? kPkCompileFailed : kPkCompileDone;
  });
}
