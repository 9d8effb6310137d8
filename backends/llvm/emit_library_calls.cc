// Calls of routines of other libraries, through the runtime.
#include "backends/llvm/function_emitter.h"
#include "backends/llvm/runtime_calls.h"
#include "ir/library_routines.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {

using llvm::Value;

namespace {

PkElement ElementOf(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kF32: return kPkF32;
    case ir::DType::kC64: return kPkC64;
    case ir::DType::kC128: return kPkC128;
    default: return kPkF64;
  }
}

}  // namespace

// The words are in memory of the frame.
Value* FunctionEmitter::StoreWords(llvm::ArrayRef<Value*> words) {
  Value* operands = OnStack(llvm::ArrayType::get(builder_.getInt64Ty(), words.size()));
  for (size_t i = 0; i < words.size(); ++i)
    builder_.CreateStore(words[i], SlotAddress(operands, static_cast<int64_t>(i)));
  return operands;
}

// A word for a scalar; address, sizes and strides for an array.
void FunctionEmitter::EmitDeviceRoutine(const ir::Binding& call) {
  if (!IsRemote()) {
    numbers_[call.result()] = {I64(1)};
    return;
  }
  Parts words;
  for (const ir::Operand& operand : call.operands) {
    if (!TypeOf(operand).IsArray()) {
      words.push_back(ValueOf(operand));
      continue;
    }
    const ArrayValue array = ArrayOf(operand);
    words.push_back(builder_.CreatePtrToInt(array.data, builder_.getInt64Ty()));
    words.insert(words.end(), array.sizes.begin(), array.sizes.end());
    words.insert(words.end(), array.strides.begin(), array.strides.end());
  }
  const PkElement element = ElementOf(ir::DTypeOf(ir::RoutineOf(call), call));
  Value* status = builder_.CreateCall(
      PkDeviceMatmul(emission_), {Local(call_), builder_.getInt32(element), StoreWords(words)});
  numbers_[call.result()] = {status};
}

// A word for a scalar; address and number of elements for an array.
void FunctionEmitter::EmitLibraryCall(const ir::Binding& call) {
  const ir::Routine& routine = ir::RoutineOf(call);
  if (routine.library == ir::RoutineLibrary::kDevice) return EmitDeviceRoutine(call);
  Parts words;
  for (const ir::Operand& operand : call.operands) {
    if (!TypeOf(operand).IsArray()) {
      words.push_back(ValueOf(operand));
      continue;
    }
    const ArrayValue array = ArrayOf(operand);
    Value* count = I64(1);
    for (Value* size : array.sizes) count = builder_.CreateMul(count, size);
    words.push_back(builder_.CreatePtrToInt(array.data, builder_.getInt64Ty()));
    words.push_back(count);
  }
  Value* operands = StoreWords(words);
  const std::string symbol = ir::SymbolOf(routine, ir::DTypeOf(routine, call));
  llvm::Function* address = emission_.Declare(symbol, builder_.getInt64Ty(), {});
  Value* signature = emission_.Text(ir::SignatureOf(routine));
  llvm::Function* call_library =
      IsRemote() ? PkDeviceLibraryCall(emission_) : PkLibraryCall(emission_);
  Value* status = builder_.CreateCall(call_library, {Local(call_), address, signature, operands});
  numbers_[call.result()] = {status};
}

}  // namespace parakeet::backends
