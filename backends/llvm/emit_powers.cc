// Powers by squaring need loops, so each kind is one function of the module, written on first use.
#include <string>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::PHINode;
using llvm::Value;

BasicBlock* NewBlock(Emission& emission, Function* function, const char* name) {
  return BasicBlock::Create(emission.context(), name, function);
}

// Whether an integer, or some lane of a vector, is not zero.
Value* SomeNonzero(llvm::IRBuilder<>& builder, Value* value) {
  Value* test = builder.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return value->getType()->isVectorTy() ? builder.CreateOrReduce(test) : test;
}

// power(base, exponent): while (exponent != 0) { if (exponent & 1) power *= base; ... }
void WriteIntegerPower(Emission& emission, Function* function) {
  llvm::IRBuilder<> builder(&function->getEntryBlock());
  llvm::Type* type = function->getReturnType();
  auto* one = llvm::ConstantInt::get(type, 1);
  BasicBlock* head = NewBlock(emission, function, "head");
  BasicBlock* body = NewBlock(emission, function, "body");
  BasicBlock* done = NewBlock(emission, function, "done");
  BasicBlock* entry = builder.GetInsertBlock();
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  PHINode* power = builder.CreatePHI(type, 2);
  PHINode* base = builder.CreatePHI(type, 2);
  PHINode* exponent = builder.CreatePHI(type, 2);
  builder.CreateCondBr(SomeNonzero(builder, exponent), body, done);
  builder.SetInsertPoint(body);
  Value* is_odd = builder.CreateICmpEQ(builder.CreateAnd(exponent, one), one);
  Value* product = builder.CreateMul(power, base);
  power->addIncoming(one, entry);
  power->addIncoming(builder.CreateSelect(is_odd, product, power), body);
  base->addIncoming(function->getArg(0), entry);
  base->addIncoming(builder.CreateMul(base, base), body);
  exponent->addIncoming(function->getArg(1), entry);
  exponent->addIncoming(builder.CreateLShr(exponent, one), body);
  builder.CreateBr(head);
  builder.SetInsertPoint(done);
  builder.CreateRet(power);
}

// Writes at the emission's builder, in a helper whose parts the callbacks know.
class ComplexPower {
 public:
  ComplexPower(Emission& emission, Function* function)
      : emission_(emission),
        builder_(emission.builder),
        function_(function),
        base_{function->getArg(0), function->getArg(1)},
        exponent_{function->getArg(2), function->getArg(3)},
        type_(function->getArg(0)->getType()) {}

  // In the order of ir/evaluate_complex.cc: exponent 0, base 0, whole exponents below 100, others.
  void Write() {
    builder_.SetInsertPoint(&function_->getEntryBlock());
    ReturnIf(IsZero(exponent_), {Float(1), Float(0)});
    Value* is_above = builder_.CreateFCmpOGT(exponent_.value, Float(0));
    Value* limit = builder_.CreateSelect(is_above, Float(0), llvm::ConstantFP::getNaN(type_));
    ReturnIf(IsZero(base_), {limit, limit});
    BasicBlock* whole = NewBlock(emission_, function_, "whole");
    BasicBlock* other = NewBlock(emission_, function_, "other");
    builder_.CreateCondBr(IsSmallWhole(), whole, other);
    builder_.SetInsertPoint(other);
    Return(emission_.math->CallComplex(emission_, "cpow", {base_, exponent_}));
    builder_.SetInsertPoint(whole);
    WriteWholePower();
  }

 private:
  Value* Float(double value) { return llvm::ConstantFP::get(type_, value); }

  Value* IsZero(const Number& z) {
    return builder_.CreateAnd(builder_.CreateFCmpOEQ(z.value, Float(0)),
                              builder_.CreateFCmpOEQ(z.imag, Float(0)));
  }

  Value* IsSmallWhole() {
    Value* real = exponent_.value;
    Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, real);
    Value* truncated = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, real);
    Value* is_whole = builder_.CreateAnd(builder_.CreateFCmpOEQ(exponent_.imag, Float(0)),
                                         builder_.CreateFCmpOEQ(real, truncated));
    return builder_.CreateAnd(is_whole, builder_.CreateFCmpOLT(size, Float(100)));
  }

  void Return(const Number& z) {
    Value* result = llvm::PoisonValue::get(function_->getReturnType());
    result = builder_.CreateInsertValue(result, z.value, 0);
    builder_.CreateRet(builder_.CreateInsertValue(result, z.imag, 1));
  }

  void ReturnIf(Value* condition, const Number& z) {
    BasicBlock* yes = NewBlock(emission_, function_, "yes");
    BasicBlock* no = NewBlock(emission_, function_, "no");
    builder_.CreateCondBr(condition, yes, no);
    builder_.SetInsertPoint(yes);
    Return(z);
    builder_.SetInsertPoint(no);
  }

  Number Phi() { return {builder_.CreatePHI(type_, 2), builder_.CreatePHI(type_, 2)}; }

  static void AddIncoming(const Number& phi, const Number& z, BasicBlock* from) {
    llvm::cast<PHINode>(phi.value)->addIncoming(z.value, from);
    llvm::cast<PHINode>(phi.imag)->addIncoming(z.imag, from);
  }

  Number Select(Value* condition, const Number& yes, const Number& no) {
    return {builder_.CreateSelect(condition, yes.value, no.value),
            builder_.CreateSelect(condition, yes.imag, no.imag)};
  }

  // 1, 2 and 3 are plain products; a negative exponent takes the reciprocal at the end.
  void WriteWholePower() {
    Value* exponent = builder_.CreateFPToSI(exponent_.value, builder_.getInt32Ty());
    const auto equals = [&](int n) {
      return builder_.CreateICmpEQ(exponent, builder_.getInt32(n));
    };
    ReturnIf(equals(1), base_);
    const Number square = EmitComplexProduct(emission_, base_, base_);
    ReturnIf(equals(2), square);
    ReturnIf(equals(3), EmitComplexProduct(emission_, base_, square));
    Value* count =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, exponent, builder_.getTrue());
    const Number power = WriteSquaring(count);
    const Number inverse = EmitComplexQuotient(emission_, {Float(1), Float(0)}, power);
    Value* is_below = builder_.CreateICmpSLT(exponent, builder_.getInt32(0));
    Return(Select(is_below, inverse, power));
  }

  // `count` > 3. Leaves the builder behind the loop.
  Number WriteSquaring(Value* count) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* body = NewBlock(emission_, function_, "square");
    BasicBlock* done = NewBlock(emission_, function_, "done");
    builder_.CreateBr(body);
    builder_.SetInsertPoint(body);
    const Number power = Phi();
    const Number base = Phi();
    PHINode* left = builder_.CreatePHI(count->getType(), 2);
    Value* is_odd = builder_.CreateTrunc(left, builder_.getInt1Ty());
    const Number next = Select(is_odd, EmitComplexProduct(emission_, power, base), power);
    Value* half = builder_.CreateLShr(left, 1);
    AddIncoming(power, {Float(1), Float(0)}, before);
    AddIncoming(power, next, body);
    AddIncoming(base, base_, before);
    AddIncoming(base, EmitComplexProduct(emission_, base, base), body);
    left->addIncoming(count, before);
    left->addIncoming(half, body);
    builder_.CreateCondBr(builder_.CreateIsNotNull(half), body, done);
    builder_.SetInsertPoint(done);
    return next;
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  Function* function_;
  Number base_;
  Number exponent_;
  llvm::Type* type_;
};

Function* ComplexPowerFunction(Emission& emission, llvm::Type* part) {
  const std::string name = emission.HelperName("complex_power." + SuffixOf(part));
  if (Function* known = emission.module.getFunction(name)) return known;
  auto* pair = llvm::StructType::get(part, part);
  Function* function = NewPureFunction(emission, name, pair, {part, part, part, part});
  const llvm::IRBuilder<>::InsertPointGuard guard(emission.builder);
  ComplexPower(emission, function).Write();
  return function;
}

Number CallPair(llvm::IRBuilder<>& builder, Function* function, llvm::ArrayRef<Value*> operands) {
  Value* pair = builder.CreateCall(function, operands);
  return {builder.CreateExtractValue(pair, 0), builder.CreateExtractValue(pair, 1)};
}

}  // namespace

Value* EmitIntegerPower(Emission& emission, Value* base, Value* exponent) {
  llvm::Type* type = base->getType();
  const std::string name = emission.HelperName("power." + SuffixOf(type));
  Function* function = emission.module.getFunction(name);
  if (function == nullptr) {
    function = NewPureFunction(emission, name, type, {type, type});
    WriteIntegerPower(emission, function);
  }
  return emission.builder.CreateCall(function, {base, exponent});
}

Number EmitComplexPower(Emission& emission, const Number& base, const Number& exponent) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* type = base.value->getType();
  Function* function = ComplexPowerFunction(emission, type->getScalarType());
  Value* const parts[] = {base.value, base.imag, exponent.value, exponent.imag};
  if (!type->isVectorTy()) return CallPair(builder, function, parts);
  const Scalars both =
      CallByLane(emission, "complex_power", parts, 2, [&](llvm::ArrayRef<Value*> lane) {
        const Number one = CallPair(builder, function, lane);
        return Scalars{one.value, one.imag};
      });
  return {both[0], both[1]};
}

}  // namespace parakeet::backends
