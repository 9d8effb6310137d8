#include "backends/llvm/cut_module.h"

#include <algorithm>
#include <memory>

#include "ir/diagnostics.h"
#include "llvm/Bitcode/BitcodeReader.h"
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

std::vector<llvm::Function*> DefinitionsIn(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) functions.push_back(&function);
  }
  return functions;
}

// Each function goes where there is least so far. The first piece is the module itself: the others
// begin later.
std::vector<Bin> Fill(const std::vector<llvm::Function*>& functions, size_t bins) {
  std::vector<Bin> filled(bins);
  const auto time = [&](const Bin& bin) {
    return bin.instructions + (&bin == &filled.front() ? 0 : kLeastInstructions);
  };
  for (llvm::Function* function : functions) {
    Bin& bin = *std::min_element(filled.begin(), filled.end(),
                                 [&](const Bin& a, const Bin& b) { return time(a) < time(b); });
    bin.functions.push_back(function);
    bin.instructions += function->getInstructionCount();
  }
  return filled;
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

Piece WriteAlone(const llvm::Module& module, const std::vector<llvm::Function*>& functions) {
  llvm::ValueToValueMapTy values;
  const auto is_here = [&](const llvm::GlobalValue* value) {
    return !llvm::isa<llvm::Function>(value) ||
           std::find(functions.begin(), functions.end(), value) != functions.end();
  };
  const std::unique_ptr<llvm::Module> alone = llvm::CloneModule(module, values, is_here);
  DropUnused(*alone);
  return WritePiece(*alone);
}

}  // namespace

Piece WritePiece(const llvm::Module& module) {
  Piece bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return bytes;
}

std::unique_ptr<llvm::Module> ReadPiece(const Piece& piece, llvm::LLVMContext& context) {
  const llvm::MemoryBufferRef bytes(llvm::StringRef(piece.data(), piece.size()), "piece");
  auto module = llvm::parseBitcodeFile(bytes, context);
  if (!module) ir::FailBug("a piece of code: " + llvm::toString(module.takeError()));
  return std::move(*module);
}

std::vector<std::vector<llvm::Function*>> Spread(std::vector<llvm::Function*> functions, int most) {
  std::stable_sort(functions.begin(), functions.end(), [](auto* a, auto* b) {
    return a->getInstructionCount() > b->getInstructionCount();
  });
  for (size_t bins = std::min(functions.size(), size_t(most)); bins > 1; --bins) {
    const std::vector<Bin> filled = Fill(functions, bins);
    if (std::any_of(filled.begin(), filled.end(),
                    [](const Bin& bin) { return bin.instructions < kLeastInstructions; }))
      continue;
    std::vector<std::vector<llvm::Function*>> spread;
    for (const Bin& bin : filled) spread.push_back(bin.functions);
    return spread;
  }
  return {std::move(functions)};
}

std::vector<Piece> CutModule(llvm::Module& module, int most) {
  const auto parts = Spread(DefinitionsIn(module), most);
  if (parts.size() == 1) return {};
  for (llvm::Function& function : module) Hide(function);
  std::vector<Piece> pieces;
  for (size_t i = 1; i < parts.size(); ++i) pieces.push_back(WriteAlone(module, parts[i]));
  for (size_t i = 1; i < parts.size(); ++i) {
    for (llvm::Function* function : parts[i]) function->deleteBody();
  }
  DropUnused(module);
  return pieces;
}

}  // namespace parakeet::backends
