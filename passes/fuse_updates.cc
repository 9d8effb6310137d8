// Makes updates of arrays, element by element and in place, one traversal.
//
// Before:
//   foreach (%i) in (%n) { %a = load %x[%i]  %b = mul %a, 2.0  store %x[%i], %b }
//   foreach (%j) in (%n) { %c = load %x[%j]  %d = load %y[%j]  %e = add %c, %d  store %x[%j], %e }
// After:
//   foreach (%i) in (%n) { %a = load %x[%i]  %b = mul %a, 2.0  %d = load %y[%i]  %e = add %b, %d
//   store %x[%i], %e }
//
// A map whose result is updated makes what it is updated to. A map behind an update, whose result
// is itself returned or stored to, is written by the update's traversal.
//
// Assumes: index form.
// Refuses: arrays of which one of the two touches other elements than the other, or may touch them
// by another name; what stands between them and needs the first done, or the second not; nests that
// hold loops, or what may raise, or have hundreds of bindings already; copies that renew_arrays may
// do without; more arrays than a loop goes through well.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
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

constexpr size_t kMostFusedArrays = 8;
constexpr size_t kMostBetweenUpdates = 32;  // bindings that are looked at
// Of a nest that is fused again: all of it is looked at each time.
constexpr size_t kMostFusedBindings = 512;

bool Stores(const Binding& b, const Var* array) {
  bool stores = b.op == OpCode::kStore && b.operands[0].var() == array;
  for (const Block* block : b.blocks) {
    for (const Binding* inner : block->bindings) stores |= Stores(*inner, array);
  }
  return stores;
}

bool Loads(const Binding& b, const Var* array) {
  bool loads = b.op == OpCode::kLoad && b.operands[0].var() == array;
  for (const Block* block : b.blocks) {
    for (const Binding* inner : block->bindings) loads |= Loads(*inner, array);
  }
  return loads;
}

class UpdateFuser : public ir::Mutator {
 public:
  UpdateFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), forms_(function), context_(context) {
    for (const Operand& result : function.body->results) Keep(result);
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const size_t k : ir::StoredOperands(b)) Keep(b.operands[k]);
      if (b.op != OpCode::kImap) return;
      for (const Var* result : b.results) made_[result] = &b;
    });
  }

 protected:
  const Block* VisitBlock(const Block* block) override {
    std::vector<const Binding*> bindings = block->bindings;
    for (size_t later = 1; later < bindings.size(); ++later) {
      while (later < bindings.size() && FuseWithEarlier(bindings, later)) --later;
    }
    if (bindings == block->bindings) return Mutator::VisitBlock(block);
    Block fused = *block;
    fused.bindings = std::move(bindings);
    return Mutator::VisitBlock(arena()->New(std::move(fused)));
  }

 private:
  // An element that a nest loads or stores: of which array, and where, as forms of the nest's
  // indexes.
  struct Access {
    const Var* array;
    std::vector<LinearForm> place;
    bool is_store;
  };

  // What was stored last to an array's element before the second nest's part.
  struct Stored {
    Operand value;
    const Binding* store;  // null for what a map makes
    bool is_read = false;  // by the first nest itself
  };
  using StoredByArray = std::unordered_map<const Var*, Stored>;

  // --- Which arrays are to be in memory anyway ---

  void Keep(const Operand& operand) {
    if (!operand.IsVar() || !operand.var()->type.IsArray()) return;
    const VarSet& roots = roots_.Of(operand.var());
    kept_.insert(roots.begin(), roots.end());
  }

  // --- What goes together ---

  static bool IsNest(const Binding& b) {
    if (b.op != OpCode::kForeach && b.op != OpCode::kImap) return false;
    const Block& body = *b.blocks[0];
    return !IsFortran(b) && IsPlain(body) &&
           std::all_of(body.results.begin(), body.results.end(),
                       [](const Operand& made) { return ir::TypeOf(made).IsScalar(); });
  }

  static bool IsPlain(const Block& block) {
    return std::all_of(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
      const bool is_element = b->op == OpCode::kLoad || b->op == OpCode::kStore;
      if (b->op == OpCode::kIf) return IsPlain(*b->blocks[0]) && IsPlain(*b->blocks[1]);
      return is_element || ir::IsScalarOp(b->op);
    });
  }

  // True for a copy of what a map has made of elements around: renew-arrays does away with it.
  bool IsCopyBack(const Binding& nest) const {
    if (nest.op != OpCode::kForeach) return false;
    const Binding* load = nullptr;
    for (const Binding* b : nest.blocks[0]->bindings) {
      const bool copies = b->op == OpCode::kStore && load != nullptr &&
                          b->operands.back() == Operand(load->result());
      if (b->op == OpCode::kLoad && load == nullptr) {
        load = b;
      } else if (!copies && !forms_.IsKnown(*b)) {
        return false;
      }
    }
    const auto maker = load == nullptr ? made_.end() : made_.find(load->operands[0].var());
    return maker != made_.end() && maker->second->operands == nest.operands &&
           !Share(*maker->second, nest);
  }

  bool FuseWithEarlier(std::vector<const Binding*>& bindings, size_t later) {
    if (!IsNest(*bindings[later]) || IsCopyBack(*bindings[later])) return false;
    for (size_t first = later; first-- > 0 && later - first <= kMostBetweenUpdates;) {
      const Binding& a = *bindings[first];
      const Binding& b = *bindings[later];
      if (!IsNest(a) || a.blocks[0]->bindings.size() > kMostFusedBindings) continue;
      if (IsCopyBack(a) || (a.op == OpCode::kImap && b.op == OpCode::kImap)) continue;
      if (a.operands != b.operands || !Share(a, b)) continue;
      const bool moves_down = MovesPast(bindings, first, first + 1, later);
      if (!moves_down && !MovesPast(bindings, later, first + 1, later)) continue;
      std::vector<const Binding*> fused = Fused(a, b);
      if (fused.empty()) continue;
      context_.Note(b.span, "fused with its sibling", Topic::kSiblings, Verdict::kDone, a.span);
      bindings.erase(bindings.begin() + later);
      bindings.erase(bindings.begin() + first);
      const size_t at = moves_down ? later - 1 : first;
      bindings.insert(bindings.begin() + at, fused.begin(), fused.end());
      return true;
    }
    return false;
  }

  // Whether the nest may stand on the other side of the bindings of these numbers.
  bool MovesPast(const std::vector<const Binding*>& bindings, size_t mover, size_t begin,
                 size_t end) const {
    const Binding& b = *bindings[mover];
    const Effects effects = EffectsOf(b, roots_);
    const bool is_down = mover < begin;
    for (size_t k = begin; k < end; ++k) {
      const Binding& other = *bindings[k];
      const Effects others = EffectsOf(other, roots_);
      // A check may guard what stands behind it.
      const bool is_guarded = !is_down && others.may_fail && !effects.reads.empty();
      const bool needs = is_down ? Needs(other, b) : Needs(b, other);
      if (needs || is_guarded || Conflict(effects, others)) return false;
    }
    return true;
  }

  static bool Needs(const Binding& b, const Binding& other) {
    const VarSet free = ir::FreeVars(b);
    return std::any_of(other.results.begin(), other.results.end(),
                       [&](const Var* made) { return free.contains(made); });
  }

  std::vector<Access> AccessesOf(const Binding& nest) const {
    std::vector<Access> accesses;
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      const bool is_store = b.op == OpCode::kStore;
      if (!is_store && b.op != OpCode::kLoad) return;
      Access access{b.operands[0].var(), {}, is_store};
      for (size_t k = 1; k + is_store < b.operands.size(); ++k)
        access.place.push_back(forms_.Of(b.operands[k]));
      accesses.push_back(std::move(access));
    });
    for (const Var* result : nest.results) {
      Access access{result, {}, true};
      for (const Var* param : nest.blocks[0]->params) access.place.push_back(LinearForm::Of(param));
      accesses.push_back(std::move(access));
    }
    return accesses;
  }

  // Whether the two go through some array together, and touch what one of them changes at the same
  // element only.
  bool Share(const Binding& a, const Binding& b) const {
    const std::vector<Access> first = AccessesOf(a), second = AccessesOf(b);
    VarSet arrays;
    for (const auto* accesses : {&first, &second}) {
      for (const Access& access : *accesses) arrays.insert(access.array);
    }
    if (arrays.size() > kMostFusedArrays) return false;
    bool share = false;
    const VarSet inside = ir::DefinedVars(*a.blocks[0]);
    for (const Access& mine : first) {
      for (const Access& other : second) {
        if (!roots_.MayShare(mine.array, other.array)) continue;
        const bool is_one = mine.array == other.array && AreAtOnePlace(a, mine, b, other, inside);
        if ((mine.is_store || other.is_store) && !is_one) return false;
        share |= is_one;
      }
    }
    return share;
  }

  // Whether iterations of the two touch one element where, and only where, they are at one index.
  // `inside`: what the first defines.
  static bool AreAtOnePlace(const Binding& a, const Access& mine, const Binding& b,
                            const Access& other, const VarSet& inside) {
    const std::vector<const Var*>& indexes = a.blocks[0]->params;
    std::vector<LinearForm> place = other.place;
    for (LinearForm& form : place) {
      for (size_t k = 0; k < indexes.size(); ++k)
        form = form.With(b.blocks[0]->params[k], LinearForm::Of(indexes[k]));
    }
    if (!SameForms(mine.place, place)) return false;
    const auto tells = [&](const Var* index) {
      return std::any_of(place.begin(), place.end(), [&](const LinearForm& form) {
        const int64_t times = form.Coefficient(index);
        return (times == 1 || times == -1) &&
               std::none_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
                 return term.first != index && inside.contains(term.first);
               });
      });
    };
    return std::all_of(indexes.begin(), indexes.end(), tells);
  }

  // --- One nest ---

  // What stands for the two: empty where they cannot be one.
  std::vector<const Binding*> Fused(const Binding& a, const Binding& b) {
    if (a.op == OpCode::kImap) {
      if (IsUpdateOf(a, b)) return {Updated(a, b)};
      return AreKept(a) ? FusedStores(a, b) : std::vector<const Binding*>{};
    }
    return b.op == OpCode::kForeach || AreKept(b) ? FusedStores(a, b)
                                                  : std::vector<const Binding*>{};
  }

  bool AreKept(const Binding& imap) const {
    return std::all_of(imap.results.begin(), imap.results.end(),
                       [&](const Var* result) { return Intersects(roots_.Of(result), kept_); });
  }

  // Whether all that the second does is to replace elements that the map makes, each once.
  static bool IsUpdateOf(const Binding& imap, const Binding& update) {
    VarSet stored;
    for (const Binding* b : update.blocks[0]->bindings) {
      if (b->op == OpCode::kStore) {
        const Var* array = b->operands[0].var();
        const bool is_result = std::count(imap.results.begin(), imap.results.end(), array) > 0;
        if (!is_result || !stored.insert(array).second) return false;
        continue;
      }
      for (const Var* result : imap.results) {
        if (Stores(*b, result) || (stored.contains(result) && Loads(*b, result))) return false;
      }
    }
    bool stores_else = false;
    ir::ForEachBinding(*update.blocks[0], [&](const Binding& b) {
      stores_else |= b.op == OpCode::kStore && !stored.contains(b.operands[0].var());
    });
    return !stores_else;
  }

  // The map, which makes what the update stores.
  const Binding* Updated(const Binding& imap, const Binding& update) {
    StoredByArray made;
    for (size_t k = 0; k < imap.results.size(); ++k)
      made[imap.results[k]] = {imap.blocks[0]->results[k], nullptr};
    Block body = *imap.blocks[0];
    Block rest{update.blocks[0]->params, {}, {}};
    std::vector<size_t> changed;
    for (const Binding* b : update.blocks[0]->bindings) {
      if (b->op != OpCode::kStore) {
        rest.bindings.push_back(b);
        continue;
      }
      const auto result = std::find(imap.results.begin(), imap.results.end(), b->operands[0].var());
      changed.push_back(result - imap.results.begin());
      rest.results.push_back(b->operands.back());
    }
    const std::vector<Operand> values = AppendTo(body, rest, made);
    for (size_t k = 0; k < changed.size(); ++k) body.results[changed[k]] = values[k];
    Binding updated = imap;
    updated.blocks = {arena()->New(std::move(body))};
    return arena()->New(std::move(updated));
  }

  // One foreach of both, behind allocations of what maps make.
  std::vector<const Binding*> FusedStores(const Binding& a, const Binding& b) {
    std::vector<const Binding*> fused;
    const Block first = StoringBlock(a, fused), second = StoringBlock(b, fused);
    StoredByArray stored;
    for (const Binding* binding : first.bindings) Follow(*binding, stored);
    Block body = first;
    AppendTo(body, second, stored);
    Binding nest{OpCode::kForeach, {}, a.operands, {}, a.attrs, b.span};
    nest.blocks = {arena()->New(std::move(body))};
    fused.push_back(arena()->New(std::move(nest)));
    return fused;
  }

  // The block of a nest, storing what it yields to arrays that are allocated.
  Block StoringBlock(const Binding& nest, std::vector<const Binding*>& allocations) {
    Block block = *nest.blocks[0];
    ir::Builder writer = builder().Nested();
    writer.set_span(nest.span);
    for (const Binding* b : block.bindings) writer.Append(b);
    const std::vector<Operand> index(block.params.begin(), block.params.end());
    for (size_t k = 0; k < nest.results.size(); ++k) {
      const Var* array = nest.results[k];
      allocations.push_back(
          arena()->New(Binding{OpCode::kAlloc, {array}, array->type.dims(), {}, {}, nest.span}));
      writer.Store(array, index, block.results[k]);
    }
    block.bindings = std::move(writer.bindings());
    block.results.clear();
    return block;
  }

  // What is known of the arrays behind a binding of the first nest.
  static void Follow(const Binding& b, StoredByArray& stored) {
    if (b.op == OpCode::kStore) {
      stored[b.operands[0].var()] = {b.operands.back(), &b};
      return;
    }
    for (auto each = stored.begin(); each != stored.end();) {
      each->second.is_read |= Loads(b, each->first);
      each = Stores(b, each->first) ? stored.erase(each) : std::next(each);
    }
  }

  // Appends the second block to the first: what it loads that has been stored is that value, and
  // what it stores over need not have been.
  std::vector<Operand> AppendTo(Block& first, const Block& second, StoredByArray& stored) {
    ir::Substitution values;
    for (size_t k = 0; k < first.params.size(); ++k)
      values[second.params[k]] = Operand(first.params[k]);
    Block rest{second.params, {}, second.results};
    for (const Binding* b : second.bindings) {
      const Binding* left = WithValues(*b, stored, values);
      if (left == nullptr) continue;
      if (b->op == OpCode::kStore) {
        const auto before = stored.find(b->operands[0].var());
        if (before != stored.end() && before->second.store != nullptr && !before->second.is_read)
          std::erase(first.bindings, before->second.store);
        stored.erase(b->operands[0].var());
      }
      rest.bindings.push_back(left);
    }
    ir::Builder writer = builder().Nested();
    for (const Binding* b : first.bindings) writer.Append(b);
    std::vector<Operand> results = ir::InlineBlock(writer, rest, values);
    first.bindings = std::move(writer.bindings());
    for (const Binding* b : first.bindings) forms_.Learn(*b);
    return results;
  }

  // The binding without loads of what is known, which `values` then has; null for such a load.
  const Binding* WithValues(const Binding& b, StoredByArray& stored, ir::Substitution& values) {
    if (b.op == OpCode::kLoad) {
      const auto known = stored.find(b.operands[0].var());
      if (known == stored.end()) return &b;
      values[b.result()] = known->second.value;
      return nullptr;
    }
    if (b.blocks.empty()) return &b;
    for (auto each = stored.begin(); each != stored.end();)
      each = Stores(b, each->first) ? stored.erase(each) : std::next(each);
    Binding copy = b;
    for (const Block*& block : copy.blocks) {
      Block left{block->params, {}, block->results};
      for (const Binding* inner : block->bindings) {
        if (const Binding* kept = WithValues(*inner, stored, values)) left.bindings.push_back(kept);
      }
      block = arena()->New(std::move(left));
    }
    return arena()->New(std::move(copy));
  }

  Roots roots_;
  WrappingForms forms_;
  Context& context_;
  VarSet kept_;             // roots that are returned or stored to
  ir::DefinitionMap made_;  // what maps make
};

}  // namespace

ir::Program FuseUpdates(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return UpdateFuser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
