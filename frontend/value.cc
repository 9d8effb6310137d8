#include "frontend/value.h"

#include <algorithm>
#include <type_traits>

#include "frontend/promotion.h"

namespace parakeet::frontend {
namespace {

template <typename... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};

std::string PythonTypeName(ir::DType dtype) {
  if (ir::IsBool(dtype)) return "a bool";
  if (ir::IsComplex(dtype)) return "a complex number";
  return ir::IsFloat(dtype) ? "a float" : "an int";
}

std::string DescribeScalar(const ScalarValue& scalar) {
  const ir::DType dtype = ir::DTypeOf(scalar.op);
  return scalar.python ? PythonTypeName(dtype) : std::string("a ") + NumpyName(dtype) + " scalar";
}

std::string DescribeIterable(IterableKind kind) {
  switch (kind) {
    case IterableKind::kRange: return "a range";
    case IterableKind::kZip: return "a zip";
    case IterableKind::kEnumerate: return "an enumerate";
    case IterableKind::kReversed: return "a reversed";
    case IterableKind::kNdIndex: return "an ndindex";
  }
  return "an iterable";
}

bool SameValues(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameValue);
}

bool SameClosure(const Closure& a, const Closure& b) {
  return a.syntax == b.syntax && a.home.get() == b.home.get() && a.frame == b.frame &&
         a.variables == b.variables && a.may_be_unbound == b.may_be_unbound &&
         SameValues(a.captured, b.captured) && SameValues(a.defaults, b.defaults);
}

// Equality of payloads of one kind.
struct SamePayload {
  bool operator()(const UndefinedValue& a, const UndefinedValue& b) const { return a.why == b.why; }
  bool operator()(const NoneValue&, const NoneValue&) const { return true; }
  bool operator()(const EllipsisValue&, const EllipsisValue&) const { return true; }
  bool operator()(const ScalarValue& a, const ScalarValue& b) const {
    return a.op == b.op && a.python == b.python;
  }
  bool operator()(const ArrayValue& a, const ArrayValue& b) const {
    return a.op == b.op && a.access == b.access && a.python_elements == b.python_elements;
  }
  bool operator()(const TupleValue& a, const TupleValue& b) const {
    return SameValues(*a.elements, *b.elements);
  }
  bool operator()(const ListValue& a, const ListValue& b) const {
    return SameValues(*a.elements, *b.elements);
  }
  bool operator()(const SliceValue& a, const SliceValue& b) const {
    return SameValues(*a.parts, *b.parts);
  }
  bool operator()(const StringValue& a, const StringValue& b) const {
    return a.text == b.text && a.scalars == b.scalars && a.is_format == b.is_format;
  }
  bool operator()(const DTypeValue& a, const DTypeValue& b) const { return a.dtype == b.dtype; }
  bool operator()(const IterableValue& a, const IterableValue& b) const {
    return a.kind == b.kind && SameValues(*a.parts, *b.parts);
  }
  bool operator()(const ModuleValue& a, const ModuleValue& b) const {
    return a.module.get() == b.module.get();
  }
  bool operator()(const ObjectValue& a, const ObjectValue& b) const {
    return a.object.get() == b.object.get();
  }
  bool operator()(const UserFunctionValue& a, const UserFunctionValue& b) const {
    return a.function.get() == b.function.get();
  }
  bool operator()(const ClosureValue& a, const ClosureValue& b) const {
    return a.closure == b.closure || SameClosure(*a.closure, *b.closure);
  }
  bool operator()(const PrimitiveValue& a, const PrimitiveValue& b) const {
    return a.name == b.name && a.rule == b.rule;
  }
  bool operator()(const OperatorValue& a, const OperatorValue& b) const { return a.name == b.name; }
  bool operator()(const IntrinsicValue& a, const IntrinsicValue& b) const {
    return a.name == b.name;
  }
  bool operator()(const BoundMethodValue& a, const BoundMethodValue& b) const {
    return a.name == b.name && SameValues(*a.self, *b.self);
  }
  bool operator()(const ExceptionValue& a, const ExceptionValue& b) const {
    return a.name == b.name;
  }
};

}  // namespace

const Value& SliceValue::start() const { return (*parts)[0]; }
const Value& SliceValue::stop() const { return (*parts)[1]; }
const Value& SliceValue::step() const { return (*parts)[2]; }

Value Value::Slice(Value start, Value stop, Value step) {
  return SliceValue{Share({std::move(start), std::move(stop), std::move(step)})};
}

Value Value::Range(Value start, Value stop, Value step) {
  return Iterable(IterableKind::kRange, {std::move(start), std::move(stop), std::move(step)});
}

Value Value::Method(Value self, std::string name) {
  return BoundMethodValue{Share({std::move(self)}), std::move(name)};
}

bool Value::IsCallable() const {
  return Is<UserFunctionValue>() || Is<ClosureValue>() || Is<PrimitiveValue>() ||
         Is<OperatorValue>() || Is<IntrinsicValue>() || Is<BoundMethodValue>() || Is<DTypeValue>();
}

bool Value::IsStaticScalar() const {
  const auto* scalar = TryAs<ScalarValue>();
  return scalar != nullptr && scalar->op.IsConstant();
}

bool Value::IsPythonScalar() const {
  const auto* scalar = TryAs<ScalarValue>();
  return scalar != nullptr && scalar->python;
}

const Values* Value::Elements() const {
  if (const auto* tuple = TryAs<TupleValue>()) return tuple->elements.get();
  if (const auto* list = TryAs<ListValue>()) return list->elements.get();
  return nullptr;
}

ir::Operand Value::op() const {
  if (const auto* scalar = TryAs<ScalarValue>()) return scalar->op;
  return As<ArrayValue>().op;
}

std::string Describe(const Value& value) {
  return std::visit(
      Overload{
          [](const UndefinedValue&) -> std::string { return "an unbound name"; },
          [](const NoneValue&) -> std::string { return "None"; },
          [](const EllipsisValue&) -> std::string { return "an ellipsis"; },
          [](const ScalarValue& scalar) { return DescribeScalar(scalar); },
          [](const ArrayValue& array) {
            return std::string("a ") + NumpyName(array.dtype()) + " array of rank " +
                   std::to_string(array.rank());
          },
          [](const TupleValue&) -> std::string { return "a tuple"; },
          [](const ListValue&) -> std::string { return "a list"; },
          [](const SliceValue&) -> std::string { return "a slice"; },
          [](const StringValue&) -> std::string { return "a string"; },
          [](const DTypeValue& value) {
            return std::string("the dtype ") + NumpyName(value.dtype);
          },
          [](const IterableValue& iterable) { return DescribeIterable(iterable.kind); },
          [](const ModuleValue&) -> std::string { return "a module"; },
          [](const ObjectValue&) -> std::string { return "a Python object"; },
          [](const UserFunctionValue&) -> std::string { return "a function"; },
          [](const ClosureValue& value) {
            return std::string(value.closure->syntax->is_lambda ? "a lambda" : "a function");
          },
          [](const PrimitiveValue& value) { return "the function " + value.name; },
          [](const OperatorValue& value) { return "the operator " + value.name; },
          [](const IntrinsicValue& value) { return "the function " + value.name; },
          [](const BoundMethodValue& value) { return "the method " + value.name; },
          [](const ExceptionValue& value) { return "the exception " + value.name; },
      },
      value.variant());
}

bool SameValue(const Value& a, const Value& b) {
  return std::visit(
      [](const auto& left, const auto& right) {
        if constexpr (std::is_same_v<decltype(left), decltype(right)>) {
          return SamePayload()(left, right);
        } else {
          return false;
        }
      },
      a.variant(), b.variant());
}

}  // namespace parakeet::frontend
