// Substitutes a producer into its consumers, so that the array between them is never made.
//
// Before:
//   %y: [n]f32 = imap (%i) in (%n) { %a: f32 = load %x[%i]  %b: f32 = mul %a, %a  yield %b }
//   %s: f32 = ireduce (%i) in (%n) add from 0.0:f32 { %c: f32 = load %y[%i]  yield %c }
// After:
//   %s: f32 = ireduce (%i) in (%n) add from 0.0:f32 { %a: f32 = load %x[%i]  %b: f32 = mul %a, %a
//   yield %b }
//
// Assumes: index form; a load of the producer's result is in range.
// Refuses: a producer whose result is returned, joined, stored to or passed on; one that may fail
// or stores; one that reads memory which is written before the consumer reads it, unless the
// consumer is the writer and each of its iterations reads only the element that it writes; a dear
// one that would be computed again, because several loads read it or a load stands in a loop that
// its index does not follow.
#include <algorithm>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_reads.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// A producer may be computed again where that costs no more than about a load from cache.
constexpr int kCheapCost = 4;

class Fuser : public ir::Mutator {
 public:
  Fuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        finder_(function),
        forms_(function),
        may_overlap_(function.may_overlap),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kLoad && Substitute(*b)) return;
    const auto producer = b->results.empty() ? producers_.end() : producers_.find(b->results[0]);
    if (producer == producers_.end()) return Mutator::Visit(b);
    // It stands nowhere any more; what is fused into it is part of what its readers get.
    const Block* body = Rewrite(b)->blocks[0];
    for (const Var* result : b->results) producers_[result].body = body;
  }

  const Block* VisitBlock(const Block* block) override {
    ChooseProducers(*block);
    return Mutator::VisitBlock(block);
  }

 private:
  // An imap that disappears into its readers.
  struct Producer {
    const Block* body = nullptr;  // rewritten, once it has been visited
    size_t result = 0;
    VarSet reads;  // of what is fused into it too
    int cost = 0;
  };

  // What the bindings of one block read and do.
  struct Seen {
    const Block& block;
    std::vector<Effects> effects;
    std::vector<VarSet> free;
  };

  void ChooseProducers(const Block& block) {
    const auto is_imap = [](const Binding* b) { return b->op == OpCode::kImap; };
    if (std::none_of(block.bindings.begin(), block.bindings.end(), is_imap)) return;
    Seen seen{block, {}, {}};
    for (const Binding* b : block.bindings) {
      seen.effects.push_back(EffectsOf(*b, roots_));
      seen.free.push_back(ir::FreeVars(*b));
    }
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      if (is_imap(block.bindings[at])) Choose(seen, at);
    }
  }

  void Choose(const Seen& seen, size_t at) {
    const Binding& b = *seen.block.bindings[at];
    Producer producer;
    producer.cost = CostOf(*b.blocks[0], [&](const Binding& inner) {
      const auto fused =
          inner.op == OpCode::kLoad ? producers_.find(inner.operands[0].var()) : producers_.end();
      return fused == producers_.end() ? int{InfoOf(inner.op).cost} : fused->second.cost;
    });
    for (const Var* root : seen.effects[at].reads) {
      const auto fused = producers_.find(root);
      if (fused == producers_.end()) {
        producer.reads.insert(root);
      } else {
        producer.reads.insert(fused->second.reads.begin(), fused->second.reads.end());
      }
    }
    const std::string reason = WhyNot(producer, seen, at);
    if (!reason.empty()) {
      if (IsRead(b)) context_.Note(b.span, "not fused: " + reason);
      return;
    }
    context_.Note(b.span, "fused into what reads it");
    for (producer.result = 0; producer.result < b.results.size(); ++producer.result) {
      producers_[b.results[producer.result]] = producer;
    }
  }

  // False for what is only given back: there is nothing to fuse it into, and nothing to say.
  bool IsRead(const Binding& b) const {
    return std::any_of(b.results.begin(), b.results.end(), [&](const Var* result) {
      const Reads& reads = finder_.Of(result);
      return reads.loads > 0 || reads.other != nullptr;
    });
  }

  std::string WhyNot(const Producer& producer, const Seen& seen, size_t at) const {
    const Binding& b = *seen.block.bindings[at];
    if (seen.effects[at].may_fail) return "its elements may raise";
    if (!seen.effects[at].writes.empty()) return "it stores";
    for (const Operand& result : b.blocks[0]->results) {
      if (!ir::TypeOf(result).IsScalar()) return "its elements are arrays";
    }
    int loads = 0;
    bool recomputes = false;
    for (const Var* result : b.results) {
      const Reads& reads = finder_.Of(result);
      if (reads.is_result) return "it is a result of its block";
      if (reads.other != nullptr) return "it is " + UseBy(*reads.other);
      loads += reads.loads;
      recomputes |= reads.recomputes;
    }
    const bool is_dear = producer.cost > kCheapCost;
    if (is_dear && loads > 1) return "it is dear and read in " + std::to_string(loads) + " places";
    if (is_dear && recomputes) return "it is dear and its elements are read again and again";
    return IsOverwritten(producer, seen, at) ? "what it reads is written before it is read" : "";
  }

  static std::string UseBy(const Binding& reader) {
    if (reader.op == OpCode::kStore) return "stored to";
    return "read as a whole by " + std::string(Name(reader.op));
  }

  // True when something writes what the producer reads before the last reader has read it.
  bool IsOverwritten(const Producer& producer, const Seen& seen, size_t at) const {
    const Binding& b = *seen.block.bindings[at];
    const VarSet results(b.results.begin(), b.results.end());
    bool written = false;
    for (size_t later = at + 1; later < seen.block.bindings.size(); ++later) {
      const Binding& reader = *seen.block.bindings[later];
      const bool writes = Intersects(seen.effects[later].writes, producer.reads);
      const bool reads = Intersects(seen.free[later], results);
      if (reads && written) return true;
      // A binding that itself does both may write first.
      if (reads && writes && !StoresWhatItReads(b, reader, seen.effects[later].writes)) return true;
      written |= writes;
    }
    return false;
  }

  // True for a foreach each of whose iterations reads, through the producer, only those elements of
  // what it writes that it writes itself, and before it writes them. Its iterations are
  // independent, so no other one writes them.
  bool StoresWhatItReads(const Binding& producer, const Binding& foreach,
                         const VarSet& writes) const {
    if (foreach.op != OpCode::kForeach || may_overlap_) return false;
    std::vector<const Binding*> touching;  // what the producer loads of what is written
    bool through_others = false;
    ir::ForEachBinding(*producer.blocks[0], [&](const Binding& b) {
      if (b.op != OpCode::kLoad) return;
      const auto fused = producers_.find(b.operands[0].var());
      if (fused != producers_.end()) through_others |= Intersects(fused->second.reads, writes);
      if (Intersects(roots_.Of(b.operands[0].var()), writes)) touching.push_back(&b);
    });
    if (through_others) return false;
    bool stored = false;
    for (const Binding* b : foreach.blocks[0]->bindings) {
      if (b->op == OpCode::kStore) {
        stored = true;
        continue;
      }
      const bool reads = ReadsResultOf(producer, *b);
      if (!reads) continue;
      if (stored || b->op != OpCode::kLoad || !IsWhatIsStored(producer, touching, *b, foreach))
        return false;
    }
    return HasPlainStores(foreach);
  }

  static bool ReadsResultOf(const Binding& producer, const Binding& b) {
    const VarSet free = ir::FreeVars(b);
    return std::any_of(producer.results.begin(), producer.results.end(),
                       [&](const Var* result) { return free.contains(result); });
  }

  // True where every store stands in the foreach's own block.
  static bool HasPlainStores(const Binding& foreach) {
    bool plain = true;
    for (const Binding* b : foreach.blocks[0]->bindings) {
      for (const Block* block : b->blocks) {
        ir::ForEachBinding(*block, [&](const Binding& inner) {
          plain &= inner.op != OpCode::kStore && inner.op != OpCode::kForeach;
        });
      }
    }
    return plain;
  }

  // True where `touching`, at the producer's index that `load` reads, are the very elements that
  // the foreach stores.
  bool IsWhatIsStored(const Binding& producer, const std::vector<const Binding*>& touching,
                      const Binding& load, const Binding& foreach) const {
    for (const Binding* touched : touching) {
      for (const Binding* store : foreach.blocks[0]->bindings) {
        if (store->op != OpCode::kStore) continue;
        if (!roots_.MayShare(store->operands[0].var(), touched->operands[0].var())) continue;
        if (store->operands[0] != touched->operands[0]) return false;
        for (size_t axis = 1; axis < touched->operands.size(); ++axis) {
          LinearForm place = forms_.Of(touched->operands[axis]);
          for (size_t k = 0; k < producer.blocks[0]->params.size(); ++k) {
            place = place.With(producer.blocks[0]->params[k], forms_.Of(load.operands[1 + k]));
          }
          const LinearForm gap = Difference(place, forms_.Of(store->operands[axis]));
          if (!gap.IsConstant() || gap.constant != 0) return false;
        }
      }
    }
    return true;
  }

  bool Substitute(const Binding& load) {
    const auto found = producers_.find(load.operands[0].var());
    if (found == producers_.end()) return false;
    std::vector<Operand> index = Apply(load.operands);
    index.erase(index.begin());
    const Producer& producer = found->second;
    Replace(load.result(), ir::InlineBlock(builder(), *producer.body, index)[producer.result]);
    return true;
  }

  Roots roots_;
  ReadFinder finder_;
  WrappingForms forms_;
  bool may_overlap_;  // Two elements of one argument may be one place.
  Context& context_;
  std::unordered_map<const Var*, Producer> producers_;
};

}  // namespace

ir::Program FuseVertically(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Fuser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
