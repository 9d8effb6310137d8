// Puts the body of a function in place of each call of it, so that later passes see through
// library and user functions.
//
// Before:
//   fn @double(%a: f64) -> (f64) { %b: f64 = add %a, %a  return %b }
//   fn @f(%x: f64) -> (f64) { %y: f64 = call @double(%x)  return %y }
// After:
//   fn @f(%x: f64) -> (f64) { %b: f64 = add %x, %x  return %b }
//
// Assumes: calls give their place in program order, which is put before the places of the callee's
// checks.
// Refuses: functions that call themselves, directly or through others; they stay calls, since
// inlining has no end. Neither are long functions copied that would come to many bindings in all:
// of functions that call one another twice, each level would double the program. The first function
// stays, and what it still calls.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;

using Names = std::unordered_set<std::string>;

// A function of more bindings than the first stays a call where its copies would have more than the
// second together. It is not much longer then than the first: what it calls stays a call before.
constexpr size_t kLongest = 256;
constexpr double kMostCopied = 10'000;

// Where the place operands of a binding begin, and whether it has any.
bool HasPlace(OpCode op) {
  return op == OpCode::kCheck || op == OpCode::kBroadcastSize || op == OpCode::kCall;
}

size_t PlaceStart(const Binding& binding) {
  if (binding.op == OpCode::kCheck) return 1;
  if (binding.op == OpCode::kBroadcastSize) return 2;
  return binding.operands.size() - binding.attrs.Int(Attr::kAt);
}

// Puts `prefix` before the place of every check, size and call.
class PrefixPlaces : public ir::Mutator {
 public:
  PrefixPlaces(ir::Arena* arena, std::vector<Operand> prefix)
      : Mutator(arena), prefix_(std::move(prefix)) {}

  const ir::Block* Rewrite(const ir::Block* block) { return VisitBlock(block); }

 protected:
  void Visit(const Binding* binding) override {
    const Binding* rewritten = Mutator::Rewrite(binding);
    if (!HasPlace(binding->op)) return builder().Append(rewritten);
    Binding copy = *rewritten;
    copy.operands.insert(copy.operands.begin() + PlaceStart(copy), prefix_.begin(), prefix_.end());
    if (copy.op != OpCode::kBroadcastSize) {
      copy.attrs = copy.attrs.With(
          Attr::kAt, copy.attrs.Int(Attr::kAt) + static_cast<int64_t>(prefix_.size()));
    }
    builder().Append(arena()->New(std::move(copy)));
  }

 private:
  std::vector<Operand> prefix_;
};

// What a call's arguments say of the callee's parameters and of the sizes in their types.
ir::Substitution BindArguments(const ir::Function& callee, const std::vector<Operand>& arguments) {
  ir::Substitution bound;
  for (size_t i = 0; i < callee.params.size(); ++i) {
    const ir::Var* param = callee.params[i].var;
    bound[param] = arguments[i];
    const std::vector<Operand>& dims = param->type.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis].IsVar())
        bound.try_emplace(dims[axis].var(), ir::TypeOf(arguments[i]).dims()[axis]);
    }
  }
  return bound;
}

bool HasPlaces(const ir::Block& block) {
  bool found = false;
  ir::ForEachBinding(block, [&](const Binding& binding) { found |= HasPlace(binding.op); });
  return found;
}

// How often each function would be there if all calls were inlined.
class CopyCounter {
 public:
  explicit CopyCounter(const ir::Program& program) {
    for (const ir::Function* function : program.functions) {
      ir::ForEachBinding(*function->body, [&](const Binding& binding) {
        if (binding.op != OpCode::kCall) return;
        callers_[binding.attrs.Text(Attr::kCallee)].push_back(function->name);
      });
    }
  }

  // Once for each call of each copy of a caller; once for what nothing calls, or a circle of calls.
  double Of(const std::string& name) {
    const auto [known, is_new] = copies_.try_emplace(name, 1.0);
    if (!is_new) return known->second;
    double count = 0.0;
    for (const std::string& caller : callers_[name]) count += Of(caller);
    return copies_[name] = std::max(count, 1.0);
  }

 private:
  std::unordered_map<std::string, std::vector<std::string>> callers_;
  std::unordered_map<std::string, double> copies_;
};

// A callee whose own calls are inlined, so that each call of it is one copy.
struct Callee {
  const ir::Function* function = nullptr;
  bool has_places = false;
  bool stays = false;  // It is long, and often called.
};

size_t CountBindings(const ir::Block& block) {
  size_t count = 0;
  ir::ForEachBinding(block, [&](const Binding&) { ++count; });
  return count;
}

class Callees {
 public:
  Callees(const ir::Program& program, const Names& recursive)
      : recursive_(recursive), copies_(program) {
    for (const ir::Function* function : program.functions) functions_[function->name] = function;
  }

  // The callee whose body stands for the call; null where it stays one, or is none.
  const Callee* InlinedAt(ir::Arena* arena, const Binding& binding) {
    if (binding.op != OpCode::kCall) return nullptr;
    const std::string& name = binding.attrs.Text(Attr::kCallee);
    if (recursive_.contains(name)) return nullptr;
    const Callee& callee = Of(arena, name);
    return callee.stays ? nullptr : &callee;
  }
  // The functions that have been found to stay calls.
  std::unordered_map<std::string, const ir::Function*> Staying() const {
    std::unordered_map<std::string, const ir::Function*> staying;
    for (const auto& [name, callee] : inlined_) {
      if (callee.stays) staying[name] = callee.function;
    }
    return staying;
  }

 private:
  const Callee& Of(ir::Arena* arena, const std::string& name);

  const Names& recursive_;
  CopyCounter copies_;
  std::unordered_map<std::string, const ir::Function*> functions_;
  std::unordered_map<std::string, Callee> inlined_;
};

class Inliner : public ir::Mutator {
 public:
  Inliner(ir::Arena* arena, Callees& callees) : Mutator(arena), callees_(callees) {}

 protected:
  void Visit(const Binding* binding) override {
    const Callee* callee = callees_.InlinedAt(arena(), *binding);
    if (callee == nullptr) return Mutator::Visit(binding);
    const Binding* call = Rewrite(binding);
    const auto place = call->operands.begin() + PlaceStart(*call);
    const std::vector<Operand> arguments(call->operands.begin(), place);
    const ir::Block* body = ir::CloneBlock(arena(), *callee->function->body,
                                           BindArguments(*callee->function, arguments));
    if (callee->has_places) {
      body = PrefixPlaces(arena(), {place, call->operands.end()}).Rewrite(body);
    }
    for (const Binding* inner : body->bindings) builder().Append(inner);
    for (size_t i = 0; i < binding->results.size(); ++i) {
      Replace(binding->results[i], body->results[i]);
      if (call->results[i] != binding->results[i]) Replace(call->results[i], body->results[i]);
    }
  }

 private:
  Callees& callees_;
};

// Calls inside the callee are inlined first: it does not recurse.
const Callee& Callees::Of(ir::Arena* arena, const std::string& name) {
  const auto known = inlined_.find(name);
  if (known != inlined_.end()) return known->second;
  const ir::Function* function = Inliner(arena, *this).Run(functions_.at(name));
  const size_t length = CountBindings(*function->body);
  const bool stays =
      length > kLongest && static_cast<double>(length) * copies_.Of(name) > kMostCopied;
  return inlined_[name] = {function, HasPlaces(*function->body), stays};
}

// Finds the functions that can reach a call of themselves: those of a circle of calls, which a walk
// through the calls meets again while it is in it.
class RecursionFinder {
 public:
  explicit RecursionFinder(const ir::Program& program) {
    for (const ir::Function* function : program.functions) {
      Names& callees = callees_[function->name];
      ir::ForEachBinding(*function->body, [&](const Binding& binding) {
        if (binding.op == OpCode::kCall) callees.insert(binding.attrs.Text(Attr::kCallee));
      });
    }
    for (const ir::Function* function : program.functions) {
      if (!order_.contains(function->name)) Walk(function->name);
    }
  }

  Names Take() { return std::move(recursive_); }

 private:
  // Tarjan's: the earliest function of the walk, still open, that `name` reaches.
  size_t Walk(const std::string& name) {
    const size_t own = order_.size();
    order_[name] = own;
    size_t earliest = own;
    open_.push_back(name);
    is_open_.insert(name);
    for (const std::string& callee : callees_.at(name)) {
      if (callee == name) recursive_.insert(name);
      const auto met = order_.find(callee);
      if (met == order_.end()) earliest = std::min(earliest, Walk(callee));
      else if (is_open_.contains(callee)) earliest = std::min(earliest, met->second);
    }
    if (earliest == own) Close(name);
    return earliest;
  }

  void Close(const std::string& name) {
    const bool is_circle = open_.back() != name;
    for (bool done = false; !done; open_.pop_back()) {
      done = open_.back() == name;
      is_open_.erase(open_.back());
      if (is_circle) recursive_.insert(open_.back());
    }
  }

  std::unordered_map<std::string, Names> callees_;
  std::unordered_map<std::string, size_t> order_;
  std::vector<std::string> open_;
  Names is_open_;
  Names recursive_;
};

// Drops the functions that nothing reaches from the first one.
void DropUncalled(ir::Program& program) {
  Names called = {program.functions.front()->name};
  std::vector<const ir::Function*> pending = {program.functions.front()};
  while (!pending.empty()) {
    const ir::Function* caller = pending.back();
    pending.pop_back();
    ir::ForEachBinding(*caller->body, [&](const Binding& binding) {
      if (binding.op != OpCode::kCall) return;
      const std::string& callee = binding.attrs.Text(Attr::kCallee);
      if (called.insert(callee).second) pending.push_back(program.Find(callee));
    });
  }
  std::erase_if(program.functions,
                [&](const ir::Function* function) { return !called.contains(function->name); });
}

}  // namespace

ir::Program InlineCalls(const ir::Program& program, Context&) {
  const Names recursive = RecursionFinder(program).Take();
  Callees callees(program, recursive);
  std::unordered_map<std::string, const ir::Function*> inlined;
  for (const ir::Function* function : program.functions) {
    const bool stays = function == program.functions.front() || recursive.contains(function->name);
    if (stays) inlined[function->name] = Inliner(program.arena.get(), callees).Run(function);
  }
  inlined.merge(callees.Staying());
  ir::Program result = program;
  std::erase_if(result.functions,
                [&](const ir::Function* function) { return !inlined.contains(function->name); });
  for (const ir::Function*& function : result.functions) function = inlined.at(function->name);
  DropUncalled(result);
  return result;
}

}  // namespace parakeet::passes
