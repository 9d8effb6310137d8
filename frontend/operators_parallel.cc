#include "frontend/operators_parallel.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/indexing.h"
#include "frontend/intrinsics.h"
#include "frontend/static_values.h"

// The data-parallel operators: map, imap, outer_map and filter. reduce_operators.cc has the rest.
namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

Values RequireArrays(Evaluator* evaluator, const std::string& name, const Values& given) {
  Values arrays;
  for (const Value& value : given) arrays.push_back(SettleOperand(evaluator, value));
  const bool any =
      std::any_of(arrays.begin(), arrays.end(), [](const Value& v) { return v.IsArray(); });
  if (!any) evaluator->context().FailType(name + " needs at least one array");
  return arrays;
}

// One element or slice of each array; scalars whole.
Values ElementsAt(Evaluator* evaluator, const Values& arrays, const Operand& index) {
  Values elements;
  for (const Value& array : arrays) {
    elements.push_back(array.IsArray() ? evaluator->ElementAt(array, index) : array);
  }
  return elements;
}

Value MapEverything(Evaluator* evaluator, const Value& f, const Values& arrays) {
  std::vector<Dims> shapes;
  for (const Value& array : arrays) {
    if (array.IsArray()) shapes.push_back(array.As<ArrayValue>().dims());
  }
  const Dims dims = CommonDims(&evaluator->context(), shapes);
  Values seen;
  for (const Value& array : arrays) {
    if (!array.IsArray()) {
      seen.push_back(array);
      continue;
    }
    const bool python = array.As<ArrayValue>().python_elements;
    seen.push_back(ArrayValue{evaluator->BroadcastTo(array.op(), dims), Access::kReadOnly, python});
  }
  return evaluator->Tabulate(dims, [&](const std::vector<Operand>& index) {
    Values elements;
    for (const Value& array : seen) {
      if (!array.IsArray()) {
        elements.push_back(array);
        continue;
      }
      const Operand element = evaluator->builder().Load(array.op(), index);
      elements.push_back(array.As<ArrayValue>().python_elements ? Value::Python(element)
                                                                : Value::NumPy(element));
    }
    return evaluator->Call(f, elements);
  });
}

Value Map(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value f = call.Function("f");
  const Value axis = call.Keyword("axis", Value::Int(0));
  const Values given = call.Rest();
  const bool any = std::any_of(given.begin(), given.end(), [&](const Value& v) {
    return v.Elements() != nullptr || (v.IsArray() && v.As<ArrayValue>().rank() > 0);
  });
  if (!any && !given.empty()) return evaluator->Call(f, given);
  const Values arrays = RequireArrays(evaluator, name, given);
  if (axis.IsNone()) {
    if (const auto* primitive = f.TryAs<PrimitiveValue>()) {
      return evaluator->CallPrimitive(primitive->name, {arrays, {}});
    }
    return MapEverything(evaluator, f, arrays);
  }
  const Values moved = AxisFirst(evaluator, arrays, axis);
  const Operand length = CommonLength(evaluator, name, moved);
  return evaluator->Tabulate({length}, [&](const std::vector<Operand>& index) {
    return evaluator->Call(f, ElementsAt(evaluator, moved, index[0]));
  });
}

Value Imap(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value f = call.Function("f");
  const Dims extents = ShapeOf(evaluator, call.Next("shape"));
  call.RequireNoMore();
  if (extents.empty()) return evaluator->AsArray(CallAtIndex(evaluator, f, {}));
  return evaluator->Tabulate(
      extents, [&](const std::vector<Operand>& index) { return CallAtIndex(evaluator, f, index); });
}

Value OuterMap(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value f = call.Function("f");
  const Value axis = call.Keyword("axis", Value::Int(0));
  const Values arrays = AxisFirst(evaluator, RequireArrays(evaluator, name, call.Rest()), axis);
  Dims extents;
  for (const Value& array : arrays) {
    if (array.IsArray()) extents.push_back(array.As<ArrayValue>().dims()[0]);
  }
  return evaluator->Tabulate(extents, [&](const std::vector<Operand>& index) {
    Values elements;
    size_t next = 0;
    for (const Value& array : arrays) {
      elements.push_back(array.IsArray() ? evaluator->ElementAt(array, index[next++]) : array);
    }
    return evaluator->Call(f, elements);
  });
}

Value Filter(Evaluator* evaluator, const std::string& name, Arguments arguments) {
  OperatorCall call(evaluator, name, std::move(arguments));
  const Value pred = call.Function("pred");
  const Value axis = call.Keyword("axis", Value::Int(0));
  Values kept = KeptBy(evaluator, name, pred,
                       AxisFirst(evaluator, RequireArrays(evaluator, name, call.Rest()), axis));
  return kept.size() == 1 ? kept[0] : Value::Tuple(std::move(kept));
}

struct Operator {
  const char* name;
  Value (*run)(Evaluator*, const std::string&, Arguments);
};

constexpr Operator kOperators[] = {
    {"map", Map},
    {"each", Map},
    {"imap", Imap},
    {"outer_map", OuterMap},
    {"allpairs", OuterMap},
    {"filter", Filter},
    {"reduce", ReduceOperator},
    {"scan", ScanOperator},
    {"ireduce", IreduceOperator},
    {"filter_reduce", FilterReduceOperator},
};

}  // namespace

OperatorCall::OperatorCall(Evaluator* evaluator, std::string name, Arguments arguments)
    : evaluator_(evaluator), name_(std::move(name)), arguments_(std::move(arguments)) {}

Value OperatorCall::Next(const char* parameter) {
  if (next_ < arguments_.positional.size()) return arguments_.positional[next_++];
  if (auto given = arguments_.Take(parameter)) return *given;
  evaluator_->context().FailType(name_ + "() missing required argument '" + parameter + "'");
}

Value OperatorCall::Function(const char* parameter) {
  const Value f = Next(parameter);
  if (!f.IsCallable()) {
    evaluator_->context().FailType(name_ + "() takes a function as '" + parameter + "', not " +
                                   Describe(f));
  }
  return f;
}

Value OperatorCall::Keyword(const char* parameter, const Value& otherwise) {
  return arguments_.Take(parameter).value_or(otherwise);
}

Value OperatorCall::NextOr(const char* parameter, const Value& otherwise) {
  if (next_ < arguments_.positional.size()) return arguments_.positional[next_++];
  return Keyword(parameter, otherwise);
}

Values OperatorCall::Rest() {
  Values rest(arguments_.positional.begin() + static_cast<std::ptrdiff_t>(next_),
              arguments_.positional.end());
  next_ = arguments_.positional.size();
  RequireNoMore();
  return rest;
}

void OperatorCall::RequireNoMore() {
  Context& context = evaluator_->context();
  if (!arguments_.keywords.empty()) {
    context.FailType(name_ + "() got an unexpected keyword argument '" +
                     arguments_.keywords[0].first + "'");
  }
  if (next_ < arguments_.positional.size()) {
    context.FailType(name_ + "() takes " + std::to_string(next_) + " positional arguments but " +
                     std::to_string(arguments_.positional.size()) + " were given");
  }
}

Values AxisFirst(Evaluator* evaluator, const Values& arrays, const Value& axis) {
  const Values* each = axis.Elements();
  if (each != nullptr && each->size() != arrays.size()) {
    evaluator->context().FailType("axis names " + std::to_string(each->size()) + " axes for " +
                                  std::to_string(arrays.size()) + " arrays");
  }
  Values moved;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i].IsArray()) {
      moved.push_back(arrays[i]);
      continue;
    }
    const int rank = arrays[i].As<ArrayValue>().rank();
    moved.push_back(MoveFirst(evaluator, arrays[i],
                              {StaticAxis(evaluator, each != nullptr ? (*each)[i] : axis, rank)}));
  }
  return moved;
}

Value MoveFirst(Evaluator* evaluator, const Value& array, const std::vector<int>& axes) {
  const int rank = array.As<ArrayValue>().rank();
  Values perm;
  for (int axis : axes) perm.push_back(Value::Int(axis));
  for (int axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) perm.push_back(Value::Int(axis));
  }
  return TransposeAxes(evaluator, {array, Value::Tuple(std::move(perm))});
}

Operand CommonLength(Evaluator* evaluator, const std::string& name, const Values& arrays) {
  std::optional<Operand> length;
  for (const Value& array : arrays) {
    if (!array.IsArray()) continue;
    const Operand own = array.As<ArrayValue>().dims()[0];
    if (!length) length = own;
    if (own == *length) continue;
    const Operand ok = evaluator->builder().Scalar(OpCode::kEq, {own, *length});
    const std::string message = name + ": arrays have lengths {} and {} along the axis";
    if (ok.IsInt(0)) evaluator->context().Raise("ValueError", message, {*length, own});
    evaluator->context().Check(ok, "ValueError", message, {*length, own});
  }
  return *length;
}

Value CallAtIndex(Evaluator* evaluator, const Value& f, const std::vector<Operand>& index) {
  Values indexes;
  for (const Operand& i : index) indexes.push_back(Value::Python(i));
  const bool as_tuple = index.size() != 1 && evaluator->CountParameters(f) == 1;
  return evaluator->Call(f, as_tuple ? Values{Value::Tuple(indexes)} : indexes);
}

Values KeptBy(Evaluator* evaluator, const std::string& name, const Value& pred,
              const Values& arrays) {
  const Operand length = CommonLength(evaluator, name, arrays);
  const Value mask = evaluator->Tabulate({length}, [&](const std::vector<Operand>& index) {
    return Value::NumPy(
        evaluator->Truth(evaluator->Call(pred, ElementsAt(evaluator, arrays, index[0]))));
  });
  Values kept;
  for (const Value& array : arrays) {
    kept.push_back(array.IsArray() ? evaluator->Subscript(array, mask) : array);
  }
  return kept;
}

Value Evaluator::CallOperator(const std::string& name, Arguments arguments) {
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const Operator& row) { return name == row.name; });
  if (found == std::end(kOperators)) ir::FailBug("no operator is called " + name, context_->span());
  return found->run(this, name, std::move(arguments));
}

}  // namespace parakeet::frontend
