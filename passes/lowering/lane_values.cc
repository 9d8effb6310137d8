#include "passes/lowering/lane_values.h"

#include <optional>
#include <vector>

namespace parakeet::passes {

using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;

namespace {

// Sums, differences and multiples of linear values are linear.
std::optional<LaneValue> LinearOf(Builder& builder, OpCode op, const std::vector<LaneValue>& in) {
  if (in.size() != 2 || in[0].kind == LaneValue::kVarying || in[1].kind == LaneValue::kVarying)
    return std::nullopt;
  if (ir::DTypeOf(in[0].value) != DType::kI64) return std::nullopt;
  const auto linear = [&](int64_t step) {
    return LaneValue{LaneValue::kLinear, builder.Scalar(op, {in[0].value, in[1].value}), step};
  };
  if (op == OpCode::kAdd) return linear(in[0].step + in[1].step);
  if (op == OpCode::kSub) return linear(in[0].step - in[1].step);
  if (op != OpCode::kMul) return std::nullopt;
  if (in[1].value.IsConstant() && in[1].kind == LaneValue::kUniform)
    return linear(in[0].step * in[1].value.constant().integer);
  if (in[0].value.IsConstant() && in[0].kind == LaneValue::kUniform)
    return linear(in[1].step * in[0].value.constant().integer);
  return std::nullopt;
}

}  // namespace

LaneValue LaneValues::Of(const Operand& operand) const {
  const auto found = operand.IsVar() ? values_.find(operand.var()) : values_.end();
  return found == values_.end() ? LaneValue{LaneValue::kUniform, operand, 0} : found->second;
}

Operand LaneValues::Splat(Builder& builder, const Operand& scalar) const {
  return builder.EmitOne(OpCode::kSplat, Type::Vector(ir::DTypeOf(scalar), lanes_), {scalar});
}

Operand LaneValues::Iota(Builder& builder) const {
  return builder.EmitOne(OpCode::kIota, Type::Vector(DType::kI64, lanes_), {});
}

Operand LaneValues::Vector(Builder& builder, const LaneValue& value) const {
  if (value.kind == LaneValue::kVarying) return value.value;
  const Operand base = Splat(builder, value.value);
  if (value.kind == LaneValue::kUniform) return base;
  const Operand steps = Splat(builder, Operand::Int(value.step));
  return builder.Add(base, builder.Mul(Iota(builder), steps));
}

LaneValue LaneValues::Apply(Builder& builder, const ir::Binding& b) const {
  std::vector<LaneValue> in;
  for (const Operand& operand : b.operands) in.push_back(Of(operand));
  if (auto linear = LinearOf(builder, b.op, in)) return *linear;
  std::vector<Operand> vectors;
  for (const LaneValue& value : in) vectors.push_back(Vector(builder, value));
  if (b.op == OpCode::kCast)
    return {LaneValue::kVarying, builder.Cast(vectors[0], b.result()->type.dtype()), 0};
  if (b.op == OpCode::kBitcast)
    return {LaneValue::kVarying, builder.Bitcast(vectors[0], b.result()->type.dtype()), 0};
  return {LaneValue::kVarying, builder.Scalar(b.op, vectors, b.result()->hint), 0};
}

std::vector<Operand> LaneValues::Harmless(Builder& builder, const std::vector<Operand>& operands,
                                          const Operand& mask) {
  std::vector<Operand> harmless;
  for (const Operand& operand : operands) {
    const LaneValue value = Of(operand);
    if (value.kind == LaneValue::kUniform) {
      harmless.push_back(operand);
      continue;
    }
    const ir::Var* chosen = builder.NewVar(Type(ir::DTypeOf(operand)), "");
    const Operand own = Vector(builder, value);
    const Operand one = Splat(builder, ir::ConstantOf(ir::DTypeOf(operand), 1));
    const Operand vector = builder.Scalar(OpCode::kSelect, {mask, own, one});
    Set(chosen, {LaneValue::kVarying, vector, 0});
    harmless.push_back(chosen);
  }
  return harmless;
}

}  // namespace parakeet::passes
