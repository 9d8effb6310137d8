// Puts what is done with the elements that a filter keeps into the traversal that finds them.
//
// Before:
//   %k: i64, %y: [k]f64, %p: [k]i64 = ifilter (%i) in (%n) { ...  yield %keep, %a, %i }
//   %s: f64 = ireduce (%j) in (%k) add from 0.0 { %b = load %y[%j]  yield %b }
//   for %j in 0 to %k step 1 { %b = load %y[%j]  %q = load %p[%j]  store %x[%q], %b }
//   %z: [k]f64 = imap (%j) in (%k) { %b = load %y[%j]  %c = mul %b, 2.0  yield %c }
// After:
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 { ...  %b = if %keep { yield %a } else {
//   yield -0.0 }  yield %b }
//   foreach (%i) in (%n) { ...  if %keep { store %x[%i], %a } }
//   %k: i64, ... %z: [k]f64 = ifilter (%i) in (%n) { ...  %c = mul %a, 2.0  yield %keep, ... %c }
//
// A filter of whose elements none is read any more counts.
//
// Updates of kept elements in between, each from its old value, are made on the way.
//
// Assumes: index form, and that filters which keep the same share one count
// (eliminate_common_subexpressions.cc).
// Refuses: maps that are dear, which would be made of what is not kept too, or that need what is
// made behind the filter; what reads other arrays by the place among the kept; filters that do not
// keep the same; combines without an identity; anything that may raise; elements that are dear and
// read elsewhere too; what a filter reads that is written before, or by the loop itself but where
// it reads it.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/binding_key.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/fusing/take_index_apart.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Elements that cost no more may be computed again by each that reads them.
constexpr int kCheapToKeep = 8;
// What a filter makes of each element, be it kept or not, may cost so much, one operation of it so
// much: it takes no lanes, as a map of what is kept does.
constexpr int kMostCost = 8;
constexpr int kMostOfOne = 4;
constexpr size_t kMostValues = 8;  // values of one filter

// The block without the bindings that are left out.
const Block* Without(ir::Arena* arena, const Block& block,
                     const std::unordered_set<const Binding*>& left_out) {
  Block rest{block.params, {}, block.results};
  for (const Binding* b : block.bindings) {
    if (left_out.contains(b)) continue;
    Binding copy = *b;
    for (const Block*& inner : copy.blocks) inner = Without(arena, *inner, left_out);
    rest.bindings.push_back(copy.blocks == b->blocks ? b : arena->New(std::move(copy)));
  }
  return rest.bindings == block.bindings ? &block : arena->New(std::move(rest));
}

class FilterFuser : public ir::Mutator {
 public:
  FilterFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        definitions_(ir::Definitions(*function.body)),
        may_overlap_(function.may_overlap),
        context_(context) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Operand& operand : b.operands) {
        if (operand.IsVar()) ++reads_[operand.var()];
      }
      for (const Block* block : b.blocks) CountResults(*block);
    });
    CountResults(*function.body);
  }

 protected:
  const Block* VisitBlock(const Block* block) override {
    const auto is_filter = [](const Binding* b) { return b->op == OpCode::kIfilter; };
    if (std::none_of(block->bindings.begin(), block->bindings.end(), is_filter))
      return Mutator::VisitBlock(block);
    while (const Block* fused = WithFusedMap(*block)) block = fused;
    const Seen seen = See(*block);
    Block fused = *block;
    for (size_t at = 0; at < fused.bindings.size(); ++at) {
      if (const Binding* instead = Fused(seen, at)) fused.bindings[at] = instead;
    }
    if (fused.bindings == block->bindings) return Mutator::VisitBlock(block);
    return Mutator::VisitBlock(arena()->New(std::move(fused)));
  }

 private:
  // A block, and what each of its bindings does.
  struct Seen {
    const Block& block;
    std::vector<Effects> effects;
  };

  // What a consumer reads of filters: its loads, each with the filter, which of its results, and
  // what changes the elements in between.
  struct Kept {
    const Binding* load;
    const Binding* filter;
    size_t result;
    std::vector<const Block*> updates;  // from the element, their parameter, to the new one
  };

  Seen See(const Block& block) const {
    Seen seen{block, {}};
    for (const Binding* b : block.bindings) seen.effects.push_back(EffectsOf(*b, roots_));
    return seen;
  }

  // The block with the first map whose elements a filter can make, among what it keeps; null where
  // there is none.
  const Block* WithFusedMap(const Block& block) {
    const Seen seen = See(block);
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      const Binding& map = *block.bindings[at];
      if (map.op != OpCode::kImap || map.blocks[0]->params.size() != 1) continue;
      if (!ir::TypeOf(map.blocks[0]->results[0]).IsScalar()) continue;
      const auto filter = MakerOf(seen, at, map.operands[0]);
      if (!filter) continue;
      std::vector<Kept> kept;
      std::string reason = WhyNotReadable(seen, at, *filter, kept);
      const Binding* wider = nullptr;
      if (reason.empty()) reason = WhyNotEarlier(seen, at, *filter, kept);
      if (reason.empty()) wider = WithElements(map, *block.bindings[*filter], kept, reason);
      if (wider == nullptr) {
        if (refused_.insert(&map).second) Refuse(map, reason);
        continue;
      }
      context_.Note(map.span, "fused with what it keeps", Topic::kFusion, Verdict::kDone,
                    wider->span);
      for (const Kept& read : kept) --reads_[read.filter->results[read.result]];
      Block fused = block;
      fused.bindings[*filter] = wider;
      fused.bindings.erase(fused.bindings.begin() + at);
      return arena()->New(std::move(fused));
    }
    return nullptr;
  }

  // Why what the map makes cannot be made where the filter stands.
  std::string WhyNotEarlier(const Seen& seen, size_t at, size_t filter,
                            const std::vector<Kept>& kept) const {
    VarSet later;
    VarSet written;
    for (size_t between = filter; between < at; ++between) {
      const Binding& b = *seen.block.bindings[between];
      later.insert(b.results.begin(), b.results.end());
      written.insert(seen.effects[between].writes.begin(), seen.effects[between].writes.end());
    }
    const auto needs = [&](VarSet free) {
      return std::any_of(free.begin(), free.end(), [&](auto* var) { return later.contains(var); });
    };
    const Block& body = *seen.block.bindings[at]->blocks[0];
    const VarSet own = ir::FreeVars(*Without(arena(), body, LoadsOf(kept)));
    for (const Kept& read : kept) {
      if (!read.updates.empty()) return "what is kept is changed before";
      if (needs(ir::FreeVars(*read.filter->blocks[0]))) return "it needs what is made behind";
      if (Intersects(EffectsOf(*read.filter->blocks[0], roots_).reads, written))
        return "what it reads is written before";
    }
    if (needs(own)) return "it needs what is made behind";
    return Intersects(seen.effects[at].reads, written) ? "what it reads is written before" : "";
  }

  // The filter that makes the map's elements beside its own; null, with the reason, where that
  // would take more than the map does.
  const Binding* WithElements(const Binding& map, const Binding& filter,
                              const std::vector<Kept>& kept, std::string& reason) const {
    ir::Builder inner(arena());
    inner.set_span(filter.span);
    const Var* index = inner.NewVar(ir::DType::kI64, filter.blocks[0]->params[0]->hint);
    std::vector<Operand> values =
        ir::InlineBlock(inner, *filter.blocks[0], std::vector<Operand>{index});
    for (const Operand& element : WriteBody(inner, *map.blocks[0], kept, index, {}))
      values.push_back(element);
    Binding wider = filter;
    wider.results.insert(wider.results.end(), map.results.begin(), map.results.end());
    wider.blocks[0] = inner.Finish({index}, std::move(values));
    if (wider.results.size() > kMostValues + 1) reason = "the filter keeps many values already";
    if (IsDear(*map.blocks[0])) reason = "it is dear, and would be made of what is not kept too";
    return reason.empty() ? arena()->New(std::move(wider)) : nullptr;
  }

  static bool IsDear(const Block& body) {
    bool is_dear = CostOf(body) > kMostCost;
    ir::ForEachBinding(body, [&](const Binding& b) { is_dear |= InfoOf(b.op).cost > kMostOfOne; });
    return is_dear;
  }

  void CountResults(const Block& block) {
    for (const Operand& result : block.results) {
      if (result.IsVar()) ++reads_[result.var()];
    }
  }

  // What stands for binding `at` when it takes elements as they are kept; null when it does not.
  const Binding* Fused(const Seen& seen, size_t at) {
    const Binding& consumer = *seen.block.bindings[at];
    const std::optional<size_t> filter = FilterOf(seen, at);
    if (!filter) return nullptr;
    std::vector<Kept> kept;
    std::string reason = WhyNotReadable(seen, at, *filter, kept);
    if (!reason.empty()) {
      Refuse(consumer, reason);
      return nullptr;
    }
    const Binding& counted = *seen.block.bindings[*filter];
    const Binding* fused = consumer.op == OpCode::kFor
                               ? FusedLoop(consumer, counted, kept, seen.effects[at].writes)
                               : FusedReduction(consumer, counted, kept);
    if (fused == nullptr) {
      Refuse(consumer, "it writes what the filter reads");
      return nullptr;
    }
    context_.Note(consumer.span, "fused with what it keeps", Topic::kFusion, Verdict::kDone,
                  counted.span);
    for (const Kept& read : kept) --reads_[read.filter->results[read.result]];
    return fused;
  }

  void Refuse(const Binding& consumer, const std::string& reason) {
    context_.Note(consumer.span, "not fused with what it keeps: " + reason, Topic::kFusion,
                  Verdict::kRefused);
  }

  // Where the filter stands whose count binding `at` runs to.
  std::optional<size_t> FilterOf(const Seen& seen, size_t at) const {
    const Binding& b = *seen.block.bindings[at];
    const bool is_loop = b.op == OpCode::kFor && b.results.empty() && b.operands[0].IsInt(0) &&
                         b.operands[2].IsInt(1) && b.attrs.Text(ir::Attr::kKind).empty();
    if (!is_loop && b.op != OpCode::kIreduce) return std::nullopt;
    return MakerOf(seen, at, b.operands[is_loop ? 1 : 0]);
  }

  // Where the filter before `at` stands that makes the value.
  static std::optional<size_t> MakerOf(const Seen& seen, size_t at, const Operand& value) {
    for (size_t k = 0; k < at && value.IsVar(); ++k) {
      const Binding& b = *seen.block.bindings[k];
      if (b.op == OpCode::kIfilter && std::count(b.results.begin(), b.results.end(), value.var()))
        return k;
    }
    return std::nullopt;
  }

  std::string WhyNotReadable(const Seen& seen, size_t at, size_t counted,
                             std::vector<Kept>& kept) const {
    const Binding& consumer = *seen.block.bindings[at];
    if (seen.effects[at].may_fail) return "it may raise";
    if (consumer.op == OpCode::kIreduce && !HasIdentities(consumer))
      return "its combine has no identity";
    const Effects counting = EffectsOf(*CountOnly(arena(), *seen.block.bindings[counted]), roots_);
    std::string reason = WhyElements(seen, at, counted, counting);
    const Var* place = consumer.blocks[0]->params[0];
    ir::ForEachBinding(*consumer.blocks[0], [&](const Binding& b) {
      const auto reads = std::count(b.operands.begin(), b.operands.end(), Operand(place));
      if (reads == 0 || !reason.empty()) return;
      const auto maker = b.op == OpCode::kLoad ? MakerOf(seen, at, b.operands[0]) : std::nullopt;
      if (reads != 1 || !maker || b.operands[1] != Operand(place)) {
        reason = "it reads by the place among the kept";
        return;
      }
      const Binding& filter = *seen.block.bindings[*maker];
      const auto result =
          std::find(filter.results.begin(), filter.results.end(), b.operands[0].var());
      kept.push_back({&b, &filter, static_cast<size_t>(result - filter.results.begin()), {}});
      reason = WhyElements(seen, at, *maker, seen.effects[*maker]);
      if (reason.empty()) reason = WhyChanged(seen, at, *maker, kept.back());
      if (reason.empty() && !SameKept(*seen.block.bindings[counted], filter))
        reason = "the filters do not keep the same";
    });
    if (!reason.empty()) return reason;
    size_t uses = 0;
    ir::ForEachUse(*consumer.blocks[0], [&](const Var* used) { uses += used == place; });
    if (uses != kept.size()) return "it makes something of the place among the kept";
    if (kept.empty()) return "it reads nothing that is kept";
    return WhyDear(kept);
  }

  // Why what the filter at `made` computes, which has those effects, cannot be had at `at`.
  static std::string WhyElements(const Seen& seen, size_t at, size_t made, const Effects& effects) {
    if (effects.may_fail) return "what decides may raise";
    for (size_t between = made + 1; between < at; ++between) {
      if (Intersects(seen.effects[between].writes, effects.reads))
        return "what the filter reads is written before";
    }
    return "";
  }

  // Finds what changes the kept elements before they are read; why it cannot be followed.
  std::string WhyChanged(const Seen& seen, size_t at, size_t made, Kept& kept) const {
    const VarSet& roots = roots_.Of(kept.load->operands[0].var());
    for (size_t between = made + 1; between < at; ++between) {
      if (!Intersects(seen.effects[between].writes, roots)) continue;
      const Block* update = UpdateBy(*seen.block.bindings[between], *kept.load->operands[0].var());
      if (update == nullptr) return "what is kept is changed before";
      const std::string reason = WhyElements(seen, at, between, seen.effects[between]);
      if (!reason.empty()) return reason;
      kept.updates.push_back(update);
    }
    return "";
  }

  // What a foreach makes of each element of the array, from it alone and what is the same for all;
  // null where it does anything else.
  const Block* UpdateBy(const Binding& foreach, const Var& array) const {
    if (foreach.op != OpCode::kForeach || foreach.operands != array.type.dims()) return nullptr;
    const Block& body = *foreach.blocks[0];
    if (body.bindings.empty() || body.bindings.back()->op != OpCode::kStore) return nullptr;
    const Operand place = body.params[0];
    const std::vector<Operand> element = {Operand(&array), place};
    const Binding& store = *body.bindings.back();
    if (!std::equal(element.begin(), element.end(), store.operands.begin())) return nullptr;
    ir::Builder inner(arena());
    const Var* before = inner.NewVar(array.type.dtype(), "kept");
    ir::Substitution values;
    Block rest{{}, {}, {store.operands.back()}};
    for (const Binding* b : body.bindings) {
      if (b == &store) continue;
      if (b->op == OpCode::kLoad && b->operands == element) {
        values[b->result()] = before;
      } else {
        rest.bindings.push_back(b);
      }
    }
    const VarSet free = ir::FreeVars(rest);
    if (free.contains(place.var()) || free.contains(&array)) return nullptr;
    for (const Binding* b : rest.bindings) {
      if (!EffectsOf(*b, roots_).IsPure()) return nullptr;
    }
    const std::vector<Operand> after = ir::InlineBlock(inner, rest, std::move(values));
    return inner.Finish({before}, after);
  }

  bool SameKept(const Binding& a, const Binding& b) const {
    return KeyOf(*CountOnly(arena(), a)) == KeyOf(*CountOnly(arena(), b));
  }

  std::string WhyDear(const std::vector<Kept>& kept) const {
    for (const Kept& read : kept) {
      const Var* array = read.filter->results[read.result];
      const auto own = std::count_if(kept.begin(), kept.end(), [&](const Kept& other) {
        return other.load->operands[0] == Operand(array);
      });
      const int cost =
          CostOf(*read.filter->blocks[0], [](const Binding& b) { return InfoOf(b.op).cost; });
      if (reads_.at(array) > own && cost > kCheapToKeep)
        return "what it reads is dear and read again";
    }
    return "";
  }

  static bool HasIdentities(const Binding& reduction) {
    for (size_t k = 0; k < reduction.results.size(); ++k) {
      if (!IdentityOf(reduction, k)) return false;
    }
    return true;
  }

  static std::optional<ir::Constant> IdentityOf(const Binding& reduction, size_t k) {
    const auto op = ir::CombineOp(*reduction.blocks[1], static_cast<int>(k));
    const ir::Type& type = reduction.results[k]->type;
    return op && type.IsScalar() ? ir::IdentityOf(*op, type.dtype()) : std::nullopt;
  }

  // What the filter yields as `result`, at `index`.
  static Operand ElementAt(ir::Builder& builder, const Binding& filter, size_t result,
                           const Var* index) {
    return ir::InlineBlock(builder, *filter.blocks[0], {index})[result];
  }

  static std::unordered_set<const Binding*> LoadsOf(const std::vector<Kept>& kept) {
    std::unordered_set<const Binding*> loads;
    for (const Kept& read : kept) loads.insert(read.load);
    return loads;
  }

  // The consumer's block, behind the elements that it reads; what it yields.
  std::vector<Operand> WriteBody(ir::Builder& builder, const Block& body,
                                 const std::vector<Kept>& kept, const Var* index,
                                 ir::Substitution values) const {
    for (const Kept& read : kept) {
      Operand element = ElementAt(builder, *read.filter, read.result, index);
      for (const Block* update : read.updates)
        element = ir::InlineBlock(builder, *update, {element})[0];
      values[read.load->result()] = element;
    }
    return ir::InlineBlock(builder, *Without(arena(), body, LoadsOf(kept)), std::move(values));
  }

  const Binding* FusedReduction(const Binding& reduction, const Binding& filter,
                                const std::vector<Kept>& kept) const {
    ir::Builder inner(arena());
    inner.set_span(reduction.span);
    const Var* index = inner.NewVar(ir::DType::kI64, filter.blocks[0]->params[0]->hint);
    const Operand keeps = ElementAt(inner, *CountOnly(arena(), filter), 0, index);
    std::vector<const Var*> params = reduction.blocks[0]->params;
    params[0] = index;
    ir::Substitution values;
    for (size_t k = 1; k < params.size(); ++k) {
      const Var* own = inner.NewVar(ir::DType::kI64, params[k]->hint);
      values[std::exchange(params[k], own)] = own;
    }
    ir::Builder then = inner.Nested();
    const std::vector<Operand> elements =
        WriteBody(then, *reduction.blocks[0], kept, index, std::move(values));
    std::vector<Operand> identities;
    std::vector<const Var*> chosen;
    for (size_t k = 0; k < reduction.results.size(); ++k) {
      identities.emplace_back(*IdentityOf(reduction, k));
      chosen.push_back(inner.NewVar(reduction.results[k]->type));
    }
    inner.Emit(OpCode::kIf, chosen, {keeps}, {},
               {then.Finish({}, elements), inner.Nested().Finish({}, identities)});
    Binding fused = reduction;
    fused.operands[0] = filter.operands[0];
    fused.blocks[0] = inner.Finish(params, {chosen.begin(), chosen.end()});
    return OverAxes(fused);
  }

  // The reduction over the axes of what the filter saw as a line.
  const Binding* OverAxes(Binding reduction) const {
    const auto count = static_cast<std::ptrdiff_t>(reduction.blocks[0]->params.size());
    const auto extents_end = reduction.operands.begin() + count;
    const IndexedBlock space = TakeIndexApart(
        arena(), {{reduction.operands.begin(), extents_end}, reduction.blocks[0]}, definitions_);
    reduction.operands.erase(reduction.operands.begin(), extents_end);
    reduction.operands.insert(reduction.operands.begin(), space.extents.begin(),
                              space.extents.end());
    reduction.blocks[0] = space.block;
    return arena()->New(std::move(reduction));
  }

  // A foreach, or a loop where its iterations are not seen to be independent; null where a store
  // may come before a read that it should follow.
  const Binding* FusedLoop(const Binding& loop, const Binding& filter,
                           const std::vector<Kept>& kept, const VarSet& writes) const {
    ir::Builder inner(arena());
    inner.set_span(loop.span);
    const Var* index = inner.NewVar(ir::DType::kI64, filter.blocks[0]->params[0]->hint);
    const Operand keeps = ElementAt(inner, *CountOnly(arena(), filter), 0, index);
    ir::Builder then = inner.Nested();
    WriteBody(then, *loop.blocks[0], kept, index, {});
    inner.Emit(OpCode::kIf, {}, {keeps}, {}, {then.Finish({}, {}), inner.Nested().Finish({}, {})});
    const Operand extent = filter.operands[0];
    const Block* body = inner.Finish({index}, {});
    const IndexedBlock space = TakeIndexApart(arena(), {{extent}, body}, definitions_);
    if (TouchesOwnPlaces(*space.block, writes)) {
      return arena()->New(
          Binding{OpCode::kForeach, {}, space.extents, {space.block}, {}, loop.span});
    }
    for (const Kept& read : kept) {
      if (Intersects(EffectsOf(*read.filter, roots_).reads, writes)) return nullptr;
      for (const Block* update : read.updates) {
        if (Intersects(EffectsOf(*update, roots_).reads, writes)) return nullptr;
      }
    }
    if (Intersects(EffectsOf(*CountOnly(arena(), filter), roots_).reads, writes)) return nullptr;
    Binding whole = loop;
    whole.operands[1] = extent;
    whole.blocks = {body};
    return arena()->New(std::move(whole));
  }

  // True when an iteration reads and writes of what the block writes only one element of its own:
  // its place has every index of the space as one of its coordinates.
  bool TouchesOwnPlaces(const Block& block, const VarSet& writes) const {
    if (may_overlap_) return false;
    bool own = true;
    std::unordered_map<const Var*, std::vector<Operand>> places;  // by array
    ir::ForEachBinding(block, [&](const Binding& b) {
      if (b.op == OpCode::kLibraryCall || b.op == OpCode::kCall || b.op == OpCode::kCopy)
        own = false;
      if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
      const Var* array = b.operands[0].var();
      if (!Intersects(roots_.Of(array), writes)) return;
      std::vector<Operand> place(b.operands.begin() + 1,
                                 b.operands.begin() + 1 + array->type.rank());
      for (const Var* index : block.params) {
        own &= std::count(place.begin(), place.end(), Operand(index)) > 0;
      }
      own &= places.emplace(array, place).first->second == place;
    });
    for (const auto& [array, place] : places) {
      for (const auto& [other, unused] : places)
        own &= array == other || !roots_.MayShare(array, other);
    }
    return own;
  }

  Roots roots_;
  ir::DefinitionMap definitions_;
  bool may_overlap_;
  std::unordered_set<const Binding*> refused_;     // maps
  std::unordered_map<const Var*, int64_t> reads_;  // by value: how often it is an operand or result
  Context& context_;
};

// Filters that only count become sums.
class CountReducer : public ir::Mutator {
 public:
  CountReducer(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), definitions_(ir::Definitions(*function.body)) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Operand& operand : b.operands) Read(operand);
      for (const Block* block : b.blocks) {
        for (const Operand& result : block->results) Read(result);
      }
    });
    for (const Operand& result : function.body->results) Read(result);
  }

 protected:
  void Visit(const Binding* b) override {
    const bool is_read = std::any_of(b->results.begin(), b->results.end(), [&](const Var* result) {
      return result->type.IsArray() && read_.contains(result);
    });
    if (b->op != OpCode::kIfilter || is_read) return Mutator::Visit(b);
    const Binding& filter = *Rewrite(b);
    const Block& body = *CountOnly(arena(), filter)->blocks[0];
    ir::Builder inner = builder().Nested();
    for (const Binding* binding : body.bindings) inner.Append(binding);
    const Operand kept = inner.Cast(body.results[0], ir::DType::kI64);
    const Block* element = inner.Finish(body.params, {kept});
    const IndexedBlock space = TakeIndexApart(arena(), {filter.operands, element}, definitions_);
    std::vector<Operand> operands = space.extents;
    operands.push_back(Operand::Int(0));
    builder().Emit(OpCode::kIreduce, {filter.results[0]}, std::move(operands), {},
                   {space.block, ir::CombineBlock(arena(), OpCode::kAdd, ir::DType::kI64)});
  }

 private:
  void Read(const Operand& operand) {
    if (operand.IsVar()) read_.insert(operand.var());
  }

  ir::DefinitionMap definitions_;
  VarSet read_;
};

}  // namespace

ir::Program FuseFilters(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* fused = FilterFuser(program.arena.get(), *function, context).Run(function);
    return CountReducer(program.arena.get(), *fused).Run(fused);
  });
}

}  // namespace parakeet::passes
