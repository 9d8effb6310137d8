#include "ir/interpreter_code.h"

#include <string>
#include <unordered_map>

#include "ir/diagnostics.h"

namespace parakeet::ir {
namespace {

class Numbering {
 public:
  FunctionCode Run(const Function& function) {
    FunctionCode code;
    code.function = &function;
    for (const Param& param : function.params) code.params.push_back(Define(param.var));
    for (const Var* size : function.Sizes()) {
      const int slot = Define(size);
      code.is_size.resize(slot + 1, 0);
      code.is_size[slot] = 1;
    }
    for (const Param& param : function.params) {
      code.param_sizes.push_back(Slots(param.var->type.dims()));
    }
    code.body = Number(*function.body);
    code.results = Define(function.results);
    for (const Var* result : function.results) {
      code.result_sizes.push_back(Slots(result->type.dims()));
    }
    code.frame = std::move(frame_);
    code.is_size.resize(code.frame.size(), 0);
    return code;
  }

 private:
  int Define(const Var* var) {
    slots_[var] = static_cast<int>(frame_.size());
    frame_.emplace_back();
    return slots_[var];
  }

  std::vector<int> Define(const std::vector<const Var*>& vars) {
    std::vector<int> slots;
    for (const Var* var : vars) slots.push_back(Define(var));
    return slots;
  }

  int Slot(const Operand& operand) {
    if (operand.IsConstant()) {
      frame_.emplace_back(operand.constant());
      return static_cast<int>(frame_.size()) - 1;
    }
    const auto found = slots_.find(operand.var());
    if (found == slots_.end()) {
      FailBug("value %" + std::string(operand.var()->hint) + " is read but not defined");
    }
    return found->second;
  }

  std::vector<int> Slots(const std::vector<Operand>& operands) {
    std::vector<int> slots;
    for (const Operand& operand : operands) slots.push_back(Slot(operand));
    return slots;
  }

  BlockCode Number(const Block& block) {
    BlockCode code;
    code.params = Define(block.params);
    for (const Binding* binding : block.bindings) code.steps.push_back(Number(*binding));
    code.results = Slots(block.results);
    return code;
  }

  Step Number(const Binding& binding) {
    Step step{&binding, binding.op, Slots(binding.operands), {}, {}, {}};
    for (const Block* block : binding.blocks) step.blocks.push_back(Number(*block));
    step.results = Define(binding.results);
    for (const Var* result : binding.results) {
      step.result_sizes.push_back(Slots(result->type.dims()));
    }
    return step;
  }

  std::unordered_map<const Var*, int> slots_;
  Values frame_;
};

}  // namespace

FunctionCode NumberSlots(const Function& function) { return Numbering().Run(function); }

}  // namespace parakeet::ir
