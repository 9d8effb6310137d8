// Makes one loop of two that go in order through the same and compute, of each iteration, much the
// same: two histograms of the same values find each value's bin once.
//
// Before:
//   for %i in 0 to %n step 1 {
//     %b = ...  check %ok, site 0  %c = load %h[%b]  %d = add %c, 1  store %h[%b], %d }
//   %w = imap (%k) in (%m) { yield 0.0 }
//   for %j in 0 to %n step 1 {
//     %b.1 = ...  check %ok.1, site 1  %e = load %w[%b.1]  %x = load %v[%j]  ...  store %w[%b.1] }
// After:
//   %w = imap (%k) in (%m) { yield 0.0 }
//   for %i in 0 to %n step 1 {
//     %b = ...  check %ok, site 0  %c = load %h[%b]  %d = add %c, 1  store %h[%b], %d
//     %e = load %w[%b]  %x = load %v[%i]  ...  store %w[%b] }
//
// What both do behind a branch, the second does behind that of the first.
//
// Assumes: index form, behind parallelize-loops, which leaves in order what it cannot spread.
// Refuses: loops that carry values, or of which the second could fail where the first has not;
// where one reads or stores what the other stores; stores to arguments behind what may fail in the
// first; anything between the two that cannot come before both; where less than half of the second
// is done by the first.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/binding_key.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Joins the bodies of two loops; one for each two, since it renames what the second defines.
class BodyJoiner : public ir::Mutator {
 public:
  BodyJoiner(ir::Arena* arena, const Roots& roots) : Mutator(arena), roots_(roots) {}

  // The body of both, or null.
  const Block* Together(const Binding& first, const Binding& second) {
    const Block &body = *first.blocks[0], &other = *second.blocks[0];
    Replace(other.params[0], body.params[0]);
    const Block* both = Join(body, other, {});
    return both != nullptr && 2 * shared_ >= SizeOf(other) ? both : nullptr;
  }

 private:
  using Known = std::unordered_map<std::string, const Binding*>;

  // The first block with what the other does besides behind it; null where that may fail.
  const Block* Join(const Block& first, const Block& other, const Known& around) {
    Block both = first;
    const Known known = With(around, first, first.bindings.size());
    size_t branches = 0;  // up to here the other has joined those of the first
    for (const Binding* original : other.bindings) {
      const Binding* b = Rewrite(original);
      const Effects effects = EffectsOf(*b, roots_);
      const auto found = effects.writes.empty() ? known.find(KeyOf(*b)) : known.end();
      if (found != known.end()) {
        shared_ += SizeOf(*b);
        for (size_t k = 0; k < b->results.size(); ++k)
          Replace(original->results[k], found->second->results[k]);
        continue;
      }
      const bool is_first = both.bindings.size() == first.bindings.size();
      const size_t at = is_first ? BranchLike(*b, first, branches) : first.bindings.size();
      if (at < first.bindings.size()) {
        both.bindings[at] = JoinBranches(*first.bindings[at], *b, With(around, first, at));
        if (both.bindings[at] == nullptr) return nullptr;
        branches = at + 1;
      } else if (effects.may_fail) {
        return nullptr;
      } else {
        both.bindings.push_back(b);
      }
    }
    return arena()->New(std::move(both));
  }

  // What is known where the binding at `end` stands. An array may be stored to behind it.
  Known With(Known known, const Block& block, size_t end) const {
    for (size_t at = 0; at < end; ++at) {
      const Binding& b = *block.bindings[at];
      const bool is_scalar = std::none_of(b.results.begin(), b.results.end(),
                                          [](const Var* v) { return v->type.IsArray(); });
      if (is_scalar && EffectsOf(b, roots_).writes.empty()) known.emplace(KeyOf(b), &b);
    }
    return known;
  }

  // Where the block has a branch that asks the same as this one, behind all that this one reads.
  static size_t BranchLike(const Binding& branch, const Block& block, size_t from) {
    const auto end = block.bindings.size();
    if (branch.op != OpCode::kIf || !branch.results.empty()) return end;
    const ir::VarSet needs = ir::FreeVars(branch);
    const auto found = std::find_if(
        block.bindings.begin() + std::ptrdiff_t(from), block.bindings.end(), [&](const Binding* b) {
          return b->op == OpCode::kIf && b->results.empty() && b->operands == branch.operands;
        });
    const bool needs_more = std::any_of(found, block.bindings.end(), [&](const Binding* b) {
      return std::any_of(b->results.begin(), b->results.end(),
                         [&](const Var* result) { return needs.contains(result); });
    });
    return needs_more ? end : found - block.bindings.begin();
  }

  const Binding* JoinBranches(const Binding& first, const Binding& other, const Known& known) {
    Binding both = first;
    for (size_t side = 0; side < both.blocks.size(); ++side) {
      both.blocks[side] = Join(*first.blocks[side], *other.blocks[side], known);
      if (both.blocks[side] == nullptr) return nullptr;
    }
    ++shared_;
    return arena()->New(std::move(both));
  }

  static int SizeOf(const Block& block) {
    int size = 0;
    for (const Binding* b : block.bindings) size += SizeOf(*b);
    return size;
  }

  static int SizeOf(const Binding& b) {
    int size = 1;
    for (const Block* block : b.blocks) size += SizeOf(*block);
    return size;
  }

  const Roots& roots_;
  int shared_ = 0;  // operations of the second that the first does
};

class LoopJoiner : public ir::Mutator {
 public:
  LoopJoiner(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    Block joined = *block;
    auto& bindings = joined.bindings;
    for (size_t second = 1; second < bindings.size(); ++second) {
      if (!IsInOrder(*bindings[second])) continue;
      const size_t first = FirstFor(bindings, second);
      if (first == second) continue;
      const Block* body = BodyJoiner(arena(), roots_).Together(*bindings[first], *bindings[second]);
      if (body == nullptr) continue;
      context_.Note(bindings[second]->span, "joined with a loop that does the same",
                    Topic::kSiblings, Verdict::kDone, bindings[first]->span);
      Binding both = *bindings[first];
      both.blocks = {body};
      bindings[second] = arena()->New(std::move(both));
      bindings.erase(bindings.begin() + std::ptrdiff_t(first));
      --second;
    }
    if (bindings.size() == block->bindings.size()) return Mutator::VisitBlock(block);
    return Mutator::VisitBlock(arena()->New(std::move(joined)));
  }

 private:
  static bool IsInOrder(const Binding& b) {
    return b.op == OpCode::kFor && b.results.empty() && b.attrs.Has(Attr::kWhy) &&
           b.attrs.Text(Attr::kKind).empty();
  }

  // The loop that may take the second in, or the second itself. What stands between moves in front.
  size_t FirstFor(const std::vector<const Binding*>& bindings, size_t second) const {
    const Effects effects = EffectsOf(*bindings[second], roots_);
    for (size_t at = second; at-- > 0;) {
      const Binding& b = *bindings[at];
      const Effects before = EffectsOf(b, roots_);
      if (!IsInOrder(b) || b.operands != bindings[second]->operands) {
        if (before.IsPure()) continue;
        return second;
      }
      const bool is_apart = !Intersects(before.writes, effects.reads) &&
                            !Intersects(before.writes, effects.writes) &&
                            !Intersects(before.reads, effects.writes);
      const bool is_seen =
          before.may_fail && !std::all_of(effects.writes.begin(), effects.writes.end(),
                                          [&](const Var* root) { return roots_.IsFresh(root); });
      const bool may_move = std::none_of(
          bindings.begin() + std::ptrdiff_t(at), bindings.begin() + std::ptrdiff_t(second),
          [&](const Binding* between) {
            return between != &b && Intersects(EffectsOf(*between, roots_).reads, before.writes);
          });
      return is_apart && !is_seen && may_move ? at : second;
    }
    return second;
  }

  const Roots roots_;
  Context& context_;
};

}  // namespace

ir::Program JoinLoops(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LoopJoiner(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
