#include "backends/llvm/memory_access.h"

#include "ir/dtype.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

int64_t PartBytes(ir::DType dtype) {
  return ir::SizeInBytes(dtype) / (ir::IsComplex(dtype) ? 2 : 1);
}

Value* ImagAddress(Emission& emission, ir::DType dtype, Value* address) {
  llvm::IRBuilder<>& builder = emission.builder;
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, PartBytes(dtype));
}

Value* LoadPart(Emission& emission, const MemoryTraits& traits, Value* address) {
  llvm::Type* type = MemoryType(emission, traits.dtype);
  auto* load = emission.builder.CreateAlignedLoad(type, address, traits.alignment);
  traits.scopes.Mark(load);
  if (traits.unchanged) {
    llvm::MDNode* nothing = llvm::MDNode::get(emission.context(), {});
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, nothing);
  }
  return load;
}

void StorePart(Emission& emission, const MemoryTraits& traits, Value* address, Value* value) {
  traits.scopes.Mark(emission.builder.CreateAlignedStore(value, address, traits.alignment));
}

}  // namespace

// By the stride where it is a known number of elements: the processor's addressing then takes the
// index as it is, and LLVM follows a place to where its index comes from.
Value* Advance(Emission& emission, Value* address, Value* index, Value* stride, ir::DType dtype,
               bool inside) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* unit = builder.getInt8Ty();
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(stride);
  const int64_t size = ir::SizeInBytes(dtype);
  Value* steps;
  const int64_t step = constant == nullptr ? 0 : constant->getSExtValue();
  if (step > 0 && step % size == 0) {
    unit = llvm::ArrayType::get(unit, step);
    steps = index;
  } else if (constant != nullptr && step % size == 0) {
    unit = llvm::ArrayType::get(unit, size);
    steps = builder.CreateMul(index, builder.getInt64(step / size));
  } else {
    steps = builder.CreateMul(index, stride);
  }
  return inside ? builder.CreateInBoundsGEP(unit, address, steps)
                : builder.CreateGEP(unit, address, steps);
}

Number LoadNumber(Emission& emission, const MemoryTraits& traits, Value* address) {
  Number number = {LoadPart(emission, traits, address), nullptr};
  if (ir::IsBool(traits.dtype)) number.value = emission.builder.CreateIsNotNull(number.value);
  if (ir::IsComplex(traits.dtype)) {
    number.imag = LoadPart(emission, traits, ImagAddress(emission, traits.dtype, address));
  }
  return number;
}

void StoreNumber(Emission& emission, const MemoryTraits& traits, Value* address,
                 const Number& number) {
  Value* value = number.value;
  if (ir::IsBool(traits.dtype)) {
    value = emission.builder.CreateZExt(value, emission.builder.getInt8Ty());
  }
  StorePart(emission, traits, address, value);
  if (ir::IsComplex(traits.dtype)) {
    StorePart(emission, traits, ImagAddress(emission, traits.dtype, address), number.imag);
  }
}

}  // namespace parakeet::backends
