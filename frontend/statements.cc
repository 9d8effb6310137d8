#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "frontend/evaluator.h"
#include "frontend/indexing.h"
#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

// What an exception is given: a format string and its scalars. A scalar by itself is the only hole
// that has a number: the exception has the scalar, not its text.
struct Message {
  std::string text;
  std::vector<ir::Operand> scalars;
};

Message MessageOf(const Context& context, const Value& value) {
  if (const auto* string = value.TryAs<StringValue>()) {
    return {string->is_format ? string->text : EscapeBraces(string->text), string->scalars};
  }
  if (const auto* scalar = value.TryAs<ScalarValue>()) {
    return {scalar->python ? "{0}" : "{0:numpy}", {scalar->op}};
  }
  context.FailLimitation("an exception's message is a string, an f-string or a scalar, not " +
                         Describe(value));
}

// True for an expression whose evaluation leaves everything as it is.
bool ChangesNothing(const Expr& expr) {
  constexpr ExprKind kMayChange[] = {ExprKind::kCall, ExprKind::kNamed, ExprKind::kComprehension,
                                     ExprKind::kLambda};
  bool changes = std::count(std::begin(kMayChange), std::end(kMayChange), expr.kind) > 0;
  ForEachChild(expr, [&](const Expr& part) { changes = changes || !ChangesNothing(part); });
  return !changes;
}

}  // namespace

bool Evaluator::RunBlock(const Block& block, size_t first) {
  for (size_t i = first; i < block.size(); ++i) {
    bool reaches = true;
    if (block[i]->kind == StmtKind::kIf) {
      Flow flow = Flow::kStops;
      reaches = Reaches([&] { flow = RunIf(As<IfStmt>(*block[i]), block, i + 1); });
      if (flow != Flow::kContinues) return reaches && flow == Flow::kRestIsDone;
    } else {
      reaches = RunStatement(*block[i]);
    }
    if (!reaches) return false;
    if (i + 1 < block.size() && !HasJumped().IsInt(0)) {
      return RunRest([&] { return RunBlock(block, i + 1); });
    }
  }
  return true;
}

bool Evaluator::RunStatement(const Stmt& stmt) {
  const SpanScope span(context_, stmt.span);
  bool reaches = true;
  const bool lives = Reaches([&] {
    switch (stmt.kind) {
      case StmtKind::kAssign: {
        const auto& assign = As<AssignStmt>(stmt);
        const Value value = Evaluate(*assign.value);
        for (const ExprPtr& target : assign.targets) Assign(*target, value);
        return;
      }
      case StmtKind::kAnnAssign: {
        const auto& assign = As<AnnAssignStmt>(stmt);
        if (assign.value != nullptr) Assign(*assign.target, Evaluate(*assign.value));
        return;
      }
      case StmtKind::kAugAssign: return RunAugAssign(As<AugAssignStmt>(stmt));
      case StmtKind::kExpr: Evaluate(*As<ExprStmt>(stmt).value); return;
      case StmtKind::kIf: ir::FailBug("an if is run by its block", stmt.span);
      case StmtKind::kWhile: reaches = RunWhile(As<WhileStmt>(stmt)); return;
      case StmtKind::kFor: reaches = RunFor(As<ForStmt>(stmt)); return;
      case StmtKind::kBreak: reaches = RunJump(frame_->loops.back().broke); return;
      case StmtKind::kContinue: reaches = RunJump(frame_->loops.back().continued); return;
      case StmtKind::kPass: return;
      case StmtKind::kReturn: reaches = RunReturn(As<ReturnStmt>(stmt)); return;
      case StmtKind::kAssert: return RunAssert(As<AssertStmt>(stmt));
      case StmtKind::kRaise: return RunRaise(As<RaiseStmt>(stmt));
      case StmtKind::kDelete: return RunDelete(As<DeleteStmt>(stmt));
      case StmtKind::kFunctionDef: {
        const auto& definition = As<FunctionDefStmt>(stmt);
        Assign(*definition.target, MakeClosure(definition.function));
        return;
      }
    }
  });
  return lives && reaches;
}

Evaluator::Flow Evaluator::RunIf(const IfStmt& stmt, const Block& block, size_t next) {
  const SpanScope span(context_, stmt.span);
  const auto flow = [](bool reaches) { return reaches ? Flow::kContinues : Flow::kStops; };
  const int origin = OriginOf(*stmt.condition);
  const ir::Operand condition = EvaluateTruth(*stmt.condition);
  if (condition.IsConstant()) {
    return flow(RunBlock(condition.IsInt(0) ? stmt.otherwise : stmt.then));
  }
  const auto run = [&](const Block& side) {
    bool reaches = false;
    Branch branch = RunBranch([&]() -> Values {
      reaches = RunBlock(side);
      return {};
    });
    branch.reaches = branch.reaches && reaches;
    return branch;
  };
  Branch then = run(stmt.then);
  Branch otherwise = run(stmt.otherwise);
  const auto continue_in = [&](Branch* side) {
    bool reaches = false;
    const auto rest = [&] { return RunBlock(block, next); };
    Extend(side, [&]() -> Values {
      // The side itself may have left on some of its paths.
      reaches = HasJumped().IsInt(0) ? rest() : RunRest(rest);
      return {};
    });
    side->reaches = side->reaches && reaches;
  };
  const bool takes_rest = then.Jumps() != otherwise.Jumps() && (then.reaches || otherwise.reaches);
  if (takes_rest) continue_in(then.reaches ? &then : &otherwise);
  const bool reaches = then.reaches || otherwise.reaches;
  JoinBranches(condition, origin, &then, &otherwise);
  if (!reaches) return Flow::kStops;
  return takes_rest ? Flow::kRestIsDone : Flow::kContinues;
}

ir::Operand Evaluator::HasJumped() {
  ir::Operand jumped = frame_->environment.Get(frame_->result).bound;
  const auto add = [&](const Variable* control) {
    const ir::Operand& bound = frame_->environment.Get(control).bound;
    if (jumped.IsInt(0) || bound.IsInt(1)) {
      jumped = bound;
    } else if (!bound.IsInt(0) && !jumped.IsInt(1)) {
      jumped = builder().Scalar(ir::OpCode::kOr, {jumped, bound});
    }
  };
  if (!frame_->loops.empty()) {
    add(frame_->loops.back().broke);
    add(frame_->loops.back().continued);
  }
  return jumped;
}

bool Evaluator::RunRest(const std::function<bool()>& rest) {
  const ir::Operand jumped = HasJumped();
  std::vector<const Variable*> controls = {frame_->result};
  if (!frame_->loops.empty()) {
    controls.push_back(frame_->loops.back().broke);
    controls.push_back(frame_->loops.back().continued);
  }
  Branch left = RunBranch([&]() -> Values {
    Environment& environment = frame_->environment;
    for (const Variable* control : controls) {
      // The only jump that may have been taken here has been taken.
      if (!(environment.Get(control).bound == jumped)) continue;
      environment.Bind(control, environment.Get(control).value);
      if (control == frame_->result) environment.state = Environment::State::kReturned;
    }
    return {};
  });
  bool reaches = false;
  Branch stayed = RunBranch([&]() -> Values {
    for (const Variable* control : controls) frame_->environment.Unbind(control);
    reaches = rest();
    return {};
  });
  reaches = reaches && stayed.reaches;
  JoinBranches(jumped, -1, &left, &stayed);
  return reaches;
}

void Evaluator::RunAugAssign(const AugAssignStmt& stmt) {
  if (const auto* name = TryAs<NameExpr>(stmt.target)) {
    const Value current = Evaluate(*name);
    Assign(*name, BinaryInPlace(stmt.op, current, Evaluate(*stmt.value)));
    return;
  }
  if (const auto* attribute = TryAs<AttributeExpr>(stmt.target)) {
    const Value current = Evaluate(*attribute);
    // z.real is a copy of the parts; assigning puts them back.
    Assign(*attribute, Binary(stmt.op, current, Evaluate(*stmt.value)));
    return;
  }
  const auto& subscript = As<SubscriptExpr>(*stmt.target);
  const Value target = EvaluateStored(*subscript.value);
  const Value index = Evaluate(*subscript.index);
  std::optional<Value> operand;  // where it does not matter that it is evaluated first
  if (IsMaskOf(target, index) && ChangesNothing(*stmt.value)) operand = Evaluate(*stmt.value);
  if (operand && UpdateWhereTrue(this, stmt.op, target, index, *operand)) return;
  const Value current = Subscript(target, index);
  const Value changed = BinaryInPlace(stmt.op, current, operand ? *operand : Evaluate(*stmt.value));
  // A view has been written through already.
  if (current.IsArray() && IsBasicIndex(index)) return;
  // Of real and imaginary parts, those that the copy has now.
  StoreSubscript(target, index, ReadPart(changed));
}

void Evaluator::RunAssert(const AssertStmt& stmt) {
  FailUnless(EvaluateTruth(*stmt.condition), [&] {
    if (stmt.message == nullptr) context_->Raise("AssertionError", "");
    const Message message = MessageOf(*context_, Evaluate(*stmt.message));
    context_->Raise("AssertionError", message.text, message.scalars);
  });
}

void Evaluator::RunRaise(const RaiseStmt& stmt) {
  const Value exception = Evaluate(*stmt.exception);
  const auto* known = exception.TryAs<ExceptionValue>();
  if (known == nullptr) {
    ir::FailUser("TypeError",
                 "exceptions must derive from BaseException, not " + Describe(exception),
                 stmt.exception->span);
  }
  if (stmt.arguments.empty()) context_->Raise(known->name, "");
  if (stmt.arguments.size() > 1) {
    context_->FailLimitation("an exception takes one message; put the values into an f-string");
  }
  const Message message = MessageOf(*context_, Evaluate(*stmt.arguments[0]));
  context_->Raise(known->name, message.text, message.scalars);
}

bool Evaluator::RunReturn(const ReturnStmt& stmt) {
  const Value value = stmt.value != nullptr ? Evaluate(*stmt.value) : Value::None();
  frame_->environment.Bind(frame_->result, LeaveFrame(value));
  frame_->environment.state = Environment::State::kReturned;
  return false;
}

bool Evaluator::RunJump(const Variable* control) {
  frame_->environment.Bind(control, Value::None());
  return false;
}

void Evaluator::RunDelete(const DeleteStmt& stmt) {
  for (const ExprPtr& target : stmt.targets) DeleteTarget(*target);
}

void Evaluator::DeleteTarget(const Expr& target) {
  if (const auto* pattern = TryAs<TupleExpr>(&target)) {
    for (const ExprPtr& element : pattern->elements) DeleteTarget(*element);
    return;
  }
  Evaluate(target);
  frame_->environment.Unbind(As<NameExpr>(target).variable);
}

}  // namespace parakeet::frontend
