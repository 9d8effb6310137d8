#include "frontend/call_memo.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace parakeet::frontend {
namespace {

std::string AddressKey(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "@%p", address);
  return text;
}

std::string BitsKey(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return std::to_string(bits);
}

std::string ConstantKey(const ir::Constant& constant) {
  return "=" + std::string(ir::Name(constant.dtype)) + ":" + std::to_string(constant.integer) +
         ":" + BitsKey(constant.real) + ":" + BitsKey(constant.imag);
}

// Names what has no run-time part. Objects are told apart by address: they live as long as the
// memo, which holds them through the values.
std::string StaticKey(const Context& context, const Value& value) {
  if (value.IsNone()) return "None";
  if (value.Is<EllipsisValue>()) return "...";
  if (const auto* v = value.TryAs<UndefinedValue>()) return "unbound(" + v->why + ")";
  if (const auto* v = value.TryAs<StringValue>()) {
    if (v->is_format) context.FailLimitation("an f-string cannot be passed to a function");
    return "str" + std::to_string(v->text.size()) + ":" + v->text;
  }
  if (const auto* v = value.TryAs<DTypeValue>()) return "dtype:" + std::string(Name(v->dtype));
  if (const auto* v = value.TryAs<ModuleValue>()) return "module" + AddressKey(v->module.get());
  if (const auto* v = value.TryAs<ObjectValue>()) return "object" + AddressKey(v->object.get());
  if (const auto* v = value.TryAs<UserFunctionValue>()) {
    return "function" + AddressKey(v->function.get());
  }
  if (const auto* v = value.TryAs<PrimitiveValue>()) return "primitive:" + v->name;
  if (const auto* v = value.TryAs<OperatorValue>()) return "operator:" + v->name;
  if (const auto* v = value.TryAs<IntrinsicValue>()) return "intrinsic:" + v->name;
  if (const auto* v = value.TryAs<ExceptionValue>()) return "exception:" + v->name;
  ir::FailBug("a value without a key: " + Describe(value));
}

// Names a compound value apart from its parts.
std::string ShellKey(const Value& value) {
  if (value.IsTuple()) return "tuple";
  if (value.IsList()) return "list";
  if (value.Is<SliceValue>()) return "slice";
  if (const auto* v = value.TryAs<IterableValue>()) {
    return "iterable" + std::to_string(static_cast<int>(v->kind));
  }
  if (const auto* v = value.TryAs<BoundMethodValue>()) return "method." + v->name;
  const Closure& closure = *value.As<ClosureValue>().closure;
  std::string key = "closure" + AddressKey(closure.syntax.get()) + AddressKey(closure.home.get()) +
                    std::to_string(closure.frame);
  for (const Variable* variable : closure.variables) key += AddressKey(variable);
  return key;
}

class InputMaker {
 public:
  InputMaker(Context& context, Inputs* inputs, bool is_for_library)
      : context_(context),
        builder_(context.builder()),
        inputs_(inputs),
        is_for_library_(is_for_library) {}

  Value Make(const Value& value, int number, bool is_static, const std::string& name) {
    if (const auto* scalar = value.TryAs<ScalarValue>()) {
      return MakeScalar(*scalar, number, is_static, name);
    }
    if (const auto* array = value.TryAs<ArrayValue>()) return MakeArray(*array, name);
    const std::optional<Values> parts = PartsOf(value);
    if (!parts) {
      inputs_->key += StaticKey(context_, value) + ";";
      return value;
    }
    inputs_->key += ShellKey(value) + "(";
    Values made;
    for (const Value& part : *parts) made.push_back(Make(part, number, is_static, name));
    inputs_->key += ")";
    return WithParts(value, std::move(made));
  }

 private:
  Value MakeScalar(const ScalarValue& scalar, int number, bool is_static, const std::string& name) {
    const ir::DType dtype = ir::DTypeOf(scalar.op);
    if (scalar.python) inputs_->key += "py ";
    const bool is_word = ir::IsBool(dtype) || (is_for_library_ && scalar.op.IsInt(-1));
    if (scalar.op.IsConstant() && (is_static || (scalar.python && is_word))) {
      inputs_->key += ConstantKey(scalar.op.constant()) + ";";
      return ScalarValue{scalar.op, scalar.python, -1};
    }
    inputs_->key += std::string(ir::Name(dtype)) + ";";
    const ir::Var* var = builder_.NewVar(dtype, name);
    Add(var, scalar.op, true);
    return ScalarValue::Parameter(var, scalar.python, number);
  }

  Value MakeArray(const ArrayValue& array, const std::string& name) {
    inputs_->key += std::string(ir::Name(array.dtype()));
    std::vector<ir::Operand> dims;
    for (const ir::Operand& dim : array.dims()) dims.push_back(SizeOf(dim));
    inputs_->key += "a" + std::to_string(static_cast<int>(array.access)) + "o" +
                    std::to_string(static_cast<int>(array.order)) + (array.dense ? "d" : "") +
                    (array.python_elements ? "p;" : ";");
    const ir::Var* var = builder_.NewVar(ir::Type::Array(array.dtype(), std::move(dims)), name);
    Add(var, array.op, array.access == Access::kWritable || array.access == Access::kUnknown);
    ArrayValue passed = array.Seen(var);
    passed.dense = array.dense;
    if (array.whole) PassWhole(array, name, &passed);
    return passed;
  }

  // What stores into z.real stores into z, which is passed beside it.
  void PassWhole(const ArrayValue& array, const std::string& name, ArrayValue* passed) {
    const ir::DType dtype = ir::DTypeOf(*array.whole);
    inputs_->key += array.is_imaginary ? "imag;" : "real;";
    const ir::Type type = ir::Type::Array(dtype, passed->dims());
    const ir::Var* whole = builder_.NewVar(type, name + "_whole");
    Add(whole, *array.whole, true);
    passed->whole = whole;
    passed->is_imaginary = array.is_imaginary;
  }

  ir::Operand SizeOf(const ir::Operand& dim) {
    if (dim.IsConstant()) {
      inputs_->key += "[" + std::to_string(dim.constant().integer) + "]";
      return dim;
    }
    size_t number = 0;
    while (number < sizes_.size() && !(sizes_[number].first == dim)) ++number;
    if (number == sizes_.size()) {
      sizes_.emplace_back(dim, builder_.NewVar(ir::DType::kI64, dim.var()->hint));
      if (context_.IsNarrow(dim)) context_.AddNarrowSize(sizes_.back().second);
    }
    inputs_->key += (context_.IsNarrow(dim) ? "[1s" : "[s") + std::to_string(number) + "]";
    return sizes_[number].second;
  }

  void Add(const ir::Var* var, const ir::Operand& passed, bool writable) {
    // Only the entry function is told how its arrays lie.
    ir::Param param{var};
    param.writable = writable;
    param.aligned = false;
    inputs_->params.push_back(param);
    inputs_->passed.push_back(passed);
  }

  Context& context_;
  const ir::Builder& builder_;
  Inputs* inputs_;
  const bool is_for_library_;
  std::vector<std::pair<ir::Operand, ir::Operand>> sizes_;  // The caller's, the callee's.
};

}  // namespace

Inputs MakeInputs(Context& context, const Values& values, const std::set<int>& statics,
                  const std::vector<std::string>& names, bool is_for_library) {
  Inputs inputs;
  InputMaker maker(context, &inputs, is_for_library);
  for (size_t i = 0; i < values.size(); ++i) {
    const int number = static_cast<int>(i);
    inputs.values.push_back(maker.Make(values[i], number, statics.contains(number), names[i]));
  }
  return inputs;
}

BuiltFunction* CallMemo::Find(const std::string& key) {
  const auto found = functions_.find(key);
  return found == functions_.end() ? nullptr : found->second.get();
}

BuiltFunction* CallMemo::Add(const std::string& key, const std::string& name) {
  auto function = std::make_unique<BuiltFunction>();
  function->name = UniqueName(name);
  order_.push_back(key);
  named_[function->name] = function.get();
  return (functions_[key] = std::move(function)).get();
}

void CallMemo::Truncate(size_t size) {
  for (; order_.size() > size; order_.pop_back()) {
    const auto last = functions_.find(order_.back());
    const std::string& name = last->second->name;
    const size_t dot = name.find('.');
    const int number = dot == std::string::npos ? 0 : std::stoi(name.substr(dot + 1));
    int& next = next_number_[name.substr(0, dot)];
    next = std::min(next, number);
    named_.erase(name);
    functions_.erase(last);
  }
}

const BuiltFunction* CallMemo::Named(const std::string& name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

const ArrayEffects* CallMemo::EffectsOf(const std::string& name) const {
  const BuiltFunction* built = Named(name);
  return built == nullptr || built->function == nullptr ? nullptr : &built->effects;
}

std::string CallMemo::UniqueName(const std::string& name) {
  int& number = next_number_[name];
  for (;; ++number) {
    std::string unique = number == 0 ? name : name + "." + std::to_string(number);
    if (!named_.contains(unique)) return unique;
  }
}

}  // namespace parakeet::frontend
