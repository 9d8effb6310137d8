#include <algorithm>
#include <utility>

#include "frontend/evaluator.h"
#include "frontend/function_name.h"

namespace parakeet::frontend {
namespace {

// While it lives, statements run in `frame`.
class FrameScope {
 public:
  FrameScope(Frame** current, Frame* frame) : current_(current), outer_(*current) {
    *current = frame;
  }
  ~FrameScope() { *current_ = outer_; }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Frame** current_;
  Frame* outer_;
};

}  // namespace

std::string FunctionName(const std::string& python_name) {
  std::string name;
  for (const char c : python_name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool is_digit = c >= '0' && c <= '9';
    if (is_letter || (is_digit && !name.empty())) name += c;
  }
  return name.empty() ? "function" : name;
}

Pattern Evaluator::BuildBody(Frame* frame, const std::vector<int>& captures,
                             const std::function<Value(const Value&)>& finish,
                             ir::Function* function) {
  const FrameScope frame_scope(&frame_, frame);
  frame->result = frame->NewControl("result");
  function->span = frame->syntax->name_span;
  ir::Builder body(context_->arena());
  const FunctionScope scope(context_, &body);
  const SpanScope span(context_, frame->syntax->name_span);
  if (function->entry) context_->set_parameter_sizes(function->Sizes());
  for (const int capture : captures) CapturedArray(capture);

  Value returned;
  Pattern pattern = RunFunction(&returned);
  std::vector<ir::Operand> results;
  if (pattern.kind != Pattern::Kind::kFree && finish) {
    try {
      returned = finish(returned);
      pattern = PatternOf(returned);
    } catch (const Leaves&) {
      pattern = Pattern();
    }
  }
  if (pattern.kind != Pattern::Kind::kFree) {
    function->params.insert(function->params.end(), frame->capture_params.begin(),
                            frame->capture_params.end());
    std::vector<const ir::Var*> known = function->Sizes();
    if (!function->entry) {
      // A caller knows the integers that it passes: np.zeros(n) has n elements.
      for (const ir::Param& param : function->params) known.push_back(param.var);
    }
    pattern = OwnSizes(pattern, [&](const ir::Operand& size) {
      return std::find(known.begin(), known.end(), size.var()) != known.end();
    });
    Flatten(this, &returned, pattern, &results);
    MakeVars(body, pattern, "r", &function->results);
  } else {
    function->params.insert(function->params.end(), frame->capture_params.begin(),
                            frame->capture_params.end());
  }
  function->body = body.Finish({}, std::move(results));
  return pattern;
}

Pattern Evaluator::RunFunction(Value* returned) {
  const bool reaches = RunBlock(frame_->syntax->body);
  const Environment& environment = frame_->environment;
  if (environment.state == Environment::State::kUnreachable) return Pattern();
  const Slot& slot = environment.Get(frame_->result);
  if (slot.IsUnbound()) {
    *returned = Value::None();
    return PatternOf(*returned);
  }
  *returned = slot.value;
  Pattern pattern = PatternOf(slot.value);
  if (reaches && !slot.IsBound()) pattern = Join(pattern, PatternOf(Value::None()));
  if (const auto* conflict = pattern.prototype.TryAs<UndefinedValue>();
      pattern.kind == Pattern::Kind::kConflict) {
    context_->AskForStatic(conflict->origin);
    context_->FailLimitation(frame_->syntax->name + "() returns " + conflict->why +
                             "; return one type on every path");
  }
  return pattern;
}

}  // namespace parakeet::frontend
