#include "passes/lowering/sorting_network.h"

#include <functional>
#include <limits>

#include "ir/dtype.h"

namespace parakeet::passes {
namespace {

using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using Operands = std::vector<Operand>;

// Exchanges what is out of order at each pair of places; the first is the smaller.
void ForEachPair(size_t count, const std::function<void(size_t, size_t)>& exchange) {
  size_t top = 1;
  while (2 * top < count) top *= 2;
  for (size_t p = top; p > 0; p /= 2) {
    size_t q = top, r = 0, distance = p;
    while (true) {
      for (size_t i = 0; i + distance < count; ++i) {
        if ((i & p) == r) exchange(i, i + distance);
      }
      if (q == p) break;
      distance = q - p;
      q /= 2;
      r = p;
    }
  }
}

DType SignedOfWidth(int bits) {
  if (bits == 16) return DType::kI16;
  return bits == 32 ? DType::kI32 : DType::kI64;
}

// Integers in the order of floats: the bits, those of negative numbers turned.
class FloatKeys {
 public:
  FloatKeys(Builder& builder, DType dtype)
      : builder_(builder), dtype_(dtype), own_(SignedOfWidth(ir::SizeInBits(dtype))) {}

  Operand KeyOf(const Operand& element) {
    const Operand nan = builder_.Bitcast(
        Operand(ir::Constant::Float(std::numeric_limits<double>::quiet_NaN(), dtype_)), own_);
    const Operand turned = Turn(builder_.Bitcast(element, own_));
    return builder_.Scalar(OpCode::kSelect,
                           {builder_.Scalar(OpCode::kIsNan, {element}), nan, turned});
  }

  Operand ElementOf(const Operand& key) { return builder_.Bitcast(Turn(key), dtype_); }

 private:
  Operand Number(int64_t value) { return ir::ConstantOf(own_, value); }

  Operand Turn(const Operand& bits) {
    const int width = ir::SizeInBits(own_);
    const Operand sign = builder_.Scalar(OpCode::kShr, {bits, Number(width - 1)});
    const int64_t rest = int64_t((uint64_t{1} << (width - 1)) - 1);
    const Operand turned = builder_.Scalar(OpCode::kAnd, {sign, Number(rest)});
    return builder_.Scalar(OpCode::kXor, {bits, turned});
  }

  Builder& builder_;
  const DType dtype_;
  const DType own_;
};

}  // namespace

bool HasSortingNetwork(DType dtype) { return !ir::IsComplex(dtype); }

Operands SortByNetwork(Builder& builder, const Operands& elements) {
  Operands keys = elements;
  const DType dtype = ir::DTypeOf(elements[0]);
  const bool is_bool = ir::IsBool(dtype);
  FloatKeys floats(builder, dtype);
  if (ir::IsFloat(dtype)) {
    for (Operand& key : keys) key = floats.KeyOf(key);
  }
  ForEachPair(keys.size(), [&](size_t low, size_t high) {
    const Operands pair = {keys[low], keys[high]};
    keys[low] = builder.Scalar(is_bool ? OpCode::kAnd : OpCode::kMin, pair);
    keys[high] = builder.Scalar(is_bool ? OpCode::kOr : OpCode::kMax, pair);
  });
  if (ir::IsFloat(dtype)) {
    for (Operand& key : keys) key = floats.ElementOf(key);
  }
  return keys;
}

Operands OrderByNetwork(Builder& builder, const Operands& elements) {
  Operands keys = elements, places;
  const DType dtype = ir::DTypeOf(elements[0]);
  for (size_t k = 0; k < keys.size(); ++k) places.push_back(Operand::Int(int64_t(k)));
  if (ir::IsBool(dtype)) {
    for (Operand& key : keys) key = builder.Cast(key, DType::kI8);
  } else if (ir::IsFloat(dtype)) {
    FloatKeys floats(builder, dtype);
    // The sum is 0 of either zero.
    const Operand zero = Operand(ir::Constant::Float(0.0, dtype));
    for (Operand& key : keys) key = floats.KeyOf(builder.Scalar(OpCode::kAdd, {key, zero}));
  }
  const auto exchange = [&](Operands& values, const Operand& swaps, size_t low, size_t high) {
    const Operand first = values[low], second = values[high];
    values[low] = builder.Scalar(OpCode::kSelect, {swaps, second, first});
    values[high] = builder.Scalar(OpCode::kSelect, {swaps, first, second});
  };
  ForEachPair(keys.size(), [&](size_t low, size_t high) {
    const Operand less = builder.Scalar(OpCode::kLt, {keys[high], keys[low]});
    const Operand equal = builder.Scalar(OpCode::kEq, {keys[high], keys[low]});
    const Operand before = builder.Scalar(OpCode::kLt, {places[high], places[low]});
    const Operand swaps =
        builder.Scalar(OpCode::kOr, {less, builder.Scalar(OpCode::kAnd, {equal, before})});
    exchange(keys, swaps, low, high);
    exchange(places, swaps, low, high);
  });
  return places;
}

}  // namespace parakeet::passes
