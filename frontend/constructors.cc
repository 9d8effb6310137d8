#include <optional>
#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/indexing.h"
#include "frontend/intrinsics.h"
#include "frontend/memory_order.h"
#include "frontend/static_values.h"

// New arrays, and numbers of another type.
namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

Value Allocate(Evaluator* evaluator, DType dtype, const Dims& dims, Order order) {
  const ir::Type type = ir::Type::Array(dtype, dims);
  const ir::Attributes attrs = OrderAttributes(order, dims.size());
  const Operand made = evaluator->builder().EmitOne(OpCode::kAlloc, type, dims, attrs);
  return Value::NewArray(made, order);
}

Dims DimsLike(Evaluator* evaluator, const ArrayValue& like, const Value& shape) {
  return shape.IsNone() ? like.dims() : ShapeOf(evaluator, shape);
}

DType DTypeOr(Evaluator* evaluator, const Value& given, DType otherwise) {
  return given.IsNone() ? otherwise : StaticDType(evaluator, given);
}

// A list with every number in it converted, so that one that does not fit is refused as NumPy does.
Value ConvertElements(Evaluator* evaluator, const Value& value, DType dtype) {
  if (value.IsScalar()) return Value::NumPy(evaluator->AsScalar(value, dtype));
  if (value.IsArray()) return evaluator->CastArray(value, dtype);
  if (value.Elements() == nullptr) return value;
  Values converted;
  for (const Value& element : *value.Elements()) {
    converted.push_back(ConvertElements(evaluator, element, dtype));
  }
  return Value::List(std::move(converted));
}

// A new array with every element `given`, in its own dtype unless one is named.
Value Fill(Evaluator* evaluator, const Dims& dims, const Value& given, std::optional<DType> named,
           Order order) {
  const Value value = SettleOperand(evaluator, given);
  if (!value.IsScalar() && !value.IsArray()) {
    evaluator->context().FailType("an array is filled with numbers, not " + Describe(value));
  }
  const DType dtype = named.value_or(PromotionType(value).dtype);
  if (value.IsArray()) {
    const Value array = Allocate(evaluator, dtype, dims, order);
    evaluator->CopyInto(value, array);
    return array;
  }
  const Operand scalar = evaluator->AsScalar(value, dtype);
  if (dims.empty()) return evaluator->AsArray(Value::NumPy(scalar));
  return evaluator->Tabulate(
      dims, [&](const std::vector<Operand>&) { return Value::NumPy(scalar); }, order);
}

// The array itself where it is known to lie without gaps in the order that is asked for, else a
// copy that does.
Value InOrder(Evaluator* evaluator, const ArrayValue& array, const Value& order) {
  if (order.IsNone()) return array;
  const size_t rank = array.dims().size();
  const Value like = array;
  const Order wanted = StaticOrder(evaluator, order, rank, &like);
  const std::string text = StaticString(evaluator, order, "order");
  const bool asks = text.find_first_of("CFcf") == 0;
  const bool has = array.dense && (rank < 2 || wanted == array.order);
  return !asks || has ? like : evaluator->CopyArray(like, wanted);
}

DType PythonType(DType dtype) {
  if (ir::IsBool(dtype)) return dtype;
  if (ir::IsComplex(dtype)) return DType::kC128;
  return ir::IsFloat(dtype) ? DType::kF64 : DType::kI64;
}

}  // namespace

Value MakeEmpty(Evaluator* evaluator, const Values& arguments) {
  const Dims dims = ShapeOf(evaluator, arguments[0]);
  const Value order = arguments.size() > 2 ? arguments[2] : Value::None();
  return Allocate(evaluator, DTypeOr(evaluator, arguments[1], DType::kF64), dims,
                  StaticOrder(evaluator, order, dims.size(), nullptr));
}

Value MakeFull(Evaluator* evaluator, const Values& arguments) {
  const Dims dims = ShapeOf(evaluator, arguments[0]);
  const std::optional<DType> dtype =
      arguments[2].IsNone() ? std::nullopt : std::optional(StaticDType(evaluator, arguments[2]));
  return Fill(evaluator, dims, arguments[1], dtype,
              StaticOrder(evaluator, arguments[3], dims.size(), nullptr));
}

Value MakeEmptyLike(Evaluator* evaluator, const Values& arguments) {
  const auto& like = arguments[0].As<ArrayValue>();
  const Dims dims = DimsLike(evaluator, like, arguments[3]);
  return Allocate(evaluator, DTypeOr(evaluator, arguments[1], like.dtype()), dims,
                  StaticOrder(evaluator, arguments[2], dims.size(), &arguments[0]));
}

Value MakeFullLike(Evaluator* evaluator, const Values& arguments) {
  const auto& like = arguments[0].As<ArrayValue>();
  const DType dtype = DTypeOr(evaluator, arguments[2], like.dtype());
  const Dims dims = DimsLike(evaluator, like, arguments[4]);
  return Fill(evaluator, dims, arguments[1], dtype,
              StaticOrder(evaluator, arguments[3], dims.size(), &arguments[0]));
}

Value MakeArray(Evaluator* evaluator, const Values& arguments) {
  Value value = arguments[0];
  if (!arguments[1].IsNone()) {
    const DType dtype = StaticDType(evaluator, arguments[1]);
    value = evaluator->AsArray(ConvertElements(evaluator, value, dtype));
    // A list of nothing has no elements to convert.
    if (value.As<ArrayValue>().dtype() != dtype) value = evaluator->CastArray(value, dtype);
  }
  ArrayValue array = evaluator->AsArray(value).As<ArrayValue>();
  array.python_elements = false;
  if (array.access == Access::kList) array.access = Access::kWritable;
  return InOrder(evaluator, array, arguments.size() > 2 ? arguments[2] : Value::None());
}

Value MakeCopy(Evaluator* evaluator, const Values& arguments) {
  if (arguments[0].IsScalar()) return Value::NumPy(arguments[0].op());
  const Value array = evaluator->AsArray(arguments[0]);
  const size_t rank = array.As<ArrayValue>().dims().size();
  return evaluator->CopyArray(array, StaticOrder(evaluator, arguments[1], rank, &array));
}

Value CastTo(Evaluator* evaluator, const Values& arguments) {
  const DType dtype = StaticDType(evaluator, arguments[1]);
  const Value& value = arguments[0];
  if (value.IsScalar()) return Value::NumPy(evaluator->AsScalar(value, dtype));
  const Value array = evaluator->AsArray(value);
  const auto& fields = array.As<ArrayValue>();
  const bool changes = fields.dtype() != dtype;
  const Order order = StaticOrder(evaluator, arguments[2], fields.dims().size(), &array);
  return changes ? evaluator->CastArray(array, dtype, order) : evaluator->CopyArray(array, order);
}

Value MakeStrong(Evaluator* evaluator, const Values& arguments) {
  const Value settled = SettleOperand(evaluator, arguments[0]);
  if (settled.IsScalar()) return Value::NumPy(settled.op());
  if (settled.IsArray()) return settled;
  evaluator->context().FailType("expected a number or an array, got " + Describe(settled));
}

Value FindNonZero(Evaluator* evaluator, const Values& arguments) {
  const Value array = evaluator->AsArray(arguments[0]);
  if (array.As<ArrayValue>().rank() == 0) {
    evaluator->context().FailUser(
        "ValueError",
        "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. "
        "If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.");
  }
  return Value::Tuple(NonZero(evaluator, evaluator->CastArray(array, DType::kBool)));
}

Value SelectWhere(Evaluator* evaluator, const Values& arguments) {
  return SelectElements(evaluator, arguments[0], arguments[1], arguments[2]);
}

// x.item(), x.item(place in C order), x.item(i, j ...), x.item((i, j ...)).
Value TakeElementAt(Evaluator* evaluator, const Values& arguments) {
  const ArrayValue& array = arguments[0].As<ArrayValue>();
  const ir::Operand place = evaluator->AsIndex(arguments[1], "a place");
  return Value::NumPy(evaluator->builder().Load(array.op, {place}));
}

Value TakeItem(Evaluator* evaluator, const Values& arguments) {
  Context& context = evaluator->context();
  ir::Builder& builder = context.builder();
  Value value = SettleOperand(evaluator, arguments[0]);
  if (arguments.size() > 1) {
    Values indexes(arguments.begin() + 1, arguments.end());
    if (indexes.size() == 1 && indexes[0].IsTuple()) indexes = *indexes[0].Elements();
    const bool is_array = value.IsArray();
    const size_t rank = is_array ? value.As<ArrayValue>().rank() : 0;
    if (indexes.size() == 1 && rank != 1) {
      value = evaluator->CallMethod(evaluator->AsArray(value), "reshape", {{Value::Int(-1)}, {}});
    } else if (indexes.size() != rank) {
      context.FailUser("ValueError", "incorrect number of indices for array");
    }
    value = evaluator->Subscript(value, Value::Tuple(std::move(indexes)));
  }
  if (value.IsArray()) {
    const auto& array = value.As<ArrayValue>();
    Operand size = Operand::Int(1);
    for (const Operand& dim : array.dims()) size = builder.Mul(size, dim);
    context.Check(builder.Scalar(OpCode::kEq, {size, Operand::Int(1)}), "ValueError",
                  "can only convert an array of size 1 to a Python scalar");
    value = Value::NumPy(builder.Load(array.op, Dims(array.dims().size(), Operand::Int(0))));
  }
  return Value::Python(builder.Cast(value.op(), PythonType(ir::DTypeOf(value.op()))));
}

Value Evaluator::CallDType(DType dtype, Arguments arguments) {
  if (!arguments.keywords.empty() || arguments.positional.size() > 1) {
    context_->FailType(std::string(NumpyName(dtype)) + "() takes one number or array");
  }
  if (arguments.positional.empty()) return Value::NumPy(ir::ZeroOf(dtype));
  const Value value = SettleOperand(this, arguments.positional[0]);
  // As in NumPy, an array of that dtype is given back itself.
  return value.IsArray() ? MakeArray(this, {value, DTypeValue{dtype}})
                         : Value::NumPy(AsScalar(value, dtype));
}

}  // namespace parakeet::frontend
