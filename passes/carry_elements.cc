// Carries from iteration to iteration what a loop reads and stores at one element of an array.
//
// Before:
//   for %k in 0 to %n step 1 {
//     %c = load %y[%i]  %a = load %x[%k]  %s = add %c, %a  store %y[%i], %s }
// After:
//   %first = load %y[%i]
//   %last = for %k in 0 to %n step 1 (%c = %first) {
//     %a = load %x[%k]  %s = add %c, %a  yield %s }
//   store %y[%i], %last
//
// The loop is then seen to be a sum, and the loops around it to store once an element. Where a
// branch stores, both yield what the element is then. A `while` whose condition does not read the
// array is as a `for`.
//
// Assumes: index form; runs behind hoist-invariants, which moves an index that does not change out
// of the loop, and before the passes that look for reductions.
// Refuses: elements that are not proven to be in range where the loop begins, since it may not run
// or touch them; arrays that the loop touches in another way, by another name, in a loop inside it,
// or at places that may be the same (`best[j]` is another than `best[i]` where %j goes up to %i);
// arrays of the caller's where the loop may raise.
#include <algorithm>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/ranges.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr size_t kMostElements = 16;  // of one array, that a loop carries

bool Repeats(const Binding& b) { return b.op == OpCode::kFor || b.op == OpCode::kWhile; }

const Block& BodyOf(const Binding& loop) { return *loop.blocks.back(); }

// One element: an array, and an index that the loop does not change.
struct Element {
  const Var* array;
  std::vector<Operand> index;
  bool is_loaded = false;
  bool is_stored = false;
};

std::vector<Operand> IndexOf(const Binding& access) {
  const bool stores = access.op == OpCode::kStore;
  return {access.operands.begin() + 1, access.operands.end() - stores};
}

// A block that keeps elements in values.
class BlockCarrier : public ir::Mutator {
 public:
  using Accesses = std::unordered_map<const Binding*, size_t>;  // to numbers of elements

  BlockCarrier(ir::Arena* arena, const Accesses& accesses, std::vector<Operand> current)
      : Mutator(arena), accesses_(accesses), current_(std::move(current)) {}

  // The block, which yields behind its results what all elements are at its end.
  Block Carry(const Block& block) {
    Block carried = *Mutator::VisitBlock(&block);
    carried.results.insert(carried.results.end(), current_.begin(), current_.end());
    return carried;
  }

 protected:
  void Visit(const Binding* b) override {
    const auto access = accesses_.find(b);
    if (access != accesses_.end()) {
      Operand& now = current_[access->second];
      if (b->op == OpCode::kLoad) return Replace(b->result(), now);
      now = Apply(b->operands.back());
      return;
    }
    if (b->op == OpCode::kIf && Stores(*b)) return VisitBranches(*b);
    Mutator::Visit(b);
  }

 private:
  bool Stores(const Binding& b) const {
    bool stores = false;
    for (const Block* block : b.blocks) {
      ir::ForEachBinding(*block, [&](const Binding& inner) {
        stores |= inner.op == OpCode::kStore && accesses_.contains(&inner);
      });
    }
    return stores;
  }

  void VisitBranches(const Binding& b) {
    Binding branches = b;
    branches.operands = Apply(b.operands);
    branches.blocks.clear();
    const std::vector<Operand> before = current_;
    std::vector<std::vector<Operand>> ends;
    std::vector<Block> blocks;
    for (const Block* block : b.blocks) {
      current_ = before;
      blocks.push_back(*Mutator::VisitBlock(block));
      ends.push_back(current_);
    }
    for (size_t k = 0; k < current_.size(); ++k) {
      // One value on both ways is from outside.
      if (ends[0][k] == ends[1][k]) continue;
      for (size_t way : {0, 1}) blocks[way].results.push_back(ends[way][k]);
      const Var* after = builder().NewVar(ir::TypeOf(ends[0][k]));
      branches.results.push_back(after);
      current_[k] = after;
    }
    for (Block& block : blocks) branches.blocks.push_back(arena()->New(std::move(block)));
    builder().Append(arena()->New(std::move(branches)));
  }

  const Accesses& accesses_;
  std::vector<Operand> current_;
};

class ElementCarrier : public ir::Mutator {
 public:
  ElementCarrier(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        context_(context),
        may_overlap_(!function.entry || function.may_overlap) {
    for (const Var* size : function.Sizes()) ranges_.IsSize(size);
  }

 protected:
  void Visit(const Binding* b) override {
    const size_t mark = ranges_.Enter();
    if (b->op == OpCode::kFor) BoundIndex(*b);
    if (b->op == OpCode::kIf) {
      assumed_[b->blocks[0]] = {b->operands[0], true};
      assumed_[b->blocks[1]] = {b->operands[0], false};
    }
    const Binding* rewritten = Rewrite(b);
    ranges_.Leave(mark);
    if (!Repeats(*b) || !Carry(*rewritten)) builder().Append(rewritten);
    ranges_.Define(*rewritten);
    if (b->op == OpCode::kCheck) ranges_.Assume(rewritten->operands[0], true);
  }

  const Block* VisitBlock(const Block* block) override {
    const size_t mark = ranges_.Enter();
    const auto known = assumed_.find(block);
    if (known != assumed_.end()) ranges_.Assume(Apply(known->second.first), known->second.second);
    const Block* visited = Mutator::VisitBlock(block);
    ranges_.Leave(mark);
    return visited;
  }

 private:
  void BoundIndex(const Binding& loop) {
    ranges_.Bound(loop.blocks[0]->params[0], Apply(loop.operands[0]), Apply(loop.operands[1]),
                  loop.operands[2].constant().integer);
  }

  // Appends the loop with what it carries; false where it carries nothing more.
  bool Carry(const Binding& loop) {
    const Block& body = BodyOf(loop);
    std::vector<Element> elements;
    BlockCarrier::Accesses accesses;
    VarSet seen;
    for (const Var* array : StoredArrays(body)) {
      if (seen.insert(array).second) FindElements(loop, array, elements, accesses);
    }
    if (elements.empty()) return false;
    context_.Note(loop.span, "carries what it adds to an element", Topic::kOther, Verdict::kDone);
    Binding carrying = loop;
    std::vector<Operand> now;
    for (const Element& element : elements) {
      carrying.operands.push_back(builder().Load(element.array, element.index));
      const ir::Type type(element.array->type.dtype());
      now.push_back(builder().NewVar(type));
      carrying.results.push_back(builder().NewVar(type));
    }
    Block carried = BlockCarrier(arena(), accesses, now).Carry(body);
    for (const Operand& element : now) carried.params.push_back(element.var());
    carrying.blocks.back() = arena()->New(std::move(carried));
    if (loop.op == OpCode::kWhile) {
      Block asked = *loop.blocks[0];
      for (const Operand& element : now)
        asked.params.push_back(builder().NewVar(element.var()->type));
      carrying.blocks[0] = arena()->New(std::move(asked));
    }
    const size_t first = loop.results.size();
    const Binding* written = arena()->New(std::move(carrying));
    builder().Append(written);
    for (size_t k = 0; k < elements.size(); ++k) {
      builder().Store(elements[k].array, elements[k].index, written->results[first + k]);
    }
    return true;
  }

  // In the order of the stores.
  static std::vector<const Var*> StoredArrays(const Block& body) {
    std::vector<const Var*> arrays;
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (b.op == OpCode::kStore) arrays.push_back(b.operands[0].var());
    });
    return arrays;
  }

  // Adds the array's elements that can be carried, and what loads and stores them.
  void FindElements(const Binding& loop, const Var* array, std::vector<Element>& elements,
                    BlockCarrier::Accesses& accesses) {
    const Block& body = BodyOf(loop);
    const VarSet inside = ir::DefinedVars(body);
    if (inside.contains(array) || (may_overlap_ && !roots_.IsFresh(array))) return;
    if (roots_.Of(array).size() != 1) return;
    if (!roots_.IsFresh(array) && EffectsOf(loop, roots_).may_fail) return;
    std::vector<const Binding*> touching;
    if (loop.op == OpCode::kWhile &&
        (!FindAccesses(*loop.blocks[0], array, touching) || !touching.empty()))
      return;
    if (!FindAccesses(body, array, touching)) return;
    const auto moves = [&](const Binding* access) {
      const std::vector<Operand> index = IndexOf(*access);
      return std::any_of(index.begin(), index.end(), [&](const Operand& operand) {
        return operand.IsVar() && inside.contains(operand.var());
      });
    };
    const auto fixed = std::stable_partition(touching.begin(), touching.end(), moves);
    const std::vector<const Binding*> moving(touching.begin(), fixed);
    touching.erase(touching.begin(), fixed);
    std::vector<Element> own;
    std::vector<size_t> numbers;
    for (const Binding* access : touching) {
      const std::vector<Operand> index = IndexOf(*access);
      size_t number = 0;
      while (number < own.size() && !IsOneElement(own[number].index, index)) ++number;
      if (number == own.size()) own.push_back({array, index});
      if (own.size() > kMostElements) return;
      own[number].is_loaded |= access->op == OpCode::kLoad;
      own[number].is_stored |= access->op == OpCode::kStore;
      numbers.push_back(number);
    }
    for (size_t a = 0; a < own.size(); ++a) {
      if (!IsInRange(own[a])) return;
      for (size_t b = 0; b < a; ++b) {
        if (!AreTwoElements(own[a].index, own[b].index)) return;
      }
    }
    if (!own.empty() && !AreApart(loop, moving, own)) return;
    std::unordered_map<size_t, size_t> carried;  // from numbers among the array's elements
    for (size_t k = 0; k < own.size(); ++k) {
      if (!own[k].is_loaded || !own[k].is_stored) continue;
      carried[k] = elements.size();
      elements.push_back(own[k]);
    }
    for (size_t k = 0; k < touching.size(); ++k) {
      const auto found = carried.find(numbers[k]);
      if (found != carried.end()) accesses[touching[k]] = found->second;
    }
  }

  // What loads and stores the array in the block and in branches; false where something else
  // touches it.
  bool FindAccesses(const Block& block, const Var* array,
                    std::vector<const Binding*>& touching) const {
    const VarSet& roots = roots_.Of(array);
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kIf) {
        for (const Block* branch : b->blocks) {
          if (!FindAccesses(*branch, array, touching)) return false;
        }
        continue;
      }
      const Effects effects = EffectsOf(*b, roots_);
      const bool is_used = ir::FreeVars(*b).contains(array);
      if (!is_used && !Intersects(effects.reads, roots) && !Intersects(effects.writes, roots))
        continue;
      const bool is_plain = b->op == OpCode::kLoad || b->op == OpCode::kStore;
      if (!is_plain || b->operands[0] != Operand(array)) return false;
      touching.push_back(b);
    }
    const auto is_array = [&](const Operand& result) { return result == Operand(array); };
    return std::none_of(block.results.begin(), block.results.end(), is_array);
  }

  // True where no access at a place that moves touches one of the elements.
  bool AreApart(const Binding& loop, const std::vector<const Binding*>& moving,
                const std::vector<Element>& elements) {
    if (moving.empty()) return true;
    const size_t mark = ranges_.Enter();
    if (loop.op == OpCode::kFor) BoundIndex(loop);
    ir::ForEachBinding(BodyOf(loop), [&](const Binding& b) {
      if (b.blocks.empty()) ranges_.Define(b);
    });
    const bool are_apart = std::all_of(moving.begin(), moving.end(), [&](const Binding* access) {
      return std::all_of(elements.begin(), elements.end(), [&](const Element& element) {
        return IsElsewhere(IndexOf(*access), element.index);
      });
    });
    ranges_.Leave(mark);
    return are_apart;
  }

  bool IsElsewhere(const std::vector<Operand>& a, const std::vector<Operand>& b) const {
    for (size_t axis = 0; axis < a.size(); ++axis) {
      if (ranges_.ProvesLt(a[axis], b[axis]) || ranges_.ProvesLt(b[axis], a[axis])) return true;
    }
    return false;
  }

  bool IsOneElement(const std::vector<Operand>& a, const std::vector<Operand>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [&](const Operand& left, const Operand& right) {
                        return SameForm(ranges_.FormOf(left), ranges_.FormOf(right));
                      });
  }

  bool AreTwoElements(const std::vector<Operand>& a, const std::vector<Operand>& b) const {
    for (size_t axis = 0; axis < a.size(); ++axis) {
      const LinearForm gap = Difference(ranges_.FormOf(a[axis]), ranges_.FormOf(b[axis]));
      if (gap.IsConstant() && gap.constant != 0) return true;
    }
    return false;
  }

  bool IsInRange(const Element& element) const {
    const std::vector<Operand>& dims = element.array->type.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const Operand& index = element.index[axis];
      if (!ranges_.ProvesLe(Operand::Int(0), index) || !ranges_.ProvesLt(index, dims[axis]))
        return false;
    }
    return true;
  }

  const Roots roots_;
  Context& context_;
  const bool may_overlap_;  // Arguments, or two elements of one.
  Ranges ranges_;
  std::unordered_map<const Block*, std::pair<Operand, bool>> assumed_;  // in branches
};

}  // namespace

ir::Program CarryElements(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ElementCarrier(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
