// Operations of the vector stage: lanes in memory, and what joins and parts them.
#include <algorithm>
#include <bit>

#include "backends/llvm/function_emitter.h"
#include "ir/diagnostics.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

using ir::Attr;
using ir::OpCode;
using ir::Operand;
using llvm::BasicBlock;
using llvm::Value;

// Applies `f` to the value and, where there is one, the imaginary part.
template <typename Function>
Number ForParts(const Number& number, Function f) {
  return {f(number.value), number.imag == nullptr ? nullptr : f(number.imag)};
}

Number Iota(Emission& emission, const ir::Type& type) {
  llvm::SmallVector<llvm::Constant*, 64> count;
  llvm::Type* element = RegisterType(emission, type.dtype());
  for (int lane = 0; lane < type.lanes(); ++lane) {
    count.push_back(element->isIntegerTy()
                        ? static_cast<llvm::Constant*>(llvm::ConstantInt::get(element, lane))
                        : llvm::ConstantFP::get(element, lane));
  }
  Number number = {llvm::ConstantVector::get(count), nullptr};
  if (ir::IsComplex(type.dtype())) {
    number.imag = llvm::Constant::getNullValue(number.value->getType());
  }
  return number;
}

// Of up to 64 lanes: a bit each, and one behind them that ends what none of them does.
Value* FirstLane(llvm::IRBuilder<>& builder, Value* mask) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  llvm::Type* word = builder.getInt64Ty();
  Value* bits = builder.CreateZExt(builder.CreateBitCast(mask, builder.getIntNTy(lanes)), word);
  if (lanes < 64) bits = builder.CreateOr(bits, builder.getInt64(uint64_t{1} << lanes));
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder.getInt1(lanes < 64));
}

llvm::SmallVector<int, 128> Range(int first, int count) {
  llvm::SmallVector<int, 128> lanes;
  for (int lane = first; lane < first + count; ++lane) lanes.push_back(lane);
  return lanes;
}

// --- What a thread of a kernel reads or writes of neighbours: one access where the address is a
// multiple of its size, which a GPU asks for, and one for each where it is not ---

Value* LaneAddress(Emission& emission, const MemoryTraits& traits, const LanesPlace& place,
                   int lane) {
  return emission.builder.CreateConstGEP1_64(emission.builder.getInt8Ty(), place.address,
                                             lane * ir::SizeInBytes(traits.dtype));
}

// Runs one of two, the first with the traits of the whole; gives the blocks where they end.
template <typename Together, typename Apart>
std::pair<BasicBlock*, BasicBlock*> WhetherAligned(Emission& emission, const MemoryTraits& traits,
                                                   const LanesPlace& place, Together together,
                                                   Apart apart) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  const int64_t size = ir::SizeInBytes(traits.dtype) * place.lanes;
  BasicBlock* blocks[3];
  for (BasicBlock*& block : blocks)
    block = BasicBlock::Create(emission.context(), "neighbours", function);
  Value* beyond = builder.CreateAnd(builder.CreatePtrToInt(place.address, builder.getInt64Ty()),
                                    builder.getInt64(size - 1));
  builder.CreateCondBr(builder.CreateIsNull(beyond), blocks[0], blocks[1]);
  builder.SetInsertPoint(blocks[0]);
  MemoryTraits whole = traits;
  whole.alignment = llvm::Align(size);
  together(whole);
  builder.CreateBr(blocks[2]);
  builder.SetInsertPoint(blocks[1]);
  apart();
  builder.CreateBr(blocks[2]);
  builder.SetInsertPoint(blocks[2]);
  return {blocks[0], blocks[1]};
}

Number LoadNeighbours(Emission& emission, const MemoryTraits& traits, const LanesPlace& place) {
  llvm::IRBuilder<>& builder = emission.builder;
  Number at_once, joined;
  const auto [together, apart] = WhetherAligned(
      emission, traits, place,
      [&](const MemoryTraits& whole) { at_once = LoadLanes(emission, whole, place); },
      [&] {
        joined = ForParts(
            at_once, [](Value* part) -> Value* { return llvm::PoisonValue::get(part->getType()); });
        for (int lane = 0; lane < place.lanes; ++lane) {
          const Number one =
              LoadNumber(emission, traits, LaneAddress(emission, traits, place, lane));
          joined.value = builder.CreateInsertElement(joined.value, one.value, lane);
          if (one.imag != nullptr)
            joined.imag = builder.CreateInsertElement(joined.imag, one.imag, lane);
        }
      });
  const auto either = [&](Value* one, Value* other) {
    llvm::PHINode* phi = builder.CreatePHI(one->getType(), 2);
    phi->addIncoming(one, together);
    phi->addIncoming(other, apart);
    return phi;
  };
  Value* value = either(at_once.value, joined.value);
  return {value, at_once.imag == nullptr ? nullptr : either(at_once.imag, joined.imag)};
}

void StoreNeighbours(Emission& emission, const MemoryTraits& traits, const LanesPlace& place,
                     const Number& number) {
  WhetherAligned(
      emission, traits, place,
      [&](const MemoryTraits& whole) { StoreLanes(emission, whole, place, number); },
      [&] {
        for (int lane = 0; lane < place.lanes; ++lane) {
          const Number one = ForParts(number, [&](Value* part) {
            return emission.builder.CreateExtractElement(part, lane);
          });
          StoreNumber(emission, traits, LaneAddress(emission, traits, place, lane), one);
        }
      });
}

constexpr unsigned kBytesOfPart = 16;  // of a register, between which few instructions move lanes

int LanesOf(Value* vector) {
  return static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
}

// The first `lanes` of each of two, of both as many.
Value* Joined(llvm::IRBuilder<>& builder, Value* one, Value* other, int lanes) {
  llvm::SmallVector<int, 128> places = Range(0, lanes);
  for (int lane = 0; lane < lanes; ++lane) places.push_back(LanesOf(one) + lane);
  return builder.CreateShuffleVector(one, other, places);
}

// All behind one another; they are as many as a power of two, and alike.
Value* Joined(llvm::IRBuilder<>& builder, std::vector<Value*> vectors) {
  while (vectors.size() > 1) {
    std::vector<Value*> pairs;
    for (size_t k = 0; k < vectors.size(); k += 2)
      pairs.push_back(Joined(builder, vectors[k], vectors[k + 1], LanesOf(vectors[k])));
    vectors = std::move(pairs);
  }
  return vectors[0];
}

// Of two, the lanes that stand in the first or the second half of each part of their registers,
// those of one and of the other by turns.
Value* Woven(llvm::IRBuilder<>& builder, Value* one, Value* other, int part, bool second) {
  llvm::SmallVector<int, 128> places;
  for (int first = second ? part / 2 : 0; first < LanesOf(one); first += part) {
    for (int lane = first; lane < first + part / 2; ++lane) {
      places.push_back(lane);
      places.push_back(LanesOf(one) + lane);
    }
  }
  return builder.CreateShuffleVector(one, other, places);
}

// Many vectors that are each a part of a register, or less: a square of them is turned in each
// part, and no lane goes from part to part. Parts are put where they belong as they are loaded.
Value* InterleavedParts(llvm::IRBuilder<>& builder, std::vector<Value*> vectors) {
  const int count = static_cast<int>(vectors.size()), lanes = LanesOf(vectors[0]);
  const size_t all = std::max<size_t>(std::bit_ceil(vectors.size()), lanes);
  vectors.resize(all, llvm::PoisonValue::get(vectors[0]->getType()));
  std::vector<Value*> turned;
  for (int row = 0; row < lanes; ++row) {
    std::vector<Value*> parts;
    for (size_t k = row; k < all; k += lanes) parts.push_back(vectors[k]);
    turned.push_back(Joined(builder, std::move(parts)));
  }
  for (int round = 1; round < lanes; round *= 2) {
    std::vector<Value*> next;
    for (int k = 0; k < lanes / 2; ++k) {
      for (const bool second : {false, true})
        next.push_back(Woven(builder, turned[k], turned[k + lanes / 2], lanes, second));
    }
    turned = std::move(next);
  }
  std::vector<Value*> pairs;
  for (int k = 0; k < lanes; k += 2)
    pairs.push_back(Joined(builder, turned[k], turned[k + 1], count));
  return Joined(builder, std::move(pairs));
}

// How many lanes of each vector are a part, where those of so many are a square or more; else 0.
int LanesOfPart(const std::vector<Value*>& vectors) {
  const unsigned lanes = LanesOf(vectors[0]);
  const unsigned bits = vectors[0]->getType()->getScalarSizeInBits();
  if (vectors.size() < std::max(lanes, 4U) || !std::has_single_bit(lanes) || bits < 8) return 0;
  const unsigned part = std::min(lanes, 8 * kBytesOfPart / bits);
  return part > 1 ? static_cast<int>(part) : 0;
}

Value* InterleavedByParts(llvm::IRBuilder<>& builder, const std::vector<Value*>& vectors,
                          int part) {
  std::vector<Value*> turned;
  for (int first = 0; first < LanesOf(vectors[0]); first += part) {
    std::vector<Value*> parts;
    for (Value* vector : vectors)
      parts.push_back(builder.CreateShuffleVector(vector, Range(first, part)));
    turned.push_back(InterleavedParts(builder, std::move(parts)));
  }
  return Joined(builder, std::move(turned));
}

// The first lanes of all, then their second lanes: all behind one another, then in that order. Of
// one and the same vector, as masks mostly are, its lanes again and again.
Value* Interleaved(llvm::IRBuilder<>& builder, std::vector<Value*> vectors) {
  const int count = static_cast<int>(vectors.size()), lanes = LanesOf(vectors[0]);
  Value* all = vectors[0];
  if (std::count(vectors.begin(), vectors.end(), all) == count) {
    llvm::SmallVector<int, 128> again;
    for (int lane = 0; lane < count * lanes; ++lane) again.push_back(lane / count);
    return builder.CreateShuffleVector(all, again);
  }
  if (const int part = LanesOfPart(vectors)) return InterleavedByParts(builder, vectors, part);
  for (int k = 1; k < count; ++k) {
    Value* next = vectors[k];
    if (k > 1) {  // Both sides of a shuffle have as many lanes.
      llvm::SmallVector<int, 128> longer(k * lanes, llvm::PoisonMaskElem);
      for (int lane = 0; lane < lanes; ++lane) longer[lane] = lane;
      next = builder.CreateShuffleVector(next, longer);
    }
    llvm::SmallVector<int, 128> behind = Range(0, (k + 1) * lanes);
    all = builder.CreateShuffleVector(all, next, behind);
  }
  llvm::SmallVector<int, 128> places;
  for (int lane = 0; lane < count * lanes; ++lane)
    places.push_back(lane % count * lanes + lane / count);
  return builder.CreateShuffleVector(all, places);
}

Number Interleaved(Emission& emission, const std::vector<Number>& numbers) {
  std::vector<Value*> values, imags;
  for (const Number& number : numbers) {
    values.push_back(number.value);
    if (number.imag != nullptr) imags.push_back(number.imag);
  }
  return {Interleaved(emission.builder, values),
          imags.empty() ? nullptr : Interleaved(emission.builder, imags)};
}

constexpr int kBytesOfLine = 64;  // of a cache

bool IsStore(OpCode op) { return op == OpCode::kStoreLanes || op == OpCode::kScatterLanes; }

}  // namespace

// In memory that several threads of a kernel see: what a thread has of its own is in registers.
bool FunctionEmitter::IsOfNeighbours(const ir::Binding& access) {
  return InKernel() && !kernel_.own.contains(access.operands[0].var()) &&
         (access.op == OpCode::kLoadLanes || access.op == OpCode::kStoreLanes);
}

void FunctionEmitter::CheckLanes(const Operand& array, const LanesPlace& place, int access) {
  for (int lane = 0; lane < place.lanes; ++lane)
    CheckAccess(array, LaneAddress(emission_, TraitsOf(array), place, lane), access);
}

// Where they lie at a multiple of their size, nothing is asked.
MemoryTraits FunctionEmitter::TraitsOfWhole(const Operand& array, const LanesPlace& place) {
  MemoryTraits traits = TraitsOf(array);
  traits.alignment = llvm::Align(ir::SizeInBytes(traits.dtype) * place.lanes);
  return traits;
}

void FunctionEmitter::EmitLoadLanes(const ir::Binding& load) {
  const Operand& array = load.operands[0];
  const LanesPlace place = PlaceOf(load, load.result()->type.lanes());
  const auto define = [&](const Number& number) { numbers_[load.result()] = number; };
  if (!IsOfNeighbours(load)) return define(LoadLanes(emission_, TraitsOf(array), place));
  CheckLanes(array, place, kPkAccessLoad);
  const bool is_whole = load.attrs.Int(Attr::kWhole) != 0;
  MemoryTraits traits = is_whole ? TraitsOfWhole(array, place) : TraitsOf(array);
  traits.unchanged = load.attrs.Int(Attr::kUnchanged) != 0 && !emission_.is_x86;
  define(is_whole ? LoadLanes(emission_, traits, place) : LoadNeighbours(emission_, traits, place));
}

void FunctionEmitter::EmitStoreLanes(const ir::Binding& store) {
  const Operand& array = store.operands[0];
  const Operand& value = store.operands[1 + TypeOf(array).rank()];
  const LanesPlace place = PlaceOf(store, TypeOf(value).lanes());
  if (!IsOfNeighbours(store)) {
    MemoryTraits traits = TraitsOf(array);
    traits.streams = store.attrs.Int(Attr::kStreams) != 0;
    if (traits.streams) traits.alignment = llvm::Align(kBytesOfLine);
    return StoreLanes(emission_, traits, place, NumberOf(value));
  }
  CheckLanes(array, place, kPkAccessStore);
  if (store.attrs.Int(Attr::kWhole) != 0)
    return StoreLanes(emission_, TraitsOfWhole(array, place), place, NumberOf(value));
  StoreNeighbours(emission_, TraitsOf(array), place, NumberOf(value));
}

void FunctionEmitter::EmitLanes(const ir::Binding& binding) {
  const OpCode op = binding.op;
  if (IsStore(op)) return EmitStoreLanes(binding);
  const Operand& first = binding.operands.empty() ? Operand() : binding.operands[0];
  const ir::Type& type = binding.result()->type;
  const auto define = [&](const Number& number) { numbers_[binding.result()] = number; };
  switch (op) {
    case OpCode::kLoadLanes:
    case OpCode::kGatherLanes: return EmitLoadLanes(binding);
    case OpCode::kSplat:
      return define(ForParts(NumberOf(first), [&](Value* part) {
        return builder_.CreateVectorSplat(type.lanes(), part);
      }));
    case OpCode::kIota: return define(Iota(emission_, type));
    case OpCode::kLowHalf:
    case OpCode::kHighHalf: {
      const auto lanes = Range(op == OpCode::kLowHalf ? 0 : type.lanes(), type.lanes());
      return define(ForParts(NumberOf(first), [&](Value* part) {
        // A half of two lanes is a scalar.
        return lanes.size() > 1 ? builder_.CreateShuffleVector(part, lanes)
                                : builder_.CreateExtractElement(part, lanes[0]);
      }));
    }
    case OpCode::kInterleave: {
      std::vector<Number> operands;
      for (const Operand& operand : binding.operands) operands.push_back(NumberOf(operand));
      return define(Interleaved(emission_, operands));
    }
    case OpCode::kSlide: {
      const auto lanes = Range(static_cast<int>(binding.attrs.Int(Attr::kBy)), type.lanes());
      const Number a = NumberOf(first), b = NumberOf(binding.operands[1]);
      Value* const value = builder_.CreateShuffleVector(a.value, b.value, lanes);
      if (a.imag == nullptr) return define({value, nullptr});
      return define({value, builder_.CreateShuffleVector(a.imag, b.imag, lanes)});
    }
    case OpCode::kExtract: {
      Value* lane = ValueOf(binding.operands[1]);
      return define(ForParts(
          NumberOf(first), [&](Value* part) { return builder_.CreateExtractElement(part, lane); }));
    }
    case OpCode::kAny: return define({builder_.CreateOrReduce(ValueOf(first)), nullptr});
    case OpCode::kAllLanes: return define({builder_.CreateAndReduce(ValueOf(first)), nullptr});
    case OpCode::kFirstLane: return define({FirstLane(builder_, ValueOf(first)), nullptr});
    default: ir::FailBug("no code for " + std::string(ir::Name(op)), binding.span);
  }
}

LanesPlace FunctionEmitter::PlaceOf(const ir::Binding& binding, int lanes) {
  const Operand& array = binding.operands[0];
  const llvm::ArrayRef<Operand> index =
      llvm::ArrayRef<Operand>(binding.operands).slice(1, TypeOf(array).rank());
  LanesPlace place;
  place.lanes = lanes;
  if (binding.attrs.Int(Attr::kMasked)) place.mask = ValueOf(binding.operands.back());
  if (binding.op == OpCode::kGatherLanes || binding.op == OpCode::kScatterLanes) {
    AddIndexVectors(binding, place);
    return place;
  }
  // Lane 0's place need not exist where the mask leaves it out.
  place.address = AddressOf(array, index, /*inside=*/place.mask == nullptr);
  const bool is_flat = binding.attrs.Int(Attr::kFlat) != 0;
  Value* stride = is_flat ? I64(ir::SizeInBytes(DTypeOf(array)))
                          : ArrayOf(array).strides[binding.attrs.Int(Attr::kAxis)];
  place.stride = builder_.CreateMul(stride, I64(binding.attrs.Int(Attr::kStep, 1)));
  place.repeat = static_cast<int>(binding.attrs.Int(Attr::kRepeat, 1));
  place.phase = static_cast<int>(binding.attrs.Int(Attr::kPhase));
  place.place = static_cast<int>(binding.attrs.Int(Attr::kPlace, -1));
  return place;
}

// Scalar indices move the address, vectors of them make the offsets: in elements where all their
// strides are whole numbers of them, else in bytes.
void FunctionEmitter::AddIndexVectors(const ir::Binding& binding, LanesPlace& place) {
  const Operand& array = binding.operands[0];
  const ArrayValue value = ArrayOf(array);
  const ir::DType dtype = DTypeOf(array);
  const int64_t size = ir::SizeInBytes(dtype);
  place.address = value.data;
  place.unit = size;
  const auto index_of = [&](size_t axis) { return binding.operands[1 + axis]; };
  const auto in_elements = [&](Value* stride) {
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(stride);
    return constant != nullptr && constant->getSExtValue() % size == 0;
  };
  for (size_t axis = 0; axis < value.strides.size(); ++axis) {
    if (!TypeOf(index_of(axis)).IsVector()) {
      place.address = Advance(emission_, place.address, ValueOf(index_of(axis)),
                              value.strides[axis], dtype, /*inside=*/false);
    } else if (!in_elements(value.strides[axis])) {
      place.unit = 1;
    }
  }
  for (size_t axis = 0; axis < value.strides.size(); ++axis) {
    if (!TypeOf(index_of(axis)).IsVector()) continue;
    Value* stride = value.strides[axis];
    if (place.unit != 1) {
      stride = I64(llvm::cast<llvm::ConstantInt>(stride)->getSExtValue() / size);
    }
    Value* steps = builder_.CreateVectorSplat(place.lanes, stride);
    Value* part = builder_.CreateMul(ValueOf(index_of(axis)), steps);
    place.offsets = place.offsets == nullptr ? part : builder_.CreateAdd(place.offsets, part);
  }
  if (place.offsets == nullptr) {
    auto* type = llvm::FixedVectorType::get(builder_.getInt64Ty(), place.lanes);
    place.offsets = llvm::Constant::getNullValue(type);
  }
}

}  // namespace parakeet::backends
