// Splits loops at the iteration that stores what all others read.
//
// Before:
//   for %i in 0 to %n step 1 { %a = load %d[%i]  %b = load %d[%k]  ...  store %d[%i], %c }
// After:
//   for %i in 0 to %k step 1 { ... }
//   ... of %k alone ...
//   %l = add %k, 1
//   for %i in %l to %n step 1 { ... }
// where %k goes from 0 to %n too, as in a loop around; else all of it under `if` it is in range,
// and the loop as it was under `else`. Before %k and behind it, no iteration touches what another
// stores. What asks whether %i is %k is answered: an elimination that leaves its own row out.
//
// Assumes: bounds are proven, and invariants stand before loops: places that are one are one value.
// Refuses: loops that carry values, that are independent as they are, or are not so in parts; those
// that touch an array on no axis by the index and one other value alone; long bodies.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

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

constexpr int kMostRounds = 3;     // of loops, one in the other
constexpr int kLongestBody = 120;  // operations

bool IsPlainLoop(const Binding& b) {
  return b.op == OpCode::kFor && b.results.empty() && b.operands[2].IsInt(1) &&
         b.attrs.Text(Attr::kKind).empty() && !b.attrs.Has(Attr::kWhy);
}

// The one value other than the loop's index by which an axis of an array is read that the loop
// stores to by its index.
std::optional<Operand> PlaceIn(const Binding& loop) {
  const Block& body = *loop.blocks[0];
  const ir::VarSet inside = ir::DefinedVars(body);
  const Operand index(body.params[0]);
  std::vector<const Var*> stored;
  std::vector<const Binding*> accesses;
  int operations = 0;
  ir::ForEachBinding(body, [&](const Binding& b) {
    ++operations;
    if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
    accesses.push_back(&b);
    if (b.op == OpCode::kStore) stored.push_back(b.operands[0].var());
  });
  if (operations > kLongestBody) return std::nullopt;
  const auto place_on = [&](const Var* array, int axis) -> std::optional<Operand> {
    std::optional<Operand> place;
    for (const Binding* access : accesses) {
      if (access->operands[0] != Operand(array)) continue;
      const Operand& at = access->operands[1 + axis];
      if (at == index) continue;
      const bool is_outside = !at.IsVar() || !inside.contains(at.var());
      if (access->op == OpCode::kStore || !is_outside || (place && *place != at))
        return std::nullopt;
      place = at;
    }
    return place;
  };
  for (const Var* array : stored) {
    for (int axis = 0; axis < array->type.rank(); ++axis) {
      if (const std::optional<Operand> place = place_on(array, axis)) return place;
    }
  }
  return std::nullopt;
}

// Puts what is known for the results of comparisons.
class Answerer : public ir::Mutator {
 public:
  Answerer(ir::Arena* arena, const ir::Substitution& answers) : Mutator(arena), answers_(answers) {}

  const Block* Of(const Block& block) { return VisitBlock(&block); }

 protected:
  void Visit(const Binding* b) override {
    const auto answer = b->results.size() == 1 ? answers_.find(b->result()) : answers_.end();
    answer == answers_.end() ? Mutator::Visit(b) : Replace(b->result(), answer->second);
  }

 private:
  const ir::Substitution& answers_;
};

// Writes the loops of a function that are to be split.
class PlaceSplitter : public ir::Mutator {
 public:
  using Places = std::unordered_map<const Binding*, Operand>;
  // The loops before the place and behind it, by the loop that was there.
  using Parts = std::unordered_map<const Binding*, std::vector<const Binding*>>;

  PlaceSplitter(ir::Arena* arena, const Places& places) : Mutator(arena), places_(places) {}

  const Parts& parts() const { return parts_; }

 protected:
  void Visit(const Binding* b) override {
    const auto found = places_.find(b);
    if (found == places_.end()) {
      if (b->op == OpCode::kFor) around_.push_back(b);
      Mutator::Visit(b);
      if (b->op == OpCode::kFor) around_.pop_back();
      return;
    }
    builder().set_span(b->span);
    const Operand place = Apply(found->second);
    const Binding loop = *Rewrite(b);
    if (IsInRange(*b, found->second)) return WriteParts(*b, loop, place, builder());
    ir::Builder sides[2] = {builder().Nested(), builder().Nested()};
    const Operand is_inside =
        builder().Scalar(OpCode::kAnd, {builder().Scalar(OpCode::kLe, {loop.operands[0], place}),
                                        builder().Scalar(OpCode::kLt, {place, loop.operands[1]})});
    WriteParts(*b, loop, place, sides[0]);
    Binding whole = loop;
    whole.attrs = whole.attrs.With(Attr::kWhy, std::string("what one iteration stores all read"));
    whole.blocks = {ir::CloneBlock(arena(), *loop.blocks[0])};
    sides[1].Append(arena()->New(std::move(whole)));
    builder().Emit(OpCode::kIf, {}, {is_inside}, {},
                   {sides[0].Finish({}, {}), sides[1].Finish({}, {})});
  }

 private:
  // True where a loop around goes by the place, from and to where this one does.
  bool IsInRange(const Binding& loop, const Operand& place) const {
    return std::any_of(around_.begin(), around_.end(), [&](const Binding* outer) {
      return Operand(outer->blocks[0]->params[0]) == place && outer->operands == loop.operands;
    });
  }

  void WriteParts(const Binding& from, const Binding& loop, const Operand& place, ir::Builder& to) {
    to.set_span(loop.span);
    const auto body_where = [&](bool is_place) {
      const ir::Substitution answers = Answers(loop, place, is_place);
      return ir::CloneBlock(arena(), *Answerer(arena(), answers).Of(*loop.blocks[0]));
    };
    const auto write_loop = [&](const Operand& lo, const Operand& hi) {
      Binding part = loop;
      part.operands = {lo, hi, Operand::Int(1)};
      part.blocks = {body_where(false)};
      const Binding* written = arena()->New(std::move(part));
      parts_[&from].push_back(written);
      to.Append(written);
    };
    write_loop(loop.operands[0], place);
    ir::InlineBlock(to, *body_where(true), {place});
    write_loop(to.Add(place, Operand::Int(1)), loop.operands[1]);
  }

  // What the comparisons of the index with the place are.
  static ir::Substitution Answers(const Binding& loop, const Operand& place, bool is_equal) {
    ir::Substitution answers;
    const Operand index(loop.blocks[0]->params[0]);
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      if (b.op != OpCode::kEq && b.op != OpCode::kNe) return;
      const bool asks = (b.operands[0] == index && b.operands[1] == place) ||
                        (b.operands[1] == index && b.operands[0] == place);
      if (asks) answers[b.result()] = Operand::Bool((b.op == OpCode::kEq) == is_equal);
    });
    return answers;
  }

  const Places& places_;
  Parts parts_;
  std::vector<const Binding*> around_;  // the loops that are left as they are
};

// The outermost loops that may be split.
void FindPlaces(const Block& block, const LoopIndependence* independence,
                PlaceSplitter::Places& places) {
  for (const Binding* b : block.bindings) {
    if (b->attrs.Has(Attr::kWhy)) continue;
    const std::optional<Operand> place = IsPlainLoop(*b) ? PlaceIn(*b) : std::nullopt;
    if (place && (independence == nullptr || !independence->WhyDependent(*b).empty())) {
      places.emplace(b, *place);
      continue;
    }
    for (const Block* inner : b->blocks) FindPlaces(*inner, independence, places);
  }
}

class FunctionSplitter {
 public:
  FunctionSplitter(ir::Arena* arena, Context& context) : arena_(arena), context_(context) {}

  const ir::Function* Run(const ir::Function* function) {
    for (int round = 0; round < kMostRounds; ++round) {
      const ir::Function* split = Split(*function);
      if (split == function) break;
      function = split;
    }
    return function;
  }

 private:
  const ir::Function* Split(const ir::Function& function) {
    PlaceSplitter::Places places;
    FindPlaces(*function.body, nullptr, places);
    if (places.empty()) return &function;
    const LoopIndependence before(function);
    places.clear();
    FindPlaces(*function.body, &before, places);
    std::erase_if(places, [&](const auto& place) { return refused_.contains(place.first); });
    if (places.empty()) return &function;
    PlaceSplitter all(arena_, places);
    const ir::Function* split = all.Run(&function);
    const LoopIndependence after(*split);
    const size_t count = places.size();
    std::erase_if(places, [&](const auto& place) {
      const std::vector<const Binding*>& parts = all.parts().at(place.first);
      const bool helps = std::all_of(parts.begin(), parts.end(), [&](const Binding* part) {
        return after.WhyDependent(*part).empty();
      });
      if (!helps) refused_.insert(place.first);
      return !helps;
    });
    for (const auto& [loop, place] : places) {
      context_.Note(loop->span, "split at the iteration that stores what all others read",
                    Topic::kThreads, Verdict::kDone);
    }
    if (places.empty()) return &function;
    return places.size() == count ? split : PlaceSplitter(arena_, places).Run(&function);
  }

  ir::Arena* const arena_;
  Context& context_;
  std::unordered_set<const Binding*> refused_;
};

}  // namespace

ir::Program SplitAtPlaces(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return FunctionSplitter(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
