#ifndef PARAKEET_FRONTEND_RESOLVE_NAMES_H_
#define PARAKEET_FRONTEND_RESOLVE_NAMES_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/syntax.h"

namespace parakeet::frontend {

// Gives each NameExpr its Variable by Python's lexical rules while the tree is read. A name bound
// anywhere in a function is local to all of it, so a use is settled only when the scope that it
// stands in is left. Calls nest as the source does.
class NameResolver {
 public:
  void EnterFunction(FunctionSyntax* function);
  void LeaveFunction();
  // A comprehension's own scope; its variables belong to the function around it.
  void EnterComprehension();
  void LeaveComprehension();

  // Each is told of the names of the scope that is open, in the order of the source.
  void Use(NameExpr* name);
  void Bind(NameExpr* name);
  // The target of `:=`, which skips the comprehensions it stands in.
  void BindAcrossComprehensions(NameExpr* name);
  const Variable* BindParameter(const std::string& name);

 private:
  // A use whose variable is not known yet, and the functions it has been handed out of, innermost
  // first.
  struct Pending {
    NameExpr* name;
    std::vector<FunctionSyntax*> crossed;
  };
  struct Scope {
    FunctionSyntax* function;
    bool is_comprehension;
    std::unordered_map<std::string, Variable*> variables;
    std::vector<Pending> pending;
  };

  static Variable* BindIn(Scope* scope, const std::string& name);
  // Settles the open scope's uses that it binds, and hands the others outwards.
  void LeaveScope();

  std::vector<Scope> scopes_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_RESOLVE_NAMES_H_
