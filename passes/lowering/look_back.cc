#include "passes/lowering/look_back.h"

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

// The counter has a line of the cache, which all blocks write, for itself.
constexpr int64_t kFirstWord = 16;

Attributes Kind(const char* kind) { return {{Attr::kKind, std::string(kind)}}; }

}  // namespace

LookBackLowering::LookBack LookBackLowering::StartLookBack(const Operand& blocks,
                                                           const Operand& words) {
  const Operand size = builder().Add(words, Int(kFirstWord));
  LookBack look_back{builder().NewVar(ir::Type::Array(DType::kI64, {size}), "words"),
                     builder().Scalar(OpCode::kGt, {blocks, Int(1)})};
  builder().Emit(OpCode::kAlloc, {look_back.words}, {size});
  If(look_back.is_many, [&] {
    Loop(Int(0), size, Kind("parallel").With(Attr::kCost, int64_t{1}),
         [&](const Operand& word) { builder().Store(look_back.words, {word}, Int(0)); });
  });
  return look_back;
}

Operand LookBackLowering::TakeNumber(const LookBack& look_back) {
  const Var* number = builder().NewVar(ir::Type::Array(DType::kI64, {Int(1)}), "number");
  builder().Emit(OpCode::kAlloc, {number}, {Int(1)});
  Threads(1, [&](const Operand&) {
    const auto take = [&] {
      return Operands{builder().Atomic(OpCode::kAdd, look_back.words, {Int(0)}, Int(1))};
    };
    const Operand taken = Choose(look_back.is_many, take, [] { return Operands{Int(0)}; })[0];
    builder().Store(number, {Int(0)}, taken);
  });
  return builder().Load(number, {Int(0)});
}

void LookBackLowering::Publish(const LookBack& look_back, const Operand& word,
                               const Operand& value) {
  builder().Atomic(OpCode::kAdd, look_back.words, {builder().Add(word, Int(kFirstWord))}, value,
                   true);
}

Operand LookBackLowering::Await(const LookBack& look_back, const Operand& word) {
  const Operand place = builder().Add(word, Int(kFirstWord));
  const Var* seen = builder().NewVar(DType::kI64, "seen");
  const ir::Block* condition =
      BlockOf({seen}, [&] { return Operands{builder().Scalar(OpCode::kEq, {seen, Int(0)})}; });
  const ir::Block* look = BlockOf({builder().NewVar(DType::kI64, "seen")}, [&] {
    return Operands{builder().Atomic(OpCode::kAdd, look_back.words, {place}, Int(0), true)};
  });
  const Var* value = builder().NewVar(DType::kI64, "seen");
  builder().Emit(OpCode::kWhile, {value}, {Int(0)}, {}, {condition, look});
  return value;
}

void LookBackLowering::EachOf(const ChunkSize& chunk, const Operand& thread, bool is_cheap,
                              const std::function<void(const Operand&)>& body) {
  const auto any = [&] {
    Loop(thread, chunk.size, {}, body, chunk.threads);
    return Operands{};
  };
  const auto whole = [&] {
    Loop(Int(0), Int(chunk.each), {}, [&](const Operand& k) {
      body(builder().Add(thread, builder().Mul(k, Int(chunk.threads))));
    });
    return Operands{};
  };
  is_cheap ? Choose(chunk.is_whole, whole, any) : any();
}

Operands LookBackLowering::CarryRun(
    const ChunkSize& chunk, const Operand& lo, bool behind, bool is_cheap, const Operands& first,
    const std::function<Operands(const Operand&, const Operands&)>& body) {
  const Operand skipped = Int(behind ? 1 : 0);
  const auto any = [&] {
    const Operand hi = Min(builder().Add(lo, Int(chunk.each)), chunk.size);
    return Carry(builder().Add(lo, skipped), hi, first, body);
  };
  const auto whole = [&] {
    return Carry(skipped, Int(chunk.each), first, [&](const Operand& k, const Operands& so_far) {
      return body(builder().Add(lo, k), so_far);
    });
  };
  return is_cheap ? Choose(chunk.is_whole, whole, any) : any();
}

}  // namespace parakeet::passes
