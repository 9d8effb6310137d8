#include "passes/lowering/loop_splits.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

class Splitter {
 public:
  Splitter(ir::Arena* arena, const Binding& loop, const Roots& roots)
      : arena_(arena), body_(*loop.blocks[0]), roots_(roots) {
    for (size_t at = 0; at < body_.bindings.size(); ++at) {
      for (const Var* root : EffectsOf(*body_.bindings[at], roots_).writes) {
        if (!first_store_.contains(root)) first_store_[root] = at;
        last_store_[root] = at;
      }
    }
  }

  LoopSplit Split() {
    FindStoredValues();
    split_.stores = SliceFor({}, kStoring);
    split_.stores.params = {body_.params[0]};
    const VarSet read = ir::FreeVars(split_.stores);
    for (size_t k = 1; k < body_.params.size(); ++k)
      split_.stores_read_carried |= read.contains(body_.params[k]);
    Block sums;
    if (!split_.stores_read_carried) sums = SliceFor(body_.results, kNeeded);
    split_.stores_first = !reads_old_ && !split_.stores_read_carried;
    if (!split_.stores_first) sums = SliceFor(body_.results, kFailing);
    if (reads_old_ && reads_new_) Refuse();
    split_.sums_read_stores = reads_old_ || reads_new_;
    split_.sums_read_back = reads_new_;
    sums.params = body_.params;
    sums.results = body_.results;
    // Both parts may hold one binding, and a value is defined once.
    split_.sums = *ir::CloneBlock(arena_, sums);
    return std::move(split_);
  }

 private:
  void Refuse() { split_.why_not = "what it carries is read back of what it stores"; }

  // What the last store to an array puts there.
  void FindStoredValues() {
    const VarSet local = ir::DefinedVars(body_);
    for (size_t at = 0; at < body_.bindings.size(); ++at) {
      const Binding& b = *body_.bindings[at];
      for (const Var* root : EffectsOf(b, roots_).writes) {
        if (local.contains(root)) Refuse();
        const bool is_last = b.op == OpCode::kStore && last_store_.at(root) == at &&
                             roots_.Of(b.operands[0].var()).size() == 1;
        if (is_last && b.operands.back().IsVar()) stored_[b.operands.back().var()] = at;
      }
    }
  }

  // What a part holds beside what its results need: nothing, what may raise, all that has effects.
  enum Keeps { kNeeded, kFailing, kStoring };

  // What the results need and what `keeps` says, in order.
  Block SliceFor(const std::vector<Operand>& results, Keeps keeps) {
    VarSet needed;
    for (const Operand& result : results) needed.insert(result.var());
    Block slice;
    for (size_t at = body_.bindings.size(); at-- > 0;) {
      const Binding* b = body_.bindings[at];
      const bool is_needed = std::any_of(b->results.begin(), b->results.end(),
                                         [&](const Var* r) { return needed.contains(r); });
      if (!is_needed && !IsKept(*b, keeps)) continue;
      std::vector<const Binding*> kept;
      if (keeps == kNeeded) kept = ReadBack(at, needed);
      if (!kept.empty()) {
        reads_new_ = true;
      } else {
        if (b->op == OpCode::kIf) b = PartOf(*b, needed, keeps, {});
        if (keeps != kStoring) See(at, EffectsOf(*b, roots_));
        kept = {b};
      }
      for (const Binding* each : kept) {
        slice.bindings.push_back(each);
        needed.merge(ir::FreeVars(*each));
      }
    }
    std::reverse(slice.bindings.begin(), slice.bindings.end());
    return slice;
  }

  bool IsKept(const Binding& b, Keeps keeps) const {
    const Effects effects = EffectsOf(b, roots_);
    return (keeps == kFailing && effects.may_fail) || (keeps == kStoring && !effects.IsPure());
  }

  // What the part holds of a branch: the sums none of its stores, which are not to be read back in
  // it, and the stores none of the values that are carried alone. `stored` is what the way to it
  // has stored to.
  const Binding* PartOf(const Binding& branch, const VarSet& needed, Keeps keeps, VarSet stored) {
    if (EffectsOf(branch, roots_).writes.empty()) return &branch;
    std::vector<bool> wanted;
    for (const Var* result : branch.results) wanted.push_back(needed.contains(result));
    const auto keep_wanted = [&](auto& values) {
      size_t k = 0;
      std::erase_if(values, [&](const auto&) { return !wanted[k++]; });
    };
    Binding part = branch;
    keep_wanted(part.results);
    for (const Block*& block : part.blocks) {
      std::vector<Operand> results = block->results;
      keep_wanted(results);
      block = arena_->New(PartOf(*block, std::move(results), keeps, stored));
    }
    return arena_->New(std::move(part));
  }

  Block PartOf(const Block& block, std::vector<Operand> results, Keeps keeps, VarSet stored) {
    VarSet needed;
    for (const Operand& result : results) needed.insert(result.var());
    std::vector<VarSet> stored_before;
    for (const Binding* b : block.bindings) {
      stored_before.push_back(stored);
      stored.merge(EffectsOf(*b, roots_).writes);
    }
    Block part{{}, {}, std::move(results)};
    for (size_t at = block.bindings.size(); at-- > 0;) {
      const Binding* b = block.bindings[at];
      const bool is_needed = std::any_of(b->results.begin(), b->results.end(),
                                         [&](const Var* r) { return needed.contains(r); });
      if (!is_needed && !IsKept(*b, keeps)) continue;
      if (b->op == OpCode::kIf) b = PartOf(*b, needed, keeps, stored_before[at]);
      if (keeps != kStoring && Intersects(EffectsOf(*b, roots_).reads, stored_before[at])) Refuse();
      part.bindings.push_back(b);
      needed.merge(ir::FreeVars(*b));
    }
    std::reverse(part.bindings.begin(), part.bindings.end());
    return part;
  }

  // Loads of what is needed of what binding `at` makes, from where it is stored at the end; none
  // where some of it is not, or it is no dearer than that.
  std::vector<const Binding*> ReadBack(size_t at, const VarSet& needed) const {
    const Binding& b = *body_.bindings[at];
    if (b.op == OpCode::kLoad) return {};
    std::vector<const Binding*> loads;
    for (const Var* result : b.results) {
      if (!needed.contains(result)) continue;
      const auto found = stored_.find(result);
      if (found == stored_.end() || IsIndexedBehind(at, found->second)) return {};
      Binding load{OpCode::kLoad, {result}, body_.bindings[found->second]->operands, {}, {},
                   b.span};
      load.operands.pop_back();
      loads.push_back(arena_->New(std::move(load)));
    }
    return loads;
  }

  // True where the place of the store is known behind binding `at` only.
  bool IsIndexedBehind(size_t at, size_t store) const {
    const std::vector<Operand>& operands = body_.bindings[store]->operands;
    for (size_t later = at; later < body_.bindings.size(); ++later) {
      for (const Var* result : body_.bindings[later]->results) {
        if (std::count(operands.begin(), operands.end() - 1, Operand(result)) > 0) return true;
      }
    }
    return false;
  }

  // Notes when the sums read what is stored.
  void See(size_t at, const Effects& effects) {
    if (!effects.writes.empty()) Refuse();
    for (const auto& [root, last] : last_store_) {
      if (!effects.reads.contains(root)) continue;
      reads_old_ |= at <= last;
      reads_new_ |= at > first_store_.at(root);
    }
  }

  ir::Arena* const arena_;
  const Block& body_;
  const Roots& roots_;
  std::unordered_map<const Var*, size_t> first_store_;  // By roots, bindings of the body.
  std::unordered_map<const Var*, size_t> last_store_;
  std::unordered_map<const Var*, size_t> stored_;  // By the values stored.
  bool reads_old_ = false;
  bool reads_new_ = false;
  LoopSplit split_;
};

}  // namespace

LoopSplit SplitLoop(ir::Arena* arena, const Binding& loop, const Roots& roots) {
  return Splitter(arena, loop, roots).Split();
}

}  // namespace parakeet::passes
