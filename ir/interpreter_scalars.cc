#include "ir/diagnostics.h"
#include "ir/evaluate.h"
#include "ir/interpreter_machine.h"

namespace parakeet::ir {

// Lanes of a vector each do the same; a scalar among them stands for a lane of each.
void Machine::Scalar(const Step& step) {
  const Type& type = step.binding->result()->type;
  std::vector<Constant> lanes;
  for (int lane = 0; lane < type.lanes(); ++lane) {
    scratch_.clear();
    for (int slot : step.operands) scratch_.push_back(LaneAt(slot, lane));
    const std::optional<Constant> value = Evaluate(step.op, scratch_, type.dtype());
    if (!value || value->dtype != type.dtype()) {
      FailBug(std::string(Name(step.op)) + " does not take operands of " +
                  std::string(Name(scratch_[0].dtype)) + " to " + std::string(Name(type.dtype())),
              step.binding->span);
    }
    if (type.IsScalar()) return Set(step, 0, *value);
    lanes.push_back(*value);
  }
  SetLanes(step, std::move(lanes));
}

// A mask fails at its first false lane.
void Machine::Check(const Step& step) {
  const auto* mask = std::get_if<VectorValue>(&At(step.operands[0]));
  const int lanes = mask == nullptr ? 1 : static_cast<int>(mask->lanes.size());
  int lane = 0;
  while (lane < lanes && LaneAt(step.operands[0], lane).integer != 0) ++lane;
  if (lane == lanes) return;
  const size_t scalars = 1 + step.binding->attrs.Int(Attr::kAt);
  RunError error{step.binding->attrs.Int(Attr::kSite), {}, {}};
  for (size_t i = 1; i < step.operands.size(); ++i) {
    const Constant& value = LaneAt(step.operands[i], lane);
    if (i < scalars) {
      error.place.push_back(value.integer);
    } else {
      error.scalars.push_back(value);
    }
  }
  throw error;
}

// Nothing runs beside anything, but code that shares work out is to do so.
void Machine::Team(const Step& step) {
  constexpr int64_t kThreads = 4;
  Set(step, 0, ConstantOf(DType::kI64, kThreads));
}

void Machine::BroadcastSize(const Step& step) {
  const Constant n = ScalarAt(step.operands[0]);
  const Constant m = ScalarAt(step.operands[1]);
  if (n == m || m.integer == 1) return Set(step, 0, n);
  if (n.integer == 1) return Set(step, 0, m);
  throw RunError{step.binding->attrs.Int(Attr::kSite),
                 IntsAt(step.operands, 2, step.operands.size() - 2),
                 {n, m}};
}

}  // namespace parakeet::ir
