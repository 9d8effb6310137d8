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

const std::vector<std::string_view>& AllForms() {
  static const auto* const kForms = new std::vector<std::string_view>{
#define PARAKEET_FORM(name, what) name,
#include "passes/forms.def"
#undef PARAKEET_FORM
  };
  return *kForms;
}

const Pass* FindPass(std::string_view name) {
  for (const Pass& pass : AllPasses()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

bool IsOptional(const Pass& pass) {
  return pass.before == pass.after && pass.name != "write-one-by-one";
}

std::string_view Name(Topic topic) {
  switch (topic) {
    case Topic::kOther: return "other";
    case Topic::kFusion: return "fusion";
    case Topic::kSiblings: return "siblings";
    case Topic::kNests: return "nests";
    case Topic::kThreads: return "threads";
    case Topic::kLanes: return "lanes";
    case Topic::kContraction: return "contraction";
    case Topic::kMemory: return "memory";
    case Topic::kShapes: return "shapes";
  }
  return "";
}

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDone: return "done";
    case Verdict::kRefused: return "refused";
    case Verdict::kAside: return "aside";
  }
  return "";
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
