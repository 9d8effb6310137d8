#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "frontend/elementwise.h"
#include "frontend/intrinsics.h"
#include "frontend/operators_parallel.h"
#include "frontend/reductions.h"
#include "frontend/static_values.h"

// reduce, scan, ireduce and filter_reduce: which axes they run over.
namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

std::string NameOf(const Value& f) {
  const auto* primitive = f.TryAs<PrimitiveValue>();
  return primitive != nullptr ? primitive->name : "reduce";
}

Operand CountOf(ir::Builder* builder, const Dims& dims) {
  Operand count = Operand::Int(1);
  for (const Operand& dim : dims) count = builder->Mul(count, dim);
  return count;
}

// Without init there must be an element to reduce, as in NumPy even where there are no results.
void RequireElements(Evaluator* evaluator, const Value& f, const Dims& reduced, const Dims&) {
  ir::Builder& builder = evaluator->builder();
  const Operand ok = builder.Scalar(OpCode::kNe, {CountOf(&builder, reduced), Operand::Int(0)});
  const std::string message =
      "zero-size array to reduction operation " + NameOf(f) + " which has no identity";
  if (ok.IsInt(0)) evaluator->context().Raise("ValueError", message);
  evaluator->context().Check(ok, "ValueError", message);
}

Value Spread(Evaluator* evaluator, const Value& array, const Dims& dims) {
  const bool python = array.As<ArrayValue>().python_elements;
  return ArrayValue{evaluator->BroadcastTo(array.op(), dims), Access::kReadOnly, python};
}

// Arrays of one shape; scalars are refused, since an element of each is needed.
Values SameShape(Evaluator* evaluator, const std::string& name, const Values& given) {
  Values arrays;
  for (const Value& value : given) {
    const Value array = SettleOperand(evaluator, value);
    if (!array.IsArray())
      evaluator->context().FailType(name + "() takes arrays, not " + Describe(array));
    arrays.push_back(array);
  }
  if (arrays.empty()) evaluator->context().FailType(name + "() needs an array");
  if (arrays.size() == 1) return arrays;
  std::vector<Dims> shapes;
  for (const Value& array : arrays) shapes.push_back(array.As<ArrayValue>().dims());
  const Dims dims = CommonDims(&evaluator->context(), shapes);
  for (Value& array : arrays) array = Spread(evaluator, array, dims);
  return arrays;
}

// A slice of each array at an index of its leading axes.
Values SlicesAt(Evaluator* evaluator, const Values& arrays, const std::vector<Operand>& index) {
  Values slices;
  for (Value slice : arrays) {
    for (const Operand& i : index) slice = evaluator->ElementAt(slice, i);
    slices.push_back(slice);
  }
  return slices;
}

// The other axes of `rank`, in order.
std::vector<int> OtherAxes(const std::vector<int>& axes, int rank) {
  std::vector<int> others;
  for (int axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  }
  return others;
}

Dims SizesOf(const Value& array, const std::vector<int>& axes) {
  Dims sizes;
  for (int axis : axes) sizes.push_back(array.As<ArrayValue>().dims()[axis]);
  return sizes;
}

// Arrays of rank 0 are numbers, lists arrays; tuples, which start several arrays, stay.
std::optional<Value> GivenInit(Evaluator* evaluator, const Value& init) {
  if (init.IsNone()) return std::nullopt;
  return init.IsTuple() ? init : SettleOperand(evaluator, init);
}

// A primitive works element by element, so reducing slices by it is reducing each of their
// elements. An array `init` meets the slices by broadcasting: there is one result for each element
// of what they make together.
Value ReduceEach(Evaluator* evaluator, const Value& f, std::optional<Value> init,
                 const Values& arrays, const std::vector<int>& axes) {
  const int rank = arrays[0].As<ArrayValue>().rank();
  const std::vector<int> kept = OtherAxes(axes, rank);
  Dims sizes = SizesOf(arrays[0], kept);
  Values moved;
  for (const Value& array : arrays) moved.push_back(MoveFirst(evaluator, array, kept));
  const bool starts_each = init && init->IsArray();
  if (starts_each) {
    sizes = CommonDims(&evaluator->context(), {init->As<ArrayValue>().dims(), sizes});
    init = Spread(evaluator, *init, sizes);
    Dims all = sizes;
    for (const Operand& size : SizesOf(arrays[0], OtherAxes(kept, rank))) all.push_back(size);
    for (Value& array : moved) array = Spread(evaluator, array, all);
  }
  return evaluator->Tabulate(sizes, [&](const std::vector<Operand>& index) {
    const auto start = starts_each ? SlicesAt(evaluator, {*init}, index)[0] : init;
    const Values slices = SlicesAt(evaluator, moved, index);
    return Combination(evaluator, f, start).Reduce(slices, static_cast<int>(axes.size()));
  });
}

// NumPy's reductions and scans take no bool for an axis.
void RequireNoBool(Evaluator* evaluator, const Value& axis) {
  const Values one = {axis};
  for (const Value& given : axis.Elements() != nullptr ? *axis.Elements() : one) {
    if (given.IsScalar() && ir::IsBool(ir::DTypeOf(given.op())))
      evaluator->context().FailType("an integer is required for the axis");
  }
}

// NumPy lets an array of rank 0 be reduced along axis 0 or -1.
void RequireAxisOfScalar(Evaluator* evaluator, const Value& axis) {
  if (axis.IsNone() || axis.Elements() != nullptr) return;
  const int64_t given = evaluator->context().StaticInt(axis, "axis");
  if (given != 0 && given != -1) StaticAxis(evaluator, axis, 0);
}

// Over no axes every element is combined with `init` alone.
Value CombineNothing(Evaluator* evaluator, const Value& f, const std::optional<Value>& init,
                     const Values& arrays) {
  const Value element = arrays.size() == 1 ? arrays[0] : Value::Tuple(arrays);
  if (!init) return arrays.size() == 1 ? evaluator->CopyArray(element) : element;
  if (arrays.size() > 1) {
    evaluator->context().FailLimitation("several arrays reduced over no axes; map the function");
  }
  Arguments arguments;
  arguments.positional = {f, *init, element};
  arguments.keywords = {{"axis", Value::None()}};
  return evaluator->CallOperator("map", std::move(arguments));
}

Value ReduceArrays(Evaluator* evaluator, const Value& f, const Value& axis,
                   const std::optional<Value>& init, const Values& arrays) {
  const int rank = arrays[0].As<ArrayValue>().rank();
  RequireNoBool(evaluator, axis);
  const std::vector<int> axes = StaticAxes(evaluator, axis, rank);
  if (axes.empty()) return CombineNothing(evaluator, f, init, arrays);
  if (!init) {
    RequireElements(evaluator, f, SizesOf(arrays[0], axes),
                    SizesOf(arrays[0], OtherAxes(axes, rank)));
  }
  const bool over_all = static_cast<int>(axes.size()) == rank;
  if (f.Is<PrimitiveValue>() && (!over_all || (init && init->IsArray())))
    return ReduceEach(evaluator, f, init, arrays, axes);
  if (over_all) return Combination(evaluator, f, init).Reduce(arrays, rank);
  Values leading;
  for (const Value& array : arrays) leading.push_back(MoveFirst(evaluator, array, axes));
  return Combination(evaluator, f, init).Reduce(leading, static_cast<int>(axes.size()));
}

// Prefixes along `axis` for each index of the other axes.
Value ScanEach(Evaluator* evaluator, const Value& f, const std::optional<Value>& init,
               const Value& array, int axis) {
  const int rank = array.As<ArrayValue>().rank();
  const std::vector<int> kept = OtherAxes({axis}, rank);
  const Value moved = MoveFirst(evaluator, array, kept);
  const Value scanned =
      evaluator->Tabulate(SizesOf(array, kept), [&](const std::vector<Operand>& index) {
        return Combination(evaluator, f, init).Scan(SlicesAt(evaluator, {moved}, index));
      });
  Values perm;
  for (int result = 0; result < rank; ++result) {
    const int from = result == axis ? rank - 1 : result < axis ? result : result - 1;
    perm.push_back(Value::Int(from));
  }
  return TransposeAxes(evaluator, {scanned, Value::Tuple(std::move(perm))});
}

}  // namespace

Value ReduceOperator(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value f = call.Function("f");
  const Value axis = call.Keyword("axis", Value::None());
  const std::optional<Value> init = GivenInit(evaluator, call.Keyword("init", Value::None()));
  const Values given = call.Rest();
  if (given.size() == 1) {
    const Value only = SettleOperand(evaluator, given[0]);
    if (only.IsScalar()) {
      RequireAxisOfScalar(evaluator, axis);
      return init ? evaluator->Call(f, {*init, only}) : only;
    }
  }
  return ReduceArrays(evaluator, f, axis, init, SameShape(evaluator, name, given));
}

Value ScanOperator(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value f = call.Function("f");
  const Value axis_given = call.Keyword("axis", Value::Int(0));
  const std::optional<Value> init = GivenInit(evaluator, call.Keyword("init", Value::None()));
  const Values arrays = SameShape(evaluator, name, call.Rest());
  const int rank = arrays[0].As<ArrayValue>().rank();
  RequireNoBool(evaluator, axis_given);
  const int axis = StaticAxis(evaluator, axis_given, rank);
  // A primitive works element by element. Along the last axis rows are scanned one by one; along
  // another, slices are combined, which leaves the result in the order of its axes.
  const bool by_rows = axis > 0 && axis == rank - 1 && !(init && init->IsArray());
  if (by_rows && f.Is<PrimitiveValue>() && arrays.size() == 1) {
    return ScanEach(evaluator, f, init, arrays[0], axis);
  }
  Values leading;
  for (const Value& array : arrays) leading.push_back(MoveFirst(evaluator, array, {axis}));
  Value scanned = Combination(evaluator, f, init).Scan(leading);
  if (axis == 0) return scanned;
  Values back;
  for (const Value& leaf : LeavesOf(evaluator->context(), scanned)) {
    Values perm;
    for (int result = 0; result < rank; ++result) {
      perm.push_back(Value::Int(result == axis ? 0 : result < axis ? result + 1 : result));
    }
    back.push_back(TransposeAxes(evaluator, {leaf, Value::Tuple(std::move(perm))}));
  }
  return WithLeaves(scanned, back);
}

Value IreduceOperator(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value f = call.Function("f");
  const Value combine = call.Function("combine");
  const Dims extents = ShapeOf(evaluator, call.Next("shape"));
  const std::optional<Value> init = GivenInit(evaluator, call.NextOr("init", Value::None()));
  call.RequireNoMore();
  if (extents.empty()) {
    const Value only = CallAtIndex(evaluator, f, {});
    return init ? evaluator->Call(combine, {*init, only}) : only;
  }
  if (!init) RequireElements(evaluator, combine, extents, {});
  return Combination(evaluator, combine, init)
      .ReduceIndexes(extents, [&](const std::vector<Operand>& index) {
        return CallAtIndex(evaluator, f, index);
      });
}

Value FilterReduceOperator(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value f = call.Function("f");
  const Value pred = call.Function("pred");
  const std::optional<Value> init = GivenInit(evaluator, call.Keyword("init", Value::None()));
  const Values arrays = SameShape(evaluator, name, call.Rest());
  return ReduceArrays(evaluator, f, Value::Int(0), init, KeptBy(evaluator, name, pred, arrays));
}

}  // namespace parakeet::frontend
