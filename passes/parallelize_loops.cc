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
#include <string>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/loop_independence.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/loop_reductions.h"
#include "passes/lowering/loop_scans.h"
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

class LoopParallelizer : public ir::Mutator {
 public:
  LoopParallelizer(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), independence_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool repeats = !b->blocks.empty() && b->op != OpCode::kIf;
    depth_ += repeats;
    const Binding* rewritten = Rewrite(b);
    depth_ -= repeats;
    if (b->op == OpCode::kWhile) {
      context_.Note(b->span, "not parallel: each iteration decides whether another one follows",
                    Topic::kThreads, Verdict::kRefused);
    }
    const bool may_be_parallel = b->op == OpCode::kFor && b->attrs.Text(Attr::kKind).empty();
    may_be_parallel ? Parallelize(*b, *rewritten) : builder().Append(rewritten);
  }

  const Block* VisitBlock(const Block* block) override {
    return FillsToMaps(Mutator::VisitBlock(block));
  }

 private:
  const Roots& roots() const { return independence_.roots(); }

  // Appends what stands for the loop. The loop as it was written is looked at, whose values are
  // known; the one with its block rewritten is turned.
  void Parallelize(const Binding& original, const Binding& loop) {
    const bool carries = !loop.results.empty();
    const bool stores = !EffectsOf(*original.blocks[0], roots()).writes.empty();
    std::string reason = stores || !carries ? WhyNotIndependent(original) : "";
    if (reason.empty() && independence_.HasFallingPlaces(original)) {
      reason = "its places in program order fall as it runs";
    }
    if (reason.empty() && !carries) {
      context_.Note(loop.span, "its iterations are independent", Topic::kThreads, Verdict::kDone);
      return builder().Append(MakeForeach(loop, *loop.blocks[0]));
    }
    if (reason.empty()) reason = stores ? MakeParts(loop) : MakeReduction(loop);
    if (!reason.empty()) builder().Append(Refused(loop, InUsersWords(loop, reason)));
  }

  // What forward_stores has made the loop carry bears no name of the source: it is what is stored.
  std::string InUsersWords(const Binding& loop, const std::string& reason) const {
    const Block& body = *loop.blocks[0];
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const Var* carried = body.params[1 + k];
      if (carried->hint != "before" || !reason.starts_with(NameOf(carried) + " is ")) continue;
      for (const Binding* b : body.bindings) {
        if (b->op != OpCode::kStore || b->operands.back() != body.results.at(FirstBefore(body)))
          continue;
        return "what it stores to " + independence_.Named(b->operands[0].var()) +
               " is read in a later iteration";
      }
    }
    return reason;
  }

  // Which of the carried values is what the loop has stored last.
  static size_t FirstBefore(const Block& body) {
    size_t k = 0;
    while (body.params[1 + k]->hint != "before") ++k;
    return k;
  }

  std::string WhyNotIndependent(const Binding& loop) const {
    const std::string reason = independence_.WhyDependent(loop);
    const Var* shown = reason.empty() ? independence_.ShownBehindErrors(loop) : nullptr;
    if (shown == nullptr) return reason;
    return independence_.Named(shown) + " would show stores after an iteration that raises";
  }

  const Binding* Refused(const Binding& loop, const std::string& reason) {
    context_.Note(loop.span, "not parallel: " + reason, Topic::kThreads, Verdict::kRefused);
    Binding copy = loop;
    copy.attrs = copy.attrs.With(Attr::kWhy, reason);
    return copy.attrs == loop.attrs ? &loop : arena()->New(std::move(copy));
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
    LoopSplit split = SplitLoop(arena(), loop, roots());
    if (!split.why_not.empty()) return KeepsAddends(loop) ? "" : split.why_not;
    if (split.stores_read_carried && KeepsSums(loop)) return "";
    Binding sums = loop;
    sums.blocks = {arena()->New(split.sums)};
    const LoopReduction parts =
        split.stores_read_carried ? ScanOf(arena(), sums) : ReductionOf(arena(), sums);
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

  // Where what a loop adds up is read back of what loops inside it store: appends the loop so that
  // each iteration keeps what it adds, and a reduction of that. False where it cannot be.
  bool KeepsAddends(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const auto holds_loop = [](const Binding* b) {
      return !b->blocks.empty() && b->op != OpCode::kIf;
    };
    if (std::none_of(body.bindings.begin(), body.bindings.end(), holds_loop)) return false;
    const LoopReduction parts = ReductionOf(arena(), loop);
    if (!parts.why_not.empty() || !parts.inner_extents.empty()) return false;
    const std::vector<const Binding*>& kept = parts.element.bindings;
    for (const Binding* b : body.bindings) {
      if (!EffectsOf(*b, roots()).writes.empty() && std::count(kept.begin(), kept.end(), b) != 1)
        return false;
    }
    Block element = *ElementBlock(loop, parts.element);
    const Operand count = Count(loop);
    Binding reduction{OpCode::kIreduce, parts.totals, {count}, {}, {}, loop.span};
    reduction.operands.insert(reduction.operands.end(), parts.inits.begin(), parts.inits.end());
    ir::Builder stores = builder().Nested(), loads = builder().Nested();
    const Var* index = builder().NewVar(ir::DType::kI64);
    std::vector<Operand> addends;
    for (const Operand& addend : element.results) {
      const ir::Type type = ir::Type::Array(ir::DTypeOf(addend), {count});
      const Var* array = builder().EmitOne(OpCode::kAlloc, type, {count}, {}, {}, "addends");
      stores.Store(array, {element.params[0]}, addend);
      addends.push_back(loads.Load(array, {index}));
    }
    element.bindings.insert(element.bindings.end(), stores.bindings().begin(),
                            stores.bindings().end());
    element.results.clear();
    context_.Note(loop.span, "made a loop that stores what it adds up, and a reduction",
                  Topic::kThreads, Verdict::kDone);
    builder().Emit(OpCode::kForeach, {}, {count}, {}, {arena()->New(std::move(element))});
    reduction.blocks = {loads.Finish({index}, addends), arena()->New(parts.combine)};
    builder().Append(arena()->New(std::move(reduction)));
    for (const Binding* b : parts.after) builder().Append(b);
    return true;
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

  // --- Scans. ---

  // All prefixes of what the loop carries, then its stores, which read there what was carried.
  std::string MakeScan(const Binding& loop, const LoopSplit& split, const LoopReduction& parts) {
    const Block& body = *loop.blocks[0];
    if (split.sums_read_back) return "what it carries is read back of what it stores";
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
    if (!EffectsOf(stores, roots()).writes.empty())
      WriteStores(builder(), loop, count, prefixes, stores);
    for (size_t k = 0; k < loop.results.size(); ++k)
      WriteLast(builder(), loop, k, count, prefixes[k]);
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

  Operand Count(const Binding& loop) { return CountOf(builder(), loop); }

  const Block* ElementBlock(const Binding& loop, const Block& body) {
    return CountedBlock(builder(), loop, body);
  }

  // --- Fills. ---

  // A foreach that stores every element of fresh arrays once, and nothing else, is an imap. Where
  // it fails, nobody sees the arrays.
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
      if (!EffectsOf(*beside, roots()).writes.empty()) return {};
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
    const VarSet reads = EffectsOf(imap, roots()).reads;
    while (block.bindings[--at] != &imap) {
      if (Intersects(EffectsOf(*block.bindings[at], roots()).writes, reads)) return false;
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
                          EffectsOf(earlier, roots()).IsPure());
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
    return builder.Finish(body.params, results);
  }

  const LoopIndependence independence_;
  int depth_ = 0;  // Loops and operators around.
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
