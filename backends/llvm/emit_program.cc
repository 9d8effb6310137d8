#include "backends/llvm/emit_program.h"

#include <algorithm>
#include <map>
#include <set>

#include "backends/llvm/ask_for_room.h"
#include "backends/llvm/function_emitter.h"
#include "ir/diagnostics.h"
#include "ir/uses.h"

namespace parakeet::backends {
namespace {

using ir::OpCode;

// What stands in a function: the names of those it calls, and whether it checks anything.
struct Contents {
  std::set<std::string> called;
  bool has_checks = false;
};

Contents ContentsOf(const ir::Function& function) {
  Contents contents;
  ir::ForEachBinding(*function.body, [&](const ir::Binding& binding) {
    if (binding.op == OpCode::kCheck) contents.has_checks = true;
    if (binding.op == OpCode::kCall) {
      contents.called.insert(binding.attrs.Text(ir::Attr::kCallee));
    }
  });
  return contents;
}

// By name, all functions from which a check can be reached.
std::set<std::string> FindCheckers(const std::map<std::string, Contents>& functions) {
  std::set<std::string> checkers;
  const auto checks = [&](const Contents& contents) {
    const auto is_checker = [&](const std::string& name) { return checkers.contains(name); };
    return contents.has_checks || std::ranges::any_of(contents.called, is_checker);
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto& [name, contents] : functions) {
      if (checks(contents)) has_changed |= checkers.insert(name).second;
    }
  }
  return checkers;
}

CalleeTable DeclareCallees(Emission& emission, const ir::Program& program) {
  std::map<std::string, Contents> functions;
  std::set<std::string> called;
  for (const ir::Function* function : program.functions) {
    Contents& contents = functions[function->name] = ContentsOf(*function);
    called.insert(contents.called.begin(), contents.called.end());
  }
  const std::set<std::string> checkers = FindCheckers(functions);
  CalleeTable callees;
  for (const std::string& name : called) {
    const ir::Function* source = program.Find(name);
    if (source == nullptr) ir::FailBug("no function of the program is called " + name);
    const bool takes_place = checkers.contains(name);
    auto* type = FunctionEmitter::CalleeType(emission, *source, takes_place);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                            "callee." + name, &emission.module);
    function->setDoesNotThrow();
    callees[name] = {function, takes_place, !BlocksThatCall(*source, emission.apart_above).empty()};
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
  FunctionEmitter(emission, callees, *program.functions[0], DeclareEntry(emission)).Emit();
  for (const auto& [name, callee] : callees) {
    FunctionEmitter(emission, callees, *program.Find(name), callee).Emit();
  }
}

}  // namespace parakeet::backends
