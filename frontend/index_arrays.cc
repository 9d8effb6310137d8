#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/indexing.h"
#include "frontend/intrinsics.h"

// NumPy's advanced indexing: integer and bool arrays among the entries of an index.
namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;
using Kind = IndexEntry::Kind;

const Dims& DimsOf(const Value& value) { return value.As<ArrayValue>().dims(); }

bool IsMask(const IndexEntry& entry) {
  return entry.kind == Kind::kArray && ir::IsBool(entry.value.As<ArrayValue>().dtype());
}

Operand CountOf(ir::Builder* builder, const Dims& dims) {
  Operand count = Operand::Int(1);
  for (const Operand& dim : dims) count = builder->Mul(count, dim);
  return count;
}

// All elements along one axis of `count`.
Value Flatten(Evaluator* evaluator, const Value& array, const Operand& count) {
  const auto& fields = array.As<ArrayValue>();
  if (fields.rank() == 1 && fields.dims()[0] == count) return array;
  const ir::Type type = ir::Type::Array(fields.dtype(), {count});
  const OpCode op = fields.rank() == 1 ? OpCode::kAscribe : OpCode::kReshape;
  return fields.Seen(evaluator->builder().EmitOne(op, type, {fields.op}));
}

// The elements of `array` where `mask` is true, both 1-D and of one size: the count, the elements.
std::pair<Operand, Value> KeepWhere(Evaluator* evaluator, const Value& array, const Value& mask) {
  ir::Builder block = evaluator->context().NewBlock();
  const auto& fields = array.As<ArrayValue>();
  const ir::Var* element = block.NewVar(fields.dtype(), "a");
  const ir::Var* keeps = block.NewVar(DType::kBool, "m");
  ir::Builder& builder = evaluator->builder();
  const ir::Var* count = builder.NewVar(DType::kI64, "k");
  const ir::Var* kept = builder.NewVar(ir::Type::Array(fields.dtype(), {count}));
  const ir::Var* kept_mask = builder.NewVar(ir::Type::Array(DType::kBool, {count}));
  builder.Emit(OpCode::kFilter, {count, kept, kept_mask}, {array.op(), mask.op()}, {},
               {block.Finish({element, keeps}, {keeps})});
  return {count, ArrayValue{kept, Access::kWritable, fields.python_elements}};
}

// Checks that a mask is as long as the axes that it indexes.
void RequireMaskFits(Evaluator* evaluator, const Dims& dims, const IndexEntry& entry) {
  const Dims& mask = DimsOf(entry.value);
  for (size_t i = 0; i < mask.size(); ++i) {
    const Operand& size = dims[entry.axis + i];
    if (mask[i] == size) continue;
    const Operand ok = evaluator->builder().Scalar(OpCode::kEq, {mask[i], size});
    const std::string message = "boolean index did not match indexed array along axis " +
                                std::to_string(entry.axis + i) +
                                "; size of axis is {} but size of corresponding boolean axis is {}";
    if (ok.IsInt(0)) evaluator->context().Raise("IndexError", message, {size, mask[i]});
    evaluator->context().Check(ok, "IndexError", message, {size, mask[i]});
  }
}

// Masks replaced by the integer arrays of their true places.
std::vector<IndexEntry> WithoutMasks(Evaluator* evaluator, const Dims& dims,
                                     const std::vector<IndexEntry>& entries) {
  std::vector<IndexEntry> replaced;
  for (const IndexEntry& entry : entries) {
    if (!IsMask(entry)) {
      replaced.push_back(entry);
      continue;
    }
    RequireMaskFits(evaluator, dims, entry);
    int axis = entry.axis;
    for (const Value& places : NonZero(evaluator, entry.value)) {
      replaced.push_back({Kind::kArray, places, axis++});
      replaced.back().in_range = true;
    }
  }
  return replaced;
}

// An index with integer arrays, taken apart: the array seen through its slices and new axes, and
// for each axis of that view where in the result its index comes from.
class Gather {
 public:
  Gather(Evaluator* evaluator, const Value& array, std::vector<IndexEntry> entries)
      : evaluator_(evaluator), array_(array) {
    const Dims dims = DimsOf(array);
    entries_ = WithoutMasks(evaluator, dims, entries);
    MakeView();
    MakeIndexes(dims);
    PlaceAxes();
  }

  const Dims& dims() const { return result_; }
  const Value& view() const { return view_; }

  // Where in the view the result's element stands. Appends to the open block; `checked` says that
  // the index arrays have been normalised before.
  std::vector<Operand> Source(const std::vector<Operand>& index) {
    std::vector<Operand> source;
    for (const Axis& axis : axes_) {
      source.push_back(axis.entry < 0 ? index[axis.position] : Indexed(axis, index));
    }
    return source;
  }

  // Makes arrays of indexes that are in range, so that nothing is stored before all are checked.
  void NormaliseFirst() {
    for (Indexer& indexer : indexers_) {
      if (!indexer.value.IsArray() || indexer.is_normal) continue;
      const Dims shared = bdims_;
      indexer.value = evaluator_->Tabulate(shared, [&](const std::vector<Operand>& index) {
        return Value::NumPy(Load(indexer, index));
      });
      indexer.is_normal = true;
    }
  }

 private:
  // One axis of the view: the position in the result that indexes it, or the entry that does.
  struct Axis {
    int entry;
    int position;
  };
  struct Indexer {
    Value value;  // An i64 scalar in range, or an integer array of the common shape.
    int axis;
    Operand size;
    bool is_normal;
  };

  static bool IsIndexer(const IndexEntry& e) {
    return e.kind == Kind::kArray || e.kind == Kind::kInteger;
  }

  // The axes that arrays and integers index stay whole in the view.
  void MakeView() {
    std::vector<IndexEntry> basic = entries_;
    for (IndexEntry& entry : basic) {
      if (!IsIndexer(entry)) continue;
      entry.kind = Kind::kSlice;
      entry.value = Value::Slice(Value::None(), Value::None(), Value::None());
    }
    view_ = ViewBasic(evaluator_, array_, basic);
  }

  void MakeIndexes(const Dims& dims) {
    std::vector<Dims> shapes;
    for (const IndexEntry& entry : entries_) {
      if (entry.kind == Kind::kArray) shapes.push_back(DimsOf(entry.value));
    }
    bdims_ = CommonIndexDims(&evaluator_->context(), shapes);
    for (const IndexEntry& entry : entries_) {
      if (!IsIndexer(entry)) continue;
      const Operand& size = dims[entry.axis];
      if (entry.kind == Kind::kArray) {
        const Operand seen = evaluator_->BroadcastTo(entry.value.op(), bdims_);
        indexers_.push_back({Value::Array(seen), entry.axis, size, entry.in_range});
        continue;
      }
      const Operand given = evaluator_->AsIndex(entry.value, "an index");
      const Operand place = NormaliseIndex(&evaluator_->context(), given, entry.axis, size);
      indexers_.push_back({Value::Python(place), entry.axis, size, true});
    }
  }

  // Indexed axes that stand together keep their place in the result; else they come first.
  void PlaceAxes() {
    const auto first = std::find_if(entries_.begin(), entries_.end(), IsIndexer);
    const auto last = std::find_if(entries_.rbegin(), entries_.rend(), IsIndexer).base();
    const bool together = std::all_of(first, last, IsIndexer);
    const int shared = static_cast<int>(bdims_.size());
    first_shared_ = together ? static_cast<int>(first - entries_.begin()) : 0;
    int position = together ? 0 : shared;
    int next_indexer = 0;
    const Dims& view = DimsOf(view_);
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (IsIndexer(entries_[i])) {
        if (together && next_indexer == 0) position += shared;
        axes_.push_back({next_indexer++, -1});
        continue;
      }
      axes_.push_back({-1, position++});
      result_.push_back(view[i]);
    }
    result_.insert(result_.begin() + first_shared_, bdims_.begin(), bdims_.end());
  }

  Operand Load(const Indexer& indexer, const std::vector<Operand>& index) {
    ir::Builder& builder = evaluator_->builder();
    const Operand given = builder.Cast(builder.Load(indexer.value.op(), index), DType::kI64);
    if (indexer.is_normal) return given;
    return NormaliseIndex(&evaluator_->context(), given, indexer.axis, indexer.size);
  }

  Operand Indexed(const Axis& axis, const std::vector<Operand>& index) {
    const Indexer& indexer = indexers_[axis.entry];
    if (!indexer.value.IsArray()) return indexer.value.op();
    const auto from = index.begin() + first_shared_;
    return Load(indexer,
                std::vector<Operand>(from, from + static_cast<std::ptrdiff_t>(bdims_.size())));
  }

  Evaluator* evaluator_;
  Value array_;
  std::vector<IndexEntry> entries_;
  Value view_;
  Dims bdims_;
  std::vector<Indexer> indexers_;
  std::vector<Axis> axes_;
  int first_shared_ = 0;
  Dims result_;
};

bool IsWholeMask(const Value& array, const std::vector<IndexEntry>& entries) {
  return entries.size() == 1 && IsMask(entries[0]) &&
         entries[0].value.As<ArrayValue>().rank() == array.As<ArrayValue>().rank();
}

// Sequential loops over an index space, the last index fastest.
void EmitLoops(Evaluator* evaluator, const Dims& extents, std::vector<Operand> index,
               const std::function<void(const std::vector<Operand>&)>& body) {
  if (index.size() == extents.size()) return body(index);
  Context& context = evaluator->context();
  const int64_t number = context.NextNumber();
  ir::Builder block = context.NewBlock();
  const ir::Var* i = block.NewVar(DType::kI64, "i");
  {
    const Inside inside(&context, &block);
    const LoopScope scope(&context, number, {i});
    index.push_back(i);
    EmitLoops(evaluator, extents, index, body);
  }
  const Operand extent = extents[index.size() - 1];
  evaluator->builder().Emit(OpCode::kFor, {}, {Operand::Int(0), extent, Operand::Int(1)}, {},
                            {block.Finish({i}, {})});
}

// What is stored, as an array of the indexing's shape that nothing else changes.
Value StoredArray(Evaluator* evaluator, const Value& value, const Dims& dims, DType dtype,
                  bool by_mask) {
  Context& context = evaluator->context();
  const Value copy = evaluator->CopyArray(evaluator->CastArray(value, dtype));
  const Dims& from = DimsOf(copy);
  std::vector<Operand> scalars = from;
  std::string message = "shape mismatch: value array of shape " + ShapeHoles(from) +
                        " could not be broadcast to indexing result of shape " + ShapeHoles(dims);
  if (by_mask && from.size() == 1 && dims.size() == 1) {
    message =
        "NumPy boolean array indexing assignment cannot assign {} input values to the {} "
        "output values where the mask is true";
  }
  scalars.insert(scalars.end(), dims.begin(), dims.end());
  if (from.size() > dims.size()) context.Raise("ValueError", message, scalars);
  for (size_t i = 0; i < from.size(); ++i) {
    const Operand& wanted = dims[dims.size() - from.size() + i];
    if (from[i] == wanted || from[i].IsInt(1)) continue;
    ir::Builder& builder = evaluator->builder();
    const Operand is_one = builder.Scalar(OpCode::kEq, {from[i], Operand::Int(1)});
    const Operand equal = builder.Scalar(OpCode::kEq, {from[i], wanted});
    context.Check(builder.Scalar(OpCode::kOr, {equal, is_one}), "ValueError", message, scalars);
  }
  return Value::Array(evaluator->BroadcastTo(copy.op(), dims));
}

}  // namespace

Values NonZero(Evaluator* evaluator, const Value& mask) {
  const Dims dims = DimsOf(mask);
  ir::Builder& builder = evaluator->builder();
  const Operand size = CountOf(&builder, dims);
  const Value flat = Flatten(evaluator, mask, size);
  const Value places = evaluator->Tabulate(
      {size}, [](const std::vector<Operand>& index) { return Value::NumPy(index[0]); });
  const auto [count, kept] = KeepWhere(evaluator, places, flat);
  if (dims.size() == 1) return {kept};
  Values coordinates(dims.size());
  Operand unit = Operand::Int(1);
  for (size_t axis = dims.size(); axis-- > 0;) {
    const Operand stride = unit;
    coordinates[axis] = MapElements(evaluator, {kept}, [&](const std::vector<Operand>& elements) {
      ir::Builder& inner = evaluator->builder();
      const Operand quotient = inner.Scalar(OpCode::kFloorDiv, {elements[0], stride});
      return axis == 0 ? quotient : inner.Scalar(OpCode::kMod, {quotient, dims[axis]});
    });
    unit = builder.Mul(unit, dims[axis]);
  }
  return coordinates;
}

Value ReadAdvanced(Evaluator* evaluator, const Value& array, std::vector<IndexEntry> entries) {
  if (IsWholeMask(array, entries)) {
    RequireMaskFits(evaluator, DimsOf(array), entries[0]);
    const Operand count = CountOf(&evaluator->builder(), DimsOf(array));
    const Value flat = Flatten(evaluator, array, count);
    return KeepWhere(evaluator, flat, Flatten(evaluator, entries[0].value, count)).second;
  }
  Gather gather(evaluator, array, std::move(entries));
  const auto& view = gather.view().As<ArrayValue>();
  return evaluator->Tabulate(gather.dims(), [&](const std::vector<Operand>& index) {
    const Operand element = evaluator->builder().Load(view.op, gather.Source(index));
    return view.python_elements ? Value::Python(element) : Value::NumPy(element);
  });
}

void StoreAdvanced(Evaluator* evaluator, const Value& array, std::vector<IndexEntry> entries,
                   const Value& value) {
  const DType dtype = array.As<ArrayValue>().dtype();
  const Value settled = SettleOperand(evaluator, value);
  if (IsWholeMask(array, entries) && !settled.IsArray()) {
    RequireMaskFits(evaluator, DimsOf(array), entries[0]);
    const Value scalar = Value::NumPy(evaluator->AsScalar(settled, dtype));
    const Operand mask = evaluator->BroadcastTo(entries[0].value.op(), DimsOf(array));
    evaluator->CopyInto(SelectElements(evaluator, Value::Array(mask), scalar, array), array);
    return;
  }
  const bool by_mask = entries.size() == 1 && IsMask(entries[0]);
  Gather gather(evaluator, array, std::move(entries));
  Value stored = settled.IsArray() ? StoredArray(evaluator, settled, gather.dims(), dtype, by_mask)
                                   : Value::NumPy(evaluator->AsScalar(settled, dtype));
  gather.NormaliseFirst();
  EmitLoops(evaluator, gather.dims(), {}, [&](const std::vector<Operand>& index) {
    ir::Builder& builder = evaluator->builder();
    const Operand element = stored.IsArray() ? builder.Load(stored.op(), index) : stored.op();
    builder.Store(gather.view().op(), gather.Source(index), element);
  });
}

bool IsMaskOf(const Value& array, const Value& index) {
  if (!array.IsArray() || !index.IsArray()) return false;
  const auto &target = array.As<ArrayValue>(), &mask = index.As<ArrayValue>();
  return ir::IsBool(mask.dtype()) && mask.rank() == target.rank() && mask.rank() > 0 &&
         !target.whole && !target.python_elements;
}

bool UpdateWhereTrue(Evaluator* evaluator, BinaryOperator op, const Value& array, const Value& mask,
                     const Value& number) {
  constexpr BinaryOperator kCheap[] = {
      BinaryOperator::kAdd,   BinaryOperator::kSub,    BinaryOperator::kMult,  BinaryOperator::kDiv,
      BinaryOperator::kBitOr, BinaryOperator::kBitXor, BinaryOperator::kBitAnd};
  const bool is_cheap = std::count(std::begin(kCheap), std::end(kCheap), op) > 0;
  if (!is_cheap || number.TryAs<ScalarValue>() == nullptr) return false;
  RequireWritable(&evaluator->context(), array.As<ArrayValue>());
  const auto entries = ParseIndex(evaluator, mask, array.As<ArrayValue>().rank());
  RequireMaskFits(evaluator, DimsOf(array), entries[0]);
  const Value changed = evaluator->ResultInPlace(op, array, number);
  const Operand where = evaluator->BroadcastTo(mask.op(), DimsOf(array));
  evaluator->CopyInto(SelectElements(evaluator, Value::Array(where), changed, array), array);
  return true;
}

}  // namespace parakeet::frontend
