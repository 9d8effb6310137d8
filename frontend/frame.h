#ifndef PARAKEET_FRONTEND_FRAME_H_
#define PARAKEET_FRONTEND_FRAME_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/live_variables.h"
#include "frontend/py_ref.h"
#include "frontend/syntax.h"
#include "frontend/value.h"
#include "ir/node.h"

namespace parakeet::frontend {

// What a variable holds, and whether it is bound: a constant, or a run-time bool where it depends
// on the path taken. Control flow that IR does not have is kept in slots too: a `return` binds the
// frame's result, `break` and `continue` bind the loop's variables of that name.
struct Slot {
  Value value;
  ir::Operand bound = ir::Operand::Bool(true);

  bool IsBound() const { return bound.IsInt(1); }
  bool IsUnbound() const { return bound.IsInt(0); }
};

bool SameSlot(const Slot& a, const Slot& b);

// What Python says of a variable that is read while unbound; `is_local` where its own function
// does.
std::string UnboundMessage(const Variable& variable, bool is_local);

// Order of variables in the source: what is joined and carried is emitted in it.
struct VariableOrder {
  bool operator()(const Variable* a, const Variable* b) const;
};

// The slots of a function at one point of it.
class Environment {
 public:
  // How much of it matters. kReturned: the path has left the function, only the result counts.
  // kUnreachable: the path ends in a raise, nothing counts. Joined with another, what does not
  // count takes the other's.
  enum class State { kLive, kReturned, kUnreachable };

  // The slot, unbound where there is none.
  const Slot& Get(const Variable* variable) const;
  void Set(const Variable* variable, Slot slot) { slots_[variable] = std::move(slot); }
  void Bind(const Variable* variable, Value value) {
    slots_[variable] = Slot{std::move(value), ir::Operand::Bool(true)};
  }
  void Unbind(const Variable* variable) { slots_.erase(variable); }
  const std::map<const Variable*, Slot, VariableOrder>& slots() const { return slots_; }

  State state = State::kLive;
  // Whether the slot of `variable` counts; `result` is the frame's.
  bool Counts(const Variable* variable, const Variable* result) const {
    return state == State::kLive || (state == State::kReturned && variable == result);
  }

 private:
  std::map<const Variable*, Slot, VariableOrder> slots_;
};

// The variables that stand for control flow of one loop.
struct LoopControl {
  const Variable* broke;
  const Variable* continued;
};

// One activation of a user's function under construction.
struct Frame {
  int id = 0;
  bool is_entry = false;
  FunctionSyntaxPtr syntax;
  PyRef home;  // The Python function in whose source it stands: outside names are looked up there.
  Environment environment;
  const Variable* result = nullptr;
  std::vector<LoopControl> loops;  // Innermost last.
  int inner_functions = 0;         // Comprehensions around that Python makes functions of.
  // Arrays and lists from outside, by number of the capture: hidden parameters of this function, in
  // the order of their first use.
  std::vector<std::pair<int, Value>> captures;
  std::vector<ir::Param> capture_params;

  // Made when the first loop needs it.
  std::unique_ptr<LiveVariables> live;

  const Variable* NewControl(const std::string& name);

 private:
  std::deque<Variable> controls_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_FRAME_H_
