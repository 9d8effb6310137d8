// What a radix sort knows before it moves anything: bits of keys, and the counts of all digits.
#include "passes/lowering/radix_sort_writer.h"

#include <algorithm>
#include <bit>

#include "ir/builder.h"
#include "ir/dtype.h"
#include "passes/lowering/radix_words.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

// Measured on an H200: from here on, a pass for each byte is sooner done than merging.
constexpr int64_t kLong = 1 << 17, kLongOfEightBytes = 1 << 20;
constexpr int64_t kCountingBlocks = 1056;
constexpr int64_t kTaken = 8;  // Keys that a counting thread has under way.

DType UnsignedOf(int64_t bytes) {
  constexpr DType kOfBytes[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  return kOfBytes[std::countr_zero(uint64_t(bytes))];
}

// The bits of infinity.
int64_t InfinityOf(DType dtype) {
  if (dtype == DType::kF16) return 0x7c00;
  return dtype == DType::kF32 ? 0x7f800000 : 0x7ff0000000000000;
}

}  // namespace

Operand RadixSortWriter::IsForRadix(const Var* keys) {
  const Type& type = keys->type;
  if (type.dims().size() != 1 || ir::IsComplex(type.dtype())) return Operand::Bool(false);
  const Operand& length = type.dims()[0];
  const int64_t from = ir::SizeInBytes(type.dtype()) < 8 ? kLong : kLongOfEightBytes;
  const Operand is_long = builder().Scalar(OpCode::kGe, {length, Int(from)});
  const Operand has_words = builder().Scalar(OpCode::kLt, {length, Int(kRadixAdded)});
  return builder().Scalar(OpCode::kAnd, {is_long, has_words});
}

void RadixSortWriter::WriteRadixSort(const Var* keys, const Var* places, const Var* source) {
  const Sort sort = Describe(keys, places, source);
  ClearWords(sort);
  CountDigits(sort);
  PlaceDigits(sort);
  Loop(Int(0), Int(sort.digits), {}, [&](const Operand& digit) { SortByDigit(sort, digit); });
}

RadixSortWriter::Sort RadixSortWriter::Describe(const Var* keys, const Var* places,
                                                const Var* source) {
  const int64_t bytes = ir::SizeInBytes(keys->type.dtype());
  // Keys go there and back: those of one digit have a second that is always 0.
  const Operand length = keys->type.dims()[0];
  Sort sort{keys, places, source, length, {}, std::max<int64_t>(bytes, 2), 384, 16, {}, {}, {}};
  if (bytes == 8) sort.threads = 256;
  sort.tiles = CeilDiv(length, Int(sort.tile()));
  const Operand twice = builder().Mul(length, Int(2));
  const Operand looks = builder().Mul(sort.tiles, Int(sort.digits * kRadix));
  const auto allocate = [&](DType dtype, const Operand& size, const char* hint) {
    return builder().EmitOne(OpCode::kAlloc, Type::Array(dtype, {size}), {size}, {}, {}, hint);
  };
  sort.words = allocate(DType::kU32, builder().Add(looks, Int(FirstLook(sort.digits))), "words");
  sort.bits = allocate(UnsignedOf(bytes), twice, "bits");
  if (places != nullptr) sort.indexes = allocate(DType::kU32, twice, "indexes");
  return sort;
}

const Var* RadixSortWriter::Shared(DType dtype, int64_t size, const char* hint) {
  const Type type = Type::Array(dtype, {Int(size)});
  return builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, hint);
}

const Var* RadixSortWriter::Own(const Sort& sort, DType dtype, int64_t size, const char* hint) {
  const Type type = Type::Array(dtype, {Int(sort.threads), Int(size)});
  const Attributes own = {{Attr::kPrivate, int64_t{1}}};
  return builder().EmitOne(OpCode::kAlloc, type, type.dims(), own, {}, hint);
}

Operand RadixSortWriter::Number(int64_t value, DType dtype) { return ir::ConstantOf(dtype, value); }

Operand RadixSortWriter::Narrow(const Operand& number) {
  return builder().Cast(number, DType::kU32);
}

Operand RadixSortWriter::Wide(const Operand& number) { return builder().Cast(number, DType::kI64); }

// --- Keys as bits ---

Operand RadixSortWriter::BitsOf(const Sort& sort, const Operand& key) {
  const DType dtype = ir::DTypeOf(key), bits = sort.dtype();
  if (ir::IsBool(dtype)) return builder().Cast(key, bits);
  const Operand same = builder().Bitcast(key, bits);
  if (ir::IsUnsigned(dtype)) return same;
  const Operand top = Number(int64_t{1} << (ir::SizeInBits(bits) - 1), bits);
  if (!ir::IsFloat(dtype)) return builder().Scalar(OpCode::kXor, {same, top});
  const Operand is_negative = builder().Scalar(OpCode::kGe, {same, top});
  const Operand turned = builder().Scalar(OpCode::kSelect, {is_negative, Number(-1, bits), top});
  return builder().Scalar(OpCode::kXor, {same, turned});
}

Operand RadixSortWriter::KeyOf(const Sort& sort, const Operand& bits) {
  const DType dtype = sort.keys->type.dtype(), own = sort.dtype();
  if (ir::IsBool(dtype)) return builder().Cast(bits, dtype);
  if (ir::IsUnsigned(dtype)) return bits;
  Operand turned = Number(int64_t{1} << (ir::SizeInBits(own) - 1), own);
  if (ir::IsFloat(dtype)) {
    const Operand is_positive = builder().Scalar(OpCode::kGe, {bits, turned});
    turned = builder().Scalar(OpCode::kSelect, {is_positive, turned, Number(-1, own)});
  }
  return builder().Bitcast(builder().Scalar(OpCode::kXor, {bits, turned}), dtype);
}

Operand RadixSortWriter::Canonical(const Sort& sort, const Operand& bits) {
  const DType dtype = sort.keys->type.dtype(), own = sort.dtype();
  if (!ir::IsFloat(dtype)) return bits;
  const int64_t top = int64_t{1} << (ir::SizeInBits(own) - 1), infinity = InfinityOf(dtype);
  const Operand lowest = Number(~(infinity | top), own), zero = Number(top, own);
  const Operand highest = builder().Scalar(OpCode::kSub, {Number(infinity | top, own), lowest});
  const auto choose = [&](const Operand& condition, const Operand& yes, const Operand& no) {
    return builder().Scalar(OpCode::kSelect, {condition, yes, no});
  };
  const Operand above = builder().Scalar(OpCode::kSub, {bits, lowest});
  const Operand is_nan = builder().Scalar(OpCode::kGt, {above, highest});
  const Operand is_zero = builder().Scalar(OpCode::kEq, {bits, Number(~top, own)});
  return choose(is_nan, Number(-1, own), choose(is_zero, zero, bits));
}

Operand RadixSortWriter::Compared(const Sort& sort, const Operand& bits) {
  return sort.places == nullptr ? Canonical(sort, bits) : bits;
}

Operand RadixSortWriter::DigitOf(const Sort& sort, const Operand& bits, const Operand& digit) {
  const Operand shift = builder().Cast(builder().Mul(digit, Int(kDigitBits)), sort.dtype());
  const Operand shifted = builder().Scalar(OpCode::kShr, {bits, shift});
  return builder().Cast(shifted, DType::kU8);
}

Operand RadixSortWriter::FirstBits(const Sort& sort, const Operand& at) {
  if (sort.places == nullptr) return BitsOf(sort, builder().Load(sort.source, {at}, "key"));
  const Operand place = builder().Load(sort.places, {at}, "place");
  return Canonical(sort, BitsOf(sort, builder().Load(sort.keys, {place}, "key")));
}

// --- Counts ---

void RadixSortWriter::ClearWords(const Sort& sort) {
  constexpr int64_t kThreads = 256, kEach = 8;
  const Operand size = sort.words->type.dims()[0];
  Blocks(CeilDiv(size, Int(kThreads * kEach)), [&](const Operand& block) {
    const Operand first = builder().Mul(block, Int(kThreads * kEach));
    const Operand end = Min(builder().Add(first, Int(kThreads * kEach)), size);
    Threads(kThreads, [&](const Operand& thread) {
      const auto clear = [&](const Operand& at) {
        builder().Store(sort.words, {at}, Number(0, DType::kU32));
      };
      Loop(builder().Add(first, thread), end, {}, clear, kThreads);
    });
  });
}

void RadixSortWriter::CountDigits(const Sort& sort) {
  const Operand run = Int(kRadix * kTaken);
  const Operand most = CeilDiv(sort.length, Int(kCountingBlocks * kRadix * kTaken));
  const Operand chunk = builder().Mul(most, run);
  Blocks(CeilDiv(sort.length, chunk), [&](const Operand& block) {
    const Var* counts = Shared(DType::kU32, sort.digits * kRadix, "counts");
    const Var* taken =
        builder().EmitOne(OpCode::kAlloc, Type::Array(sort.dtype(), {Int(kRadix), Int(kTaken)}),
                          {Int(kRadix), Int(kTaken)}, {{Attr::kPrivate, int64_t{1}}}, {}, "taken");
    const Operand first = builder().Mul(block, chunk);
    const Operand end = Min(builder().Add(first, chunk), sort.length);
    Threads(kRadix, [&](const Operand& thread) {
      for (int64_t digit = 0; digit < sort.digits; ++digit)
        builder().Store(counts, {builder().Add(thread, Int(digit * kRadix))},
                        Number(0, DType::kU32));
    });
    Threads(kRadix, [&](const Operand& thread) {
      const auto count = [&](const Operand& at) { CountRun(sort, counts, taken, thread, at); };
      Loop(first, end, {}, count, kRadix * kTaken);
    });
    Threads(kRadix, [&](const Operand& thread) {
      for (int64_t digit = 0; digit < sort.digits; ++digit) {
        const Operand at = builder().Add(thread, Int(digit * kRadix));
        builder().Atomic(OpCode::kAdd, sort.words, {builder().Add(at, Int(kCounts))},
                         builder().Load(counts, {at}));
      }
    });
  });
}

// The last run may be cut short.
void RadixSortWriter::CountRun(const Sort& sort, const Var* counts, const Var* taken,
                               const Operand& thread, const Operand& first) {
  const auto place = [&](const Operand& k) {
    return builder().Add(builder().Add(first, thread), builder().Mul(k, Int(kRadix)));
  };
  const auto count = [&](const Operand& taken_bits) {
    const Operand bits = Compared(sort, taken_bits);
    for (int64_t digit = 0; digit < ir::SizeInBytes(sort.dtype()); ++digit) {
      const Operand own = Wide(DigitOf(sort, bits, Int(digit)));
      builder().Atomic(OpCode::kAdd, counts, {builder().Add(own, Int(digit * kRadix))},
                       Number(1, DType::kU32));
    }
  };
  const auto whole = [&] {
    Loop(Int(0), Int(kTaken), {},
         [&](const Operand& k) { builder().Store(taken, {thread, k}, FirstBits(sort, place(k))); });
    Loop(Int(0), Int(kTaken), {},
         [&](const Operand& k) { count(builder().Load(taken, {thread, k})); });
    return Operands{};
  };
  const auto part = [&] {
    Loop(
        builder().Add(first, thread), sort.length, {},
        [&](const Operand& at) { count(FirstBits(sort, at)); }, kRadix);
    return Operands{};
  };
  const Operand behind = builder().Add(first, Int(kRadix * kTaken));
  Choose(builder().Scalar(OpCode::kLe, {behind, sort.length}), whole, part);
}

void RadixSortWriter::PlaceDigits(const Sort& sort) {
  Blocks(Int(sort.digits), [&](const Operand& digit) {
    const Var* counts = Shared(DType::kU32, kRadix, "counts");
    const Var* parts = Shared(DType::kU32, 2 * kWarp, "parts");
    const Operand first = builder().Add(builder().Mul(digit, Int(kRadix)), Int(kCounts));
    Threads(kRadix, [&](const Operand& thread) {
      const Operand count = builder().Load(sort.words, {builder().Add(first, thread)});
      builder().Store(counts, {thread}, count);
      If(builder().Scalar(OpCode::kEq, {Wide(count), sort.length}), [&] {
        const Operand bit = builder().Scalar(OpCode::kShl, {Int(1), digit});
        builder().Atomic(OpCode::kOr, sort.words, {Int(kCommon)}, Narrow(bit));
      });
    });
    SumBefore(counts, parts);
    Threads(kRadix, [&](const Operand& thread) {
      builder().Store(sort.words, {builder().Add(first, thread)}, builder().Load(counts, {thread}));
    });
  });
}

void RadixSortWriter::SumBefore(const Var* counts, const Var* parts) {
  constexpr int64_t kOfPart = kRadix / kWarp;
  const Operand none = Number(0, DType::kU32);
  const auto each = [&](const Operand& part, const Operand& start, bool stores) {
    const auto add = [&](const Operand& k, const Operands& sum) {
      const Operand at = builder().Add(builder().Mul(part, Int(kOfPart)), k);
      const Operand count = builder().Load(counts, {at});
      if (stores) builder().Store(counts, {at}, sum[0]);
      return Operands{builder().Add(sum[0], count)};
    };
    return Carry(Int(0), Int(kOfPart), {start}, add)[0];
  };
  Threads(kWarp,
          [&](const Operand& part) { builder().Store(parts, {part}, each(part, none, false)); });
  // From one half of `parts` to the other and back.
  int64_t from = 0;
  const auto load = [&](const Operand& part) {
    return builder().Load(parts, {builder().Add(part, Int(from))});
  };
  for (int64_t step = 1; step < kWarp; step *= 2, from = kWarp - from) {
    Threads(kWarp, [&](const Operand& part) {
      const Operand has_before = builder().Scalar(OpCode::kGe, {part, Int(step)});
      const Operand before = load(Max(builder().Sub(part, Int(step)), Int(0)));
      const Operand added = builder().Scalar(OpCode::kSelect, {has_before, before, none});
      builder().Store(parts, {builder().Add(part, Int(kWarp - from))},
                      builder().Add(load(part), added));
    });
  }
  Threads(kWarp, [&](const Operand& part) {
    const Operand has_before = builder().Scalar(OpCode::kGt, {part, Int(0)});
    const Operand before = load(Max(builder().Sub(part, Int(1)), Int(0)));
    each(part, builder().Scalar(OpCode::kSelect, {has_before, before, none}), true);
  });
}

}  // namespace parakeet::passes
