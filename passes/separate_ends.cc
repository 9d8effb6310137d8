// Makes what elements come to behind their reductions in a nest of its own, where that takes
// functions: a row's sum goes through lanes along the row, and what is made of it would be one
// number.
//
// Before:
//   %p: [n]f64 = imap (%i) in (%n) {
//     %s: f64 = ireduce (%k) in (%m) add from 0.0 tree(block 0, lanes 32) { ... }
//     %e: f64 = exp %s  yield %e }
// After:
//   %p: [n]f64 = imap (%i) in (%n) { %s: f64 = ireduce ...  yield %s }
//   foreach (%i) in (%n) { %s: f64 = load %p[%i]  %e: f64 = exp %s  store %p[%i], %e }
//
// What a foreach stores has an array for its sums where it has one index; a map's is its result,
// where it has one alone, of the same dtype.
//
// Assumes: index form, behind choose-trees, whose lanes it asks about; before jam-neighbours.
// Refuses: nests of which lanes take the index; functions that a reduction needs; nests that hold
// other loops, branches or checks, or store before they end; maps within nests.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"
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

constexpr int kCostOfFunction = 10;  // From here on, lanes take a fraction of it.
constexpr size_t kMostSums = 4;

bool IsFunction(const Binding& b) {
  return ir::IsScalarOp(b.op) && b.results.size() == 1 &&
         ir::InfoOf(b.op).cost >= kCostOfFunction &&
         (b.result()->type.dtype() == ir::DType::kF64 ||
          b.result()->type.dtype() == ir::DType::kF32);
}

bool GoesAlongRow(const Binding& b) {
  return b.op == OpCode::kIreduce && b.attrs.Int(Attr::kLanes, 1) > 1;
}

class EndSeparator : public ir::Mutator {
 public:
  EndSeparator(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    if (is_nest && depth_ == 0) {
      if (const auto end = EndOf(*b)) return Write(*b, *end);
    }
    const bool is_around = is_nest || b->op == OpCode::kIreduce || b->op == OpCode::kIscan;
    depth_ += is_around;
    Mutator::Visit(b);
    depth_ -= is_around;
  }

 private:
  // What stands behind the reductions of a nest, and which of their results it takes.
  struct End {
    std::vector<const Binding*> bindings;
    std::vector<const Var*> sums;
  };

  std::optional<End> EndOf(const Binding& nest) const {
    const Block& body = *nest.blocks[0];
    if (!IsFit(nest)) return std::nullopt;
    const End end = EndOf(body);
    ir::VarSet reduced;
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kIreduce) reduced.insert(b->results.begin(), b->results.end());
    }
    const std::vector<const Binding*> early = NeededBindings(body, reduced);
    bool has_function = false;
    for (const Binding* b : end.bindings) {
      if (!IsFunction(*b)) continue;
      if (std::find(early.begin(), early.end(), b) != early.end()) return std::nullopt;
      has_function = true;
    }
    const bool is_held = nest.op == OpCode::kForeach
                             ? body.params.size() == 1 && end.sums.size() <= kMostSums
                             : end.sums.size() == 1 && nest.results.size() == 1 &&
                                   nest.result()->type.dtype() == end.sums[0]->type.dtype();
    return has_function && is_held ? std::optional(end) : std::nullopt;
  }

  static bool IsFit(const Binding& nest) {
    const std::vector<const Binding*>& all = nest.blocks[0]->bindings;
    const auto stores = std::find_if(all.begin(), all.end(),
                                     [](const Binding* b) { return b->op == OpCode::kStore; });
    return !IsFortran(nest) &&
           std::all_of(stores, all.end(),
                       [](const Binding* b) { return b->op == OpCode::kStore; }) &&
           std::all_of(all.begin(), stores,
                       [](const Binding* b) {
                         return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad ||
                                b->op == OpCode::kIreduce;
                       }) &&
           std::any_of(all.begin(), all.end(), [](const Binding* b) { return GoesAlongRow(*b); }) &&
           std::all_of(nest.blocks[0]->results.begin(), nest.blocks[0]->results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsScalar(); });
  }

  static End EndOf(const Block& body) {
    End end;
    ir::VarSet needed;
    for (const Operand& result : body.results) {
      if (result.IsVar()) needed.insert(result.var());
    }
    for (auto b = body.bindings.rbegin(); b != body.bindings.rend(); ++b) {
      const Binding& each = **b;
      const bool is_needed =
          each.op == OpCode::kStore ||
          std::any_of(each.results.begin(), each.results.end(),
                      [&](const Var* result) { return needed.contains(result); });
      if (!is_needed) continue;
      if (each.op != OpCode::kIreduce) {
        end.bindings.insert(end.bindings.begin(), &each);
        ir::ForEachUse(each, [&](const Var* used) { needed.insert(used); });
        continue;
      }
      std::copy_if(each.results.begin(), each.results.end(), std::back_inserter(end.sums),
                   [&](const Var* result) { return needed.contains(result); });
    }
    return end;
  }

  void Write(const Binding& nest, const End& end) {
    context_.Note(nest.span, "what is made of its reductions takes lanes by itself", Topic::kLanes,
                  Verdict::kDone);
    builder().set_span(nest.span);
    const std::vector<Operand> extents = Apply(nest.operands);
    std::vector<const Var*> arrays;
    for (const Var* sum : end.sums)
      arrays.push_back(builder().NewVar(ir::Type::Array(sum->type.dtype(), extents), "sums"));
    WriteSums(nest, end, extents, arrays);
    WriteEnd(nest, end, extents, arrays);
    if (nest.op == OpCode::kImap) Replace(nest.result(), arrays[0]);
  }

  void WriteSums(const Binding& nest, const End& end, const std::vector<Operand>& extents,
                 const std::vector<const Var*>& arrays) {
    const Block& body = *nest.blocks[0];
    const std::vector<Operand> sums(end.sums.begin(), end.sums.end());
    const Block front{body.params, NeededBindings(body, sums), sums};
    builder().Emit(OpCode::kImap, arrays, extents, {}, {Visited(front)});
  }

  void WriteEnd(const Binding& nest, const End& end, const std::vector<Operand>& extents,
                const std::vector<const Var*>& arrays) {
    const Block& body = *nest.blocks[0];
    Builder outer = std::exchange(builder(), builder().Nested());
    const Block* copy = ir::CloneBlock(arena(), {body.params, end.bindings, body.results});
    const std::vector<Operand> index(copy->params.begin(), copy->params.end());
    for (size_t k = 0; k < arrays.size(); ++k)
      Replace(end.sums[k], builder().Load(arrays[k], index));
    for (const Binding* b : copy->bindings) {
      builder().set_span(b->span);
      Mutator::Visit(b);
    }
    if (nest.op == OpCode::kImap) builder().Store(arrays[0], index, Apply(copy->results[0]));
    const Block* block = builder().Finish(copy->params, {});
    builder() = std::move(outer);
    builder().Emit(OpCode::kForeach, {}, extents, {}, {block});
  }

  const Block* Visited(const Block& block) {
    return Mutator::VisitBlock(ir::CloneBlock(arena(), block));
  }

  Context& context_;
  int depth_ = 0;
};

}  // namespace

ir::Program SeparateEnds(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return EndSeparator(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
