#include "frontend/reductions.h"

#include <algorithm>
#include <utility>

#include "frontend/conversions.h"
#include "frontend/promotion.h"

namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

void AddLeaves(const Context& context, const Value& value, Values* leaves) {
  if (value.IsTuple()) {
    for (const Value& element : *value.Elements()) AddLeaves(context, element, leaves);
    return;
  }
  if (!value.IsScalar() && !value.IsArray()) {
    context.FailType("an operator's function gives numbers, arrays or tuples of them, not " +
                     Describe(value));
  }
  leaves->push_back(value);
}

Value Rebuild(const Value& like, const Values& leaves, size_t* next) {
  if (!like.IsTuple()) return leaves[(*next)++];
  Values elements;
  for (const Value& element : *like.Elements()) elements.push_back(Rebuild(element, leaves, next));
  return Value::Tuple(std::move(elements));
}

// A value of a type, standing for `op`.
Value ValueOf(const Operand& op, bool python) {
  if (ir::TypeOf(op).IsArray()) return ArrayValue{op, Access::kWritable, python};
  return python ? Value::Python(op) : Value::NumPy(op);
}

// The types of one element: of all leading axes, or a slice.
ir::Type ElementType(const ArrayValue& array, int depth) {
  if (depth == array.rank()) return array.dtype();
  return ir::Type::Array(array.dtype(), Dims(array.dims().begin() + depth, array.dims().end()));
}

Value OneOrTuple(Values values) {
  return values.size() == 1 ? values[0] : Value::Tuple(std::move(values));
}

std::string Axes(size_t rank) { return std::to_string(rank) + (rank == 1 ? " axis" : " axes"); }

Dims Joint(Dims sizes, const Dims& more) {
  sizes.insert(sizes.end(), more.begin(), more.end());
  return sizes;
}

}  // namespace

Values LeavesOf(const Context& context, const Value& value) {
  Values leaves;
  AddLeaves(context, value, &leaves);
  return leaves;
}

Value WithLeaves(const Value& like, const Values& leaves) {
  size_t next = 0;
  return Rebuild(like, leaves, &next);
}

Combination::Combination(Evaluator* evaluator, Value combine, std::optional<Value> init)
    : evaluator_(evaluator),
      context_(&evaluator->context()),
      combine_(std::move(combine)),
      init_(std::move(init)),
      number_(context_->NextNumber()) {}

Combination::Leaf Combination::LeafOf(const Value& value) const {
  const bool python =
      value.IsArray() ? value.As<ArrayValue>().python_elements : value.IsPythonScalar();
  return {ir::TypeOf(value.op()), python};
}

std::vector<Combination::Leaf> Combination::Joined(const std::vector<Leaf>& a,
                                                   const std::vector<Leaf>& b) const {
  if (a.size() != b.size()) {
    context_->FailType("combining two elements gives another number of values: " +
                       std::to_string(b.size()) + ", expected " + std::to_string(a.size()));
  }
  std::vector<Leaf> joined;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type.With(b[i].type.dtype()) != b[i].type) {
      context_->FailLimitation(
          "combining two elements gives another shape: an element and what the "
          "function gives must have one shape");
    }
    joined.push_back({a[i].type.With(Promote(a[i].type.dtype(), b[i].type.dtype())),
                      a[i].python && b[i].python});
  }
  return joined;
}

// What combining gives, built in a block that is thrown away.
Value Combination::Trial(const Value& left, const Value& right) {
  ir::Builder scratch = context_->NewBlock();
  const Inside inside(context_, &scratch);
  const LoopScope scope(context_, number_, {});
  try {
    return evaluator_->Call(combine_, {left, right});
  } catch (const Leaves&) {
    context_->FailLimitation("a function that combines elements cannot raise each time");
  }
}

// As NumPy adds float16: in float32, rounded once.
Value Combination::Narrowed(const Value& result) {
  if (!narrows_) return result;
  return Value::NumPy(evaluator_->builder().Cast(result.op(), ir::DType::kF16));
}

void Combination::DecideTypes(const Value& element, bool widens) {
  const auto types_of = [&](const Value& value) {
    std::vector<Leaf> types;
    for (const Value& leaf : LeavesOf(*context_, value)) types.push_back(LeafOf(leaf));
    return types;
  };
  shape_ = init_ ? Trial(*init_, element) : element;
  leaves_ = types_of(shape_);
  // Sizes found by the trial are gone with it; an accumulator has those of an element.
  const std::vector<Leaf> elements = types_of(element);
  for (size_t i = 0; i < std::min(leaves_.size(), elements.size()); ++i) {
    ir::Type& type = leaves_[i].type;
    const ir::Type& of_element = elements[i].type;
    if (of_element.rank() != type.rank()) {
      context_->FailLimitation("combining init and an element gives " + Axes(type.rank()) +
                               ", and an element has " + Axes(of_element.rank()) +
                               "; give init an element's shape");
    }
    if (type.IsArray()) type = of_element.With(type.dtype());
  }
  for (;;) {
    ir::Builder scratch = context_->NewBlock();
    std::vector<const ir::Var*> params;
    const Value left = Accumulator(&scratch, &params, "a");
    const Value right = Accumulator(&scratch, &params, "b");
    const std::vector<Leaf> joined = Joined(leaves_, types_of(Trial(left, right)));
    if (joined == leaves_) break;
    leaves_ = joined;
  }
  narrows_ = widens && leaves_[0].type == ir::Type(ir::DType::kF16);
  if (narrows_) leaves_[0].type = ir::DType::kF32;
}

Value Combination::Accumulator(ir::Builder* block, std::vector<const ir::Var*>* params,
                               const char* hint) {
  Values leaves;
  for (const Leaf& leaf : leaves_) {
    params->push_back(block->NewVar(leaf.type, hint));
    leaves.push_back(ValueOf(params->back(), leaf.python));
  }
  return WithLeaves(shape_, leaves);
}

// The leaves of a value in the accumulator's types.
std::vector<Operand> Combination::Converted(const Value& value) {
  const Values leaves = LeavesOf(*context_, value);
  std::vector<Operand> converted;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const ir::DType dtype = leaves_[i].type.dtype();
    if (leaves[i].IsScalar()) {
      converted.push_back(ConvertScalar(context_, leaves[i].As<ScalarValue>(), dtype));
    } else {
      converted.push_back(evaluator_->CastArray(leaves[i], dtype).op());
    }
  }
  return converted;
}

const ir::Block* Combination::CombineBlock() {
  ir::Builder block = context_->NewBlock();
  std::vector<const ir::Var*> params;
  const Value left = Accumulator(&block, &params, "a");
  const Value right = Accumulator(&block, &params, "b");
  std::vector<Operand> results;
  {
    const Inside inside(context_, &block);
    const LoopScope scope(context_, number_, {});
    results = Converted(evaluator_->Call(combine_, {left, right}));
  }
  return block.Finish(std::move(params), std::move(results));
}

// An array init in the accumulator's type. Primitives let its axes of size 1 meet any size; another
// function might see them, so that it gets an init of an element's shape only.
Operand Combination::InitArray(const Value& init, const ir::Type& type) {
  const Dims& from = init.As<ArrayValue>().dims();
  const Dims& to = type.dims();
  const bool spreads = combine_.Is<PrimitiveValue>();
  const std::string advice = "; give init an element's shape";
  if (from.size() > to.size() || (!spreads && from.size() < to.size())) {
    context_->FailLimitation("init has " + Axes(from.size()) + ", and an element has " +
                             Axes(to.size()) + advice);
  }
  for (size_t i = 0; i < from.size(); ++i) {
    const Operand& wanted = to[to.size() - from.size() + i];
    if (from[i] == wanted || (spreads && from[i].IsInt(1))) continue;
    if (from[i].IsInt(1) || wanted.IsInt(1)) {
      context_->FailLimitation(
          "an axis of init has length 1 and an element's has not, or the "
          "other way about" +
          advice);
    }
    context_->Check(evaluator_->builder().Scalar(OpCode::kEq, {from[i], wanted}), "ValueError",
                    "operands could not be broadcast together with shapes " + ShapeHoles(from) +
                        " " + ShapeHoles(to) + " ",
                    Joint(from, to));
  }
  const Value cast = evaluator_->CastArray(init, type.dtype());
  return evaluator_->BroadcastTo(cast.op(), to);
}

// The init in the accumulator's types; a scalar where slices accumulate fills one.
std::vector<Operand> Combination::Inits() {
  if (!init_) return {};
  const Values given = LeavesOf(*context_, *init_);
  if (given.size() != leaves_.size()) {
    context_->FailType("init has " + std::to_string(given.size()) + " values, an element has " +
                       std::to_string(leaves_.size()));
  }
  std::vector<Operand> inits;
  for (size_t i = 0; i < given.size(); ++i) {
    const ir::Type& type = leaves_[i].type;
    if (!type.IsArray()) {
      inits.push_back(evaluator_->AsScalar(given[i], type.dtype()));
    } else if (given[i].IsArray()) {
      inits.push_back(InitArray(given[i], type));
    } else {
      const Value scalar = Value::NumPy(evaluator_->AsScalar(given[i], type.dtype()));
      inits.push_back(
          evaluator_->Tabulate(type.dims(), [&](const std::vector<Operand>&) { return scalar; })
              .op());
    }
  }
  return inits;
}

Value Combination::Results(OpCode op, const Dims& leading, std::vector<const ir::Var*>* results) {
  Values values;
  for (const Leaf& leaf : leaves_) {
    Dims dims = op == OpCode::kScan ? leading : Dims();
    dims.insert(dims.end(), leaf.type.dims().begin(), leaf.type.dims().end());
    const bool is_array = op == OpCode::kScan || leaf.type.IsArray();
    const ir::Type type = is_array ? ir::Type::Array(leaf.type.dtype(), dims) : leaf.type;
    results->push_back(evaluator_->builder().NewVar(type));
    values.push_back(ValueOf(results->back(), leaf.python));
  }
  return WithLeaves(shape_, values);
}

Value Combination::Run(OpCode op, const Values& arrays, int depth) {
  ir::Builder block = context_->NewBlock();
  std::vector<const ir::Var*> params;
  Values elements;
  std::vector<Operand> operands;
  for (const Value& value : arrays) {
    const auto& array = value.As<ArrayValue>();
    operands.push_back(array.op);
    params.push_back(block.NewVar(ElementType(array, depth), "a"));
    elements.push_back(ValueOf(params.back(), array.python_elements));
  }
  const Value element = OneOrTuple(elements);
  const auto* primitive = combine_.TryAs<PrimitiveValue>();
  const bool adds = primitive != nullptr && primitive->name == "add";
  DecideTypes(element, adds && op == OpCode::kReduce);
  std::vector<Operand> yielded;
  {
    const Inside inside(context_, &block);
    const LoopScope scope(context_, number_, {});
    yielded = Converted(element);
  }
  const ir::Block* combine = CombineBlock();
  const std::vector<Operand> inits = Inits();
  operands.insert(operands.end(), inits.begin(), inits.end());
  const Dims& dims = arrays[0].As<ArrayValue>().dims();
  std::vector<const ir::Var*> results;
  const Value value = Results(op, Dims(dims.begin(), dims.begin() + depth), &results);
  evaluator_->builder().Emit(op, results, std::move(operands), {},
                             {block.Finish(std::move(params), std::move(yielded)), combine});
  return Narrowed(value);
}

Value Combination::Reduce(const Values& arrays, int depth) {
  return Run(OpCode::kReduce, arrays, depth);
}

Value Combination::Scan(const Values& arrays) { return Run(OpCode::kScan, arrays, 1); }

Value Combination::ReduceIndexes(const Dims& extents,
                                 const std::function<Value(const std::vector<Operand>&)>& element) {
  ir::Builder block = context_->NewBlock();
  std::vector<const ir::Var*> params;
  for (size_t i = 0; i < extents.size(); ++i) params.push_back(block.NewVar(ir::DType::kI64, "i"));
  const std::vector<Operand> indexes(params.begin(), params.end());
  std::vector<Operand> yielded;
  {
    const Inside inside(context_, &block);
    const LoopScope scope(context_, number_, indexes);
    const Value made = element(indexes);
    DecideTypes(made, false);
    yielded = Converted(made);
  }
  const ir::Block* combine = CombineBlock();
  const std::vector<Operand> inits = Inits();
  std::vector<Operand> operands = extents;
  operands.insert(operands.end(), inits.begin(), inits.end());
  std::vector<const ir::Var*> results;
  const Value value = Results(OpCode::kIreduce, extents, &results);
  evaluator_->builder().Emit(OpCode::kIreduce, results, std::move(operands), {},
                             {block.Finish(std::move(params), std::move(yielded)), combine});
  return value;
}

}  // namespace parakeet::frontend
