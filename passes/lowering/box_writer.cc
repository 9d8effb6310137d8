#include "passes/lowering/box_writer.h"

#include <algorithm>

#include "ir/combines.h"
#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

std::optional<LoopWriter::Operands> BoxWriter::MostExtents(ExtentBounds& bounds,
                                                           const Binding& nest,
                                                           const Binding& inner) {
  const ir::VarSet inside = ir::DefinedVars(*nest.blocks[0]);
  const bool has_none = ElseOf(inner).size() == inner.blocks[0]->results.size();
  Operands most;
  for (const Operand& extent : Extents(inner)) {
    const bool is_own = extent.IsVar() && inside.contains(extent.var());
    const std::optional<Operand> bound =
        is_own ? bounds.Write(builder(), extent) : std::optional<Operand>(extent);
    if (!bound || (is_own && !has_none)) return std::nullopt;
    most.push_back(*bound);
  }
  return most;
}

LoopWriter::Operands BoxWriter::ElseOf(const Binding& inner) {
  Operands nothing;
  if (inner.op == OpCode::kIreduce) {
    const std::vector<ir::Constant> identities = ir::TraitsOf(*inner.blocks[1]).identities;
    nothing.assign(identities.begin(), identities.end());
  } else {
    for (const Operand& value : inner.blocks[0]->results)
      nothing.push_back(ir::ZeroOf(ir::DTypeOf(value)));
  }
  return nothing;
}

Binding BoxWriter::Boxed(const Binding& inner, const Operands& most) {
  Binding boxed = inner;
  std::copy(most.begin(), most.end(), boxed.operands.begin());
  const Block& element = *inner.blocks[0];
  boxed.blocks[0] = BlockOf(element.params, [&] {
    Operand is_in = Operand::Bool(true);
    for (size_t axis = 0; axis < element.params.size(); ++axis) {
      if (inner.operands[axis] == most[axis]) continue;
      const Operand below =
          builder().Scalar(OpCode::kLt, {element.params[axis], inner.operands[axis]});
      is_in = builder().Scalar(OpCode::kAnd, {is_in, below});
    }
    std::vector<const Var*> results;
    for (const Operand& value : element.results)
      results.push_back(builder().NewVar(ir::TypeOf(value)));
    builder().Emit(OpCode::kIf, results, {is_in}, {},
                   {arena()->New(Block{{}, element.bindings, element.results}),
                    arena()->New(Block{{}, {}, ElseOf(inner)})});
    return Operands(results.begin(), results.end());
  });
  return boxed;
}

LoopWriter::Operands BoxWriter::Extents(const Binding& nest) {
  const auto axes = static_cast<std::ptrdiff_t>(nest.blocks[0]->params.size());
  return {nest.operands.begin(), nest.operands.begin() + axes};
}

}  // namespace parakeet::passes
