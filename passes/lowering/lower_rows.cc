#include "passes/lowering/lower_rows.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// Elements that cost more gain nothing by sharing a load.
constexpr int kDearElement = 12;

bool Mentions(const Binding& load, const Var* index) {
  return std::count(load.operands.begin() + 1, load.operands.end(), Operand(index)) > 0;
}

// True where some load is the same in all rows, and some is not.
bool Shares(const Block& element, const Var* row) {
  bool shared = false;
  bool own = false;
  for (const Binding* b : element.bindings) {
    if (ir::IsScalarOp(b->op)) continue;
    if (b->op != OpCode::kLoad) return false;
    (Mentions(*b, row) ? own : shared) |= Mentions(*b, element.params[0]);
  }
  return shared && own;
}

}  // namespace

// The registers of the widest vectors hold the lanes of all.
const Binding* RowLowering::SharedBy(const Binding& nest) {
  const Binding* reduction = ReductionIn(nest);
  if (vector_bytes() < 64 || nest.attrs.Has(Attr::kVector) || reduction == nullptr) return nullptr;
  const Block& element = *reduction->blocks[0];
  if (reduction->results.size() != 1 || element.params.size() != 1 ||
      !ir::CombineOp(*reduction->blocks[1]) || reduction->attrs.Int(Attr::kLanes, 1) < 2 ||
      reduction->attrs.Int(Attr::kBlock) > 0 || reduction->attrs.Has(Attr::kShort))
    return nullptr;
  const bool is_plain = !Describe(*reduction).starts.empty() && CostOf(element) <= kDearElement &&
                        !ir::DefinedVars(*nest.blocks[0]).contains(reduction->operands[0].var());
  return is_plain && Shares(element, nest.blocks[0]->params.back()) ? reduction : nullptr;
}

// The combine of one row, for each of them.
const Block* RowLowering::CombinesOf(const Binding& reduction) {
  const Block& combine = *reduction.blocks[1];
  std::vector<const Var*> params;
  for (int k = 0; k < 2 * kRowsAtOnce; ++k)
    params.push_back(builder().NewVar(combine.params[0]->type, "acc"));
  return BlockOf(params, [&] {
    Operands results;
    for (int row = 0; row < kRowsAtOnce; ++row) {
      results.push_back(
          builder().Scalar(*ir::CombineOp(combine), {params[row], params[kRowsAtOnce + row]}));
    }
    return results;
  });
}

void RowLowering::WriteRows(const Binding& nest, const Binding& reduction, const Operands& index,
                            const Finish& finish) {
  const Reduction r = Describe(reduction);
  const auto row = [&](int k) {
    Operands moved = index;
    moved.back() = builder().Add(moved.back(), Int(k));
    return moved;
  };
  Operands operands = {Int(0), r.extents[0]};
  operands.insert(operands.end(), kRowsAtOnce, r.starts[0]);
  const Var* at = builder().NewVar(DType::kI64, "i");
  const Block* elements = BlockOf({at}, [&] {
    Operands values;
    for (int k = 0; k < kRowsAtOnce; ++k)
      values.push_back(ElementOf(nest, reduction, row(k), at)[0]);
    return values;
  });
  std::vector<const Var*> totals;
  for (int k = 0; k < kRowsAtOnce; ++k)
    totals.push_back(builder().NewVar(ir::TypeOf(r.starts[0]), "lane"));
  builder().Emit(OpCode::kLanes, totals, std::move(operands), Attributes{{Attr::kLanes, r.lanes}},
                 {elements, CombinesOf(reduction)});
  for (int k = 0; k < kRowsAtOnce; ++k) {
    const Operands inits = InitsOf(nest, reduction, row(k));
    const Operands total = inits.empty() ? Operands{totals[k]} : Combine(r, inits, {totals[k]});
    finish(row(k), FinishOf(nest, reduction, row(k), total));
  }
}

}  // namespace parakeet::passes
