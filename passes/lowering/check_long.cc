#include "passes/lowering/check_long.h"

#include "ir/builder.h"
#include "passes/lowering/loop_writer.h"
#include "passes/other_shapes.h"

namespace parakeet::passes {
namespace {

using ir::OpCode;
using ir::Operand;

Operand IsAnyLong(ir::Builder& builder, const ShortTogether& sizes) {
  std::vector<Operand> operands;
  for (const ir::Var* size : sizes) {
    const Operand is_less = builder.Scalar(OpCode::kLt, {size, Int(kShortestAxis)});
    const Operand is_more = builder.Scalar(OpCode::kGt, {size, Int(kLongestShortAxis)});
    operands.push_back(builder.Scalar(OpCode::kOr, {is_less, is_more}));
  }
  return operands.size() == 1 ? operands[0] : builder.Scalar(OpCode::kOr, operands);
}

const ir::Function* CheckLong(ir::Arena* arena, const ir::Function* function,
                              const std::vector<ShortTogether>& groups, int64_t site) {
  ir::Builder builder(arena);
  builder.set_span(function->span);
  for (const ShortTogether& sizes : groups) {
    const Operand is_long = IsAnyLong(builder, sizes);
    builder.Emit(OpCode::kCheck, {}, {is_long}, {{ir::Attr::kSite, site}, {ir::Attr::kAt, 0}});
  }
  for (const ir::Binding* b : function->body->bindings) builder.Append(b);
  ir::Function copy = *function;
  copy.body = builder.Finish(function->body->params, function->body->results);
  return arena->New(std::move(copy));
}

}  // namespace

ir::Program CheckShortAxes(
    const ir::Program& program, const Context& context,
    const std::function<std::vector<ShortTogether>(const ir::Function&)>& better_short) {
  if (!context.options.assume_shapes) return program;
  const auto site = static_cast<int64_t>(program.sites.size());
  bool checks = false;
  ir::Program checked = ForEachFunction(program, [&](const ir::Function* function) {
    if (!function->entry) return function;
    const std::vector<ShortTogether> groups = better_short(*function);
    checks |= !groups.empty();
    return groups.empty() ? function : CheckLong(program.arena.get(), function, groups, site);
  });
  if (checks) checked.sites.push_back({std::string(kShortAxes), "", {}});
  return checked;
}

}  // namespace parakeet::passes
