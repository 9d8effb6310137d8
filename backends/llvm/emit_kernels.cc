// Loops of kind "block" as launches of kernels, and what host code does about memory of a device.
//
// In a kernel, what stands in the `block for` but in no `thread for` is done by every thread of a
// block alike; a `thread for` is done by those threads whose numbers it takes, and behind it all
// wait. Behind a `warp for`, the same otherwise, each warp's threads wait for one another. Arrays
// made by the block are in memory that it shares, those of a thread are its own.
#include "backends/llvm/function_emitter.h"
#include "backends/llvm/kernel_runner.h"
#include "backends/llvm/runtime_calls.h"
#include "ir/diagnostics.h"
#include "ir/uses.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using llvm::BasicBlock;
using llvm::Value;

constexpr int64_t kSharedAlignment = 16;

bool IsThreads(const Binding& b) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == "thread";
}

// Threads of a block: as many as the widest of its loops takes.
int64_t ThreadsOf(const ir::Block& body) {
  int64_t threads = 1;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (IsThreads(b)) threads = std::max(threads, b.operands[1].constant().integer);
  });
  return threads;
}

// Whether none but a warp's threads take the loop.
bool IsOfWarp(const Binding& b) {
  return IsThreads(b) && b.operands[1].constant().integer <= kWarpThreads;
}

// Whether what the loop leaves behind is for the same warp's threads: it says so, or its threads
// are one warp, as are those of the next.
bool IsForWarp(const Binding& loop, const Binding* next) {
  return loop.attrs.Int(Attr::kWarp) != 0 || (IsOfWarp(loop) && next != nullptr && IsOfWarp(*next));
}

// True where a thread may run into a check, or ask for memory of its own: shared memory is there,
// and frames are.
bool MayFail(const ir::Block& body, const ir::VarSet& on_stack, bool in_thread) {
  bool may_fail = false;
  for (const Binding* b : body.bindings) {
    const bool asks = b->op == OpCode::kAlloc && in_thread && !on_stack.contains(b->result());
    may_fail |= b->op == OpCode::kCheck || asks;
    for (const ir::Block* inner : b->blocks)
      may_fail |= MayFail(*inner, on_stack, in_thread || IsThreads(*b));
  }
  return may_fail;
}

// True where every thread of the block alike reads an array.
bool LoadsByBlock(const ir::Block& body) {
  bool loads = false;
  for (const Binding* b : body.bindings) {
    loads |= b->op == OpCode::kLoad;
    if (IsThreads(*b)) continue;
    for (const ir::Block* inner : b->blocks) loads |= LoadsByBlock(*inner);
  }
  return loads;
}

bool WritesMemory(const ir::Block& body) {
  bool stores = false;
  ir::ForEachBinding(
      body, [&](const Binding& b) { stores |= b.op == OpCode::kStore || b.op == OpCode::kAtomic; });
  return stores;
}

// Blocks that wait for others look at what atomics have left.
bool HasAtomics(const ir::Block& body) {
  bool has = false;
  ir::ForEachBinding(body, [&](const Binding& b) { has |= b.op == OpCode::kAtomic; });
  return has;
}

// Where a launch before has failed, this one does nothing, and the next shall see that too. All
// threads find the same: no thread of this launch writes the record that is looked at.
void EndBehindFailure(Emission& emission, llvm::Function* kernel, BasicBlock* done) {
  llvm::IRBuilder<>& builder = emission.builder;
  const auto new_block = [&](const char* name) {
    return BasicBlock::Create(emission.context(), name, kernel);
  };
  const auto at = [&](Value* base, uint64_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  };
  const auto record = [&](uint64_t offset) {
    return builder.CreateLoad(builder.getPtrTy(), at(kernel->getArg(1), offset));
  };
  BasicBlock *look = new_block("look"), *stop = new_block("stop"), *begin = new_block("begin");
  constexpr uint64_t kState = offsetof(PkErrorRecord, state);
  Value* before = record(sizeof(void*));
  builder.CreateCondBr(builder.CreateIsNull(before), begin, look);
  builder.SetInsertPoint(look);
  Value* state = builder.CreateLoad(builder.getInt32Ty(), at(before, kState), /*isVolatile=*/true);
  builder.CreateCondBr(builder.CreateIsNull(state), begin, stop);
  builder.SetInsertPoint(stop);
  // The record may hold the error: every other launch has it.
  Value* own = at(record(0), kState);
  Value* held = builder.CreateLoad(builder.getInt32Ty(), own, /*isVolatile=*/true);
  builder.CreateStore(builder.CreateOr(held, kPkRecordStopped), own, /*isVolatile=*/true);
  builder.CreateBr(done);
  builder.SetInsertPoint(begin);
}

}  // namespace

void FunctionEmitter::EmitLaunch(const Binding& grid) {
  KernelRunner& runner = *emission_.kernels;
  const ir::Block& body = *grid.blocks[0];
  llvm::Type* pointer = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer}, false);
  auto* kernel = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                        source_.name + ".kernel", &emission_.module);
  kernel->addParamAttr(1, llvm::Attribute::NoAlias);
  kernel->addParamAttr(1, llvm::Attribute::ReadOnly);
  Value* blocks = TripCount(grid);
  const MathLibrary* const host_math = std::exchange(emission_.math, &runner.math());
  const bool host_is_x86 = std::exchange(emission_.is_x86, runner.IsHost());
  emission_.is_of_kernel = true;
  kernel_ = {ThreadsOf(body), &body, {}, false, false, {}};
  kernel_.traits.any_order = !HasAtomics(body);
  const CaptureMemory captures = WriteInside(kernel, [&] { WriteKernel(grid); });
  emission_.math = host_math;
  emission_.is_x86 = host_is_x86;
  emission_.is_of_kernel = false;
  KernelTraits traits = std::exchange(kernel_, {}).traits;
  traits.may_fail = MayFail(body, stack_arrays_, false);
  traits.threads = ThreadsOf(body);
  traits.group = launch_group_;
  traits.capture_bytes = captures.own_bytes;
  traits.captures_elsewhere = captures.are_elsewhere;
  llvm::Constant* described = runner.Describe(emission_, kernel, traits);
  Value* failed =
      builder_.CreateCall(PkDeviceLaunch(emission_),
                          {Local(call_), described, blocks, builder_.getInt32(traits.threads),
                           captures.memory, I64(captures.bytes)});
  ContinueUnless(builder_.CreateIsNotNull(failed));
}

int64_t FunctionEmitter::RuntimeBytes() const {
  if (!InKernel()) return 0;
  return kPkRuntimeBytes + (kernel_.traits.any_order ? sizeof(PkBlockOrder) : 0);
}

Value* FunctionEmitter::BlockNumber() {
  Value* number = emission_.kernels->BlockNumber(emission_, call_);
  if (!kernel_.traits.any_order) return number;
  llvm::Type* word = builder_.getInt32Ty();
  const auto of_order = [&](uint64_t offset) {
    Value* at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), function_->getArg(1),
                                                    kPkRuntimeBytes + offset);
    return builder_.CreateLoad(word, at);
  };
  Value* moved = builder_.CreateMul(of_order(offsetof(PkBlockOrder, step)),
                                    builder_.CreateTrunc(number, word));
  Value* block = builder_.CreateAdd(of_order(offsetof(PkBlockOrder, first)), moved);
  return builder_.CreateZExt(block, builder_.getInt64Ty());
}

void FunctionEmitter::WriteKernel(const Binding& grid) {
  const KernelRunner& runner = *emission_.kernels;
  call_ = runner.Context(emission_, function_);
  BasicBlock* done = NewBlock("done");
  failure_ = {done, nullptr};
  EndBehindFailure(emission_, function_, done);
  const ir::Block& body = *grid.blocks[0];
  numbers_[body.params[0]] = {BlockNumber(), nullptr};
  EmitBlock(body);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  builder_.CreateRetVoid();
}

// A thread that fails ends its iteration only: the others wait for it behind, unless a loop of the
// same warp's threads follows, and they for that. Nor does a thread
// store before all have read what they read alike.
void FunctionEmitter::EmitThreads(const Binding& loop) {
  const KernelRunner& runner = *emission_.kernels;
  const int64_t count = loop.operands[1].constant().integer;
  const bool only_warp = IsForWarp(loop, next_) && kernel_.threads % kWarpThreads == 0;
  BasicBlock *head = NewBlock("thread"), *after = NewBlock("threads_done");
  if (kernel_.has_loaded && WritesMemory(*loop.blocks[0])) WaitForBlock();
  Value* number = runner.ThreadNumber(emission_, call_);
  if (count < kernel_.threads) {
    builder_.CreateCondBr(builder_.CreateICmpSLT(number, I64(count)), head, after);
  } else {
    builder_.CreateBr(head);
  }
  builder_.SetInsertPoint(head);
  numbers_[loop.blocks[0]->params[0]] = {number, nullptr};
  const FailureTarget outer = failure_;
  failure_ = {after, nullptr};
  kernel_.in_thread = true;
  EmitBlock(*loop.blocks[0]);
  kernel_.in_thread = false;
  failure_ = outer;
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  if (&loop == kernel_.body->bindings.back()) return;
  only_warp ? WaitForWarp() : WaitForBlock();
}

void FunctionEmitter::WaitForWarp() {
  emission_.kernels->WarpBarrier(emission_, call_);
  kernel_.traits.has_barriers = true;
}

void FunctionEmitter::WaitForBlock() {
  emission_.kernels->Barrier(emission_, call_);
  kernel_.traits.has_barriers = true;
  kernel_.has_loaded = false;
}

void FunctionEmitter::EnterLoopOfBlock(const ir::Block& body) {
  if (InKernel() && !kernel_.in_thread) kernel_.has_loaded |= LoadsByBlock(body);
}

// A thread's own row, whatever the first index is: in registers, once LLVM has seen to it.
void FunctionEmitter::EmitPrivateAlloc(const Binding& alloc) {
  const ir::Type& type = alloc.result()->type;
  int64_t elements = 1;
  for (size_t axis = 1; axis < type.dims().size(); ++axis)
    elements *= type.dims()[axis].constant().integer;
  ArrayValue array;
  array.sizes = SizesOf(type);
  array.base = OnStack(llvm::ArrayType::get(MemoryType(emission_, type.dtype()),
                                            elements * (ir::IsComplex(type.dtype()) ? 2 : 1)));
  array.data = array.base;
  array.root = I64(-1);
  array.strides = ContiguousStrides(type, facts_.Of(alloc.result()).order, array.sizes);
  array.strides[0] = I64(0);
  kernel_.own.insert(alloc.result());
  const int64_t width = ir::SizeInBytes(type.dtype());
  kernel_.traits.own_bytes += elements * width;
  kernel_.traits.own_width = std::max(kernel_.traits.own_width, width);
  arrays_[alloc.result()] = std::move(array);
}

// What the thread has where a binding looks at what all lanes of its warp have.
Number FunctionEmitter::LoadOwn(const Binding& b) {
  const ir::Operand& array = b.operands[0];
  if (!kernel_.own.contains(array.var()) || kernel_.threads % kWarpThreads != 0)
    ir::FailBug("lanes exchange what is no thread's own, or are a part of a warp", b.span);
  const size_t rank = array.var()->type.rank();
  Value* address = AddressOf(array, llvm::ArrayRef(b.operands).slice(1, rank), false);
  return LoadNumber(emission_, TraitsOf(array), address);
}

void FunctionEmitter::EmitMatch(const Binding& match) {
  const ir::Operand& array = match.operands[0];
  const Number own = LoadOwn(match);
  const int bits = ir::IsBool(DTypeOf(array)) ? 1 : ir::SizeInBits(DTypeOf(array));
  Value* number = builder_.CreateZExt(own.value, builder_.getInt32Ty());
  numbers_[match.result()] = {emission_.kernels->Match(emission_, call_, number, bits), nullptr};
  kernel_.traits.has_barriers = kernel_.traits.matches = true;
}

void FunctionEmitter::EmitShuffle(const Binding& shuffle) {
  Number number = LoadOwn(shuffle);
  Value* lane = builder_.CreateTrunc(ValueOf(shuffle.operands.back()), builder_.getInt32Ty());
  const auto exchange = [&](Value* part) {
    const unsigned bits = part->getType()->getPrimitiveSizeInBits();
    Value* own = builder_.CreateBitCast(part, builder_.getIntNTy(bits));
    own = builder_.CreateZExt(own, builder_.getIntNTy(std::max(bits, 32u)));
    Value* other = emission_.kernels->Shuffle(emission_, call_, own, lane);
    return builder_.CreateBitCast(builder_.CreateTrunc(other, builder_.getIntNTy(bits)),
                                  part->getType());
  };
  number.value = exchange(number.value);
  if (number.imag != nullptr) number.imag = exchange(number.imag);
  numbers_[shuffle.result()] = number;
  kernel_.traits.has_barriers = kernel_.traits.shuffles = true;
}

void FunctionEmitter::EmitSharedAlloc(const Binding& alloc) {
  if (alloc.attrs.Int(Attr::kPrivate) != 0) return EmitPrivateAlloc(alloc);
  const ir::Type& type = alloc.result()->type;
  int64_t bytes = ir::SizeInBytes(type.dtype());
  for (const ir::Operand& size : type.dims()) {
    if (!size.IsConstant()) ir::FailBug("shared memory of no constant size", alloc.span);
    bytes *= size.constant().integer;
  }
  ArrayValue array;
  array.sizes = SizesOf(type);
  array.base = emission_.kernels->Shared(emission_, call_, kernel_.traits.shared_bytes);
  kernel_.traits.shared_bytes +=
      (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  array.data = array.base;
  array.root = I64(-1);
  array.strides = ContiguousStrides(type, facts_.Of(alloc.result()).order, array.sizes);
  arrays_[alloc.result()] = std::move(array);
}

llvm::Function* FunctionEmitter::AllocateFunction() {
  if (InKernel()) return emission_.kernels->Allocate(emission_);
  return IsRemote() ? PkDeviceAlloc(emission_) : PkAlloc(emission_);
}

llvm::Function* FunctionEmitter::FreeFunction() {
  if (InKernel()) return emission_.kernels->Free(emission_);
  return IsRemote() ? PkDeviceFree(emission_) : PkFree(emission_);
}

llvm::Function* FunctionEmitter::FailFunction() {
  return InKernel() ? emission_.kernels->Fail(emission_) : PkFail(emission_);
}

void FunctionEmitter::CheckAccess(const ir::Operand& array, Value* address, int access) {
  if (!InKernel() || kernel_.own.contains(array.var())) return;
  emission_.kernels->Check(emission_, call_, address, ir::SizeInBytes(DTypeOf(array)), access);
}

Number FunctionEmitter::ReadFromDevice(const ir::Operand& array, Value* address) {
  const int64_t bytes = ir::SizeInBytes(DTypeOf(array));
  Value* element = OnStack(llvm::ArrayType::get(builder_.getInt64Ty(), 2));
  ContinueUnless(builder_.CreateIsNotNull(
      builder_.CreateCall(PkDeviceRead(emission_), {Local(call_), element, address, I64(bytes)})));
  return LoadNumber(emission_, {DTypeOf(array), llvm::Align(8), {}}, element);
}

void FunctionEmitter::WriteToDevice(const ir::Operand& array, Value* address,
                                    const Number& number) {
  const int64_t bytes = ir::SizeInBytes(DTypeOf(array));
  Value* element = OnStack(llvm::ArrayType::get(builder_.getInt64Ty(), 2));
  StoreNumber(emission_, {DTypeOf(array), llvm::Align(8), {}}, element, number);
  ContinueUnless(builder_.CreateIsNotNull(
      builder_.CreateCall(PkDeviceWrite(emission_), {Local(call_), address, element, I64(bytes)})));
}

}  // namespace parakeet::backends
