#include "frontend/resolve_names.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace parakeet::frontend {
namespace {

template <typename T>
void AddOnce(std::vector<T>* list, const T& item) {
  if (std::find(list->begin(), list->end(), item) == list->end()) list->push_back(item);
}

}  // namespace

void NameResolver::EnterFunction(FunctionSyntax* function) {
  scopes_.push_back({function, /*is_comprehension=*/false, {}, {}});
}

void NameResolver::EnterComprehension() {
  scopes_.push_back({scopes_.back().function, /*is_comprehension=*/true, {}, {}});
}

void NameResolver::LeaveFunction() { LeaveScope(); }
void NameResolver::LeaveComprehension() { LeaveScope(); }

void NameResolver::Use(NameExpr* name) { scopes_.back().pending.push_back({name, {}}); }

void NameResolver::Bind(NameExpr* name) { name->variable = BindIn(&scopes_.back(), name->name); }

void NameResolver::BindAcrossComprehensions(NameExpr* name) {
  size_t depth = scopes_.size() - 1;
  while (scopes_[depth].is_comprehension) --depth;
  name->variable = BindIn(&scopes_[depth], name->name);
}

const Variable* NameResolver::BindParameter(const std::string& name) {
  Variable* variable = BindIn(&scopes_.back(), name);
  variable->is_parameter = true;
  return variable;
}

Variable* NameResolver::BindIn(Scope* scope, const std::string& name) {
  Variable*& variable = scope->variables[name];
  if (variable == nullptr) {
    auto made = std::make_unique<Variable>();
    made->name = name;
    made->function = scope->function;
    made->index = static_cast<int32_t>(scope->function->variables.size());
    made->is_of_comprehension = scope->is_comprehension;
    variable = made.get();
    scope->function->variables.push_back(std::move(made));
  }
  ++variable->bindings;
  return variable;
}

void NameResolver::LeaveScope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (Pending& use : scope.pending) {
    const auto bound = scope.variables.find(use.name->name);
    if (bound != scope.variables.end()) {
      use.name->variable = bound->second;
      if (!use.crossed.empty()) bound->second->is_captured = true;
      for (FunctionSyntax* function : use.crossed) {
        AddOnce(&function->free_variables, static_cast<const Variable*>(bound->second));
      }
      continue;
    }
    if (!scope.is_comprehension) use.crossed.push_back(scope.function);
    if (!scopes_.empty()) {
      scopes_.back().pending.push_back(std::move(use));
      continue;
    }
    for (FunctionSyntax* function : use.crossed) {
      AddOnce(&function->outside_names, use.name->name);
    }
  }
}

}  // namespace parakeet::frontend
