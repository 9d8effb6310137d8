#include "backends/llvm/optimize.h"

#include "backends/llvm/mask_selects.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/AggressiveInstCombine/AggressiveInstCombine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace parakeet::backends {
namespace {

using Passes = llvm::FunctionPassManager;

// A short loop of unknown trips is written out as often as this.
constexpr int kCopies = 4;
constexpr int kFewInstructions = 48;
// What paths have in common is looked for in functions of up to so many.
constexpr size_t kMostOnPaths = 5000;

void AddLoopPass(Passes& passes, auto pass) {
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(pass), /*UseMemorySSA=*/true));
}

// For every function. What a test has read is read no more where it holds, once a branch on `and`
// is two branches; what is always true is found then.
Passes FirstPasses() {
  Passes passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::AggressiveInstCombinePass());
  AddLoopPass(passes, llvm::LoopRotatePass());
  AddLoopPass(passes, llvm::LICMPass(llvm::LICMOptions()));
  // What several branches of a loop computed alike stands before it now.
  passes.addPass(llvm::EarlyCSEPass());
  return passes;
}

// Of loops that go one way or another: what a branch has decided, no later one asks on its path,
// and what was stored or read on the paths to a place is not read there again: `if a[p] < 0: a[p] =
// k`, then a[p].
Passes PathPasses() {
  Passes passes;
  passes.addPass(llvm::JumpThreadingPass());
  passes.addPass(llvm::GVNPass());
  return passes;
}

// Whole loops of few constant trips.
Passes Unrolling() {
  Passes passes;
  const auto options = llvm::LoopUnrollOptions(3).setPartial(false).setRuntime(false);
  passes.addPass(llvm::LoopUnrollPass(options));
  return passes;
}

bool HasConstantTrips(const llvm::Loop* loop, llvm::ScalarEvolution& scev) {
  return scev.getSmallConstantTripCount(loop) != 0 || scev.isBackedgeTakenCountMaxOrZero(loop);
}

// Whether loops inside are there for good.
bool HoldsLoops(const llvm::Loop* loop, llvm::ScalarEvolution& scev) {
  return llvm::any_of(loop->getSubLoops(), [&](const llvm::Loop* inner) {
    return !HasConstantTrips(inner, scev) || HoldsLoops(inner, scev);
  });
}

bool IsScalar(const llvm::Loop* loop) {
  return llvm::none_of(loop->blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const auto& each) { return each.getType()->isVectorTy(); });
  });
}

// Whether some loop of scalars has branches: these passes take a twentieth of what it takes to
// compile one, and would do nothing for others.
bool HasPaths(llvm::Function& function, llvm::FunctionAnalysisManager& functions) {
  const auto& loops = functions.getResult<llvm::LoopAnalysis>(function);
  return llvm::any_of(loops.getLoopsInPreorder(), [](const llvm::Loop* loop) {
    return loop->isInnermost() && loop->getNumBlocks() > 1 && IsScalar(loop);
  });
}

// Whether counting and jumping are a good part of what each trip of a loop does.
bool IsShortScalar(const llvm::Loop* loop) {
  if (!loop->isInnermost() || loop->getExitingBlock() == nullptr ||
      loop->getExitingBlock() != loop->getLoopLatch())
    return false;
  int instructions = 0;
  for (const llvm::BasicBlock* block : loop->blocks()) {
    for (const llvm::Instruction& each : *block) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&each);
      const bool is_call = call != nullptr && !llvm::isa<llvm::IntrinsicInst>(call);
      if (each.getType()->isVectorTy() || is_call || each.isAtomic()) return false;
      ++instructions;
    }
  }
  return instructions <= kFewInstructions;
}

// LLVM unrolls loops of constant trips, takes first iterations out of innermost loops, and writes
// out some times what it is asked to. Of any other loop it would ask what every instruction costs,
// to find that it may do nothing. A GPU's threads are many: it wants their registers few.
void ChooseUnrolling(llvm::Function& function, llvm::FunctionAnalysisManager& functions,
                     bool is_gpu) {
  const auto loops = functions.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder();
  if (loops.empty()) return;
  auto& scev = functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : loops) {
    if (HasConstantTrips(loop, scev)) continue;
    if (HoldsLoops(loop, scev)) {
      loop->setLoopAlreadyUnrolled();
    } else if (!is_gpu && IsShortScalar(loop)) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", kCopies);
    }
  }
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

// Values that loop passes name anew where they leave a loop, which the code generator would copy.
void DropExitNames(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    for (llvm::PHINode& phi : llvm::make_early_inc_range(block.phis())) {
      if (phi.getNumIncomingValues() != 1) continue;
      phi.replaceAllUsesWith(phi.getIncomingValue(0));
      phi.eraseFromParent();
    }
  }
}

// Phi nodes left out, of which loop passes add some to a loop that stays as it is.
size_t CountInstructions(const llvm::Function& function) {
  size_t count = 0;
  for (const llvm::BasicBlock& block : function)
    count += block.size() - llvm::range_size(block.phis());
  return count;
}

bool HasMasks(const llvm::Function& function, const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().isX86() &&
         machine.getSubtargetImpl(function)->checkFeatures("+avx512vl");
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
  Passes paths = PathPasses();
  Passes unrolling = Unrolling();
  Passes rest = AfterUnrolling();
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasOptNone()) continue;
    const auto run = [&](Passes& passes) {
      functions.invalidate(function, passes.run(function, functions));
    };
    const bool is_gpu = machine.getTargetTriple().isNVPTX();
    run(first);
    if (!is_gpu && CountInstructions(function) <= kMostOnPaths && HasPaths(function, functions))
      run(paths);
    ChooseUnrolling(function, functions, is_gpu);
    const size_t instructions = CountInstructions(function);
    run(unrolling);
    if (CountInstructions(function) != instructions) run(rest);
    DropExitNames(function);
    if (HasMasks(function, machine)) SelectByMasks(function);
  }
}

}  // namespace parakeet::backends
