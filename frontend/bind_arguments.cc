#include "frontend/bind_arguments.h"

namespace parakeet::frontend {
namespace {

using Bound = std::vector<std::optional<Value>>;

bool IsPositional(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kPositionalOnly ||
         parameter.kind == ParameterKind::kPlain;
}

std::string Plural(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// 'a', 'b', and 'c'
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i > 0 && i + 1 == names.size();
    if (i > 0) text += names.size() == 2 ? " and " : (is_last ? ", and " : ", ");
    text += "'" + names[i] + "'";
  }
  return text;
}

class Binder {
 public:
  Binder(const Context& context, const FunctionSyntax& function)
      : context_(context), function_(function), bound_(function.parameters.size()) {}

  void BindPositional(const Values& values) {
    size_t next = 0;
    size_t parameter = 0;
    for (; parameter < bound_.size() && next < values.size(); ++parameter) {
      if (IsPositional(function_.parameters[parameter])) bound_[parameter] = values[next++];
    }
    for (size_t i = 0; i < bound_.size(); ++i) {
      if (function_.parameters[i].kind != ParameterKind::kVarArgs) continue;
      const auto rest = values.begin() + static_cast<std::ptrdiff_t>(next);
      bound_[i] = Value::Tuple(Values(rest, values.end()));
      return;
    }
    if (next < values.size()) FailTooMany(values.size());
  }

  void BindKeyword(const std::string& name, const Value& value) {
    for (size_t i = 0; i < bound_.size(); ++i) {
      const Parameter& parameter = function_.parameters[i];
      if (parameter.name != name || parameter.kind == ParameterKind::kVarArgs) continue;
      if (parameter.kind == ParameterKind::kPositionalOnly) {
        Fail("got some positional-only arguments passed as keyword arguments: '" + name + "'");
      }
      if (bound_[i]) Fail("got multiple values for argument '" + name + "'");
      bound_[i] = value;
      return;
    }
    Fail("got an unexpected keyword argument '" + name + "'");
  }

  Bound Finish() {
    FailMissing(false, "required positional argument");
    FailMissing(true, "required keyword-only argument");
    return std::move(bound_);
  }

 private:
  void FailMissing(bool keyword_only, const std::string& what) const {
    std::vector<std::string> missing;
    for (size_t i = 0; i < bound_.size(); ++i) {
      const Parameter& parameter = function_.parameters[i];
      const bool is_keyword = parameter.kind == ParameterKind::kKeywordOnly;
      if (!bound_[i] && !parameter.has_default && is_keyword == keyword_only) {
        missing.push_back(parameter.name);
      }
    }
    if (!missing.empty()) {
      Fail("missing " + Plural(missing.size(), what) + ": " + Listed(missing));
    }
  }

  [[noreturn]] void FailTooMany(size_t given) const {
    size_t most = 0;
    size_t least = 0;
    for (const Parameter& parameter : function_.parameters) {
      if (!IsPositional(parameter)) continue;
      ++most;
      if (!parameter.has_default) ++least;
    }
    std::string takes = Plural(most, "positional argument");
    if (least < most) {
      takes =
          "from " + std::to_string(least) + " to " + std::to_string(most) + " positional arguments";
    }
    Fail("takes " + takes + " but " + std::to_string(given) + (given == 1 ? " was" : " were") +
         " given");
  }

  [[noreturn]] void Fail(const std::string& message) const {
    context_.FailType(function_.name + "() " + message);
  }

  const Context& context_;
  const FunctionSyntax& function_;
  Bound bound_;
};

}  // namespace

std::optional<Value> Arguments::Take(const std::string& name) {
  for (auto keyword = keywords.begin(); keyword != keywords.end(); ++keyword) {
    if (keyword->first != name) continue;
    Value value = std::move(keyword->second);
    keywords.erase(keyword);
    return value;
  }
  return std::nullopt;
}

std::vector<std::optional<Value>> BindArguments(const Context& context,
                                                const FunctionSyntax& function,
                                                Arguments arguments) {
  Binder binder(context, function);
  binder.BindPositional(arguments.positional);
  for (const auto& [name, value] : arguments.keywords) binder.BindKeyword(name, value);
  return binder.Finish();
}

}  // namespace parakeet::frontend
