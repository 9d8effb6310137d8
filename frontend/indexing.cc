#include "frontend/indexing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontend/elementwise.h"
#include "frontend/registry.h"
#include "frontend/resolve.h"
#include "frontend/static_values.h"

namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

constexpr char kInvalidIndex[] =
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices";

// A list display as an array; of Python numbers of one type, its elements stay Python's.
Value ArrayOfList(Evaluator* evaluator, const Value& list) {
  const Values& elements = *list.Elements();
  const bool python = std::all_of(elements.begin(), elements.end(), [&](const Value& e) {
    return e.IsPythonScalar() && ir::DTypeOf(e.op()) == ir::DTypeOf(elements[0].op());
  });
  RefuseRaggedList(evaluator->context(), list);
  ArrayValue array = evaluator->AsArray(list).As<ArrayValue>();
  array.python_elements = python;
  return array;
}

// The element of a tuple or list display; run-time indexes need an array.
Value ElementOf(Evaluator* evaluator, const Value& sequence, const Value& index) {
  Context& context = evaluator->context();
  const auto* scalar = index.TryAs<ScalarValue>();
  if (scalar != nullptr && !scalar->op.IsConstant() && sequence.IsList()) {
    return evaluator->Subscript(ArrayOfList(evaluator, sequence), index);
  }
  const Values& elements = *sequence.Elements();
  const int64_t size = static_cast<int64_t>(elements.size());
  const int64_t given = context.StaticInt(index, "the index of a tuple");
  if (given < -size || given >= size) {
    context.Raise("IndexError",
                  std::string(sequence.IsTuple() ? "tuple" : "list") + " index out of range");
  }
  return elements[given < 0 ? given + size : given];
}

int64_t StaticBound(Context* context, const Value& bound, int64_t otherwise) {
  return bound.IsNone() ? otherwise : context->StaticInt(bound, "a bound of a tuple's slice");
}

// A slice of a tuple or list display: static bounds, clipped as Python clips them.
Value SliceOf(Evaluator* evaluator, const Value& sequence, const SliceValue& slice) {
  Context& context = evaluator->context();
  const Values& elements = *sequence.Elements();
  const int64_t size = static_cast<int64_t>(elements.size());
  const int64_t step = StaticBound(&context, slice.step(), 1);
  if (step == 0) context.Raise("ValueError", "slice step cannot be zero");
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? size : size - 1;
  const auto clip = [&](int64_t i) { return std::clamp(i < 0 ? i + size : i, low, high); };
  const int64_t start = slice.start().IsNone() ? (step > 0 ? low : high)
                                               : clip(StaticBound(&context, slice.start(), 0));
  const int64_t stop = slice.stop().IsNone() ? (step > 0 ? high : low)
                                             : clip(StaticBound(&context, slice.stop(), 0));
  Values taken;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) taken.push_back(elements[i]);
  return sequence.IsTuple() ? Value::Tuple(std::move(taken)) : Value::List(std::move(taken));
}

bool IsIntegerScalar(const Value& value) {
  const auto* scalar = value.TryAs<ScalarValue>();
  return scalar != nullptr && ir::IsInteger(ir::DTypeOf(scalar->op));
}

IndexEntry EntryOf(Evaluator* evaluator, const Value& given) {
  const auto* iterable = given.TryAs<IterableValue>();
  const bool is_range = iterable != nullptr && iterable->kind == IterableKind::kRange;
  const bool is_sequence = is_range || given.Elements() != nullptr;
  const Value value = is_sequence ? evaluator->AsArray(given) : given;
  if (IsIntegerScalar(value)) return {IndexEntry::Kind::kInteger, value};
  if (value.Is<SliceValue>()) return {IndexEntry::Kind::kSlice, value};
  if (value.IsNone()) return {IndexEntry::Kind::kNewAxis, value};
  if (const auto* array = value.TryAs<ArrayValue>()) {
    if (array->rank() == 0) {
      IndexEntry entry = EntryOf(evaluator, SettleOperand(evaluator, value));
      entry.is_copy = true;
      return entry;
    }
    if (ir::IsInteger(array->dtype()) || ir::IsBool(array->dtype())) {
      return {IndexEntry::Kind::kArray, value};
    }
    const bool empty = given.Elements() != nullptr && given.Elements()->empty();
    if (empty) return {IndexEntry::Kind::kArray, evaluator->CastArray(value, ir::DType::kI64)};
  }
  evaluator->context().FailUser("IndexError", kInvalidIndex);
}

// How many of the array's axes an entry takes.
int AxesTaken(const IndexEntry& entry) {
  if (entry.kind == IndexEntry::Kind::kNewAxis) return 0;
  if (entry.kind != IndexEntry::Kind::kArray) return 1;
  const auto& array = entry.value.As<ArrayValue>();
  return ir::IsBool(array.dtype()) ? array.rank() : 1;
}

Value WholeSlice() { return Value::Slice(Value::None(), Value::None(), Value::None()); }

IndexEntry WholeAxis() { return {IndexEntry::Kind::kSlice, WholeSlice()}; }

bool IsBoolScalar(const Value& value) {
  if (const auto* array = value.TryAs<ArrayValue>()) {
    return array->rank() == 0 && ir::IsBool(array->dtype());
  }
  return value.IsScalar() && ir::IsBool(ir::DTypeOf(value.op()));
}

bool HasBoolScalars(const Value& index) {
  if (!index.IsTuple()) return IsBoolScalar(index);
  return std::any_of(index.Elements()->begin(), index.Elements()->end(), IsBoolScalar);
}

// A single bool in an index is a new axis, which an array of no or of one 0 indexes: the index
// that makes the axes, and the one for the array seen through it.
struct SplitIndex {
  Value axes;
  Value elements;
};

SplitIndex SplitBoolScalars(Evaluator* evaluator, const Value& index) {
  const Values one = {index};
  Values axes;
  Values elements;
  for (const Value& given : index.IsTuple() ? *index.Elements() : one) {
    if (IsBoolScalar(given)) {
      const Operand truth = SettleOperand(evaluator, given).op();
      const Operand count = evaluator->builder().Cast(truth, ir::DType::kI64);
      const auto zero = [](const std::vector<Operand>&) { return Value::Int(0); };
      axes.push_back(Value::None());
      elements.push_back(evaluator->Tabulate({count}, zero));
      continue;
    }
    elements.push_back(given.IsNone() ? WholeSlice() : given);
    if (given.IsNone() || given.Is<EllipsisValue>()) {
      axes.push_back(given);
    } else {
      axes.insert(axes.end(), AxesTaken(EntryOf(evaluator, given)), WholeSlice());
    }
  }
  return {Value::Tuple(std::move(axes)), Value::Tuple(std::move(elements))};
}

[[noreturn]] void FailTooMany(const Context& context, int rank, int taken) {
  context.FailUser("IndexError", "too many indices for array: array is " + std::to_string(rank) +
                                     "-dimensional, but " + std::to_string(taken) +
                                     " were indexed");
}

bool IsFullIndex(const std::vector<IndexEntry>& entries) {
  return std::all_of(entries.begin(), entries.end(),
                     [](const IndexEntry& e) { return e.kind == IndexEntry::Kind::kInteger; });
}

std::vector<Operand> FullIndex(Evaluator* evaluator, const ArrayValue& array,
                               const std::vector<IndexEntry>& entries) {
  std::vector<Operand> index;
  for (const IndexEntry& entry : entries) {
    const Operand given = evaluator->AsIndex(entry.value, "an index");
    index.push_back(
        NormaliseIndex(&evaluator->context(), given, entry.axis, array.dims()[entry.axis]));
  }
  return index;
}

Value LoadElement(Evaluator* evaluator, const ArrayValue& array,
                  const std::vector<Operand>& index) {
  const Operand element = evaluator->builder().Load(array.op, index);
  return array.python_elements ? Value::Python(element) : Value::NumPy(element);
}

bool HasEllipsis(const Value& index) {
  if (!index.IsTuple()) return index.Is<EllipsisValue>();
  const Values& entries = *index.Elements();
  return std::any_of(entries.begin(), entries.end(),
                     [](const Value& e) { return e.Is<EllipsisValue>(); });
}

// The place in a range of `length` numbers that a Python index names.
ir::Operand PlaceInRange(Context* context, const Operand& index, const Operand& length) {
  ir::Builder& builder = context->builder();
  const Operand negative = builder.Scalar(OpCode::kLt, {index, Operand::Int(0)});
  const Operand place =
      builder.Scalar(OpCode::kSelect, {negative, builder.Add(index, length), index});
  const Operand above = builder.Scalar(OpCode::kGe, {place, Operand::Int(0)});
  const Operand below = builder.Scalar(OpCode::kLt, {place, length});
  const Operand ok = builder.Scalar(OpCode::kAnd, {above, below});
  if (ok.IsInt(0)) context->Raise("IndexError", "range object index out of range");
  context->Check(ok, "IndexError", "range object index out of range");
  return place;
}

}  // namespace

void RequireWritable(Context* context, const ArrayValue& array, Destination destination) {
  if (array.whole) return;
  const bool is_output = destination == Destination::kOutput;
  switch (array.access) {
    case Access::kWritable: return;
    case Access::kReadOnly:
      context->Raise("ValueError", is_output ? "output array is read-only"
                                             : "assignment destination is read-only");
    case Access::kList:
      context->FailLimitation(
          "a list argument is copied to an array, so storing into it would not "
          "be seen; pass np.array(...) instead");
    case Access::kPart:
      context->FailLimitation(
          "the real and imaginary parts of a complex array are copies here, so "
          "storing into them would not be seen; pass the whole array, and assign to z.real or "
          "z.imag there");
    case Access::kUnknown:
      context->FailLimitation(
          "this array is read-only on one path and writable on another; copy it "
          "before storing into it");
  }
}

Operand NormaliseIndex(Context* context, const Operand& index, int axis, const Operand& size) {
  ir::Builder& builder = context->builder();
  const Operand zero = Operand::Int(0);
  const Operand negative = builder.Scalar(OpCode::kLt, {index, zero});
  const Operand place =
      negative.IsConstant()
          ? (negative.IsInt(1) ? builder.Add(size, index) : index)
          : builder.Scalar(OpCode::kSelect, {negative, builder.Add(index, size), index});
  const Operand above = builder.Scalar(OpCode::kGe, {place, zero});
  const Operand below = builder.Scalar(OpCode::kLt, {place, size});
  const Operand ok = negative.IsInt(1)   ? above
                     : negative.IsInt(0) ? below
                                         : builder.Scalar(OpCode::kAnd, {above, below});
  const std::string message =
      "index {} is out of bounds for axis " + std::to_string(axis) + " with size {}";
  if (ok.IsInt(0)) context->Raise("IndexError", message, {index, size});
  context->Check(ok, "IndexError", message, {index, size});
  return place;
}

std::vector<IndexEntry> ParseIndex(Evaluator* evaluator, const Value& index, int rank) {
  const Values one = {index};
  const Values& given = index.IsTuple() ? *index.Elements() : one;
  std::vector<IndexEntry> entries;
  std::optional<size_t> ellipsis;
  int taken = 0;
  for (const Value& value : given) {
    if (value.Is<EllipsisValue>()) {
      if (ellipsis)
        evaluator->context().FailUser("IndexError",
                                      "an index can only have a single ellipsis ('...')");
      ellipsis = entries.size();
      continue;
    }
    entries.push_back(EntryOf(evaluator, value));
    taken += AxesTaken(entries.back());
  }
  if (taken > rank) FailTooMany(evaluator->context(), rank, taken);
  const auto fill =
      entries.begin() + static_cast<std::ptrdiff_t>(ellipsis.value_or(entries.size()));
  entries.insert(fill, rank - taken, WholeAxis());
  int axis = 0;
  for (IndexEntry& entry : entries) {
    entry.axis = axis;
    axis += AxesTaken(entry);
  }
  return entries;
}

bool HasArrays(const std::vector<IndexEntry>& entries) {
  return std::any_of(entries.begin(), entries.end(),
                     [](const IndexEntry& e) { return e.kind == IndexEntry::Kind::kArray; });
}

bool IsBasicIndex(const Value& index) {
  if (HasBoolScalars(index)) return false;
  const auto is_array = [](const Value& entry) {
    return entry.Elements() != nullptr || (entry.IsArray() && entry.As<ArrayValue>().rank() > 0);
  };
  if (!index.IsTuple()) return !is_array(index);
  return std::none_of(index.Elements()->begin(), index.Elements()->end(), is_array);
}

bool StepsByOne(const SliceValue& slice) {
  return slice.step().IsNone() || (slice.step().IsStaticScalar() && slice.step().op().IsInt(1));
}

bool IsWhole(const SliceValue& slice) {
  return slice.start().IsNone() && slice.stop().IsNone() && StepsByOne(slice);
}

// Whether the elements follow each other in an array that lies in C order: integers first, then one
// slice of step 1, then whole axes.
bool TakesRun(const std::vector<IndexEntry>& entries) {
  bool has_slice = false;
  for (const IndexEntry& entry : entries) {
    if (entry.kind == IndexEntry::Kind::kNewAxis) continue;
    if (entry.kind == IndexEntry::Kind::kInteger) {
      if (has_slice) return false;
      continue;
    }
    const auto& slice = entry.value.As<SliceValue>();
    if (!StepsByOne(slice) || (has_slice && !IsWhole(slice))) return false;
    has_slice = true;
  }
  return true;
}

Value ViewBasic(Evaluator* evaluator, const Value& value, const std::vector<IndexEntry>& entries) {
  const auto& array = value.As<ArrayValue>();
  std::vector<Operand> operands = {array.op};
  std::string axes;
  Dims dims;
  for (const IndexEntry& entry : entries) {
    if (entry.kind == IndexEntry::Kind::kNewAxis) {
      axes += 'n';
      dims.push_back(Operand::Int(1));
      continue;
    }
    const Operand& size = array.dims()[entry.axis];
    if (entry.kind == IndexEntry::Kind::kInteger) {
      axes += 'i';
      const Operand given = evaluator->AsIndex(entry.value, "an index");
      operands.push_back(NormaliseIndex(&evaluator->context(), given, entry.axis, size));
      continue;
    }
    axes += 'r';
    const Range range = NormaliseSlice(evaluator, entry.value.As<SliceValue>(), size);
    operands.insert(operands.end(), {range.start, range.size, range.step});
    dims.push_back(range.size);
  }
  const ir::Type type = ir::Type::Array(array.dtype(), dims);
  ArrayValue view = array.Seen(evaluator->builder().EmitOne(
      OpCode::kSlice, type, std::move(operands), {{ir::Attr::kAxes, axes}}));
  view.dense = array.dense && array.order == Order::kC && TakesRun(entries);
  return view;
}

Value ReadBasic(Evaluator* evaluator, const Value& value, const std::vector<IndexEntry>& entries) {
  const auto& array = value.As<ArrayValue>();
  if (!IsFullIndex(entries)) return ViewBasic(evaluator, value, entries);
  return LoadElement(evaluator, array, FullIndex(evaluator, array, entries));
}

Value Evaluator::Subscript(const Value& value, const Value& index) {
  if (const auto* object = value.TryAs<ObjectValue>()) {
    if (const auto read = LookUpSubscript(object->object.get())) return Call(*read, {index});
    context_->FailLimitation("jitted code cannot index " + NameOfObject(object->object.get()));
  }
  if (value.Elements() != nullptr) {
    if (const auto* slice = index.TryAs<SliceValue>()) return SliceOf(this, value, *slice);
    return value.IsTuple() || index.IsScalar() ? ElementOf(this, value, index)
                                               : Subscript(AsArray(value), index);
  }
  const auto* iterable = value.TryAs<IterableValue>();
  if (iterable != nullptr && iterable->kind == IterableKind::kRange && index.IsScalar()) {
    const Sequence range = Iterate(value);
    const ir::Operand given = AsIndex(index, "an index");
    return range.element(PlaceInRange(context_, given, range.length));
  }
  if (value.IsScalar() && !value.IsPythonScalar()) {
    context_->FailUser("IndexError", "invalid index to scalar variable.");
  }
  if (value.Is<StringValue>()) {
    context_->FailLimitation("a string is compared as a whole; its letters cannot be read here");
  }
  if (!value.IsArray()) {
    context_->FailType("'" + PythonTypeName(value) + "' object is not subscriptable");
  }
  if (const auto& array = value.As<ArrayValue>(); array.whole) {
    return Attribute(Subscript(Value::Array(*array.whole), index),
                     array.is_imaginary ? "imag" : "real");
  }
  if (HasBoolScalars(index)) {
    const SplitIndex split = SplitBoolScalars(this, index);
    return Subscript(Subscript(value, split.axes), split.elements);
  }
  const std::vector<IndexEntry> entries = ParseIndex(this, index, value.As<ArrayValue>().rank());
  if (HasArrays(entries)) return ReadAdvanced(this, value, entries);
  // With `...` even a full index gives an array, of rank 0.
  const Value read =
      HasEllipsis(index) ? ViewBasic(this, value, entries) : ReadBasic(this, value, entries);
  const bool is_copy = std::any_of(entries.begin(), entries.end(),
                                   [](const IndexEntry& entry) { return entry.is_copy; });
  return is_copy && read.IsArray() ? CopyArray(read) : read;
}

void Evaluator::StoreSubscript(const Value& target, const Value& index, const Value& value) {
  if (!target.IsArray()) {
    context_->FailType("'" + PythonTypeName(target) + "' object does not support item assignment");
  }
  const auto& array = target.As<ArrayValue>();
  if (array.whole) return StorePart(array, index, value);
  RequireWritable(context_, array);
  if (HasBoolScalars(index)) {
    const SplitIndex split = SplitBoolScalars(this, index);
    return StoreSubscript(Subscript(target, split.axes), split.elements, value);
  }
  const std::vector<IndexEntry> entries = ParseIndex(this, index, array.rank());
  if (HasArrays(entries)) return StoreAdvanced(this, target, entries, value);
  if (!IsFullIndex(entries)) return CopyInto(value, ViewBasic(this, target, entries));
  const std::vector<Operand> place = FullIndex(this, array, entries);
  builder().Store(array.op, place, AsScalar(value, array.dtype()));
}

// z.real[index] = value: to the same part of z[index].
void Evaluator::StorePart(const ArrayValue& part, const Value& index, const Value& value) {
  const Value whole = Value::Array(*part.whole);
  const Value read = Subscript(whole, index);
  const std::string name = part.is_imaginary ? "imag" : "real";
  if (!read.IsArray()) {
    const ir::DType dtype = part.dtype();
    const Operand kept = Attribute(read, part.is_imaginary ? "real" : "imag").op();
    const Operand stored = AsScalar(value, dtype);
    const Operand joined = builder().Scalar(
        OpCode::kMakeComplex, part.is_imaginary ? Dims{kept, stored} : Dims{stored, kept});
    return StoreSubscript(whole, index, Value::NumPy(joined));
  }
  StoreAttribute(read, name, value);
  if (!IsBasicIndex(index)) StoreSubscript(whole, index, read);
}

Value Evaluator::ElementAt(const Value& value, const Operand& index) {
  const auto& array = value.As<ArrayValue>();
  if (array.whole) {
    return Attribute(ElementAt(Value::Array(*array.whole), index),
                     array.is_imaginary ? "imag" : "real");
  }
  if (array.rank() == 1) return LoadElement(this, array, {index});
  std::vector<Operand> operands = {array.op, index};
  std::string axes = "i";
  const Dims dims(array.dims().begin() + 1, array.dims().end());
  for (const Operand& dim : dims) {
    axes += 'r';
    operands.insert(operands.end(), {Operand::Int(0), dim, Operand::Int(1)});
  }
  const ir::Type type = ir::Type::Array(array.dtype(), dims);
  ArrayValue element = array.Seen(
      builder().EmitOne(OpCode::kSlice, type, std::move(operands), {{ir::Attr::kAxes, axes}}));
  element.dense = array.dense && array.order == Order::kC;
  return element;
}

}  // namespace parakeet::frontend
