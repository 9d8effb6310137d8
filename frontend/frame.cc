#include "frontend/frame.h"

#include <tuple>

namespace parakeet::frontend {

bool SameSlot(const Slot& a, const Slot& b) {
  return a.bound == b.bound && SameValue(a.value, b.value);
}

std::string UnboundMessage(const Variable& variable, bool is_local) {
  const std::string what = is_local ? "local" : "free";
  const std::string where = is_local ? "" : " in enclosing scope";
  return "cannot access " + what + " variable '" + variable.name +
         "' where it is not associated with a value" + where;
}

bool VariableOrder::operator()(const Variable* a, const Variable* b) const {
  // Variables of control flow stand in no function and come last.
  const auto key = [](const Variable* variable) {
    const FunctionSyntax* function = variable->function;
    return std::make_tuple(function == nullptr, function == nullptr ? 0 : function->span.line,
                           function == nullptr ? 0 : function->span.column, variable->index);
  };
  return key(a) < key(b);
}

const Slot& Environment::Get(const Variable* variable) const {
  static const Slot* const kUnbound = new Slot{Value(), ir::Operand::Bool(false)};
  const auto found = slots_.find(variable);
  return found == slots_.end() ? *kUnbound : found->second;
}

const Variable* Frame::NewControl(const std::string& name) {
  Variable variable;
  variable.name = name;
  variable.index = static_cast<int32_t>(controls_.size());
  controls_.push_back(std::move(variable));
  return &controls_.back();
}

}  // namespace parakeet::frontend
