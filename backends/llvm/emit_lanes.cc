// Operations of the vector stage: lanes in memory, and what joins and parts them.
#include "backends/llvm/function_emitter.h"
#include "ir/diagnostics.h"

namespace parakeet::backends {
namespace {

using ir::Attr;
using ir::OpCode;
using ir::Operand;
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

llvm::SmallVector<int, 64> Range(int first, int count) {
  llvm::SmallVector<int, 64> lanes;
  for (int lane = first; lane < first + count; ++lane) lanes.push_back(lane);
  return lanes;
}

bool IsStore(OpCode op) { return op == OpCode::kStoreLanes || op == OpCode::kScatterLanes; }

}  // namespace

void FunctionEmitter::EmitLanes(const ir::Binding& binding) {
  const OpCode op = binding.op;
  const Operand& first = binding.operands.empty() ? Operand() : binding.operands[0];
  if (IsStore(op)) {
    const Operand& value = binding.operands[1 + TypeOf(first).rank()];
    const LanesPlace place = PlaceOf(binding, TypeOf(value).lanes());
    return StoreLanes(emission_, TraitsOf(first), place, NumberOf(value));
  }
  const ir::Type& type = binding.result()->type;
  const auto define = [&](const Number& number) { numbers_[binding.result()] = number; };
  switch (op) {
    case OpCode::kLoadLanes:
    case OpCode::kGatherLanes:
      return define(LoadLanes(emission_, TraitsOf(first), PlaceOf(binding, type.lanes())));
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
    case OpCode::kExtract: {
      Value* lane = ValueOf(binding.operands[1]);
      return define(ForParts(
          NumberOf(first), [&](Value* part) { return builder_.CreateExtractElement(part, lane); }));
    }
    case OpCode::kAny: return define({builder_.CreateOrReduce(ValueOf(first)), nullptr});
    case OpCode::kAllLanes: return define({builder_.CreateAndReduce(ValueOf(first)), nullptr});
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
  Value* stride = ArrayOf(array).strides[binding.attrs.Int(Attr::kAxis)];
  place.stride = builder_.CreateMul(stride, I64(binding.attrs.Int(Attr::kStep, 1)));
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
