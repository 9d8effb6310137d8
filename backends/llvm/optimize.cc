#include "backends/llvm/optimize.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace parakeet::backends {
namespace {

using Passes = llvm::FunctionPassManager;

void AddLoopPass(Passes& passes, auto pass) {
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(pass), /*UseMemorySSA=*/true));
}

// For every function.
Passes FirstPasses() {
  Passes passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  AddLoopPass(passes, llvm::LoopRotatePass());
  AddLoopPass(passes, llvm::LICMPass(llvm::LICMOptions()));
  return passes;
}

// Whole loops of few constant trips.
Passes Unrolling() {
  Passes passes;
  const auto options = llvm::LoopUnrollOptions(3).setPartial(false).setRuntime(false);
  passes.addPass(llvm::LoopUnrollPass(options));
  return passes;
}

// Whether a loop has constant trips: only then is it worth while to ask what each would cost.
bool HasConstantTrips(llvm::Function& function, llvm::FunctionAnalysisManager& functions) {
  const auto loops = functions.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder();
  if (loops.empty()) return false;
  auto& scev = functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
  return llvm::any_of(
      loops, [&](const llvm::Loop* loop) { return scev.getSmallConstantTripCount(loop) != 0; });
}

// What an unrolled body gains from: its indexes are constants, and what it loads may not depend on
// the loop around it.
Passes AfterUnrolling() {
  Passes passes;
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  AddLoopPass(passes, llvm::LICMPass(llvm::LICMOptions()));
  return passes;
}

}  // namespace

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgsccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgsccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgsccs, modules);
  Passes first = FirstPasses();
  Passes unrolling = Unrolling();
  Passes rest = AfterUnrolling();
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasOptNone()) continue;
    const auto run = [&](Passes& passes) {
      const llvm::PreservedAnalyses preserved = passes.run(function, functions);
      functions.invalidate(function, preserved);
      return !preserved.areAllPreserved();
    };
    run(first);
    if (HasConstantTrips(function, functions) && run(unrolling)) run(rest);
  }
}

}  // namespace parakeet::backends
