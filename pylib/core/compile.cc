#include "pylib/core/compile.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "pylib/core/compiler_library.h"
#include "runtime/clock.h"

namespace parakeet::pylib {
namespace {

class LockScope {
 public:
  explicit LockScope(CompileLock* lock) : lock_(lock), is_held_(lock->Acquire()) {}
  ~LockScope() {
    if (is_held_) lock_->Release();
  }
  LockScope(const LockScope&) = delete;
  LockScope& operator=(const LockScope&) = delete;
  bool is_held() const { return is_held_; }

 private:
  CompileLock* lock_;
  bool is_held_;
};

Ref TupleOf(const std::vector<Ref>& objects) {
  Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(objects.size())));
  for (size_t i = 0; tuple && i < objects.size(); ++i) {
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), Ref(objects[i]).release());
  }
  return tuple;
}

std::vector<Ref> OwnedStatics(const Arguments& call) {
  std::vector<Ref> statics;
  for (PyObject* object : call.statics) statics.push_back(Ref::Borrow(object));
  return statics;
}

Ref StaticsOf(const Arguments& call) { return TupleOf(OwnedStatics(call)); }

// The compiler's answer, owned.
struct Answer {
  Ref image, manifest, functions, objects;
  void* program = nullptr;
  uint64_t overloads_version = 0;  // as it was before the question
};

// Another thread may have marked it since the key was made; the caller bounds how often it asks.
CompileOutcome MarkStatic(FunctionState* function, int32_t parameter) {
  if (parameter < 0 || size_t(parameter) >= function->is_static.size()) {
    PyErr_Format(PyExc_SystemError, "the compiler needs the value of parameter %d", parameter);
    return CompileOutcome::kFailed;
  }
  function->is_static[parameter] = 1;
  return CompileOutcome::kKeyChanged;
}

PkCompileRequest RequestFor(const FunctionState& function, std::span<const uint64_t> key,
                            PyObject* statics) {
  PkCompileRequest request = {};
  request.function = function.function.get();
  request.key = key.data();
  request.key_size = int64_t(key.size());
  request.statics = statics;
  request.fastmath = function.fastmath.get();
  request.boundscheck = function.boundscheck;
  return request;
}

// The function's lock is held.
PyObject* AskForTextLocked(FunctionState* function, std::span<const uint64_t> key,
                           const Ref& statics, const char* what, const char* stage) {
  const CompilerLibrary* library = statics ? OpenCompiler() : nullptr;
  if (library == nullptr) return nullptr;
  const PkCompileRequest request = RequestFor(*function, key, statics.get());
  PyObject* text = nullptr;
  int32_t need_static = -1;
  const int32_t status = library->dump(&request, what, stage, &text, &need_static);
  if (status == kPkCompileNeedsStatic) MarkStatic(function, need_static);
  return text;
}

PyObject* AskForText(FunctionState* function, std::span<const uint64_t> key, const Ref& statics,
                     const char* what, const char* stage) {
  LockScope lock(&function->lock);
  return lock.is_held() ? AskForTextLocked(function, key, statics, what, stage) : nullptr;
}

// What SetShown was given last; owned, and never given back.
PyObject* show_text = nullptr;
PyObject* shown_texts = nullptr;

bool Show(FunctionState* function, const Specialization& code) {
  const Ref show = Ref::Borrow(show_text), texts = Ref::Borrow(shown_texts);
  const Py_ssize_t count = texts ? PyTuple_Size(texts.get()) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char *what = nullptr, *stage = nullptr;
    if (!PyArg_ParseTuple(PyTuple_GetItem(texts.get(), i), "ss", &what, &stage)) return false;
    const Ref text =
        Ref::Steal(AskForTextLocked(function, code.key, TupleOf(code.statics), what, stage));
    if (!text) return !PyErr_Occurred();
    const Ref shown = Ref::Steal(
        PyObject_CallFunction(show.get(), "OsO", function->function.get(), what, text.get()));
    if (!shown) return false;
  }
  return true;
}

CompileOutcome Ask(const CompilerLibrary& library, FunctionState* function, const Arguments& call,
                   Answer* answer) {
  Ref statics = StaticsOf(call);
  if (!statics) return CompileOutcome::kFailed;
  const PkCompileRequest request =
      RequestFor(*function, {call.key.data(), call.key.size()}, statics.get());
  PkCompileResult result = {};
  answer->overloads_version = overloads_version;
  const int32_t status = library.compile(&request, &result);
  answer->image = Ref::Steal(result.image);
  answer->manifest = Ref::Steal(result.manifest);
  answer->functions = Ref::Steal(result.functions);
  answer->objects = Ref::Steal(result.objects);
  answer->program = result.program;
  if (status == kPkCompileNeedsStatic) return MarkStatic(function, result.need_static);
  return status == kPkCompileDone ? CompileOutcome::kDone : CompileOutcome::kFailed;
}

std::string_view BytesOf(PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0) return {};
  return {data, size_t(size)};
}

bool LoadCode(const Answer& answer, Specialization* made) {
  made->program = answer.program;
  const std::string_view text = BytesOf(answer.manifest.get());
  std::optional<Manifest> manifest = ParseManifest(text);
  if (!manifest) {
    PyErr_SetString(PyExc_SystemError, "the compiler wrote a manifest that does not parse");
    return false;
  }
  made->manifest = std::move(*manifest);
  if (made->program != nullptr) return true;
  const int64_t start = runtime::NowNanoseconds();
  const std::string_view bytes = BytesOf(answer.image.get());
  std::string why;
  made->image = runtime::LoadImage(bytes.data(), bytes.size(), &why);
  if (made->image == nullptr) PyErr_Format(PyExc_OSError, "cannot load code: %s", why.c_str());
  const double ms = double(runtime::NowNanoseconds() - start) / 1e6;
  made->manifest.phases.push_back({"load", ms});
  return made->image != nullptr;
}

// From the compiler's answer to a specialization that calls can find.
std::unique_ptr<Specialization> Make(const Arguments& call, const Answer& answer) {
  auto made = std::make_unique<Specialization>();
  made->outside = OutsideObjects(answer.overloads_version);
  if (!LoadCode(answer, made.get())) return nullptr;
  made->key.assign(call.key.begin(), call.key.end());
  made->hash = HashKey(call.key.data(), call.key.size());
  made->statics = OwnedStatics(call);
  for (uint8_t is_written : made->manifest.written) made->writes_arguments |= is_written != 0;
  if (!made->outside.Bind(made->manifest, answer.functions.get(), answer.objects.get(),
                          made->statics)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "an outside name cannot be found");
    return nullptr;
  }
  return made;
}

}  // namespace

CompileOutcome Compile(FunctionState* function, const Arguments& call, Specialization** made) {
  const int64_t start = runtime::NowNanoseconds();
  LockScope lock(&function->lock);
  if (!lock.is_held()) return CompileOutcome::kFailed;
  Specialization* found = function->table.Find(call);
  if (found != nullptr && found->outside.Holds()) {
    *made = found;
    return CompileOutcome::kDone;
  }
  const bool was_open = IsCompilerOpen();
  const CompilerLibrary* library = OpenCompiler();
  if (library == nullptr) return CompileOutcome::kFailed;
  Answer answer;
  const CompileOutcome outcome = Ask(*library, function, call, &answer);
  if (outcome != CompileOutcome::kDone) return outcome;
  std::unique_ptr<Specialization> fresh = Make(call, answer);
  if (fresh == nullptr) return CompileOutcome::kFailed;
  auto& phases = fresh->manifest.phases;
  if (!was_open) phases.insert(phases.begin(), {"open", library->open_ms});
  fresh->compile_ms = double(runtime::NowNanoseconds() - start) / 1e6;
  if (!Show(function, *fresh)) return CompileOutcome::kFailed;
  *made = fresh.get();
  function->table.Insert(std::move(fresh));
  return CompileOutcome::kDone;
}

bool SetShown(PyObject* show, PyObject* texts) {
  if (!PyTuple_Check(texts)) {
    PyErr_SetString(PyExc_TypeError, "the texts to show are a tuple");
    return false;
  }
  show_text = Ref::Borrow(show).release();
  shown_texts = Ref::Borrow(texts).release();
  return true;
}

PyObject* Dump(FunctionState* function, const Arguments& call, const char* what,
               const char* stage) {
  return AskForText(function, {call.key.data(), call.key.size()}, StaticsOf(call), what, stage);
}

PyObject* DumpSpecialization(FunctionState* function, const Specialization& code, const char* what,
                             const char* stage) {
  return AskForText(function, code.key, TupleOf(code.statics), what, stage);
}

}  // namespace parakeet::pylib
