#include "pylib/core/profile.h"

#include <memory>
#include <utility>

#include "pylib/core/inspect.h"

namespace parakeet::pylib {

std::atomic<bool> is_profiling = false;

namespace {

// What was called in the profile that runs.
struct Called {
  Ref function;
  Ref record;
  std::vector<RegionPlace> places;
  std::shared_ptr<CallTotals> totals;
};

struct Session {
  int64_t number = 0;
  std::vector<Called> called;
};

Session& TheSession() {
  static auto* const session = new Session;
  return *session;
}

// A number, or None where what was counted is not all.
PyObject* Counted(int64_t value, bool is_all) {
  return is_all ? PyLong_FromLongLong(value) : Ref::Borrow(Py_None).release();
}

PyObject* RegionOf(const RegionPlace& place, const runtime::RegionTotals& totals) {
  return Py_BuildValue("{sss(iiii)sLsLsNsNsL}", "file", place.file.c_str(), "span", int(place.line),
                       int(place.column), int(place.end_line), int(place.end_column), "entries",
                       (long long)totals.entries, "ns", (long long)totals.ns, "bytes",
                       Counted(totals.bytes, totals.knows_bytes), "operations",
                       Counted(totals.operations, totals.knows_operations), "allocated",
                       (long long)totals.allocated);
}

PyObject* TotalsOf(const Called& called) {
  Ref regions = Ref::Steal(PyList_New(0));
  for (size_t i = 0; regions && i < called.places.size(); ++i) {
    const Ref region = Ref::Steal(RegionOf(called.places[i], called.totals->regions[i]));
    if (!region || PyList_Append(regions.get(), region.get()) != 0) return nullptr;
  }
  if (!regions) return nullptr;
  const CallTotals& totals = *called.totals;
  return Py_BuildValue("{sLsLsLsLsN}", "calls", (long long)totals.calls, "failed",
                       (long long)totals.failed, "ns", (long long)totals.ns, "allocated",
                       (long long)totals.allocated, "regions", regions.release());
}

bool Complete(const Called& called) {
  const Ref totals = Ref::Steal(TotalsOf(called));
  return totals && PyDict_SetItemString(called.record.get(), "profile", totals.get()) == 0 &&
         PyDict_SetItemString(called.record.get(), "function", called.function.get()) == 0;
}

// The totals of a specialization in this profile; null where there is no memory for them.
CallTotals* TotalsFor(const FunctionState& function, Specialization* code) {
  Session& session = TheSession();
  if (code->profile != nullptr && code->profile->profile == session.number)
    return code->profile.get();
  auto totals = std::make_shared<CallTotals>();
  totals->profile = session.number;
  totals->regions.resize(code->manifest.regions.size());
  Ref record = RecordOf(*code, false);
  if (!record) {
    PyErr_Clear();
    return nullptr;
  }
  session.called.push_back(
      {Ref::Borrow(function.object), std::move(record), code->manifest.regions, totals});
  code->profile = std::move(totals);
  return code->profile.get();
}

}  // namespace

bool StartProfile() {
  if (is_profiling.load()) {
    PyErr_SetString(PyExc_RuntimeError, "a profile is running already: there is one at a time");
    return false;
  }
  ++TheSession().number;
  is_profiling.store(true);
  return true;
}

PyObject* StopProfile() {
  is_profiling.store(false);
  const std::vector<Called> called = std::exchange(TheSession().called, {});
  Ref list = Ref::Steal(PyList_New(0));
  for (const Called& each : called) {
    if (!list || !Complete(each) || PyList_Append(list.get(), each.record.get()) != 0)
      return nullptr;
  }
  return list.release();
}

void RecordCall(const FunctionState& function, Specialization* code, const runtime::Profile& call,
                int64_t ns, bool has_failed) {
  if (!is_profiling.load()) return;
  CallTotals* totals = TotalsFor(function, code);
  if (totals == nullptr) return;
  ++totals->calls;
  totals->failed += has_failed;
  totals->ns += ns;
  totals->allocated += call.allocated();
  for (size_t i = 0; i < totals->regions.size() && i < call.regions().size(); ++i)
    totals->regions[i].Add(call.regions()[i]);
}

}  // namespace parakeet::pylib
