#include "passes/analyses/find_moments.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

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

bool IsCenteredType(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF64; }

size_t RankOf(const Binding& sum) { return sum.blocks[0]->params.size(); }

// A sum of floats from 0, of code without inner blocks.
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
    std::set<size_t> sums = SumsBehind(moment.left.center, sum);
    sums.merge(SumsBehind(moment.right.center, sum));
    for (const size_t at : sums) {
      moment.begin = at;
      if (CanBegin(moment, number)) return moment;
    }
    return std::nullopt;
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
      if (!SumsBehind(center.var(), sum).empty())
        return {value, center.var(), difference->operands[1 - side], side == 0};
    }
    return factor;
  }

  // Where in the block the reductions over the extents of `sum` stand that the center needs.
  std::set<size_t> SumsBehind(const Var* center, const Binding& sum) const {
    std::set<size_t> sums;
    std::vector<const Var*> open{center};
    VarSet seen;
    while (!open.empty()) {
      const Var* value = open.back();
      open.pop_back();
      const auto made = made_at_.find(value);
      if (made == made_at_.end() || !seen.insert(value).second) continue;
      const Binding& maker = *block_.bindings[made->second];
      if (maker.op == OpCode::kIreduce && SameExtents(maker, sum)) sums.insert(made->second);
      for (const Var* needed : ir::FreeVars(maker)) open.push_back(needed);
    }
    return sums;
  }

  // Whether all but the centers is there at that place, and stays as it is until the sum.
  bool CanBegin(const Moment& moment, size_t number) const {
    for (size_t at = moment.begin; at < number; ++at) {
      if (effects_[at].may_fail || Conflict(effects_[at], effects_[number])) return false;
    }
    const Block& body = *block_.bindings[number]->blocks[0];
    VarSet needed;
    for (const MomentFactor* factor : {&moment.left, &moment.right}) {
      const Operand& value = factor->center == nullptr ? factor->value : factor->element;
      needed.merge(ir::FreeVars({body.params, NeededBindings(body, {value}), {value}}));
    }
    for (const Operand& extent : block_.bindings[number]->operands) {
      if (extent.IsVar()) needed.insert(extent.var());
    }
    return std::all_of(needed.begin(), needed.end(), [&](const Var* value) {
      const auto made = made_at_.find(value);
      return made == made_at_.end() || made->second < moment.begin;
    });
  }

  const Block& block_;
  std::vector<Effects> effects_;
  std::map<const Var*, size_t> made_at_;
};

}  // namespace

std::vector<Moment> FindMoments(const Block& block, const Roots& roots) {
  const MomentFinder finder(block, roots);
  std::vector<Moment> moments;
  for (size_t number = 0; number < block.bindings.size(); ++number) {
    if (const auto moment = finder.MomentOf(number)) moments.push_back(*moment);
  }
  return moments;
}

}  // namespace parakeet::passes
