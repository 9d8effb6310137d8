// Cuts a module into pieces that threads compile side by side.
#ifndef PARAKEET_BACKENDS_LLVM_CUT_MODULE_H_
#define PARAKEET_BACKENDS_LLVM_CUT_MODULE_H_

#include <memory>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

namespace parakeet::backends {

// A module as bitcode, which another context reads.
using Piece = llvm::SmallVector<char, 0>;
Piece WritePiece(const llvm::Module& module);
// A piece as a module of `context`, which no other thread uses meanwhile.
std::unique_ptr<llvm::Module> ReadPiece(const Piece& piece, llvm::LLVMContext& context);

// The functions in groups, at most so many, that take about as long to compile each; in one where
// the code is too short to gain.
std::vector<std::vector<llvm::Function*>> Spread(std::vector<llvm::Function*> functions, int most);

// Takes functions out of `module` so that it and the pieces that are returned, fewer than `most`,
// take about as long to compile. None where the code is too short to gain. Functions that are
// called across a cut are hidden ones; constants are in each piece that reads them.
std::vector<Piece> CutModule(llvm::Module& module, int most);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_CUT_MODULE_H_
