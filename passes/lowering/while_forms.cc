#include "passes/lowering/while_forms.h"

#include <utility>

#include "ir/mutator.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

Binding AsWhile(Builder& builder, const Binding& loop) {
  const Operand end = loop.operands[1];
  Binding whole = loop;
  whole.op = OpCode::kWhile;
  whole.attrs = {};
  whole.operands.erase(whole.operands.begin() + 1, whole.operands.begin() + 3);
  whole.results.insert(whole.results.begin(), builder.NewVar(DType::kI64, "i"));
  std::vector<const Var*> asked;
  for (const Var* param : loop.blocks[0]->params)
    asked.push_back(builder.NewVar(param->type, param->hint));
  Builder condition = builder.Nested(), step = builder.Nested();
  const Operand goes_on = condition.Scalar(OpCode::kLt, {asked[0], end});
  Block body = *loop.blocks[0];
  const Operand next = step.Add(body.params[0], Operand::Int(1));
  body.bindings.insert(body.bindings.end(), step.bindings().begin(), step.bindings().end());
  body.results.insert(body.results.begin(), next);
  whole.blocks = {condition.Finish(asked, {goes_on}), builder.arena()->New(std::move(body))};
  return whole;
}

Binding FirstSteps(Builder& builder, const Binding& loop, int64_t most) {
  const Block& asks = *ir::CloneBlock(builder.arena(), *loop.blocks[0]);
  const Block& body = *ir::CloneBlock(builder.arena(), *loop.blocks[1]);
  const auto new_count = [&] { return builder.NewVar(DType::kI64, "steps"); };
  const Var *asked = new_count(), *count = new_count();
  Builder condition = builder.Nested(), goes_on = builder.Nested(), ends = builder.Nested();
  for (const Binding* b : asks.bindings) goes_on.Append(b);
  const Operand goes = condition.EmitOne(
      OpCode::kIf, DType::kBool, {condition.Scalar(OpCode::kLt, {asked, Operand::Int(most)})}, {},
      {goes_on.Finish({}, asks.results), ends.Finish({}, {Operand::Bool(false)})});
  Builder step = builder.Nested();
  for (const Binding* b : body.bindings) step.Append(b);
  const auto with = [](auto values, const auto& last) {
    values.push_back(last);
    return values;
  };
  Binding first = loop;
  first.operands.push_back(Operand::Int(0));
  first.results = with(NewResults(builder, loop), new_count());
  const Operand next = step.Add(count, Operand::Int(1));
  first.blocks = {condition.Finish(with(asks.params, asked), {goes}),
                  step.Finish(with(body.params, count), with(body.results, next))};
  return first;
}

std::vector<const Var*> NewResults(Builder& builder, const Binding& loop) {
  std::vector<const Var*> results;
  for (const Var* result : loop.results)
    results.push_back(builder.NewVar(result->type, result->hint));
  return results;
}

}  // namespace parakeet::passes
