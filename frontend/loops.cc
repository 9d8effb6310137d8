#include <algorithm>
#include <utility>

#include "frontend/loop_builder.h"

namespace parakeet::frontend {
namespace {

// A loop whose index decides a type is unrolled up to this many iterations.
constexpr int64_t kMaxUnrolled = 64;
// A loop over a longer list display of numbers is not unrolled.
constexpr size_t kMaxUnrolledDisplay = 8;

// While it lives, `break` and `continue` mean this loop.
class JumpScope {
 public:
  explicit JumpScope(Frame* frame) : frame_(frame) {
    frame->loops.push_back({frame->NewControl("broke"), frame->NewControl("continued")});
  }
  ~JumpScope() {
    frame_->environment.Unbind(frame_->loops.back().broke);
    frame_->loops.pop_back();
  }
  JumpScope(const JumpScope&) = delete;
  JumpScope& operator=(const JumpScope&) = delete;

 private:
  Frame* frame_;
};

}  // namespace

const LiveVariables& Evaluator::Live() {
  if (frame_->live == nullptr) frame_->live = std::make_unique<LiveVariables>(*frame_->syntax);
  return *frame_->live;
}

Values Evaluator::UnrolledValues(const Sequence& sequence) {
  const std::string why = "the index of this loop decides a type, so that the loop is unrolled; ";
  if (!sequence.length.IsConstant()) {
    context_->FailLimitation(why + "its bounds must be known at compile time");
  }
  const int64_t length = sequence.length.constant().integer;
  if (length > kMaxUnrolled) {
    context_->FailLimitation(why + "it may have " + std::to_string(kMaxUnrolled) +
                             " iterations at most");
  }
  Values values;
  for (int64_t i = 0; i < length; ++i) values.push_back(sequence.element(ir::Operand::Int(i)));
  return values;
}

// What a loop runs over. A long list of numbers of one type is run over as an array.
Sequence Evaluator::IterateLoop(const Expr& iterable) {
  const Value value = Evaluate(iterable);
  const SpanScope span(context_, iterable.span);
  const Values* elements = value.IsList() ? value.Elements() : nullptr;
  if (elements == nullptr || elements->size() <= kMaxUnrolledDisplay) return Iterate(value);
  const Pattern first = PatternOf(elements->front());
  const bool is_uniform = std::all_of(elements->begin(), elements->end(), [&](const Value& v) {
    return v.IsScalar() && PatternOf(v) == first;
  });
  return Iterate(is_uniform ? DisplayAsArray(value) : value);
}

bool Evaluator::RunFor(const ForStmt& stmt) {
  const Sequence sequence = IterateLoop(*stmt.iterable);
  const JumpScope jumps(frame_);
  if (sequence.fixed) return RunUnrolled(stmt, *sequence.fixed);
  const LoopEffects effects = [&] {
    LoopEffects found = EffectsOf(stmt.body);
    AddTargets(*stmt.target, &found);
    return found;
  }();
  // A store in the body must not rebind the name.
  for (const Variable* variable : effects.stored_through) PrepareStore(variable);
  const Environment before = frame_->environment;
  const Sequence::Counted range =
      sequence.counted.value_or(Sequence::Counted{ir::Operand::Int(0), sequence.length, 1});
  std::vector<const Variable*> controls;
  if (effects.breaks) controls.push_back(frame_->loops.back().broke);
  if (effects.returns) controls.push_back(frame_->result);
  LoopBuilder loop(this, stmt, effects, controls);
  const auto iterate = [&](const Value& index) {
    ForgetJumps();
    if (Reaches([&] {
          Assign(*stmt.target, sequence.counted ? index : sequence.element(index.op()));
        })) {
      RunBlock(stmt.body);
    }
    EndIteration();
  };
  try {
    if (controls.empty()) {
      loop.BuildFor(range, iterate);
    } else {
      loop.BuildForWithExits(range, [this] { return HasJumped(); }, iterate);
    }
  } catch (const NeedStatic& need) {
    if (need.parameter != loop.index_origin()) throw;
    frame_->environment = before;
    return RunUnrolled(stmt, UnrolledValues(sequence));
  }
  return RunElse(stmt.otherwise);
}

bool Evaluator::RunUnrolled(const ForStmt& stmt, const Values& values) {
  const std::function<bool(size_t)> run_from = [&](size_t first) {
    for (size_t i = first; i < values.size(); ++i) {
      if (Reaches([&] { Assign(*stmt.target, values[i]); })) RunBlock(stmt.body);
      EndIteration();
      const ir::Operand jumped = HasJumped();
      if (frame_->environment.state != Environment::State::kLive || jumped.IsInt(1)) return false;
      if (!jumped.IsInt(0)) return RunRest([&] { return run_from(i + 1); });
    }
    return true;
  };
  run_from(0);
  return RunElse(stmt.otherwise);
}

bool Evaluator::RunWhile(const WhileStmt& stmt) {
  const JumpScope jumps(frame_);
  LoopEffects effects = EffectsOf(stmt.body);
  if (BindsNames(*stmt.condition)) return RunWhileBinding(stmt, std::move(effects));
  for (const Variable* variable : effects.stored_through) PrepareStore(variable);
  std::vector<const Variable*> controls;
  if (effects.breaks) controls.push_back(frame_->loops.back().broke);
  if (effects.returns) controls.push_back(frame_->result);
  LoopBuilder loop(this, stmt, effects, controls);
  bool is_endless = false;
  const auto test = [&] {
    const auto condition = [&] {
      ForgetJumps();
      const ir::Operand goes_on = EvaluateTruth(*stmt.condition);
      is_endless = goes_on.IsInt(1);
      return Value::Python(goes_on);
    };
    return Choose(HasJumped(), -1, [] { return Value::Bool(false); }, condition).op();
  };
  loop.BuildWhile(test, [&] {
    ForgetJumps();
    RunBlock(stmt.body);
    EndIteration();
  });
  return EndWhile(stmt.otherwise, is_endless && !effects.breaks);
}

// A condition that binds names is the first part of the body, and its value is carried.
bool Evaluator::RunWhileBinding(const WhileStmt& stmt, LoopEffects effects) {
  AddTargets(*stmt.condition, &effects);
  for (const Variable* variable : effects.stored_through) PrepareStore(variable);
  const Variable* ended = frame_->NewControl("ended");
  const Variable* broke = frame_->loops.back().broke;
  LoopBuilder loop(this, stmt, effects, {broke, frame_->result, ended});
  const auto test = [&] {
    const ir::Operand& bound = frame_->environment.Get(ended).bound;
    const ir::Operand left = builder().Scalar(ir::OpCode::kOr, {HasJumped(), bound});
    return builder().Scalar(ir::OpCode::kNot, {left});
  };
  loop.BuildWhile(test, [&] {
    ForgetJumps();
    frame_->environment.Unbind(ended);
    Reaches([&] {
      const ir::Operand goes_on = EvaluateTruth(*stmt.condition);
      Branch body = RunBranch([&]() -> Values {
        RunBlock(stmt.body);
        return {};
      });
      Branch end = RunBranch([&]() -> Values {
        frame_->environment.Bind(ended, Value::None());
        return {};
      });
      JoinBranches(goes_on, -1, &body, &end);
    });
    EndIteration();
  });
  const bool reaches = EndWhile(stmt.otherwise, false);
  frame_->environment.Unbind(ended);
  return reaches;
}

// A loop without end is left by its returns alone.
bool Evaluator::EndWhile(const Block& otherwise, bool is_endless) {
  if (!is_endless) return RunElse(otherwise);
  Environment& environment = frame_->environment;
  const Slot result = environment.Get(frame_->result);
  if (result.IsUnbound()) {
    environment.state = Environment::State::kUnreachable;
  } else {
    environment.Bind(frame_->result, result.value);
    environment.state = Environment::State::kReturned;
  }
  return false;
}

// No jump has been taken where an iteration begins.
void Evaluator::ForgetJumps() {
  frame_->environment.Unbind(frame_->result);
  frame_->environment.Unbind(frame_->loops.back().broke);
  frame_->environment.Unbind(frame_->loops.back().continued);
}

// After the body: `continue` has come to its end.
void Evaluator::EndIteration() { frame_->environment.Unbind(frame_->loops.back().continued); }

// The loop's `else`, unless it was left by a jump. Gives whether control reaches what follows.
bool Evaluator::RunElse(const Block& otherwise) {
  const LoopControl jumps = frame_->loops.back();
  const auto run = [&] {
    frame_->loops.pop_back();
    bool reaches = true;
    try {
      reaches = RunBlock(otherwise);
    } catch (...) {
      frame_->loops.push_back(jumps);
      throw;
    }
    frame_->loops.push_back(jumps);
    return reaches;
  };
  Environment& environment = frame_->environment;
  if (environment.state != Environment::State::kLive) return false;
  const ir::Operand jumped = HasJumped();
  bool reaches = true;
  if (jumped.IsInt(0)) {
    reaches = run();
  } else if (!jumped.IsConstant() && !otherwise.empty()) {
    RunRest(run);
  }
  const bool returned = environment.Get(frame_->result).IsBound();
  environment.Unbind(jumps.broke);
  return reaches && !returned && environment.state == Environment::State::kLive;
}

}  // namespace parakeet::frontend
