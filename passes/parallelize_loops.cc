// Turns a `for` whose iterations are provably independent into an operator: a foreach, an ireduce
// for sums and the like, and an imap where a foreach fills a fresh array.
//
// Before:
//   %y: [n]f64 = alloc (%n)
//   for %i in 0 to %n step 1 { %a = load %x[%i]  %b = exp %a  store %y[%i], %b }
// After:
//   %y: [n]f64 = imap (%i) in (%n) { %a = load %x[%i]  %b = exp %a  yield %b }
//
// Assumes: index form; bounds proven first, so that checks do not hide what a loop does.
// Refuses: (the reason is kept for the user's report) a root of which two accesses neither have the
// loop's index, moved by one same amount, on one same axis, nor lie apart for the ends of loops
// (a[i, k] and a[k, k] where i begins at k + 1; a[i, j] and a[j, i] where j begins at i); calls;
// values carried in any way that loop_reductions.h does not know; stores that would show after an
// error of an earlier iteration; checks whose places fall as the loop runs.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/loop_reductions.h"
#include "passes/lowering/loop_splits.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr int64_t kLargestMultiple = 1 << 15;
constexpr size_t kMostPairs = 4096;  // of accesses that are held against one another
constexpr int kMostLoops = 8;        // of which an index may be made

class LoopParallelizer : public ir::Mutator {
 public:
  LoopParallelizer(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), forms_(function), context_(context) {
    for (const ir::Param& param : function.params) {
      AddRoot(param.var);
      if (function.may_overlap) overlapping_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Var* result : b.results) {
        AddRoot(result);
        makers_[result] = &b;
      }
      for (const Block* block : b.blocks) {
        for (const Var* param : block->params) order_.emplace(param, order_.size());
      }
      if (b.op == OpCode::kFor) loops_[b.blocks[0]->params[0]] = &b;
      if (InfoOf(b.op).format != ir::OpFormat::kIndices) return;
      for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis) {
        const Var* index = b.blocks[0]->params[axis];
        if (index->type == ir::Type(ir::DType::kI64)) spaces_[index] = b.operands[axis];
      }
    });
  }

 protected:
  void Visit(const Binding* b) override {
    const bool repeats = !b->blocks.empty() && b->op != OpCode::kIf;
    depth_ += repeats;
    const Binding* rewritten = Rewrite(b);
    depth_ -= repeats;
    const bool may_be_parallel = b->op == OpCode::kFor && b->attrs.Text(Attr::kKind).empty();
    may_be_parallel ? Parallelize(*b, *rewritten) : builder().Append(rewritten);
  }

  const Block* VisitBlock(const Block* block) override {
    return FillsToMaps(Mutator::VisitBlock(block));
  }

 private:
  // Appends what stands for the loop. The loop as it was written is looked at, whose values roots_
  // and forms_ know; the one with its block rewritten is turned.
  void Parallelize(const Binding& original, const Binding& loop) {
    const bool carries = !loop.results.empty();
    const bool stores = !EffectsOf(*original.blocks[0], roots_).writes.empty();
    std::string reason = stores || !carries ? WhyNotIndependent(original) : "";
    if (reason.empty() && HasFallingPlaces(original)) {
      reason = "its places in program order fall as it runs";
    }
    if (reason.empty() && !carries) {
      context_.Note(loop.span, "its iterations are independent", Topic::kThreads, Verdict::kDone);
      return builder().Append(MakeForeach(loop, *loop.blocks[0]));
    }
    if (reason.empty()) reason = stores ? MakeParts(loop) : MakeReduction(loop);
    if (!reason.empty()) builder().Append(Refused(loop, reason));
  }

  const Binding* Refused(const Binding& loop, const std::string& reason) {
    context_.Note(loop.span, "not parallel: " + reason, Topic::kThreads, Verdict::kRefused);
    Binding copy = loop;
    copy.attrs = copy.attrs.With(Attr::kWhy, reason);
    return copy.attrs == loop.attrs ? &loop : arena()->New(std::move(copy));
  }

  // True where the place of a check is less in a later iteration: of two errors the one with the
  // lesser place is told, which must be the earlier one.
  bool HasFallingPlaces(const Binding& loop) const {
    const Var* index = loop.blocks[0]->params[0];
    const bool up = loop.operands[2].constant().integer > 0;
    bool falls = false;
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      if (b.op != OpCode::kCheck) return;
      for (int64_t k = 1; k <= b.attrs.Int(Attr::kAt); ++k) {
        const int64_t grows = forms_.Of(b.operands[k]).Coefficient(index);
        falls |= up ? grows < 0 : grows > 0;
      }
    });
    return falls;
  }

  // The array as the source names it, or by the line that makes it.
  std::string Named(const Var* array) const {
    const auto maker = makers_.find(array);
    const bool has_place = maker != makers_.end() && maker->second->span.IsKnown();
    if (!array->hint.empty() || !has_place) return NameOf(array);
    return "the array of line " + std::to_string(maker->second->span.line);
  }

  void AddRoot(const Var* var) {
    if (var->type.IsArray()) arrays_.push_back(var);
  }

  // --- Independence. ---

  std::string WhyNotIndependent(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const Effects effects = EffectsOf(body, roots_);
    const VarSet local = ir::DefinedVars(body);
    std::string reason;
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (b.op == OpCode::kCall) reason = "it calls @" + b.attrs.Text(Attr::kCallee);
    });
    if (!reason.empty()) return reason;
    for (const Var* root : arrays_) {
      if (!effects.writes.contains(root) || local.contains(root)) continue;
      reason = WhyShared(loop, root);
      if (!reason.empty()) return reason;
      if (effects.may_fail && !roots_.IsFresh(root)) {
        return Named(root) + " would show stores after an iteration that raises";
      }
    }
    return "";
  }

  // Why two iterations may touch one element of the root; empty when they cannot.
  std::string WhyShared(const Binding& loop, const Var* root) {
    if (overlapping_.contains(root)) return "places of the arguments overlap in memory";
    std::vector<const Binding*> accesses;
    std::string reason;
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      const Effects own = EffectsOf(b, roots_);
      if (!b.blocks.empty() || (!own.reads.contains(root) && !own.writes.contains(root))) return;
      const bool plain = b.op == OpCode::kLoad || b.op == OpCode::kStore;
      if (plain && roots_.IsFromBefore(b.operands[0].var(), root)) return;
      if (!plain || roots_.Of(b.operands[0].var()).size() != 1)
        reason = Named(root) + " is touched as a whole";
      if (plain && !accesses.empty() && b.operands[0] != accesses[0]->operands[0]) {
        reason = "two names may stand for one array";
      }
      accesses.push_back(&b);
    });
    if (!reason.empty() || accesses.empty()) return reason;
    const Var* array = accesses[0]->operands[0].var();
    if (ir::DefinedVars(*loop.blocks[0]).contains(array)) {
      return Named(root) + " is seen through another view in each iteration";
    }
    for (int axis = 0; axis < array->type.rank(); ++axis) {
      if (FollowsLoop(accesses, loop, axis)) return "";
    }
    if (AreApart(accesses, loop)) return "";
    return Named(array) + " may be touched at one place by two iterations";
  }

  // True when of each two accesses, one of them a store, an axis tells that they are of one
  // iteration or of two places.
  bool AreApart(const std::vector<const Binding*>& accesses, const Binding& loop) const {
    std::vector<Extent> extents;
    for (const Binding* access : accesses) extents.push_back(ExtentOf(*access, loop));
    size_t pairs = 0;
    for (size_t k = 0; k < accesses.size(); ++k) {
      if (accesses[k]->op != OpCode::kStore) continue;
      for (size_t other = 0; other < accesses.size(); ++other) {
        if (++pairs > kMostPairs) return false;
        bool apart = false;
        for (int axis = 0; axis < int(extents[k].size()) && !apart; ++axis) {
          apart = FollowsLoop({accesses[k], accesses[other]}, loop, axis) ||
                  IsBelow(extents[k][axis], extents[other][axis]) ||
                  IsBelow(extents[other][axis], extents[k][axis]) ||
                  AreMirrored(*accesses[k], *accesses[other], loop, axis) ||
                  AreMirrored(*accesses[other], *accesses[k], loop, axis);
        }
        if (!apart) return false;
      }
    }
    return true;
  }

  // True of a[i, j] and a[j, i] where j begins at i: the index on this axis is never above that on
  // another one in the first access, and never below it in the second. Where both are at one place,
  // the two indexes are equal in each, and then they are those of one iteration.
  bool AreMirrored(const Binding& upper, const Binding& lower, const Binding& loop,
                   int axis) const {
    const auto form = [&](const Binding& access, int of) {
      return forms_.Of(access.operands[1 + of]);
    };
    const auto is_of_one = [&](int first, int second) {
      const LinearForm of_loop = form(upper, first);
      return IsOfLoopAlone(of_loop, loop) && SameForm(of_loop, form(lower, second));
    };
    const int rank = upper.operands[0].var()->type.rank();
    for (int other = axis + 1; other < rank; ++other) {
      const auto rise = OutsideOf(Difference(form(upper, other), form(upper, axis)), loop, false);
      const auto fall = OutsideOf(Difference(form(lower, other), form(lower, axis)), loop, true);
      if (!rise || !fall || !rise->IsConstant() || !fall->IsConstant()) continue;
      if (rise->constant < 0 || fall->constant > 0) continue;
      if (rise->constant > 0 || fall->constant < 0) return true;
      if (is_of_one(axis, other) || is_of_one(other, axis)) return true;
    }
    return false;
  }

  // Between which forms of values outside the loop the index of an access lies on an axis; none
  // where that is not known. Loops run upwards from their first index and never wrap around it.
  struct Bounds {
    std::optional<LinearForm> least, most;
  };
  using Extent = std::vector<Bounds>;

  Extent ExtentOf(const Binding& access, const Binding& loop) const {
    Extent extent;
    const int rank = access.operands[0].var()->type.rank();
    for (int axis = 0; axis < rank; ++axis) {
      const LinearForm form = forms_.Of(access.operands[1 + axis]);
      extent.push_back({OutsideOf(form, loop, false), OutsideOf(form, loop, true)});
    }
    return extent;
  }

  // How often a loop from 0 runs that does: of max(n, 0) that is n.
  LinearForm CountOf(const Operand& end) const {
    const auto maker = end.IsVar() ? makers_.find(end.var()) : makers_.end();
    const bool is_count = maker != makers_.end() && maker->second->op == OpCode::kMax &&
                          maker->second->operands[1].IsInt(0);
    return forms_.Of(is_count ? maker->second->operands[0] : end);
  }

  // Whether the index is one of a loop that begins behind the other's.
  bool IsInside(const Var* index, const Var* other) const {
    const auto mine = order_.find(index), others = order_.find(other);
    return mine != order_.end() && (others == order_.end() || mine->second > others->second);
  }

  static bool IsBelow(const Bounds& a, const Bounds& b) {
    if (!a.most || !b.least) return false;
    const LinearForm gap = Difference(*b.least, *a.most);
    return gap.IsConstant() && gap.constant > 0 && gap.constant <= kLargestMultiple;
  }

  // The least or largest value of the form, of values that are defined outside the loop: indexes
  // of the loop and of those inside it by their ends, the innermost first.
  std::optional<LinearForm> OutsideOf(LinearForm form, const Binding& loop, bool largest) const {
    const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
    for (int left = kMostLoops; left > 0; --left) {
      auto term = form.terms.end();
      for (auto each = form.terms.begin(); each != form.terms.end(); ++each) {
        const bool is_inner = term == form.terms.end() || IsInside(each->first, term->first);
        if (inside.contains(each->first) && is_inner) term = each;
      }
      if (term == form.terms.end()) return form;
      if (std::abs(term->second) > kLargestMultiple) return std::nullopt;
      if (const auto space = spaces_.find(term->first); space != spaces_.end()) {
        LinearForm end;
        if (largest == (term->second > 0)) {
          end = CountOf(space->second);
          end.constant -= 1;
        }
        form = form.With(term->first, end);
        continue;
      }
      const auto ends = loops_.find(term->first);
      if (ends == loops_.end()) return std::nullopt;
      const Binding& own = *ends->second;
      const int64_t step = own.operands[2].constant().integer;
      const bool is_end = largest == (term->second > 0) ? step > 0 : step < 0;
      const bool is_count = is_end && step > 0 && own.operands[0].IsInt(0);
      LinearForm end =
          is_count ? CountOf(own.operands[1]) : forms_.Of(own.operands[is_end ? 1 : 0]);
      if (is_end) end.constant += step > 0 ? -1 : 1;
      form = form.With(term->first, end);
    }
    return std::nullopt;
  }

  // True when every access has the same multiple of the index plus one same amount on the axis, an
  // amount that no iteration changes. Multiples of so few wrap around to one place only after 2^48
  // iterations.
  bool FollowsLoop(const std::vector<const Binding*>& accesses, const Binding& loop,
                   int axis) const {
    const LinearForm first = forms_.Of(accesses[0]->operands[1 + axis]);
    if (!IsOfLoopAlone(first, loop)) return false;
    for (const Binding* access : accesses) {
      if (!SameForm(forms_.Of(access->operands[1 + axis]), first)) return false;
    }
    return true;
  }

  // True for a multiple of the loop's index plus an amount that no iteration changes.
  static bool IsOfLoopAlone(const LinearForm& form, const Binding& loop) {
    const Var* index = loop.blocks[0]->params[0];
    const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
    for (const auto& [var, coefficient] : form.terms) {
      if (var != index && inside.contains(var)) return false;
    }
    const int64_t coefficient = form.Coefficient(index);
    return coefficient != 0 && std::abs(coefficient) <= kLargestMultiple;
  }

  // --- Reductions. ---

  // Appends the loop as a reduction; why not, where it is none.
  std::string MakeReduction(const Binding& loop) {
    const LoopReduction parts = ReductionOf(arena(), loop);
    if (!parts.why_not.empty()) return parts.why_not;
    context_.Note(loop.span, "made a reduction", Topic::kThreads, Verdict::kDone);
    Append(loop, parts);
    return "";
  }

  void Append(const Binding& loop, const LoopReduction& parts) {
    Binding reduction{OpCode::kIreduce, parts.totals, {Count(loop)}, {}, {}, loop.span};
    for (const std::vector<Operand>* more : {&parts.inner_extents, &parts.inits})
      reduction.operands.insert(reduction.operands.end(), more->begin(), more->end());
    reduction.blocks = {ElementBlock(loop, parts.element), arena()->New(parts.combine)};
    builder().Append(arena()->New(std::move(reduction)));
    for (const Binding* b : parts.after) builder().Append(b);
  }

  const Binding* MakeForeach(const Binding& loop, const Block& body) {
    return arena()->New(
        Binding{OpCode::kForeach, {}, {Count(loop)}, {ElementBlock(loop, body)}, {}, loop.span});
  }

  // A loop that adds up and stores is one of each, or a scan where it stores what it has added up
  // so far.
  std::string MakeParts(const Binding& loop) {
    LoopSplit split = SplitLoop(arena(), loop, roots_);
    if (!split.why_not.empty()) return split.why_not;
    if (split.stores_read_carried && KeepsSums(loop)) return "";
    Binding sums = loop;
    sums.blocks = {arena()->New(split.sums)};
    const LoopReduction parts = ReductionOf(arena(), sums);
    if (!parts.why_not.empty()) return parts.why_not;
    if (split.stores_read_carried) return MakeScan(loop, split, parts);
    context_.Note(loop.span, "made a reduction and a loop that stores", Topic::kThreads,
                  Verdict::kDone);
    if (!split.stores_first) {
      Append(loop, parts);
      builder().Append(MakeForeach(loop, WithoutChecks(split.stores)));
      return "";
    }
    builder().Append(MakeForeach(loop, split.stores));
    LoopReduction unchecked = parts;
    unchecked.element = WithoutChecks(parts.element);
    Append(loop, unchecked);
    return "";
  }

  // Where sums of inner reductions go on from what the loop carries, beside others that it stores:
  // appends the loop so that each iteration stores its own, which are added up behind. False where
  // there are none, or it is to be split in no other way.
  bool KeepsSums(const Binding& loop) {
    if (!loop.operands[0].IsInt(0) || !loop.operands[2].IsInt(1)) return false;
    const size_t before = builder().bindings().size();
    Block body = *loop.blocks[0];
    bool found = false;
    for (size_t k = 0; k < loop.results.size(); ++k) found |= KeepSum(loop, k, body);
    Binding keeping = loop;
    keeping.blocks = {arena()->New(std::move(body))};
    if (found && MakeParts(*arena()->New(std::move(keeping))).empty()) return true;
    builder().bindings().resize(before);
    return false;
  }

  // The same of carried value `k`: an array for it is appended, and the body stores to it.
  bool KeepSum(const Binding& loop, size_t k, Block& body) {
    const Var* carried = body.params[1 + k];
    const Operand last = body.results[k];
    const auto made =
        std::find_if(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
          return std::find(b->results.begin(), b->results.end(), last.var()) != b->results.end();
        });
    if (made == body.bindings.end() || (*made)->op != OpCode::kIreduce) return false;
    Binding inner = **made;
    const size_t number =
        std::find(inner.results.begin(), inner.results.end(), last.var()) - inner.results.begin();
    const size_t extents = inner.blocks[0]->params.size();
    if (inner.results.size() == 1 || inner.operands.size() == extents) return false;
    Operand& init = inner.operands[extents + number];
    const auto op = ir::CombineOp(*inner.blocks[1], static_cast<int>(number));
    const auto identity = op ? ir::IdentityOf(*op, ir::DTypeOf(last)) : std::nullopt;
    if (!identity || init != Operand(carried) || CountReaders(body, carried) != 1 ||
        std::count(inner.operands.begin(), inner.operands.end(), init) != 1 ||
        CountReaders(body, last.var()) != 1)
      return false;
    const std::vector<Operand> size = {loop.operands[1]};
    const Var* kept =
        builder().EmitOne(OpCode::kAlloc, ir::Type::Array(ir::DTypeOf(last), size), size);
    init = Operand(*identity);
    const Var* own = builder().NewVar(last.var()->type);
    inner.results[number] = own;
    ir::Builder after = builder().Nested();
    after.Store(kept, {body.params[0]}, own);
    body.results[k] = after.Scalar(*op, {carried, own});
    *made = arena()->New(std::move(inner));
    body.bindings.insert(made + 1, after.bindings().begin(), after.bindings().end());
    return true;
  }

  // The block where the same checks have passed before.
  static Block WithoutChecks(Block block) {
    std::erase_if(block.bindings, [](const Binding* b) { return b->op == OpCode::kCheck; });
    return block;
  }

  // --- Scans. ---

  // All prefixes of what the loop carries, then its stores, which read there what was carried.
  std::string MakeScan(const Binding& loop, const LoopSplit& split, const LoopReduction& parts) {
    const Block& body = *loop.blocks[0];
    if (split.sums_read_stores) return "what it adds up is stored on the way";
    if (!parts.after.empty() || !parts.inner_extents.empty() || loop.results != parts.totals)
      return NameOf(body.params[1]) + " is stored on its way";
    const Operand count = Count(loop);
    Block stores = WithoutChecks(split.stores);
    std::vector<const Var*> prefixes;
    for (size_t k = 0; k < loop.results.size(); ++k) {
      prefixes.push_back(FilledWith(loop, k, count, stores));
      // Another traversal pays where threads share it.
      if (prefixes.back() == nullptr && depth_ > 0)
        return NameOf(body.params[1 + k]) + " is stored on its way";
    }
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const ir::Type type = ir::Type::Array(loop.results[k]->type.dtype(), {count});
      if (prefixes[k] != nullptr) LeaveOut(prefixes[k], stores);
      else prefixes[k] = builder().NewVar(type);
    }
    std::vector<Operand> operands = {count};
    operands.insert(operands.end(), parts.inits.begin(), parts.inits.end());
    context_.Note(loop.span, "made a scan", Topic::kThreads, Verdict::kDone);
    builder().Emit(OpCode::kIscan, prefixes, std::move(operands), {},
                   {ElementBlock(loop, parts.element), arena()->New(parts.combine)});
    if (!EffectsOf(stores, roots_).writes.empty()) WriteStores(loop, count, prefixes, stores);
    for (size_t k = 0; k < loop.results.size(); ++k) WriteLast(loop, k, count, prefixes[k]);
    return "";
  }

  // The fresh array that the loop fills with a value's prefixes; null for none: they are an array
  // of their own then.
  const Var* FilledWith(const Binding& loop, size_t k, const Operand& count, const Block& stores) {
    const Block& body = *loop.blocks[0];
    const Block before{{}, builder().bindings(), {}};
    for (const Binding* b : stores.bindings) {
      if (b->op != OpCode::kStore || b->operands.back() != body.results[k]) continue;
      const Var* array = b->operands[0].var();
      const bool fills = loop.operands[0].IsInt(0) && loop.operands[2].IsInt(1) &&
                         b->operands.size() == 3 && b->operands[1] == Operand(body.params[0]) &&
                         array->type.dims() == std::vector<Operand>{count};
      const auto touches = [&](const Binding* other) {
        return other != b && ir::FreeVars(*other).contains(array);
      };
      if (fills && std::none_of(body.bindings.begin(), body.bindings.end(), touches) &&
          AllocationFor(before, before.bindings.size(), array) != nullptr)
        return array;
    }
    return nullptr;
  }

  // Takes out where the array was made, in the block being written, and its store.
  void LeaveOut(const Var* array, Block& stores) {
    std::erase_if(builder().bindings(),
                  [&](const Binding* b) { return !b->results.empty() && b->result() == array; });
    std::erase_if(stores.bindings, [&](const Binding* b) {
      return b->op == OpCode::kStore && b->operands[0] == Operand(array);
    });
  }

  void WriteStores(const Binding& loop, const Operand& count,
                   const std::vector<const Var*>& prefixes, Block stores) {
    const Block& body = *loop.blocks[0];
    const Var* index = builder().NewVar(ir::DType::kI64, body.params[0]->hint);
    ir::Builder inner = builder().Nested();
    inner.set_span(loop.span);
    const Operand place = inner.Add(loop.operands[0], inner.Mul(index, loop.operands[2]));
    ir::Substitution values{{body.params[0], place}};
    for (const Operand& next : body.results) {
      std::erase_if(stores.bindings, [&](const Binding* b) {
        return ir::IsScalarOp(b->op) && Operand(b->result()) == next;
      });
    }
    const VarSet read = ir::FreeVars(stores);
    for (size_t k = 0; k < prefixes.size(); ++k) {
      const Var* carried = body.params[1 + k];
      const Var* next = body.results[k].var();
      if (read.contains(carried))
        values[carried] = Before(inner, index, prefixes[k], loop.operands[3 + k]);
      if (read.contains(next)) values[next] = inner.Load(prefixes[k], {index});
    }
    ir::InlineBlock(inner, stores, values);
    builder().Emit(OpCode::kForeach, {}, {count}, {}, {inner.Finish({index}, {})});
  }

  // What was carried into iteration `index`.
  Operand Before(ir::Builder& inner, const Operand& index, const Var* prefixes,
                 const Operand& init) {
    ir::Builder sides[2] = {inner.Nested(), inner.Nested()};
    const Operand last = sides[0].Load(prefixes, {sides[0].Sub(index, Operand::Int(1))});
    const Operand follows = inner.Scalar(OpCode::kGt, {index, Operand::Int(0)});
    const Var* before = inner.NewVar(prefixes->type.dtype(), prefixes->hint);
    inner.Emit(OpCode::kIf, {before}, {follows}, {},
               {sides[0].Finish({}, {last}), sides[1].Finish({}, {init})});
    return before;
  }

  void WriteLast(const Binding& loop, size_t k, const Operand& count, const Var* prefixes) {
    ir::Builder sides[2] = {builder().Nested(), builder().Nested()};
    const Operand last = sides[0].Load(prefixes, {sides[0].Sub(count, Operand::Int(1))});
    const Operand some = builder().Scalar(OpCode::kGt, {count, Operand::Int(0)});
    builder().Emit(OpCode::kIf, {loop.results[k]}, {some}, {},
                   {sides[0].Finish({}, {last}), sides[1].Finish({}, {loop.operands[3 + k]})});
  }

  // The end of a loop from 0 by 1 is a count already (loop_counts.h).
  Operand Count(const Binding& loop) {
    const bool is_count = loop.operands[0].IsInt(0) && loop.operands[2].IsInt(1);
    return is_count ? loop.operands[1] : TripCount(builder(), loop);
  }

  const Block* ElementBlock(const Binding& loop, const Block& body) {
    return CountedBlock(builder(), loop, body);
  }

  // --- Fills. ---

  // A foreach that stores every element of fresh arrays once, and does nothing else, is an imap.
  const Block* FillsToMaps(const Block* block) {
    Block copy = *block;
    bool changed = false;
    for (size_t at = 0; at < copy.bindings.size(); ++at) {
      const std::vector<const Var*> filled = FilledBy(copy, at);
      if (filled.empty()) continue;
      std::vector<const Binding*> makers;
      for (const Var* array : filled) makers.push_back(AllocationFor(copy, at, array));
      const Binding* map = MapOf(*copy.bindings[at], filled, makers, makers[0]->attrs);
      copy.bindings[at] = map;
      at -= std::erase_if(copy.bindings, [&](const Binding* b) {
        return b != map && b->results.size() == 1 &&
               std::count(filled.begin(), filled.end(), b->result()) > 0;
      });
      changed = true;
    }
    return changed ? arena()->New(std::move(copy)) : block;
  }

  // The arrays that the last stores of a foreach fill; none when it does anything else beside.
  std::vector<const Var*> FilledBy(const Block& block, size_t at) const {
    const Binding& b = *block.bindings[at];
    if (b.op != OpCode::kForeach) return {};
    Block rest = *b.blocks[0];
    std::vector<const Var*> filled;
    while (!rest.bindings.empty() && rest.bindings.back()->op == OpCode::kStore) {
      const Binding& store = *rest.bindings.back();
      if (!StoresEachOnce(b, store)) return {};
      filled.insert(filled.begin(), store.operands[0].var());
      rest.bindings.pop_back();
      rest.results.push_back(store.operands.back());
    }
    for (const Binding* beside : rest.bindings) {
      if (!EffectsOf(*beside, roots_).IsPure()) return {};
    }
    const VarSet read = ir::FreeVars(rest);
    for (size_t k = 0; k < filled.size(); ++k) {
      const bool again = std::count(filled.begin(), filled.end(), filled[k]) > 1;
      const Binding* alloc = AllocationFor(block, at, filled[k]);
      if (again || alloc == nullptr) return {};
      if (read.contains(filled[k]) &&
          !(alloc->op == OpCode::kImap && ReadsOwn(rest, filled[k]) && MayWait(block, *alloc, at)))
        return {};
      if (alloc->attrs != AllocationFor(block, at, filled[0])->attrs) return {};
    }
    return filled;
  }

  // True where the imap would make the same at binding `at`.
  bool MayWait(const Block& block, const Binding& imap, size_t at) const {
    const VarSet reads = EffectsOf(imap, roots_).reads;
    while (block.bindings[--at] != &imap) {
      if (Intersects(EffectsOf(*block.bindings[at], roots_).writes, reads)) return false;
    }
    return true;
  }

  // True where the block loads the array at its own index, and does nothing else with it: that is
  // what the array was made of.
  static bool ReadsOwn(const Block& block, const Var* array) {
    bool is_own = std::count(block.results.begin(), block.results.end(), Operand(array)) == 0;
    for (const Binding* b : block.bindings) {
      if (!ir::FreeVars(*b).contains(array)) continue;
      is_own &= b->op == OpCode::kLoad && b->operands[0] == Operand(array) &&
                std::equal(b->operands.begin() + 1, b->operands.end(), block.params.begin(),
                           block.params.end());
    }
    return is_own;
  }

  // True for a store at the foreach's index of an array of its extents.
  static bool StoresEachOnce(const Binding& foreach, const Binding& store) {
    const std::vector<const Var*>& params = foreach.blocks[0]->params;
    const std::vector<Operand> index(store.operands.begin() + 1, store.operands.end() - 1);
    return index == std::vector<Operand>(params.begin(), params.end()) &&
           foreach.operands == store.operands[0].var()->type.dims();
  }

  // Where the array is made in the block, of values that nobody has read; null when it is not, or
  // touched before binding `at`.
  const Binding* AllocationFor(const Block& block, size_t at, const Var* array) const {
    while (at-- > 0) {
      const Binding& earlier = *block.bindings[at];
      const bool makes = earlier.op == OpCode::kAlloc ||
                         (earlier.op == OpCode::kImap && earlier.results.size() == 1 &&
                          EffectsOf(earlier, roots_).IsPure());
      if (makes && earlier.result() == array) return &earlier;
      if (ir::FreeVars(earlier).contains(array)) return nullptr;
    }
    return nullptr;
  }

  // The foreach as an imap of what it stores last; `makers` make what is there before.
  const Binding* MapOf(const Binding& foreach, const std::vector<const Var*>& filled,
                       const std::vector<const Binding*>& makers, const ir::Attributes& order) {
    Block body = *foreach.blocks[0];
    for (size_t k = 0; k < filled.size(); ++k) {
      body.results.insert(body.results.begin(), body.bindings.back()->operands.back());
      body.bindings.pop_back();
    }
    const VarSet read = ir::FreeVars(body);
    const bool reads = std::any_of(filled.begin(), filled.end(),
                                   [&](const Var* array) { return read.contains(array); });
    const Block* element =
        reads ? WithElements(body, filled, makers) : arena()->New(std::move(body));
    return arena()->New(
        Binding{OpCode::kImap, filled, foreach.operands, {element}, order, foreach.span});
  }

  // The block with what the arrays were made of in the place of its loads of them.
  const Block* WithElements(const Block& body, const std::vector<const Var*>& filled,
                            const std::vector<const Binding*>& makers) {
    ir::Builder builder(arena());
    const std::vector<Operand> index(body.params.begin(), body.params.end());
    ir::Substitution values;
    Block rest = body;
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kLoad) continue;
      const auto array = std::find(filled.begin(), filled.end(), b->operands[0].var());
      if (array == filled.end()) continue;
      const Block& made = *makers[array - filled.begin()]->blocks[0];
      builder.set_span(b->span);
      values[b->result()] = ir::InlineBlock(builder, made, index)[0];
      std::erase(rest.bindings, b);
    }
    const std::vector<Operand> results = ir::InlineBlock(builder, rest, std::move(values));
    const Block* written = builder.Finish(body.params, results);
    ir::ForEachBinding(*written, [&](const Binding& b) {
      forms_.Learn(b);
      for (const Var* result : b.results) makers_[result] = &b;
    });
    return written;
  }

  Roots roots_;
  std::vector<const Var*>
      arrays_;  // In order of definition, so that reasons do not depend on hashes.
  std::unordered_map<const Var*, const Binding*> makers_;
  std::unordered_map<const Var*, const Binding*> loops_;  // by index
  std::unordered_map<const Var*, size_t> order_;          // of all indexes
  std::unordered_map<const Var*, Operand> spaces_;        // extents of operators, by index
  WrappingForms forms_;
  int depth_ = 0;       // Loops and operators around.
  VarSet overlapping_;  // Parameters of which two places may be one.
  Context& context_;
};

}  // namespace

ir::Program ParallelizeLoops(const ir::Program& program, Context& context) {
  ir::Arena* arena = program.arena.get();
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* counted = CountLoops(arena, function);
    return LoopParallelizer(arena, *counted, context).Run(counted);
  });
}

}  // namespace parakeet::passes
