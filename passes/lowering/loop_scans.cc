#include "passes/lowering/loop_scans.h"

#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/lowering/loop_counts.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// What was carried into iteration `index`.
Operand Before(Builder& inner, const Operand& index, const Var* prefixes, const Operand& init) {
  Builder sides[2] = {inner.Nested(), inner.Nested()};
  const Operand last = sides[0].Load(prefixes, {sides[0].Sub(index, Operand::Int(1))});
  const Operand follows = inner.Scalar(OpCode::kGt, {index, Operand::Int(0)});
  const Var* before = inner.NewVar(prefixes->type.dtype(), prefixes->hint);
  inner.Emit(OpCode::kIf, {before}, {follows}, {},
             {sides[0].Finish({}, {last}), sides[1].Finish({}, {init})});
  return before;
}

// Whether all that the binding is there for is values that are carried: prefixes hold them.
bool MakesOnly(const Binding& b, const std::vector<Operand>& carried) {
  if (!ir::IsScalarOp(b.op) && b.op != OpCode::kIf) return false;
  bool makes_only = std::all_of(b.results.begin(), b.results.end(), [&](const Var* result) {
    return std::find(carried.begin(), carried.end(), Operand(result)) != carried.end();
  });
  for (const Block* block : b.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& inside) {
      makes_only &= ir::IsScalarOp(inside.op) || inside.op == OpCode::kLoad;
    });
  }
  return makes_only;
}

}  // namespace

Operand CountOf(Builder& builder, const Binding& loop) {
  const bool is_count = loop.operands[0].IsInt(0) && loop.operands[2].IsInt(1);
  return is_count ? loop.operands[1] : TripCount(builder, loop);
}

Block WithoutChecks(Block block) {
  std::erase_if(block.bindings, [](const Binding* b) { return b->op == OpCode::kCheck; });
  return block;
}

void WriteStores(Builder& builder, const Binding& loop, const Operand& count,
                 const std::vector<const Var*>& prefixes, Block stores) {
  const Block& body = *loop.blocks[0];
  const Var* index = builder.NewVar(ir::DType::kI64, body.params[0]->hint);
  Builder inner = builder.Nested();
  inner.set_span(loop.span);
  const Operand place = inner.Add(loop.operands[0], inner.Mul(index, loop.operands[2]));
  ir::Substitution values{{body.params[0], place}};
  std::erase_if(stores.bindings, [&](const Binding* b) { return MakesOnly(*b, body.results); });
  const ir::VarSet read = ir::FreeVars(stores);
  for (size_t k = 0; k < prefixes.size(); ++k) {
    const Var* carried = body.params[1 + k];
    const Var* next = body.results[k].var();
    if (read.contains(carried))
      values[carried] = Before(inner, index, prefixes[k], loop.operands[3 + k]);
    if (read.contains(next)) values[next] = inner.Load(prefixes[k], {index});
  }
  ir::InlineBlock(inner, stores, values);
  builder.Emit(OpCode::kForeach, {}, {count}, {}, {inner.Finish({index}, {})});
}

void WriteLast(Builder& builder, const Binding& loop, size_t k, const Operand& count,
               const Var* prefixes) {
  Builder sides[2] = {builder.Nested(), builder.Nested()};
  const Operand last = sides[0].Load(prefixes, {sides[0].Sub(count, Operand::Int(1))});
  const Operand some = builder.Scalar(OpCode::kGt, {count, Operand::Int(0)});
  builder.Emit(OpCode::kIf, {loop.results[k]}, {some}, {},
               {sides[0].Finish({}, {last}), sides[1].Finish({}, {loop.operands[3 + k]})});
}

}  // namespace parakeet::passes
