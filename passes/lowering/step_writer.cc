#include "passes/lowering/step_writer.h"

#include <algorithm>
#include <utility>

#include "passes/analyses/carried_values.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

StepWriter::StepWriter(ir::Arena* arena, const ir::Function& function, Context& context)
    : LoopWriter(arena),
      roots_(function),
      forms_(function),
      definitions_(ir::Definitions(*function.body)),
      context_(context),
      may_overlap_(!function.entry || function.may_overlap) {}

void StepWriter::Visit(const Binding* b) {
  const bool is_nest = InfoOf(b->op).format == ir::OpFormat::kIndices;
  const bool outer = std::exchange(in_nest_, in_nest_ || is_nest);
  bool is_written = false;
  if (b->op == OpCode::kFor && !in_nest_ && !may_overlap_) {
    Binding storing = *b;
    storing.blocks = {Storing(*b->blocks.back())};
    const auto steps = FindTimeSteps(storing, roots_, forms_, definitions_, arena());
    is_written = steps && WriteLoop(*b, storing, *steps);
  }
  if (!is_written) Mutator::Visit(b);
  in_nest_ = outer;
}

const Block* StepWriter::Storing(const Block& body) {
  ir::Builder builder(arena());
  for (const Binding* b : body.bindings) {
    if (b->op != OpCode::kImap || b->attrs.Has(Attr::kFortran)) {
      builder.Append(b);
      continue;
    }
    builder.set_span(b->span);
    ir::Builder element = builder.Nested();
    for (const Binding* inner : b->blocks[0]->bindings) element.Append(inner);
    const std::vector<const Var*>& params = b->blocks[0]->params;
    for (size_t k = 0; k < b->results.size(); ++k) {
      builder.Emit(OpCode::kAlloc, {b->results[k]}, b->results[k]->type.dims());
      element.Store(b->results[k], {params.begin(), params.end()}, b->blocks[0]->results[k]);
    }
    builder.Emit(OpCode::kForeach, {}, b->operands, b->attrs, {element.Finish(params, {})});
  }
  return builder.Finish(body.params, body.results);
}

void StepWriter::WriteRest(const Binding& loop, const Operand& done, const Operands& behind) {
  Binding rest = loop;
  std::copy(behind.begin(), behind.end(), rest.operands.begin() + FirstInit(loop));
  rest.operands[0] = builder().Add(loop.operands[0], done);
  builder().set_span(loop.span);
  builder().Append(Rewrite(arena()->New(std::move(rest))));
}

void StepWriter::MakeOwn(const TimeSteps& steps) {
  for (const OwnArray& own : steps.own) {
    const ir::Type& type = own.array->type;
    builder().Emit(OpCode::kAlloc, {own.array}, type.dims());
    if (own.copied == nullptr) continue;
    std::vector<const Var*> params;
    for (int axis = 0; axis < type.rank(); ++axis)
      params.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Operands index(params.begin(), params.end());
    const Block* element = BlockOf(params, [&] {
      builder().Store(own.array, index, builder().Load(own.copied, index));
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, type.dims(), {}, {element});
  }
}

StepWriter::Operands StepWriter::Behind(const Binding& loop, const TimeSteps& steps,
                                        const Operands& numbers) const {
  Operands behind(loop.operands.begin() + FirstInit(loop), loop.operands.end());
  for (size_t k = 0; k < behind.size(); ++k) {
    for (const auto& [local, outside] : steps.names[0]) {
      if (local == loop.blocks[0]->params[FirstCarried(loop) + k]) behind[k] = outside;
    }
  }
  for (size_t k = 0; k < numbers.size(); ++k) behind[steps.numbers[k]] = numbers[k];
  return behind;
}

Block StepWriter::WithoutArrays(const Block& body) {
  Block rest{body.params, {}, body.results};
  for (const Binding* b : body.bindings) {
    if (b->op != OpCode::kAlloc && b->op != OpCode::kCheck) rest.bindings.push_back(b);
  }
  return rest;
}

Operand StepWriter::All(const Operands& conditions) {
  Operand all = conditions[0];
  for (size_t k = 1; k < conditions.size(); ++k)
    all = builder().Scalar(OpCode::kAnd, {all, conditions[k]});
  return all;
}

}  // namespace parakeet::passes
