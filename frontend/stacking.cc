#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/evaluator.h"

// Arrays from lists and tuples, and copies of arrays.
namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

Dims DimsOf(const Value& value) { return value.IsArray() ? value.As<ArrayValue>().dims() : Dims(); }

[[noreturn]] void FailElement(const Context& context, const Value& value) {
  context.FailType("an array holds numbers, not " + Describe(value));
}

// What a list becomes: an array with the dtype that all its elements promote to. A Python scalar
// counts with its default dtype, as in np.array.
class Stack {
 public:
  Stack(Evaluator* evaluator, const Values& elements) : evaluator_(evaluator) {
    for (const Value& element : elements) Add(element);
  }

  Value Build() {
    Dims dims = inner_;
    dims.insert(dims.begin(), Operand::Int(static_cast<int64_t>(elements_.size())));
    const Operand array = builder().EmitOne(OpCode::kAlloc, ir::Type::Array(dtype_, dims), dims);
    for (size_t i = 0; i < elements_.size(); ++i) Put(array, i);
    return Value::Array(array);
  }

 private:
  ir::Builder& builder() { return evaluator_->builder(); }

  void Add(const Value& element) {
    const Value settled = SettleOperand(evaluator_, element);
    if (!settled.IsScalar() && !settled.IsArray()) FailElement(evaluator_->context(), element);
    const DType dtype = PromotionType(settled).dtype;
    dtype_ = elements_.empty() ? dtype : Promote(dtype_, dtype);
    if (elements_.empty()) inner_ = DimsOf(settled);
    else RequireShape(DimsOf(settled));
    elements_.push_back(settled);
  }

  void RequireShape(const Dims& dims) {
    Context& context = evaluator_->context();
    const std::string message =
        "setting an array element with a sequence. The requested array has an inhomogeneous shape "
        "after 1 dimensions.";
    if (dims.size() != inner_.size()) context.Raise("ValueError", message);
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == inner_[i]) continue;
      context.Check(builder().Scalar(OpCode::kEq, {dims[i], inner_[i]}), "ValueError", message);
    }
  }

  void Put(const Operand& array, size_t index) {
    const Value& element = elements_[index];
    const Operand at = Operand::Int(static_cast<int64_t>(index));
    if (element.IsScalar()) {
      builder().Store(array, {at},
                      ConvertScalar(&evaluator_->context(), element.As<ScalarValue>(), dtype_));
      return;
    }
    const Value row = evaluator_->ElementAt(Value::Array(array), at);
    evaluator_->CopyInto(element, row);
  }

  Evaluator* evaluator_;
  Values elements_;
  Dims inner_;
  DType dtype_ = DType::kF64;
};

Value ArrayOfRankZero(Evaluator* evaluator, const Operand& scalar) {
  ir::Builder& builder = evaluator->builder();
  const Operand array =
      builder.EmitOne(OpCode::kAlloc, ir::Type::Array(ir::DTypeOf(scalar), {}), {});
  builder.Store(array, {}, scalar);
  return Value::Array(array);
}

// The binding of this block that made `value`, or null.
const ir::Binding* MadeHere(ir::Builder* builder, const Operand& value) {
  const auto& bindings = builder->bindings();
  const auto found = std::find_if(bindings.rbegin(), bindings.rend(), [&](const ir::Binding* b) {
    return std::find(b->results.begin(), b->results.end(), value.var()) != b->results.end();
  });
  return found == bindings.rend() ? nullptr : *found;
}

// What `array` is a view of, as far as this block tells.
Operand RootOf(ir::Builder* builder, Operand array) {
  for (const ir::Binding* made = MadeHere(builder, array); made != nullptr;
       made = MadeHere(builder, array)) {
    if (!ir::IsView(made->op)) break;
    array = made->operands[0];
  }
  return array;
}

bool MakesRoot(OpCode op) {
  switch (op) {
    case OpCode::kMap:
    case OpCode::kImap:
    case OpCode::kReduce:
    case OpCode::kIreduce:
    case OpCode::kScan:
    case OpCode::kFilter:
    case OpCode::kAlloc: return true;
    default: return false;
  }
}

// True where the two surely share no element: one of them was made in this block.
bool AreApart(ir::Builder* builder, const Operand& a, const Operand& b) {
  const Operand a_root = RootOf(builder, a);
  const Operand b_root = RootOf(builder, b);
  if (a_root == b_root) return false;
  const ir::Binding* a_made = MadeHere(builder, a_root);
  const ir::Binding* b_made = MadeHere(builder, b_root);
  return (a_made != nullptr && MakesRoot(a_made->op)) ||
         (b_made != nullptr && MakesRoot(b_made->op));
}

// `array` without the leading axes that a destination of rank `rank` lacks; each must have size 1.
Value DropLeadingAxes(Evaluator* evaluator, const Value& array, size_t rank,
                      const std::string& message, const std::vector<Operand>& scalars) {
  Value rest = array;
  while (rest.As<ArrayValue>().dims().size() > rank) {
    const Operand size = rest.As<ArrayValue>().dims()[0];
    if (!size.IsInt(1)) {
      evaluator->context().Check(evaluator->builder().Scalar(OpCode::kEq, {size, Operand::Int(1)}),
                                 "ValueError", message, scalars);
    }
    rest = evaluator->ElementAt(rest, Operand::Int(0));
    if (rest.IsScalar()) return evaluator->AsArray(rest);
  }
  return rest;
}

// Checks that every size of `from` is the destination's or 1.
void RequireFits(Context* context, const Dims& from, const Dims& to, const std::string& message,
                 const std::vector<Operand>& scalars) {
  ir::Builder& builder = context->builder();
  for (size_t i = 0; i < from.size(); ++i) {
    const Operand& wanted = to[to.size() - from.size() + i];
    if (from[i] == wanted || from[i].IsInt(1)) continue;
    Operand ok = builder.Scalar(OpCode::kEq, {from[i], wanted});
    if (!from[i].IsConstant() && !context->IsParameterSize(from[i])) {
      const Operand is_one = builder.Scalar(OpCode::kEq, {from[i], Operand::Int(1)});
      ok = builder.Scalar(OpCode::kOr, {ok, is_one});
    }
    context->Check(ok, "ValueError", message, scalars);
  }
}

}  // namespace

Value Evaluator::AsArray(const Value& value) {
  if (value.IsArray()) return value;
  if (const auto* scalar = value.TryAs<ScalarValue>()) return ArrayOfRankZero(this, scalar->op);
  if (const Values* elements = value.Elements()) return Stack(this, *elements).Build();
  const auto* iterable = value.TryAs<IterableValue>();
  if (iterable != nullptr && iterable->kind == IterableKind::kRange) {
    const Sequence sequence = Iterate(value);
    return Tabulate({sequence.length},
                    [&](const std::vector<Operand>& index) { return sequence.element(index[0]); });
  }
  context_->FailType("expected an array, got " + Describe(value));
}

Value Evaluator::CopyArray(const Value& array, std::optional<Order> order) {
  if (array.As<ArrayValue>().rank() == 0) {
    return ArrayOfRankZero(this, builder().Load(array.op(), {}));
  }
  return MapElements(
      this, {array}, [](const std::vector<Operand>& elements) { return elements[0]; }, order);
}

void Evaluator::CopyInto(const Value& source, const Value& destination) {
  const auto& to = destination.As<ArrayValue>();
  if (to.whole) {
    StoreAttribute(Value::Array(*to.whole), to.is_imaginary ? "imag" : "real", source);
    return;
  }
  const Value settled = SettleOperand(this, source);
  if (to.rank() == 0) return builder().Store(to.op, {}, AsScalar(settled, to.dtype()));
  if (!settled.IsArray()) {
    const Operand scalar = AsScalar(settled, to.dtype());
    const Value filled =
        Tabulate(to.dims(), [&](const std::vector<Operand>&) { return Value::NumPy(scalar); });
    builder().Emit(OpCode::kCopy, {}, {filled.op(), to.op});
    return;
  }
  if (settled.op() == to.op) return;
  const Dims& from = settled.As<ArrayValue>().dims();
  const std::string message = "could not broadcast input array from shape " + ShapeHoles(from) +
                              " into shape " + ShapeHoles(to.dims());
  std::vector<Operand> scalars = from;
  scalars.insert(scalars.end(), to.dims().begin(), to.dims().end());
  Value fitting = DropLeadingAxes(this, settled, to.dims().size(), message, scalars);
  RequireFits(context_, fitting.As<ArrayValue>().dims(), to.dims(), message, scalars);
  fitting = CastArray(fitting, to.dtype());
  if (!AreApart(&builder(), fitting.op(), to.op)) fitting = CopyArray(fitting);
  const Operand seen = BroadcastTo(fitting.op(), to.dims());
  builder().Emit(OpCode::kCopy, {}, {seen, to.op});
}

}  // namespace parakeet::frontend
