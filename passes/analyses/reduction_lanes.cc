#include "passes/analyses/reduction_lanes.h"

#include <algorithm>
#include <vector>

#include "ir/combines.h"
#include "ir/dtype.h"
#include "ir/uses.h"
#include "passes/analyses/varying_values.h"
#include "passes/analyses/vector_legality.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kSmallExtent = 32;

bool IsMadeOfLoads(const ir::DefinitionMap& makers, const Operand& value) {
  const auto maker = value.IsVar() ? makers.find(value.var()) : makers.end();
  if (maker == makers.end()) return false;
  const Binding& b = *maker->second;
  return b.op == OpCode::kLoad || std::any_of(b.operands.begin(), b.operands.end(),
                                              [&](auto& o) { return IsMadeOfLoads(makers, o); });
}

}  // namespace

bool SuitsIndexAround(const Binding& b, const Binding& nest, const AccessPatterns& patterns) {
  const std::vector<const Var*>& indices = b.blocks[0]->params;
  const int axis = patterns.VectorAxis(nest);
  if (axis < 0 || !WhyNotVector(*nest.blocks[0], nest.blocks[0]->params[axis]).empty())
    return false;
  // A row of its own that goes around an edge is gathered, at places that are divided for.
  const AccessPatterns::Along around =
      patterns.AlongIndex(*b.blocks[0], indices, nest.blocks[0]->params[axis], /*may_wrap=*/true);
  const AccessPatterns::Along own = patterns.AlongIndex(*b.blocks[0], indices, indices.back());
  if (around.gathered != own.gathered) return around.gathered < own.gathered;
  return around.next > 0;
}

int64_t RowNeighbours(const Binding* nest) {
  constexpr int64_t kAccessBytes = 16;
  constexpr int64_t kMostNeighbours = 4;
  int64_t widest = kAccessBytes / kMostNeighbours;
  if (nest == nullptr) return 1;
  for (const Binding* b : nest->blocks[0]->bindings) {
    for (const Block* inner : b->blocks) {
      ir::ForEachBinding(*inner, [&](const Binding& access) {
        if (access.op == OpCode::kLoad || access.op == OpCode::kStore)
          widest = std::max<int64_t>(widest, ir::SizeInBytes(ir::DTypeOf(access.operands[0])));
      });
    }
  }
  return std::max<int64_t>(kAccessBytes / widest, 1);
}

bool IsRagged(const Binding& b, const Binding& around) {
  const Operand& extent = b.operands[b.blocks[0]->params.size() - 1];
  if (!IsMadeOfLoads(ir::Definitions(*around.blocks[0]), extent)) return false;
  const auto makers = ir::Definitions(*b.blocks[0]);
  bool is_found = std::all_of(b.results.begin(), b.results.end(), [](const Var* result) {
    return result->type == ir::Type(ir::DType::kBool);
  });
  ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
    if (inner.op != OpCode::kLoad) return;
    for (size_t k = 1; k < inner.operands.size(); ++k)
      is_found |= IsMadeOfLoads(makers, inner.operands[k]);
  });
  return is_found;
}

bool FollowsElements(const Block& block, const Var* index) {
  bool loops = false, follows = false;
  ir::ForEachBinding(block, [&](const Binding& b) { loops |= b.op == OpCode::kWhile; });
  if (!loops) return false;
  const ir::VarSet varying = VaryingValues(block, index);
  ir::ForEachBinding(block, [&](const Binding& loop) {
    const auto varies = [&](const Var* result) { return varying.contains(result); };
    if (loop.op != OpCode::kWhile || std::none_of(loop.results.begin(), loop.results.end(), varies))
      return;
    const Block& condition = *loop.blocks[0];
    ir::VarSet places;
    for (const Var* param : condition.params) {
      if (varies(param)) places.insert(param);
    }
    const auto is_at = [&](const Operand& o) { return o.IsVar() && places.contains(o.var()); };
    ir::ForEachBinding(condition, [&](const Binding& b) {
      const bool is_of_places = std::any_of(b.operands.begin(), b.operands.end(), is_at);
      follows |= is_of_places && b.op == OpCode::kLoad;
      if (is_of_places && ir::IsScalarOp(b.op)) places.insert(b.result());
    });
  });
  return follows;
}

namespace {

// Of all that a step of a search does, for each element that it gathers and each quotient.
constexpr int kCostOfSearch = 12;

// What a step of a loop makes of what it carries.
class SearchState {
 public:
  explicit SearchState(const Binding& loop)
      : loop_(loop),
        makers_(ir::Definitions(*loop.blocks[1])),
        inside_(ir::DefinedVars(*loop.blocks[1])) {
    inside_.insert(loop.blocks[1]->params.begin(), loop.blocks[1]->params.end());
  }

  // True where nothing is carried but what is moved on by numbers that do not change, and what is
  // found; with `rarely`, what some steps change by a branch, too, and others leave.
  bool OnlyCounts(bool rarely) const {
    const std::vector<Operand>& results = loop_.blocks[1]->results;
    for (size_t k = 0; k < results.size(); ++k) {
      if (!Is(results[k], loop_.blocks[1]->params[k], rarely)) return false;
    }
    return true;
  }

 private:
  bool Is(const Operand& value, const Var* own, bool rarely) const {
    if (!value.IsVar() || !inside_.contains(value.var())) return true;
    if (value.var()->type == ir::Type(ir::DType::kBool)) return true;
    const auto found = makers_.find(value.var());
    if (found == makers_.end()) return true;  // carried, or an index
    const Binding& b = *found->second;
    if (b.op == OpCode::kLoad) return true;
    if (b.op == OpCode::kSelect) return IsChoice(b.operands[1], b.operands[2], own, rarely);
    if (b.op == OpCode::kIf) {
      const size_t k =
          std::find(b.results.begin(), b.results.end(), value.var()) - b.results.begin();
      return IsChoice(b.blocks[0]->results[k], b.blocks[1]->results[k], own, rarely);
    }
    const bool is_step = (b.op == OpCode::kAdd || b.op == OpCode::kSub) &&
                         value.var()->type == ir::Type(ir::DType::kI64);
    const Operand& by = is_step ? b.operands[1] : value;
    return is_step && Is(b.operands[0], own, rarely) && !(by.IsVar() && inside_.contains(by.var()));
  }

  bool IsChoice(const Operand& one, const Operand& other, const Var* own, bool rarely) const {
    if (rarely && (one == Operand(own) || other == Operand(own))) return true;
    return Is(one, own, rarely) && Is(other, own, rarely);
  }

  const Binding& loop_;
  ir::DefinitionMap makers_;
  ir::VarSet inside_;
};

// True where what some of these bindings of a loop make, or what is made of that, decides whether
// the loop goes on.
bool DecideTheEnd(const Binding& loop, ir::VarSet decided) {
  const auto is_decided = [&](const Operand& o) { return o.IsVar() && decided.contains(o.var()); };
  size_t known = 0;
  const auto see = [&](const Binding& b) {
    bool follows = std::any_of(b.operands.begin(), b.operands.end(), is_decided);
    for (const Block* inner : b.blocks)
      follows |= std::any_of(inner->results.begin(), inner->results.end(), is_decided);
    if (follows) decided.insert(b.results.begin(), b.results.end());
  };
  do {
    known = decided.size();
    for (const Block* block : loop.blocks) ir::ForEachBinding(*block, see);
    for (size_t k = 0; k < loop.results.size(); ++k) {
      if (!is_decided(loop.blocks[1]->results[k])) continue;
      for (const Block* block : loop.blocks) decided.insert(block->params[k]);
    }
  } while (decided.size() > known);
  return is_decided(loop.blocks[0]->results[0]);
}

}  // namespace

bool SearchesAlone(const Block& block, const Var* index, const AccessPatterns& patterns) {
  bool loops = false;
  ir::ForEachBinding(block, [&](const Binding& b) { loops |= b.op == OpCode::kWhile; });
  if (!loops) return false;
  const ir::VarSet varying = VaryingValues(block, index);
  const auto varies = [&](const Operand& o) { return o.IsVar() && varying.contains(o.var()); };
  bool searches = false;
  ir::ForEachBinding(block, [&](const Binding& loop) {
    if (loop.op != OpCode::kWhile || !varies(loop.blocks[0]->results[0])) return;
    ir::VarSet dear;
    bool gathers = false;
    int cost = 0;
    const auto see = [&](const Binding& b) {
      const bool is_gathered =
          b.op == OpCode::kLoad && patterns.AlongIndex({{}, {&b}, {}}, {index}, index).gathered > 0;
      const bool divides = (b.op == OpCode::kMod || b.op == OpCode::kFloorDiv) &&
                           ir::IsInteger(ir::DTypeOf(b.result())) && b.operands[1].IsVar();
      if (is_gathered || divides) dear.insert(b.result());
      gathers |= is_gathered;
      cost += ir::InfoOf(b.op).cost;
    };
    for (const Block* inner : loop.blocks) ir::ForEachBinding(*inner, see);
    searches |= !dear.empty() && cost <= kCostOfSearch * int(dear.size()) &&
                SearchState(loop).OnlyCounts(/*rarely=*/!gathers) && DecideTheEnd(loop, dear);
  });
  return searches;
}

std::string WhyNoLanesToCombine(const Binding& b) {
  for (const Var* result : b.results) {
    if (!result->type.IsScalar()) return "it accumulates an array";
    if (ir::IsComplex(result->type.dtype())) return "it accumulates complex numbers";
  }
  const ir::CombineTraits traits = ir::TraitsOf(*b.blocks[1]);
  if (!traits.commutes) return "its combine is not a commutative operation";
  const bool has_start = !traits.identities.empty() || traits.is_idempotent;
  return has_start ? "" : "its combine has no value to start lanes from";
}

namespace {

// The reasons in the reduction itself.
std::string WhyNoOwnLanes(const Binding& reduction, bool may_check) {
  const std::string combine_reason = WhyNoLanesToCombine(reduction);
  if (!combine_reason.empty()) return combine_reason;
  const Block& body = *reduction.blocks[0];
  const Operand& inner = reduction.operands[body.params.size() - 1];
  if (inner.IsConstant() && inner.constant().integer <= kSmallExtent) return "its extent is small";
  bool is_plain = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIf ||
                b.op == OpCode::kWhile || (may_check && b.op == OpCode::kCheck);
  });
  if (!is_plain) return "its element holds more than scalar code";
  return WhyNotVector(body, body.params.back());
}

bool Reads(const Binding& reduction) {
  bool reads = false;
  ir::ForEachBinding(*reduction.blocks[0],
                     [&](const Binding& b) { reads |= b.op == OpCode::kLoad; });
  return reads;
}

// True where the nest can give an index to lanes, for all of which the reduction is the same, and
// no other reduction or loop in it is after the lanes. A few numbers are combined one by one as
// soon; what arrays hold is combined faster in lanes, be it as often as there are lanes around.
bool IsAlikeAround(const Binding& reduction, const Binding& nest, const AccessPatterns& patterns,
                   bool may_check) {
  const int axis = patterns.VectorAxis(nest);
  if (axis < 0 || Reads(reduction)) return false;
  const Block& body = *nest.blocks[0];
  const ir::VarSet varying = VaryingValues(body, body.params[axis]);
  if (varying.contains(reduction.results[0])) return false;
  bool is_alone = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    is_alone &= b.op != OpCode::kForeach;
    if (b.op != OpCode::kIreduce || !varying.contains(b.results[0])) return;
    is_alone &= !WhyNoOwnLanes(b, may_check).empty() || SuitsIndexAround(b, nest, patterns);
  });
  return is_alone && WhyNotVector(body, body.params[axis]).empty();
}

}  // namespace

std::string WhyNoLanes(const Binding& reduction, const Binding* nest,
                       const AccessPatterns& patterns, bool may_check) {
  const std::string reason = WhyNoOwnLanes(reduction, may_check);
  if (!reason.empty() || nest == nullptr) return reason;
  if (SuitsIndexAround(reduction, *nest, patterns)) return "memory follows the index around it";
  return IsAlikeAround(reduction, *nest, patterns, may_check)
             ? "it is the same in all lanes around it"
             : "";
}

}  // namespace parakeet::passes
