#include "backends/llvm/optimize.h"

#include "backends/llvm/constant_extremes.h"
#include "backends/llvm/exit_values.h"
#include "backends/llvm/fresh_conversions.h"
#include "backends/llvm/late_selects.h"
#include "backends/llvm/mask_selects.h"
#include "backends/llvm/mask_widths.h"
#include "backends/llvm/near_insertions.h"
#include "backends/llvm/return_apart.h"
#include "backends/llvm/unsigned_bounds.h"
#include "backends/llvm/wide_masks.h"
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
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/CanonicalizeFreezeInLoops.h"
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

// Whether every address in the loop is one that the processor adds up by itself, of something that
// stays and the loop's only counter: there is nothing to reduce.
bool HasPlainAddresses(const llvm::Loop* loop) {
  const llvm::PHINode* counter = nullptr;
  for (const llvm::PHINode& phi : loop->getHeader()->phis()) {
    if (phi.getType()->isPointerTy()) return false;
    if (!phi.getType()->isIntegerTy()) continue;
    if (counter != nullptr) return false;
    counter = &phi;
  }
  if (counter == nullptr) return false;
  const llvm::DataLayout& layout = counter->getModule()->getDataLayout();
  const auto is_scaled = [&](const llvm::GetElementPtrInst& place, const llvm::Value* index) {
    const uint64_t bytes = layout.getTypeAllocSize(place.getSourceElementType());
    return place.getNumIndices() == 1 && place.getOperand(1) == index &&
           loop->isLoopInvariant(place.getPointerOperand()) &&
           (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  };
  return llvm::all_of(counter->users(), [&](const llvm::User* user) {
    const auto* each = llvm::cast<llvm::Instruction>(user);
    if (!loop->contains(each) || llvm::isa<llvm::ICmpInst>(each)) return true;
    if (const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(each))
      return is_scaled(*place, counter);
    return each->getOpcode() == llvm::Instruction::Add &&
           llvm::isa<llvm::Constant>(each->getOperand(1)) &&
           llvm::all_of(each->users(), [&](const llvm::User* other) {
             if (other == counter || llvm::isa<llvm::ICmpInst>(other) ||
                 !loop->contains(llvm::cast<llvm::Instruction>(other)))
               return true;
             const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(other);
             return place != nullptr && is_scaled(*place, each);
           });
  });
}

// LLVM reduces innermost loops alone.
bool WantsReduction(llvm::Function& function, llvm::FunctionAnalysisManager& functions) {
  const auto& loops = functions.getResult<llvm::LoopAnalysis>(function);
  return llvm::any_of(loops.getLoopsInPreorder(), [](const llvm::Loop* loop) {
    return loop->isInnermost() && !HasPlainAddresses(loop);
  });
}

// Of a loop without anything to reduce, as a search, it would make a counter for each value that is
// made of the counter behind the loop.
struct ReduceWhereItPays : llvm::PassInfoMixin<ReduceWhereItPays> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& loops,
                              llvm::LoopStandardAnalysisResults& results,
                              llvm::LPMUpdater& updater) {
    if (HasPlainAddresses(&loop)) return llvm::PreservedAnalyses::all();
    return llvm::LoopStrengthReducePass().run(loop, loops, results, updater);
  }
};

// What the code generator would do to every function (emit_object.cc), and takes a sixth of its
// time where there is nothing to do.
Passes StrengthReduction() {
  Passes passes;
  llvm::LoopPassManager loops;
  loops.addPass(llvm::CanonicalizeFreezeInLoopsPass());
  loops.addPass(ReduceWhereItPays());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  return passes;
}

llvm::PreservedAnalyses KeepsBlocks() {
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
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

// What masks are without mask registers: of so many bytes, each a lane. 0 elsewhere than on x86.
unsigned BytesOfRegister(const llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return 0;
  return machine.getSubtargetImpl(function)->checkFeatures("+avx2") ? 32 : 16;
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
  Passes reduction = StrengthReduction();
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasOptNone()) continue;
    const auto run = [&](Passes& passes) {
      functions.invalidate(function, passes.run(function, functions));
    };
    const bool is_gpu = machine.getTargetTriple().isNVPTX();
    run(first);
    if (machine.getOptLevel() == llvm::CodeGenOptLevel::None) {  // Short code is enough.
      InsertNear(function);
      continue;
    }
    if (!is_gpu && CountInstructions(function) <= kMostOnPaths && HasPaths(function, functions))
      run(paths);
    if (!is_gpu) JoinBounds(function, functions.getResult<llvm::LoopAnalysis>(function));
    ChooseUnrolling(function, functions, is_gpu);
    const size_t instructions = CountInstructions(function);
    run(unrolling);
    if (CountInstructions(function) != instructions) run(rest);
    if (!is_gpu && WantsReduction(function, functions)) {
      const auto hidden =
          HideExitValues(functions.getResult<llvm::LoopAnalysis>(function),
                         functions.getResult<llvm::DominatorTreeAnalysis>(function));
      functions.invalidate(function, KeepsBlocks());
      run(reduction);
      ShowExitValues(hidden);
    }
    DropExitNames(function);
    if (function.hasFnAttribute(kReturnsApart)) ReturnApart(function);
    if (!is_gpu) {
      const auto& loops = functions.getResult<llvm::LoopAnalysis>(function);
      JoinConstantsFirst(function, loops);
      SelectLast(function, loops);
    }
    if (!HasMasks(function, machine)) {
      const unsigned bytes = BytesOfRegister(function, machine);
      if (bytes != 0) {
        WidenMasks(function, bytes);
        PassMasksAsBytes(function, bytes);
      }
      continue;
    }
    SelectByMasks(function);
    ConvertFresh(functions.getResult<llvm::LoopAnalysis>(function));
  }
}

}  // namespace parakeet::backends
