// Calls of other functions of the program: recursion, since everything else is inlined.
#include "backends/llvm/ask_for_room.h"
#include "backends/llvm/function_emitter.h"
#include "backends/llvm/return_apart.h"
#include "backends/llvm/runtime_calls.h"
#include "ir/diagnostics.h"
#include "llvm/IR/MDBuilder.h"
#include "runtime/abi.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

// The parts of a value: of an array, its data, base and root, sizes where they go along, strides.
void AppendTypes(Emission& emission, const ir::Type& type, bool with_sizes,
                 std::vector<llvm::Type*>& types) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  llvm::Type* word = emission.builder.getInt64Ty();
  if (type.IsArray()) {
    types.insert(types.end(), {pointer, pointer, word});
    types.insert(types.end(), (with_sizes ? 2 : 1) * type.rank(), word);
    return;
  }
  const int parts = ir::IsComplex(type.dtype()) ? 2 : 1;
  types.insert(types.end(), parts, RegisterType(emission, type.dtype(), type.lanes()));
}

// A field of PkStack, which does not change.
Value* StackField(Emission& emission, Value* stack, llvm::Type* type, size_t offset) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), stack, offset);
  llvm::LoadInst* load = builder.CreateLoad(type, address);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(emission.context(), {}));
  return load;
}

}  // namespace

llvm::FunctionType* FunctionEmitter::CalleeType(Emission& emission, const ir::Function& source,
                                                bool takes_place) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  std::vector<llvm::Type*> types = {pointer, emission.builder.getInt32Ty()};
  if (takes_place) types.push_back(pointer);
  for (const ir::Param& param : source.params) {
    AppendTypes(emission, param.var->type, true, types);
  }
  std::vector<llvm::Type*> results = {emission.builder.getInt1Ty()};
  for (const ir::Operand& result : source.body->results) {
    AppendTypes(emission, TypeOf(result), false, results);
  }
  llvm::Type* result = llvm::StructType::get(emission.context(), results);
  return llvm::FunctionType::get(result, types, false);
}

void FunctionEmitter::EmitEnter() {
  call_ = StackField(emission_, stack_, builder_.getPtrTy(), offsetof(PkStack, call));
  asking_ = BlocksThatCall(source_, emission_.apart_above);
  if (asking_.empty()) return AskForRoom(room_);
  function_->addFnAttr(kReturnsApart);
}

// Fails in a callee where its own frame begins too low, or so much room is none.
void FunctionEmitter::AskForRoom(Value* room) {
  llvm::Type *pointer = builder_.getPtrTy(), *word = builder_.getInt64Ty();
  Value* frame = builder_.CreateIntrinsic(llvm::Intrinsic::addressofreturnaddress, {pointer}, {});
  Value* floor = StackField(emission_, stack_, word, offsetof(PkStack, floor));
  Value* is_low = builder_.CreateICmpULT(builder_.CreatePtrToInt(frame, word), floor);
  Value* is_full = builder_.CreateICmpSLE(room, builder_.getInt32(0));
  llvm::BasicBlock* refused = NewBlock("too_deep");
  llvm::BasicBlock* entered = NewBlock("entered");
  llvm::MDNode* unlikely = llvm::MDBuilder(emission_.context()).createUnlikelyBranchWeights();
  builder_.CreateCondBr(builder_.CreateOr(is_low, is_full), refused, entered, unlikely);
  builder_.SetInsertPoint(refused);
  builder_.CreateCall(PkTooDeep(emission_), {call_, room});
  ReturnFailed();
  builder_.SetInsertPoint(entered);
}

void FunctionEmitter::RefuseWithout(Value* room) {
  llvm::BasicBlock* refused = NewBlock("too_deep");
  llvm::BasicBlock* calls = NewBlock("calls");
  llvm::MDNode* unlikely = llvm::MDBuilder(emission_.context()).createUnlikelyBranchWeights();
  builder_.CreateCondBr(builder_.CreateICmpSLE(room, builder_.getInt32(0)), refused, calls,
                        unlikely);
  builder_.SetInsertPoint(refused);
  builder_.CreateCall(PkTooDeep(emission_), {Local(call_), room});
  GoToFailure();
  builder_.SetInsertPoint(calls);
}

void FunctionEmitter::ReturnFailed() {
  Value* result = llvm::PoisonValue::get(self_->function->getReturnType());
  builder_.CreateRet(builder_.CreateInsertValue(result, builder_.getTrue(), 0));
}

std::pair<Value*, Value*> FunctionEmitter::FindStack() {
  if (stack_ != nullptr && !in_parallel_) {
    return {Local(stack_), builder_.CreateSub(Local(room_), builder_.getInt32(1))};
  }
  llvm::Type* pointer = builder_.getPtrTy();
  Value* stack = OnStack(llvm::StructType::get(pointer, builder_.getInt64Ty()));
  Value* room = builder_.CreateCall(PkFindStack(emission_), {Local(call_), stack});
  // Threads of a team that a callee has called go on from its depth, each on its own stack.
  if (room_ != nullptr) room = builder_.CreateSub(Local(room_), builder_.getInt32(1));
  return {stack, room};
}

void FunctionEmitter::EmitCall(const ir::Binding& call) {
  const std::string& name = call.attrs.Text(ir::Attr::kCallee);
  const auto found = callees_.find(name);
  if (found == callees_.end()) ir::FailBug("no code for a call of " + name, call.span);
  const Callee& callee = found->second;
  const int64_t at = call.attrs.Int(ir::Attr::kAt);
  const llvm::ArrayRef<ir::Operand> operands(call.operands);
  const auto [stack, room] = FindStack();
  Parts arguments = {stack, room};
  const bool has_asked = stack_ != nullptr && !in_parallel_ && !asking_.empty();
  if (callee.asks_late && !has_asked) RefuseWithout(room);
  if (callee.takes_place) arguments.push_back(EmitPlaceNode(operands.take_back(at)));
  for (const ir::Operand& operand : operands.drop_back(at)) {
    if (!TypeOf(operand).IsArray()) {
      const Number number = NumberOf(operand);
      arguments.push_back(number.value);
      if (number.imag != nullptr) arguments.push_back(number.imag);
      continue;
    }
    const ArrayValue array = ArrayOf(operand);
    arguments.insert(arguments.end(), {array.data, array.base, array.root});
    arguments.insert(arguments.end(), array.sizes.begin(), array.sizes.end());
    arguments.insert(arguments.end(), array.strides.begin(), array.strides.end());
  }
  Value* returned = builder_.CreateCall(callee.function, arguments);
  unsigned next = 0;
  ContinueUnless(builder_.CreateExtractValue(returned, next++));
  for (const ir::Var* result : call.results) {
    std::vector<llvm::Type*> types;
    AppendTypes(emission_, result->type, false, types);
    Parts parts;
    while (parts.size() < types.size()) {
      parts.push_back(builder_.CreateExtractValue(returned, next++));
    }
    DefineFromParts({result}, parts);
  }
}

}  // namespace parakeet::backends
