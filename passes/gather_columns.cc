// Reads once what every row of a map would gather anew: a column that lanes go along.
//
// Before:
//   %y = imap (%i) in (%n) {
//     %s = ireduce (%k) in (%m) add from 0.0 tree(block 0, lanes 32) {
//       %a = load %A[%i, %k]  %q = load %Q[%k, %j]  ... }
//     yield %s }
// After:
//   %some = gt %n, 0  %count = select %some, %m, 0
//   %column = imap (%k) in (%count) { %q = load %Q[%k, %j]  yield %q }
//   %y = imap (%i) in (%n) { ... %q = load %column[%k] ... }
//
// A matrix times a column of another: `A @ Q[:, j]`. Where lanes go along the map, as in
// `Q[:, j] @ A`, it is every group of lanes that would gather the column anew.
//
// Assumes: index form, behind choose-trees: orders of sums do not depend on it. No row reads the
// column where there are no rows, so that nothing is read of it then.
// Refuses: maps within nests, which would make arrays there; few rows; nests without lanes; loads
// behind a branch; places that an element or the map's own index says; maps that check, as
// whether a place is there; arrays that the map stores to.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr int64_t kFewRows = 7;
constexpr int64_t kLanesOfMaps = 32;  // of one vector or several

class ColumnGatherer : public ir::Mutator {
 public:
  ColumnGatherer(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function), patterns_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (const auto column = columns_.find(b); column != columns_.end()) {
      const Operand index = Apply(b->operands[column_places_.at(b)]);
      builder().Emit(OpCode::kLoad, b->results, {column->second, index});
      return;
    }
    const bool is_nest = InfoOf(b->op).format == ir::OpFormat::kIndices;
    if (depth_ == 0 && (b->op == OpCode::kImap || b->op == OpCode::kForeach)) GatherFor(*b);
    depth_ += is_nest;
    Mutator::Visit(b);
    depth_ -= is_nest;
  }

 private:
  void GatherFor(const Binding& map) {
    if (map.operands.empty()) return;
    const VarSet inside = ir::DefinedVars(*map.blocks[0]);
    const auto effects = EffectsOf(map, roots_);
    if (effects.may_fail) return;
    const VarSet& writes = effects.writes;
    for (const Binding* b : map.blocks[0]->bindings) {
      if (b->op != OpCode::kIreduce) continue;
      if (b->blocks[0]->params.size() != 1 || !IsOftenGathered(map, *b)) continue;
      if (IsInside(b->operands[0], inside)) continue;
      for (const Binding* load : b->blocks[0]->bindings) {
        if (load->op != OpCode::kLoad || Intersects(roots_.Of(load->operands[0].var()), writes))
          continue;
        const Var* index = b->blocks[0]->params[0];
        if (const auto axis = ColumnAxis(*load, index, inside)) Gather(map, *b, *load, *axis);
      }
    }
  }

  // Whether lanes go along the reduction, of more than a few rows, or along an index of the map
  // that it reads rows by, of which so many lanes are one row.
  bool IsOftenGathered(const Binding& map, const Binding& reduction) const {
    if (reduction.attrs.Int(Attr::kLanes) > 1) return !HasAtMost(map, kFewRows);
    const auto& params = map.blocks[0]->params;
    return !HasAtMost(map, kFewRows * kLanesOfMaps) &&
           std::any_of(params.begin(), params.end(), [&](const Var* index) {
             return patterns_.UnitStrides(*reduction.blocks[0], index) > 0;
           });
  }

  static bool HasAtMost(const Binding& map, int64_t most) {
    int64_t rows = 1;
    for (const Operand& extent : map.operands) {
      if (!extent.IsConstant()) return false;
      rows *= std::max<int64_t>(extent.constant().integer, 0);
    }
    return rows <= most;
  }

  static bool IsInside(const Operand& value, const VarSet& inside) {
    return value.IsVar() && inside.contains(value.var());
  }

  // The axis that `index` goes along by itself, where the rest of its place is known in front.
  std::optional<size_t> ColumnAxis(const Binding& load, const Var* index,
                                   const VarSet& inside) const {
    const Var* array = load.operands[0].var();
    if (inside.contains(array) || array->type.rank() < 2 || !patterns_.LiesInC(array))
      return std::nullopt;
    std::optional<size_t> along;
    for (size_t at = 1; at < load.operands.size(); ++at) {
      if (load.operands[at] == Operand(index)) {
        if (along || at + 1 == load.operands.size()) return std::nullopt;
        along = at;
      } else if (IsInside(load.operands[at], inside)) {
        return std::nullopt;
      }
    }
    return along;
  }

  void Gather(const Binding& map, const Binding& reduction, const Binding& load, size_t axis) {
    const Operand count = CountOf(map, Apply(reduction.operands[0]));
    const ir::DType dtype = load.result()->type.dtype();
    Builder element = builder().Nested();
    const Var* index = element.NewVar(ir::DType::kI64, "i");
    std::vector<Operand> place = Apply(load.operands);
    place[axis] = Operand(index);
    const Var* value = element.EmitOne(OpCode::kLoad, dtype, std::move(place));
    const Block* block = element.Finish({index}, {Operand(value)});
    builder().set_span(load.span);
    columns_.emplace(&load, builder().EmitOne(OpCode::kImap, ir::Type::Array(dtype, {count}),
                                              {count}, {}, {block}, "column"));
    column_places_.emplace(&load, axis);
  }

  // How many elements the rows read of the column: none where there are no rows.
  Operand CountOf(const Binding& map, const Operand& extent) {
    Operand count = builder().Scalar(OpCode::kMax, {extent, Operand::Int(0)});
    for (const Operand& rows : map.operands) {
      if (rows.IsConstant() && rows.constant().integer > 0) continue;
      const Operand some = builder().Scalar(OpCode::kGt, {Apply(rows), Operand::Int(0)});
      count = builder().Scalar(OpCode::kSelect, {some, count, Operand::Int(0)});
    }
    return count;
  }

  Roots roots_;
  AccessPatterns patterns_;
  int depth_ = 0;                                             // Of nests around.
  std::unordered_map<const Binding*, const Var*> columns_;    // that loads read now
  std::unordered_map<const Binding*, size_t> column_places_;  // which of their operands is left
};

}  // namespace

ir::Program GatherColumns(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ColumnGatherer(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
