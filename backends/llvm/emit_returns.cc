// What a function hands back.
#include "backends/llvm/function_emitter.h"
#include "runtime/abi.h"

namespace parakeet::backends {
namespace {

using ir::Operand;
using llvm::Value;

// Numbers the fresh buffers of the results so far: equal bases have one number. Bases that are
// surely different or equal fold away.
class BufferNumbers {
 public:
  explicit BufferNumbers(llvm::IRBuilder<>& builder)
      : builder_(builder), next_(builder.getInt64(-1)) {}

  // abi.h's root of a result: the parameter's number, or -1 - j for buffer j.
  Value* RootOf(const ArrayValue& array) {
    Value* is_fresh = builder_.CreateICmpSLT(array.root, builder_.getInt64(0));
    Value* number = next_;
    Value* is_new = is_fresh;
    for (size_t i = bases_.size(); i-- > 0;) {
      Value* is_same = builder_.CreateICmpEQ(array.base, bases_[i]);
      number = builder_.CreateSelect(is_same, roots_[i], number);
      is_new = builder_.CreateAnd(is_new, builder_.CreateNot(is_same));
    }
    Value* root = builder_.CreateSelect(is_fresh, number, array.root);
    next_ = builder_.CreateSub(next_, builder_.CreateZExt(is_new, builder_.getInt64Ty()));
    bases_.push_back(array.base);
    roots_.push_back(root);
    return root;
  }

 private:
  llvm::IRBuilder<>& builder_;
  Value* next_;  // the root of the next new buffer
  std::vector<Value*> bases_;
  std::vector<Value*> roots_;
};

}  // namespace

// abi.h: integers are extended to 64 bits, floats lie in the low bits.
Value* FunctionEmitter::AsSlot(Value* value, ir::DType dtype) {
  llvm::Type* word = builder_.getInt64Ty();
  if (value->getType()->isFloatingPointTy()) {
    value =
        builder_.CreateBitCast(value, builder_.getIntNTy(value->getType()->getScalarSizeInBits()));
    return builder_.CreateZExt(value, word);
  }
  return ir::IsSigned(dtype) ? builder_.CreateSExt(value, word) : builder_.CreateZExt(value, word);
}

void FunctionEmitter::EmitArrayResult(const ArrayValue& array, Value* root, int64_t slot) {
  Parts parts = {root, array.base, array.data};
  parts.insert(parts.end(), array.sizes.begin(), array.sizes.end());
  parts.insert(parts.end(), array.strides.begin(), array.strides.end());
  for (Value* part : parts) builder_.CreateStore(part, SlotAddress(results_, slot++));
}

void FunctionEmitter::EmitEntryReturn() {
  BufferNumbers numbers(builder_);
  int64_t slot = 0;
  for (const Operand& result : source_.body->results) {
    const ir::Type type = TypeOf(result);
    if (type.IsArray()) {
      const ArrayValue array = ArrayOf(result);
      EmitArrayResult(array, numbers.RootOf(array), slot);
      slot += PkArrayResultSlots(type.rank());
      continue;
    }
    const Number number = NumberOf(result);
    builder_.CreateStore(AsSlot(number.value, type.dtype()), SlotAddress(results_, slot++));
    if (number.imag == nullptr) continue;
    builder_.CreateStore(AsSlot(number.imag, type.dtype()), SlotAddress(results_, slot++));
  }
  builder_.CreateRet(builder_.getInt32(0));
}

void FunctionEmitter::EmitCalleeReturn() {
  Parts parts = {builder_.getFalse()};
  for (const Operand& result : source_.body->results) {
    if (!TypeOf(result).IsArray()) {
      const Number number = NumberOf(result);
      parts.push_back(number.value);
      if (number.imag != nullptr) parts.push_back(number.imag);
      continue;
    }
    const ArrayValue array = ArrayOf(result);
    parts.insert(parts.end(), {array.data, array.base, array.root});
    parts.insert(parts.end(), array.strides.begin(), array.strides.end());
  }
  builder_.CreateAggregateRet(parts.data(), parts.size());
}

}  // namespace parakeet::backends
