#include "frontend/string_methods.h"

#include "frontend/python_errors.h"

namespace parakeet::frontend {
namespace {

PyRef TextOf(const StringValue& value) {
  return Checked(
      PyUnicode_FromStringAndSize(value.text.data(), static_cast<Py_ssize_t>(value.text.size())));
}

// A string, an integer, None or a tuple of these.
PyRef ObjectOf(Evaluator* evaluator, const Value& value, const std::string& name) {
  if (const auto* text = value.TryAs<StringValue>(); text != nullptr && !text->is_format) {
    return TextOf(*text);
  }
  if (value.IsNone()) return PyRef::Borrow(Py_None);
  if (value.IsPythonScalar() && value.op().IsConstant() && ir::IsInteger(ir::DTypeOf(value.op()))) {
    return Checked(PyLong_FromLongLong(value.op().constant().integer));
  }
  if (value.IsTuple()) {
    const Values& elements = *value.Elements();
    PyRef tuple = Checked(PyTuple_New(static_cast<Py_ssize_t>(elements.size())));
    for (size_t i = 0; i < elements.size(); ++i) {
      PyRef element = ObjectOf(evaluator, elements[i], name);
      Py_INCREF(element.get());
      PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), element.get());
    }
    return tuple;
  }
  evaluator->context().FailLimitation("an argument of a string's method " + name +
                                      " must be known at compile time: strings and integers, "
                                      "not " +
                                      Describe(value));
}

}  // namespace

bool HasStringMethod(const Value& value, const std::string& name) {
  const auto* text = value.TryAs<StringValue>();
  if (text == nullptr || text->is_format) return false;
  return PyObject_HasAttrString(TextOf(*text).get(), name.c_str()) == 1;
}

Value CallStringMethod(Evaluator* evaluator, const Value& self, const std::string& name,
                       const Arguments& arguments) {
  Context& context = evaluator->context();
  if (!arguments.keywords.empty()) {
    context.FailLimitation("keyword arguments of a string's method " + name);
  }
  const PyRef text = TextOf(self.As<StringValue>());
  const PyRef method = Checked(PyObject_GetAttrString(text.get(), name.c_str()));
  const PyRef positional = ObjectOf(evaluator, Value::Tuple(arguments.positional), name);
  const PyRef result = PyRef::Steal(PyObject_CallObject(method.get(), positional.get()));
  if (!result) FailFromPython(context.span());
  Value value = evaluator->resolver().FromPython(result.get(), evaluator->frame().home);
  if (value.IsUndefined()) context.FailLimitation("what a string's method " + name + " gives");
  return value;
}

}  // namespace parakeet::frontend
