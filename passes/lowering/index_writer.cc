#include "passes/lowering/index_writer.h"

#include <limits>

namespace parakeet::passes {

using ir::DType;
using ir::OpCode;
using ir::Operand;

namespace {

constexpr int64_t kSmall = int64_t{1} << 31;

Operand Word(DType dtype, int64_t value) { return Operand(ir::ConstantOf(dtype, value)); }

}  // namespace

IndexWriter::Radix IndexWriter::RadixOf(const Operands& sizes) {
  Radix radix{sizes, builder().Scalar(OpCode::kLt, {Product(sizes), Int(kSmall)})};
  for (size_t axis = 1; axis < sizes.size(); ++axis) {
    const Operand most = Int(std::numeric_limits<int64_t>::max());
    const Operand below = builder().Quotient(most, Max(sizes[axis], Int(1)));
    const Operand reciprocal = builder().Cast(builder().Add(below, Int(1)), DType::kU64);
    const Operand high = builder().Scalar(OpCode::kShr, {reciprocal, Word(DType::kU64, 32)});
    radix.high.push_back(builder().Cast(high, DType::kU32));
    radix.low.push_back(builder().Cast(reciprocal, DType::kU32));
  }
  return radix;
}

LoopWriter::Operands IndexWriter::IndexOf(const Operand& place, const Radix& radix) {
  if (radix.sizes.size() < 2) return Delinear(place, radix.sizes);
  return Choose(
      radix.fits, [&] { return IndexByProducts(place, radix); },
      [&] { return IndexByDivisions(place, radix); });
}

// Of numbers that are not negative, whose quotients need no rounding.
LoopWriter::Operands IndexWriter::IndexByDivisions(const Operand& place, const Radix& radix) {
  const auto as = [&](DType dtype, const Operands& values) {
    Operands cast;
    for (const Operand& value : values) cast.push_back(builder().Cast(value, dtype));
    return cast;
  };
  const Operand whole = builder().Cast(place, DType::kU64);
  return as(DType::kI64, Delinear(whole, as(DType::kU64, radix.sizes)));
}

// A product of two words of 32 bits is one instruction there.
LoopWriter::Operands IndexWriter::IndexByProducts(const Operand& place, const Radix& radix) {
  const auto wide = [&](const Operand& word) { return builder().Cast(word, DType::kU64); };
  const auto above = [&](const Operand& product, int64_t bits) {
    return builder().Scalar(OpCode::kShr, {product, Word(DType::kU64, bits)});
  };
  Operands index(radix.sizes.size());
  Operand rest = builder().Cast(place, DType::kU32);
  for (size_t axis = radix.sizes.size(); axis-- > 1;) {
    const Operand low = above(builder().Mul(wide(rest), wide(radix.low[axis - 1])), 32);
    const Operand high = builder().Mul(wide(rest), wide(radix.high[axis - 1]));
    const Operand quotient = builder().Cast(above(builder().Add(high, low), 31), DType::kU32);
    const Operand size = builder().Cast(radix.sizes[axis], DType::kU32);
    index[axis] = builder().Cast(builder().Sub(rest, builder().Mul(quotient, size)), DType::kI64);
    rest = quotient;
  }
  index[0] = builder().Cast(rest, DType::kI64);
  return index;
}

}  // namespace parakeet::passes
