#include "frontend/array_roots.h"

#include "ir/ops.h"
#include "ir/uses.h"

namespace parakeet::frontend {
namespace {

using ir::OpCode;
using VarSet = std::set<const ir::Var*>;

// Follows arrays through views, joins and calls to the values that they may share memory with. What
// no binding here makes is a root of its own. Walks until nothing is added: a loop's array may come
// from its body's end.
class RootFinder {
 public:
  explicit RootFinder(const EffectsOfCallee& callee) : callee_(callee) {}

  void Run(const std::vector<const ir::Binding*>& bindings) {
    Define(bindings);
    do {
      grew_ = false;
      for (const ir::Binding* binding : bindings) Visit(*binding);
    } while (grew_);
  }

  VarSet RootsOf(const ir::Operand& operand) const {
    if (!operand.IsVar() || !operand.var()->type.IsArray()) return {};
    const auto found = roots_.find(operand.var());
    if (found != roots_.end()) return found->second;
    return defined_.contains(operand.var()) ? VarSet() : VarSet{operand.var()};
  }

  // Roots made elsewhere that a store may reach.
  const VarSet& stored() const { return stored_; }

 private:
  void Define(const std::vector<const ir::Binding*>& bindings) {
    for (const ir::Binding* binding : bindings) {
      defined_.insert(binding->results.begin(), binding->results.end());
      for (const ir::Block* block : binding->blocks) {
        defined_.insert(block->params.begin(), block->params.end());
        Define(block->bindings);
      }
    }
  }

  void Derive(const ir::Var* var, const ir::Operand& from) {
    if (!var->type.IsArray()) return;
    for (const ir::Var* root : RootsOf(from)) grew_ |= roots_[var].insert(root).second;
  }

  void DeriveAll(const std::vector<const ir::Var*>& vars, const std::vector<ir::Operand>& from,
                 size_t first = 0) {
    for (size_t i = 0; i < vars.size() && first + i < from.size(); ++i) {
      Derive(vars[i], from[first + i]);
    }
  }

  void Store(const ir::Operand& array) {
    for (const ir::Var* root : RootsOf(array)) grew_ |= stored_.insert(root).second;
  }

  void Visit(const ir::Binding& binding) {
    for (const size_t stored : ir::StoredOperands(binding)) Store(binding.operands[stored]);
    switch (binding.op) {
      case OpCode::kCall: VisitCall(binding); break;
      case OpCode::kFor: VisitLoop(binding, *binding.blocks[0], 3, 1); break;
      case OpCode::kWhile:
        DeriveAll(binding.blocks[0]->params, binding.operands);
        DeriveAll(binding.blocks[0]->params, binding.blocks[1]->results);
        VisitLoop(binding, *binding.blocks[1], 0, 0);
        break;
      case OpCode::kMap:
      case OpCode::kFilter:
      case OpCode::kReduce:
      case OpCode::kScan: DeriveAll(binding.blocks[0]->params, binding.operands); break;
      default:
        if (ir::IsView(binding.op)) Derive(binding.result(), binding.operands[0]);
    }
    for (const ir::Block* block : binding.blocks) {
      for (const ir::Binding* inner : block->bindings) Visit(*inner);
    }
    if (binding.op == OpCode::kIf) {
      for (const ir::Block* block : binding.blocks) DeriveAll(binding.results, block->results);
    }
  }

  // `first` is the first initial value among the operands, `leading` how many parameters of the
  // body come before the carried ones.
  void VisitLoop(const ir::Binding& binding, const ir::Block& body, size_t first, size_t leading) {
    for (size_t i = 0; i < binding.results.size(); ++i) {
      for (const ir::Var* var : {body.params[leading + i], binding.results[i]}) {
        Derive(var, binding.operands[first + i]);
        Derive(var, body.results[i]);
      }
    }
  }

  void VisitCall(const ir::Binding& binding) {
    const ArrayEffects* effects = callee_(binding.attrs.Text(ir::Attr::kCallee));
    const size_t count = binding.operands.size() - binding.attrs.Int(ir::Attr::kAt);
    for (size_t i = 0; i < count; ++i) {
      const int number = static_cast<int>(i);
      if (effects == nullptr || effects->stored.contains(number)) Store(binding.operands[i]);
      if (effects != nullptr && !effects->returned.contains(number)) continue;
      for (const ir::Var* result : binding.results) Derive(result, binding.operands[i]);
    }
  }

  const EffectsOfCallee& callee_;
  VarSet defined_;
  VarSet stored_;
  std::unordered_map<const ir::Var*, VarSet> roots_;
  bool grew_ = false;
};

}  // namespace

bool StoresOutside(const std::vector<const ir::Binding*>& bindings, const EffectsOfCallee& callee) {
  RootFinder finder(callee);
  finder.Run(bindings);
  return !finder.stored().empty();
}

ArrayEffects EffectsOfFunction(const ir::Function& function, const EffectsOfCallee& callee) {
  RootFinder finder(callee);
  finder.Run(function.body->bindings);
  VarSet returned;
  for (const ir::Operand& result : function.body->results) returned.merge(finder.RootsOf(result));
  ArrayEffects effects;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const ir::Var* var = function.params[i].var;
    if (finder.stored().contains(var)) effects.stored.insert(static_cast<int>(i));
    if (returned.contains(var)) effects.returned.insert(static_cast<int>(i));
  }
  return effects;
}

}  // namespace parakeet::frontend
