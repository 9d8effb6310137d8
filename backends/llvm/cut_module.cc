#include "backends/llvm/cut_module.h"

#include <algorithm>
#include <memory>

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace parakeet::backends {
namespace {

// Instructions that take as long to compile as a piece costs beside its code: it is written, read
// by another context and linked.
constexpr size_t kLeastInstructions = 250;

struct Bin {
  size_t instructions = 0;
  std::vector<llvm::Function*> functions;
};

std::vector<llvm::Function*> DefinitionsLongestFirst(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) functions.push_back(&function);
  }
  std::stable_sort(functions.begin(), functions.end(), [](auto* a, auto* b) {
    return a->getInstructionCount() > b->getInstructionCount();
  });
  return functions;
}

// Each function goes where there is least so far.
std::vector<Bin> Spread(const std::vector<llvm::Function*>& functions, size_t bins) {
  std::vector<Bin> spread(bins);
  for (llvm::Function* function : functions) {
    Bin& bin = *std::min_element(spread.begin(), spread.end(), [](const Bin& a, const Bin& b) {
      return a.instructions < b.instructions;
    });
    bin.functions.push_back(function);
    bin.instructions += function->getInstructionCount();
  }
  return spread;
}

// As many bins as are long enough each.
std::vector<Bin> ChooseBins(llvm::Module& module, int most) {
  const auto functions = DefinitionsLongestFirst(module);
  for (size_t bins = std::min(functions.size(), size_t(most)); bins > 1; --bins) {
    std::vector<Bin> spread = Spread(functions, bins);
    if (std::all_of(spread.begin(), spread.end(),
                    [](const Bin& bin) { return bin.instructions >= kLeastInstructions; })) {
      return spread;
    }
  }
  return {};
}

void Hide(llvm::Function& function) {
  if (!function.hasLocalLinkage()) return;
  function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  function.setVisibility(llvm::GlobalValue::HiddenVisibility);
}

// What only functions of other pieces name.
void DropUnused(llvm::Module& module) {
  // Again where something goes: tables of pointers name others.
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
      variable.removeDeadConstantUsers();
      if (!variable.use_empty() || !variable.hasLocalLinkage()) continue;
      variable.eraseFromParent();
      dropped = true;
    }
  }
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    function.removeDeadConstantUsers();
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  }
}

Piece WriteAlone(const llvm::Module& module, const Bin& bin) {
  llvm::ValueToValueMapTy values;
  const auto is_here = [&](const llvm::GlobalValue* value) {
    return !llvm::isa<llvm::Function>(value) ||
           std::find(bin.functions.begin(), bin.functions.end(), value) != bin.functions.end();
  };
  const std::unique_ptr<llvm::Module> alone = llvm::CloneModule(module, values, is_here);
  DropUnused(*alone);
  Piece bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(*alone, stream);
  return bytes;
}

}  // namespace

std::vector<Piece> CutModule(llvm::Module& module, int most) {
  const std::vector<Bin> bins = ChooseBins(module, most);
  if (bins.empty()) return {};
  for (llvm::Function& function : module) Hide(function);
  std::vector<Piece> pieces;
  for (size_t i = 1; i < bins.size(); ++i) pieces.push_back(WriteAlone(module, bins[i]));
  for (size_t i = 1; i < bins.size(); ++i) {
    for (llvm::Function* function : bins[i].functions) function->deleteBody();
  }
  DropUnused(module);
  return pieces;
}

}  // namespace parakeet::backends
