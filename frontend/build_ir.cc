#include "frontend/build_ir.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "frontend/array_parameter.h"
#include "frontend/broadcasting.h"
#include "frontend/call_memo.h"
#include "frontend/evaluator.h"
#include "frontend/function_name.h"
#include "frontend/intrinsics.h"
#include "ir/uses.h"

namespace parakeet::frontend {

// Builds the entry function, then gathers the functions that it needs.
// The rank of the array that np.array makes of a value; nothing for tuples and lists of unlike
// parts.
std::optional<int> RankAsArray(const Value& value) {
  if (value.IsScalar()) return 0;
  if (value.IsArray()) return value.As<ArrayValue>().rank();
  if (value.Is<IterableValue>()) return 1;
  if (value.Elements() == nullptr) return std::nullopt;
  std::optional<int> rank = 0;
  for (const Value& element : *value.Elements()) {
    const std::optional<int> of_element = RankAsArray(element);
    if (&element != &value.Elements()->front() && of_element != rank) return std::nullopt;
    rank = of_element;
  }
  return rank ? std::optional(*rank + 1) : std::nullopt;
}

class ProgramBuilder {
 public:
  ProgramBuilder(const Request& request, const std::shared_ptr<ir::SourceMap>& sources)
      : request_(request),
        context_(&built_.program, request.on_device),
        resolver_(sources.get(), request.library),
        evaluator_(&context_, &resolver_) {
    built_.program.sources = sources;
  }

  Built Run();

 private:
  Value MakeParameter(const Argument& argument, int number, const std::string& name,
                      ir::Function* function);
  Value MakeParts(const Argument& argument, int number, const std::string& name,
                  ir::Function* function);
  Value AsResult(const Value& value);
  ResultTree TreeOf(const Pattern& pattern, int* next) const;
  void Gather(const ir::Function& caller);

  const Request& request_;
  Built built_;
  Context context_;
  Resolver resolver_;
  Evaluator evaluator_;
  std::unordered_set<std::string> gathered_;
};

Built ProgramBuilder::Run() {
  Frame frame;
  frame.id = ++evaluator_.last_frame_;
  frame.is_entry = true;
  frame.home = PyRef::Borrow(request_.function);
  frame.syntax = resolver_.SyntaxOf(request_.function);
  ir::Function entry;
  entry.entry = true;
  entry.name = FunctionName(frame.syntax->name);
  evaluator_.memo_->Reserve(entry.name);
  const auto& parameters = frame.syntax->parameters;
  if (parameters.size() != request_.arguments.size()) {
    ir::FailBug("a request has one argument a parameter", frame.syntax->name_span);
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Value value =
        MakeParameter(request_.arguments[i], static_cast<int>(i), parameters[i].name, &entry);
    frame.environment.Bind(parameters[i].variable, value);
  }
  const auto finish = [this](const Value& value) { return AsResult(value); };
  const Pattern result = evaluator_.BuildBody(&frame, {}, finish, &entry);
  int next = 0;
  built_.results = TreeOf(result, &next);
  // Captures that only abandoned rounds read are parameters of nothing.
  for (const auto& [capture, value] : frame.captures) {
    built_.captures.push_back(resolver_.captures()[capture]);
  }
  built_.dependencies = resolver_.dependencies();
  const ir::Function* made = context_.arena()->New(std::move(entry));
  built_.program.functions.push_back(made);
  Gather(*made);
  return std::move(built_);
}

Value ProgramBuilder::MakeParameter(const Argument& argument, int number, const std::string& name,
                                    ir::Function* function) {
  const ir::Builder builder(context_.arena());
  switch (argument.kind) {
    case Argument::Kind::kStatic: return resolver_.FromPython(argument.object.get(), PyRef());
    case Argument::Kind::kScalar: {
      const ir::Var* var = builder.NewVar(argument.dtype, name);
      function->params.push_back({var});
      return ScalarValue::Parameter(var, argument.python, number);
    }
    case Argument::Kind::kArray: {
      const ArrayParameter made = MakeArrayParameter(builder, argument, name);
      function->params.push_back(made.param);
      return made.value;
    }
    case Argument::Kind::kTuple:
    case Argument::Kind::kSlice: return MakeParts(argument, number, name, function);
  }
  return Value();
}

Value ProgramBuilder::MakeParts(const Argument& argument, int number, const std::string& name,
                                ir::Function* function) {
  Values parts;
  for (const Argument& child : argument.children) {
    parts.push_back(MakeParameter(child, number, name, function));
  }
  if (argument.kind == Argument::Kind::kTuple) return Value::Tuple(std::move(parts));
  return Value::Slice(parts[0], parts[1], parts[2]);
}

// What Python is given: lists become arrays where their elements make one, a range, a zip and their
// like what `list` makes of them, and what has no form outside is refused.
Value ProgramBuilder::AsResult(const Value& value) {
  if (value.IsNone() || value.IsScalar() || value.IsArray()) return value;
  if (value.Is<IterableValue>()) return AsResult(BuiltinList(&evaluator_, {value}));
  if (value.IsList() && RankAsArray(value)) return evaluator_.AsArray(value);
  if (value.Elements() == nullptr) {
    context_.FailLimitation(
        "a jitted function returns numbers, arrays, None and tuples of them, not " +
        Describe(value));
  }
  Values elements;
  for (const Value& element : *value.Elements()) elements.push_back(AsResult(element));
  return value.IsList() ? Value::List(std::move(elements)) : Value::Tuple(std::move(elements));
}

// Follows the order in which Flatten numbers results.
ResultTree ProgramBuilder::TreeOf(const Pattern& pattern, int* next) const {
  ResultTree tree;
  if (pattern.kind == Pattern::Kind::kScalar) {
    tree.kind = ResultTree::Kind::kScalar;
    tree.result = (*next)++;
    tree.python = pattern.python;
  } else if (pattern.kind == Pattern::Kind::kArray) {
    tree.kind = ResultTree::Kind::kArray;
    *next += static_cast<int>(std::count(pattern.dims.begin(), pattern.dims.end(), std::nullopt));
    tree.result = (*next)++;
  } else if (pattern.kind == Pattern::Kind::kParts) {
    const bool is_list = pattern.prototype.IsList();
    tree.kind = is_list ? ResultTree::Kind::kList : ResultTree::Kind::kTuple;
    for (const Pattern& part : pattern.parts) tree.children.push_back(TreeOf(part, next));
  }
  return tree;
}

// Adds the functions that `caller` calls, callees after their first caller.
void ProgramBuilder::Gather(const ir::Function& caller) {
  std::vector<const ir::Function*> callees;
  ir::ForEachBinding(*caller.body, [&](const ir::Binding& binding) {
    if (binding.op != ir::OpCode::kCall) return;
    const std::string& name = binding.attrs.Text(ir::Attr::kCallee);
    if (!gathered_.insert(name).second) return;
    callees.push_back(evaluator_.memo_->Named(name)->function);
  });
  for (const ir::Function* callee : callees) built_.program.functions.push_back(callee);
  for (const ir::Function* callee : callees) Gather(*callee);
}

Built BuildIr(const Request& request, const std::shared_ptr<ir::SourceMap>& sources) {
  return ProgramBuilder(request, sources).Run();
}

}  // namespace parakeet::frontend
