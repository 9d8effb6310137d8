#include "passes/pass.h"

namespace parakeet::passes {

using ir::Stage;

const std::vector<Pass>& AllPasses() {
  static const auto* const kPasses = new std::vector<Pass>{
#define PARAKEET_PASS(Function, name, before, after, doc) \
  {name, Function, Stage::before, Stage::after, doc},
#include "passes/passes.def"
  };
  return *kPasses;
}

const Pass* FindPass(std::string_view name) {
  for (const Pass& pass : AllPasses()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

std::string NameOf(const ir::Var* value) {
  if (!value->hint.empty()) return "%" + std::string(value->hint);
  return value->type.IsArray() ? "an array" : "a value";
}

ir::Program ForEachFunction(
    const ir::Program& program,
    const std::function<const ir::Function*(const ir::Function*)>& rewrite) {
  ir::Program result = program;
  for (const ir::Function*& function : result.functions) function = rewrite(function);
  return result;
}

}  // namespace parakeet::passes
