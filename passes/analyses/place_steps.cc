#include "passes/analyses/place_steps.h"

#include <algorithm>

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// As the IR's products do.
int64_t WrappingProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// The part as a value; what one index more adds to it where `by_index`.
Operand WrittenStep(ir::Builder& builder, const Step& step, bool by_index) {
  Operand product = Operand::Int(step.times);
  for (const Var* factor : step.factors) product = builder.Mul(Operand(factor), product);
  return by_index || step.var == nullptr ? product : builder.Mul(Operand(step.var), product);
}

}  // namespace

std::vector<Step> PlaceSteps::Of(const Operand& at) const {
  std::vector<Step> steps, left = {{nullptr, 1}};
  std::vector<Operand> of_left = {at};
  while (!left.empty()) {
    const Step around = left.back();
    const LinearForm form = forms_.Of(of_left.back());
    left.pop_back();
    of_left.pop_back();
    if (form.constant != 0)
      steps.push_back({nullptr, WrappingProduct(form.constant, around.times), around.factors});
    for (const auto& [var, times] : form.terms) {
      Step step{var, WrappingProduct(times, around.times), around.factors};
      const Binding* product = IsMade(var) ? ProductOf(var) : nullptr;
      const bool is_first = product != nullptr && IsShared(product->operands[0]);
      if (product == nullptr || !(is_first || IsShared(product->operands[1]))) {
        steps.push_back(std::move(step));
        continue;
      }
      step.factors.push_back(product->operands[is_first ? 0 : 1].var());
      left.push_back(std::move(step));
      of_left.push_back(product->operands[is_first ? 1 : 0]);
    }
  }
  return steps;
}

const Binding* PlaceSteps::ProductOf(const Var* var) const {
  const auto found = definitions_.find(var);
  const bool is_product = found != definitions_.end() && found->second->op == OpCode::kMul;
  return is_product ? found->second : nullptr;
}

bool PlaceSteps::ReadsLinearly(const Binding& load) const {
  return std::all_of(load.operands.begin() + 1, load.operands.end(), [&](const Operand& at) {
    const std::vector<Step> steps = Of(at);
    return std::none_of(steps.begin(), steps.end(),
                        [&](const Step& step) { return IsMade(step.var); });
  });
}

Binding PlaceSteps::LoadOfView(ir::Builder& builder, const Binding& load) const {
  const std::vector<Operand> places(load.operands.begin() + 1, load.operands.end());
  std::vector<const Var*> indexes;
  std::vector<std::unordered_map<const Var*, Operand>> strides;  // by axis, of indexes
  std::vector<Operand> view = {load.operands[0]};
  for (const Operand& place : places) {
    Operand offset = Operand::Int(0);
    strides.emplace_back();
    for (const Step& step : Of(place)) {
      const bool is_index = IsIndex(step.var);
      if (is_index && std::count(indexes.begin(), indexes.end(), step.var) == 0)
        indexes.push_back(step.var);
      Operand& sum =
          is_index ? strides.back().emplace(step.var, Operand::Int(0)).first->second : offset;
      sum = builder.Add(sum, WrittenStep(builder, step, is_index));
    }
    view.push_back(offset);
  }
  const auto goes_far = [&](const Var* index) {
    const auto stride = strides.back().find(index);
    return stride == strides.back().end() || !stride->second.IsInt(1);
  };
  std::stable_partition(indexes.begin(), indexes.end(), goes_far);
  for (const auto& of_axis : strides) {
    for (const Var* index : indexes) {
      const auto stride = of_axis.find(index);
      view.push_back(stride == of_axis.end() ? Operand::Int(0) : stride->second);
    }
  }
  std::vector<Operand> dims;
  for (const Var* index : indexes) dims.push_back(extents_.at(index));
  const Var* seen =
      builder.EmitOne(OpCode::kView, ir::Type::Array(load.result()->type.dtype(), std::move(dims)),
                      std::move(view), {}, {}, "seen");
  Binding loaded{OpCode::kLoad, load.results, {Operand(seen)}, {}, {}, load.span};
  for (const Var* index : indexes) loaded.operands.emplace_back(index);
  return loaded;
}

}  // namespace parakeet::passes
