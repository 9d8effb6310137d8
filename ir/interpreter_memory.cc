#include <algorithm>

#include "ir/atomics.h"
#include "ir/diagnostics.h"
#include "ir/evaluate.h"
#include "ir/interpreter_machine.h"

namespace parakeet::ir {
namespace {

constexpr std::byte kFreed{0xdd};

}  // namespace

void Machine::Alloc(const Step& step) {
  const bool fortran = step.binding->attrs.Int(Attr::kFortran) != 0;
  Set(step, 0,
      New(step.binding->result()->type.dtype(), IntsAt(step.operands, 0, step.operands.size()),
          fortran));
}

// The memory stays, so that a later read shows 0xdd rather than crashes.
void Machine::Free(const Step& step) {
  const Storage& storage = ArrayAt(step.operands[0]).storage;
  if (storage == nullptr || lent_.contains(storage.get())) return;
  for (size_t i = 1; i < step.operands.size(); ++i) {
    if (ArrayAt(step.operands[i]).storage == storage) return;
  }
  if (!freed_.insert(storage).second) FailBug("a buffer is freed twice", step.binding->span);
  std::fill(storage->begin(), storage->end(), kFreed);
}

void Machine::Load(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  const size_t rank = array.sizes.size();
  if (step.operands.size() != 1 + rank) {
    FailBug("a load takes an index for every axis", step.binding->span);
  }
  const Index index = IntsAt(step.operands, 1, rank);
  Set(step, 0, LoadElement(array.dtype, ElementAt(array, index)));
}

void Machine::Store(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  const size_t rank = array.sizes.size();
  if (step.operands.size() != 2 + rank) {
    FailBug("a store takes an index for every axis", step.binding->span);
  }
  const Constant& value = ScalarAt(step.operands[1 + rank]);
  if (value.dtype != array.dtype) {
    FailBug("a store takes a value of the array's dtype", step.binding->span);
  }
  StoreElement(value, ElementAt(array, IntsAt(step.operands, 1, rank)));
}

void Machine::Atomic(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  const size_t rank = array.sizes.size();
  std::byte* element = ElementAt(array, IntsAt(step.operands, 1, rank));
  const Constant old = LoadElement(array.dtype, element);
  const auto combined = Evaluate(AtomicCombine(*step.binding).value(),
                                 {old, ScalarAt(step.operands[1 + rank])}, array.dtype);
  StoreElement(combined.value(), element);
  Set(step, 0, old);
}

namespace {

constexpr int64_t kLanes = 32;  // Of a warp.

}  // namespace

// The array holds every thread's row, the index begins with the thread.
void Machine::Match(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  Index index = IntsAt(step.operands, 1, array.sizes.size());
  const Constant own = LoadElement(array.dtype, ElementAt(array, index));
  const int64_t first = index[0] / kLanes * kLanes;
  int64_t bits = 0;
  for (int64_t lane = 0; lane < std::min(kLanes, array.sizes[0] - first); ++lane) {
    index[0] = first + lane;
    const bool matches = LoadElement(array.dtype, ElementAt(array, index)) == own;
    bits |= int64_t{matches} << lane;
  }
  Set(step, 0, ConstantOf(DType::kU32, bits));
}

void Machine::Shuffle(const Step& step) {
  const ArrayValue& array = ArrayAt(step.operands[0]);
  const size_t rank = array.sizes.size();
  Index index = IntsAt(step.operands, 1, rank);
  const int64_t lane = IntsAt(step.operands, 1 + rank, 1)[0] & (kLanes - 1);
  const int64_t row = index[0] / kLanes * kLanes + lane;
  if (row < array.sizes[0]) index[0] = row;
  Set(step, 0, LoadElement(array.dtype, ElementAt(array, index)));
}

}  // namespace parakeet::ir
