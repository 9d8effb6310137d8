// The rows of views, of memory, and of operations on lanes.

#include "ir/atomics.h"
#include "ir/printer.h"
#include "ir/verify_binding.h"

namespace parakeet::ir {

// --- Views ---

bool BindingVerifier::SizeAgrees(const Operand& actual, const Operand& expected) {
  const bool agrees = !actual.IsConstant() || !expected.IsConstant() || actual == expected;
  if (!agrees) {
    breaches_.Add(Invariant::kSizesAgree, "size " + breaches_.Text(actual) + " where " +
                                              breaches_.Text(expected) + " is expected");
  }
  return agrees;
}

// The integers of a float's size are its bits.
bool BindingVerifier::ViewOfRank(size_t rank) {
  if (!RequireArray(0)) return false;
  const DType own = DTypeOf(b_.operands[0]);
  const DType seen = ResultType().IsArray() ? ResultType().dtype() : own;
  const bool sees_bits = b_.op == OpCode::kView && IsFloat(own) && IsUnsigned(seen) &&
                         SizeInBytes(own) == SizeInBytes(seen);
  const bool fits = ResultType().IsArray() && (seen == own || sees_bits) &&
                    ResultType().rank() == static_cast<int>(rank);
  return Require(fits, Invariant::kTypesMatch,
                 "the result is " + Print(ResultType()) + "; expected " + std::to_string(rank) +
                     " axes of " + std::string(Name(DTypeOf(b_.operands[0]))));
}

void BindingVerifier::Slice() {
  size_t operands = 1, indexed = 0;
  std::vector<Operand> sizes;
  for (const char entry : b_.attrs.Text(Attr::kAxes)) {
    if (!Require(entry == 'i' || entry == 'r' || entry == 'n', Invariant::kAttributesFit,
                 "unknown entry in axes"))
      return;
    if (entry == 'n') sizes.push_back(Operand::Int(1));
    if (entry == 'r')
      sizes.push_back(operands + 1 < b_.operands.size() ? b_.operands[operands + 1] : Operand());
    operands += entry == 'i' ? 1 : entry == 'r' ? 3 : 0;
    indexed += entry == 'n' ? 0 : 1;
  }
  if (!Require(b_.operands.size() == operands, Invariant::kCountsMatch,
               "axes and operands differ in number"))
    return;
  if (!RequireInts(1, operands) || !ViewOfRank(sizes.size())) return;
  const size_t rank = TypeAt(0).rank();
  Require(indexed == rank, Invariant::kIndexFits,
          std::to_string(indexed) + " entries for " + std::to_string(rank) + " axes");
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    SizeAgrees(ResultType().dims()[axis], sizes[axis]);
}

void BindingVerifier::Transpose() {
  const std::vector<int64_t>& perm = b_.attrs.Ints(Attr::kPerm);
  if (!ViewOfRank(perm.size())) return;
  const Type type = TypeAt(0);
  std::vector<bool> seen(perm.size(), false);
  bool is_permutation = perm.size() == static_cast<size_t>(type.rank());
  for (const int64_t axis : perm) {
    is_permutation = is_permutation && axis >= 0 && axis < type.rank() && !seen[axis];
    if (is_permutation) seen[axis] = true;
  }
  if (!Require(is_permutation, Invariant::kAttributesFit, "perm is no permutation of the axes"))
    return;
  for (size_t k = 0; k < perm.size(); ++k) SizeAgrees(ResultType().dims()[k], type.dims()[perm[k]]);
}

void BindingVerifier::Broadcast() {
  if (!ViewOfRank(ResultType().rank())) return;
  const Type type = TypeAt(0);
  const int added = ResultType().rank() - type.rank();
  if (!Require(added >= 0, Invariant::kTypesMatch, "the result has fewer axes than the operand"))
    return;
  for (int axis = 0; axis < type.rank(); ++axis) {
    if (!type.dims()[axis].IsInt(1))
      SizeAgrees(ResultType().dims()[added + axis], type.dims()[axis]);
  }
}

// Counts of elements are compared where all sizes are constants.
void BindingVerifier::Reshape() {
  if (!ViewOfRank(ResultType().rank())) return;
  uint64_t counts[2] = {1, 1};
  bool known = true;
  const Type types[2] = {TypeAt(0), ResultType()};
  for (int side = 0; side < 2; ++side) {
    for (const Operand& dim : types[side].dims()) {
      known = known && dim.IsConstant();
      if (known) counts[side] *= static_cast<uint64_t>(dim.constant().integer);
    }
  }
  Require(!known || counts[0] == counts[1], Invariant::kSizesAgree,
          "the shapes differ in the count of elements");
}

void BindingVerifier::Ascribe() {
  if (RequireArray(0)) RequireType(ResultType(), TypeAt(0), "the result");
}

void BindingVerifier::View() {
  if (!ViewOfRank(ResultType().rank()) || !RequireInts(1, b_.operands.size())) return;
  const size_t rows = b_.attrs.Int(Attr::kFlat) != 0 ? 1 : TypeAt(0).rank();
  Require(b_.operands.size() == 1 + rows * (1 + ResultType().rank()), Invariant::kCountsMatch,
          "expected an offset and coefficients for each axis of the root");
}

// --- Memory ---

void BindingVerifier::Alloc() {
  if (!RequireInts(0, b_.operands.size())) return;
  const bool fits =
      ResultType().IsArray() && b_.operands.size() == static_cast<size_t>(ResultType().rank());
  if (!Require(fits, Invariant::kTypesMatch, "the result has other axes than the sizes say"))
    return;
  for (size_t i = 0; i < b_.operands.size(); ++i)
    SizeAgrees(ResultType().dims()[i], b_.operands[i]);
}

void BindingVerifier::Free() {
  for (size_t i = 0; i < b_.operands.size(); ++i) RequireArray(i);
}

void BindingVerifier::Copy() {
  if (RequireArray(0) && RequireArray(1)) RequireType(TypeAt(0), TypeAt(1), "the source");
}

void BindingVerifier::Mark() {
  Require(b_.attrs.Int(Attr::kRegion, -1) >= 0, Invariant::kAttributesFit, "it has no region");
  RequireType(TypeAt(0), DType::kI64, "the first number");
  RequireType(TypeAt(1), DType::kI64, "the second number");
}

bool BindingVerifier::Index(size_t* rest) {
  if (!RequireArray(0)) return false;
  const size_t rank = TypeAt(0).rank();
  *rest = 1 + rank;
  if (!Require(b_.operands.size() >= *rest, Invariant::kIndexFits,
               std::to_string(b_.operands.size() - 1) + " operands for " + std::to_string(rank) +
                   " axes")) {
    return false;
  }
  const bool scattered = b_.op == OpCode::kGatherLanes || b_.op == OpCode::kScatterLanes;
  for (size_t i = 1; i < *rest; ++i) {
    const Type type = TypeAt(i);
    const bool fits =
        type.dtype() == DType::kI64 && !type.IsArray() && (scattered || type.IsScalar());
    if (!Require(fits, Invariant::kIndexFits, "an index is " + Print(type))) return false;
  }
  return true;
}

void BindingVerifier::Load() {
  size_t rest = 0;
  if (!Index(&rest)) return;
  Require(b_.operands.size() == rest, Invariant::kIndexFits, "more indexes than axes");
  RequireType(ResultType(), DTypeOf(b_.operands[0]), "the result");
}

void BindingVerifier::Prefetch() {
  size_t rest = 0;
  if (!Index(&rest)) return;
  Require(b_.operands.size() == rest, Invariant::kIndexFits, "more indexes than axes");
}

void BindingVerifier::Store() {
  size_t rest = 0;
  if (!Index(&rest)) return;
  if (!Require(b_.operands.size() == rest + 1, Invariant::kIndexFits,
               "more or fewer indexes than axes"))
    return;
  RequireType(TypeAt(rest), DTypeOf(b_.operands[0]), "the value stored");
}

void BindingVerifier::Atomic() {
  Store();
  const DType dtype = DTypeOf(b_.operands[0]);
  RequireType(ResultType(), dtype, "the result");
  Require(AtomicCombine(b_).has_value(), Invariant::kAttributesFit,
          "`combine` is no operation of atomics");
  Require(IsAtomicDType(dtype), Invariant::kTypesMatch, "atomics are of integers of 4 or 8 bytes");
}

void BindingVerifier::Match() {
  size_t rest = 0;
  if (!Index(&rest)) return;
  Require(b_.operands.size() == rest, Invariant::kIndexFits, "more indexes than axes");
  const DType dtype = DTypeOf(b_.operands[0]);
  Require((IsInteger(dtype) && SizeInBytes(dtype) <= 4) || IsBool(dtype), Invariant::kTypesMatch,
          "matches are of integers of at most 4 bytes");
  RequireType(ResultType(), DType::kU32, "the result");
}

void BindingVerifier::Shuffle() {
  size_t rest = 0;
  if (!Index(&rest)) return;
  if (!Require(b_.operands.size() == rest + 1, Invariant::kIndexFits,
               "a shuffle takes a full index and a lane"))
    return;
  RequireType(TypeAt(rest), DType::kI64, "the lane");
  RequireType(ResultType(), DTypeOf(b_.operands[0]), "the result");
}

// --- Lanes ---

bool BindingVerifier::LaneAttributes(int rank) {
  if (b_.op == OpCode::kGatherLanes || b_.op == OpCode::kScatterLanes) return true;
  const int64_t axis = b_.attrs.Int(Attr::kAxis);
  const int64_t repeat = b_.attrs.Int(Attr::kRepeat, 1), phase = b_.attrs.Int(Attr::kPhase);
  const bool is_flat = b_.attrs.Int(Attr::kFlat) != 0;
  return Require(axis >= 0 && axis < rank, Invariant::kAttributesFit,
                 "`axis` is no axis of the array") &&
         Require(repeat > 0 && phase >= 0 && phase < repeat, Invariant::kAttributesFit,
                 "`phase` is not below `repeat`") &&
         Require(!is_flat || (b_.attrs.Int(Attr::kStep, 1) > 0 && repeat == 1),
                 Invariant::kAttributesFit, "flat lanes go forwards, each to its own element");
}

// The mask, where the operation is masked, is all that follows.
bool BindingVerifier::Mask(size_t place, int lanes) {
  const bool masked = b_.attrs.Int(Attr::kMasked) != 0;
  const bool counts = b_.operands.size() == place + (masked ? 1 : 0);
  if (!Require(counts, Invariant::kCountsMatch,
               "more or fewer operands than indexes, value and mask"))
    return false;
  return !masked || RequireType(TypeAt(place), Type::Vector(DType::kBool, lanes), "the mask");
}

void BindingVerifier::LoadLanes() {
  size_t rest = 0;
  if (!Index(&rest) || !LaneAttributes(TypeAt(0).rank())) return;
  const int lanes = ResultType().lanes();
  if (!Require(lanes > 1, Invariant::kTypesMatch, "the result is no vector") || !Mask(rest, lanes))
    return;
  RequireType(ResultType(), Type::Vector(DTypeOf(b_.operands[0]), lanes), "the result");
  for (size_t i = 1; i < rest; ++i) {
    Require(TypeAt(i).IsScalar() || TypeAt(i).lanes() == lanes, Invariant::kIndexFits,
            "an index of other lanes");
  }
}

void BindingVerifier::StoreLanes() {
  size_t rest = 0;
  if (!Index(&rest) || !LaneAttributes(TypeAt(0).rank())) return;
  if (!Require(b_.operands.size() > rest, Invariant::kCountsMatch, "no value to store")) return;
  const int lanes = TypeAt(rest).lanes();
  if (!Require(lanes > 1, Invariant::kTypesMatch, "the value is no vector") ||
      !Mask(rest + 1, lanes))
    return;
  RequireType(TypeAt(rest), Type::Vector(DTypeOf(b_.operands[0]), lanes), "the value stored");
  for (size_t i = 1; i < rest; ++i) {
    Require(TypeAt(i).IsScalar() || TypeAt(i).lanes() == lanes, Invariant::kIndexFits,
            "an index of other lanes");
  }
}

void BindingVerifier::VectorOperation() {
  const Type& result = ResultType();
  const Type operand = b_.operands.empty() ? Type(DType::kI64) : TypeAt(0);
  const int lanes = operand.lanes();
  if (b_.op == OpCode::kSplat || b_.op == OpCode::kIota) {
    const bool fits =
        result.IsVector() && operand.IsScalar() &&
        (b_.op == OpCode::kIota ? !IsBool(result.dtype()) : result.dtype() == operand.dtype());
    Require(fits, Invariant::kTypesMatch,
            "the result is " + Print(result) + ", of " + Print(operand));
    return;
  }
  if (!Require(operand.IsVector(), Invariant::kTypesMatch, "the operand is no vector")) return;
  if (b_.op == OpCode::kLowHalf || b_.op == OpCode::kHighHalf) {
    Require(lanes % 2 == 0, Invariant::kTypesMatch, "an odd number of lanes has no halves");
    RequireType(result, Type::Vector(operand.dtype(), lanes / 2), "the result");
  } else if (b_.op == OpCode::kInterleave) {
    const int count = static_cast<int>(b_.operands.size());
    for (int k = 1; k < count; ++k) RequireType(TypeAt(k), operand, "an operand");
    RequireType(result, Type::Vector(operand.dtype(), lanes * count), "the result");
  } else if (b_.op == OpCode::kSlide) {
    RequireType(TypeAt(1), operand, "an operand");
    RequireType(result, operand, "the result");
    const int64_t by = b_.attrs.Int(Attr::kBy);
    Require(by > 0 && by < lanes, Invariant::kAttributesFit, "`by` is not within the lanes");
  } else if (b_.op == OpCode::kExtract) {
    RequireInts(1, 2);
    RequireType(result, operand.dtype(), "the result");
  } else {
    const bool is_place = b_.op == OpCode::kFirstLane;
    Require(!is_place || lanes <= 64, Invariant::kTypesMatch, "more lanes than a word has bits");
    RequireType(operand, Type::Vector(DType::kBool, lanes), "the operand");
    RequireType(result, is_place ? DType::kI64 : DType::kBool, "the result");
  }
}

}  // namespace parakeet::ir
