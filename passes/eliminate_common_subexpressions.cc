// Computes equal values once: of two bindings that must give the same, the first stands for both.
//
// Before:
//   %m1: f64 = ireduce (%i) in (%n) add from 0.0 { %a: f64 = load %x[%i]  yield %a }
//   %m2: f64 = ireduce (%j) in (%n) add from 0.0 { %b: f64 = load %x[%j]  yield %b }
//   %c: f64 = mul %m1, %m2
// After:
//   %m1: f64 = ireduce (%i) in (%n) add from 0.0 { %a: f64 = load %x[%i]  yield %a }
//   %c: f64 = mul %m1, %m1
//
// Assumes: nothing; it runs at every stage.
// Filters that keep the same places share one count. Scalars that a loop carries, or a branch
// yields, and that are always equal are one: sizes of arrays that are filtered together.
// Of two checks of one condition, or two sizes of one pair, the second passes where the first has,
// whatever their places.
// Refuses: bindings that store; reads with a write to the same root between them; what makes
// arrays, reshapes that may copy among them, where one of the two is stored to, returned or
// yielded.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/binding_key.h"
#include "passes/analyses/carried_together.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// True where a result may be memory of its own. A reshape copies what strides cannot say.
bool MakesArray(const Binding& b) {
  if (ir::IsView(b.op) && b.op != OpCode::kReshape) return false;
  for (const Var* result : b.results) {
    if (result->type.IsArray()) return true;
  }
  return false;
}

class Merger : public ir::Mutator {
 public:
  Merger(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena),
        roots_(function),
        definitions_(ir::Definitions(*function.body)),
        together_(definitions_, [this](const Operand& operand) { return Apply(operand); }) {
    written_ = EffectsOf(*function.body, roots_).writes;
    for (const Operand& result : function.body->results) AddRoots(result, escaping_);
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Block* block : b.blocks) {
        for (const Operand& result : block->results) AddRoots(result, escaping_);
      }
    });
  }

 protected:
  void Visit(const Binding* b) override {
    const Effects effects = EffectsOf(*b, roots_);
    const Binding* rewritten = Prepare(*b, effects);
    if (MayMerge(*b, effects)) {
      if (const Binding* earlier = FindOrKeep(KeyOf(*rewritten) + Versions(effects), rewritten)) {
        for (size_t k = 0; k < b->results.size(); ++k) {
          Replace(b->results[k], earlier->results[k]);
          if (rewritten->results[k] != b->results[k])
            Replace(rewritten->results[k], earlier->results[k]);
        }
        return;
      }
    }
    builder().Append(rewritten);
    if (b->op == OpCode::kFilter && !effects.may_fail) UniteCounts(*b, *rewritten);
    Bump(effects.writes);
  }

  const Block* VisitBlock(const Block* block) override {
    const size_t outer = kept_.size();
    const Block* rewritten = Mutator::VisitBlock(block);
    while (kept_.size() > outer) {
      *kept_.back() = nullptr;
      kept_.pop_back();
    }
    return rewritten;
  }

 private:
  // What a loop writes may be written before what stands in it reads.
  const Binding* Prepare(const Binding& b, const Effects& effects) {
    if (!b.blocks.empty()) Bump(effects.writes);
    if (b.op == OpCode::kIf || b.op == OpCode::kFor || b.op == OpCode::kWhile) UniteCarried(b);
    return Rewrite(&b);
  }

  // What is always equal reads as the first of it, inside and behind.
  void UniteCarried(const Binding& b) {
    const std::vector<size_t> first = together_.FirstOf(b);
    for (size_t k = 0; k < first.size(); ++k) {
      if (first[k] == k) continue;
      Replace(b.results[k], b.results[first[k]]);
      for (const Block* block : b.blocks) {
        if (block->params.empty()) continue;
        const size_t counters = block->params.size() - first.size();
        Replace(block->params[counters + k], block->params[counters + first[k]]);
      }
    }
  }

  // Filters that keep the same places keep as many: what the later one makes has sizes of the
  // earlier one's.
  void UniteCounts(const Binding& b, const Binding& rewritten) {
    const Effects effects = EffectsOf(*CountOnly(arena(), b), roots_);
    const std::string key = KeyOf(*CountOnly(arena(), rewritten)) + Versions(effects);
    const Binding* earlier = FindOrKeep(key, &rewritten);
    if (earlier == nullptr) return;
    const Var* count = earlier->results[0];
    Replace(b.results[0], count);
    for (size_t k = 1; k < b.results.size(); ++k) {
      const ir::Type type = ir::Type::Array(b.results[k]->type.dtype(), {count});
      Replace(b.results[k], builder().EmitOne(OpCode::kAscribe, type, {rewritten.results[k]}));
    }
  }

  bool MayMerge(const Binding& b, const Effects& effects) const {
    if (!effects.writes.empty() || b.op == OpCode::kCall || b.op == OpCode::kAlloc) return false;
    if (b.results.empty() && b.op != OpCode::kCheck) return false;
    if (!b.blocks.empty() && effects.may_fail) return false;
    if (!MakesArray(b)) return true;
    for (const Var* result : b.results) {
      if (!result->type.IsArray()) continue;
      const ir::VarSet& roots = roots_.Of(result);
      if (Intersects(roots, written_) || Intersects(roots, escaping_)) return false;
    }
    return true;
  }

  // The binding of that key in this block or one around it; null where there is none, and `b` is
  // kept to be found.
  const Binding* FindOrKeep(std::string key, const Binding* b) {
    const Binding*& known = known_[std::move(key)];
    if (known != nullptr) return known;
    known = b;
    kept_.push_back(&known);
    return nullptr;
  }

  // The state of the memory that is read: how often each root has been written.
  std::string Versions(const Effects& effects) const {
    std::vector<std::pair<const Var*, uint64_t>> written;
    for (const Var* root : effects.reads) {
      const auto found = versions_.find(root);
      if (found != versions_.end()) written.push_back(*found);
    }
    std::sort(written.begin(), written.end());
    return {reinterpret_cast<const char*>(written.data()), written.size() * sizeof written[0]};
  }

  void Bump(const ir::VarSet& roots) {
    for (const Var* root : roots) versions_[root] = ++clock_;
  }

  void AddRoots(const Operand& operand, ir::VarSet& set) const {
    if (!operand.IsVar() || !operand.var()->type.IsArray()) return;
    const ir::VarSet& roots = roots_.Of(operand.var());
    set.insert(roots.begin(), roots.end());
  }

  Roots roots_;
  ir::DefinitionMap definitions_;
  CarriedTogether together_;
  ir::VarSet written_;
  ir::VarSet escaping_;
  uint64_t clock_ = 0;
  std::unordered_map<const Var*, uint64_t> versions_;
  // By key; null where the block has ended that held it.
  std::unordered_map<std::string, const Binding*> known_;
  std::vector<const Binding**> kept_;  // of `known_`, the blocks that are open
};

}  // namespace

ir::Program EliminateCommonSubexpressions(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Merger(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
