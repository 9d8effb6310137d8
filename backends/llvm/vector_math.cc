#include "backends/llvm/vector_math.h"

#include <set>
#include <string>
#include <utility>

#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::FixedVectorType;
using llvm::Function;
using llvm::SmallVector;
using llvm::Type;
using llvm::Value;

// What libmvec of glibc 2.35 and later has for double; for float it has the same.
bool InVectorLibrary(std::string_view name) {
  static const auto* const names = new std::set<std::string_view>{
      "acos",  "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos",
      "cosh",  "erf",   "erfc", "exp",   "exp2", "expm1", "hypot", "log",  "log10",
      "log1p", "log2",  "pow",  "sin",   "sinh", "tan",   "tanh"};
  return names->count(name) > 0;
}

std::string NameFor(std::string_view name, Type* element) {
  return std::string(name) + (element->isFloatTy() ? "f" : "");
}

Value* CallScalar(Emission& emission, std::string_view name, llvm::ArrayRef<Value*> operands) {
  Type* type = operands[0]->getType();
  const SmallVector<Type*, 2> params(operands.size(), type);
  Function* function = emission.DeclarePure(NameFor(name, type), type, params);
  return emission.builder.CreateCall(function, operands);
}

char LetterOf(int bits) { return bits == 512 ? 'e' : bits == 256 ? 'd' : 'b'; }

// How to call a function on any number of lanes.
struct Registers {
  FixedVectorType* type;  // of one register
  std::string symbol;
};

// Narrow vectors go into the narrowest register that holds them.
Registers RegistersFor(std::string_view name, FixedVectorType* type, size_t operands,
                       int register_bits) {
  const int element_bits = type->getScalarSizeInBits();
  const int lanes = type->getNumElements();
  int bits = 128;
  while (bits < register_bits && bits < lanes * element_bits) bits *= 2;
  const int width = bits / element_bits;
  return {FixedVectorType::get(type->getElementType(), width),
          std::string("_ZGV") + LetterOf(bits) + "N" + std::to_string(width) +
              std::string(operands, 'v') + "_" + NameFor(name, type->getElementType())};
}

// Lanes `first` .. `first + count` of `value`; beyond its end, lane 0 again.
Value* TakeLanes(Emission& emission, Value* value, unsigned first, unsigned count) {
  const unsigned lanes = llvm::cast<FixedVectorType>(value->getType())->getNumElements();
  if (first == 0 && count == lanes) return value;
  SmallVector<int, 64> places;
  for (unsigned i = first; i < first + count; ++i) places.push_back(i < lanes ? i : 0);
  return emission.builder.CreateShuffleVector(value, places);
}

// The pieces one after another, cut to `lanes`.
Value* Concatenate(Emission& emission, SmallVector<Value*, 8> pieces, unsigned lanes) {
  while (pieces.size() > 1) {
    if (pieces.size() % 2 == 1) pieces.push_back(pieces.back());
    SmallVector<Value*, 8> pairs;
    for (size_t i = 0; i < pieces.size(); i += 2) {
      const unsigned width = llvm::cast<FixedVectorType>(pieces[i]->getType())->getNumElements();
      SmallVector<int, 64> places;
      for (unsigned lane = 0; lane < 2 * width; ++lane) places.push_back(lane);
      pairs.push_back(emission.builder.CreateShuffleVector(pieces[i], pieces[i + 1], places));
    }
    pieces = pairs;
  }
  return TakeLanes(emission, pieces[0], 0, lanes);
}

Value* CallVector(Emission& emission, const Registers& registers, llvm::ArrayRef<Value*> operands) {
  const int lanes = llvm::cast<FixedVectorType>(operands[0]->getType())->getNumElements();
  const int width = registers.type->getNumElements();
  const SmallVector<Type*, 2> params(operands.size(), registers.type);
  Function* function = emission.DeclarePure(registers.symbol, registers.type, params);
  SmallVector<Value*, 8> pieces;
  for (int first = 0; first < lanes; first += width) {
    SmallVector<Value*, 2> parts;
    for (Value* operand : operands) parts.push_back(TakeLanes(emission, operand, first, width));
    pieces.push_back(emission.builder.CreateCall(function, parts));
  }
  return Concatenate(emission, std::move(pieces), lanes);
}

// C's complex numbers are passed as two doubles, or as two floats in one register.
Number CallComplexScalar(Emission& emission, std::string_view name,
                         llvm::ArrayRef<Number> operands) {
  llvm::IRBuilder<>& builder = emission.builder;
  Type* part = operands[0].value->getType();
  const bool is_packed = part->isFloatTy();
  auto* packed = FixedVectorType::get(part, 2);
  Type* result = is_packed ? static_cast<Type*>(packed) : llvm::StructType::get(part, part);
  SmallVector<Value*, 4> arguments;
  for (const Number& z : operands) {
    if (is_packed) {
      Value* both =
          builder.CreateInsertElement(llvm::PoisonValue::get(packed), z.value, uint64_t{0});
      arguments.push_back(builder.CreateInsertElement(both, z.imag, uint64_t{1}));
    } else {
      arguments.append({z.value, z.imag});
    }
  }
  SmallVector<Type*, 4> params;
  for (Value* argument : arguments) params.push_back(argument->getType());
  Function* function = emission.DeclarePure(NameFor(name, part), result, params);
  Value* both = builder.CreateCall(function, arguments);
  if (is_packed) {
    return {builder.CreateExtractElement(both, uint64_t{0}),
            builder.CreateExtractElement(both, uint64_t{1})};
  }
  return {builder.CreateExtractValue(both, 0), builder.CreateExtractValue(both, 1)};
}

}  // namespace

Value* HostMath::Call(Emission& emission, std::string_view name,
                      llvm::ArrayRef<Value*> operands) const {
  auto* type = llvm::dyn_cast<FixedVectorType>(operands[0]->getType());
  if (type == nullptr) return CallScalar(emission, name, operands);
  const Registers registers = RegistersFor(name, type, operands.size(), vector_bits_);
  const bool is_known =
      InVectorLibrary(name) && (!has_function_ || has_function_(registers.symbol.c_str()));
  if (is_known) return CallVector(emission, registers, operands);
  return CallByLane(emission, std::string(name), operands, 1, [&](llvm::ArrayRef<Value*> lane) {
    return Scalars{CallScalar(emission, name, lane)};
  })[0];
}

Number HostMath::CallComplex(Emission& emission, std::string_view name,
                             llvm::ArrayRef<Number> operands) const {
  if (!operands[0].value->getType()->isVectorTy()) {
    return CallComplexScalar(emission, name, operands);
  }
  SmallVector<Value*, 4> parts;
  for (const Number& z : operands) parts.append({z.value, z.imag});
  const Scalars both =
      CallByLane(emission, std::string(name), parts, 2, [&](llvm::ArrayRef<Value*> lane) {
        SmallVector<Number, 2> scalars;
        for (size_t i = 0; i < lane.size(); i += 2) scalars.push_back({lane[i], lane[i + 1]});
        const Number one = CallComplexScalar(emission, name, scalars);
        return Scalars{one.value, one.imag};
      });
  return {both[0], both[1]};
}

}  // namespace parakeet::backends
