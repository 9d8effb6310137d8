// Makes in each iteration of a loop an array that is made once in front of it, but whose elements
// every iteration stores before it reads them: each then has one of its own, and iterations that
// shared nothing else are independent.
//
// Before:
//   %w: [m]f64 = alloc (%m)
//   for %i in 0 to %n step 1 {
//     foreach (%j) in (%m) { ... store %w[%j], %a }
//     %s: f64 = ireduce (%j) in (%m) add from 0.0 { %b = load %w[%j]  ... yield %c }
//     store %y[%i], %s }
// After:
//   for %i in 0 to %n step 1 {
//     %w: [m]f64 = alloc (%m)
//     foreach (%j) in (%m) { ... store %w[%j], %a }
//     ... as before ... }
//
// An iteration stores elements before it reads them where a loop over [0, e) stores each, or each
// of a column, or stores at places that are constants, and what is read behind lies there. A loop
// that is still dependent stays as it was.
//
// Assumes: index form; loops inside are operators where they can be (parallelize_loops.cc).
// Refuses: arrays that are used elsewhere than in the loop, or passed on; elements that only some
// iterations store; of a GPU, arrays whose sizes are not known in front of all loops: each thread's
// would come from the device's heap (lowering/arrays_of_threads.h).
#include <algorithm>
#include <optional>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/loop_independence.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using Operands = std::vector<Operand>;

bool IsOperator(const Binding& b) { return ir::InfoOf(b.op).format == ir::OpFormat::kIndices; }

bool IsUse(const Binding& b, const Var* array) {
  return std::any_of(b.operands.begin(), b.operands.end(),
                     [&](const Operand& operand) { return operand == Operand(array); });
}

bool Yields(const Block& block, const Var* array) {
  return std::find(block.results.begin(), block.results.end(), Operand(array)) !=
         block.results.end();
}

// What is known of a function's values.
struct Facts {
  explicit Facts(const ir::Function& function)
      : forms(function), makers(ir::Definitions(*function.body)) {}
  const WrappingForms forms;
  const ir::DefinitionMap makers;
};

// What one iteration has stored of an array, binding by binding.
class Stored {
 public:
  Stored(const Facts& facts, const Var* array)
      : forms_(facts.forms), makers_(facts.makers), array_(array) {}

  // Whether every element that the iteration reads has been stored by it.
  bool CoversReads(const Block& iteration) {
    for (const Binding* b : iteration.bindings) {
      if (!AreRead(*b)) return false;
      Take(*b);
    }
    return true;
  }

 private:
  // Whether what the binding reads of the array is stored, be it by its own block before.
  bool AreRead(const Binding& b) {
    if (b.op == OpCode::kLoad && b.operands[0] == Operand(array_))
      return IsStored({b.operands.begin() + 1, b.operands.end()});
    const bool stores = b.op == OpCode::kStore && b.operands[0] == Operand(array_) &&
                        b.operands.back() != Operand(array_);
    if (stores) return true;
    if (IsUse(b, array_)) return b.op == OpCode::kLibraryCall && IsWhole();
    for (const Var* param : b.blocks.empty() ? std::vector<const Var*>{} : b.blocks[0]->params)
      around_[param] = &b;
    for (const Block* block : b.blocks) {
      for (const Binding* in : block->bindings) {
        if (!AreRead(*in)) return false;
      }
      if (Yields(*block, array_)) return false;
    }
    return true;
  }

  // Takes in what the binding stores whenever it runs.
  void Take(const Binding& b) {
    if (b.op == OpCode::kStore && b.operands[0] == Operand(array_)) {
      const Operands place(b.operands.begin() + 1, b.operands.end() - 1);
      if (std::all_of(place.begin(), place.end(), [](auto& k) { return k.IsConstant(); }))
        places_.push_back(place);
      return;
    }
    const bool counts = b.op == OpCode::kFor && b.operands[0] == Operand::Int(0) &&
                        b.operands[2] == Operand::Int(1);
    if (b.op != OpCode::kForeach && !counts) return;
    const Block& body = *b.blocks[0];
    for (const Binding* in : body.bindings) {
      if (in->op != OpCode::kStore || in->operands[0] != Operand(array_)) continue;
      Box box;
      ir::VarSet indexes;
      for (size_t axis = 1; axis + 1 < in->operands.size(); ++axis) {
        const Operand& index = in->operands[axis];
        const auto at = std::find(body.params.begin(), body.params.end(), index.var());
        const size_t which = static_cast<size_t>(at - body.params.begin());
        if (index.IsConstant() && index.constant().integer >= 0) {
          box.push_back({index, false});
          continue;
        }
        const bool is_index = at != body.params.end() && indexes.insert(*at).second;
        if (!is_index || (counts && which != 0)) break;
        box.push_back({counts ? b.operands[1] : b.operands[which], true});
      }
      const bool is_each = box.size() + 2 == in->operands.size() &&
                           indexes.size() == (counts ? 1 : body.params.size());
      if (is_each) boxes_.push_back(box);
    }
  }

  bool IsStored(const Operands& place) const {
    if (IsWhole()) return true;
    if (std::find(places_.begin(), places_.end(), place) != places_.end()) return true;
    if (std::any_of(boxes_.begin(), boxes_.end(), [&](auto& box) { return IsIn(place, box); }))
      return true;
    return place.size() == 1 && IsAmongPlaces(place[0]);
  }

  // Where a nest stores along an axis: at all places before an end, or at one that is constant.
  struct Side {
    Operand value;
    bool is_end;
  };
  using Box = std::vector<Side>;

  bool IsIn(const Operands& place, const Box& box) const {
    for (size_t axis = 0; axis < place.size(); ++axis) {
      const bool is_in = box[axis].is_end
                             ? IsWhole(box, axis) || IsBelow(place[axis], box[axis].value)
                             : place[axis] == box[axis].value;
      if (!is_in) return false;
    }
    return true;
  }

  // Whether the nest stores all along an axis.
  bool IsWhole(const Box& box, size_t axis) const {
    const LinearForm left =
        Difference(CountOf(box[axis].value), CountOf(array_->type.dims()[axis]));
    return box[axis].is_end && left.IsConstant() && left.constant >= 0;
  }

  // Whether the index lies in [0, extent).
  bool IsBelow(const Operand& index, const Operand& extent) const {
    if (index.IsConstant()) {
      return extent.IsConstant() && index.constant().integer >= 0 &&
             index.constant().integer < extent.constant().integer;
    }
    // An index of what is around it, and so much more.
    const LinearForm form = forms_.Of(index);
    if (form.terms.size() != 1 || form.terms[0].second != 1 || form.constant < 0) return false;
    const std::optional<Operand> end = EndOf(form.terms[0].first);
    if (!end) return false;
    const LinearForm room = Difference(CountOf(extent), CountOf(*end));
    return room.IsConstant() && room.constant >= form.constant;
  }

  // Whether all places from 0 to the end of what the index goes through are stored.
  bool IsAmongPlaces(const Operand& index) const {
    const std::optional<Operand> end = index.IsVar() ? EndOf(index.var()) : std::nullopt;
    if (!end || !end->IsConstant()) return false;
    for (int64_t k = 0; k < end->constant().integer; ++k) {
      if (std::find(places_.begin(), places_.end(), Operands{Operand::Int(k)}) == places_.end())
        return false;
    }
    return true;
  }

  // Where an index ends that begins at 0 or behind it; nothing for another value.
  std::optional<Operand> EndOf(const Var* index) const {
    const auto found = around_.find(index);
    if (found == around_.end()) return std::nullopt;
    const Binding& nest = *found->second;
    const auto& params = nest.blocks[0]->params;
    const auto which = std::find(params.begin(), params.end(), index) - params.begin();
    if (IsOperator(nest)) return nest.operands[static_cast<size_t>(which)];
    const bool counts_up = nest.op == OpCode::kFor && which == 0 && nest.operands[0].IsConstant() &&
                           nest.operands[0].constant().integer >= 0 &&
                           nest.operands[2].constant().integer > 0;
    return counts_up ? std::optional<Operand>(nest.operands[1]) : std::nullopt;
  }

  // Of max(end, 0) where an index ends at `end` too: below none it goes through nothing.
  LinearForm CountOf(const Operand& end) const {
    const auto maker = end.IsVar() ? makers_.find(end.var()) : makers_.end();
    if (maker == makers_.end() || maker->second->op != OpCode::kMax) return forms_.Of(end);
    const auto& in = maker->second->operands;
    if (in[1] == Operand::Int(0)) return forms_.Of(in[0]);
    return in[0] == Operand::Int(0) ? forms_.Of(in[1]) : forms_.Of(end);
  }

  // Whether every element there is has been stored.
  bool IsWhole() const {
    return std::any_of(boxes_.begin(), boxes_.end(), [&](const Box& box) {
      for (size_t axis = 0; axis < box.size(); ++axis) {
        if (!IsWhole(box, axis)) return false;
      }
      return true;
    });
  }

  const WrappingForms& forms_;
  const ir::DefinitionMap& makers_;
  const Var* array_;
  std::vector<Box> boxes_;
  std::vector<Operands> places_;
  ir::FlatMap<const Var*, const Binding*> around_;  // by index
};

// Moves the making of an array to the front of a loop's block.
class ArrayMover : public ir::Mutator {
 public:
  ArrayMover(ir::Arena* arena, const Binding* maker, const Binding* loop, bool for_kernels)
      : Mutator(arena), maker_(maker), loop_(loop), for_kernels_(for_kernels) {}

  const Binding* moved() const { return moved_; }

 protected:
  void Visit(const Binding* b) override {
    if (b == maker_) return;
    if (b != loop_) return Mutator::Visit(b);
    Binding alloc = *maker_;
    alloc.op = OpCode::kAlloc;
    alloc.operands = maker_->result()->type.dims();
    alloc.blocks.clear();
    if (!for_kernels_) alloc.attrs = alloc.attrs.With(Attr::kPrivate, int64_t{1});
    Block body = *b->blocks[0];
    body.bindings.insert(body.bindings.begin(), arena()->New(std::move(alloc)));
    Binding loop = *b;
    loop.blocks = {arena()->New(std::move(body))};
    loop.attrs = loop.attrs.Without(Attr::kWhy);
    moved_ = arena()->New(std::move(loop));
    builder().Append(moved_);
  }

 private:
  const Binding* maker_;
  const Binding* loop_;
  bool for_kernels_;
  const Binding* moved_ = nullptr;
};

class ArrayPrivatizer {
 public:
  ArrayPrivatizer(ir::Arena* arena, Context& context) : arena_(arena), context_(context) {}

  // One array after another, of loops that become independent by it.
  const ir::Function* Run(const ir::Function* function) {
    for (const Var* array : Candidates(*function)) {
      if (const ir::Function* without = Privatize(*function, array)) {
        function = without;
        facts_.reset();
      }
    }
    return function;
  }

 private:
  using Counts = ir::FlatMap<const Var*, int>;

  // Where an array is made and used; `loop` is the innermost around all uses.
  struct Place {
    const Binding* maker = nullptr;
    const Binding* loop = nullptr;
  };

  static Counts UsesIn(const Block& block) {
    Counts uses;
    ir::ForEachUse(block, [&](const Var* used) {
      if (used->type.IsArray()) ++uses[used];
    });
    return uses;
  }

  // Arrays that a loop in order alone uses, in order of definition.
  static std::vector<const Var*> Candidates(const ir::Function& function) {
    std::vector<const Binding*> loops;
    FindLoops(*function.body, loops);
    if (loops.empty()) return {};
    const Counts all = UsesIn(*function.body);
    ir::VarSet within;
    for (const Binding* loop : loops) {
      for (const auto& [array, uses] : UsesIn(*loop->blocks[0])) {
        if (all.at(array) == uses) within.insert(array);
      }
    }
    const Roots roots(function);
    std::vector<const Var*> arrays;
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      const bool makes = b.op == OpCode::kAlloc || b.op == OpCode::kImap;
      if (makes && b.results.size() == 1 && within.contains(b.result()) &&
          !EffectsOf(b, roots).may_fail)
        arrays.push_back(b.result());
    });
    return arrays;
  }

  // The outermost of those in order.
  static void FindLoops(const Block& block, std::vector<const Binding*>& loops) {
    for (const Binding* b : block.bindings) {
      if (IsInOrder(*b)) {
        loops.push_back(b);
        continue;
      }
      for (const Block* inner : b->blocks) FindLoops(*inner, loops);
    }
  }

  static bool IsInOrder(const Binding& b) {
    return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind).empty();
  }

  const ir::Function* Privatize(const ir::Function& function, const Var* array) {
    if (context_.options.kernels && !HasKnownSizes(function, *array)) return nullptr;
    const std::optional<Place> place = Find(*function.body, array);
    if (!place) return nullptr;
    if (!facts_) facts_.emplace(function);
    if (!Stored(*facts_, array).CoversReads(*place->loop->blocks[0])) return nullptr;
    ArrayMover mover(arena_, place->maker, place->loop, context_.options.kernels);
    const ir::Function* moved = mover.Run(&function);
    if (!LoopIndependence(*moved).WhyDependent(*mover.moved()).empty()) return nullptr;
    context_.Note(place->loop->span, "each iteration has a " + NameOf(array) + " of its own",
                  Topic::kThreads);
    return moved;
  }

  // Whether the sizes are made in front of all loops.
  static bool HasKnownSizes(const ir::Function& function, const Var& array) {
    ir::VarSet inside;
    for (const Binding* b : function.body->bindings) {
      for (const Block* block : b->blocks) {
        const ir::VarSet own = ir::DefinedVars(*block);
        inside.insert(own.begin(), own.end());
      }
    }
    const auto& dims = array.type.dims();
    return std::none_of(dims.begin(), dims.end(), [&](const Operand& dim) {
      return dim.IsVar() && inside.contains(dim.var());
    });
  }

  // Nothing where the array is used elsewhere than in a `for`, or not in one alone that stands in
  // the block where it is made, or in loops and branches there.
  std::optional<Place> Find(const Block& block, const Var* array) const {
    Place place;
    for (const Binding* b : block.bindings) {
      if (b->results.size() == 1 && b->result() == array) {
        place.maker = b;
        continue;
      }
      if (place.maker == nullptr) {
        for (const Block* inner : b->blocks) {
          if (const auto found = Find(*inner, array)) return found;
        }
        continue;
      }
      if (!Uses(*b, array)) continue;
      if (place.loop != nullptr) return std::nullopt;
      place.loop = LoopAround(*b, array);
      if (place.loop == nullptr) return std::nullopt;
    }
    if (Yields(block, array) || place.loop == nullptr) return std::nullopt;
    return place;
  }

  static bool Uses(const Binding& b, const Var* array) {
    bool uses = false;
    ir::ForEachUse(b, [&](const Var* used) { uses |= used == array; });
    return uses;
  }

  // The binding, where it is a plain `for`, or the only one in its block that uses the array, and
  // so on.
  static const Binding* LoopAround(const Binding& b, const Var* array) {
    if (IsUse(b, array) || b.op == OpCode::kWhile || IsOperator(b)) return nullptr;
    const Binding* only = nullptr;
    int users = 0;
    for (const Block* block : b.blocks) {
      if (Yields(*block, array)) return nullptr;
      for (const Binding* in : block->bindings) {
        if (!Uses(*in, array)) continue;
        only = in;
        ++users;
      }
    }
    const Binding* inner = users == 1 ? LoopAround(*only, array) : nullptr;
    if (inner != nullptr) return inner;
    return IsInOrder(b) ? &b : nullptr;
  }

  ir::Arena* arena_;
  Context& context_;
  std::optional<Facts> facts_;  // of the function as it is
};

}  // namespace

ir::Program PrivatizeArrays(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ArrayPrivatizer(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
