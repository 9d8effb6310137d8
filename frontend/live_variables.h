#ifndef PARAKEET_FRONTEND_LIVE_VARIABLES_H_
#define PARAKEET_FRONTEND_LIVE_VARIABLES_H_

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "frontend/syntax.h"

// What a loop must carry: the variables that it binds and that something still reads.
namespace parakeet::frontend {

// Which variables of a function may be read before they are bound again, at its loops. Variables
// that nested functions capture are live everywhere.
class LiveVariables {
 public:
  explicit LiveVariables(const FunctionSyntax& function);

  // Live where an iteration of the loop begins, its condition included.
  bool AtHead(const Stmt& loop, const Variable& variable) const;
  // Live where the loop ends, by its condition or by `break`.
  bool After(const Stmt& loop, const Variable& variable) const;
  // Live where the comprehension, whose `:=` binds the variable, has been evaluated. In the
  // condition of a `while`, what its body reads is not seen.
  bool After(const ComprehensionExpr& comprehension, const Variable& variable) const;

 private:
  using Set = std::vector<bool>;  // By Variable::index.
  struct Targets {                // Where `break` and `continue` go.
    Set on_break;
    Set on_continue;
  };

  Set Before(const Block& block, Set after, const Targets& targets);
  Set Before(const Stmt& stmt, Set after, const Targets& targets);
  Set BeforeFor(const ForStmt& loop, const Set& after, const Targets& targets);
  Set BeforeWhile(const WhileStmt& loop, const Set& after, const Targets& targets);
  Set BeforeLoop(const Stmt& loop, const Set& exit, const Set& after,
                 const std::function<Set(const Set&)>& body);
  // Adds what the expression reads, `except` left out.
  void AddUses(const Expr& expr, Set* set, const Expr* except = nullptr) const;
  void AddUsesOfComprehension(const ComprehensionExpr& expr, Set* set, const Expr* except) const;
  // As AddUses, and records what is live after comprehensions in it.
  void Use(const Expr& expr, Set* set);
  void RecordComprehensions(const Expr& root, const Expr& expr, const Set& after);
  void Bind(const Expr& target, Set* set);
  bool IsLocal(const Variable* variable) const;

  const FunctionSyntax& function_;
  std::unordered_map<const Stmt*, Set> at_head_;
  std::unordered_map<const Stmt*, Set> after_;
  std::unordered_map<const Expr*, Set> after_comprehension_;
  bool records_ = true;
};

// What the statements of a loop's body do to names, nested loops included, nested functions not.
struct LoopEffects {
  std::vector<const Variable*> bound;           // In order of first appearance, each once.
  std::vector<const Variable*> stored_through;  // `x[i] = ...`, `x[i][j] = ...`: x.
  bool breaks = false;                          // Out of this loop.
  bool returns = false;
};
LoopEffects EffectsOf(const Block& body);
// Adds what a target, or the `:=` of an expression, binds.
void AddTargets(const Expr& expr, LoopEffects* effects);

// The name whose value, or an element of it, the expression is: x of x, x[i] and x[i][j]. Null for
// none.
const Variable* StoredName(const Expr& expr);

// Whether `:=` stands in the expression, outside nested functions.
bool BindsNames(const Expr& expr);
// What `:=` binds in the expression, each once.
std::vector<const Variable*> NamesBoundBy(const Expr& expr);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_LIVE_VARIABLES_H_
