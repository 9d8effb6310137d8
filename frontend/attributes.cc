#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/elementwise.h"
#include "frontend/indexing.h"
#include "frontend/intrinsics.h"
#include "frontend/python_errors.h"
#include "frontend/registry.h"
#include "frontend/string_methods.h"

// What follows a dot.
namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

DType DTypeOf(const Value& value) {
  return value.IsArray() ? value.As<ArrayValue>().dtype() : ir::DTypeOf(value.op());
}

Dims DimsOf(const Value& value) { return value.IsArray() ? value.As<ArrayValue>().dims() : Dims(); }

Value ShapeTuple(const Value& value) {
  Values sizes;
  for (const Operand& dim : DimsOf(value)) sizes.push_back(Value::Python(dim));
  return Value::Tuple(std::move(sizes));
}

Operand CountOf(Evaluator* evaluator, const Value& value) {
  Operand count = Operand::Int(1);
  for (const Operand& dim : DimsOf(value)) count = evaluator->builder().Mul(count, dim);
  return count;
}

Value PartOf(Evaluator* evaluator, const char* primitive, const Value& value) {
  const bool is_array = value.IsArray();
  if (is_array && !ir::IsComplex(DTypeOf(value)) && std::string(primitive) == "real") return value;
  const Value part = ApplyPrimitive(evaluator, *FindPrimitive(primitive), {value});
  if (part.IsArray()) {
    ArrayValue view{part.op(), Access::kPart, false, part.As<ArrayValue>().order};
    // Where the whole may not be stored to, nor is the part: it keeps on being refused.
    if (is_array && ir::IsComplex(DTypeOf(value)) &&
        value.As<ArrayValue>().access == Access::kWritable) {
      view.whole = value.op();
      view.is_imaginary = std::string(primitive) == "imag";
    }
    return view;
  }
  if (!value.IsPythonScalar()) return part;
  // An int's parts are ints, a bool's too.
  const bool is_bool = ir::IsBool(ir::DTypeOf(part.op()));
  return Value::Python(is_bool ? evaluator->builder().Cast(part.op(), DType::kI64) : part.op());
}

Value SizeInBytes(Evaluator*, const Value& value) {
  return Value::Int(ir::SizeInBytes(DTypeOf(value)));
}

// The last two axes change places.
Value MatrixTranspose(Evaluator* evaluator, const Value& value) {
  if (DimsOf(value).size() < 2) {
    evaluator->context().FailUser("ValueError", "matrix transpose with ndim < 2 is undefined");
  }
  return MoveAxes(evaluator, {value, Value::Int(-1), Value::Int(-2)});
}

// All elements in C order. They are copied: what is stored to the array later does not show.
Value FlatElements(Evaluator* evaluator, const Value& value) {
  if (!value.IsArray()) return evaluator->AsArray(value);
  return evaluator->CopyArray(ReshapeArray(evaluator, {value, Value::Int(-1)}));
}

// Attributes of arrays and NumPy scalars.
struct ArrayAttribute {
  const char* name;
  Value (*read)(Evaluator*, const Value&);
};

constexpr ArrayAttribute kArrayAttributes[] = {
    {"shape", [](Evaluator*, const Value& v) { return ShapeTuple(v); }},
    {"ndim",
     [](Evaluator*, const Value& v) { return Value::Int(static_cast<int64_t>(DimsOf(v).size())); }},
    {"size", [](Evaluator* e, const Value& v) { return Value::Python(CountOf(e, v)); }},
    {"dtype", [](Evaluator*, const Value& v) { return Value(DTypeValue{DTypeOf(v)}); }},
    {"itemsize", SizeInBytes},
    {"nbytes",
     [](Evaluator* e, const Value& v) {
       return Value::Python(e->builder().Mul(CountOf(e, v), SizeInBytes(e, v).op()));
     }},
    {"T", [](Evaluator* e,
             const Value& v) { return v.IsArray() ? TransposeAxes(e, {v, Value::None()}) : v; }},
    {"mT", MatrixTranspose},
    {"flat", FlatElements},
    {"real", [](Evaluator* e, const Value& v) { return PartOf(e, "real", v); }},
    {"imag", [](Evaluator* e, const Value& v) { return PartOf(e, "imag", v); }},
};

// The methods of Python's numbers that are known here.
bool IsNumberMethod(const std::string& name) {
  return name == "conjugate" || name == "is_integer" || name == "bit_length" || name == "bit_count";
}

// The type that such a value has outside: "numpy.ndarray", "float".
std::string TypeOutside(const Value& value) {
  if (value.Is<DTypeValue>()) return "numpy.dtype";
  return value.Is<PrimitiveValue>() ? "numpy.ufunc" : PythonTypeName(value);
}

// Whether values of that type have the attribute in Python.
bool HasInPython(const std::string& type, const std::string& name) {
  const size_t dot = type.find('.');
  const std::string module = dot == std::string::npos ? "builtins" : type.substr(0, dot);
  const std::string part = dot == std::string::npos ? type : type.substr(dot + 1);
  const PyRef imported = PyRef::Steal(PyImport_ImportModule(module.c_str()));
  const PyRef object =
      imported ? PyRef::Steal(PyObject_GetAttrString(imported.get(), part.c_str())) : PyRef();
  if (!object) PyErr_Clear();  // "module", "function": no type by that name.
  return object && PyObject_HasAttrString(object.get(), name.c_str()) == 1;
}

[[noreturn]] void FailAttribute(const Context& context, const Value& value,
                                const std::string& name) {
  const std::string type = TypeOutside(value);
  if (HasInPython(type, name)) {
    context.FailLimitation("'" + name + "' of '" + type +
                           "' is not among what jitted code may use");
  }
  if (value.IsTuple()) {
    context.FailUser("AttributeError", "'tuple' object has no attribute '" + name +
                                           "' (a named tuple comes in as a tuple: unpack it, or "
                                           "use an index)");
  }
  context.FailUser("AttributeError",
                   "'" + PythonTypeName(value) + "' object has no attribute '" + name + "'");
}

Value DTypeAttribute(Evaluator* evaluator, const Value& value, const std::string& name) {
  const DType dtype = value.As<DTypeValue>().dtype;
  if (name == "itemsize") return Value::Int(ir::SizeInBytes(dtype));
  if (name == "name") return Value::String(NumpyName(dtype));
  if (name == "type") return value;
  if (name == "kind") {
    const char* kinds[] = {"b", "u", "i", "f", "c"};
    return Value::String(kinds[static_cast<int>(ir::KindOf(dtype))]);
  }
  FailAttribute(evaluator->context(), value, name);
}

bool IsRangePart(const std::string& name, size_t* part) {
  constexpr const char* kParts[] = {"start", "stop", "step"};
  const auto* found = std::find(std::begin(kParts), std::end(kParts), name);
  *part = found - std::begin(kParts);
  return found != std::end(kParts);
}

// An attribute of a Python object that is read at compile time: modules, namespaces, np.finfo(...).
Value ObjectAttribute(Evaluator* evaluator, PyObject* object, const std::string& name) {
  Context& context = evaluator->context();
  const PyRef& home = evaluator->frame().home;
  const PyRef found = evaluator->resolver().AttributeOf(object, name, home);
  if (!found) FailFromPython(context.span());
  Value value = evaluator->resolver().FromPython(found.get(), home);
  if (!value.IsUndefined()) return value;
  if (Resolver::IsArray(found.get())) {
    context.FailLimitation(
        "an array held by an attribute of another object; assign it to a global "
        "name, or pass it as an argument");
  }
  context.FailLimitation("'" + name +
                         "' has no meaning inside jitted code; pass what it holds as an "
                         "argument");
}

}  // namespace

Value Evaluator::Attribute(const Value& value, const std::string& name) {
  if (value.IsArray() || value.IsScalar()) {
    const bool python_only_parts = value.IsPythonScalar() && name != "real" && name != "imag";
    const auto* found = std::find_if(std::begin(kArrayAttributes), std::end(kArrayAttributes),
                                     [&](const ArrayAttribute& a) { return name == a.name; });
    if (found != std::end(kArrayAttributes) && !python_only_parts) return found->read(this, value);
    const bool has_method = value.IsPythonScalar()
                                ? HasInPython(PythonTypeName(value), name) && IsNumberMethod(name)
                                : resolver_->MethodNamed(name, frame_->home).has_value();
    if (!has_method) FailAttribute(*context_, value, name);
    return Value::Method(value, name);
  }
  if (const auto* module = value.TryAs<ModuleValue>())
    return ObjectAttribute(this, module->module.get(), name);
  if (const auto* object = value.TryAs<ObjectValue>())
    return ObjectAttribute(this, object->object.get(), name);
  if (value.Is<DTypeValue>()) return DTypeAttribute(this, value, name);
  size_t part = 0;
  if (const auto* slice = value.TryAs<SliceValue>(); slice != nullptr && IsRangePart(name, &part)) {
    return (*slice->parts)[part];
  }
  if (const auto* function = value.TryAs<PrimitiveValue>()) {
    if (name == "__name__") return Value::String(function->name);
    if (name == "nin") return Value::Int(CountOperands(function->name));
    if (LookUpUfuncMethod(name)) return Value::Method(value, name);
  }
  if (const auto* function = value.TryAs<UserFunctionValue>();
      function != nullptr && function->stands_for) {
    const std::optional<Value> replaced = LookUpObject(function->stands_for.get());
    if (replaced && replaced->Is<PrimitiveValue>()) return Attribute(*replaced, name);
  }
  if (HasStringMethod(value, name)) return Value::Method(value, name);
  if (value.Elements() != nullptr &&
      (name == "index" || name == "count" || name == "append" || name == "pop")) {
    context_->FailLimitation(
        "methods of tuples, and of lists that are held by several names, are passed over by a loop "
        "that changes them, or hold lists; use an array");
  }
  FailAttribute(*context_, value, name);
}

std::optional<Value> Evaluator::StoreAttribute(const Value& value, const std::string& name,
                                               const Value& stored) {
  if (!value.IsArray()) FailAttribute(*context_, value, name);
  if (name == "shape") return ReshapeArray(this, {value, stored});
  if (name != "real" && name != "imag") {
    context_->FailUser("AttributeError",
                       "attribute '" + name + "' of numpy.ndarray cannot be assigned here");
  }
  const auto& array = value.As<ArrayValue>();
  RequireWritable(context_, array);
  if (!ir::IsComplex(array.dtype())) {
    if (name == "imag") context_->FailType("cannot set imaginary part of a real array");
    CopyInto(stored, value);
    return std::nullopt;
  }
  const Value other = SettleNumber(this, stored, "." + name);
  const Value kept = PartOf(this, name == "real" ? "imag" : "real", value);
  const Values parts = name == "real" ? Values{other, kept} : Values{kept, other};
  const DType part = ir::PartOf(array.dtype());
  const Value joined = MapElements(this, parts, [&](const std::vector<Operand>& elements) {
    ir::Builder& inner = builder();
    return inner.Scalar(OpCode::kMakeComplex,
                        {inner.Cast(elements[0], part), inner.Cast(elements[1], part)});
  });
  CopyInto(joined, value);
  return std::nullopt;
}

Value Evaluator::ReadPart(const Value& value) {
  const auto* array = value.TryAs<ArrayValue>();
  if (array == nullptr || !array->whole) return value;
  return Attribute(Value::Array(*array->whole), array->is_imaginary ? "imag" : "real");
}

Value Evaluator::CallMethod(const Value& self, const std::string& name, Arguments arguments) {
  if (self.Is<StringValue>()) return CallStringMethod(this, self, name, arguments);
  const std::optional<Value> method = self.Is<PrimitiveValue>()
                                          ? LookUpUfuncMethod(name)
                                          : resolver_->MethodNamed(name, frame_->home);
  if (!method) FailAttribute(*context_, self, name);
  if (self.IsPythonScalar() && name == "conjugate") return PartOf(this, "conjugate", self);
  arguments.positional.insert(arguments.positional.begin(), self);
  return CallFunction(*method, std::move(arguments));
}

}  // namespace parakeet::frontend
