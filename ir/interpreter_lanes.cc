#include <algorithm>

#include "ir/diagnostics.h"
#include "ir/interpreter_machine.h"

namespace parakeet::ir {

void Machine::ExecuteLanes(const Step& step) {
  switch (step.op) {
    case OpCode::kSplat: {
      const int lanes = step.binding->result()->type.lanes();
      return SetLanes(step, std::vector<Constant>(lanes, ScalarAt(step.operands[0])));
    }
    case OpCode::kIota: return Iota(step);
    case OpCode::kLoadLanes:
    case OpCode::kGatherLanes: return LoadLanes(step);
    case OpCode::kStoreLanes:
    case OpCode::kScatterLanes: return StoreLanes(step);
    case OpCode::kLowHalf: return Half(step, false);
    case OpCode::kHighHalf: return Half(step, true);
    case OpCode::kInterleave: return Interleave(step);
    case OpCode::kSlide: return Slide(step);
    case OpCode::kExtract: return Extract(step);
    case OpCode::kAny:
    case OpCode::kAllLanes: return AnyOrAll(step);
    case OpCode::kFirstLane: return FirstLane(step);
    default:
      FailBug("the interpreter cannot run " + std::string(Name(step.op)), step.binding->span);
  }
}

void Machine::Iota(const Step& step) {
  const Type& type = step.binding->result()->type;
  std::vector<Constant> lanes;
  for (int lane = 0; lane < type.lanes(); ++lane) lanes.push_back(ConstantOf(type.dtype(), lane));
  SetLanes(step, std::move(lanes));
}

std::byte* Machine::LanePlace(const Step& step, int lane) const {
  const Attributes& attrs = step.binding->attrs;
  if (attrs.Int(Attr::kMasked) != 0 && LaneAt(step.operands.back(), lane).integer == 0) {
    return nullptr;
  }
  const ArrayValue& array = ArrayAt(step.operands[0]);
  Index index;
  for (size_t axis = 0; axis < array.sizes.size(); ++axis) {
    index.push_back(LaneAt(step.operands.at(1 + axis), lane).integer);
  }
  const bool consecutive = step.op == OpCode::kLoadLanes || step.op == OpCode::kStoreLanes;
  const int64_t steps = (lane + attrs.Int(Attr::kPhase)) / attrs.Int(Attr::kRepeat, 1);
  if (!consecutive) return ElementAt(array, index);
  const size_t along = attrs.Int(Attr::kAxis);
  const bool is_flat = attrs.Int(Attr::kFlat) != 0;
  index.at(is_flat ? index.size() - 1 : along) += steps * attrs.Int(Attr::kStep, 1);
  for (size_t axis = index.size() - 1; is_flat && axis > along; --axis) {
    const int64_t size = std::max<int64_t>(array.sizes[axis], 1);
    index[axis - 1] += index[axis] / size;
    index[axis] %= size;
  }
  return ElementAt(array, index);
}

void Machine::LoadLanes(const Step& step) {
  const Type& type = step.binding->result()->type;
  std::vector<Constant> lanes;
  for (int lane = 0; lane < type.lanes(); ++lane) {
    const std::byte* place = LanePlace(step, lane);
    lanes.push_back(place == nullptr ? ZeroOf(type.dtype()) : LoadElement(type.dtype(), place));
  }
  SetLanes(step, std::move(lanes));
}

// In order of lanes: of equal places the last stays.
void Machine::StoreLanes(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  const int value = step.operands.at(1 + array.sizes.size());
  const auto* vector = std::get_if<VectorValue>(&At(value));
  const int lanes = vector == nullptr ? 1 : static_cast<int>(vector->lanes.size());
  for (int lane = 0; lane < lanes; ++lane) {
    if (std::byte* place = LanePlace(step, lane)) StoreElement(LaneAt(value, lane), place);
  }
}

void Machine::Half(const Step& step, bool high) {
  const int half = step.binding->result()->type.lanes();
  std::vector<Constant> lanes;
  for (int lane = 0; lane < half; ++lane) {
    lanes.push_back(LaneAt(step.operands[0], lane + (high ? half : 0)));
  }
  SetLanes(step, std::move(lanes));
}

void Machine::Interleave(const Step& step) {
  const int count = static_cast<int>(step.operands.size());
  std::vector<Constant> lanes;
  for (int lane = 0; lane < step.binding->result()->type.lanes(); ++lane) {
    lanes.push_back(LaneAt(step.operands[lane % count], lane / count));
  }
  SetLanes(step, std::move(lanes));
}

void Machine::Slide(const Step& step) {
  const int count = step.binding->result()->type.lanes();
  const int by = static_cast<int>(step.binding->attrs.Int(Attr::kBy));
  std::vector<Constant> lanes;
  for (int lane = by; lane < count + by; ++lane) {
    lanes.push_back(LaneAt(step.operands[lane / count], lane % count));
  }
  SetLanes(step, std::move(lanes));
}

void Machine::Extract(const Step& step) {
  Set(step, 0, LaneAt(step.operands[0], static_cast<int>(IntAt(step.operands[1]))));
}

void Machine::AnyOrAll(const Step& step) {
  const int lanes = TypeOf(step.binding->operands[0]).lanes();
  int count = 0;
  for (int lane = 0; lane < lanes; ++lane) count += LaneAt(step.operands[0], lane).integer != 0;
  Set(step, 0, Constant::Bool(step.op == OpCode::kAny ? count > 0 : count == lanes));
}

void Machine::FirstLane(const Step& step) {
  const int lanes = TypeOf(step.binding->operands[0]).lanes();
  int lane = 0;
  while (lane < lanes && LaneAt(step.operands[0], lane).integer == 0) ++lane;
  Set(step, 0, Constant::Int(lane));
}

}  // namespace parakeet::ir
