#include "pylib/core/compile.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "pylib/core/compiler_library.h"
#include "pylib/core/disk_cache.h"
#include "pylib/core/make_specialization.h"
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

Ref StaticsOf(const Arguments& call) { return TupleOf(OwnedStatics(call)); }

// The compiler's answer, owned.
struct Answer {
  Ref image, manifest;
  OutsideParts outside;
  void* program = nullptr;
  uint64_t overloads_version = 0;  // as it was before the question
};

// As much code as a function has for certain lengths of its arguments' axes: who calls it with
// arrays of ever other lengths gets code for any.
constexpr int kMostForLengths = 16;

// Another thread may have marked it since the key was made; the caller bounds how often it asks.
CompileOutcome Mark(FunctionState* function, int32_t parameter, InKey more) {
  if (parameter < 0 || size_t(parameter) >= function->in_key.size()) {
    PyErr_Format(PyExc_SystemError, "the compiler needs to know parameter %d", parameter);
    return CompileOutcome::kFailed;
  }
  function->in_key[parameter] |= more;
  function->has_static |= more == kValueInKey;
  return CompileOutcome::kKeyChanged;
}

InKey MoreOf(int32_t status) {
  return status == kPkCompileNeedsLengths ? kLengthsInKey : kValueInKey;
}

bool NeedsMore(int32_t status) {
  return status == kPkCompileNeedsStatic || status == kPkCompileNeedsLengths;
}

// From here on, keys say no lengths.
void ForgetLengths(FunctionState* function) {
  function->asks_lengths = false;
  for (uint8_t& in_key : function->in_key) in_key &= uint8_t(~kLengthsInKey);
}

// `may_ask`: whether the answer may be that the key should say lengths.
PkCompileRequest RequestFor(const FunctionState& function, std::span<const uint64_t> key,
                            PyObject* statics, bool may_ask) {
  PkCompileRequest request = {};
  request.function = function.function.get();
  request.key = key.data();
  request.key_size = int64_t(key.size());
  request.statics = statics;
  request.fastmath = function.fastmath.get();
  request.boundscheck = function.boundscheck;
  request.in_key = may_ask && function.asks_lengths ? function.in_key.data() : nullptr;
  return request;
}

// For this call, of which the answer may be that its key should say more.
PkCompileRequest RequestFor(const FunctionState& function, const Arguments& call,
                            PyObject* statics) {
  PkCompileRequest request =
      RequestFor(function, {call.key.data(), call.key.size()}, statics, true);
  request.has_short_axes = call.has_short_axes;
  if (!HasShortSides(call.key[0]) || !HasFewRows(call.key[0])) {
    request.slots = call.slots.data();
    request.slot_count = int64_t(call.slots.size());
  }
  return request;
}

CompileOutcome OutcomeOf(FunctionState* function, int32_t status, int32_t needed_parameter) {
  if (NeedsMore(status)) return Mark(function, needed_parameter, MoreOf(status));
  if (status == kPkCompileShortAxes) return CompileOutcome::kShortAxes;
  if (status == kPkCompileShortSides) return CompileOutcome::kShortSides;
  if (status == kPkCompileFewLongRows) return CompileOutcome::kFewLongRows;
  return status == kPkCompileDone ? CompileOutcome::kDone : CompileOutcome::kFailed;
}

// The function's lock is held.
CompileOutcome AskForText(FunctionState* function, const PkCompileRequest& request,
                          const char* what, const char* stage, Ref* text) {
  const CompilerLibrary* library = request.statics != nullptr ? OpenCompiler() : nullptr;
  if (library == nullptr) return CompileOutcome::kFailed;
  PyObject* made = nullptr;
  int32_t parameter = -1;
  const int32_t status = library->dump(&request, what, stage, &made, &parameter);
  *text = Ref::Steal(made);
  return OutcomeOf(function, status, parameter);
}

// Of code that there is. The function's lock is held.
Ref TextOf(FunctionState* function, const Specialization& code, const char* what,
           const char* stage) {
  const Ref statics = TupleOf(code.statics);
  Ref text;
  AskForText(function, RequestFor(*function, code.key, statics.get(), false), what, stage, &text);
  return text;
}

// What SetShown was given last; owned, and never given back.
PyObject* show_text = nullptr;
PyObject* shown_texts = nullptr;

bool IsShowing() { return shown_texts != nullptr && PyTuple_Size(shown_texts) > 0; }

bool Show(FunctionState* function, const Specialization& code) {
  const Ref show = Ref::Borrow(show_text), texts = Ref::Borrow(shown_texts);
  const Py_ssize_t count = texts ? PyTuple_Size(texts.get()) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char *what = nullptr, *stage = nullptr;
    if (!PyArg_ParseTuple(PyTuple_GetItem(texts.get(), i), "ss", &what, &stage)) return false;
    const Ref text = TextOf(function, code, what, stage);
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
  const PkCompileRequest request = RequestFor(*function, call, statics.get());
  PkCompileResult result = {};
  answer->overloads_version = overloads_version;
  const int32_t status = library.compile(&request, &result);
  answer->image = Ref::Steal(result.image);
  answer->manifest = Ref::Steal(result.manifest);
  answer->outside = {Ref::Steal(result.functions), Ref::Steal(result.objects)};
  answer->program = result.program;
  return OutcomeOf(function, status, result.needed_parameter);
}

std::string_view BytesOf(PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (bytes == nullptr || PyBytes_AsStringAndSize(bytes, &data, &size) != 0) return {};
  return {data, size_t(size)};
}

// From the compiler's answer to a specialization that calls can find, and an entry on the disk.
std::unique_ptr<Specialization> Make(const Arguments& call, const Answer& answer, DiskQuery* disk) {
  std::optional<Manifest> manifest = ParseManifest(BytesOf(answer.manifest.get()));
  if (!manifest) {
    if (answer.program != nullptr) FreeProgram(answer.program);
    PyErr_SetString(PyExc_SystemError, "the compiler wrote a manifest that does not parse");
    return nullptr;
  }
  CompiledParts parts;
  parts.manifest = std::move(*manifest);
  parts.image = BytesOf(answer.image.get());
  parts.program = answer.program;
  parts.outside = answer.outside;
  parts.overloads_version = answer.overloads_version;
  std::unique_ptr<Specialization> made = MakeSpecialization(call, std::move(parts));
  if (made) disk->Store(made->manifest, BytesOf(answer.image.get()), answer.outside);
  return made;
}

// What was asked for is on the disk as well.
void NoteShortAxes(const Answer& answer, DiskQuery* disk) {
  const std::optional<Manifest> manifest = ParseManifest(BytesOf(answer.manifest.get()));
  if (manifest) disk->StoreShortAxes(*manifest, answer.outside);
}

CompileOutcome CompileAnew(FunctionState* function, const Arguments& call, DiskQuery* disk,
                           std::unique_ptr<Specialization>* made) {
  const bool was_open = IsCompilerOpen();
  const CompilerLibrary* library = OpenCompiler();
  if (library == nullptr) return CompileOutcome::kFailed;
  Answer answer;
  const CompileOutcome outcome = Ask(*library, function, call, &answer);
  if (outcome == CompileOutcome::kShortAxes) NoteShortAxes(answer, disk);
  if (outcome != CompileOutcome::kDone) return outcome;
  *made = Make(call, answer, disk);
  if (*made == nullptr) return CompileOutcome::kFailed;
  auto& phases = (*made)->manifest.phases;
  if (!was_open) phases.insert(phases.begin(), {"open", library->open_ms});
  return CompileOutcome::kDone;
}

// From the disk, else from the compiler.
CompileOutcome Obtain(FunctionState* function, const Arguments& call,
                      std::unique_ptr<Specialization>* made) {
  DiskQuery disk(function, call);
  // Texts that are shown with each compilation come from the compiler.
  const DiskQuery::Outcome loaded = IsShowing() ? DiskQuery::Outcome::kNothing : disk.Load(made);
  switch (loaded) {
    case DiskQuery::Outcome::kFound: return CompileOutcome::kDone;
    case DiskQuery::Outcome::kKeyChanged: return CompileOutcome::kKeyChanged;
    case DiskQuery::Outcome::kShortAxes: return CompileOutcome::kShortAxes;
    case DiskQuery::Outcome::kShortSides: return CompileOutcome::kShortSides;
    case DiskQuery::Outcome::kFewLongRows: return CompileOutcome::kFewLongRows;
    case DiskQuery::Outcome::kNothing: break;
  }
  return CompileAnew(function, call, &disk, made);
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
  if (call.has_lengths && function->lengths_made == kMostForLengths) {
    ForgetLengths(function);
    return CompileOutcome::kKeyChanged;
  }
  std::unique_ptr<Specialization> fresh;
  const CompileOutcome outcome = Obtain(function, call, &fresh);
  if (outcome != CompileOutcome::kDone) return outcome;
  fresh->compile_ms = double(runtime::NowNanoseconds() - start) / 1e6;
  if (!Show(function, *fresh)) return CompileOutcome::kFailed;
  *made = fresh.get();
  function->lengths_made += call.has_lengths;
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

CompileOutcome Dump(FunctionState* function, const Arguments& call, const char* what,
                    const char* stage, Ref* text) {
  LockScope lock(&function->lock);
  if (!lock.is_held()) return CompileOutcome::kFailed;
  const Ref statics = StaticsOf(call);
  return AskForText(function, RequestFor(*function, call, statics.get()), what, stage, text);
}

PyObject* DumpSpecialization(FunctionState* function, const Specialization& code, const char* what,
                             const char* stage) {
  LockScope lock(&function->lock);
  return lock.is_held() ? TextOf(function, code, what, stage).release() : nullptr;
}

}  // namespace parakeet::pylib
