#include <optional>
#include <string_view>
#include <utility>

#include "frontend/array_parameter.h"
#include "frontend/evaluator.h"
#include "frontend/registry.h"

namespace parakeet::frontend {

namespace {

// What parakeet.growing_lists calls, by a name that no user can write.
std::optional<Value> FunctionOfLists(const std::string& name) {
  constexpr std::string_view kPrefix = "parakeet.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return LibraryFunction(name.substr(kPrefix.size()));
}

}  // namespace

Value Evaluator::ReadOutside(PyObject* home, const std::string& name) {
  if (const auto function = FunctionOfLists(name)) return *function;
  const Resolver::Found found = resolver_->Find(home, name);
  if (!found.object) {
    // Python raises where the name is read; so do we, at the name, before anything runs.
    context_->FailUser("NameError", "name '" + name + "' is not defined");
  }
  return ValueOfOutside({found.kind, PyRef::Borrow(home), name, {}, {}}, found.object.get());
}

Value Evaluator::ReadDefault(PyObject* function, const std::string& parameter) {
  const PyRef value = resolver_->DefaultOf(function, parameter);
  if (!value) ir::FailBug("a parameter's default value is missing", context_->span());
  return ValueOfOutside({NamespaceKind::kDefault, PyRef::Borrow(function), parameter, {}, {}},
                        value.get());
}

// The value of what was found at `place`: an array becomes a parameter, alone or in a tuple.
Value Evaluator::ValueOfOutside(Capture place, PyObject* object) {
  if (Resolver::IsArray(object)) {
    place.argument = Resolver::Describe(object, place.name, context_->span());
    return CapturedArray(resolver_->CaptureOf(std::move(place)));
  }
  if (PyTuple_Check(object)) {
    Values elements;
    for (Py_ssize_t i = 0; i < PyTuple_Size(object); ++i) {
      Capture element = place;
      element.path.push_back(static_cast<int>(i));
      elements.push_back(ValueOfOutside(std::move(element), PyTuple_GetItem(object, i)));
    }
    return Value::Tuple(std::move(elements));
  }
  Value value = resolver_->FromPython(object, place.function);
  if (value.IsUndefined()) {
    context_->FailLimitation("'" + place.name + "' is " + NameOfObject(object) +
                             ", which jitted code cannot use; pass numbers, arrays or tuples");
  }
  return value;
}

Value Evaluator::CapturedArray(int capture) {
  for (const auto& [known, value] : frame_->captures) {
    if (known == capture) return value;
  }
  const Capture& what = resolver_->captures()[capture];
  const ArrayParameter made = MakeArrayParameter(builder(), what.argument, what.name);
  frame_->captures.emplace_back(capture, made.value);
  frame_->capture_params.push_back(made.param);
  if (frame_->is_entry) {
    for (const ir::Operand& dim : made.value.As<ArrayValue>().dims()) {
      context_->AddParameterSize(dim);
    }
  } else {
    // Only the entry function is told how its arrays lie.
    frame_->capture_params.back().layout = ir::Layout::kStrided;
    frame_->capture_params.back().aligned = false;
  }
  return made.value;
}

}  // namespace parakeet::frontend
