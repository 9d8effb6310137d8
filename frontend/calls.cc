#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/call_memo.h"
#include "frontend/evaluator.h"
#include "frontend/function_name.h"
#include "frontend/registry.h"

namespace parakeet::frontend {
namespace {

// Thrown out of the building of a callee, one of whose inputs has to be static.
struct CalleeNeedsStatic {
  int input;
};

// A callee's result as the caller sees it: sizes of parameters are those of the arguments.
Pattern SubstituteSizes(const Pattern& pattern,
                        const std::vector<std::pair<ir::Operand, ir::Operand>>& sizes) {
  Pattern substituted = pattern;
  for (auto& dim : substituted.dims) {
    for (const auto& [callee, caller] : sizes) {
      if (dim && dim->IsVar() && *dim == callee) {
        dim = caller;
        break;
      }
    }
  }
  for (Pattern& part : substituted.parts) part = SubstituteSizes(part, sizes);
  return substituted;
}

void MatchSizes(const ir::Var* param, const ir::Operand& argument,
                std::vector<std::pair<ir::Operand, ir::Operand>>* sizes) {
  if (!param->type.IsArray()) {
    // A callee does not return with an array of a negative size: any size will do.
    const bool is_negative = argument.IsConstant() && argument.constant().integer < 0;
    sizes->emplace_back(param, is_negative ? ir::Operand::Int(0) : argument);
    return;
  }
  const std::vector<ir::Operand> dims = ir::TypeOf(argument).dims();
  for (size_t i = 0; i < dims.size(); ++i) sizes->emplace_back(param->type.dims()[i], dims[i]);
}

// The library's functions are built for each place that calls them, since they report its errors.
std::string PlaceKey(const ir::Span& span) {
  return "@" + std::to_string(span.file) + ":" + std::to_string(span.line) + ":" +
         std::to_string(span.column) + ":" + std::to_string(span.end_line) + ":" +
         std::to_string(span.end_column);
}

// Syntax is at most kMaxNesting deep, but functions being built nest too: all of it together. Of
// functions that call themselves at ever other types there is no end.
constexpr int kMaxDepth = 4 * kMaxNesting;
constexpr int kLevelsOfCall = 1;

// Tuples that hold themselves twice at each call grow faster than calls nest.
constexpr size_t kMostInputs = 10'000;

void LimitInputs(const Context& context, const std::string& name, size_t inputs) {
  if (inputs <= kMostInputs) return;
  context.FailLimitation(name + "() is given " + std::to_string(inputs) +
                         " numbers and arrays; at most " + std::to_string(kMostInputs) +
                         " are possible, many of them better as one array");
}

// Built-in functions that ask an iterable for its elements, and do nothing else meanwhile.
bool ReadsInOrder(const std::string& name) {
  constexpr const char* kNames[] = {"sum", "min", "max", "any", "all", "list", "tuple"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

Evaluator::Evaluator(Context* context, Resolver* resolver)
    : context_(context), resolver_(resolver), memo_(std::make_unique<CallMemo>()) {}

Evaluator::~Evaluator() = default;

NestingGuard Evaluator::Deeper(int levels) {
  return NestingGuard(&depth_, levels, kMaxDepth, [&] {
    context_->FailUser("RecursionError", "calls of functions nest too deeply to be compiled");
  });
}

Value Evaluator::EvaluateCall(const CallExpr& expr) {
  const Value function = Evaluate(*expr.function);
  if (const auto* builtin = function.TryAs<IntrinsicValue>();
      builtin != nullptr && ReadsInOrder(builtin->name) && expr.arguments.size() == 1 &&
      expr.keywords.empty()) {
    consumed_ = expr.arguments[0].get();
    consumer_ = builtin->name;
  }
  Arguments arguments;
  arguments.positional = EvaluateElements(expr.arguments);
  for (const CallExpr::Keyword& keyword : expr.keywords) {
    arguments.keywords.emplace_back(keyword.name, Evaluate(*keyword.value));
  }
  return CallFunction(function, std::move(arguments));
}

Value Evaluator::Call(const Value& function, Values positional) {
  return CallFunction(function, Arguments{std::move(positional), {}});
}

Value Evaluator::CallFunction(const Value& function, Arguments arguments) {
  if (function.Is<UserFunctionValue>() || function.Is<ClosureValue>()) {
    return CallUser(function, std::move(arguments));
  }
  if (const auto* primitive = function.TryAs<PrimitiveValue>()) {
    return CallPrimitive(primitive->name, std::move(arguments));
  }
  if (const auto* known = function.TryAs<OperatorValue>()) {
    return CallOperator(known->name, std::move(arguments));
  }
  if (const auto* intrinsic = function.TryAs<IntrinsicValue>()) {
    return CallIntrinsic(intrinsic->name, std::move(arguments));
  }
  if (const auto* dtype = function.TryAs<DTypeValue>()) {
    return CallDType(dtype->dtype, std::move(arguments));
  }
  if (const auto* method = function.TryAs<BoundMethodValue>()) {
    return CallMethod((*method->self)[0], method->name, std::move(arguments));
  }
  if (function.Is<ExceptionValue>()) {
    context_->FailLimitation("an exception may be raised, and nothing else");
  }
  if (const auto* object = function.TryAs<ObjectValue>()) {
    context_->FailLimitation(NameOfObject(object->object.get()) +
                             " is not among the functions that jitted code may call");
  }
  context_->FailType(Describe(function) + " is not callable");
}

int Evaluator::CountParameters(const Value& function) {
  FunctionSyntaxPtr syntax;
  if (const auto* user = function.TryAs<UserFunctionValue>()) {
    syntax = resolver_->SyntaxOf(user->function.get());
  } else if (const auto* closure = function.TryAs<ClosureValue>()) {
    syntax = closure->closure->syntax;
  } else {
    return -1;
  }
  int count = 0;
  for (const Parameter& parameter : syntax->parameters) {
    if (parameter.kind == ParameterKind::kVarArgs) return -1;
    if (parameter.kind != ParameterKind::kKeywordOnly && !parameter.has_default) ++count;
  }
  return count;
}

Callee Evaluator::CalleeOf(const Value& function, Values* captured) {
  Callee callee;
  if (const auto* user = function.TryAs<UserFunctionValue>()) {
    callee.home = user->function;
    callee.is_library = IsLibraryFunction(callee.home.get());
    callee.syntax = resolver_->SyntaxOf(user->function.get());
    callee.identity = std::to_string(reinterpret_cast<uintptr_t>(user->function.get()));
    return callee;
  }
  // A closure called within its own frame reads that frame as it is now.
  const Value left = LeaveFrame(function);
  const Closure& closure = *left.As<ClosureValue>().closure;
  callee.home = closure.home;
  callee.is_library = IsLibraryFunction(callee.home.get());
  callee.syntax = closure.syntax;
  callee.identity = std::to_string(reinterpret_cast<uintptr_t>(closure.syntax.get())) + "in" +
                    std::to_string(reinterpret_cast<uintptr_t>(closure.home.get()));
  callee.captured_variables = closure.variables;
  callee.may_be_unbound = closure.may_be_unbound;
  for (const bool unsure : closure.may_be_unbound) callee.identity += unsure ? '?' : '!';
  *captured = closure.captured;
  return callee;
}

// One value a parameter, defaults filled in.
Values Evaluator::BindParameters(const Callee& callee, const Value& function, Arguments arguments) {
  const auto bound = BindArguments(*context_, *callee.syntax, std::move(arguments));
  Values values;
  size_t next_default = 0;
  for (size_t i = 0; i < bound.size(); ++i) {
    const Parameter& parameter = callee.syntax->parameters[i];
    const size_t number = next_default;
    if (parameter.has_default) ++next_default;
    if (bound[i]) {
      values.push_back(LeaveFrame(*bound[i]));
    } else if (const auto* closure = function.TryAs<ClosureValue>()) {
      values.push_back(LeaveFrame(closure->closure->defaults[number]));
    } else {
      values.push_back(ReadDefault(callee.home.get(), parameter.name));
    }
  }
  return values;
}

Value Evaluator::CallUser(const Value& function, Arguments arguments) {
  Values captured;
  const Callee callee = CalleeOf(function, &captured);
  Values values = BindParameters(callee, function, std::move(arguments));
  values.insert(values.end(), captured.begin(), captured.end());
  std::vector<std::string> names;
  for (const Parameter& parameter : callee.syntax->parameters) names.push_back(parameter.name);
  for (const Variable* variable : callee.captured_variables) names.push_back(variable->name);
  for (;;) {
    // A copy: the function may call itself, and the inner call learn first what has to be static.
    const std::set<int> statics = memo_->Statics(callee.identity);
    const Inputs inputs = MakeInputs(*context_, values, statics, names, callee.is_library);
    try {
      BuiltFunction* built = BuildCallee(callee, inputs);
      return EmitCall(built, inputs);
    } catch (const CalleeNeedsStatic& need) {
      memo_->Statics(callee.identity).insert(need.input);
      if (statics.contains(need.input)) {
        context_->FailNotStatic(OriginWithin(values[need.input]),
                                "'" + names[need.input] + "' of " + callee.syntax->name + "()");
      }
    }
  }
}

BuiltFunction* Evaluator::BuildCallee(const Callee& callee, const Inputs& inputs) {
  std::string key = callee.identity + "|" + inputs.key;
  if (callee.is_library) key += PlaceKey(context_->span());
  const LibraryScope library(context_, callee.is_library);
  if (BuiltFunction* known = memo_->Find(key)) {
    known->was_called = true;
    return known;
  }
  LimitInputs(*context_, callee.syntax->name, inputs.params.size());
  const NestingGuard guard = Deeper(kLevelsOfCall);
  const size_t before = memo_->size();
  BuiltFunction* built = memo_->Add(key, FunctionName(callee.syntax->name));
  built->params = inputs.params;
  built->inputs = inputs.values;
  try {
    while (!BuildRound(callee, built)) memo_->Truncate(before + 1);
  } catch (const NeedStatic& need) {
    memo_->Truncate(before);
    if (need.parameter < 0) throw;
    throw CalleeNeedsStatic{need.parameter};
  } catch (...) {
    memo_->Truncate(before);
    throw;
  }
  built->is_open = false;
  return built;
}

// Builds the function once; true where what it returned is what its own calls were told.
bool Evaluator::BuildRound(const Callee& callee, BuiltFunction* built) {
  built->was_called = false;
  Frame frame;
  frame.id = ++last_frame_;
  frame.syntax = callee.syntax;
  frame.home = callee.home;
  const size_t parameters = callee.syntax->parameters.size();
  for (size_t i = 0; i < built->inputs.size(); ++i) {
    const Variable* variable = i < parameters ? callee.syntax->parameters[i].variable
                                              : callee.captured_variables[i - parameters];
    Slot slot{EnterFrame(built->inputs[i], frame.id)};
    if (i >= parameters && callee.may_be_unbound[i - parameters]) {
      const Values parts = *slot.value.Elements();
      slot = {parts[0], parts[1].As<ScalarValue>().op};
    }
    const auto* undefined = slot.value.TryAs<UndefinedValue>();
    const bool is_unbound = undefined != nullptr && undefined->why.empty();
    if (!is_unbound) frame.environment.Set(variable, std::move(slot));
  }
  ir::Function function;
  function.name = built->name;
  function.params = built->params;
  const Pattern result = BuildBody(&frame, built->captures, nullptr, &function);
  std::vector<int> captures;
  built->capture_vars.clear();
  for (const auto& [capture, value] : frame.captures) {
    captures.push_back(capture);
    built->capture_vars.push_back(value.op().var());
  }
  const bool same_captures = captures == built->captures;
  built->captures = std::move(captures);
  const Pattern told = built->result_is_known ? built->result : Pattern();
  const Pattern joined = Join(told, result);
  const bool is_stable =
      !built->was_called || (built->result_is_known && joined == told && same_captures);
  built->result = joined;
  built->result_is_known = true;
  if (is_stable) {
    built->effects = EffectsOfFunction(
        function, [this](const std::string& name) { return memo_->EffectsOf(name); });
    built->function = context_->arena()->New(std::move(function));
  }
  return is_stable;
}

namespace {

// What a call gives for a result of the callee, where the call alone says it: a constant of the
// callee, or a constant that it was passed.
std::optional<ir::Operand> ConstantResult(const BuiltFunction& callee,
                                          const std::vector<ir::Operand>& passed, size_t result) {
  const ir::Operand& given = callee.function->body->results[result];
  if (given.IsConstant()) return given;
  for (size_t i = 0; i < callee.params.size(); ++i) {
    if (callee.params[i].var == given.var() && passed[i].IsConstant()) return passed[i];
  }
  return std::nullopt;
}

// `value`, made of a call's results, with constants where the call says them: what a function knows
// at compile time can be asked at compile time.
Value WithConstants(const Value& value, const std::vector<const ir::Var*>& results,
                    const BuiltFunction& callee, const std::vector<ir::Operand>& passed) {
  if (const auto* scalar = value.TryAs<ScalarValue>(); scalar != nullptr) {
    const auto found = std::find(results.begin(), results.end(), scalar->op.var());
    if (scalar->op.IsConstant() || found == results.end()) return value;
    const auto constant = ConstantResult(callee, passed, found - results.begin());
    return constant ? Value(ScalarValue{*constant, scalar->python, -1}) : value;
  }
  std::optional<Values> parts = value.Is<ClosureValue>() ? std::nullopt : PartsOf(value);
  if (!parts) return value;
  for (Value& part : *parts) part = WithConstants(part, results, callee, passed);
  return WithParts(value, std::move(*parts));
}

}  // namespace

Value Evaluator::EmitCall(BuiltFunction* built, const Inputs& inputs) {
  // Nothing is known yet of a call of itself: another path says what it returns.
  if (built->is_open && !built->result_is_known) throw Leaves{};
  std::vector<ir::Operand> operands = inputs.passed;
  std::vector<std::pair<ir::Operand, ir::Operand>> sizes;
  for (size_t i = 0; i < built->params.size(); ++i) {
    MatchSizes(built->params[i].var, operands[i], &sizes);
  }
  for (size_t i = 0; i < built->captures.size(); ++i) {
    operands.push_back(CapturedArray(built->captures[i]).op());
    MatchSizes(built->capture_vars[i], operands.back(), &sizes);
  }
  const std::vector<ir::Operand> place = context_->Place(context_->NextNumber());
  operands.insert(operands.end(), place.begin(), place.end());
  std::vector<const ir::Var*> results;
  const Pattern pattern = SubstituteSizes(built->result, sizes);
  Value value = MakeVars(builder(), pattern, "", &results);
  if (built->function != nullptr) value = WithConstants(value, results, *built, operands);
  builder().Emit(
      ir::OpCode::kCall, std::move(results), std::move(operands),
      {{ir::Attr::kCallee, built->name}, {ir::Attr::kAt, static_cast<int64_t>(place.size())}});
  if (built->result.kind == Pattern::Kind::kFree) throw Leaves{};
  // What is one number on every path is known here too: np.ndim(x).
  const auto* scalar = value.TryAs<ScalarValue>();
  if (scalar == nullptr || built->function == nullptr) return value;
  const ir::Operand& result = built->function->body->results[0];
  return result.IsConstant() ? Value(ScalarValue{result, scalar->python}) : value;
}

}  // namespace parakeet::frontend
