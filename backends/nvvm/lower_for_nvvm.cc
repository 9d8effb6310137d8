#include "backends/nvvm/lower_for_nvvm.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace parakeet::backends {
namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

class Lowering {
 public:
  explicit Lowering(llvm::Module& module) : module_(module), builder_(module.getContext()) {}

  void Run() {
    for (llvm::Function& function : module_) {
      for (llvm::BasicBlock& block : function) {
        for (Instruction& instruction : llvm::make_early_inc_range(block)) Lower(instruction);
      }
    }
    for (llvm::Function& function : llvm::make_early_inc_range(module_)) {
      if (function.isIntrinsic() && function.use_empty()) function.eraseFromParent();
    }
  }

 private:
  void Lower(Instruction& instruction) {
    builder_.SetInsertPoint(&instruction);
    builder_.setFastMathFlags({});
    if (llvm::isa<llvm::FPMathOperator>(instruction))
      builder_.setFastMathFlags(instruction.getFastMathFlags());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return LowerLoad(*load);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return LowerStore(*store);
    if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) return LowerFence(*fence);
    if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return LowerAtomic(*rmw);
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      return LowerExchange(*exchange);
    if (instruction.getOpcode() == Instruction::FNeg) {
      Type* type = instruction.getType();
      Value* zero = llvm::ConstantFP::getNegativeZero(type);
      return Replace(instruction, builder_.CreateFSub(zero, instruction.getOperand(0)));
    }
    if (instruction.getOpcode() == Instruction::Freeze) {
      if (Value* copy = Copy(instruction.getOperand(0))) Replace(instruction, copy);
      return;
    }
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      return LowerIntrinsic(*call);
    Type* type = instruction.getType();
    if (instruction.getOpcode() == Instruction::FPExt && type->isFloatTy())
      return Replace(instruction, Widen(instruction.getOperand(0)));
    if (instruction.getOpcode() == Instruction::FPTrunc && type->isHalfTy() &&
        instruction.getOperand(0)->getType()->isFloatTy())
      return Replace(instruction, Narrow(instruction.getOperand(0)));
    if (auto* test = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) LowerComparison(*test);
    if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction)) LowerChoice(*choice);
  }

  void Replace(Instruction& instruction, Value* value) {
    instruction.replaceAllUsesWith(value);
    instruction.eraseFromParent();
  }

  // --- Order of accesses ---

  // A barrier of memory orders at least what a fence of the scope does.
  void Barrier(llvm::SyncScope::ID scope) {
    llvm::SmallVector<llvm::StringRef> names;
    module_.getContext().getSyncScopeNames(names);
    const ID barrier = llvm::StringSwitch<ID>(names[scope])
                           .Case("block", Intrinsic::nvvm_membar_cta)
                           .Case("device", Intrinsic::nvvm_membar_gl)
                           .Default(Intrinsic::nvvm_membar_sys);
    builder_.CreateIntrinsic(barrier, {}, {});
  }

  void BarrierBefore(llvm::AtomicOrdering ordering, llvm::SyncScope::ID scope) {
    if (llvm::isReleaseOrStronger(ordering)) Barrier(scope);
  }

  void BarrierBehind(Instruction& access, llvm::AtomicOrdering ordering,
                     llvm::SyncScope::ID scope) {
    builder_.SetInsertPoint(access.getNextNode());
    if (llvm::isAcquireOrStronger(ordering)) Barrier(scope);
  }

  void LowerLoad(llvm::LoadInst& load) {
    if (!load.isAtomic()) return;
    BarrierBehind(load, load.getOrdering(), load.getSyncScopeID());
    load.setAtomic(llvm::AtomicOrdering::NotAtomic);
    load.setVolatile(true);
  }

  void LowerStore(llvm::StoreInst& store) {
    if (!store.isAtomic()) return;
    BarrierBefore(store.getOrdering(), store.getSyncScopeID());
    store.setAtomic(llvm::AtomicOrdering::NotAtomic);
    store.setVolatile(true);
  }

  void LowerFence(llvm::FenceInst& fence) {
    Barrier(fence.getSyncScopeID());
    fence.eraseFromParent();
  }

  void LowerAtomic(llvm::AtomicRMWInst& rmw) {
    const llvm::AtomicOrdering ordering = rmw.getOrdering();
    BarrierBefore(ordering, rmw.getSyncScopeID());
    BarrierBehind(rmw, ordering, rmw.getSyncScopeID());
    rmw.setOrdering(llvm::AtomicOrdering::Monotonic);
  }

  void LowerExchange(llvm::AtomicCmpXchgInst& exchange) {
    const llvm::AtomicOrdering ordering = exchange.getMergedOrdering();
    BarrierBefore(ordering, exchange.getSyncScopeID());
    BarrierBehind(exchange, ordering, exchange.getSyncScopeID());
    exchange.setSuccessOrdering(llvm::AtomicOrdering::Monotonic);
    exchange.setFailureOrdering(llvm::AtomicOrdering::Monotonic);
    exchange.setWeak(false);
  }

  // --- Values ---

  // The value, which is the same at all its uses whatever it is; null for types that have no
  // registers.
  Value* Copy(Value* value) {
    if (llvm::isGuaranteedNotToBeUndefOrPoison(value)) return value;
    Type* type = value->getType();
    if (type->isPointerTy()) {
      Value* number = Copy(builder_.CreatePtrToInt(value, builder_.getInt64Ty()));
      return builder_.CreateIntToPtr(number, type);
    }
    if (type->isIntegerTy() && type->getIntegerBitWidth() < 32)
      return builder_.CreateTrunc(Copy(builder_.CreateZExt(value, builder_.getInt32Ty())), type);
    if (type->isIntegerTy(32)) return Copy(value, "mov.b32 $0, $1;", "=r,r");
    if (type->isIntegerTy(64)) return Copy(value, "mov.b64 $0, $1;", "=l,l");
    if (type->isFloatTy()) return Copy(value, "mov.f32 $0, $1;", "=f,f");
    if (type->isDoubleTy()) return Copy(value, "mov.f64 $0, $1;", "=d,d");
    return nullptr;
  }

  Value* Copy(Value* value, const char* text, const char* constraints) {
    Type* type = value->getType();
    auto* function_type = llvm::FunctionType::get(type, {type}, false);
    return builder_.CreateCall(
        function_type,
        llvm::InlineAsm::get(function_type, text, constraints, /*hasSideEffects=*/false), {value});
  }

  Value* Choose(llvm::CmpInst::Predicate predicate, Value* a, Value* b) {
    return builder_.CreateSelect(builder_.CreateICmp(predicate, a, b), a, b);
  }

  Value* ChooseOrNan(llvm::CmpInst::Predicate predicate, Value* a, Value* b) {
    Value* chosen = builder_.CreateSelect(builder_.CreateFCmp(predicate, a, b), a, b);
    if (a->getType()->isFloatTy()) chosen = SettleZeros(predicate, a, b, chosen);
    return builder_.CreateSelect(builder_.CreateFCmpUNO(a, a), a, chosen);
  }

  // Of zeros of either sign, the one that the instruction of newer GPUs takes.
  Value* SettleZeros(llvm::CmpInst::Predicate predicate, Value* a, Value* b, Value* chosen) {
    Value* bits_of_a = builder_.CreateBitCast(a, builder_.getInt32Ty());
    Value* bits_of_b = builder_.CreateBitCast(b, builder_.getInt32Ty());
    Value* both = predicate == llvm::CmpInst::FCMP_OLT ? builder_.CreateOr(bits_of_a, bits_of_b)
                                                       : builder_.CreateAnd(bits_of_a, bits_of_b);
    return builder_.CreateSelect(builder_.CreateFCmpOEQ(a, b),
                                 builder_.CreateBitCast(both, a->getType()), chosen);
  }

  Value* Size(Value* a) {
    Value* is_negative = builder_.CreateICmpSLT(a, llvm::Constant::getNullValue(a->getType()));
    return builder_.CreateSelect(is_negative, builder_.CreateNeg(a), a);
  }

  // --- Halves ---

  // As operations on 16 bits: libNVVM makes vectors of sums, comparisons and choices of halves, and
  // then knows no code for these.
  Value* Widen(Value* half) {
    Value* bits = builder_.CreateBitCast(half, builder_.getInt16Ty());
    return builder_.CreateIntrinsic(Intrinsic::convert_from_fp16, {builder_.getFloatTy()}, {bits});
  }

  Value* Narrow(Value* number) {
    Value* bits =
        builder_.CreateIntrinsic(Intrinsic::convert_to_fp16, {builder_.getFloatTy()}, {number});
    return builder_.CreateBitCast(bits, builder_.getHalfTy());
  }

  void LowerComparison(llvm::FCmpInst& test) {
    if (!test.getOperand(0)->getType()->isHalfTy()) return;
    Value* left = Widen(test.getOperand(0));
    Value* right = Widen(test.getOperand(1));
    Replace(test, builder_.CreateFCmp(test.getPredicate(), left, right));
  }

  void LowerChoice(llvm::SelectInst& choice) {
    if (!choice.getType()->isHalfTy()) return;
    Value* yes = builder_.CreateBitCast(choice.getTrueValue(), builder_.getInt16Ty());
    Value* no = builder_.CreateBitCast(choice.getFalseValue(), builder_.getInt16Ty());
    Value* bits = builder_.CreateSelect(choice.getCondition(), yes, no);
    Replace(choice, builder_.CreateBitCast(bits, builder_.getHalfTy()));
  }

  // Of floats and doubles; of halves through floats, which hold each half's result.
  Value* CallLibdevice(const char* name, llvm::ArrayRef<Value*> operands) {
    Type* type = operands[0]->getType();
    if (type->isVectorTy()) return nullptr;
    if (type->isHalfTy()) {
      llvm::SmallVector<Value*, 2> wide;
      for (Value* operand : operands) wide.push_back(Widen(operand));
      return Narrow(CallLibdevice(name, wide));
    }
    const llvm::SmallVector<Type*, 2> types(operands.size(), type);
    const std::string symbol = std::string("__nv_") + name + (type->isFloatTy() ? "f" : "");
    llvm::FunctionCallee function =
        module_.getOrInsertFunction(symbol, llvm::FunctionType::get(type, types, false));
    auto* declared = llvm::cast<llvm::Function>(function.getCallee());
    declared->setDoesNotAccessMemory();
    declared->setDoesNotThrow();
    return builder_.CreateCall(function, operands);
  }

  // Bits of a half's sign are the integer's; libdevice has no halves.
  Value* WithSign(Value* size, Value* sign) {
    if (!size->getType()->isHalfTy()) return CallLibdevice("copysign", {size, sign});
    Type* bits = builder_.getInt16Ty();
    Value* kept = builder_.CreateAnd(builder_.CreateBitCast(size, bits), 0x7fff);
    Value* taken = builder_.CreateAnd(builder_.CreateBitCast(sign, bits), 0x8000);
    return builder_.CreateBitCast(builder_.CreateOr(kept, taken), size->getType());
  }

  // What stands for a call; null where it stays.
  Value* ValueFor(llvm::IntrinsicInst& call) {
    using Predicate = llvm::CmpInst::Predicate;
    Value* a = call.arg_size() > 0 ? call.getArgOperand(0) : nullptr;
    Value* b = call.arg_size() > 1 ? call.getArgOperand(1) : nullptr;
    switch (call.getIntrinsicID()) {
      case Intrinsic::smin: return Choose(Predicate::ICMP_SLT, a, b);
      case Intrinsic::smax: return Choose(Predicate::ICMP_SGT, a, b);
      case Intrinsic::umin: return Choose(Predicate::ICMP_ULT, a, b);
      case Intrinsic::umax: return Choose(Predicate::ICMP_UGT, a, b);
      case Intrinsic::abs: return Size(a);
      case Intrinsic::fabs: return CallLibdevice("fabs", {a});
      case Intrinsic::floor: return CallLibdevice("floor", {a});
      case Intrinsic::ceil: return CallLibdevice("ceil", {a});
      case Intrinsic::trunc: return CallLibdevice("trunc", {a});
      case Intrinsic::rint:
      case Intrinsic::nearbyint:
      case Intrinsic::roundeven: return CallLibdevice("rint", {a});
      case Intrinsic::round: return CallLibdevice("round", {a});
      case Intrinsic::minimum: return ChooseOrNan(Predicate::FCMP_OLT, a, b);
      case Intrinsic::maximum: return ChooseOrNan(Predicate::FCMP_OGT, a, b);
      case Intrinsic::minnum: return CallLibdevice("fmin", {a, b});
      case Intrinsic::maxnum: return CallLibdevice("fmax", {a, b});
      case Intrinsic::copysign: return WithSign(a, b);
      case Intrinsic::expect: return a;
      default: return nullptr;
    }
  }

  static bool IsHint(ID id) {
    return id == Intrinsic::assume || id == Intrinsic::lifetime_start ||
           id == Intrinsic::lifetime_end || id == Intrinsic::prefetch ||
           id == Intrinsic::experimental_noalias_scope_decl || id == Intrinsic::donothing;
  }

  void LowerIntrinsic(llvm::IntrinsicInst& call) {
    if (IsHint(call.getIntrinsicID())) return call.eraseFromParent(), void();
    if (Value* value = ValueFor(call)) Replace(call, value);
  }

  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

void LowerForNvvm(llvm::Module& module) { Lowering(module).Run(); }

}  // namespace parakeet::backends
