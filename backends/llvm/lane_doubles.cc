#include "backends/llvm/lane_doubles.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Value;

// 1.5 * 2 ** 52: in the bits of the sum with a smaller whole number, that number stands below.
constexpr double kShift = 6755399441055744.0;

llvm::Type* Doubles(llvm::IRBuilder<>& builder, llvm::Type* like) {
  return WithElement(like, builder.getDoubleTy());
}

llvm::Constant* Shift(llvm::Type* doubles) { return llvm::ConstantFP::get(doubles, kShift); }

llvm::Constant* ShiftBits(llvm::Type* doubles, llvm::Type* words) {
  return llvm::ConstantExpr::getBitCast(Shift(doubles), words);
}

}  // namespace

Value* BitsBeyondExact(llvm::IRBuilder<>& builder, Value* words, bool is_signed) {
  const auto word = [&](uint64_t value) { return llvm::ConstantInt::get(words->getType(), value); };
  if (!is_signed) return builder.CreateLShr(words, word(kExactBits));
  Value* moved = builder.CreateAdd(words, word(uint64_t{1} << kExactBits));
  return builder.CreateLShr(moved, word(kExactBits + 1));
}

Value* AreBelowExact(llvm::IRBuilder<>& builder, Value* doubles) {
  Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, doubles);
  Value* limit = llvm::ConstantFP::get(doubles->getType(), double(uint64_t{1} << kExactBits));
  return builder.CreateAndReduce(builder.CreateFCmpOLT(size, limit));
}

Value* WordsToDoubles(llvm::IRBuilder<>& builder, Value* words) {
  llvm::Type* doubles = Doubles(builder, words->getType());
  Value* bits = builder.CreateAdd(words, ShiftBits(doubles, words->getType()));
  return builder.CreateFSub(builder.CreateBitCast(bits, doubles), Shift(doubles));
}

Value* DoublesToWords(llvm::IRBuilder<>& builder, Value* doubles) {
  llvm::Type* words = WithElement(doubles->getType(), builder.getInt64Ty());
  Value* sum = builder.CreateFAdd(doubles, Shift(doubles->getType()));
  return builder.CreateSub(builder.CreateBitCast(sum, words), ShiftBits(doubles->getType(), words));
}

Value* ChooseWay(Emission& emission, Value* condition, llvm::function_ref<Value*()> quick,
                 llvm::function_ref<Value*()> slow) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  BasicBlock* ways[] = {BasicBlock::Create(builder.getContext(), "quick", function),
                        BasicBlock::Create(builder.getContext(), "slow", function)};
  BasicBlock* done = BasicBlock::Create(builder.getContext(), "done", function);
  builder.CreateCondBr(condition, ways[0], ways[1]);
  Value* values[2];
  for (int way = 0; way < 2; ++way) {
    builder.SetInsertPoint(ways[way]);
    values[way] = way == 0 ? quick() : slow();
    builder.CreateBr(done);
    ways[way] = builder.GetInsertBlock();
  }
  builder.SetInsertPoint(done);
  llvm::PHINode* result = builder.CreatePHI(values[0]->getType(), 2);
  for (int way = 0; way < 2; ++way) result->addIncoming(values[way], ways[way]);
  return result;
}

}  // namespace parakeet::backends
