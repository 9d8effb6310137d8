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
// inlining has no end. The first function stays, and what it still calls.
#include <unordered_map>
#include <unordered_set>

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

class Inliner : public ir::Mutator {
 public:
  Inliner(const ir::Program& program, const Names& recursive)
      : Mutator(program.arena.get()), program_(program), recursive_(recursive) {}

 protected:
  void Visit(const Binding* binding) override {
    if (binding->op != OpCode::kCall || recursive_.contains(binding->attrs.Text(Attr::kCallee))) {
      return Mutator::Visit(binding);
    }
    const Binding* call = Rewrite(binding);
    const auto place = call->operands.begin() + PlaceStart(*call);
    const std::vector<Operand> arguments(call->operands.begin(), place);
    const ir::Function& callee = *program_.Find(call->attrs.Text(Attr::kCallee));
    const ir::Block* body = ir::CloneBlock(arena(), *callee.body, BindArguments(callee, arguments));
    body = PrefixPlaces(arena(), {place, call->operands.end()}).Rewrite(body);
    // Calls inside the callee are inlined in turn: the program is not recursive here.
    for (const Binding* inner : body->bindings) Visit(inner);
    for (size_t i = 0; i < binding->results.size(); ++i) {
      Replace(binding->results[i], body->results[i]);
      if (call->results[i] != binding->results[i]) Replace(call->results[i], body->results[i]);
    }
  }

 private:
  const ir::Program& program_;
  const Names& recursive_;
};

// The functions that can reach a call of themselves.
Names FindRecursive(const ir::Program& program) {
  std::unordered_map<std::string, Names> reaches;
  for (const ir::Function* function : program.functions) {
    ir::ForEachBinding(*function->body, [&](const Binding& binding) {
      if (binding.op == OpCode::kCall)
        reaches[function->name].insert(binding.attrs.Text(Attr::kCallee));
    });
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (auto& [name, callees] : reaches) {
      const Names direct = callees;
      for (const std::string& callee : direct) {
        const auto further = reaches.find(callee);
        if (further == reaches.end()) continue;
        for (const std::string& more : Names(further->second)) grew |= callees.insert(more).second;
      }
    }
  }
  Names recursive;
  for (const auto& [name, callees] : reaches) {
    if (callees.contains(name)) recursive.insert(name);
  }
  return recursive;
}

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
  const Names recursive = FindRecursive(program);
  std::unordered_map<std::string, const ir::Function*> inlined;
  for (const ir::Function* function : program.functions) {
    const bool stays = function == program.functions.front() || recursive.contains(function->name);
    if (stays) inlined[function->name] = Inliner(program, recursive).Run(function);
  }
  ir::Program result = program;
  std::erase_if(result.functions,
                [&](const ir::Function* function) { return !inlined.contains(function->name); });
  for (const ir::Function*& function : result.functions) function = inlined.at(function->name);
  DropUncalled(result);
  return result;
}

}  // namespace parakeet::passes
