#include "backends/llvm/fresh_conversions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace parakeet::backends {
namespace {

constexpr int kRoundAsSet = 4;  // By the processor's mode.

bool Calls(const llvm::BasicBlock& block) {
  return llvm::any_of(block, [](const llvm::Instruction& each) {
    return llvm::isa<llvm::CallInst>(each) && !llvm::isa<llvm::IntrinsicInst>(each);
  });
}

bool IsOfSigned(const llvm::CastInst& cast) {
  return llvm::isa<llvm::SIToFPInst>(cast) ||
         (llvm::isa<llvm::UIToFPInst>(cast) && cast.hasNonNeg());
}

// From 64 bits, which other integers are widened to.
llvm::Intrinsic::ID InstructionFor(const llvm::CastInst& cast) {
  if (!llvm::isa<llvm::SIToFPInst>(cast) && !llvm::isa<llvm::UIToFPInst>(cast))
    return llvm::Intrinsic::not_intrinsic;
  llvm::Type *from = cast.getSrcTy(), *to = cast.getDestTy();
  if (!from->isIntegerTy() || from->getIntegerBitWidth() > 64)
    return llvm::Intrinsic::not_intrinsic;
  const bool is_signed = IsOfSigned(cast);
  if (to->isDoubleTy())
    return is_signed ? llvm::Intrinsic::x86_avx512_cvtsi2sd64
                     : llvm::Intrinsic::x86_avx512_cvtusi642sd;
  if (to->isFloatTy())
    return is_signed ? llvm::Intrinsic::x86_avx512_cvtsi2ss64
                     : llvm::Intrinsic::x86_avx512_cvtusi642ss;
  return llvm::Intrinsic::not_intrinsic;
}

void Replace(llvm::CastInst& cast, llvm::Intrinsic::ID instruction) {
  llvm::IRBuilder<> builder(&cast);
  llvm::Type* type = cast.getDestTy();
  llvm::Type* whole =
      llvm::FixedVectorType::get(type, 128 / type->getPrimitiveSizeInBits().getFixedValue());
  llvm::Value* number =
      builder.CreateIntCast(cast.getOperand(0), builder.getInt64Ty(), IsOfSigned(cast));
  llvm::Value* lanes = builder.CreateIntrinsic(
      instruction, {},
      {llvm::Constant::getNullValue(whole), number, builder.getInt32(kRoundAsSet)});
  cast.replaceAllUsesWith(builder.CreateExtractElement(lanes, uint64_t{0}));
  cast.eraseFromParent();
}

}  // namespace

void ConvertFresh(const llvm::LoopInfo& loops) {
  for (const llvm::Loop* loop : loops) {
    if (llvm::none_of(loop->blocks(), [](const auto* block) { return Calls(*block); })) continue;
    for (llvm::BasicBlock* block : loop->blocks()) {
      for (llvm::Instruction& each : llvm::make_early_inc_range(*block)) {
        auto* cast = llvm::dyn_cast<llvm::CastInst>(&each);
        if (cast == nullptr) continue;
        if (const llvm::Intrinsic::ID instruction = InstructionFor(*cast))
          Replace(*cast, instruction);
      }
    }
  }
}

}  // namespace parakeet::backends
