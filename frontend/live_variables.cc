#include "frontend/live_variables.h"

#include <algorithm>
#include <utility>

#include "frontend/first_reads.h"
#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

void Union(std::vector<bool>* set, const std::vector<bool>& other) {
  for (size_t i = 0; i < set->size(); ++i) (*set)[i] = (*set)[i] || other[i];
}

void AddOnce(std::vector<const Variable*>* list, const Variable* variable) {
  if (std::find(list->begin(), list->end(), variable) == list->end()) list->push_back(variable);
}

bool Contains(const Expr& expr, const Expr& part) {
  bool found = &expr == &part;
  ForEachChild(expr, [&](const Expr& child) { found = found || Contains(child, part); });
  return found;
}

// Collects what a body binds; one object a loop.
class EffectCollector {
 public:
  explicit EffectCollector(LoopEffects* effects) : effects_(effects) {}

  void Visit(const Block& block, bool in_inner_loop) {
    for (const StmtPtr& stmt : block) Visit(*stmt, in_inner_loop);
  }

  void VisitExpr(const Expr& expr) {
    if (const auto* named = TryAs<NamedExpr>(&expr)) VisitTarget(*named->target);
    ForEachChild(expr, [this](const Expr& child) { VisitExpr(child); });
  }

  void VisitTarget(const Expr& target) {
    if (const auto* name = TryAs<NameExpr>(&target)) {
      AddOnce(&effects_->bound, name->variable);
    } else if (const auto* attribute = TryAs<AttributeExpr>(&target)) {
      if (const auto* base = TryAs<NameExpr>(attribute->value); base && base->variable) {
        AddOnce(&effects_->bound, base->variable);
      }
    } else if (const auto* subscript = TryAs<SubscriptExpr>(&target)) {
      if (const Variable* root = StoredName(*subscript)) {
        AddOnce(&effects_->stored_through, root);
      }
    } else {
      ForEachChild(target, [this](const Expr& child) { VisitTarget(child); });
    }
  }

 private:
  void Visit(const Stmt& stmt, bool in_inner_loop) {
    VisitTargets(stmt);
    ForEachChild(stmt, [this](const Expr& expr) { VisitExpr(expr); });
    effects_->returns |= stmt.kind == StmtKind::kReturn;
    effects_->breaks |= stmt.kind == StmtKind::kBreak && !in_inner_loop;
    if (stmt.kind == StmtKind::kFor) {
      const auto& loop = As<ForStmt>(stmt);
      Visit(loop.body, true);
      Visit(loop.otherwise, in_inner_loop);
    } else if (stmt.kind == StmtKind::kWhile) {
      const auto& loop = As<WhileStmt>(stmt);
      Visit(loop.body, true);
      Visit(loop.otherwise, in_inner_loop);
    } else {
      ForEachBlock(stmt, [&](const Block& block) { Visit(block, in_inner_loop); });
    }
  }

  void VisitTargets(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kAssign:
        for (const ExprPtr& target : As<AssignStmt>(stmt).targets) VisitTarget(*target);
        return;
      case StmtKind::kAugAssign: return VisitTarget(*As<AugAssignStmt>(stmt).target);
      case StmtKind::kAnnAssign: return VisitTarget(*As<AnnAssignStmt>(stmt).target);
      case StmtKind::kFor: return VisitTarget(*As<ForStmt>(stmt).target);
      case StmtKind::kFunctionDef: return VisitTarget(*As<FunctionDefStmt>(stmt).target);
      case StmtKind::kDelete:
        for (const ExprPtr& target : As<DeleteStmt>(stmt).targets) VisitTarget(*target);
        return;
      default: return;
    }
  }

  LoopEffects* effects_;
};

}  // namespace

LiveVariables::LiveVariables(const FunctionSyntax& function) : function_(function) {
  const Set none(function.variables.size());
  Before(function.body, none, {none, none});
}

bool LiveVariables::AtHead(const Stmt& loop, const Variable& variable) const {
  if (!IsLocal(&variable) || variable.is_captured) return true;
  return at_head_.at(&loop)[variable.index];
}

bool LiveVariables::After(const Stmt& loop, const Variable& variable) const {
  if (!IsLocal(&variable) || variable.is_captured) return true;
  return after_.at(&loop)[variable.index];
}

bool LiveVariables::After(const ComprehensionExpr& comprehension, const Variable& variable) const {
  if (!IsLocal(&variable) || variable.is_captured) return true;
  const auto found = after_comprehension_.find(&comprehension);
  return found == after_comprehension_.end() || found->second[variable.index];
}

bool LiveVariables::IsLocal(const Variable* variable) const {
  return variable != nullptr && variable->function == &function_;
}

LiveVariables::Set LiveVariables::Before(const Block& block, Set after, const Targets& targets) {
  for (auto stmt = block.rbegin(); stmt != block.rend(); ++stmt) {
    after = Before(**stmt, std::move(after), targets);
  }
  return after;
}

LiveVariables::Set LiveVariables::Before(const Stmt& stmt, Set after, const Targets& targets) {
  switch (stmt.kind) {
    case StmtKind::kFor: return BeforeFor(As<ForStmt>(stmt), after, targets);
    case StmtKind::kWhile: return BeforeWhile(As<WhileStmt>(stmt), after, targets);
    case StmtKind::kIf: {
      const auto& branch = As<IfStmt>(stmt);
      Set before = Before(branch.then, after, targets);
      Union(&before, Before(branch.otherwise, after, targets));
      Use(*branch.condition, &before);
      return before;
    }
    case StmtKind::kBreak: return targets.on_break;
    case StmtKind::kContinue: return targets.on_continue;
    case StmtKind::kReturn:
    case StmtKind::kRaise: std::fill(after.begin(), after.end(), false); break;
    case StmtKind::kAssign:
      for (const ExprPtr& target : As<AssignStmt>(stmt).targets) Bind(*target, &after);
      Use(*As<AssignStmt>(stmt).value, &after);
      return after;
    case StmtKind::kAnnAssign: {
      const auto& assign = As<AnnAssignStmt>(stmt);
      if (assign.value == nullptr) return after;
      Bind(*assign.target, &after);
      Use(*assign.value, &after);
      return after;
    }
    case StmtKind::kFunctionDef:
      for (const Parameter& parameter : As<FunctionDefStmt>(stmt).function->parameters) {
        if (parameter.default_value != nullptr) Use(*parameter.default_value, &after);
      }
      Bind(*As<FunctionDefStmt>(stmt).target, &after);
      return after;
    default: break;
  }
  ForEachChild(stmt, [&](const Expr& expr) { Use(expr, &after); });
  return after;
}

LiveVariables::Set LiveVariables::BeforeFor(const ForStmt& loop, const Set& after,
                                            const Targets& targets) {
  const Set exit = Before(loop.otherwise, after, targets);
  const Set head = BeforeLoop(loop, exit, after, [&](const Set& next) {
    Set before = Before(loop.body, next, {after, next});
    Bind(*loop.target, &before);
    return before;
  });
  Set before = head;
  Use(*loop.iterable, &before);
  return before;
}

LiveVariables::Set LiveVariables::BeforeWhile(const WhileStmt& loop, const Set& after,
                                              const Targets& targets) {
  Set exit = Before(loop.otherwise, after, targets);
  Set tested = exit;
  Use(*loop.condition, &tested);
  return BeforeLoop(loop, tested, after,
                    [&](const Set& next) { return Before(loop.body, next, {after, next}); });
}

// What is live where an iteration begins: what is live at the loop's `exit`, and what the body
// reads. One round of the body finds it; another records what is live at loops inside.
LiveVariables::Set LiveVariables::BeforeLoop(const Stmt& loop, const Set& exit, const Set& after,
                                             const std::function<Set(const Set&)>& body) {
  Set head = exit;
  const bool records = std::exchange(records_, false);
  Union(&head, body(exit));
  records_ = records;
  if (!records_) return head;
  body(head);
  at_head_[&loop] = head;
  after_[&loop] = exit;
  Union(&after_[&loop], after);
  return head;
}

void LiveVariables::AddUses(const Expr& expr, Set* set, const Expr* except) const {
  if (&expr == except) return;
  if (const auto* comprehension = TryAs<ComprehensionExpr>(&expr)) {
    return AddUsesOfComprehension(*comprehension, set, except);
  }
  if (const auto* named = TryAs<NamedExpr>(&expr)) return AddUses(*named->value, set, except);
  if (const auto* name = TryAs<NameExpr>(&expr); name != nullptr && IsLocal(name->variable)) {
    (*set)[name->variable->index] = true;
  }
  ForEachChild(expr, [&](const Expr& child) { AddUses(child, set, except); });
}

// A name that each element binds before it reads it is no use of what it was, unless `except` is
// part of the element, whose next one reads it.
void LiveVariables::AddUsesOfComprehension(const ComprehensionExpr& expr, Set* set,
                                           const Expr* except) const {
  Set uses(set->size());
  ForEachChild(expr, [&](const Expr& child) { AddUses(child, &uses, except); });
  if (except == nullptr || !Contains(expr, *except)) {
    const std::set<const Variable*> first = ReadFirst(expr);
    for (const Variable* name : NamesBoundBy(expr)) {
      if (IsLocal(name) && !first.contains(name)) uses[name->index] = false;
    }
  }
  Union(set, uses);
}

void LiveVariables::Use(const Expr& expr, Set* set) {
  if (records_) RecordComprehensions(expr, expr, *set);
  AddUses(expr, set);
}

void LiveVariables::RecordComprehensions(const Expr& root, const Expr& expr, const Set& after) {
  if (expr.kind == ExprKind::kComprehension && BindsNames(expr)) {
    Set& live = after_comprehension_.try_emplace(&expr, after.size()).first->second;
    Union(&live, after);
    AddUses(root, &live, &expr);
  }
  ForEachChild(expr, [&](const Expr& child) { RecordComprehensions(root, child, after); });
}

// The names of a pattern are bound; what stands in its subscripts and attributes is read.
void LiveVariables::Bind(const Expr& target, Set* set) {
  if (const auto* name = TryAs<NameExpr>(&target)) {
    if (IsLocal(name->variable)) (*set)[name->variable->index] = false;
  } else if (target.kind == ExprKind::kTuple || target.kind == ExprKind::kStarred) {
    ForEachChild(target, [&](const Expr& child) { Bind(child, set); });
  } else {
    Use(target, set);
  }
}

LoopEffects EffectsOf(const Block& body) {
  LoopEffects effects;
  EffectCollector(&effects).Visit(body, false);
  return effects;
}

void AddTargets(const Expr& expr, LoopEffects* effects) {
  EffectCollector collector(effects);
  const bool is_pattern = expr.kind == ExprKind::kName || expr.kind == ExprKind::kTuple ||
                          expr.kind == ExprKind::kStarred;
  if (is_pattern) collector.VisitTarget(expr);
  collector.VisitExpr(expr);
}

const Variable* StoredName(const Expr& expr) {
  if (const auto* name = TryAs<NameExpr>(&expr)) return name->variable;
  const auto* subscript = TryAs<SubscriptExpr>(&expr);
  return subscript == nullptr ? nullptr : StoredName(*subscript->value);
}

std::vector<const Variable*> NamesBoundBy(const Expr& expr) {
  std::vector<const Variable*> names;
  if (const auto* named = TryAs<NamedExpr>(&expr)) names.push_back(named->target->variable);
  ForEachChild(expr, [&](const Expr& child) {
    for (const Variable* name : NamesBoundBy(child)) AddOnce(&names, name);
  });
  return names;
}

bool BindsNames(const Expr& expr) {
  if (expr.kind == ExprKind::kNamed) return true;
  bool binds = false;
  ForEachChild(expr, [&](const Expr& child) { binds = binds || BindsNames(child); });
  return binds;
}

}  // namespace parakeet::frontend
