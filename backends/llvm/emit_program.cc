#include "backends/llvm/emit_program.h"

#include <set>

#include "backends/llvm/function_emitter.h"
#include "ir/diagnostics.h"
#include "ir/uses.h"

namespace parakeet::backends {
namespace {

using ir::OpCode;

// The names of functions that calls anywhere in the program go to.
std::set<std::string> CalledNames(const ir::Program& program) {
  std::set<std::string> names;
  for (const ir::Function* function : program.functions) {
    ir::ForEachBinding(*function->body, [&](const ir::Binding& binding) {
      if (binding.op == OpCode::kCall) names.insert(binding.attrs.Text(ir::Attr::kCallee));
    });
  }
  return names;
}

CalleeTable DeclareCallees(Emission& emission, const ir::Program& program) {
  CalleeTable callees;
  for (const std::string& name : CalledNames(program)) {
    const ir::Function* source = program.Find(name);
    if (source == nullptr) ir::FailBug("no function of the program is called " + name);
    auto* function = llvm::Function::Create(FunctionEmitter::CalleeType(emission, *source),
                                            llvm::GlobalValue::InternalLinkage, "callee." + name,
                                            &emission.module);
    function->setDoesNotThrow();
    callees[name] = function;
  }
  return callees;
}

llvm::Function* DeclareEntry(Emission& emission) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  auto* type =
      llvm::FunctionType::get(emission.builder.getInt32Ty(), {pointer, pointer, pointer}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntrySymbol,
                                       &emission.module);
  entry->setDoesNotThrow();
  for (unsigned i = 0; i < 3; ++i) entry->addParamAttr(i, llvm::Attribute::NoAlias);
  entry->addParamAttr(1, llvm::Attribute::ReadOnly);
  return entry;
}

}  // namespace

void EmitProgram(Emission& emission, const ir::Program& program) {
  if (program.functions.empty()) ir::FailBug("no code for a program without functions");
  const CalleeTable callees = DeclareCallees(emission, program);
  FunctionEmitter(emission, callees, *program.functions[0], DeclareEntry(emission), true).Emit();
  for (const auto& [name, function] : callees) {
    FunctionEmitter(emission, callees, *program.Find(name), function, false).Emit();
  }
}

}  // namespace parakeet::backends
