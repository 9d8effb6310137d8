#include "passes/lowering/lane_counts.h"

#include <algorithm>

#include "ir/uses.h"
#include "passes/analyses/varying_values.h"
#include "passes/lowering/lane_values.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

constexpr int kVectorBytes = 64;
constexpr int kMostLanes = 32;
constexpr int kRegistersAtOnce = 4;
constexpr int kRegistersThatDiverge = 2;
constexpr int kLongBody = 24;  // Bindings.

// Real and imaginary parts lie in registers of their own.
int PartSize(DType dtype) { return ir::SizeInBytes(dtype) / (ir::IsComplex(dtype) ? 2 : 1); }

}  // namespace

int LanesFor(const Block& body) {
  int widest = 0;
  ir::ForEachBinding(body, [&](const Binding& b) {
    for (const Var* result : b.results) {
      const bool is_index = result->type.dtype() == DType::kI64 && b.op != OpCode::kLoad;
      if (!is_index) widest = std::max(widest, PartSize(result->type.dtype()));
    }
    if (b.op == OpCode::kStore) widest = std::max(widest, PartSize(ir::DTypeOf(b.operands[0])));
  });
  return widest == 0 ? 8 : std::min(kMostLanes, kVectorBytes / widest);
}

int RegistersFor(const Block& body) {
  const ir::VarSet varying = VaryingValues(body, body.params[0]);
  const auto varies = [&](const Var* var) { return varying.contains(var); };
  ptrdiff_t carried = 0;
  bool plain = true;
  bool diverges = false;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op == OpCode::kFor)
      carried = std::max(carried, std::count_if(b.results.begin(), b.results.end(), varies));
    diverges |= b.op == OpCode::kWhile && b.blocks[0]->results[0].IsVar() &&
                varies(b.blocks[0]->results[0].var());
    plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
             b.op == OpCode::kFor || b.op == OpCode::kIf || b.op == OpCode::kCheck;
  });
  if (diverges) return kRegistersThatDiverge;
  if (carried == 0 || !plain) return 1;
  return std::max<int>(1, kRegistersAtOnce / static_cast<int>(carried));
}

bool IsLong(const Block& body) {
  int count = 0;
  ir::ForEachBinding(body, [&](const Binding& b) {
    ++count;
    if (b.op == OpCode::kWhile) count += kLongBody;
  });
  return count >= kLongBody;
}

bool IsOfBytes(const Block& body) {
  bool has_floats = false;
  ir::ForEachBinding(body, [&](const Binding& b) {
    for (const Var* result : b.results) has_floats |= ir::IsFloat(result->type.dtype());
  });
  return !has_floats && !IsLong(body) && LanesFor(body) == kMostLanes;
}

Operand MaskOfTail(ir::Builder& builder, const Operand& start, const Operand& hi, int lanes,
                   int64_t bytes) {
  const LaneValues values(lanes);
  const Operand left = builder.Sub(hi, start);
  if (bytes != 4) {
    const Operand all = values.Splat(builder, left);
    return builder.Scalar(OpCode::kLt, {values.Iota(builder), all});
  }
  const Operand few = builder.EmitOne(OpCode::kCast, DType::kI32,
                                      {builder.Scalar(OpCode::kMin, {left, Operand::Int(lanes)})});
  const Operand all = values.Splat(builder, few);
  const Operand iota = builder.EmitOne(OpCode::kIota, Type::Vector(DType::kI32, lanes), {});
  return builder.Scalar(OpCode::kLt, {iota, all});
}

bool HasCheckOfLanes(const Binding* b) {
  if (b->op != OpCode::kIf) return b->op == OpCode::kCheck;
  return std::any_of(b->blocks.begin(), b->blocks.end(), [](const Block* block) {
    return std::any_of(block->bindings.begin(), block->bindings.end(), HasCheckOfLanes);
  });
}

bool IsOfLibrary(const Binding& b) {
  constexpr int kLeastCost = 10;
  const ir::Type& type = b.result()->type;
  return InfoOf(b.op).cost >= kLeastCost && type.IsScalar() && ir::IsFloat(type.dtype());
}

}  // namespace parakeet::passes
