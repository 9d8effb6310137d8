#include <algorithm>
#include <string>
#include <utility>

#include "frontend/conversions.h"
#include "frontend/intrinsics.h"
#include "frontend/primitives.h"
#include "frontend/promotion.h"
#include "frontend/python_errors.h"
#include "frontend/static_values.h"

// Functions whose results are known at compile time; the library decides its types with them.
namespace parakeet::frontend {
namespace {

using ir::DType;

ScalarType TypeForPromotion(Evaluator* evaluator, const Value& value) {
  if (value.IsScalar() || value.IsArray()) return PromotionType(value);
  if (value.Elements() != nullptr) return PromotionType(evaluator->AsArray(value));
  return {StaticDType(evaluator, value), false};
}

bool IsPythonNumber(const Value& value, const std::string& name) {
  if (!value.IsScalar()) return false;
  const DType dtype = ir::DTypeOf(value.op());
  // np.float64 and np.complex128 derive from Python's classes, other NumPy scalars do not.
  const bool python = value.IsPythonScalar();
  if (name == "bool") return python && ir::IsBool(dtype);
  if (name == "int") return python && (ir::IsInteger(dtype) || ir::IsBool(dtype));
  if (name == "float") return dtype == DType::kF64;
  return name == "complex" && dtype == DType::kC128;
}

// The type that Python gives a number or an array; null for any other value.
PyRef TypeInPython(Evaluator* evaluator, const Value& value) {
  const ir::Span& span = evaluator->context().span();
  if (!value.IsScalar() && !value.IsArray()) return PyRef();
  if (value.IsPythonScalar()) {
    const DType dtype = ir::DTypeOf(value.op());
    PyTypeObject* type = ir::IsBool(dtype)      ? &PyBool_Type
                         : ir::IsInteger(dtype) ? &PyLong_Type
                         : ir::IsFloat(dtype)   ? &PyFloat_Type
                                                : &PyComplex_Type;
    return PyRef::Borrow(reinterpret_cast<PyObject*>(type));
  }
  const PyRef numpy = Checked(PyImport_ImportModule("numpy"), span);
  if (value.IsArray()) return Checked(PyObject_GetAttrString(numpy.get(), "ndarray"), span);
  const char* name = NumpyName(ir::DTypeOf(value.op()));
  const PyRef dtype = Checked(PyObject_CallMethod(numpy.get(), "dtype", "s", name), span);
  return Checked(PyObject_GetAttrString(dtype.get(), "type"), span);
}

bool IsOf(Evaluator* evaluator, const Value& value, const Value& type) {
  // np.integer, np.floating, numbers.Number: classes that hold several types.
  if (const auto* object = type.TryAs<ObjectValue>();
      object != nullptr &&
      PyObject_IsInstance(object->object.get(), reinterpret_cast<PyObject*>(&PyType_Type)) == 1) {
    const PyRef actual = TypeInPython(evaluator, value);
    const int is_one = actual ? PyObject_IsSubclass(actual.get(), object->object.get()) : 0;
    if (is_one < 0) FailFromPython(evaluator->context().span());
    return is_one == 1;
  }
  if (const auto* dtype = type.TryAs<DTypeValue>()) {
    return value.IsScalar() && !value.IsPythonScalar() && ir::DTypeOf(value.op()) == dtype->dtype;
  }
  if (const auto* builtin = type.TryAs<IntrinsicValue>()) {
    if (builtin->name == "tuple") return value.IsTuple();
    if (builtin->name == "list") return value.IsList();
    if (builtin->name == "slice") return value.Is<SliceValue>();
    if (builtin->name == "ndarray") return value.IsArray();
    return IsPythonNumber(value, builtin->name);
  }
  evaluator->context().FailLimitation(
      "isinstance knows int, float, bool, complex, tuple, list, slice, np.ndarray and dtypes, "
      "not " +
      Describe(type));
}

// NumPy's own object, whose attributes are read at compile time.
Value InfoOf(Evaluator* evaluator, const char* kind, const Value& value) {
  const ir::Span& span = evaluator->context().span();
  const DType dtype = TypeForPromotion(evaluator, value).dtype;
  const PyRef numpy = Checked(PyImport_ImportModule("numpy"), span);
  return ObjectValue{Checked(PyObject_CallMethod(numpy.get(), kind, "s", NumpyName(dtype)), span)};
}

}  // namespace

Value ResultTypeOf(Evaluator* evaluator, const Values& arguments) {
  if (arguments.empty()) {
    evaluator->context().FailUser("ValueError", "at least one array or dtype is required");
  }
  std::vector<ScalarType> types;
  for (const Value& value : arguments) types.push_back(TypeForPromotion(evaluator, value));
  return DTypeValue{ResultDType(types)};
}

Value PromoteTypes(Evaluator* evaluator, const Values& arguments) {
  return DTypeValue{
      Promote(StaticDType(evaluator, arguments[0]), StaticDType(evaluator, arguments[1]))};
}

Value SumType(Evaluator* evaluator, const Values& arguments) {
  const DType dtype = StaticDType(evaluator, arguments[0]);
  if (ir::IsUnsigned(dtype)) return DTypeValue{DType::kU64};
  if (ir::IsBool(dtype) || ir::IsSigned(dtype)) return DTypeValue{DType::kI64};
  return DTypeValue{dtype};
}

Value FloatType(Evaluator* evaluator, const Values& arguments) {
  std::vector<ScalarType> types;
  for (const Value& value : arguments) types.push_back(TypeForPromotion(evaluator, value));
  const Primitive& primitive = *FindPrimitive("arctan2");
  const auto signature = SignatureOf(primitive, types);
  if (!signature) evaluator->context().FailType(NoLoopMessage(primitive, types));
  return DTypeValue{signature->result};
}

Value MemoryOrder(Evaluator* evaluator, const Values& arguments) {
  const Value array = evaluator->AsArray(arguments[0]);
  return Value::String(array.As<ArrayValue>().order == Order::kFortran ? "F" : "C");
}

Value CanCastTo(Evaluator* evaluator, const Values& arguments) {
  const DType from = TypeForPromotion(evaluator, arguments[0]).dtype;
  const DType to = StaticDType(evaluator, arguments[1]);
  const Casting casting =
      arguments[2].IsNone() ? Casting::kSafe : StaticCasting(evaluator, arguments[2]);
  return Value::Bool(CanCast(from, to, casting));
}

Value IsOnDevice(Evaluator* evaluator, const Values& /*arguments*/) {
  return Value::Bool(evaluator->context().on_device);
}

Value FloatInfo(Evaluator* evaluator, const Values& arguments) {
  return InfoOf(evaluator, "finfo", arguments[0]);
}

Value IntegerInfo(Evaluator* evaluator, const Values& arguments) {
  return InfoOf(evaluator, "iinfo", arguments[0]);
}

Value NormaliseAxes(Evaluator* evaluator, const Values& arguments) {
  const int rank = static_cast<int>(evaluator->context().StaticInt(arguments[1], "the rank"));
  Values axes;
  for (int axis : StaticAxes(evaluator, arguments[0], rank)) axes.push_back(Value::Int(axis));
  return Value::Tuple(std::move(axes));
}

Value IsInstance(Evaluator* evaluator, const Values& arguments) {
  const Values one = {arguments[1]};
  const Values& types = arguments[1].Elements() != nullptr ? *arguments[1].Elements() : one;
  return Value::Bool(std::any_of(types.begin(), types.end(), [&](const Value& type) {
    return IsOf(evaluator, arguments[0], type);
  }));
}

}  // namespace parakeet::frontend
