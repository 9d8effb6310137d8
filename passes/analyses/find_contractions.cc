#include "passes/analyses/find_contractions.h"

#include <algorithm>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/settled_extremes.h"
#include "passes/other_shapes.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

// True where some of `a` is not in `b`.
bool Exceeds(const VarSet& a, const VarSet& b) {
  return std::any_of(a.begin(), a.end(), [&](const Var* index) { return !b.contains(index); });
}

bool UsesAny(const Binding& b, const VarSet& values) {
  return std::any_of(b.operands.begin(), b.operands.end(),
                     [&](const Operand& o) { return o.IsVar() && values.contains(o.var()); });
}

// The element function, free indices first, with what the map makes before it and it reads.
Block ElementOf(const Binding& map, const Binding& reduction) {
  const Block& body = *map.blocks[0];
  Block element = *reduction.blocks[0];
  element.params.insert(element.params.begin(), body.params.begin(), body.params.end());
  const auto before = NeededBindings(body, ir::FreeVars(element));
  element.bindings.insert(element.bindings.begin(), before.begin(), before.end());
  return element;
}

// True where two of the free indices meet in no load: a tile goes along both.
bool HasTile(const VarSet& free, const Block& element) {
  const auto meet = [&](const Var* row, const Var* column) {
    return std::any_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kLoad && UsesAny(*b, {row}) && UsesAny(*b, {column});
    });
  };
  return std::any_of(free.begin(), free.end(), [&](const Var* row) {
    return std::any_of(free.begin(), free.end(),
                       [&](const Var* column) { return row != column && !meet(row, column); });
  });
}

std::string WhyNotSummed(const Binding& map, const Binding& reduction, const Block& element) {
  if (reduction.results.size() != 1) return "more than one value goes through its reduction";
  if (!ir::CombineOp(*reduction.blocks[1]) && !OrderOf(*reduction.blocks[1]))
    return "its combine is not one operation";
  const VarSet free(map.blocks[0]->params.begin(), map.blocks[0]->params.end());
  const VarSet summed(reduction.blocks[0]->params.begin(), reduction.blocks[0]->params.end());
  for (const Operand& extent : reduction.operands) {
    if (extent.IsVar() && free.contains(extent.var())) return "how much it sums depends on where";
  }
  if (std::all_of(reduction.operands.begin(), reduction.operands.begin() + summed.size(),
                  [](const Operand& extent) { return extent.IsInt(1); }))
    return "it sums one term";
  const VarSet made = ir::DefinedVars(element);
  for (const Binding* b : element.bindings) {
    if (b->op != OpCode::kLoad && !ir::IsScalarOp(b->op))
      return "its element holds " + std::string(Name(b->op));
    if (b->op != OpCode::kLoad) continue;
    for (size_t k = 1; k < b->operands.size(); ++k) {
      const Var* index = b->operands[k].var();
      if (made.contains(index) && !free.contains(index) && !summed.contains(index))
        return "an operand's index is computed";
    }
  }
  for (const Binding* b : element.bindings) {
    if (b->op != OpCode::kLoad && UsesAny(*b, free))
      return "a free index is a number in its element";
  }
  if (!ReusesOperands(map, reduction))
    return "no two operands are used again, each along an index of the other";
  return HasTile(free, element) ? "" : "any two of its indexes meet in an operand";
}

// What the map makes of the sum.
const Block* ThenOf(ir::Arena* arena, const Block& body, const Binding& reduction) {
  Block then = body;
  std::erase(then.bindings, &reduction);
  then.params.push_back(reduction.result());
  return ir::CloneBlock(arena, then);
}

}  // namespace

const Binding* ReductionIn(const Binding& map) {
  const Binding* reduction = nullptr;
  for (const Binding* b : map.blocks[0]->bindings) {
    if (b->op != OpCode::kIreduce) continue;
    if (reduction != nullptr) return nullptr;
    reduction = b;
  }
  return reduction;
}

const Binding* OnlyReduction(const Block& body) {
  if (body.bindings.size() != 1 || body.bindings[0]->op != OpCode::kIreduce) return nullptr;
  const Binding* reduction = body.bindings[0];
  const bool is_all = body.results.size() == 1 && body.results[0] == Operand(reduction->results[0]);
  return is_all ? reduction : nullptr;
}

std::string WhyNoContraction(const Binding& map, const Binding& reduction) {
  const Block& body = *map.blocks[0];
  for (const Binding* b : body.bindings) {
    const bool is_plain = ir::IsScalarOp(b->op) || b->op == OpCode::kLoad ||
                          (b->op == OpCode::kStore && map.op == OpCode::kForeach);
    if (!is_plain && b != &reduction) return "beside the sum it holds " + std::string(Name(b->op));
  }
  VarSet made = ir::DefinedVars(body);
  for (const Var* index : body.params) made.erase(index);
  for (const Operand& operand : reduction.operands) {
    if (made.contains(operand.var())) return "where it begins or ends is made beside it";
  }
  return WhyNotSummed(map, reduction, ElementOf(map, reduction));
}

bool ReusesOperands(const Binding& map, const Binding& reduction) {
  VarSet free;  // but for those of one element
  for (size_t axis = 0; axis < map.operands.size(); ++axis) {
    if (!map.operands[axis].IsInt(1)) free.insert(map.blocks[0]->params[axis]);
  }
  const VarSet summed(reduction.blocks[0]->params.begin(), reduction.blocks[0]->params.end());
  std::vector<VarSet> uses;
  for (const Binding* b : ElementOf(map, reduction).bindings) {
    if (b->op != OpCode::kLoad) continue;
    VarSet of_load;
    bool sums = false;
    for (size_t k = 1; k < b->operands.size(); ++k) {
      const Var* index = b->operands[k].var();
      sums |= summed.contains(index);
      if (free.contains(index)) of_load.insert(index);
    }
    if (sums) uses.push_back(std::move(of_load));
  }
  return std::any_of(uses.begin(), uses.end(), [&](const VarSet& a) {
    return std::any_of(uses.begin(), uses.end(),
                       [&](const VarSet& b) { return Exceeds(a, b) && Exceeds(b, a); });
  });
}

const Binding* ContractionOf(ir::Arena* arena, const Binding& map, const Binding& reduction) {
  const Block& body = *map.blocks[0];
  Binding contract = map;
  contract.op = OpCode::kContract;
  contract.operands.insert(contract.operands.end(), reduction.operands.begin(),
                           reduction.operands.end());
  contract.blocks = {ir::CloneBlock(arena, ElementOf(map, reduction)), reduction.blocks[1]};
  contract.attrs = map.attrs.With(Attr::kFree, static_cast<int64_t>(body.params.size()));
  const bool is_all = body.results.size() == 1 && body.results[0] == Operand(reduction.result());
  if (!is_all) contract.blocks.push_back(ThenOf(arena, body, reduction));
  return arena->New(std::move(contract));
}

std::vector<Operand> SidesOf(const Binding& contract) {
  const Block& element = *contract.blocks[0];
  const auto free = static_cast<size_t>(contract.attrs.Int(Attr::kFree));
  std::vector<Operand> sides;
  for (size_t axis = 0; axis < free; ++axis) {
    const auto is_apart = [&](const Binding* b) {
      const auto& operands = b->operands;
      return b->op == OpCode::kLoad &&
             std::count(operands.begin(), operands.end(), Operand(element.params[axis])) == 0;
    };
    if (std::any_of(element.bindings.begin(), element.bindings.end(), is_apart))
      sides.push_back(contract.operands[axis]);
  }
  return sides;
}

// The check is that the least of them is long.
std::vector<LongSide> SidesCheckedLong(const ir::Function& function, const ir::Sites& sites) {
  ir::DefinitionMap makers;
  std::vector<LongSide> least, sides;
  for (const Binding* b : function.body->bindings) {
    for (const Var* result : b->results) makers[result] = b;
    const bool is_check = b->op == OpCode::kCheck;
    if (!is_check || sites[size_t(b->attrs.Int(Attr::kSite))].exception != kShortSides) continue;
    const Binding* condition = makers[b->operands[0].var()];
    if (condition == nullptr || condition->op != OpCode::kGt) continue;
    const Operand& longest = condition->operands[1];
    if (longest.IsConstant())
      least.push_back({condition->operands[0].var(), longest.constant().integer});
  }
  while (!least.empty()) {
    const LongSide side = least.back();
    least.pop_back();
    if (side.size == nullptr) continue;
    const Binding* maker = makers[side.size];
    if (maker == nullptr) sides.push_back(side);
    if (maker == nullptr || maker->op != OpCode::kMin) continue;
    for (const Operand& operand : maker->operands)
      least.push_back({operand.var(), side.longer_than});
  }
  return sides;
}

bool IsKnownShortSide(const Operand& side) {
  return side.IsConstant() && side.constant().integer <= kLongestShortSide;
}

}  // namespace parakeet::passes
