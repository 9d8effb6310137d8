#include <algorithm>
#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/intrinsics.h"
#include "frontend/memory_order.h"
#include "frontend/static_values.h"

// Arrays seen in another shape: no element moves.
namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

// The array that `value` is or becomes; a copy of its fields, since values share.
ArrayValue ArrayOf(Evaluator* evaluator, const Value& value) {
  return evaluator->AsArray(value).As<ArrayValue>();
}

Value View(Evaluator* evaluator, const ArrayValue& array, OpCode op, const Dims& dims,
           std::vector<Operand> operands, ir::Attributes attrs = {}) {
  const ir::Type type = ir::Type::Array(array.dtype(), dims);
  const Operand view =
      evaluator->builder().EmitOne(op, type, std::move(operands), std::move(attrs));
  return array.Seen(view);
}

// A view that has all elements of `array`.
Value KeptDense(const ArrayValue& array, const Value& view) {
  ArrayValue seen = view.As<ArrayValue>();
  seen.dense = array.dense;
  return seen;
}

Operand CountOf(ir::Builder* builder, const Dims& dims) {
  Operand count = Operand::Int(1);
  for (const Operand& dim : dims) count = builder->Mul(count, dim);
  return count;
}

// A shape for reshape: sizes as operands, and which of them is -1, if one is.
struct WantedShape {
  Dims sizes;
  int unknown = -1;
  // A parameter, which may turn out to be -1 when the function runs.
  std::vector<bool> may_be_unknown;
};

WantedShape WantedOf(Evaluator* evaluator, const Value& shape) {
  WantedShape wanted;
  const Values one = {shape};
  const Values& given = shape.Elements() != nullptr ? *shape.Elements() : one;
  for (const Value& value : given) {
    const Operand size = evaluator->AsIndex(value, "a size");
    if (size.IsConstant() && size.constant().integer < 0) {
      if (wanted.unknown >= 0) {
        evaluator->context().FailUser("ValueError", "can only specify one unknown dimension");
      }
      wanted.unknown = static_cast<int>(wanted.sizes.size());
    }
    const auto* scalar = value.TryAs<ScalarValue>();
    wanted.may_be_unknown.push_back(scalar != nullptr && scalar->origin >= 0);
    wanted.sizes.push_back(size);
  }
  return wanted;
}

// The wanted shape in NumPy's words: leading unknown sizes are left out, others are "newaxis".
std::string WantedText(const WantedShape& wanted, std::vector<Operand>* scalars) {
  std::string text = "(";
  for (size_t i = 0; i < wanted.sizes.size(); ++i) {
    const bool unknown = static_cast<int>(i) == wanted.unknown;
    if (unknown && i == 0) continue;
    if (text.size() > 1) text += ",";
    text += unknown ? "newaxis" : "{}";
    if (!unknown) scalars->push_back(wanted.sizes[i]);
  }
  return text + (wanted.sizes.size() == 1 ? ",)" : ")");
}

// The sizes, with what may be -1 at run time replaced by what is left of `count` then.
Dims ResolveAtRunTime(Context* context, const WantedShape& wanted, const Operand& count,
                      const std::string& message, const std::vector<Operand>& scalars) {
  ir::Builder* builder = &context->builder();
  const auto is_negative = [&](const Operand& size) {
    return builder->Scalar(OpCode::kLt, {size, Operand::Int(0)});
  };
  Operand known = Operand::Int(1);
  Operand unknown = Operand::Int(0);
  for (const Operand& size : wanted.sizes) {
    unknown = builder->Add(unknown, builder->Cast(is_negative(size), ir::DType::kI64));
    known = builder->Mul(
        known, builder->Scalar(OpCode::kSelect, {is_negative(size), Operand::Int(1), size}));
  }
  context->Check(builder->Scalar(OpCode::kLe, {unknown, Operand::Int(1)}), "ValueError",
                 "can only specify one unknown dimension");
  const Operand some = builder->Scalar(OpCode::kNe, {known, Operand::Int(0)});
  const Operand all_known = builder->Scalar(OpCode::kEq, {unknown, Operand::Int(0)});
  context->Check(builder->Scalar(OpCode::kOr, {some, all_known}), "ValueError", message, scalars);
  Dims dims = wanted.sizes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!wanted.may_be_unknown[i]) continue;
    const Operand left = builder->Scalar(OpCode::kFloorDiv, {count, known});
    dims[i] = builder->Scalar(OpCode::kSelect, {is_negative(dims[i]), left, dims[i]});
  }
  return dims;
}

// Lengths of arguments are no numbers whose product wraps around, nor is one size by itself.
bool MayWrap(const Context& context, const WantedShape& wanted) {
  return wanted.sizes.size() > 1 &&
         !std::all_of(wanted.sizes.begin(), wanted.sizes.end(), [&](const Operand& size) {
           return size.IsConstant() || context.IsParameterSize(size);
         });
}

// A check that the count of elements of these sizes does not wrap around to that of the array: a
// wrapped one is off by a multiple of 2 ** 64, which no rounding hides.
void CheckExtent(Context* context, const Dims& dims, const std::string& message,
                 const std::vector<Operand>& scalars) {
  ir::Builder* builder = &context->builder();
  Operand extent = ir::Constant::Float(1.0);
  for (const Operand& size : dims) {
    extent = builder->Scalar(OpCode::kMul, {extent, builder->Cast(size, ir::DType::kF64)});
  }
  const Operand ok = builder->Scalar(OpCode::kLt, {extent, ir::Constant::Float(0x1p63)});
  context->Check(ok, "ValueError", message, scalars);
}

// The sizes with the unknown one found; a check that the counts of elements agree.
Dims SolveShape(Evaluator* evaluator, const ArrayValue& array, const WantedShape& wanted) {
  Context& context = evaluator->context();
  ir::Builder& builder = context.builder();
  Dims dims = wanted.sizes;
  const Operand count = CountOf(&builder, array.dims());
  std::vector<Operand> scalars = {count};
  const std::string message =
      "cannot reshape array of size {} into shape " + WantedText(wanted, &scalars);
  const auto& open = wanted.may_be_unknown;
  const bool is_open = std::find(open.begin(), open.end(), true) != open.end();
  if (is_open && wanted.unknown < 0)
    dims = ResolveAtRunTime(&context, wanted, count, message, scalars);
  Operand known = Operand::Int(1);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (static_cast<int>(i) != wanted.unknown) known = builder.Mul(known, dims[i]);
  }
  if (wanted.unknown >= 0) {
    dims[wanted.unknown] =
        known.IsInt(1) ? count : builder.Scalar(OpCode::kFloorDiv, {count, known});
    if (known.IsInt(1)) return dims;
    context.Check(builder.Scalar(OpCode::kNe, {known, Operand::Int(0)}), "ValueError", message,
                  scalars);
    known = builder.Mul(known, dims[wanted.unknown]);
  }
  if (known == count) return dims;
  if (MayWrap(context, wanted)) CheckExtent(&context, dims, message, scalars);
  const Operand ok = builder.Scalar(OpCode::kEq, {known, count});
  if (ok.IsInt(0)) context.Raise("ValueError", message, scalars);
  context.Check(ok, "ValueError", message, scalars);
  return dims;
}

Value SliceAxes(Evaluator* evaluator, const ArrayValue& array, const std::string& axes) {
  std::vector<Operand> operands = {array.op};
  Dims dims;
  size_t axis = 0;
  for (const char kind : axes) {
    if (kind == 'n') {
      dims.push_back(Operand::Int(1));
      continue;
    }
    const Operand size = array.dims()[axis++];
    if (kind == 'i') {
      operands.push_back(Operand::Int(0));
      continue;
    }
    operands.insert(operands.end(), {Operand::Int(0), size, Operand::Int(1)});
    dims.push_back(size);
  }
  return View(evaluator, array, OpCode::kSlice, dims, std::move(operands),
              {{ir::Attr::kAxes, axes}});
}

// All of the array, which is another object in Python.
Value WholeView(Evaluator* evaluator, const ArrayValue& array) {
  return KeptDense(array, SliceAxes(evaluator, array, std::string(array.rank(), 'r')));
}

}  // namespace

Value TransposeAxes(Evaluator* evaluator, const Values& arguments) {
  ArrayValue array = ArrayOf(evaluator, arguments[0]);
  Context& context = evaluator->context();
  std::vector<int64_t> perm;
  if (arguments[1].IsNone()) {
    for (int axis = array.rank(); axis-- > 0;) perm.push_back(axis);
  } else {
    const Values* axes = arguments[1].Elements();
    const size_t count = axes == nullptr ? 1 : axes->size();
    if (count != array.dims().size()) context.FailUser("ValueError", "axes don't match array");
    const Values one = {arguments[1]};
    for (const Value& axis : axes == nullptr ? one : *axes) {
      perm.push_back(StaticAxis(evaluator, axis, array.rank()));
      if (std::count(perm.begin(), perm.end(), perm.back()) > 1) {
        context.FailUser("ValueError", "repeated axis in transpose");
      }
    }
  }
  if (std::is_sorted(perm.begin(), perm.end())) return WholeView(evaluator, array);
  Dims dims;
  for (int64_t axis : perm) dims.push_back(array.dims()[axis]);
  array.order = TransposedOrder(context, array, perm);
  const Value view =
      View(evaluator, array, OpCode::kTranspose, dims, {array.op}, {{ir::Attr::kPerm, perm}});
  return KeptDense(array, view);
}

Value ReshapeArray(Evaluator* evaluator, const Values& arguments) {
  ArrayValue array = ArrayOf(evaluator, arguments[0]);
  const Dims dims = SolveShape(evaluator, array, WantedOf(evaluator, arguments[1]));
  if (dims == array.dims()) return WholeView(evaluator, array);
  const bool is_view = array.order == Order::kC;
  array.order = Order::kC;
  const Value view = View(evaluator, array, OpCode::kReshape, dims, {array.op});
  return is_view ? KeptDense(array, view) : view;
}

Value BroadcastArray(Evaluator* evaluator, const Values& arguments) {
  const ArrayValue array = ArrayOf(evaluator, arguments[0]);
  const Dims dims = ShapeOf(evaluator, arguments[1]);
  Context& context = evaluator->context();
  std::vector<Operand> scalars = array.dims();
  scalars.insert(scalars.end(), dims.begin(), dims.end());
  if (array.dims().size() > dims.size()) {
    context.FailUser("ValueError",
                     "input operand has more dimensions than allowed by the axis remapping");
  }
  const std::string message =
      "operands could not be broadcast together with remapped shapes "
      "[original->remapped]: " +
      ShapeHoles(array.dims()) + "  and requested shape " + ShapeHoles(dims);
  for (size_t i = 0; i < array.dims().size(); ++i) {
    const Operand& from = array.dims()[i];
    const Operand& to = dims[dims.size() - array.dims().size() + i];
    if (from == to || from.IsInt(1)) continue;
    Operand ok = evaluator->builder().Scalar(OpCode::kEq, {from, to});
    if (!from.IsConstant() && !context.IsParameterSize(from)) {
      const Operand is_one = evaluator->builder().Scalar(OpCode::kEq, {from, Operand::Int(1)});
      ok = evaluator->builder().Scalar(OpCode::kOr, {ok, is_one});
    }
    context.Check(ok, "ValueError", message, scalars);
  }
  const bool repeats = array.dims() != dims && array.order != Order::kC;
  // NumPy's result is read-only, since its elements may repeat.
  const Operand seen = dims == array.dims() ? WholeView(evaluator, array).op()
                                            : evaluator->BroadcastTo(array.op, dims);
  return Value::Array(seen, Access::kReadOnly, repeats ? Order::kOther : array.order);
}

Value ExpandDims(Evaluator* evaluator, const Values& arguments) {
  const ArrayValue array = ArrayOf(evaluator, arguments[0]);
  const Values* given = arguments[1].Elements();
  const int added = given == nullptr ? 1 : static_cast<int>(given->size());
  const std::vector<int> axes = StaticAxes(evaluator, arguments[1], array.rank() + added);
  std::string entries(array.rank() + added, 'r');
  for (int axis : axes) entries[axis] = 'n';
  return added == 0 ? Value(array) : KeptDense(array, SliceAxes(evaluator, array, entries));
}

Value SqueezeAxes(Evaluator* evaluator, const Values& arguments) {
  const ArrayValue array = ArrayOf(evaluator, arguments[0]);
  Context& context = evaluator->context();
  std::string entries(array.rank(), 'r');
  if (arguments[1].IsNone()) {
    for (int axis = 0; axis < array.rank(); ++axis) {
      if (array.dims()[axis].IsInt(1)) entries[axis] = 'i';
      else if (!array.dims()[axis].IsConstant() && !context.IsParameterSize(array.dims()[axis])) {
        context.FailLimitation(
            "squeeze needs to know at compile time which axes have size 1; name "
            "them with axis=");
      }
    }
  } else {
    if (arguments[1].IsList()) {
      context.FailType("'list' object cannot be interpreted as an integer");
    }
    const auto* scalar = arguments[1].TryAs<ScalarValue>();
    if (scalar != nullptr && ir::IsBool(ir::DTypeOf(scalar->op))) {
      context.FailType("an integer is required for the axis");
    }
    // A number has one axis to who names it.
    const bool is_number = array.rank() == 0 && scalar != nullptr;
    for (int axis : StaticAxes(evaluator, arguments[1], is_number ? 1 : array.rank())) {
      if (is_number) return array;
      const Operand ok =
          evaluator->builder().Scalar(OpCode::kEq, {array.dims()[axis], Operand::Int(1)});
      const char* message = "cannot select an axis to squeeze out which has size not equal to one";
      if (ok.IsInt(0)) context.Raise("ValueError", message);
      context.Check(ok, "ValueError", message);
      entries[axis] = 'i';
    }
  }
  const bool unchanged = entries.find('i') == std::string::npos;
  return unchanged ? Value(array) : KeptDense(array, SliceAxes(evaluator, array, entries));
}

Value MoveAxes(Evaluator* evaluator, const Values& arguments) {
  const ArrayValue array = ArrayOf(evaluator, arguments[0]);
  const std::vector<int> source = StaticAxes(evaluator, arguments[1], array.rank());
  const std::vector<int> destination = StaticAxes(evaluator, arguments[2], array.rank());
  if (source.size() != destination.size()) {
    evaluator->context().FailUser("ValueError",
                                  "`source` and `destination` arguments must have the same "
                                  "number of elements");
  }
  std::vector<int> rest;
  for (int axis = 0; axis < array.rank(); ++axis) {
    if (std::find(source.begin(), source.end(), axis) == source.end()) rest.push_back(axis);
  }
  Values perm;
  size_t next = 0;
  for (int place = 0; place < array.rank(); ++place) {
    const auto found = std::find(destination.begin(), destination.end(), place);
    const bool is_moved = found != destination.end();
    perm.push_back(Value::Int(is_moved ? source[found - destination.begin()] : rest[next++]));
  }
  return TransposeAxes(evaluator, {array, Value::Tuple(std::move(perm))});
}

Value AscribeSizes(Evaluator* evaluator, const Values& arguments) {
  const ArrayValue array = ArrayOf(evaluator, arguments[0]);
  Dims dims;
  for (const Value& size : *arguments[1].Elements()) dims.push_back(size.op());
  if (dims == array.dims()) return array;
  return KeptDense(array, View(evaluator, array, OpCode::kAscribe, dims, {array.op}));
}

}  // namespace parakeet::frontend
