// Parameters, values and the frame of a function.
#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/function_emitter.h"
#include "backends/llvm/stack_arrays.h"
#include "ir/diagnostics.h"

namespace parakeet::backends {
namespace {

using ir::Operand;
using ir::Var;
using llvm::Value;

// Whether strides follow from the sizes.
bool IsContiguous(MemoryOrder order) {
  return order == MemoryOrder::kC || order == MemoryOrder::kFortran;
}

}  // namespace

FunctionEmitter::FunctionEmitter(Emission& emission, const CalleeTable& callees,
                                 const ir::Function& source, llvm::Function* entry)
    : FunctionEmitter(emission, callees, source, entry, nullptr) {}

FunctionEmitter::FunctionEmitter(Emission& emission, const CalleeTable& callees,
                                 const ir::Function& source, const Callee& callee)
    : FunctionEmitter(emission, callees, source, callee.function, &callee) {}

FunctionEmitter::FunctionEmitter(Emission& emission, const CalleeTable& callees,
                                 const ir::Function& source, llvm::Function* function,
                                 const Callee* self)
    : emission_(emission),
      builder_(emission.builder),
      callees_(callees),
      source_(source),
      self_(self),
      facts_(source, self == nullptr),
      stack_arrays_(FindStackArrays(source)),
      scopes_(emission.context(), facts_.root_count()),
      apart_(ChooseApart(source, {emission.apart_above, emission.cold_above, self == nullptr,
                                  emission.parallel != nullptr})),
      shared_(emission.may_share ? ShareParts(&arena_, apart_.leaves) : SharedParts()),
      function_(function) {}

void FunctionEmitter::Emit() {
  builder_.SetInsertPoint(NewBlock("entry"));
  failure_ = {NewBlock("failed"), nullptr};
  const bool is_entry = self_ == nullptr;
  is_entry ? EmitEntryParams() : EmitCalleeParams();
  EmitBlock(*source_.body);
  is_entry ? EmitEntryReturn() : EmitCalleeReturn();
  EmitFailureExit();
  if (apart_.rest_is_cold) LeaveAsWritten(*function_);
}

void FunctionEmitter::EmitEntryParams() {
  call_ = function_->getArg(0);
  Value* arguments = function_->getArg(1);
  results_ = function_->getArg(2);
  int64_t slot = 0;
  int64_t array_number = 0;
  const auto load = [&](llvm::Type* type) {
    return builder_.CreateLoad(type, SlotAddress(arguments, slot++));
  };
  for (const ir::Param& param : source_.params) {
    const ir::Type& type = param.var->type;
    if (type.IsArray()) {
      ArrayValue array = {load(builder_.getPtrTy()), nullptr, I64(array_number++), {}, {}};
      array.base = llvm::ConstantPointerNull::get(builder_.getPtrTy());
      for (int axis = 0; axis < type.rank(); ++axis) {
        array.sizes.push_back(load(builder_.getInt64Ty()));
        SayNotNegative(*llvm::cast<llvm::LoadInst>(array.sizes.back()));
      }
      for (int axis = 0; axis < type.rank(); ++axis) {
        array.strides.push_back(load(builder_.getInt64Ty()));
      }
      EmitParamArray(param, std::move(array));
      continue;
    }
    Number number = {load(MemoryType(emission_, type.dtype())), nullptr};
    if (ir::IsBool(type.dtype())) number.value = builder_.CreateIsNotNull(number.value);
    if (ir::IsComplex(type.dtype())) number.imag = load(MemoryType(emission_, type.dtype()));
    numbers_[param.var] = number;
  }
}

void FunctionEmitter::EmitCalleeParams() {
  unsigned next = 0;
  const auto take = [&] { return static_cast<Value*>(function_->getArg(next++)); };
  stack_ = take();
  room_ = take();
  if (self_->takes_place) caller_place_ = take();
  EmitEnter();
  for (const ir::Param& param : source_.params) {
    const ir::Type& type = param.var->type;
    if (!type.IsArray()) {
      Number& number = numbers_[param.var];
      number.value = take();
      if (ir::IsComplex(type.dtype())) number.imag = take();
      continue;
    }
    ArrayValue array;
    array.data = take();
    array.base = take();
    array.root = take();
    for (int axis = 0; axis < type.rank(); ++axis) array.sizes.push_back(take());
    for (int axis = 0; axis < type.rank(); ++axis) array.strides.push_back(take());
    EmitParamArray(param, std::move(array));
  }
}

// Binds the sizes that the parameter's type names first. Strides that the layout promises are
// computed, so that LLVM knows them.
void FunctionEmitter::EmitParamArray(const ir::Param& param, ArrayValue array) {
  const ir::Type& type = param.var->type;
  for (int axis = 0; axis < type.rank(); ++axis) {
    const Operand& size = type.dims()[axis];
    if (size.IsVar()) numbers_.emplace(size.var(), Number{array.sizes[axis], nullptr});
  }
  array.sizes = SizesOf(type);
  const MemoryOrder order = facts_.Of(param.var).order;
  if (IsContiguous(order)) array.strides = ContiguousStrides(type, order, array.sizes);
  arrays_[param.var] = std::move(array);
}

void FunctionEmitter::EmitFailureExit() {
  if (failure_.block->use_empty()) {
    failure_.block->eraseFromParent();
    return;
  }
  builder_.SetInsertPoint(failure_.block);
  self_ == nullptr ? void(builder_.CreateRet(builder_.getInt32(1))) : ReturnFailed();
}

Value* FunctionEmitter::Local(Value* value) {
  if (captures_ == nullptr || value == nullptr || llvm::isa<llvm::Constant>(value)) return value;
  const llvm::Function* owner = nullptr;
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(value)) owner = argument->getParent();
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(value)) {
    owner = instruction->getFunction();
  }
  return owner == function_ ? value : captures_->Take(value);
}

Number FunctionEmitter::NumberOf(const Operand& operand) {
  if (operand.IsConstant()) return EmitConstant(emission_, operand.constant());
  const auto found = numbers_.find(operand.var());
  if (found == numbers_.end()) {
    ir::FailBug("no code for a value read before its definition: " +
                std::string(operand.var()->hint));
  }
  return {Local(found->second.value), Local(found->second.imag)};
}

ArrayValue FunctionEmitter::ArrayOf(const Operand& operand) {
  const auto found = arrays_.find(operand.var());
  if (found == arrays_.end()) ir::FailBug("no code for an array read before its definition");
  ArrayValue array = found->second;
  if (captures_ == nullptr) return array;
  array.data = Local(array.data);
  array.base = Local(array.base);
  array.root = Local(array.root);
  for (Value*& size : array.sizes) size = Local(size);
  for (Value*& stride : array.strides) stride = Local(stride);
  return array;
}

std::vector<Value*> FunctionEmitter::SizesOf(const ir::Type& type) {
  std::vector<Value*> sizes;
  for (const Operand& size : type.dims()) sizes.push_back(ValueOf(size));
  return sizes;
}

std::vector<Value*> FunctionEmitter::ContiguousStrides(const ir::Type& type, MemoryOrder order,
                                                       const std::vector<Value*>& sizes) {
  const int rank = type.rank();
  std::vector<Value*> strides(rank);
  Value* stride = I64(ir::SizeInBytes(type.dtype()));
  for (int i = 0; i < rank; ++i) {
    const int axis = order == MemoryOrder::kC ? rank - 1 - i : i;
    strides[axis] = stride;
    if (i + 1 < rank) stride = builder_.CreateMul(stride, sizes[axis]);
  }
  return strides;
}

void FunctionEmitter::AppendParts(const Var* like, const Operand& from, Parts& parts) {
  if (!like->type.IsArray()) {
    const Number number = NumberOf(from);
    parts.push_back(number.value);
    if (number.imag != nullptr) parts.push_back(number.imag);
    return;
  }
  const ArrayValue array = ArrayOf(from);
  parts.insert(parts.end(), {array.data, array.base, array.root});
  const MemoryOrder order = facts_.Of(like).order;
  if (IsContiguous(order)) return;
  const size_t count = array.strides.size() - (order == MemoryOrder::kRows ? 1 : 0);
  parts.insert(parts.end(), array.strides.begin(), array.strides.begin() + count);
}

FunctionEmitter::Parts FunctionEmitter::PartsOf(const std::vector<const Var*>& like,
                                                llvm::ArrayRef<Operand> from) {
  Parts parts;
  for (size_t i = 0; i < like.size(); ++i) AppendParts(like[i], from[i], parts);
  return parts;
}

void FunctionEmitter::DefineFromParts(const std::vector<const Var*>& vars,
                                      llvm::ArrayRef<Value*> parts) {
  const auto take = [&] {
    Value* part = parts.front();
    parts = parts.drop_front();
    return part;
  };
  for (const Var* var : vars) {
    if (!var->type.IsArray()) {
      Number& number = numbers_[var];
      number.value = take();
      number.imag = ir::IsComplex(var->type.dtype()) ? take() : nullptr;
      continue;
    }
    ArrayValue array;
    array.data = take();
    array.base = take();
    array.root = take();
    array.sizes = SizesOf(var->type);
    const MemoryOrder order = facts_.Of(var).order;
    if (IsContiguous(order)) {
      array.strides = ContiguousStrides(var->type, order, array.sizes);
    } else {
      const int given = var->type.rank() - (order == MemoryOrder::kRows ? 1 : 0);
      for (int axis = 0; axis < given; ++axis) array.strides.push_back(take());
      if (order == MemoryOrder::kRows) {
        array.strides.push_back(I64(ir::SizeInBytes(var->type.dtype())));
      }
    }
    arrays_[var] = std::move(array);
  }
}

Value* FunctionEmitter::SlotAddress(Value* slots, int64_t index) {
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), slots, index);
}

llvm::AllocaInst* FunctionEmitter::OnStack(llvm::Type* type) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  return builder.CreateAlloca(type);
}

}  // namespace parakeet::backends
