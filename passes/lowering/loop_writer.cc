#include "passes/lowering/loop_writer.h"

#include <utility>

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

Operand Int(int64_t value) { return Operand::Int(value); }

ir::Attributes OverThreads() {
  return {{Attr::kKind, std::string("parallel")}, {Attr::kCost, int64_t{0}}};
}

const ir::Block* LoopWriter::BlockOf(std::vector<const Var*> params,
                                     const std::function<Operands()>& write) {
  Builder outer = std::exchange(builder(), builder().Nested());
  Operands results = write();
  const ir::Block* block = builder().Finish(std::move(params), std::move(results));
  builder() = std::move(outer);
  return block;
}

void LoopWriter::Loop(const Operand& lo, const Operand& hi, const ir::Attributes& attrs,
                      const std::function<void(const Operand&)>& body, int64_t step) {
  const Var* index = builder().NewVar(DType::kI64, "i");
  const ir::Block* block = BlockOf({index}, [&] {
    body(index);
    return Operands{};
  });
  builder().Emit(OpCode::kFor, {}, {lo, hi, Int(step)}, attrs, {block});
}

void LoopWriter::Blocks(const Operand& count,
                        const std::function<void(const Operand& block)>& body) {
  Loop(Int(0), count, {{Attr::kKind, std::string("block")}}, body);
}

void LoopWriter::Threads(int64_t count, const std::function<void(const Operand& thread)>& body) {
  Loop(Int(0), Int(count), {{Attr::kKind, std::string("thread")}}, body);
}

void LoopWriter::WarpThreads(int64_t count,
                             const std::function<void(const Operand& thread)>& body) {
  Loop(Int(0), Int(count), {{Attr::kKind, std::string("thread")}, {Attr::kWarp, int64_t{1}}}, body);
}

LoopWriter::Operands LoopWriter::Carry(
    const Operand& lo, const Operand& hi, const Operands& inits,
    const std::function<Operands(const Operand&, const Operands&)>& body, int64_t step,
    ir::Attributes attrs) {
  std::vector<const Var*> params = {builder().NewVar(DType::kI64, "i")};
  std::vector<const Var*> results;
  for (const Operand& init : inits) {
    params.push_back(builder().NewVar(ir::TypeOf(init), "acc"));
    results.push_back(builder().NewVar(ir::TypeOf(init), "acc"));
  }
  const Operands carried(params.begin() + 1, params.end());
  const ir::Block* block = BlockOf(params, [&] { return body(params[0], carried); });
  Operands operands = {lo, hi, Int(step)};
  operands.insert(operands.end(), inits.begin(), inits.end());
  builder().Emit(OpCode::kFor, results, std::move(operands), std::move(attrs), {block});
  return Operands(results.begin(), results.end());
}

LoopWriter::Operands LoopWriter::Choose(const Operand& condition,
                                        const std::function<Operands()>& then,
                                        const std::function<Operands()>& otherwise,
                                        ir::Attributes attrs) {
  if (condition.IsConstant()) return condition.constant().integer ? then() : otherwise();
  const ir::Block* yes = BlockOf({}, then);
  const ir::Block* no = BlockOf({}, otherwise);
  std::vector<const Var*> results;
  for (const Operand& result : yes->results)
    results.push_back(builder().NewVar(ir::TypeOf(result)));
  builder().Emit(OpCode::kIf, results, {condition}, std::move(attrs), {yes, no});
  return Operands(results.begin(), results.end());
}

LoopWriter::Operands LoopWriter::VisitBody(const ir::Block& block, const Operands& arguments) {
  for (size_t i = 0; i < block.params.size(); ++i) Replace(block.params[i], arguments[i]);
  for (const ir::Binding* binding : block.bindings) {
    builder().set_span(binding->span);
    Visit(binding);
  }
  return Apply(block.results);
}

LoopWriter::Operands LoopWriter::CombineWith(const ir::Block& combine, const Operands& left,
                                             const Operands& right) {
  if (auto each = CombineEach(combine, left, right)) return *each;
  Operands arguments = left;
  arguments.insert(arguments.end(), right.begin(), right.end());
  return VisitBody(*ir::CloneBlock(arena(), combine), arguments);
}

std::optional<LoopWriter::Operands> LoopWriter::CombineEach(const ir::Block& combine,
                                                            const Operands& left,
                                                            const Operands& right) {
  Operands results;
  for (size_t k = 0; k < left.size(); ++k) {
    const auto op = ir::CombineOp(combine, static_cast<int>(k));
    if (!op) return std::nullopt;
    const auto fused = op == OpCode::kAdd ? FuseMultiplyAdd(left[k], right[k]) : std::nullopt;
    results.push_back(fused ? *fused : builder().Scalar(*op, {left[k], right[k]}));
  }
  return results;
}

// The combine is scalar code on its parameters alone, so it reads the same with vectors for them.
LoopWriter::Operands LoopWriter::CombineVectors(const Block& combine, const Operands& left,
                                                const Operands& right) {
  if (auto each = CombineEach(combine, left, right)) return *each;
  ir::Substitution values;
  for (size_t k = 0; k < left.size(); ++k) {
    values[combine.params[k]] = left[k];
    values[combine.params[k + left.size()]] = right[k];
  }
  const auto value_of = [&](const Operand& operand) {
    const auto found = operand.IsVar() ? values.find(operand.var()) : values.end();
    return found == values.end() ? operand : found->second;
  };
  for (const Binding* binding : combine.bindings) {
    Operands operands;
    for (const Operand& operand : binding->operands) operands.push_back(value_of(operand));
    values[binding->result()] = builder().Scalar(binding->op, std::move(operands));
  }
  Operands results;
  for (const Operand& result : combine.results) results.push_back(value_of(result));
  return results;
}

LoopWriter::Operands LoopWriter::Half(const Operands& vectors, bool high) {
  Operands halves;
  for (const Operand& vector : vectors) {
    const Type type = ir::TypeOf(vector);
    if (type.lanes() == 2) {
      halves.push_back(builder().EmitOne(OpCode::kExtract, type.dtype(), {vector, Int(high)}));
    } else {
      const Type half = Type::Vector(type.dtype(), type.lanes() / 2);
      halves.push_back(
          builder().EmitOne(high ? OpCode::kHighHalf : OpCode::kLowHalf, half, {vector}));
    }
  }
  return halves;
}

Operand LoopWriter::CeilDiv(const Operand& a, const Operand& b) {
  const Operand rounded = builder().Add(a, builder().Sub(b, Int(1)));
  return builder().Quotient(rounded, b);
}

Operand LoopWriter::Product(const Operands& sizes) {
  Operand product = Int(1);
  for (const Operand& size : sizes) product = builder().Mul(product, size);
  return product;
}

LoopWriter::Operands LoopWriter::Delinear(Operand place, const Operands& dims) {
  Operands index(dims.size());
  for (size_t axis = dims.size(); axis-- > 1;) {
    index[axis] = builder().Remainder(place, dims[axis]);
    place = builder().Quotient(place, dims[axis]);
  }
  if (!dims.empty()) index[0] = place;
  return index;
}

void LoopWriter::If(const Operand& condition, const std::function<void()>& then) {
  const auto write = [&] {
    then();
    return Operands{};
  };
  Choose(condition, write, [] { return Operands{}; });
}

Operand LoopWriter::Linear(const Operands& index, const Operands& dims) {
  Operand place = Int(0);
  for (size_t axis = 0; axis < index.size(); ++axis)
    place = builder().Add(builder().Mul(place, dims[axis]), index[axis]);
  return place;
}

Operand LoopWriter::EndOfWhole(const Operand& lo, const Operand& hi, int lanes) {
  const Operand span = builder().Scalar(OpCode::kMax, {builder().Sub(hi, lo), Int(0)});
  const Operand rest = builder().Remainder(span, Int(lanes));
  return builder().Add(lo, builder().Sub(span, rest));
}

std::vector<const Var*> LoopWriter::NewVarsLike(const Operands& values) {
  std::vector<const Var*> vars;
  for (const Operand& value : values) vars.push_back(builder().NewVar(ir::TypeOf(value), "acc"));
  return vars;
}

}  // namespace parakeet::passes
