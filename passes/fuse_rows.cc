// Lets maps that go over the same rows, each row by itself, go over them in one traversal: what
// they make of a row is used while it is in cache.
//
// Before:
//   %s: [n]f64 = imap (%i) in (%n) {
//     %t: f64 = ireduce (%j) in (%m) add from 0.0 { %a: f64 = load %x[%i, %j]  ... yield %a }
//     yield %t }
//   %y: [n][m]f64 = imap (%i, %j) in (%n, %m) {
//     %a: f64 = load %x[%i, %j]  %b: f64 = load %s[%i]  ... yield %c }
// After:
//   %y: [n][m]f64 = imap (%i) in (%n) {
//     %t: f64 = ireduce (%j) in (%m) add from 0.0 { %a: f64 = load %x[%i, %j]  ... yield %a }
//     %row: [m]f64 = imap (%j) in (%m) { %a: f64 = load %x[%i, %j]  ... %t ... yield %c }
//     yield %row }
//
// A row is what is left of an array at its first index, or at its first two and so on: as many as
// possible first. Arrays that nobody else reads become rows of their own, which place_results
// writes into those of a result where it can. Threads take rows as they did, and the order of no
// sum changes.
//
// Assumes: index form after fusion; combine_nested_maps, which would undo it, does not follow.
// Refuses: maps that share nothing but values, one a row; one that reads another row of what
// another makes; those that store, may raise or lie in Fortran order; those whose lanes go from row
// to row; memory effects in between that conflict, and checks that may guard what the later loads.
#include <algorithm>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/fusing/choose_rows.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Writes the maps of a group as one map over their first indexes.
class RowWriter : public ir::Mutator {
 public:
  RowWriter(ir::Arena* arena, size_t depth) : Mutator(arena), depth_(depth) {}

  // Results that are not in `read` disappear.
  const Binding* Write(const RowGroup& maps, const ir::VarSet& read) {
    const Binding& first = *maps[0];
    params_ = {first.blocks[0]->params.begin(), first.blocks[0]->params.begin() + depth_};
    Binding fused{OpCode::kImap, {}, {}, {}, {}, maps.back()->span};
    fused.operands = {first.operands.begin(), first.operands.begin() + depth_};
    std::vector<Operand> yields;
    for (const Binding* map : maps) {
      const std::vector<Operand> values = RowOf(*map);
      for (size_t k = 0; k < values.size(); ++k) {
        const Var* result = map->results[k];
        rows_.emplace(result, values[k]);
        if (!read.contains(result)) continue;
        fused.results.push_back(result);
        yields.push_back(Yielded(*map, *result, values[k]));
      }
    }
    fused.blocks = {builder().Finish(params_, std::move(yields))};
    return arena()->New(std::move(fused));
  }

 protected:
  void Visit(const Binding* b) override {
    builder().set_span(b->span);
    const auto row = b->op == OpCode::kLoad ? rows_.find(b->operands[0].var()) : rows_.end();
    if (row == rows_.end()) return Mutator::Visit(b);
    if (!ir::TypeOf(row->second).IsArray()) return Replace(b->result(), row->second);
    Binding load = *b;
    load.operands = Apply(b->operands);
    load.operands.erase(load.operands.begin() + 1, load.operands.begin() + 1 + depth_);
    load.operands[0] = row->second;
    builder().Append(arena()->New(std::move(load)));
  }

 private:
  // What the map makes at the first indexes: values, or rows of them. A row of one element is its
  // value.
  std::vector<Operand> RowOf(const Binding& map) {
    const Block& body = *map.blocks[0];
    const bool has_one = HasRowsOfOne(map, depth_);
    for (size_t k = 0; k < body.params.size(); ++k) {
      const bool is_outer = k < depth_;
      if (is_outer && body.params[k] != params_[k]) Replace(body.params[k], params_[k]);
      if (!is_outer && has_one) Replace(body.params[k], Operand::Int(0));
    }
    if (!has_one) return InnerMap(map);
    for (const Binding* b : body.bindings) Visit(b);
    return Apply(body.results);
  }

  std::vector<Operand> InnerMap(const Binding& map) {
    Block element = *map.blocks[0];
    element.params.erase(element.params.begin(), element.params.begin() + depth_);
    Binding inner = map;
    inner.operands.erase(inner.operands.begin(), inner.operands.begin() + depth_);
    inner.blocks = {VisitBlock(arena()->New(std::move(element)))};
    for (const Var*& result : inner.results)
      result = builder().NewVar(RowType(*result), result->hint);
    builder().set_span(map.span);
    builder().Append(arena()->New(inner));
    return {inner.results.begin(), inner.results.end()};
  }

  ir::Type RowType(const Var& result) const {
    const std::vector<Operand>& dims = result.type.dims();
    return ir::Type::Array(result.type.dtype(), {dims.begin() + depth_, dims.end()});
  }

  // The row as the map yields it.
  Operand Yielded(const Binding& map, const Var& result, const Operand& value) {
    if (map.operands.size() == depth_ || ir::TypeOf(value).IsArray()) return value;
    std::vector<const Var*> index;
    for (size_t k = depth_; k < map.operands.size(); ++k)
      index.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Block* element = builder().Nested().Finish(std::move(index), {value});
    return builder().EmitOne(OpCode::kImap, RowType(result),
                             {map.operands.begin() + depth_, map.operands.end()}, map.attrs,
                             {element}, result.hint);
  }

  const size_t depth_;
  std::vector<const Var*> params_;
  std::unordered_map<const Var*, Operand> rows_;  // of the results of the maps
};

class RowFuser : public ir::Mutator {
 public:
  RowFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), chooser_(function, context), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    for (size_t depth = MostIndexes(*block); depth > 0; --depth) block = Fuse(block, depth);
    return Mutator::VisitBlock(block);
  }

 private:
  // Of the imaps of the block but one.
  static size_t MostIndexes(const Block& block) {
    size_t most = 0;
    size_t second = 0;
    for (const Binding* b : block.bindings) {
      if (b->op != OpCode::kImap) continue;
      second = std::max(second, std::min(most, b->operands.size()));
      most = std::max(most, b->operands.size());
    }
    return second;
  }

  const Block* Fuse(const Block* block, size_t depth) {
    const std::vector<RowGroup> groups = chooser_.Choose(*block, depth);
    if (groups.empty()) return block;
    const ir::VarSet read = ReadElsewhere(*block, groups);
    Block fused = *block;
    fused.bindings.clear();
    for (const RowGroup& group : groups) {
      const bool is_one = group.size() == 1;
      fused.bindings.push_back(is_one ? group[0] : RowWriter(arena(), depth).Write(group, read));
      for (const Binding* b : group) {
        if (!is_one)
          context_.Note(b->span, "fused with what goes over the same rows", Topic::kSiblings,
                        Verdict::kDone, group[0]->span);
      }
    }
    return arena()->New(std::move(fused));
  }

  // What is read outside its own group.
  static ir::VarSet ReadElsewhere(const Block& block, const std::vector<RowGroup>& groups) {
    ir::VarSet read;
    for (const Operand& result : block.results) {
      if (result.IsVar()) read.insert(result.var());
    }
    for (const RowGroup& group : groups) {
      ir::VarSet needed;
      for (const Binding* b : group) needed.merge(ir::FreeVars(*b));
      for (const Binding* b : group) {
        for (const Var* result : b->results) needed.erase(result);
      }
      read.merge(needed);
    }
    return read;
  }

  RowChooser chooser_;
  Context& context_;
};

}  // namespace

ir::Program FuseRows(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return RowFuser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
