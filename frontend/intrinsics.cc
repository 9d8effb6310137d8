#include "frontend/intrinsics.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace parakeet::frontend {
namespace {

using Handler = Value (*)(Evaluator*, const Values&);

// `parameters`: names in order, `?` after an optional one; "*" takes any number of positional
// arguments as they are.
struct Intrinsic {
  const char* name;
  const char* parameters;
  Handler handler;
};

constexpr Intrinsic kIntrinsics[] = {
    {"transpose", "x axes?", TransposeAxes},
    {"reshape", "x shape order?", ReshapeArray},
    {"broadcast_to", "array shape subok?", BroadcastArray},
    {"expand_dims", "a axis", ExpandDims},
    {"squeeze", "a axis?", SqueezeAxes},
    {"moveaxis", "a source destination", MoveAxes},
    {"ascribe", "x shape", AscribeSizes},
    {"empty", "shape dtype? order?", MakeEmpty},
    {"empty_like", "x dtype? order? shape?", MakeEmptyLike},
    {"ndarray", "shape dtype?", MakeEmpty},
    {"full", "shape value dtype? order?", MakeFull},
    {"full_like", "x value dtype? order? shape?", MakeFullLike},
    {"asarray", "x dtype? order?", MakeArray},
    {"copy", "x order?", MakeCopy},
    {"astype", "x dtype order?", CastTo},
    {"strong", "x", MakeStrong},
    {"memory_order", "x", MemoryOrder},
    {"nonzero", "a", FindNonZero},
    {"where", "condition x y", SelectWhere},
    {"item", "*", TakeItem},
    {"element_at", "x place", TakeElementAt},
    {"library_call", "*", CallRoutine},
    {"bitcast", "x dtype", BitcastElements},
    {"popcount", "x", CountSetBits},
    {"result_type", "*", ResultTypeOf},
    {"promote_types", "a b", PromoteTypes},
    {"sum_type", "dtype", SumType},
    {"float_type", "*", FloatType},
    {"can_cast", "from_ to casting?", CanCastTo},
    {"on_device", "", IsOnDevice},
    {"finfo", "dtype", FloatInfo},
    {"iinfo", "type", IntegerInfo},
    {"normalize_axes", "axis rank", NormaliseAxes},
    {"einsum_labels", "subscripts ranks", EinsumLabels},
    {"isinstance", "value classes", IsInstance},
    {"len", "x", BuiltinLen},
    {"min", "* default?", BuiltinMin},
    {"max", "* default?", BuiltinMax},
    {"sum", "x start?", BuiltinSum},
    {"all", "x", BuiltinAll},
    {"any", "x", BuiltinAny},
    {"range", "*", BuiltinRange},
    {"enumerate", "iterable start?", BuiltinEnumerate},
    {"zip", "* strict?", BuiltinZip},
    {"reversed", "x", BuiltinReversed},
    {"tuple", "*", BuiltinTuple},
    {"list", "*", BuiltinList},
    {"slice", "*", BuiltinSlice},
    {"ndindex", "*", MakeNdIndex},
    {"abs", "x", BuiltinAbs},
    {"int", "*", BuiltinInt},
    {"float", "*", BuiltinFloat},
    {"bool", "*", BuiltinBool},
    {"complex", "real? imag?", BuiltinComplex},
    {"round", "number ndigits?", BuiltinRound},
    {"divmod", "x y", BuiltinDivmod},
    {"pow", "base exp mod?", BuiltinPow},
};

struct IntrinsicParameter {
  std::string name;
  bool is_optional = false;
};

std::vector<IntrinsicParameter> ParametersOf(const Intrinsic& intrinsic) {
  std::istringstream words(intrinsic.parameters);
  std::vector<IntrinsicParameter> parameters;
  for (std::string word; words >> word;) {
    const bool is_optional = word.back() == '?';
    if (is_optional) word.pop_back();
    parameters.push_back({word, is_optional});
  }
  return parameters;
}

Values Bind(Context* context, const Intrinsic& intrinsic, Arguments arguments) {
  const std::string name = std::string(intrinsic.name) + "()";
  const std::vector<IntrinsicParameter> parameters = ParametersOf(intrinsic);
  Values bound = arguments.positional;
  if (bound.size() > parameters.size()) {
    context->FailType(name + " takes at most " + std::to_string(parameters.size()) +
                      " arguments (" + std::to_string(bound.size()) + " given)");
  }
  for (size_t i = bound.size(); i < parameters.size(); ++i) {
    std::optional<Value> given = arguments.Take(parameters[i].name);
    if (!given && !parameters[i].is_optional) {
      context->FailType(name + " missing required argument '" + parameters[i].name + "' (pos " +
                        std::to_string(i + 1) + ")");
    }
    bound.push_back(given ? *given : Value::None());
  }
  if (!arguments.keywords.empty()) {
    context->FailType(name + " got an unexpected keyword argument '" + arguments.keywords[0].first +
                      "'");
  }
  return bound;
}

}  // namespace

Value Evaluator::CallIntrinsic(const std::string& name, Arguments arguments) {
  const auto* found = std::find_if(std::begin(kIntrinsics), std::end(kIntrinsics),
                                   [&](const Intrinsic& row) { return name == row.name; });
  if (found == std::end(kIntrinsics))
    ir::FailBug("no intrinsic is called " + name, context_->span());
  if (found->parameters[0] != '*') {
    return found->handler(this, Bind(context_, *found, std::move(arguments)));
  }
  // After `*` stand keywords, whose values come last.
  for (const auto& parameter : ParametersOf(*found)) {
    if (parameter.name == "*") continue;
    const std::optional<Value> given = arguments.Take(parameter.name);
    arguments.positional.push_back(given ? *given : Value(UndefinedValue{}));
  }
  if (!arguments.keywords.empty() && arguments.keywords[0].first == "key") {
    context_->FailLimitation("'key' of " + name +
                             "() is not supported inside jit; compare inside a loop, or use " +
                             "np.argmin, np.argmax or np.argsort of an array of keys");
  }
  if (!arguments.keywords.empty()) {
    context_->FailType(name + "() got an unexpected keyword argument '" +
                       arguments.keywords[0].first + "'");
  }
  return found->handler(this, arguments.positional);
}

}  // namespace parakeet::frontend
