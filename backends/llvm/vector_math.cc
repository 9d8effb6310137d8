#include "backends/llvm/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
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

// The register for vectors of the type: narrow ones go into the narrowest that holds them.
FixedVectorType* RegisterFor(FixedVectorType* type, int register_bits) {
  const int element_bits = type->getScalarSizeInBits();
  const int lanes = type->getNumElements();
  int bits = 128;
  while (bits < register_bits && bits < lanes * element_bits) bits *= 2;
  return FixedVectorType::get(type->getElementType(), bits / element_bits);
}

// What the function of so many operands is called for a register.
std::string SymbolFor(std::string_view name, FixedVectorType* type, size_t operands) {
  const int width = type->getNumElements();
  return std::string("_ZGV") + LetterOf(width * type->getScalarSizeInBits()) + "N" +
         std::to_string(width) + std::string(operands, 'v') + "_" +
         NameFor(name, type->getElementType());
}

// Lanes `first` .. `first + count` of `value`; beyond its end, lane 0 again.
Value* TakeLanes(Emission& emission, Value* value, unsigned first, unsigned count) {
  const unsigned lanes = llvm::cast<FixedVectorType>(value->getType())->getNumElements();
  if (first == 0 && count == lanes) return value;
  SmallVector<int, 64> places;
  for (unsigned i = first; i < first + count; ++i) places.push_back(i < lanes ? i : 0);
  return emission.builder.CreateShuffleVector(value, places);
}

// What programs give many lanes of, and libmvec computes one by one: scores that are masked, of
// which exp is 0, what is so large that it is inf, and zeros, of which log is -inf.
struct Edge {
  llvm::CmpInst::Predicate is_beyond;
  double at;
  double result;  // beyond it
};

std::vector<Edge> EdgesOf(std::string_view name, bool is_float) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto ends = [&](double least, double most) {
    return std::vector<Edge>{{llvm::CmpInst::FCMP_OLT, least, 0},
                             {llvm::CmpInst::FCMP_OGT, most, kInfinity}};
  };
  if (name == "exp") return is_float ? ends(-104, 89) : ends(-746, 710);
  if (name == "exp2") return is_float ? ends(-151, 128) : ends(-1076, 1024);
  if (name == "log" || name == "log2" || name == "log10")
    return {{llvm::CmpInst::FCMP_OEQ, 0, -kInfinity}};
  return {};
}

// The function's call. Lanes beyond an edge are kept from it: they stand for 1 there.
Value* CallWithin(Emission& emission, Function* function, const std::vector<Edge>& edges,
                  Value* operand) {
  llvm::IRBuilder<>& builder = emission.builder;
  const auto number = [&](double value) {
    return llvm::ConstantFP::get(operand->getType(), value);
  };
  const auto block = [&](const char* name) {
    return BasicBlock::Create(builder.getContext(), name, builder.GetInsertBlock()->getParent());
  };
  BasicBlock *within = block("within"), *beyond = block("beyond"), *done = block("done");
  SmallVector<Value*, 2> are_beyond;
  for (const Edge& edge : edges)
    are_beyond.push_back(builder.CreateFCmp(edge.is_beyond, operand, number(edge.at)));
  Value* any = builder.CreateOrReduce(builder.CreateOr(are_beyond));
  llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
  builder.CreateCondBr(any, beyond, within, unlikely);
  builder.SetInsertPoint(within);
  Value* of_all = builder.CreateCall(function, operand);
  builder.CreateBr(done);
  builder.SetInsertPoint(beyond);
  Value* kept = builder.CreateSelect(builder.CreateOr(are_beyond), number(1), operand);
  Value* of_some = builder.CreateCall(function, kept);
  for (size_t k = 0; k < edges.size(); ++k)
    of_some = builder.CreateSelect(are_beyond[k], number(edges[k].result), of_some);
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  llvm::PHINode* result = builder.CreatePHI(operand->getType(), 2);
  result->addIncoming(of_all, within);
  result->addIncoming(of_some, beyond);
  return result;
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

// What `emit` makes of vectors of the register's type, for any number of lanes.
Value* EmitInRegisters(Emission& emission, FixedVectorType* type, llvm::ArrayRef<Value*> operands,
                       const std::function<Value*(llvm::ArrayRef<Value*>)>& emit) {
  const int lanes = llvm::cast<FixedVectorType>(operands[0]->getType())->getNumElements();
  const int width = type->getNumElements();
  SmallVector<Value*, 8> pieces;
  for (int first = 0; first < lanes; first += width) {
    SmallVector<Value*, 2> parts;
    for (Value* operand : operands) parts.push_back(TakeLanes(emission, operand, first, width));
    pieces.push_back(emit(parts));
  }
  return Concatenate(emission, std::move(pieces), lanes);
}

// The instruction that takes the lesser, or greater, of two vectors of a register.
Value* EmitExtremeInstruction(llvm::IRBuilder<>& builder, bool is_least, Value* a, Value* b) {
  using llvm::Intrinsic::ID;
  struct Instructions {
    ID least, greatest;
  };
  // By the register's bits / 128 and whether elements are doubles.
  static constexpr Instructions kInstructions[3][2] = {
      {{llvm::Intrinsic::x86_sse_min_ps, llvm::Intrinsic::x86_sse_max_ps},
       {llvm::Intrinsic::x86_sse2_min_pd, llvm::Intrinsic::x86_sse2_max_pd}},
      {{llvm::Intrinsic::x86_avx_min_ps_256, llvm::Intrinsic::x86_avx_max_ps_256},
       {llvm::Intrinsic::x86_avx_min_pd_256, llvm::Intrinsic::x86_avx_max_pd_256}},
      {{llvm::Intrinsic::x86_avx512_min_ps_512, llvm::Intrinsic::x86_avx512_max_ps_512},
       {llvm::Intrinsic::x86_avx512_min_pd_512, llvm::Intrinsic::x86_avx512_max_pd_512}}};
  constexpr uint32_t kCurrentRounding = 4;
  const auto bits = unsigned(a->getType()->getPrimitiveSizeInBits());
  const bool is_double = a->getType()->getScalarType()->isDoubleTy();
  const Instructions& both = kInstructions[bits / 256][is_double];
  SmallVector<Value*, 3> operands = {a, b};
  if (bits == 512) operands.push_back(builder.getInt32(kCurrentRounding));
  return builder.CreateIntrinsic(is_least ? both.least : both.greatest, {}, operands);
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
  auto* in_register = RegisterFor(type, vector_bits_);
  const std::string symbol = SymbolFor(name, in_register, operands.size());
  const bool is_known = InVectorLibrary(name) && (!has_function_ || has_function_(symbol.c_str()));
  if (is_known) {
    const SmallVector<Type*, 2> params(operands.size(), in_register);
    Function* function = emission.DeclarePure(symbol, in_register, params);
    const std::vector<Edge> edges = EdgesOf(name, type->getElementType()->isFloatTy());
    return EmitInRegisters(emission, in_register, operands,
                           [&](llvm::ArrayRef<Value*> parts) -> Value* {
                             return edges.empty() ? emission.builder.CreateCall(function, parts)
                                                  : CallWithin(emission, function, edges, parts[0]);
                           });
  }
  return CallByLane(emission, std::string(name), operands, 1, [&](llvm::ArrayRef<Value*> lane) {
    return Scalars{CallScalar(emission, name, lane)};
  })[0];
}

// Written as a comparison and a choice, it is made one with the choice for nan, and then is no such
// instruction but two comparisons.
Value* HostMath::FirstIfBeyond(Emission& emission, bool is_least, Value* a, Value* b) const {
  auto* type = llvm::dyn_cast<FixedVectorType>(a->getType());
  const auto has_one = [](Type* element) { return element->isFloatTy() || element->isDoubleTy(); };
  if (type == nullptr || !has_one(type->getElementType())) return nullptr;
  return EmitInRegisters(
      emission, RegisterFor(type, vector_bits_), {a, b}, [&](llvm::ArrayRef<Value*> parts) {
        return EmitExtremeInstruction(emission.builder, is_least, parts[0], parts[1]);
      });
}

// Registers of 512 bits hold the table: one of floats, two of doubles.
Value* HostMath::LookUp(Emission& emission, llvm::Constant* table, Value* indexes) const {
  if (vector_bits_ != 512) return nullptr;
  llvm::IRBuilder<>& builder = emission.builder;
  const bool is_double = table->getType()->getScalarType()->isDoubleTy();
  auto* in_register = FixedVectorType::get(table->getType()->getScalarType(), is_double ? 8 : 16);
  return EmitInRegisters(emission, in_register, {indexes}, [&](llvm::ArrayRef<Value*> parts) {
    if (!is_double) {
      return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                                     {table, parts[0]});
    }
    return builder.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_vpermi2var_pd_512, {},
        {TakeLanes(emission, table, 0, 8), parts[0], TakeLanes(emission, table, 8, 8)});
  });
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
