#include "pylib/compiler/returned_views.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "ir/uses.h"

namespace parakeet::pylib {
namespace {

// What an array of a function is in Python.
struct Identity {
  enum class Kind {
    kParameter,  // a parameter itself
    kView,       // a view, made by the function or by one that it calls
    kUnknown,    // a new array, or what only the run knows
  };
  Kind kind = Kind::kUnknown;
  int parameter = -1;
};
using Kind = Identity::Kind;

const ir::Function* FunctionNamed(const ir::Program& program, const std::string& name) {
  for (const ir::Function* function : program.functions) {
    if (function->name == name) return function;
  }
  return nullptr;
}

// What calls that nest deeper than this return is not looked for: functions that call themselves
// have no end.
constexpr int kMaxDepth = 8;

class IdentityFinder {
 public:
  IdentityFinder(const ir::Program& program, const ir::Function& function, int depth)
      : program_(program),
        function_(function),
        depth_(depth),
        definitions_(ir::Definitions(*function.body)) {}

  Identity Find(const ir::Operand& array) const {
    if (!array.IsVar()) return {};
    for (size_t i = 0; i < function_.params.size(); ++i) {
      if (function_.params[i].var == array.var()) return {Kind::kParameter, static_cast<int>(i)};
    }
    const auto found = definitions_.find(array.var());
    if (found == definitions_.end()) return {};
    const ir::Binding& binding = *found->second;
    switch (binding.op) {
      case ir::OpCode::kSlice:
      case ir::OpCode::kTranspose:
      case ir::OpCode::kReshape: return {Kind::kView};
      case ir::OpCode::kAscribe: return Find(binding.operands[0]);
      case ir::OpCode::kCall: return OfCall(binding, PlaceOf(binding, array));
      case ir::OpCode::kIf: return OfBranches(binding, PlaceOf(binding, array));
      default: return {};
    }
  }

 private:
  static size_t PlaceOf(const ir::Binding& binding, const ir::Operand& result) {
    const auto found = std::find(binding.results.begin(), binding.results.end(), result.var());
    return found - binding.results.begin();
  }

  Identity OfCall(const ir::Binding& call, size_t place) const {
    const ir::Function* callee = FunctionNamed(program_, call.attrs.Text(ir::Attr::kCallee));
    if (callee == nullptr || depth_ == kMaxDepth) return {};
    const Identity inside =
        IdentityFinder(program_, *callee, depth_ + 1).Find(callee->body->results[place]);
    return inside.kind == Kind::kParameter ? Find(call.operands[inside.parameter]) : inside;
  }

  Identity OfBranches(const ir::Binding& branch, size_t place) const {
    const Identity then = Find(branch.blocks[0]->results[place]);
    const Identity otherwise = Find(branch.blocks[1]->results[place]);
    const bool agree = then.kind == otherwise.kind && then.parameter == otherwise.parameter;
    return agree ? then : Identity{};
  }

  const ir::Program& program_;
  const ir::Function& function_;
  const int depth_;
  const ir::DefinitionMap definitions_;
};

}  // namespace

bool IsViewInPython(const ir::Program& program, int result) {
  const ir::Function& entry = *program.functions.front();
  const IdentityFinder finder(program, entry, 0);
  return finder.Find(entry.body->results[result]).kind == Kind::kView;
}

}  // namespace parakeet::pylib
