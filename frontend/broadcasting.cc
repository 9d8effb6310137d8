#include "frontend/broadcasting.h"

#include <algorithm>
#include <utility>

#include "frontend/memory_order.h"

namespace parakeet::frontend {
namespace {

// Sizes aligned at the right: the size of `dims` on axis `axis` of `rank`, 1 where it has none.
ir::Operand SizeAt(const Dims& dims, size_t axis, size_t rank) {
  const size_t missing = rank - dims.size();
  return axis < missing ? ir::Operand::Int(1) : dims[axis - missing];
}

std::vector<ir::Operand> AllSizes(const std::vector<Dims>& shapes) {
  std::vector<ir::Operand> sizes;
  for (const Dims& dims : shapes) sizes.insert(sizes.end(), dims.begin(), dims.end());
  return sizes;
}

bool IsScalarShaped(const Values& operands) {
  return std::none_of(operands.begin(), operands.end(), [](const Value& v) { return v.IsArray(); });
}

bool IsWide(const Context& context, const ir::Operand& size) {
  return size.IsConstant() ? !size.IsInt(1) : context.IsParameterSize(size);
}

// `dims` with each size that equals the target's by an earlier check replaced by the target's own.
Dims Ascribed(const Context& context, const Dims& dims, const Dims& target) {
  Dims ascribed = dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const ir::Operand& wanted = target[target.size() - dims.size() + i];
    if (IsWide(context, dims[i])) ascribed[i] = wanted;
  }
  return ascribed;
}

// Sizes that meet, and what is raised where they do not fit. The message shows all sizes.
class Meeting {
 public:
  Meeting(Context* context, const std::vector<Dims>& shapes, const char* exception,
          const char* what)
      : context_(context), exception_(exception), message_(what), sizes_(AllSizes(shapes)) {
    for (const Dims& dims : shapes) message_ += ShapeHoles(dims) + " ";
  }

  // The common size of `n` and `m`, two of the sizes.
  ir::Operand Meet(const ir::Operand& n, const ir::Operand& m) {
    if (n == m || m.IsInt(1)) return n;
    if (n.IsInt(1)) return m;
    if (n.IsConstant() && m.IsConstant()) context_->Raise(exception_, message_, sizes_);
    if (!IsWide(*context_, n) || !IsWide(*context_, m)) return MeetUnknown(n, m);
    const ir::Operand equal = context_->builder().Scalar(ir::OpCode::kEq, {n, m});
    context_->Check(equal, exception_, message_, sizes_);
    return m.IsConstant() ? m : n;
  }

 private:
  // A broadcast_size raises ValueError and shows its own two sizes only; where that does not do, it
  // is written out, in favour of the size that is not known to be wide: that one may yet be found
  // constant.
  ir::Operand MeetUnknown(const ir::Operand& n, const ir::Operand& m) {
    const bool shows_all = sizes_ == std::vector<ir::Operand>{n, m} && exception_ == "ValueError";
    if (shows_all) return context_->BroadcastSize(n, m, message_);
    ir::Builder& builder = context_->builder();
    ir::Operand ok = builder.Scalar(ir::OpCode::kEq, {n, m});
    for (const ir::Operand& size : {n, m}) {
      if (IsWide(*context_, size)) continue;
      const ir::Operand is_one = builder.Scalar(ir::OpCode::kEq, {size, ir::Operand::Int(1)});
      ok = builder.Scalar(ir::OpCode::kOr, {ok, is_one});
    }
    context_->Check(ok, exception_, message_, sizes_);
    const ir::Operand& narrow = IsWide(*context_, n) ? m : n;
    const ir::Operand& other = IsWide(*context_, n) ? n : m;
    const ir::Operand is_one = builder.Scalar(ir::OpCode::kEq, {narrow, ir::Operand::Int(1)});
    return builder.Scalar(ir::OpCode::kSelect, {is_one, other, narrow}, "s");
  }

  Context* context_;
  std::string exception_;
  std::string message_;
  std::vector<ir::Operand> sizes_;
};

Dims MeetShapes(Context* context, const std::vector<Dims>& shapes, const char* exception,
                const char* what) {
  size_t rank = 0;
  for (const Dims& dims : shapes) rank = std::max(rank, dims.size());
  Meeting meeting(context, shapes, exception, what);
  Dims common(rank, ir::Operand::Int(1));
  for (size_t axis = 0; axis < rank; ++axis) {
    for (const Dims& dims : shapes) {
      const ir::Operand size = SizeAt(dims, axis, rank);
      const bool is_narrow = context->IsNarrow(common[axis]) && context->IsNarrow(size);
      common[axis] = meeting.Meet(common[axis], size);
      if (is_narrow) context->AddNarrowSize(common[axis]);
    }
  }
  return common;
}

// The sizes of what a display of lists stands for, -1 for one that only the run knows; nothing
// where elements surely differ in shape.
std::optional<std::vector<int64_t>> ShapeOfDisplay(const Value& value) {
  std::vector<int64_t> shape;
  if (const auto* array = value.TryAs<ArrayValue>()) {
    for (const ir::Operand& dim : array->dims()) {
      shape.push_back(dim.IsConstant() ? dim.constant().integer : -1);
    }
    return shape;
  }
  const Values* elements = value.Elements();
  if (elements == nullptr) return shape;
  for (size_t i = 0; i < elements->size(); ++i) {
    const auto inner = ShapeOfDisplay((*elements)[i]);
    if (!inner || (i > 0 && inner->size() != shape.size())) return std::nullopt;
    for (size_t axis = 0; i > 0 && axis < shape.size(); ++axis) {
      const int64_t known = std::max(shape[axis], (*inner)[axis]);
      const bool both = shape[axis] >= 0 && (*inner)[axis] >= 0;
      if (both && shape[axis] != (*inner)[axis]) return std::nullopt;
      shape[axis] = known;
    }
    if (i == 0) shape = *inner;
  }
  shape.insert(shape.begin(), static_cast<int64_t>(elements->size()));
  return shape;
}

}  // namespace

std::string ShapeHoles(const Dims& dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) text += i == 0 ? "{}" : ",{}";
  return text + (dims.size() == 1 ? ",)" : ")");
}

Dims CommonDims(Context* context, const std::vector<Dims>& shapes) {
  return MeetShapes(context, shapes, "ValueError",
                    "operands could not be broadcast together with shapes ");
}

Dims CommonIndexDims(Context* context, const std::vector<Dims>& shapes) {
  return MeetShapes(context, shapes, "IndexError",
                    "shape mismatch: indexing arrays could not be broadcast together with shapes ");
}

void RefuseRaggedList(const Context& context, const Value& value) {
  if (!value.IsList() || ShapeOfDisplay(value)) return;
  context.FailLimitation(
      "a list is an array here, and its elements have different shapes; use a "
      "tuple, or one name each");
}

Value SettleOperand(Evaluator* evaluator, const Value& value) {
  const auto* iterable = value.TryAs<IterableValue>();
  const bool is_range = iterable != nullptr && iterable->kind == IterableKind::kRange;
  const bool is_sequence = is_range || value.Elements() != nullptr;
  RefuseRaggedList(evaluator->context(), value);
  const Value settled = is_sequence ? evaluator->AsArray(value) : value;
  const auto* array = settled.TryAs<ArrayValue>();
  if (array == nullptr || array->rank() > 0) return settled;
  return Value::NumPy(evaluator->builder().Load(array->op, {}));
}

Value SettleNumber(Evaluator* evaluator, const Value& value, const std::string& function) {
  const Value settled = SettleOperand(evaluator, value);
  if (settled.IsScalar() || settled.IsArray()) return settled;
  evaluator->context().FailType(function + " takes numbers and arrays, not " + Describe(settled));
}

ir::Operand Evaluator::BroadcastTo(const ir::Operand& array, const std::vector<ir::Operand>& dims) {
  const ir::Type& type = array.var()->type;
  if (type.dims() == dims) return array;
  const Dims ascribed = Ascribed(*context_, type.dims(), dims);
  ir::Operand seen = array;
  if (ascribed != type.dims()) {
    seen =
        builder().EmitOne(ir::OpCode::kAscribe, ir::Type::Array(type.dtype(), ascribed), {array});
  }
  if (ascribed == dims) return seen;
  return builder().EmitOne(ir::OpCode::kBroadcast, ir::Type::Array(type.dtype(), dims), {seen});
}

Value MapElements(Evaluator* evaluator, const Values& operands, const ElementBody& body,
                  std::optional<Order> order) {
  std::vector<ir::Operand> elements;
  if (IsScalarShaped(operands)) {
    for (const Value& value : operands) elements.push_back(value.op());
    return Value::NumPy(body(elements));
  }
  std::vector<Dims> shapes;
  for (const Value& value : operands) {
    shapes.push_back(value.IsArray() ? value.As<ArrayValue>().dims() : Dims());
  }
  const Dims dims = CommonDims(&evaluator->context(), shapes);
  std::vector<ir::Operand> arrays;
  std::vector<const ir::Var*> params;
  ir::Builder block = evaluator->context().NewBlock();
  for (const Value& value : operands) {
    if (!value.IsArray()) {
      elements.push_back(value.op());
      continue;
    }
    arrays.push_back(evaluator->BroadcastTo(value.op(), dims));
    params.push_back(block.NewVar(value.As<ArrayValue>().dtype(), "a"));
    elements.push_back(params.back());
  }
  ir::Operand result;
  {
    Inside inside(&evaluator->context(), &block);
    result = body(elements);
  }
  const ir::Type type = ir::Type::Array(ir::DTypeOf(result), dims);
  const Order kept = order.value_or(KeptOrder(evaluator->context(), dims, operands));
  const ir::Operand made = evaluator->builder().EmitOne(
      ir::OpCode::kMap, type, std::move(arrays), OrderAttributes(kept, dims.size()),
      {block.Finish(std::move(params), {result})});
  return Value::NewArray(made, kept);
}

}  // namespace parakeet::frontend
