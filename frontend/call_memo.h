#ifndef PARAKEET_FRONTEND_CALL_MEMO_H_
#define PARAKEET_FRONTEND_CALL_MEMO_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/array_roots.h"
#include "frontend/context.h"
#include "frontend/joins.h"
#include "frontend/value.h"
#include "ir/node.h"

// The functions of the program that stand for users' functions at certain argument types.
namespace parakeet::frontend {

// A user's function that is about to be called: what to build, and what tells it from others.
struct Callee {
  FunctionSyntaxPtr syntax;
  PyRef home;
  std::string identity;
  bool is_library = false;
  // What a closure brings along, as further arguments.
  std::vector<const Variable*> captured_variables;
  std::vector<bool> may_be_unbound;  // one a captured variable (Closure)
};

// The inputs of a call as the callee sees them, beside what the caller passes.
struct Inputs {
  std::string key;                  // Equal where one function of the program serves.
  Values values;                    // In terms of `params`.
  std::vector<ir::Param> params;    // The callee's.
  std::vector<ir::Operand> passed;  // The caller's operand for each.
};

// The inputs for the values of a caller: run-time scalars and arrays become parameters. Sizes that
// are one operand in the caller are one size in the callee; constant sizes stay. Constants of the
// inputs in `statics`, and Python bools, stay constants; for the library, in whose shapes and axes
// it is a word of its own, -1 too.
Inputs MakeInputs(Context& context, const Values& values, const std::set<int>& statics,
                  const std::vector<std::string>& names, bool is_for_library);

// One function of the program, complete or being built.
struct BuiltFunction {
  std::string name;
  std::vector<ir::Param> params;  // Without captures.
  Values inputs;
  // The parameters that hold captured arrays, by number of the capture, and their variables.
  std::vector<int> captures;
  std::vector<const ir::Var*> capture_vars;
  // What it returns, in terms of its parameters' sizes; kFree where it never returns.
  Pattern result;
  const ir::Function* function = nullptr;  // Null while it is being built.
  ArrayEffects effects;                    // Known with `function`.
  // While it is being built: whether `result` is known from an earlier round, and whether it has
  // been called again.
  bool is_open = true;
  bool result_is_known = false;
  bool was_called = false;
};

class CallMemo {
 public:
  // Null where there is none yet.
  BuiltFunction* Find(const std::string& key);
  BuiltFunction* Add(const std::string& key, const std::string& name);
  // The function of that name, or null.
  const BuiltFunction* Named(const std::string& name) const;
  // The effects of the function of that name; null while it is being built.
  const ArrayEffects* EffectsOf(const std::string& name) const;
  // Keeps a name from being given to a function.
  void Reserve(const std::string& name) { named_[name] = nullptr; }
  // How many functions there are; Truncate forgets those that were added later.
  size_t size() const { return order_.size(); }
  void Truncate(size_t size);

  // The inputs of a function that are known to have to be static. They only become more.
  std::set<int>& Statics(const std::string& identity) { return statics_[identity]; }

 private:
  std::string UniqueName(const std::string& name);

  std::unordered_map<std::string, std::unique_ptr<BuiltFunction>> functions_;
  std::vector<std::string> order_;
  std::map<std::string, std::set<int>> statics_;
  // By name; null for those that are reserved.
  std::unordered_map<std::string, const BuiltFunction*> named_;
  // For each name as Python has it, the first number behind it that may be free: a program of many
  // calls has hundreds of functions of one name.
  std::unordered_map<std::string, int> next_number_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_CALL_MEMO_H_
