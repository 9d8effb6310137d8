#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/indexing.h"
#include "frontend/intrinsics.h"
#include "frontend/memory_order.h"
#include "frontend/registry.h"
#include "frontend/static_values.h"

// Calls of NumPy's element-wise functions, with the keywords that all of them take: those that are
// primitives, and those that the library composes of them.
namespace parakeet::frontend {
namespace {

using ir::DType;

struct UfuncOptions {
  std::vector<std::optional<Value>> outs;  // One for each result that has a place.
  bool by_position = false;                // Whether they were given without `out=`.
  std::optional<Value> where;
  Loop loop;
  Value order = Value::None();  // None for the order of the operands.
};

// The keyword's value; None is as if it were not given.
std::optional<Value> TakeGiven(Arguments* arguments, const char* keyword) {
  std::optional<Value> value = arguments->Take(keyword);
  return value && value->IsNone() ? std::nullopt : value;
}

// The places of the results: an array, None, or a tuple of them.
std::vector<std::optional<Value>> Places(const Context& context, const std::optional<Value>& out) {
  if (!out) return {};
  const Values given = out->IsTuple() ? *out->Elements() : Values{*out};
  std::vector<std::optional<Value>> places;
  for (const Value& place : given) {
    if (!place.IsNone() && !place.IsArray()) context.FailType("return arrays must be of ArrayType");
    places.push_back(place.IsNone() ? std::nullopt : std::optional<Value>(place));
  }
  return places;
}

// A mask; True alone says nothing.
std::optional<Value> OneMask(Evaluator* evaluator, std::optional<Value> mask) {
  if (!mask || (mask->IsStaticScalar() && mask->op().IsInt(1))) return std::nullopt;
  Value settled = SettleNumber(evaluator, *mask, "where");
  const ScalarType type = PromotionType(settled);
  if (!type.weak && !ir::IsBool(type.dtype)) {
    evaluator->context().FailType("Cannot cast array data from dtype('" +
                                  std::string(NumpyName(type.dtype)) +
                                  "') to dtype('bool') according to the rule 'safe'");
  }
  return settled;
}

void RequireCount(const Context& context, const std::string& name, size_t arity,
                  const Arguments& arguments) {
  if (!arguments.keywords.empty()) {
    context.FailType(name + "() got an unexpected keyword argument '" +
                     arguments.keywords[0].first + "'");
  }
  if (arguments.positional.size() == arity) return;
  context.FailType(name + "() takes from " + std::to_string(arity) + " to " +
                   std::to_string(arity + 1) + " positional arguments but " +
                   std::to_string(arguments.positional.size()) + " were given");
}

// NumPy's name for one of its own loops says what `dtype` says.
void RefuseSignature(const Context& context, Arguments* arguments) {
  if (arguments->Take("signature") || arguments->Take("sig")) {
    context.FailLimitation("signature= names a loop of NumPy's own; give dtype= instead");
  }
}

UfuncOptions TakeOptions(Evaluator* evaluator, const std::string& name, size_t arity,
                         Arguments* arguments) {
  UfuncOptions options;
  std::optional<Value> out = TakeGiven(arguments, "out");
  options.where = OneMask(evaluator, TakeGiven(arguments, "where"));
  if (const auto dtype = TakeGiven(arguments, "dtype")) {
    options.loop.dtype = StaticDType(evaluator, *dtype);
  }
  if (const auto casting = arguments->Take("casting")) {
    options.loop.casting = StaticCasting(evaluator, *casting);
  }
  if (const auto order = TakeGiven(arguments, "order")) options.order = *order;
  arguments->Take("subok");  // No subclasses come here.
  RefuseSignature(evaluator->context(), arguments);
  Values& positional = arguments->positional;
  if (positional.size() > arity && !out) {
    options.by_position = true;
    out =
        Value::Tuple(Values(positional.begin() + static_cast<ptrdiff_t>(arity), positional.end()));
    positional.resize(arity);
  }
  RequireCount(evaluator->context(), name, arity, *arguments);
  options.outs = Places(evaluator->context(), out);
  return options;
}

// One result in the place and the order asked for. Where the mask is false, NumPy leaves what `out`
// held; without `out` it says nothing of those elements.
Value DeliverOne(Evaluator* evaluator, const std::string& name, Value result,
                 const std::optional<Value>& out, const UfuncOptions& options) {
  const Value& kept = out ? *out : result;
  const DType dtype = PromotionType(result).dtype;
  if (out) {
    const DType to = out->As<ArrayValue>().dtype();
    RequireCast(evaluator->context(), name + "' output", dtype, to, options.loop.casting);
  }
  if (options.where && (out || options.where->IsArray())) {
    result = SelectElements(evaluator, *options.where, result, kept);
  }
  if (out) {
    RequireWritable(&evaluator->context(), out->As<ArrayValue>(), Destination::kOutput);
    evaluator->CopyInto(result, *out);
    return *out;
  }
  if (!result.IsArray() || options.order.IsNone()) return result;
  const auto& array = result.As<ArrayValue>();
  const Order order = StaticOrder(evaluator, options.order, array.dims().size(), &result);
  return order == array.order ? result : evaluator->CopyArray(result, order);
}

Value Deliver(Evaluator* evaluator, const std::string& name, const Value& result,
              const UfuncOptions& options) {
  const Values results = result.IsTuple() ? *result.Elements() : Values{result};
  if (options.outs.size() > results.size()) {
    const Context& context = evaluator->context();
    if (options.by_position) context.FailType(name + "() takes fewer positional arguments");
    context.FailUser("ValueError", "The 'out' tuple must have exactly one entry per ufunc output");
  }
  Values delivered;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::optional<Value> out = i < options.outs.size() ? options.outs[i] : std::nullopt;
    delivered.push_back(DeliverOne(evaluator, name, results[i], out, options));
  }
  return result.IsTuple() ? Value::Tuple(std::move(delivered)) : delivered[0];
}

// Operands of a function that the library composes, in the dtype asked for.
Values InLoop(Evaluator* evaluator, const std::string& name, const Values& operands,
              const Loop& loop) {
  Values converted;
  for (const Value& operand : operands) {
    const Value settled = SettleNumber(evaluator, operand, name);
    if (!loop.dtype) {
      converted.push_back(settled);
      continue;
    }
    const ScalarType type = PromotionType(settled);
    const DType from = type.weak ? ResolveWeak(type.dtype, *loop.dtype) : type.dtype;
    RequireCast(evaluator->context(), name + "' input", from, *loop.dtype, loop.casting);
    converted.push_back(settled.IsArray()
                            ? evaluator->CastArray(settled, *loop.dtype)
                            : Value::NumPy(evaluator->AsScalar(settled, *loop.dtype)));
  }
  return converted;
}

}  // namespace

int Evaluator::CountOperands(const std::string& name) {
  const Primitive* primitive = FindPrimitive(name);
  return primitive != nullptr ? primitive->arity : CountParameters(ComposedUfunc(name));
}

Value Evaluator::CallPrimitive(const std::string& name, Arguments arguments) {
  const UfuncOptions options = TakeOptions(this, name, CountOperands(name), &arguments);
  if (const Primitive* primitive = FindPrimitive(name)) {
    return Deliver(this, name, ApplyPrimitive(this, *primitive, arguments.positional, options.loop),
                   options);
  }
  const Values operands = InLoop(this, name, arguments.positional, options.loop);
  const Value result = Call(ComposedUfunc(name), operands);
  const auto& dtype = options.loop.dtype;
  const Value& first = result.IsTuple() ? (*result.Elements())[0] : result;
  if (dtype && PromotionType(first).dtype != *dtype) FailNoLoop(*context_, name);
  return Deliver(this, name, result, options);
}

}  // namespace parakeet::frontend
