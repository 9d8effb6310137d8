#include "passes/lowering/look_back.h"

#include <algorithm>

#include "ir/builder.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kBitsOfPart = 32;
constexpr int64_t kHighPart = ~int64_t{0xffffffff};

int64_t WordsOfNumber(DType dtype) { return std::max(ir::SizeInBytes(dtype) / 4, 1); }

// The integers that hold the bits of a float.
DType BitsOf(DType dtype) {
  switch (ir::SizeInBytes(dtype)) {
    case 2: return DType::kU16;
    case 4: return DType::kU32;
    default: return DType::kU64;
  }
}

Attributes Kind(const char* kind) { return {{Attr::kKind, std::string(kind)}}; }

}  // namespace

LookBackLowering::LookBack LookBackLowering::StartLookBack(const Operand& blocks,
                                                           const Operand& words) {
  LookBack look_back{builder().NewVar(ir::Type::Array(DType::kI64, {words}), "words"),
                     builder().Scalar(OpCode::kGt, {blocks, Int(1)})};
  builder().Emit(OpCode::kAlloc, {look_back.words}, {words});
  If(look_back.is_many, [&] {
    Loop(Int(0), words, Kind("parallel").With(Attr::kCost, int64_t{1}),
         [&](const Operand& word) { builder().Store(look_back.words, {word}, Int(0)); });
  });
  return look_back;
}

void LookBackLowering::PublishWord(const LookBack& look_back, const Operand& word,
                                   const Operand& value) {
  builder().Atomic(OpCode::kAdd, look_back.words, {word}, value);
}

Operands LookBackLowering::AwaitWords(const LookBack& look_back, const Operand& word,
                                      int64_t count) {
  const auto news = [&] {
    std::vector<const Var*> words;
    for (int64_t k = 0; k < count; ++k) words.push_back(builder().NewVar(DType::kI64, "seen"));
    return words;
  };
  const Arrays seen = news();
  const ir::Block* condition = BlockOf(seen, [&] {
    Operand all = seen[0];
    for (int64_t k = 1; k < count; ++k) all = builder().Scalar(OpCode::kAnd, {all, seen[k]});
    return Operands{builder().Scalar(OpCode::kEq, {all, Int(0)})};
  });
  const ir::Block* look = BlockOf(news(), [&] {
    Operands words;
    for (int64_t k = 0; k < count; ++k) {
      const Operand place = builder().Add(word, Int(k));
      words.push_back(builder().Atomic(OpCode::kAdd, look_back.words, {place}, Int(0)));
    }
    return words;
  });
  const Arrays last = news();
  builder().Emit(OpCode::kWhile, last, Operands(count, Int(0)), {}, {condition, look});
  return Operands(last.begin(), last.end());
}

const Var* LookBackLowering::ViewBits(const Var* array) {
  const DType dtype = array->type.dtype();
  if (!ir::IsFloat(dtype)) return array;
  const ir::Type type = ir::Type::Array(BitsOf(dtype), array->type.dims());
  return builder().EmitOne(OpCode::kView, type, {array, Int(0), Int(1)}, {}, {}, "bits");
}

LookBackLowering::Exposed LookBackLowering::Expose(const Arrays& arrays) {
  Exposed exposed{arrays, {}, {}};
  for (const Var* array : arrays) {
    const DType dtype = array->type.dtype();
    const bool is_complex = ir::IsComplex(dtype);
    Arrays parts = {array}, bits;
    if (is_complex) {
      const ir::Type type = ir::Type::Array(ir::PartOf(dtype), array->type.dims());
      for (const Var*& part : parts = Arrays(2))
        part = builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "part");
    }
    for (const Var* part : parts) bits.push_back(ViewBits(part));
    exposed.parts.push_back(std::move(parts));
    exposed.bits.push_back(std::move(bits));
  }
  return exposed;
}

int64_t LookBackLowering::WordsOf(const Operands& values) {
  int64_t words = 0;
  for (const Operand& value : values) words += WordsOfNumber(ir::DTypeOf(value));
  return words;
}

void LookBackLowering::Publish(const LookBack& look_back, const Operand& word,
                               const Exposed& values, const Operand& entry) {
  Operand place = word;
  for (size_t k = 0; k < values.arrays.size(); ++k) {
    const Arrays& parts = values.parts[k];
    if (parts.size() > 1) {
      const Operand number = builder().Load(values.arrays[k], {entry});
      builder().Store(parts[0], {entry}, builder().Scalar(OpCode::kReal, {number}));
      builder().Store(parts[1], {entry}, builder().Scalar(OpCode::kImag, {number}));
    }
    for (const Var* bits : values.bits[k]) {
      for (const Operand& part : ToWords(builder().Load(bits, {entry}))) {
        PublishWord(look_back, place, part);
        place = builder().Add(place, Int(1));
      }
    }
  }
}

void LookBackLowering::Await(const LookBack& look_back, const Operand& word, const Exposed& values,
                             const Operand& entry) {
  const Operands words =
      AwaitWords(look_back, word, WordsOf({values.arrays.begin(), values.arrays.end()}));
  size_t first = 0;
  for (size_t k = 0; k < values.arrays.size(); ++k) {
    const Arrays& parts = values.parts[k];
    for (const Var* bits : values.bits[k]) {
      const DType dtype = bits->type.dtype();
      builder().Store(bits, {entry}, FromWords(words, first, dtype));
      first += WordsOfNumber(dtype);
    }
    if (parts.size() == 1) continue;
    const Operands halves = {builder().Load(parts[0], {entry}), builder().Load(parts[1], {entry})};
    builder().Store(values.arrays[k], {entry}, builder().Scalar(OpCode::kMakeComplex, halves));
  }
}

// The low 4 bytes, then the high ones.
Operands LookBackLowering::ToWords(const Operand& bits) {
  const Operand wide = builder().Cast(bits, DType::kI64);
  const Operand low = builder().Scalar(OpCode::kShl, {wide, Int(kBitsOfPart)});
  Operands words = {builder().Scalar(OpCode::kOr, {low, Int(1)})};
  if (WordsOfNumber(ir::DTypeOf(bits)) > 1) {
    const Operand high = builder().Scalar(OpCode::kAnd, {wide, Int(kHighPart)});
    words.push_back(builder().Scalar(OpCode::kOr, {high, Int(1)}));
  }
  return words;
}

Operand LookBackLowering::FromWords(const Operands& words, size_t first, DType dtype) {
  Operand wide = builder().Scalar(OpCode::kShr, {words[first], Int(kBitsOfPart)});
  if (WordsOfNumber(dtype) > 1) {
    const Operand low = builder().Scalar(OpCode::kAnd, {wide, Int(~kHighPart)});
    const Operand high = builder().Scalar(OpCode::kAnd, {words[first + 1], Int(kHighPart)});
    wide = builder().Scalar(OpCode::kOr, {high, low});
  }
  return builder().Cast(wide, dtype);
}

Operand LookBackLowering::Spread(const Operand& k, int64_t run) {
  return builder().Add(k, builder().Quotient(k, Int(run)));
}

void LookBackLowering::EachOf(const ChunkSize& chunk, const Operand& thread, bool is_cheap,
                              const std::function<void(const Operand&, const Operand&)>& body) {
  const auto any = [&] {
    Loop(
        thread, chunk.size, {}, [&](const Operand& k) { body(k, Spread(k, chunk.each)); },
        chunk.threads);
    return Operands{};
  };
  const auto whole = [&] {
    const Operand first = Spread(thread, chunk.each);
    const int64_t apart = chunk.threads + chunk.threads / chunk.each;
    Loop(Int(0), Int(chunk.each), {}, [&](const Operand& k) {
      body(builder().Add(thread, builder().Mul(k, Int(chunk.threads))),
           builder().Add(first, builder().Mul(k, Int(apart))));
    });
    return Operands{};
  };
  is_cheap ? Choose(chunk.is_whole, whole, any) : any();
}

Operands LookBackLowering::CarryRun(
    const ChunkSize& chunk, const Operand& thread, bool behind, bool is_cheap,
    const Operands& first,
    const std::function<Operands(const PlaceInRun&, const Operands&)>& body) {
  const Operand lo = builder().Mul(thread, Int(chunk.each));
  const Operand spread = builder().Mul(thread, Int(chunk.each + 1));
  const auto run = [&](const Operand& count, bool is_constant) {
    return Carry(Int(behind ? 1 : 0), count, first, [&](const Operand& k, const Operands& so_far) {
      return body({k, builder().Add(lo, k), builder().Add(spread, k), is_constant}, so_far);
    });
  };
  const auto any = [&] { return run(Min(builder().Sub(chunk.size, lo), Int(chunk.each)), false); };
  const auto whole = [&] { return run(Int(chunk.each), true); };
  return is_cheap ? Choose(chunk.is_whole, whole, any) : any();
}

}  // namespace parakeet::passes
