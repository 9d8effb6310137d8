#include <utility>

#include "frontend/evaluator.h"

namespace parakeet::frontend {
namespace {

// The value with each closure in it, at any depth, replaced by what `change` makes of it.
Value MapClosures(const Value& value,
                  const std::function<Value(const Value& value, const Closure&)>& change) {
  if (const auto* closure = value.TryAs<ClosureValue>()) return change(value, *closure->closure);
  const std::optional<Values> parts = PartsOf(value);
  if (!parts) return value;
  Values changed;
  for (const Value& part : *parts) changed.push_back(MapClosures(part, change));
  return WithParts(value, std::move(changed));
}

Value WithFrame(const Closure& closure, int frame) {
  auto copy = std::make_shared<Closure>(closure);
  copy->frame = frame;
  return ClosureValue{std::move(copy)};
}

// Gathers what a closure, and the closures that it captures, need of the frame that it leaves.
class CaptureGatherer {
 public:
  CaptureGatherer(const Frame& frame, Closure* leaving) : frame_(frame), leaving_(leaving) {}

  void AddAll(const FunctionSyntax& syntax) {
    for (const Variable* variable : syntax.free_variables) Add(variable);
  }

 private:
  void Add(const Variable* variable) {
    for (const Variable* known : leaving_->variables) {
      if (known == variable) return;
    }
    const size_t place = leaving_->variables.size();
    leaving_->variables.push_back(variable);
    leaving_->captured.emplace_back();
    leaving_->may_be_unbound.push_back(false);
    const Slot& slot = frame_.environment.Get(variable);
    if (slot.IsUnbound()) return;
    Value kept = Keep(slot.value);
    leaving_->may_be_unbound[place] = !slot.IsBound();
    leaving_->captured[place] =
        slot.IsBound() ? std::move(kept)
                       : Value::Tuple({std::move(kept), ScalarValue{slot.bound, true, -1}});
  }

  // Paths that disagree about a variable are a closure's to refuse, where it reads it; the
  // parameter that chose between them is none of its own.
  Value Keep(const Value& value) {
    if (const auto* conflict = value.TryAs<UndefinedValue>()) {
      return UndefinedValue{conflict->why, -1, conflict->remedy};
    }
    return MapClosures(value, [this](const Value& same, const Closure& inner) {
      if (inner.frame != frame_.id) return same;
      AddAll(*inner.syntax);
      return WithFrame(inner, Closure::kSameFrame);
    });
  }

  const Frame& frame_;
  Closure* leaving_;
};

}  // namespace

Value Evaluator::LeaveFrame(const Value& value) {
  return MapClosures(value, [this](const Value& same, const Closure& closure) -> Value {
    if (closure.frame != frame_->id) return same;
    auto leaving = std::make_shared<Closure>(closure);
    leaving->frame = Closure::kNoFrame;
    CaptureGatherer(*frame_, leaving.get()).AddAll(*closure.syntax);
    return ClosureValue{std::move(leaving)};
  });
}

Value Evaluator::EnterFrame(const Value& value, int frame) {
  return MapClosures(value, [frame](const Value& same, const Closure& closure) {
    return closure.frame == Closure::kSameFrame ? WithFrame(closure, frame) : same;
  });
}

Value Evaluator::MakeClosure(const FunctionSyntaxPtr& syntax) {
  auto closure = std::make_shared<Closure>();
  closure->syntax = syntax;
  closure->home = frame_->home;
  closure->frame = frame_->id;
  for (const Parameter& parameter : syntax->parameters) {
    if (parameter.has_default) closure->defaults.push_back(Evaluate(*parameter.default_value));
  }
  return ClosureValue{std::move(closure)};
}

}  // namespace parakeet::frontend
