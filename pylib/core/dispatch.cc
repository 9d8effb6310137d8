#include "pylib/core/dispatch.h"

#include <atomic>
#include <memory>
#include <string>

#include "pylib/core/arguments.h"
#include "pylib/core/compile.h"
#include "pylib/core/device_array.h"
#include "pylib/core/device_dispatch.h"
#include "pylib/core/foreign_array.h"
#include "pylib/core/give_up.h"
#include "pylib/core/profile.h"
#include "pylib/core/raise.h"
#include "pylib/core/results.h"
#include "pylib/core/targets.h"
#include "pylib/take_gil.h"
#include "runtime/call.h"
#include "runtime/clock.h"
#include "runtime/openmp_library.h"
#include "runtime/team.h"

namespace parakeet::pylib {

int64_t keyed_calls = 0;
std::atomic<bool> is_timing = false;

namespace {

// How a call is to be run.
struct Mode {
  uint64_t header;                    // of a key that says nothing of what is below
  runtime::Device* device = nullptr;  // null: on the host, or not at all
  int number = -1;                    // the device's (key.h)
  bool any_shapes = false;
  bool profiled = false;
  Said said;  // of the function, as it was when the call began
};

bool Encode(FunctionState* function, Mode mode, PyObject* const* values, Arguments* call) {
  const uint64_t header =
      mode.header | HeaderWord(Target(0), false, mode.any_shapes, mode.profiled);
  call->key.Append(mode.said.With(header));
  call->short_axes = mode.said.short_axes;
  call->device = mode.number;
  const size_t count = function->parameters.size();
  for (size_t i = 0; i < count; ++i) {
    switch (EncodeArgument(values[i], function->in_key[i], call)) {
      case Encoded::kYes: break;
      case Encoded::kRefused:
        if (MayBeForeignArray(values[i])) throw ForeignArgument{i, Ref::Borrow(values[i])};
        RaiseRefusal(function->function.get(), i, values[i]);
        return false;
      case Encoded::kFailed: return false;
    }
  }
  return true;
}

// Arguments that share memory need code that assumes nothing, where it stores to them.
bool IsRightVariant(const Specialization& found, uint64_t header, const ArrayArgument* arrays) {
  if (!found.writes_arguments || MayOverlap(header)) return true;
  return !HasOverlap(arrays, found.manifest.written);
}

// Looks for the code of an earlier call that was like this one.
class Recall {
 public:
  Recall(FunctionState* function, Target target, Said said, PyObject* const* values,
         DirectArguments* call)
      : table_(function->table),
        header_(said.With(HeaderWord(target, false))),
        in_key_(function->in_key.data()),
        short_axes_(said.short_axes),
        values_(values),
        call_(call) {}

  // With the call's arguments. Null where there is none, or where more has to be asked than the
  // arguments and guards.
  Specialization* Find() {
    if (is_profiling.load(std::memory_order_relaxed)) return nullptr;
    Specialization* expected = table_.recent(table_.expected());
    if (expected == nullptr) return nullptr;
    if (Takes(*expected)) return IsRight(expected) ? table_.Took(table_.expected()) : nullptr;
    return FindAmongOthers();
  }

 private:
  [[gnu::noinline]] Specialization* FindAmongOthers() {
    for (size_t at = 0; at < SpecializationTable::kRecent; ++at) {
      Specialization* code = table_.recent(at);
      if (code == nullptr) return nullptr;
      if (at == table_.expected()) continue;
      call_->Release();
      if (Takes(*code)) return IsRight(code) ? table_.Took(at) : nullptr;
    }
    return nullptr;
  }

  bool Takes(const Specialization& code) {
    return code.expected.Take(header_, in_key_, short_axes_, values_, call_);
  }

  bool IsRight(Specialization* code) {
    if (!code->outside.Holds()) return false;
    if (code->outside.has_captures() && !code->outside.TakeCaptures(code->expected, call_)) {
      return false;
    }
    const bool is_alone = code->expected.array_count() == 1 && !code->expected.has_strided();
    return is_alone || IsRightVariant(*code, 0, call_->arrays);
  }

  const SpecializationTable& table_;
  const uint64_t header_;
  const uint8_t* const in_key_;
  const bool short_axes_;
  PyObject* const* const values_;
  DirectArguments* const call_;
};

// What to run for an encoded call, with its captures appended.
class Selection {
 public:
  Selection(FunctionState* function, Arguments* call) : function_(function), call_(call) {}

  CompileOutcome Select(Specialization** selected) {
    const size_t slots = call_->slots.size(), arrays = call_->arrays.size();
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      Specialization* found = function_->table.Find(*call_);
      if (found == nullptr || !found->outside.Holds()) {
        const CompileOutcome outcome = Compile(function_, *call_, &found);
        if (outcome != CompileOutcome::kDone) return outcome;
      }
      call_->slots.Shrink(slots);
      call_->arrays.Shrink(arrays);
      const Encoded captured = found->outside.has_captures()
                                   ? found->outside.ReadCaptures(found->manifest, call_)
                                   : Encoded::kYes;
      if (captured == Encoded::kFailed) return CompileOutcome::kFailed;
      if (captured == Encoded::kRefused) {
        function_->table.Drop(found);
        continue;
      }
      if (IsRightVariant(*found, call_->key[0], call_->arrays.data())) {
        *selected = found;
        return CompileOutcome::kDone;
      }
      call_->key[0] |= HeaderWord(Target(0), true);
    }
    PyErr_SetString(PyExc_RuntimeError, "outside names changed while the function was compiled");
    return CompileOutcome::kFailed;
  }

 private:
  static constexpr int kMaxAttempts = 4;

  FunctionState* function_;
  Arguments* call_;
};

// How often a key may turn out to say too little: of each parameter, its value and its lengths, and
// of all which last axes are short, and whether sides are. Or too much.
size_t MostRounds(const FunctionState& function) { return 2 * function.parameters.size() + 5; }

// Has keys say what was asked for, of this call and those to come.
void SayMore(CompileOutcome asked, FunctionState* function, Mode* mode) {
  if (asked == CompileOutcome::kShortAxes) function->said.short_axes = mode->said.short_axes = true;
  if (asked == CompileOutcome::kShortSides)
    function->said.short_sides = mode->said.short_sides = true;
  if (asked == CompileOutcome::kFewLongRows) function->said.few_rows = mode->said.few_rows = true;
}

// Encodes and selects until the key says all that the code needs; each round adds to it.
Specialization* Select(FunctionState* function, Mode mode, PyObject* const* values,
                       std::unique_ptr<Arguments>* later, Arguments* first) {
  Arguments* call = first;
  for (size_t round = 0; round < MostRounds(*function); ++round) {
    if (!Encode(function, mode, values, call)) return nullptr;
    Specialization* selected = nullptr;
    const CompileOutcome outcome = Selection(function, call).Select(&selected);
    if (outcome == CompileOutcome::kDone) return selected;
    if (outcome == CompileOutcome::kFailed) return nullptr;
    SayMore(outcome, function, &mode);
    *later = std::make_unique<Arguments>();
    call = later->get();
  }
  PyErr_SetString(PyExc_SystemError, "the compiler needs the value of a parameter in vain");
  return nullptr;
}

// What rarely happens in a call stands apart: a small one pays for no frame of it.
[[gnu::noinline]] int32_t RunWithoutGil(Specialization* code, runtime::Call* call,
                                        const uint64_t* args, uint64_t* results) {
  PyThreadState* state = PyEval_SaveThread();
  const int32_t status = code->Run(call, args, results);
  // Waiting for the GIL is no region's.
  if (call->profile() != nullptr) call->profile()->End();
  PkTakeGil(state);
  return status;
}

inline int32_t RunCode(Specialization* code, runtime::Call* call, const uint64_t* args,
                       uint64_t* results) {
  if (code->IsLong(args)) return RunWithoutGil(code, call, args, results);
  return code->Run(call, args, results);
}

struct Timed {
  int32_t status;
  int64_t start, end;  // as runtime::NowNanoseconds has them
};

[[gnu::noinline]] Timed RunTimed(Specialization* code, runtime::Call* call, const uint64_t* args,
                                 uint64_t* results) {
  const int64_t start = runtime::NowNanoseconds();
  const int32_t status = RunCode(code, call, args, results);
  const int64_t end = runtime::NowNanoseconds();
  code->run_ns += end - start;
  ++code->timed_calls;
  return {status, start, end};
}

[[gnu::noinline]] int32_t RunProfiled(const FunctionState& function, Specialization* code,
                                      runtime::Call* call, const uint64_t* args,
                                      uint64_t* results) {
  runtime::Profile profile(code->manifest.regions.size());
  call->set_profile(&profile);
  const Timed run = RunTimed(code, call, args, results);
  // Of a call that has failed: no region takes longer than all.
  profile.End(run.end);
  call->set_profile(nullptr);
  const bool gave_up = run.status > 0 && WhyGivenUp(code->manifest, call->error()) != GaveUp::kNo;
  if (!gave_up) RecordCall(function, code, profile, run.end - run.start, run.status != 0);
  return run.status;
}

// Runs the code, timed where somebody asks for times.
inline int32_t RunObserved(const FunctionState& function, Specialization* code, runtime::Call* call,
                           const uint64_t* args, uint64_t* results) {
  if (is_profiling.load(std::memory_order_relaxed))
    return RunProfiled(function, code, call, args, results);
  if (is_timing.load(std::memory_order_relaxed)) return RunTimed(code, call, args, results).status;
  return RunCode(code, call, args, results);
}

// Code that is called again and again has its threads, however little each call does.
constexpr int64_t kCallsWithoutThreads = 16;

// TeamFor where the OpenMP library may not be there yet.
[[gnu::noinline]] int32_t BindTeam(Specialization* code, const uint64_t* args, int32_t team) {
  if (code->calls <= kCallsWithoutThreads && !code->IsLong(args)) return 1;
  const std::string why = runtime::BindOpenMp();
  if (why.empty()) return team;
  PyErr_SetString(PyExc_OSError, why.c_str());
  return 0;
}

// How many threads a call may use. The first that has something for several to do waits until the
// OpenMP library is there. 0 with an exception set where it cannot be had.
inline int32_t TeamFor(Specialization* code, const uint64_t* args) {
  const runtime::Image* image = code->image.get();
  if (image != nullptr && !image->has_regions()) return 1;
  const int32_t team = runtime::ThreadCount();
  if (team == 1 || image == nullptr || runtime::IsOpenMpBound()) return team;
  return BindTeam(code, args, team);
}

// What a call has failed with, as an exception; nothing where its code has given up.
[[gnu::noinline]] void Raise(const Manifest& manifest, const runtime::ErrorRecord& error,
                             GaveUp* gave_up) {
  *gave_up = WhyGivenUp(manifest, error);
  if (*gave_up == GaveUp::kNo) RaiseRunError(manifest, error);
}

// Null, without an exception where the code has given up.
PyObject* RunCall(const FunctionState& function, Specialization* code, Target target,
                  const uint64_t* slots, const ArrayArgument* arrays, GaveUp* gave_up) {
  const Running running(code);
  InlineVector<uint64_t, 32> results;
  results.Extend(code->manifest.result_slots);
  const bool is_parallel = target == Target::kParallel;
  const int32_t team = is_parallel ? TeamFor(code, slots) : 1;
  if (team == 0) return nullptr;
  runtime::Call call(team);
  const int32_t status = RunObserved(function, code, &call, slots, results.data());
  if (status == 0) return BuildResult(code->manifest, arrays, &call, results.data());
  if (status > 0) Raise(code->manifest, call.error(), gave_up);
  return nullptr;
}

bool HasPlaceholder(const Arguments& call) {
  for (const ArrayArgument& argument : call.arrays) {
    if (Py_TYPE(argument.array) == array_placeholder_type) return true;
  }
  return false;
}

[[gnu::noinline]] PyObject* DispatchIn(FunctionState* function, Mode mode, PyObject* const* values,
                                       GaveUp* gave_up) {
  ++keyed_calls;
  Arguments first;
  std::unique_ptr<Arguments> later;
  Specialization* code = Select(function, mode, values, &later, &first);
  if (code == nullptr) return nullptr;
  const Arguments& call = later ? *later : first;
  if (array_placeholder_type != nullptr && HasPlaceholder(call)) {
    PyErr_SetString(PyExc_TypeError, "array_type stands for an array in compile() only");
    return nullptr;
  }
  function->last = code;
  if (mode.device != nullptr) {
    const bool is_timed = is_timing.load(std::memory_order_relaxed);
    return RunOnDevice(*function, code, mode.device, call, is_timed, gave_up);
  }
  return RunCall(*function, code, TargetOf(mode.header), call.slots.data(), call.arrays.data(),
                 gave_up);
}

// Has keys say what the code asked for that has given up; where they do, that it takes any shapes.
void SayMore(GaveUp gave_up, FunctionState* function, Mode* mode) {
  if (gave_up == GaveUp::kShortAxes && !mode->said.short_axes) {
    function->said.short_axes = mode->said.short_axes = true;
  } else if (gave_up == GaveUp::kShortSides && !mode->said.short_sides) {
    function->said.short_sides = mode->said.short_sides = true;
  } else if (gave_up == GaveUp::kFewLongRows && !mode->said.few_rows) {
    function->said.few_rows = mode->said.few_rows = true;
  } else {
    mode->any_shapes = true;
  }
}

// The call in full; what comes behind a first try where that has given up.
PyObject* DispatchFrom(FunctionState* function, Mode mode, PyObject* const* values,
                       GaveUp gave_up) {
  PyObject* result = nullptr;
  if (gave_up == GaveUp::kNo) result = DispatchIn(function, mode, values, &gave_up);
  while (gave_up != GaveUp::kNo && !mode.any_shapes) {
    SayMore(gave_up, function, &mode);
    gave_up = GaveUp::kNo;
    result = DispatchIn(function, mode, values, &gave_up);
  }
  return result;
}

// As above, on the host.
[[gnu::noinline]] PyObject* DispatchInFull(FunctionState* function, Target target, Said said,
                                           PyObject* const* values, GaveUp gave_up) {
  if (had_device_arrays) {
    const size_t count = function->parameters.size();
    if (HasForeignArray(values, count)) {
      const int given = GivenTarget(function->target);
      return given == -1 ? nullptr : DispatchForeign(function, given, values);
    }
    if (PyObject* array = FindDeviceArray(values, count)) {
      const int given = GivenTarget(function->target);
      if (given == -1) return nullptr;
      if (given == kNoTarget) return DispatchOnDevice(function, NumberOf(array), values);
      return DispatchOnHost(function, target, values);
    }
  }
  Mode mode = {HeaderWord(target, false)};
  mode.said = said;
  mode.profiled = is_profiling.load(std::memory_order_relaxed) && target != Target::kInterpreter;
  return DispatchFrom(function, mode, values, gave_up);
}

// To compile for, whether or not the device is there.
Mode ModeToShow(const FunctionState& function, int number) {
  Mode mode = {HeaderWord(TargetOfNumber(number), false)};
  if (HasDevice(TargetOfNumber(number))) {
    mode.header = HeaderToShow(number);
    mode.number = number;
  }
  mode.said = function.said;
  return mode;
}

}  // namespace

PyObject* Dispatch(FunctionState* function, Target target, PyObject* const* values) {
  const Said said = function->said;
  GaveUp gave_up = GaveUp::kNo;
  DirectArguments call;
  Specialization* code = Recall(function, target, said, values, &call).Find();
  if (code != nullptr) {
    function->last = code;
    PyObject* result = RunCall(*function, code, target, call.slots, call.arrays, &gave_up);
    if (gave_up == GaveUp::kNo) return result;
  }
  return DispatchInFull(function, target, said, values, gave_up);
}

PyObject* EndFailedCall(FunctionState* function, const Specialization& code, Target target,
                        PyObject* const* values, const runtime::ErrorRecord& error) {
  GaveUp gave_up = GaveUp::kNo;
  Raise(code.manifest, error, &gave_up);
  if (gave_up == GaveUp::kNo) return nullptr;
  return DispatchInFull(function, target, function->said, values, gave_up);
}

// Device arrays come down, and up again where the function has stored to arguments.
PyObject* DispatchOnHost(FunctionState* function, Target target, PyObject* const* values) {
  Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(function->parameters.size())));
  for (size_t i = 0; tuple && i < function->parameters.size(); ++i) {
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), Ref::Borrow(values[i]).release());
  }
  Ref module = tuple ? Ref::Steal(PyImport_ImportModule("parakeet.host_copies")) : Ref();
  if (!module) return nullptr;
  // The values with arrays of the host, and what gives those back.
  Ref pair = Ref::Steal(PyObject_CallMethod(module.get(), "take_down", "(O)", tuple.get()));
  if (!pair) return nullptr;
  InlineVector<PyObject*, 16> on_host;
  PyObject* taken = PyTuple_GetItem(pair.get(), 0);
  for (Py_ssize_t i = 0; i < PyTuple_Size(taken); ++i) on_host.Append(PyTuple_GetItem(taken, i));
  Ref result = Ref::Steal(Dispatch(function, target, on_host.data()));
  if (function->last == nullptr || !function->last->writes_arguments) return result.release();
  PyObject *kind = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&kind, &value, &traceback);
  Ref done = Ref::Steal(PyObject_CallNoArgs(PyTuple_GetItem(pair.get(), 1)));
  if (kind != nullptr) PyErr_Restore(kind, value, traceback);
  return done ? result.release() : nullptr;
}

PyObject* DispatchOnDevice(FunctionState* function, int number, PyObject* const* values) {
  runtime::Device* device = OpenDeviceOf(number);
  if (device == nullptr) return nullptr;
  Mode mode = {HeaderOn(*device), device, number};
  mode.said = function->said;
  return DispatchFrom(function, mode, values, GaveUp::kNo);
}

Specialization* Prepare(FunctionState* function, int number, PyObject* const* values) {
  Arguments first;
  std::unique_ptr<Arguments> later;
  return Select(function, ModeToShow(*function, number), values, &later, &first);
}

PyObject* DumpFor(FunctionState* function, int number, PyObject* const* values, const char* what,
                  const char* stage) {
  Mode mode = ModeToShow(*function, number);
  for (size_t round = 0; round < MostRounds(*function); ++round) {
    Arguments call;
    if (!Encode(function, mode, values, &call)) return nullptr;
    Ref text;
    const CompileOutcome outcome = Dump(function, call, what, stage, &text);
    if (outcome == CompileOutcome::kDone) return text.release();
    if (outcome == CompileOutcome::kFailed) return nullptr;
    SayMore(outcome, function, &mode);
  }
  PyErr_SetString(PyExc_SystemError, "the compiler needs the value of a parameter in vain");
  return nullptr;
}

void SetTiming(bool is_on) { is_timing.store(is_on, std::memory_order_relaxed); }

}  // namespace parakeet::pylib
