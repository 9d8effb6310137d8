// The part of memory_access.h about lanes.
#include "backends/llvm/memory_access.h"
#include "ir/dtype.h"
#include "llvm/Analysis/ValueTracking.h"

namespace parakeet::backends {
namespace {

using llvm::FixedVectorType;
using llvm::SmallVector;
using llvm::Value;

constexpr int64_t kLongestStep = 4;     // Of lanes that are picked out of whole vectors.
constexpr int64_t kBytesOfPage = 4096;  // At least.
constexpr int kFewestBytes = 8;         // Under a mask: of fewer, a branch each is no more.
constexpr const char* kKeepsRolled = "llvm.loop.unroll.disable";

// One access: dtype, place and how to write it.
class LanesAccess {
 public:
  LanesAccess(Emission& emission, const MemoryTraits& traits, const LanesPlace& place)
      : emission_(emission), builder_(emission.builder), traits_(traits), place_(place) {
    size_ = ir::SizeInBytes(traits.dtype);
    is_complex_ = ir::IsComplex(traits.dtype);
    part_type_ = MemoryType(emission, traits.dtype, place.lanes);
    if (place.stride == nullptr) return;
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(place.stride)) {
      const int64_t distance = constant->getSExtValue();
      step_ = distance == size_ ? 1 : distance == -size_ ? -1 : 0;
      const bool is_short = distance > size_ && distance <= kLongestStep * size_;
      if (is_short && distance % size_ == 0) gap_ = static_cast<int>(distance / size_);
    }
  }

  Number Load() {
    if (place_.repeat > 1) return LoadRepeated();
    if (gap_ > 0 && CanPick()) return {LoadPicked(), nullptr};
    if (step_ == 0) return LoadApart();
    return is_complex_ ? LoadPairs() : Number{Reversed(LoadRun(part_type_, MaskOfRun())), nullptr};
  }

  void Store(const Number& number) {
    if (gap_ > 0 && CanSpread()) return StoreSpread(number.value);
    if (step_ == 0) return StoreApart(number);
    if (is_complex_) return StorePairs(number);
    StoreRun(Reversed(number.value), MaskOfRun());
  }

 private:
  // Neighbours in memory are one vector access; lane 0 is at its end where the step is -1.
  Value* RunAddress() {
    if (step_ == 1) return place_.address;
    const int64_t offset = -size_ * (place_.lanes - 1);
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), place_.address, offset);
  }

  Value* Reversed(Value* value) {
    return step_ == 1 || value == nullptr ? value : builder_.CreateVectorReverse(value);
  }

  Value* MaskOfRun() { return Reversed(place_.mask); }

  // Where a processor has no masks of bytes, LLVM makes a branch for each of them: a loop goes
  // through those that are on.
  bool GoesOneByOne(Value* mask) const {
    const int lanes = mask == nullptr ? 0 : LengthOf(mask);
    return emission_.is_x86 && !emission_.has_gathers && size_ <= 2 && lanes >= kFewestBytes &&
           lanes <= 64 && llvm::isPowerOf2_32(unsigned(lanes));
  }

  // Numbers of the lanes that are on, in order.
  template <typename Use>
  void ForEachOn(Value* mask, const Use& use) {
    llvm::Type* word = builder_.getInt64Ty();
    Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(unsigned(LengthOf(mask))));
    bits = builder_.CreateZExt(bits, word);
    const auto are_some = [&](Value* left) {
      return builder_.CreateICmpNE(left, builder_.getInt64(0));
    };
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::LLVMContext& context = emission_.context();
    auto* each = llvm::BasicBlock::Create(context, "lane", before->getParent());
    auto* after = llvm::BasicBlock::Create(context, "after", before->getParent());
    builder_.CreateCondBr(are_some(bits), each, after);
    builder_.SetInsertPoint(each);
    llvm::PHINode* left = builder_.CreatePHI(word, 2);
    use(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder_.getTrue()));
    Value* rest = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt64(1)));
    left->addIncoming(bits, before);
    left->addIncoming(rest, each);
    llvm::Instruction* again = builder_.CreateCondBr(are_some(rest), each, after);
    auto* asked = llvm::MDNode::get(context, llvm::MDString::get(context, kKeepsRolled));
    llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, asked});
    loop->replaceOperandWith(0, loop);
    again->setMetadata(llvm::LLVMContext::MD_loop, loop);
    builder_.SetInsertPoint(after);
  }

  // Where lanes stand on the stack, to be taken one by one.
  Value* PlaceOf(llvm::Type* type) {
    llvm::BasicBlock& entry = builder_.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> first(&entry, entry.getFirstInsertionPt());
    return first.CreateAlloca(type);
  }

  // What lies in one page with a lane that is on may be read, all of it: what is off is dropped.
  Value* LoadOn(llvm::Type* type, Value* address, Value* mask) {
    if (llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address)))
      return LoadEachOn(type, address, mask);
    llvm::LLVMContext& context = emission_.context();
    llvm::Function* function = builder_.GetInsertBlock()->getParent();
    auto* whole = llvm::BasicBlock::Create(context, "whole", function);
    auto* apart = llvm::BasicBlock::Create(context, "apart", function);
    auto* loaded = llvm::BasicBlock::Create(context, "loaded", function);
    llvm::Type* word = builder_.getInt64Ty();
    Value* in_page = builder_.CreateAnd(builder_.CreatePtrToInt(address, word), kBytesOfPage - 1);
    const int64_t last = kBytesOfPage - int64_t{LengthOf(mask)} * size_;
    Value* fits = builder_.CreateICmpULE(in_page, builder_.getInt64(uint64_t(last)));
    Value* reads = builder_.CreateAnd(builder_.CreateOrReduce(mask), fits);
    builder_.CreateCondBr(reads, whole, apart);
    builder_.SetInsertPoint(whole);
    llvm::Instruction* all = builder_.CreateAlignedLoad(type, address, traits_.alignment);
    traits_.scopes.Mark(all);
    Value* chosen = builder_.CreateSelect(mask, all, llvm::Constant::getNullValue(type));
    builder_.CreateBr(loaded);
    builder_.SetInsertPoint(apart);
    Value* one_by_one = LoadEachOn(type, address, mask);
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateBr(loaded);
    builder_.SetInsertPoint(loaded);
    llvm::PHINode* lanes = builder_.CreatePHI(type, 2);
    lanes->addIncoming(chosen, whole);
    lanes->addIncoming(one_by_one, end);
    return lanes;
  }

  Value* LoadEachOn(llvm::Type* type, Value* address, Value* mask) {
    llvm::Type* element = type->getScalarType();
    Value* lanes = PlaceOf(type);
    builder_.CreateStore(llvm::Constant::getNullValue(type), lanes);
    ForEachOn(mask, [&](Value* lane) {
      llvm::Instruction* load = builder_.CreateAlignedLoad(
          element, builder_.CreateGEP(element, address, lane), traits_.alignment);
      traits_.scopes.Mark(load);
      builder_.CreateStore(load, builder_.CreateGEP(element, lanes, lane));
    });
    return builder_.CreateLoad(type, lanes);
  }

  void StoreOn(Value* value, Value* address, Value* mask) {
    llvm::Type* element = value->getType()->getScalarType();
    Value* lanes = PlaceOf(value->getType());
    builder_.CreateStore(value, lanes);
    ForEachOn(mask, [&](Value* lane) {
      Value* load = builder_.CreateLoad(element, builder_.CreateGEP(element, lanes, lane));
      traits_.scopes.Mark(builder_.CreateAlignedStore(
          load, builder_.CreateGEP(element, address, lane), traits_.alignment));
    });
  }

  Value* LoadRun(llvm::Type* type, Value* mask) {
    if (GoesOneByOne(mask)) return LoadOn(type, RunAddress(), mask);
    llvm::Instruction* load;
    if (mask == nullptr) {
      load = builder_.CreateAlignedLoad(type, RunAddress(), traits_.alignment);
    } else {
      load = builder_.CreateMaskedLoad(type, RunAddress(), traits_.alignment, mask,
                                       llvm::Constant::getNullValue(type));
    }
    traits_.scopes.Mark(load);
    if (traits_.unchanged) {
      llvm::MDNode* nothing = llvm::MDNode::get(emission_.context(), {});
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, nothing);
    }
    return load;
  }

  void StoreRun(Value* value, Value* mask) {
    if (mask != nullptr) return StoreMasked(value, RunAddress(), mask);
    llvm::StoreInst* store = builder_.CreateAlignedStore(value, RunAddress(), traits_.alignment);
    traits_.scopes.Mark(store);
    if (!traits_.streams) return;
    auto* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                       llvm::MDNode::get(emission_.context(), one));
  }

  void StoreMasked(Value* value, Value* address, Value* mask) {
    value = Padded(value, llvm::PoisonValue::get(value->getType()));
    mask = Padded(mask, AllOff(LengthOf(mask)));
    if (GoesOneByOne(mask)) return StoreOn(value, address, mask);
    traits_.scopes.Mark(builder_.CreateMaskedStore(value, address, traits_.alignment, mask));
  }

  static int LengthOf(Value* vector) {
    return static_cast<int>(llvm::cast<FixedVectorType>(vector->getType())->getNumElements());
  }

  Value* AllOff(int lanes) {
    return llvm::Constant::getNullValue(FixedVectorType::get(builder_.getInt1Ty(), lanes));
  }

  // The vector with a power of 2 of lanes, the last ones of `rest`: masks of other lengths would
  // pass from block to block bit by bit.
  Value* Padded(Value* vector, Value* rest) {
    const int count = LengthOf(vector);
    const int whole = static_cast<int>(llvm::bit_ceil(static_cast<unsigned>(count)));
    if (whole == count) return vector;
    SmallVector<int, 128> lanes;
    for (int lane = 0; lane < whole; ++lane) lanes.push_back(lane < count ? lane : count);
    return builder_.CreateShuffleVector(vector, rest, lanes);
  }

  // Complex numbers lie as pairs: 2n parts.
  Value* MaskOfPairs() {
    Value* mask = MaskOfRun();
    if (mask == nullptr) return nullptr;
    SmallVector<int, 64> places;
    for (int lane = 0; lane < place_.lanes; ++lane) places.append({lane, lane});
    return builder_.CreateShuffleVector(mask, places);
  }

  Number LoadPairs() {
    llvm::Type* type = MemoryType(emission_, traits_.dtype, 2 * place_.lanes);
    Value* pairs = LoadRun(type, MaskOfPairs());
    SmallVector<int, 64> even, odd;
    for (int lane = 0; lane < place_.lanes; ++lane) {
      even.push_back(2 * lane);
      odd.push_back(2 * lane + 1);
    }
    return {Reversed(builder_.CreateShuffleVector(pairs, even)),
            Reversed(builder_.CreateShuffleVector(pairs, odd))};
  }

  void StorePairs(const Number& number) {
    Value *real = Reversed(number.value), *imag = Reversed(number.imag);
    SmallVector<int, 64> places;
    for (int lane = 0; lane < place_.lanes; ++lane) places.append({lane, place_.lanes + lane});
    StoreRun(builder_.CreateShuffleVector(real, imag, places), MaskOfPairs());
  }

  // Where a processor has no masks, LLVM makes a branch for each number.
  bool CanPick() const { return !is_complex_ && (place_.mask == nullptr || emission_.has_gathers); }

  // Every second, third or fourth number: as many vectors cover them. Where nobody reads those
  // behind the last lane's, nothing may lie there: the last vector ends with that lane, or the
  // mask leaves out what is between lanes.
  Value* LoadPicked() {
    if (place_.place >= 0) return LoadFromWhole();
    const int last = (place_.lanes - 1) * gap_ + 1 - place_.lanes;
    Value* picked = nullptr;
    SmallVector<int, 64> from(place_.lanes, llvm::PoisonMaskElem);
    for (int part = 0; part < gap_; ++part) {
      const bool ends_early = part + 1 == gap_ && place_.mask == nullptr;
      const int first = ends_early ? last : part * place_.lanes;
      Value* load = LoadPart(first, place_.lanes, MaskOfPart(part));
      for (int lane = 0; lane < place_.lanes; ++lane) {
        const int at = lane * gap_ - first;
        if (at < 0) continue;
        if (at < place_.lanes) from[lane] = part == 0 ? at : place_.lanes + at;
      }
      picked = part == 0 ? load : builder_.CreateShuffleVector(picked, load, from);
      for (int lane = 0; lane < place_.lanes; ++lane) {
        if (from[lane] >= 0 && part > 0) from[lane] = lane;
      }
    }
    return picked;
  }

  // Where masks are of single bytes. Of long numbers as many stores would be left.
  bool CanSpread() const {
    return !is_complex_ && emission_.is_x86 && emission_.has_gathers && size_ <= 4;
  }

  // Every second, third or fourth number, by masks that leave out what is between lanes.
  void StoreSpread(Value* value) {
    SmallVector<int, 128> numbers, lanes;
    for (int lane = 0; lane < place_.lanes; ++lane) {
      numbers.push_back(lane);
      numbers.append(gap_ - 1, llvm::PoisonMaskElem);
      lanes.push_back(lane);
      lanes.append(gap_ - 1, place_.lanes);
    }
    StoreMasked(builder_.CreateShuffleVector(value, numbers), place_.address,
                builder_.CreateShuffleVector(AllLanes(), AllOff(place_.lanes), lanes));
  }

  // All that lies there as one vector, which those that read other places of it load too: LLVM
  // knows for a processor how the likes of it are taken apart.
  Value* LoadFromWhole() {
    const int count = gap_ * place_.lanes;
    SmallVector<int, 128> lanes;
    for (int number = 0; number < count; ++number) lanes.push_back(number / gap_);
    Value* mask = place_.mask;
    if (mask != nullptr) mask = Padded(builder_.CreateShuffleVector(mask, lanes), AllOff(count));
    Value* all = LoadPart(-place_.place, mask == nullptr ? count : LengthOf(mask), mask);
    SmallVector<int, 64> from;
    for (int lane = 0; lane < place_.lanes; ++lane) from.push_back(lane * gap_ + place_.place);
    return builder_.CreateShuffleVector(all, from);
  }

  // As many numbers as that, from the one so many behind the first lane's on.
  Value* LoadPart(int first, int count, Value* mask) {
    Value* address =
        builder_.CreateConstGEP1_64(builder_.getInt8Ty(), place_.address, int64_t{first} * size_);
    llvm::Type* type = MemoryType(emission_, traits_.dtype, count);
    llvm::Instruction* load;
    if (mask == nullptr) {
      load = builder_.CreateAlignedLoad(type, address, traits_.alignment);
    } else {
      load = builder_.CreateMaskedLoad(type, address, traits_.alignment, mask,
                                       llvm::Constant::getNullValue(type));
    }
    traits_.scopes.Mark(load);
    return load;
  }

  // Of the numbers of one of the vectors that lanes are picked out of: those of a lane that is on.
  Value* MaskOfPart(int part) {
    if (place_.mask == nullptr) return nullptr;
    SmallVector<int, 64> lanes;
    for (int k = 0; k < place_.lanes; ++k) {
      const int number = part * place_.lanes + k;
      lanes.push_back(number % gap_ == 0 ? number / gap_ : place_.lanes);
    }
    Value* none = llvm::Constant::getNullValue(place_.mask->getType());
    return builder_.CreateShuffleVector(place_.mask, none, lanes);
  }

  // Lanes some of which, one after the other, read the same number: neighbours in memory are
  // two vectors, of which the second ends with the last.
  Number LoadRepeated() {
    const bool can_mask = place_.mask == nullptr || emission_.has_gathers;
    const int count = NumberOfLane(place_.lanes - 1) + 1;
    if (step_ != 1 || is_complex_ || !can_mask || count < 2) return LoadApart();
    const int half = static_cast<int>(llvm::bit_floor(static_cast<unsigned>(count)));
    Value* low = LoadPart(0, half, MaskOfNumbers(0, half));
    Value* high = low;
    if (half < count) high = LoadPart(count - half, half, MaskOfNumbers(count - half, half));
    SmallVector<int, 64> from;
    for (int lane = 0; lane < place_.lanes; ++lane) {
      const int number = NumberOfLane(lane);
      from.push_back(number < half ? number : 2 * half - count + number);
    }
    Value* all = builder_.CreateShuffleVector(low, high, from);
    if (place_.mask == nullptr) return {all, nullptr};
    // A lane that is off may share its number with one that is on.
    return {builder_.CreateSelect(place_.mask, all, llvm::Constant::getNullValue(part_type_)),
            nullptr};
  }

  int NumberOfLane(int lane) const { return (lane + place_.phase) / place_.repeat; }

  // Those that some lane reads which is on.
  Value* MaskOfNumbers(int first, int count) {
    if (place_.mask == nullptr) return nullptr;
    Value* none = llvm::Constant::getNullValue(place_.mask->getType());
    Value* some = nullptr;
    for (int k = 0; k < place_.repeat; ++k) {
      SmallVector<int, 64> lanes;
      for (int number = first; number < first + count; ++number) {
        const int lane = number * place_.repeat + k - place_.phase;
        lanes.push_back(lane >= 0 && lane < place_.lanes ? lane : place_.lanes);
      }
      Value* each = builder_.CreateShuffleVector(place_.mask, none, lanes);
      some = some == nullptr ? each : builder_.CreateOr(some, each);
    }
    return some;
  }

  // Lanes at any distance are gathered and scattered, part by part.
  Value* Addresses() {
    Value* offsets = place_.offsets;
    int64_t unit = place_.unit;
    if (offsets == nullptr) {
      SmallVector<llvm::Constant*, 64> count;
      for (int lane = 0; lane < place_.lanes; ++lane)
        count.push_back(builder_.getInt64(NumberOfLane(lane)));
      Value* iota = llvm::ConstantVector::get(count);
      offsets = builder_.CreateMul(iota, builder_.CreateVectorSplat(place_.lanes, place_.stride));
      unit = 1;
    }
    llvm::Type* element = llvm::ArrayType::get(builder_.getInt8Ty(), unit);
    if (unit == size_ && !is_complex_) element = MemoryType(emission_, traits_.dtype);
    return builder_.CreateGEP(unit == 1 ? builder_.getInt8Ty() : element, place_.address, offsets);
  }

  Value* ImagAddresses(Value* addresses) {
    return builder_.CreateGEP(builder_.getInt8Ty(), addresses, builder_.getInt64(size_ / 2));
  }

  Value* AllLanes() {
    auto* type = FixedVectorType::get(builder_.getInt1Ty(), place_.lanes);
    return place_.mask != nullptr ? place_.mask : llvm::Constant::getAllOnesValue(type);
  }

  // Where a processor has no gathers, LLVM makes a branch for each lane that may be masked: such
  // lanes read from, and write to, a place of their own instead.
  Value* Redirected(Value* addresses, Value* nowhere) {
    return builder_.CreateSelect(place_.mask, addresses,
                                 builder_.CreateVectorSplat(place_.lanes, nowhere));
  }

  bool IsRedirected() const {
    return place_.mask != nullptr && emission_.is_x86 && !emission_.has_gathers;
  }

  Value* Gather(Value* addresses) {
    llvm::Constant* zeros = llvm::Constant::getNullValue(part_type_);
    Value* lanes = AllLanes();
    if (IsRedirected()) {
      addresses = Redirected(addresses, emission_.Zeros());
      lanes = llvm::Constant::getAllOnesValue(lanes->getType());
    }
    auto* load =
        builder_.CreateMaskedGather(part_type_, addresses, traits_.alignment, lanes, zeros);
    traits_.scopes.Mark(load);
    return load;
  }

  // Lanes at one distance: instructions that gather and scatter are no faster where memory is slow,
  // and up to three times slower where it is not.
  bool IsOneByOne() const {
    return emission_.is_x86 && place_.mask == nullptr && place_.offsets == nullptr;
  }

  Value* AddressOfLane(int lane, int64_t offset) {
    Value* distance = builder_.CreateMul(place_.stride, builder_.getInt64(NumberOfLane(lane)));
    return builder_.CreateGEP(builder_.getInt8Ty(), place_.address,
                              builder_.CreateAdd(distance, builder_.getInt64(offset)));
  }

  Value* LoadOneByOne(int64_t offset) {
    Value* lanes = llvm::PoisonValue::get(part_type_);
    for (int lane = 0; lane < place_.lanes; ++lane) {
      auto* load = builder_.CreateAlignedLoad(part_type_->getScalarType(),
                                              AddressOfLane(lane, offset), traits_.alignment);
      traits_.scopes.Mark(load);
      lanes = builder_.CreateInsertElement(lanes, load, lane);
    }
    return lanes;
  }

  void StoreOneByOne(Value* value, int64_t offset) {
    for (int lane = 0; lane < place_.lanes; ++lane) {
      traits_.scopes.Mark(builder_.CreateAlignedStore(builder_.CreateExtractElement(value, lane),
                                                      AddressOfLane(lane, offset),
                                                      traits_.alignment));
    }
  }

  Number LoadApart() {
    if (IsOneByOne()) return {LoadOneByOne(0), is_complex_ ? LoadOneByOne(size_ / 2) : nullptr};
    Value* addresses = Addresses();
    Number number = {Gather(addresses), nullptr};
    if (is_complex_) number.imag = Gather(ImagAddresses(addresses));
    return number;
  }

  void Scatter(Value* value, Value* addresses) {
    Value* lanes = AllLanes();
    if (IsRedirected()) {
      addresses = Redirected(addresses, StackSlot());
      lanes = llvm::Constant::getAllOnesValue(lanes->getType());
    }
    traits_.scopes.Mark(builder_.CreateMaskedScatter(value, addresses, traits_.alignment, lanes));
  }

  // Of one number.
  Value* StackSlot() {
    llvm::BasicBlock& entry = builder_.GetInsertBlock()->getParent()->getEntryBlock();
    return llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(part_type_->getScalarType());
  }

  void StoreApart(const Number& number) {
    if (IsOneByOne()) {
      StoreOneByOne(number.value, 0);
      if (is_complex_) StoreOneByOne(number.imag, size_ / 2);
      return;
    }
    Value* addresses = Addresses();
    Scatter(number.value, addresses);
    if (is_complex_) Scatter(number.imag, ImagAddresses(addresses));
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  const MemoryTraits& traits_;
  const LanesPlace& place_;
  int64_t size_;
  bool is_complex_;
  llvm::Type* part_type_;
  int step_ = 0;  // 1 or -1 where lanes are neighbours in memory,
  int gap_ = 0;   // 2, 3 or 4 where so many elements lie from one to the next
};

}  // namespace

Number LoadLanes(Emission& emission, const MemoryTraits& traits, const LanesPlace& place) {
  Number number = LanesAccess(emission, traits, place).Load();
  if (ir::IsBool(traits.dtype)) number.value = emission.builder.CreateIsNotNull(number.value);
  return number;
}

void StoreLanes(Emission& emission, const MemoryTraits& traits, const LanesPlace& place,
                const Number& number) {
  Number stored = number;
  if (ir::IsBool(traits.dtype)) {
    stored.value =
        emission.builder.CreateZExt(number.value, MemoryType(emission, traits.dtype, place.lanes));
  }
  LanesAccess(emission, traits, place).Store(stored);
}

}  // namespace parakeet::backends
