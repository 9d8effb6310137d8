#include "ir/interpreter_machine.h"

namespace parakeet::ir {

void Machine::If(const Step& step) {
  const BlockCode& block = step.blocks[IntAt(step.operands[0]) != 0 ? 0 : 1];
  Run(block);
  SetAll(step, ResultsOf(block));
}

// Every kind of loop runs in index order: where another order is allowed, it gives the same.
void Machine::For(const Step& step) {
  const int64_t hi = IntAt(step.operands[1]);
  const int64_t by = IntAt(step.operands[2]);
  const BlockCode& body = step.blocks[0];
  Values carried;
  for (size_t i = 3; i < step.operands.size(); ++i) carried.push_back(At(step.operands[i]));
  int64_t index = IntAt(step.operands[0]);
  bool last = false;
  while (!last && (by > 0 ? index < hi : index > hi)) {
    frame_[body.params[0]] = Constant::Int(index);
    SetParams(body, std::move(carried), 1);
    Run(body);
    carried = ResultsOf(body);
    last = __builtin_add_overflow(index, by, &index);
  }
  SetAll(step, std::move(carried));
}

void Machine::While(const Step& step) {
  const BlockCode& condition = step.blocks[0];
  const BlockCode& body = step.blocks[1];
  Values carried;
  for (int slot : step.operands) carried.push_back(At(slot));
  while (true) {
    SetParams(condition, carried);
    Run(condition);
    if (IntAt(condition.results[0]) == 0) break;
    SetParams(body, std::move(carried));
    Run(body);
    carried = ResultsOf(body);
  }
  SetAll(step, std::move(carried));
}

// The last `at` operands are the call's place, which comes before the places of the callee's
// checks.
void Machine::CallFunction(const Step& step) {
  const size_t count = step.operands.size() - step.binding->attrs.Int(Attr::kAt);
  Values arguments;
  for (size_t i = 0; i < count; ++i) arguments.push_back(At(step.operands[i]));
  const std::vector<int64_t> place = IntsAt(step.operands, count, step.operands.size() - count);
  try {
    SetAll(step, Call(step.binding->attrs.Text(Attr::kCallee), std::move(arguments)));
  } catch (RunError& error) {
    error.place.insert(error.place.begin(), place.begin(), place.end());
    throw;
  }
}

}  // namespace parakeet::ir
