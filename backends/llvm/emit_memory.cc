// Arrays: allocation, elements, views.
#include "backends/llvm/function_emitter.h"
#include "backends/llvm/runtime_calls.h"
#include "backends/llvm/stack_arrays.h"
#include "ir/atomics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

using ir::Attr;
using ir::Operand;
using llvm::Value;

// The product of two numbers that are not negative, with `overflows` or'ed to whether it does not
// fit i64.
Value* CheckedProduct(llvm::IRBuilder<>& builder, Value* a, Value* b, Value*& overflows) {
  auto* x = llvm::dyn_cast<llvm::ConstantInt>(a);
  auto* y = llvm::dyn_cast<llvm::ConstantInt>(b);
  int64_t product;
  if (x && y && !__builtin_mul_overflow(x->getSExtValue(), y->getSExtValue(), &product)) {
    return builder.getInt64(product);
  }
  Value* both = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, a, b);
  Value* overflow = builder.CreateExtractValue(both, 1);
  overflows = overflows == nullptr ? overflow : builder.CreateOr(overflows, overflow);
  return builder.CreateExtractValue(both, 0);
}

llvm::AtomicRMWInst::BinOp AtomicOperation(ir::OpCode combine, bool is_signed) {
  using Atomic = llvm::AtomicRMWInst;
  switch (combine) {
    case ir::OpCode::kMin: return is_signed ? Atomic::Min : Atomic::UMin;
    case ir::OpCode::kMax: return is_signed ? Atomic::Max : Atomic::UMax;
    case ir::OpCode::kAnd: return Atomic::And;
    case ir::OpCode::kOr: return Atomic::Or;
    case ir::OpCode::kXor: return Atomic::Xor;
    default: return Atomic::Add;
  }
}

}  // namespace

// Memory of a device is no frame's.
bool FunctionEmitter::IsOnStack(const ir::Var* array) const {
  return stack_arrays_.contains(array) && !IsRemote();
}

// A size that does not fit asks for -1 bytes, which the runtime refuses.
void FunctionEmitter::EmitAlloc(const ir::Binding& alloc) {
  if (InKernel() && !kernel_.in_thread) return EmitSharedAlloc(alloc);
  const ir::Type& type = alloc.result()->type;
  ArrayValue array;
  array.sizes = SizesOf(type);
  Value* overflows = nullptr;
  Value* bytes = I64(ir::SizeInBytes(type.dtype()));
  for (Value* size : array.sizes) bytes = CheckedProduct(builder_, bytes, size, overflows);
  if (IsOnStack(alloc.result())) {
    const int64_t size = llvm::cast<llvm::ConstantInt>(bytes)->getSExtValue();
    llvm::AllocaInst* memory = OnStack(llvm::ArrayType::get(builder_.getInt8Ty(), size));
    memory->setAlignment(llvm::Align(InKernel() ? kThreadAlignment : kStackAlignment));
    array.base = memory;
    if (InKernel()) kernel_.own.insert(alloc.result());
  } else {
    if (overflows != nullptr) bytes = builder_.CreateSelect(overflows, I64(-1), bytes);
    array.base = builder_.CreateCall(AllocateFunction(), {Local(call_), bytes});
    ContinueUnless(builder_.CreateIsNull(array.base));
  }
  array.data = array.base;
  array.root = I64(-1);
  array.strides = ContiguousStrides(type, facts_.Of(alloc.result()).order, array.sizes);
  arrays_[alloc.result()] = std::move(array);
}

// An argument's base is null, which the runtime allows.
void FunctionEmitter::EmitFree(const ir::Binding& free) {
  if (InKernel() && !kernel_.in_thread) return;  // Shared memory ends with the block.
  if (IsOnStack(free.operands[0].var())) return;
  Value* base = ArrayOf(free.operands[0]).base;
  Value* none = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  Value* freed = base;
  for (size_t i = 1; i < free.operands.size(); ++i) {
    Value* goes_on = builder_.CreateICmpEQ(base, ArrayOf(free.operands[i]).base);
    freed = builder_.CreateSelect(goes_on, none, freed);
  }
  builder_.CreateCall(FreeFunction(), {Local(call_), freed});
}

void FunctionEmitter::EmitMark(const ir::Binding& mark) {
  Value* region = builder_.getInt32(uint32_t(mark.attrs.Int(Attr::kRegion)));
  builder_.CreateCall(PkMark(emission_),
                      {Local(call_), region, ValueOf(mark.operands[0]), ValueOf(mark.operands[1])});
}

MemoryTraits FunctionEmitter::TraitsOf(const Operand& array) {
  const ArrayFacts& facts = facts_.Of(array.var());
  const ir::DType dtype = DTypeOf(array);
  const int parts = ir::IsComplex(dtype) ? 2 : 1;
  const llvm::Align alignment(facts.aligned ? ir::SizeInBytes(dtype) / parts : 1);
  return {dtype, alignment, scopes_.Of(facts)};
}

Value* FunctionEmitter::AddressOf(const Operand& array, llvm::ArrayRef<Operand> index,
                                  bool inside) {
  const ArrayValue value = ArrayOf(array);
  Value* address = value.data;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    address = Advance(emission_, address, ValueOf(index[axis]), value.strides[axis], DTypeOf(array),
                      inside);
  }
  return address;
}

void FunctionEmitter::EmitAligned(const ir::Binding& aligned) {
  constexpr int64_t kBytes = 16;
  Value* address =
      builder_.CreatePtrToInt(ArrayOf(aligned.operands[0]).data, builder_.getInt64Ty());
  Value* beyond = builder_.CreateAnd(address, I64(kBytes - 1));
  numbers_[aligned.result()] = {builder_.CreateIsNull(beyond), nullptr};
}

void FunctionEmitter::EmitLoad(const ir::Binding& load) {
  const Operand& array = load.operands[0];
  Value* address = AddressOf(array, llvm::ArrayRef<Operand>(load.operands).drop_front(), true);
  CheckAccess(array, address, kPkAccessLoad);
  kernel_.has_loaded |= InKernel() && !kernel_.in_thread;
  MemoryTraits traits = TraitsOf(array);
  traits.unchanged = load.attrs.Int(Attr::kUnchanged) != 0 && !emission_.is_x86;
  numbers_[load.result()] =
      IsRemote() ? ReadFromDevice(array, address) : LoadNumber(emission_, traits, address);
}

// Host code of a call on a device has no other thread beside it.
void FunctionEmitter::EmitAtomic(const ir::Binding& atomic) {
  const Operand& array = atomic.operands[0];
  const ir::DType dtype = DTypeOf(array);
  const llvm::ArrayRef<Operand> operands(atomic.operands);
  Value* address = AddressOf(array, operands.drop_front().drop_back(), true);
  Value* value = ValueOf(operands.back());
  const auto op = AtomicOperation(*ir::AtomicCombine(atomic), ir::IsSigned(dtype));
  if (IsRemote()) {
    const Number old = ReadFromDevice(array, address);
    numbers_[atomic.result()] = old;
    return WriteToDevice(array, address,
                         {llvm::buildAtomicRMWValue(op, builder_, old.value, value), nullptr});
  }
  CheckAccess(array, address, kPkAccessAtomic);
  const bool is_ordered = atomic.attrs.Int(ir::Attr::kOrdered) != 0;
  const auto fence = [&] {
    if (!is_ordered) return;
    if (InKernel()) return emission_.kernels->Fence(emission_);
    builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  };
  // What adds 0 says nothing to others: it asks, and the others' words need not stand still.
  if (*ir::AtomicCombine(atomic) == ir::OpCode::kAdd && operands.back().IsInt(0)) {
    EmitAtomicLoad(atomic, address);
    return fence();
  }
  fence();
  Value* old = builder_.CreateAtomicRMW(op, address, value, llvm::Align(ir::SizeInBytes(dtype)),
                                        llvm::AtomicOrdering::Monotonic);
  fence();
  numbers_[atomic.result()] = {old, nullptr};
}

void FunctionEmitter::EmitAtomicLoad(const ir::Binding& atomic, Value* address) {
  const ir::DType dtype = atomic.result()->type.dtype();
  llvm::LoadInst* load = builder_.CreateAlignedLoad(MemoryType(emission_, dtype), address,
                                                    llvm::Align(ir::SizeInBytes(dtype)));
  load->setAtomic(llvm::AtomicOrdering::Monotonic);
  numbers_[atomic.result()] = {load, nullptr};
}

// To be read, into the first cache.
void FunctionEmitter::EmitPrefetch(const ir::Binding& prefetch) {
  constexpr int kRead = 0, kKeep = 3, kData = 1;
  const llvm::ArrayRef<Operand> operands(prefetch.operands);
  Value* address = AddressOf(operands.front(), operands.drop_front(), false);
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
      {address, builder_.getInt32(kRead), builder_.getInt32(kKeep), builder_.getInt32(kData)});
}

// Other processors than x86 order what goes past their caches as all else.
void FunctionEmitter::EmitDrain() {
  if (emission_.is_x86) builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

void FunctionEmitter::EmitStore(const ir::Binding& store) {
  const Operand& array = store.operands[0];
  const llvm::ArrayRef<Operand> operands(store.operands);
  Value* address = AddressOf(array, operands.drop_front().drop_back(), true);
  const Number number = NumberOf(operands.back());
  if (IsRemote()) return WriteToDevice(array, address, number);
  CheckAccess(array, address, kPkAccessStore);
  StoreNumber(emission_, TraitsOf(array), address, number);
}

// data = root's at the offsets; a stride is the sum of the root's, times its coefficients.
void FunctionEmitter::EmitView(const ir::Binding& view) {
  const ir::Type& type = view.result()->type;
  const ir::DType dtype = type.dtype();
  ArrayValue array = ArrayOf(view.operands[0]);
  std::vector<Value*> steps = array.strides;
  if (view.attrs.Int(Attr::kFlat)) steps = {I64(ir::SizeInBytes(dtype))};
  const size_t root_rank = steps.size();
  for (size_t k = 0; k < root_rank; ++k) {
    array.data = Advance(emission_, array.data, ValueOf(view.operands[1 + k]), steps[k], dtype,
                         /*inside=*/false);
  }
  array.sizes = SizesOf(type);
  array.strides.assign(type.rank(), I64(0));
  for (size_t k = 0; k < root_rank; ++k) {
    for (int j = 0; j < type.rank(); ++j) {
      const Operand& coefficient = view.operands[1 + root_rank + k * type.rank() + j];
      if (coefficient.IsInt(0)) continue;
      Value* part = builder_.CreateMul(ValueOf(coefficient), steps[k]);
      array.strides[j] = builder_.CreateAdd(array.strides[j], part);
    }
  }
  arrays_[view.result()] = std::move(array);
}

}  // namespace parakeet::backends
