#include "pylib/core/make_specialization.h"

#include <span>
#include <string>
#include <utility>

#include "runtime/clock.h"

namespace parakeet::pylib {
namespace {

bool LoadCode(std::string_view image, bool is_checked, Specialization* made) {
  const int64_t start = runtime::NowNanoseconds();
  std::string why;
  made->image = runtime::LoadImage(image.data(), image.size(), &why, is_checked);
  if (made->image == nullptr) PyErr_Format(PyExc_OSError, "cannot load code: %s", why.c_str());
  const double ms = double(runtime::NowNanoseconds() - start) / 1e6;
  made->manifest.phases.push_back({"load", ms});
  return made->image != nullptr;
}

// Whether a call takes as long as any other.
bool DependsOnNoSize(const Manifest& manifest) {
  for (const CostTerm& term : manifest.cost) {
    if (!term.extents.empty()) return false;
  }
  return true;
}

// Whether calls may take the short way of numbers (number_calls.h).
bool IsOfNumbers(const Specialization& made) {
  const std::vector<ResultNode>& results = made.manifest.results;
  return made.expected.has_numbers_alone() && !made.outside.has_captures() && made.is_never_long &&
         !made.image->has_regions() && results.size() == 1 &&
         results.front().kind == ResultKind::kScalar;
}

}  // namespace

std::vector<Ref> OwnedStatics(const Arguments& call) {
  std::vector<Ref> statics;
  for (PyObject* object : call.statics) statics.push_back(Ref::Borrow(object));
  return statics;
}

Ref TupleOf(const std::vector<Ref>& objects) {
  Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(objects.size())));
  for (size_t i = 0; tuple && i < objects.size(); ++i) {
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), Ref(objects[i]).release());
  }
  return tuple;
}

std::unique_ptr<Specialization> MakeSpecialization(const Arguments& call, CompiledParts parts) {
  auto made = std::make_unique<Specialization>();
  made->program = parts.program;
  made->manifest = std::move(parts.manifest);
  made->outside = OutsideObjects(parts.overloads_version, parts.allows_no_overload);
  if (made->program == nullptr && !LoadCode(parts.image, parts.is_image_checked, made.get())) {
    return nullptr;
  }
  made->key.assign(call.key.begin(), call.key.end());
  made->hash = HashKey(call.key.data(), call.key.size());
  made->statics = OwnedStatics(call);
  for (uint8_t is_written : made->manifest.written) made->writes_arguments |= is_written != 0;
  if (!made->outside.Bind(made->manifest, parts.outside.functions.get(),
                          parts.outside.objects.get(), made->statics)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "an outside name cannot be found");
    return nullptr;
  }
  made->is_never_long = DependsOnNoSize(made->manifest) && !made->IsLong(nullptr);
  if (made->image != nullptr) {
    const std::span<const uint64_t> leaves = made->manifest.leaves;
    made->expected.Read(made->key, made->statics, leaves.last(made->manifest.captures.size()));
    made->is_of_numbers = IsOfNumbers(*made);
  }
  return made;
}

}  // namespace parakeet::pylib
