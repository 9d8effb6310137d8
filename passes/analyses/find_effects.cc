#include "passes/analyses/find_effects.h"

#include <algorithm>
#include <vector>

#include "passes/analyses/carried_values.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

using Flows = std::unordered_map<const Var*, std::vector<const Var*>>;

// Records from which values an array value may take its memory.
class FlowFinder {
 public:
  void Visit(const Block& block) {
    for (const Binding* binding : block.bindings) Visit(*binding);
  }

  const Flows& flows() const { return flows_; }

 private:
  void Visit(const Binding& b) {
    for (const Block* block : b.blocks) Visit(*block);
    if (ir::IsView(b.op)) return Flow(b.operands[0], b.result());
    switch (b.op) {
      case OpCode::kIf:
        for (const Block* block : b.blocks) FlowAll(block->results, b.results);
        break;
      case OpCode::kFor: Carry(b, *b.blocks[0], *b.blocks[0], 3, 1); break;
      case OpCode::kWhile: Carry(b, *b.blocks[0], *b.blocks[1], 0, 0); break;
      case OpCode::kMap:
      case OpCode::kReduce:
      case OpCode::kScan:
      case OpCode::kFilter:
        for (size_t i = 0; i < b.blocks[0]->params.size(); ++i)
          Flow(b.operands[i], b.blocks[0]->params[i]);
        break;
      case OpCode::kCall: FlowFromCall(b); break;
      default: break;
    }
  }

  // Carried values: from the initial values and from what the body yields, to parameters and
  // results.
  void Carry(const Binding& b, const Block& head, const Block& body, size_t first_init,
             size_t first_param) {
    for (size_t i = 0; i < b.results.size(); ++i) {
      for (const Block* block : {&head, &body}) {
        Flow(b.operands[first_init + i], block->params[first_param + i]);
        Flow(body.results[i], block->params[first_param + i]);
      }
      Flow(b.operands[first_init + i], b.results[i]);
      Flow(body.results[i], b.results[i]);
    }
  }

  void FlowAll(const std::vector<Operand>& from, const std::vector<const Var*>& to) {
    for (size_t i = 0; i < to.size(); ++i) Flow(from[i], to[i]);
  }

  // A result may be an argument, or new memory, which it may share with the other results.
  void FlowFromCall(const Binding& call) {
    const Var* first = nullptr;
    for (const Var* result : call.results) {
      if (!result->type.IsArray()) continue;
      for (const Operand& operand : call.operands) Flow(operand, result);
      if (first == nullptr) first = result;
      flows_[result].push_back(first);
    }
  }

  // What a loop carries on unchanged comes from nowhere new; a value that flows to itself is one
  // that a call may have made.
  void Flow(const Operand& from, const Var* to) {
    if (to->type.IsArray() && from.IsVar() && from.var()->type.IsArray() && from.var() != to)
      flows_[to].push_back(from.var());
  }

  Flows flows_;
};

void Insert(const VarSet& from, VarSet& to) { to.insert(from.begin(), from.end()); }

void SeeRead(const Operand& array, const Roots& roots, VarSet& set) {
  if (array.IsVar() && array.var()->type.IsArray()) Insert(roots.Of(array.var()), set);
}

// What the blocks of an operator over elements or indexes yield is copied into what it makes, and
// what it begins with is combined, where these are arrays.
void SeeElements(const Binding& b, const Roots& roots, VarSet& set) {
  const ir::OpFormat format = ir::InfoOf(b.op).format;
  if (format != ir::OpFormat::kElements && format != ir::OpFormat::kIndices) return;
  for (const Operand& operand : b.operands) SeeRead(operand, roots, set);
  for (const Block* block : b.blocks) {
    for (const Operand& result : block->results) SeeRead(result, roots, set);
  }
}

void AddOwnEffects(const Binding& b, const Roots& roots, Effects& effects) {
  SeeElements(b, roots, effects.reads);
  switch (b.op) {
    case OpCode::kCheck:
    case OpCode::kBroadcastSize: effects.may_fail = true; break;
    case OpCode::kLoad:
    case OpCode::kMatch:
    case OpCode::kShuffle:
    case OpCode::kLoadLanes:
    case OpCode::kGatherLanes: SeeRead(b.operands[0], roots, effects.reads); break;
    case OpCode::kStore:
    case OpCode::kStoreLanes:
    case OpCode::kScatterLanes:
    case OpCode::kFree: SeeRead(b.operands[0], roots, effects.writes); break;
    case OpCode::kAtomic:
      SeeRead(b.operands[0], roots, effects.reads);
      SeeRead(b.operands[0], roots, effects.writes);
      break;
    case OpCode::kCopy:
      SeeRead(b.operands[0], roots, effects.reads);
      SeeRead(b.operands[1], roots, effects.writes);
      break;
    case OpCode::kLibraryCall:
      for (const size_t stored : ir::StoredOperands(b))
        SeeRead(b.operands[stored], roots, effects.writes);
      for (const Operand& operand : b.operands) SeeRead(operand, roots, effects.reads);
      break;
    case OpCode::kReshape: SeeRead(b.operands[0], roots, effects.reads); break;  // It may copy.
    case OpCode::kCall:
      effects.may_fail = true;
      for (const Operand& operand : b.operands) {
        SeeRead(operand, roots, effects.reads);
        SeeRead(operand, roots, effects.writes);
      }
      break;
    default: break;
  }
}

// True for what makes arrays of its own, as against views and what chooses or carries arrays.
bool MakesArrays(const Binding& b) {
  return b.op == OpCode::kAlloc || ir::InfoOf(b.op).format == ir::OpFormat::kElements ||
         ir::InfoOf(b.op).format == ir::OpFormat::kIndices;
}

// By array that a `for` or `while` carries into one of its blocks, the arrays that the block makes.
std::unordered_map<const Var*, VarSet> MadeBehind(const Block& body) {
  std::unordered_map<const Var*, VarSet> made_behind;
  ir::ForEachBinding(body, [&](const Binding& loop) {
    if (loop.op != OpCode::kFor && loop.op != OpCode::kWhile) return;
    for (const Block* block : loop.blocks) {
      for (const Var* param : block->params) {
        if (!param->type.IsArray()) continue;
        ir::ForEachBinding(*block, [&](const Binding& b) {
          if (MakesArrays(b)) made_behind[param].insert(b.results.begin(), b.results.end());
        });
      }
    }
  });
  return made_behind;
}

}  // namespace

Roots::Roots(const ir::Function& function) : made_behind_(MadeBehind(*function.body)) {
  FlowFinder finder;
  finder.Visit(*function.body);
  const Var* first = nullptr;
  for (const ir::Param& param : function.params) {
    if (!param.var->type.IsArray()) continue;
    // Only an entry's arguments are known not to overlap.
    if (first == nullptr || (function.entry && !function.may_overlap)) first = param.var;
    roots_[param.var] = {first};
    params_.insert(param.var);
  }
  sources_ = finder.flows();
  const Flows& flows = sources_;
  for (const auto& [var, sources] : flows) {
    for (const Var* source : sources) dependents_[source].push_back(var);
    // The values reachable against the flow that take their memory from nowhere else.
    VarSet seen;
    VarSet found;
    std::vector<const Var*> pending = {var};
    while (!pending.empty()) {
      const Var* next = pending.back();
      pending.pop_back();
      if (!seen.insert(next).second) continue;
      const auto from = flows.find(next);
      const bool is_root = from == flows.end();
      if (is_root) Insert(Of(next), found);
      if (is_root) continue;
      for (const Var* source : from->second) {
        if (source == next) found.insert(next);
        pending.push_back(source);
      }
    }
    roots_[var] = std::move(found);
  }
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (IsLoop(b.op)) FindApart(b);
  });
}

// Arrays are apart that begin so, until what an iteration ends with may be one array.
void Roots::FindApart(const Binding& loop) {
  const Block& body = *loop.blocks.back();
  std::vector<std::pair<size_t, size_t>> pairs;
  const auto for_each_name = [&](size_t k, size_t other, const auto& visit) {
    for (const Block* block : loop.blocks) {
      const Var* const* carried = block->params.data() + FirstCarried(loop);
      visit(carried[k], carried[other]);
    }
    visit(loop.results[k], loop.results[other]);
  };
  for (size_t k = 0; k < loop.results.size(); ++k) {
    for (size_t other = 0; other < k; ++other) {
      const Operand* inits = loop.operands.data() + FirstInit(loop);
      if (!loop.results[k]->type.IsArray() || !loop.results[other]->type.IsArray()) continue;
      if (MayShareNow(inits[k].var(), inits[other].var())) continue;
      pairs.emplace_back(k, other);
      for_each_name(k, other, [&](const Var* a, const Var* b) {
        apart_[a].insert(b);
        apart_[b].insert(a);
      });
    }
  }
  const auto may_meet = [&](const auto& pair) {
    const Var* a = body.results[pair.first].var();
    const Var* b = body.results[pair.second].var();
    if (!MayShareNow(a, b)) return false;
    for_each_name(pair.first, pair.second, [&](const Var* one, const Var* two) {
      apart_[one].erase(two);
      apart_[two].erase(one);
    });
    return true;
  };
  while (std::erase_if(pairs, may_meet) > 0) {
  }
}

const VarSet& Roots::Of(const Var* array) const {
  return roots_.try_emplace(array, VarSet{array}).first->second;
}

VarSet Roots::ViewsOf(const Var* array) const {
  VarSet views;
  std::vector<const Var*> pending = {array};
  while (!pending.empty()) {
    const Var* next = pending.back();
    pending.pop_back();
    const auto found = dependents_.find(next);
    if (!views.insert(next).second || found == dependents_.end()) continue;
    pending.insert(pending.end(), found->second.begin(), found->second.end());
  }
  return views;
}

bool Roots::MayShare(const Var* a, const Var* b) const { return Intersects(Of(a), Of(b)); }

const Roots::Ways& Roots::WaysTo(const Var* array, const Var* root) const {
  const auto [place, is_new] = ways_[array].try_emplace(root);
  Ways& ways = place->second;
  if (!is_new) return ways;
  VarSet seen[2];  // by whether a loop has carried it past where the root is made
  std::vector<std::pair<const Var*, bool>> pending = {{array, false}};
  while (!pending.empty()) {
    auto [next, is_before] = pending.back();
    pending.pop_back();
    const auto made = made_behind_.find(next);
    is_before |= made != made_behind_.end() && made->second.contains(root);
    if (!seen[is_before].insert(next).second) continue;
    const auto from = sources_.find(next);
    const bool is_end = from == sources_.end() && Of(next).contains(root);
    if (next == root || is_end) (is_before ? ways.before : ways.now) = true;
    if (from == sources_.end()) continue;
    for (const Var* source : from->second) pending.emplace_back(source, is_before);
  }
  return ways;
}

bool Roots::MayShareNow(const Var* a, const Var* b) const {
  const auto apart = apart_.find(a);
  if (apart != apart_.end() && apart->second.contains(b)) return false;
  const VarSet& others = Of(b);
  return std::any_of(Of(a).begin(), Of(a).end(), [&](const Var* root) {
    if (!others.contains(root)) return false;
    const Ways mine = WaysTo(a, root), other = WaysTo(b, root);
    return (mine.now && other.now) || (mine.before && other.before);
  });
}

bool Roots::IsFresh(const Var* array) const { return !Intersects(Of(array), params_); }

Effects EffectsOf(const Binding& binding, const Roots& roots) {
  Effects effects;
  AddOwnEffects(binding, roots, effects);
  for (const Block* block : binding.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& b) { AddOwnEffects(b, roots, effects); });
  }
  if (effects.writes.empty() || binding.blocks.empty()) return effects;
  // What is made inside is written before anyone outside can look.
  for (const Block* block : binding.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& b) {
      if (!MakesArrays(b)) return;
      for (const Var* result : b.results) effects.writes.erase(result);
    });
  }
  return effects;
}

Effects EffectsOf(const Block& block, const Roots& roots) {
  Effects effects;
  ir::ForEachBinding(block,
                     [&](const Binding& binding) { AddOwnEffects(binding, roots, effects); });
  return effects;
}

bool Intersects(const VarSet& a, const VarSet& b) {
  const VarSet& small = a.size() <= b.size() ? a : b;
  const VarSet& large = a.size() <= b.size() ? b : a;
  return std::any_of(small.begin(), small.end(),
                     [&](const Var* var) { return large.contains(var); });
}

bool Conflict(const Effects& a, const Effects& b) {
  if (Intersects(a.writes, b.reads) || Intersects(a.reads, b.writes) ||
      Intersects(a.writes, b.writes))
    return true;
  return (a.may_fail && (b.may_fail || !b.writes.empty())) || (b.may_fail && !a.writes.empty());
}

}  // namespace parakeet::passes
