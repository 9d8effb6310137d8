// Takes an extreme of the whole from the extremes of blocks, where those are made as well: the
// value and the place of a maximum are found in one traversal.
//
// Before:
//   %m: f64 = ireduce (%i) in (%n) max { %a: f64 = load %x[%i]  yield %a }
//   %k = floordiv (add %n, 8191), 8192
//   %p: [%k]f64 = imap (%b) in (%k) {
//     %lo = mul %b, 8192  %first: f64 = load %x[%lo]
//     %l = sub (min (mul (add %b, 1), 8192), %n), %lo
//     %r: f64 = ireduce (%j) in (%l) max from %first { %c: f64 = load %x[%lo + %j]  yield %c }
//     yield %r }
// After:
//   %k = ...  %p: [%k]f64 = imap ...
//   %m: f64 = ireduce (%b) in (%k) max { %q: f64 = load %p[%b]  yield %q }
//
// Assumes: index form, before fusion, which would make the blocks' extremes where they are read.
// Refuses: other combines than min, max, and, or, for which an element may count twice; blocks that
// are not the whole, each once; memory that is stored to between the two; blocks that need what is
// made behind the reduction and may fail.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using Definitions = ir::DefinitionMap;

// An element of a reduction may be taken again, and elements in any order.
std::optional<OpCode> IdempotentOp(const Binding& b) {
  if (b.op != OpCode::kIreduce || b.results.size() != 1 || b.blocks[0]->params.size() != 1)
    return std::nullopt;
  const std::optional<OpCode> op = ir::CombineOp(*b.blocks[1]);
  const bool is =
      op == OpCode::kMin || op == OpCode::kMax || op == OpCode::kAnd || op == OpCode::kOr;
  return is ? op : std::nullopt;
}

const Operand* InitOf(const Binding& reduction) {
  return reduction.operands.size() > 1 ? &reduction.operands[1] : nullptr;
}

// An imap whose element is the reduction of a block.
struct Blocks {
  const Binding* map;
  const Binding* reduction;  // inside the map
  OpCode op;
};

std::optional<Blocks> BlocksOf(const Binding& map) {
  if (map.op != OpCode::kImap || map.results.size() != 1 || map.blocks[0]->params.size() != 1)
    return std::nullopt;
  for (const Binding* b : map.blocks[0]->bindings) {
    const std::optional<OpCode> op = IdempotentOp(*b);
    if (op && map.blocks[0]->results[0] == Operand(b->result())) return Blocks{&map, b, *op};
  }
  return std::nullopt;
}

// Whether two values are one where an index of the first stands for a form of the second's.
class Comparison {
 public:
  Comparison(const Definitions& definitions, const WrappingForms& forms, const Var* index,
             LinearForm value)
      : definitions_(definitions), forms_(forms), index_(index), value_(std::move(value)) {}

  bool Same(const Operand& a, const Operand& b) const {
    if (a == b) return a != Operand(index_);
    return SameIndex(a, b) || SameDefinition(a, b);
  }

 private:
  bool SameIndex(const Operand& a, const Operand& b) const {
    const auto is_index = [](const Operand& operand) {
      return operand.IsConstant() ? operand.constant().dtype == ir::DType::kI64
                                  : operand.var()->type == ir::Type(ir::DType::kI64);
    };
    return is_index(a) && is_index(b) && SameForm(forms_.Of(a).With(index_, value_), forms_.Of(b));
  }

  bool SameDefinition(const Operand& a, const Operand& b) const {
    const Binding* x = DefinitionOf(a);
    const Binding* y = DefinitionOf(b);
    if (x == nullptr || y == nullptr || x->op != y->op ||
        x->attrs.entries() != y->attrs.entries() || x->results.size() != 1 ||
        x->result()->type != y->result()->type || !x->blocks.empty() || !y->blocks.empty())
      return false;
    return std::equal(x->operands.begin(), x->operands.end(), y->operands.begin(),
                      y->operands.end(),
                      [this](const Operand& p, const Operand& q) { return Same(p, q); });
  }

  const Binding* DefinitionOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  const Definitions& definitions_;
  const WrappingForms& forms_;
  const Var* index_;
  LinearForm value_;
};

class Sharer : public ir::Mutator {
 public:
  Sharer(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        context_(context),
        roots_(function),
        forms_(function),
        definitions_(ir::Definitions(*function.body)) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    for (const Binding* b : block->bindings) {
      if (const std::optional<OpCode> op = IdempotentOp(*b)) PlanFor(*block, *b, *op);
    }
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    if (written_.contains(b)) return;
    const auto plan = plans_.find(b);
    if (plan == plans_.end()) return Mutator::Visit(b);
    for (const Binding* early : plan->second.early) {
      if (!written_.insert(early).second) continue;
      Mutator::Visit(early);
    }
    Replace(b->result(), OfBlocks(*b, *plan->second.map));
    context_.Note(b->span, "takes it from those of blocks", Topic::kSiblings, Verdict::kDone,
                  plan->second.map->span);
  }

 private:
  struct Plan {
    const Binding* map;
    std::vector<const Binding*> early;  // what stands behind the reduction and is made before it
  };

  void PlanFor(const Block& block, const Binding& whole, OpCode op) {
    for (const Binding* map : block.bindings) {
      const std::optional<Blocks> blocks = BlocksOf(*map);
      if (!blocks || blocks->op != op || !AreOf(*blocks, whole)) continue;
      if (const auto early = EarlyFor(block, whole, *map)) {
        plans_.emplace(&whole, Plan{map, *early});
        return;
      }
    }
  }

  // True where the blocks are all the elements of the whole, each in one of them.
  bool AreOf(const Blocks& blocks, const Binding& whole) const {
    const Operand& n = whole.operands[0];
    const Var* b = blocks.map->blocks[0]->params[0];
    const std::optional<int64_t> width = WidthOf(*blocks.reduction, b, n);
    if (!width || !IsCount(blocks.map->operands[0], n, *width)) return false;
    const Block& element = *whole.blocks[0];
    LinearForm place{0, {{b, *width}}};
    const Operand* init = InitOf(*blocks.reduction);
    const Var* i = element.params[0];
    const Comparison first(definitions_, forms_, i, place);
    if (init != nullptr && !first.Same(element.results[0], *init)) return false;
    place.Add(LinearForm::Of(blocks.reduction->blocks[0]->params[0]), 1);
    const Comparison any(definitions_, forms_, i, place);
    return any.Same(element.results[0], blocks.reduction->blocks[0]->results[0]);
  }

  // Of blocks that go from b * width to the next one's begin, or to the end of all.
  std::optional<int64_t> WidthOf(const Binding& reduction, const Var* b, const Operand& n) const {
    const Binding* length = DefinitionOf(reduction.operands[0], OpCode::kSub);
    const Binding* end =
        length == nullptr ? nullptr : DefinitionOf(length->operands[0], OpCode::kMin);
    if (end == nullptr || end->operands[1] != n) return std::nullopt;
    const LinearForm next = forms_.Of(end->operands[0]);
    const int64_t width = next.Coefficient(b);
    const LinearForm begin{0, {{b, width}}};
    const bool is_block = width > 0 && width <= kWidest && SameForm(next, Plus(begin, width)) &&
                          SameForm(forms_.Of(length->operands[1]), begin);
    return is_block ? std::optional(width) : std::nullopt;
  }

  // True for the number of blocks of so many elements.
  bool IsCount(const Operand& count, const Operand& n, int64_t width) const {
    if (n.IsConstant()) {
      const int64_t all = n.constant().integer;
      return count.IsConstant() && all >= 0 && all <= kFarthest &&
             count.constant().integer == (all + width - 1) / width;
    }
    const Binding* quotient = DefinitionOf(count, OpCode::kFloorDiv);
    return quotient != nullptr && quotient->operands[1] == Operand::Int(width) &&
           SameForm(forms_.Of(quotient->operands[0]), Plus(forms_.Of(n), width - 1));
  }

  // What has to be made before the whole, where it stands behind it; nothing where it cannot be, or
  // where what the two read, or the blocks' extremes, may change between them.
  std::optional<std::vector<const Binding*>> EarlyFor(const Block& block, const Binding& whole,
                                                      const Binding& map) const {
    const auto& all = block.bindings;
    const auto at = std::find(all.begin(), all.end(), &whole);
    const auto made = std::find(all.begin(), all.end(), &map);
    const auto first = std::min(at, made), last = std::max(at, made);
    ir::VarSet touched = EffectsOf(map, roots_).reads;
    touched.insert(roots_.Of(map.result()).begin(), roots_.Of(map.result()).end());
    for (auto b = first; b != last; ++b) {
      if (Intersects(EffectsOf(**b, roots_).writes, touched)) return std::nullopt;
    }
    std::vector<const Binding*> early;
    if (made < at) return early;
    const Block behind{{}, {at, std::next(made)}, {}};
    for (const Binding* b : NeededBindings(behind, {Operand(map.result())})) {
      const Effects effects = EffectsOf(*b, roots_);
      if (b == &whole || !effects.IsPure() || (b != &map && !effects.reads.empty()))
        return std::nullopt;
      early.push_back(b);
    }
    return early;
  }

  Operand OfBlocks(const Binding& whole, const Binding& map) {
    const Operand bests = Apply(Operand(map.result()));
    ir::Builder element = builder().Nested();
    const Var* b = element.NewVar(ir::DType::kI64, "b");
    const Operand best = element.Load(bests, {b});
    std::vector<Operand> operands = Apply(whole.operands);
    operands[0] = bests.var()->type.dims()[0];
    return builder().EmitOne(OpCode::kIreduce, whole.result()->type, operands, whole.attrs,
                             {element.Finish({b}, {best}), whole.blocks[1]}, whole.result()->hint);
  }

  const Binding* DefinitionOf(const Operand& operand, OpCode op) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
  }

  // Places of elements are far from where i64 wraps around.
  static constexpr int64_t kWidest = int64_t{1} << 30;
  static constexpr int64_t kFarthest = int64_t{1} << 60;

  Context& context_;
  Roots roots_;
  WrappingForms forms_;
  Definitions definitions_;
  std::unordered_map<const Binding*, Plan> plans_;
  std::unordered_set<const Binding*> written_;
};

}  // namespace

ir::Program ReduceByBlocks(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Sharer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
