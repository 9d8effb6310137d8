#include "passes/analyses/find_moments.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/dtype.h"
#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

bool IsCenteredType(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF64; }

size_t RankOf(const Binding& sum) { return sum.blocks[0]->params.size(); }

bool SameExtents(const Binding& a, const Binding& b) {
  return RankOf(a) == RankOf(b) &&
         std::equal(a.operands.begin(), a.operands.begin() + RankOf(a), b.operands.begin());
}

const Binding* MakerIn(const Block& block, const Operand& value) {
  for (const Binding* b : block.bindings) {
    if (value.IsVar() && b->results.size() == 1 && b->result() == value.var()) return b;
  }
  return nullptr;
}

class MomentFinder {
 public:
  MomentFinder(const Block& block, const Roots& roots) : block_(block) {
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      effects_.push_back(EffectsOf(*block.bindings[at], roots));
      for (const Var* made : block.bindings[at]->results) made_at_[made] = at;
    }
  }

  std::optional<Moment> MomentOf(size_t number) const {
    const Binding& sum = *block_.bindings[number];
    if (!IsPlainSum(sum) || !effects_[number].IsPure()) return std::nullopt;
    const Block& body = *sum.blocks[0];
    const Binding* product = MakerIn(body, body.results[0]);
    if (product == nullptr || product->op != OpCode::kMul) return std::nullopt;
    Moment moment{&sum, number, FactorOf(sum, product->operands[0]),
                  FactorOf(sum, product->operands[1])};
    const size_t earliest = EarliestBegin(moment, number);
    const auto begin = std::min(FirstSumBehind(moment.left.center, sum, earliest),
                                FirstSumBehind(moment.right.center, sum, earliest));
    if (begin == kNowhere) return std::nullopt;
    moment.begin = begin;
    return moment;
  }

 private:
  // A center counts if a sum over the same extents made it.
  MomentFactor FactorOf(const Binding& sum, const Operand& value) const {
    const Block& body = *sum.blocks[0];
    MomentFactor factor{value, nullptr, {}, false};
    const Binding* difference = MakerIn(body, value);
    if (difference == nullptr || difference->op != OpCode::kSub) return factor;
    for (const size_t side : {1, 0}) {
      const Operand& center = difference->operands[side];
      if (!center.IsVar() || !made_at_.contains(center.var())) continue;
      if (HasSumBehind(center.var(), sum))
        return {value, center.var(), difference->operands[1 - side], side == 0};
    }
    return factor;
  }

  // Tells where in the block the reductions over the extents of `sum` stand that the center needs,
  // of what is not before `earliest`, until `tell` gives false.
  void ForEachSumBehind(const Var* center, const Binding& sum, size_t earliest,
                        const std::function<bool(size_t)>& tell) const {
    std::vector<const Var*> open{center};
    VarSet seen;
    while (!open.empty()) {
      const auto made = made_at_.find(open.back());
      open.pop_back();
      if (made == made_at_.end() || made->second < earliest || !seen.insert(made->first).second)
        continue;
      const Binding& maker = *block_.bindings[made->second];
      const bool is_sum = maker.op == OpCode::kIreduce && SameExtents(maker, sum);
      if (is_sum && !tell(made->second)) return;
      const VarSet& needed = FreeOf(made->second);
      open.insert(open.end(), needed.begin(), needed.end());
    }
  }

  bool HasSumBehind(const Var* center, const Binding& sum) const {
    bool has = false;
    ForEachSumBehind(center, sum, 0, [&](size_t) { return has = true, false; });
    return has;
  }

  size_t FirstSumBehind(const Var* center, const Binding& sum, size_t earliest) const {
    size_t first = kNowhere;
    ForEachSumBehind(center, sum, earliest,
                     [&](size_t at) { return first = std::min(first, at), true; });
    return first;
  }

  const VarSet& FreeOf(size_t number) const {
    const auto [found, is_new] = free_.try_emplace(number);
    if (is_new) found->second = ir::FreeVars(*block_.bindings[number]);
    return found->second;
  }

  // From where on all but the centers is there, and stays as it is until the sum.
  size_t EarliestBegin(const Moment& moment, size_t number) const {
    const Block& body = *block_.bindings[number]->blocks[0];
    VarSet needed;
    for (const MomentFactor* factor : {&moment.left, &moment.right}) {
      const Operand& value = factor->center == nullptr ? factor->value : factor->element;
      needed.merge(ir::FreeVars({body.params, NeededBindings(body, {value}), {value}}));
    }
    for (const Operand& extent : block_.bindings[number]->operands) {
      if (extent.IsVar()) needed.insert(extent.var());
    }
    size_t earliest = 0;
    for (const Var* value : needed) {
      const auto made = made_at_.find(value);
      if (made != made_at_.end()) earliest = std::max(earliest, made->second + 1);
    }
    for (size_t at = number; at-- > earliest;) {
      if (effects_[at].may_fail || Conflict(effects_[at], effects_[number])) return at + 1;
    }
    return earliest;
  }

  const Block& block_;
  std::vector<Effects> effects_;
  std::map<const Var*, size_t> made_at_;
  mutable std::map<size_t, VarSet> free_;  // of the block's bindings, as they are asked for
};

}  // namespace

bool IsPlainSum(const Binding& b) {
  if (b.op != OpCode::kIreduce || b.results.size() != 1 || !b.result()->type.IsScalar())
    return false;
  const DType dtype = b.result()->type.dtype();
  const size_t rank = RankOf(b);
  return IsCenteredType(dtype) && rank <= kMostAxesOfMoments && b.operands.size() == rank + 1 &&
         b.operands[rank] == Operand(ir::ZeroOf(dtype)) &&
         ir::CombineOp(*b.blocks[1]) == OpCode::kAdd &&
         std::all_of(b.blocks[0]->bindings.begin(), b.blocks[0]->bindings.end(),
                     [](const Binding* inner) { return inner->blocks.empty(); });
}

std::vector<Moment> FindMoments(const Block& block, const Roots& roots) {
  const MomentFinder finder(block, roots);
  std::vector<Moment> moments;
  for (size_t number = 0; number < block.bindings.size(); ++number) {
    if (const auto moment = finder.MomentOf(number)) moments.push_back(*moment);
  }
  return moments;
}

}  // namespace parakeet::passes
