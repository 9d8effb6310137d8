#include "ir/equal.h"

#include <unordered_map>
#include <vector>

namespace parakeet::ir {
namespace {

// Compares two functions from the outside in, pairing the values that each defines as it meets
// them.
class Comparison {
 public:
  bool Same(const Function& a, const Function& b) {
    if (a.name != b.name || a.entry != b.entry || a.may_overlap != b.may_overlap) return false;
    if (a.params.size() != b.params.size() || a.results.size() != b.results.size()) return false;
    for (size_t i = 0; i < a.params.size(); ++i) {
      if (!SameParam(a.params[i], b.params[i])) return false;
    }
    return SameDefinitions(a.results, b.results) && Same(*a.body, *b.body);
  }

 private:
  // Sizes in parameters' types are defined by them, so each is paired where it is met first.
  bool SameParam(const Param& a, const Param& b) {
    if (a.layout != b.layout || a.writable != b.writable || a.aligned != b.aligned) return false;
    const std::vector<Operand>& dims_a = a.var->type.dims();
    const std::vector<Operand>& dims_b = b.var->type.dims();
    if (dims_a.size() != dims_b.size() || !Pair(a.var, b.var)) return false;
    for (size_t i = 0; i < dims_a.size(); ++i) {
      if (dims_a[i].IsVar() && dims_b[i].IsVar() && !Pair(dims_a[i].var(), dims_b[i].var()))
        return false;
    }
    return Same(a.var->type, b.var->type);
  }

  // False when either stands for another value already.
  bool Pair(const Var* a, const Var* b) {
    return pairs_.emplace(a, b).first->second == b && back_.emplace(b, a).first->second == a;
  }

  bool SameDefinitions(const std::vector<const Var*>& a, const std::vector<const Var*>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!Same(a[i]->type, b[i]->type) || !Pair(a[i], b[i])) return false;
    }
    return true;
  }

  bool Same(const Type& a, const Type& b) {
    return a.dtype() == b.dtype() && a.lanes() == b.lanes() && a.IsArray() == b.IsArray() &&
           Same(a.dims(), b.dims());
  }

  bool Same(const Operand& a, const Operand& b) {
    if (!a.IsVar() || !b.IsVar()) return a == b;
    const auto found = pairs_.find(a.var());
    return found != pairs_.end() && found->second == b.var();
  }

  bool Same(const std::vector<Operand>& a, const std::vector<Operand>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!Same(a[i], b[i])) return false;
    }
    return true;
  }

  bool Same(const Block& a, const Block& b) {
    if (a.bindings.size() != b.bindings.size() || !SameDefinitions(a.params, b.params))
      return false;
    for (size_t i = 0; i < a.bindings.size(); ++i) {
      if (!Same(*a.bindings[i], *b.bindings[i])) return false;
    }
    return Same(a.results, b.results);
  }

  bool Same(const Binding& a, const Binding& b) {
    if (a.op != b.op || a.attrs != b.attrs || a.blocks.size() != b.blocks.size()) return false;
    if (!Same(a.operands, b.operands)) return false;
    for (size_t i = 0; i < a.blocks.size(); ++i) {
      if (!Same(*a.blocks[i], *b.blocks[i])) return false;
    }
    return SameDefinitions(a.results, b.results);
  }

  std::unordered_map<const Var*, const Var*> pairs_;
  std::unordered_map<const Var*, const Var*> back_;
};

}  // namespace

bool Equal(const Function& a, const Function& b) { return Comparison().Same(a, b); }

bool Equal(const Program& a, const Program& b) {
  if (a.functions.size() != b.functions.size() || a.sites.size() != b.sites.size()) return false;
  for (size_t i = 0; i < a.sites.size(); ++i) {
    if (a.sites[i].exception != b.sites[i].exception || a.sites[i].message != b.sites[i].message)
      return false;
  }
  for (size_t i = 0; i < a.functions.size(); ++i) {
    if (!Equal(*a.functions[i], *b.functions[i])) return false;
  }
  return true;
}

}  // namespace parakeet::ir
