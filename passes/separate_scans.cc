// Gives each scan inside a nest a nest of its own, so that the threads of a GPU's blocks share it.
//
// Before:
//   foreach (%i) in (%n) {
//     %s: [m]f64 = iscan (%j) in (%m) add { %a: f64 = load %x[%i, %j]  yield %a }
//     %t: f64 = ireduce (%j) in (%m) add from 0.0 { ... }
//     foreach (%j) in (%m) { %p: f64 = load %s[%j]  %q: f64 = div %p, %t  store %y[%i, %j], %q } }
// After:
//   %ts: [n]f64 = alloc (%n)
//   foreach (%i) in (%n) { %t: f64 = ireduce (%j) in (%m) add ... { ... }  store %ts[%i], %t }
//   foreach (%i) in (%n) {
//     %u: f64 = load %ts[%i]
//     %s: [m]f64 = iscan (%j) in (%m) add { %a: f64 = load %x[%i, %j]  yield %a }
//     foreach (%j) in (%m) { %p: f64 = load %s[%j]  %q: f64 = div %p, %u  store %y[%i, %j], %q } }
//
// An imap that yields scans becomes a foreach that stores their prefixes, and a loop of the nest
// that stores what it carries a scan and a loop over its prefixes. What later nests read of earlier
// ones is stored, but for scalar code and loads, which they repeat. Prefixes that are read at
// another index than their own become rows of an array.
//
// Assumes: index form; fusion is over, which would join the nests again. Iterations of a foreach
// touch nothing that others store.
// Refuses: rows whose lengths their elements work out; scans of arrays, and what kernels cannot
// combine (analyses/row_scans.h); nests that check beside their operators, or store where an error
// lets it be seen; those that read what they store over before, and whose arrays are passed on as
// wholes.
#include <algorithm>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/loop_independence.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/row_scans.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/loop_reductions.h"
#include "passes/lowering/loop_scans.h"
#include "passes/lowering/loop_splits.h"
#include "passes/lowering/nest_splits.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using Operands = std::vector<Operand>;

constexpr const char* kHasNone = "it has none";

class ScanSeparator : public ir::Mutator {
 public:
  ScanSeparator(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), independence_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_control =
        b->op == OpCode::kFor || b->op == OpCode::kWhile || b->op == OpCode::kIf;
    if (inside_ || is_control) return Mutator::Visit(b);
    inside_ = true;
    const Binding& nest = *Rewrite(b);
    inside_ = false;
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    if (!is_nest) return builder().Append(&nest);
    const size_t before = builder().bindings().size();
    const std::string reason = Separate(nest);
    if (reason.empty()) return;
    if (reason != kHasNone)
      context_.Note(b->span, "its scans are one thread's: " + reason, Topic::kThreads,
                    Verdict::kRefused);
    builder().bindings().resize(before);
    builder().Append(&nest);
  }

 private:
  const Roots& roots() const { return independence_.roots(); }

  // Appends what stands for a nest with a scan; why not, where nothing does.
  std::string Separate(const Binding& nest) {
    Binding all = nest;
    all.op = OpCode::kForeach;
    all.results.clear();
    all.attrs = nest.attrs.Without(ir::Attr::kFortran);
    Builder body = WithScans(nest);
    const Binding* scan = FirstScan(body.bindings());
    if (scan == nullptr) return kHasNone;
    StoreYields(nest, body);
    all.blocks = {body.Finish(nest.blocks[0]->params, {})};
    const Binding& stored = *arena()->New(std::move(all));
    if (FindRowScan(stored, roots())) {
      builder().Append(&stored);
      return "";
    }
    return Split(stored);
  }

  static const Binding* FirstScan(const std::vector<const Binding*>& bindings) {
    const auto scan = std::find_if(bindings.begin(), bindings.end(),
                                   [](const Binding* b) { return b->op == OpCode::kIscan; });
    return scan == bindings.end() ? nullptr : *scan;
  }

  // --- Loops that are scans. ---

  Builder WithScans(const Binding& nest) {
    Builder body = builder().Nested();
    for (const Binding* b : nest.blocks[0]->bindings) {
      body.set_span(b->span);
      if (b->op != OpCode::kFor || !WriteScan(body, nest, *b)) body.Append(b);
    }
    return body;
  }

  bool WriteScan(Builder& body, const Binding& nest, const Binding& loop) {
    const ir::VarSet inside = ir::DefinedVars(*nest.blocks[0]);
    const bool is_known =
        !inside.contains(loop.operands[0].var()) && !inside.contains(loop.operands[1].var());
    if (loop.results.empty() || !is_known || !independence_.WhyDependent(loop).empty())
      return false;
    const LoopSplit split = SplitLoop(arena(), loop, roots());
    if (!split.why_not.empty() || !split.stores_read_carried || split.sums_read_stores)
      return false;
    Binding sums = loop;
    sums.blocks = {arena()->New(split.sums)};
    const LoopReduction parts = ScanOf(arena(), sums);
    if (!parts.why_not.empty() || !parts.after.empty() || !parts.inner_extents.empty() ||
        loop.results != parts.totals)
      return false;
    const Operand count = CountOf(builder(), loop);
    Operands operands = {count};
    operands.insert(operands.end(), parts.inits.begin(), parts.inits.end());
    std::vector<const Var*> prefixes;
    for (const Var* result : loop.results) {
      const ir::Type type = ir::Type::Array(result->type.dtype(), {count});
      prefixes.push_back(body.NewVar(type, result->hint));
    }
    body.Emit(OpCode::kIscan, prefixes, std::move(operands), {},
              {CountedBlock(body, loop, parts.element), arena()->New(parts.combine)});
    WriteStores(body, loop, count, prefixes, WithoutChecks(split.stores));
    for (size_t k = 0; k < prefixes.size(); ++k) {
      if (CountReaders(*nest.blocks[0], loop.results[k]) > 0)
        WriteLast(body, loop, k, count, prefixes[k]);
    }
    return true;
  }

  // --- Imaps that yield them. ---

  // Appends arrays for what the nest yields, and to its block what stores them: a row that is
  // nothing else is stored as it is made.
  void StoreYields(const Binding& nest, Builder& body) {
    const ir::Attributes order = nest.attrs.Int(ir::Attr::kFortran) != 0
                                     ? ir::Attributes{{ir::Attr::kFortran, int64_t{1}}}
                                     : ir::Attributes{};
    std::vector<size_t> left;
    for (size_t k = 0; k < nest.results.size(); ++k) {
      builder().Emit(OpCode::kAlloc, {nest.results[k]}, nest.results[k]->type.dims(), order);
      if (!StoreAsMade(nest, k, body)) left.push_back(k);
    }
    const Operands index(nest.blocks[0]->params.begin(), nest.blocks[0]->params.end());
    while (!left.empty()) {
      const Operand& first = nest.blocks[0]->results[left[0]];
      if (!ir::TypeOf(first).IsArray()) {
        body.Store(nest.results[left[0]], index, first);
        left.erase(left.begin());
        continue;
      }
      // Rows of one size together, as those of one scan are.
      Builder stores = body.Nested();
      const Operands dims = ir::TypeOf(first).dims();
      std::vector<const Var*> params;
      for (size_t axis = 0; axis < dims.size(); ++axis)
        params.push_back(stores.NewVar(ir::DType::kI64, "j"));
      const Operands inner(params.begin(), params.end());
      Operands place = index;
      place.insert(place.end(), inner.begin(), inner.end());
      std::erase_if(left, [&](size_t k) {
        const Operand& row = nest.blocks[0]->results[k];
        if (!ir::TypeOf(row).IsArray() || ir::TypeOf(row).dims() != dims) return false;
        stores.Store(nest.results[k], place, stores.Load(row, inner));
        return true;
      });
      body.Emit(OpCode::kForeach, {}, dims, {}, {stores.Finish(params, {})});
    }
  }

  // True of a row that an imap of the block makes, which becomes a foreach.
  bool StoreAsMade(const Binding& nest, size_t k, Builder& body) const {
    const Operand& row = nest.blocks[0]->results[k];
    std::vector<const Binding*>& bindings = body.bindings();
    const auto made = std::find_if(bindings.begin(), bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kImap && b->results.size() == 1 && Operand(b->result()) == row;
    });
    if (made == bindings.end() || CountReaders(*nest.blocks[0], row.var()) != 1) return false;
    const Binding& map = **made;
    Builder stores = body.Nested();
    Operands place(nest.blocks[0]->params.begin(), nest.blocks[0]->params.end());
    place.insert(place.end(), map.blocks[0]->params.begin(), map.blocks[0]->params.end());
    if (!ir::TypeOf(map.blocks[0]->results[0]).IsScalar()) return false;
    for (const Binding* b : map.blocks[0]->bindings) stores.Append(b);
    stores.Store(nest.results[k], place, map.blocks[0]->results[0]);
    Binding loop = map;
    loop.op = OpCode::kForeach;
    loop.results.clear();
    loop.attrs = map.attrs.Without(ir::Attr::kFortran);
    loop.blocks = {stores.Finish(map.blocks[0]->params, {})};
    *made = arena()->New(std::move(loop));
    return true;
  }

  // --- Nests of their own. ---

  std::string Split(const Binding& nest) {
    const std::vector<const Binding*>& bindings = nest.blocks[0]->bindings;
    const Binding& scan = *FirstScan(bindings);
    if (ir::DefinedVars(*nest.blocks[0]).contains(scan.operands[0].var()))
      return "its rows have lengths of their own";
    if (ShowsStores(*nest.blocks[0], roots())) return "what it stores would show behind an error";
    NestPart before, behind;
    const Binding* stores = nullptr;
    ir::VarSet made(scan.results.begin(), scan.results.end());
    bool is_behind = false;
    for (const Binding* b : bindings) {
      is_behind |= b == &scan;
      if (b == &scan) continue;
      if (is_behind && stores == nullptr && StoresOwn(*b, scan, made, behind)) {
        stores = b;
        continue;
      }
      const bool waits = stores != nullptr || Reads(*b, made);
      if (waits) made.insert(b->results.begin(), b->results.end());
      if (IsRepeated(*b)) continue;
      if (is_behind && !waits && !EffectsOf(*b, roots()).writes.empty())
        return "something is stored between a scan and what is made of it";
      (waits ? behind : before).push_back(b);
    }
    RowArrays kept;
    Binding all = nest;
    const Binding& loop = *KeepPrefixes(nest, scan, stores, behind, kept);
    all.blocks = {WithStores(nest, scan, stores, loop)};
    std::vector<NestPart> parts;
    if (!before.empty()) parts.push_back(before);
    parts.push_back({&scan, &loop});
    if (!behind.empty()) parts.push_back(behind);
    Builder nests = builder().Nested();
    const std::string reason = SplitNest(nests, all, parts, kept, roots());
    return reason.empty() ? AppendNests(nests.bindings()) : reason;
  }

  static bool Reads(const Binding& b, const ir::VarSet& values) {
    const ir::VarSet free = ir::FreeVars(b);
    return std::any_of(free.begin(), free.end(),
                       [&](const Var* value) { return values.contains(value); });
  }

  // True of a loop over prefixes, each at its own index, that reads nothing else of what is made of
  // them, and may run before what is.
  bool StoresOwn(const Binding& b, const Binding& scan, const ir::VarSet& made,
                 const NestPart& behind) const {
    const bool is_loop = b.op == OpCode::kForeach && b.blocks[0]->params.size() == 1 &&
                         b.operands[0] == scan.operands[0];
    if (!is_loop || !Reads(b, {scan.results.begin(), scan.results.end()})) return false;
    ir::VarSet others = made;
    for (const Var* prefixes : scan.results) others.erase(prefixes);
    const Effects effects = EffectsOf(b, roots());
    const bool may_be_first = std::none_of(behind.begin(), behind.end(), [&](const Binding* other) {
      return Conflict(EffectsOf(*other, roots()), effects);
    });
    return may_be_first && !Reads(b, others) && ReadsOwnPrefixes(scan, b, Block{{}, {&b}, {}});
  }

  // The loop, or a new one, which keeps prefixes that something behind reads.
  const Binding* KeepPrefixes(const Binding& nest, const Binding& scan, const Binding* stores,
                              const NestPart& behind, RowArrays& kept) {
    Builder body = builder().Nested();
    const Var* place = body.NewVar(ir::DType::kI64, "j");
    Operands at(nest.blocks[0]->params.begin(), nest.blocks[0]->params.end());
    at.push_back(place);
    if (stores != nullptr) ir::InlineBlock(body, *stores->blocks[0], Operands{place});
    for (const Var* prefixes : scan.results) {
      const bool is_read =
          std::any_of(behind.begin(), behind.end(),
                      [&](const Binding* b) { return ir::FreeVars(*b).contains(prefixes); }) ||
          IsReadByScalars(nest, prefixes);
      if (!is_read) continue;
      Operands dims = nest.operands;
      dims.push_back(scan.operands[0]);
      const ir::Type type = ir::Type::Array(prefixes->type.dtype(), dims);
      kept[prefixes] = builder().EmitOne(OpCode::kAlloc, type, dims, {}, {}, prefixes->hint);
      body.Store(kept.at(prefixes), at, body.Load(prefixes, {place}));
    }
    return arena()->New(Binding{
        OpCode::kForeach, {}, {scan.operands[0]}, {body.Finish({place}, {})}, {}, scan.span});
  }

  static bool IsReadByScalars(const Binding& nest, const Var* prefixes) {
    const std::vector<const Binding*>& bindings = nest.blocks[0]->bindings;
    return std::any_of(bindings.begin(), bindings.end(), [&](const Binding* b) {
      return IsRepeated(*b) && ir::FreeVars(*b).contains(prefixes);
    });
  }

  // The block of the nest with the loop in place of that over prefixes, or behind the scan.
  const Block* WithStores(const Binding& nest, const Binding& scan, const Binding* stores,
                          const Binding& loop) const {
    Block block = *nest.blocks[0];
    std::vector<const Binding*>& bindings = block.bindings;
    const auto at = std::find(bindings.begin(), bindings.end(), stores != nullptr ? stores : &scan);
    if (stores != nullptr) *at = &loop;
    else bindings.insert(at + 1, &loop);
    return arena()->New(std::move(block));
  }

  // Each scan by itself, and what may hold further ones.
  std::string AppendNests(const std::vector<const Binding*>& nests) {
    bool has_scan = false;
    for (const Binding* b : nests) {
      const bool is_scan = FindRowScan(*b, roots()).has_value();
      const bool is_nest = b->op == OpCode::kForeach;
      has_scan |= is_scan;
      if (is_scan || !is_nest || FirstScan(b->blocks[0]->bindings) == nullptr) {
        builder().Append(b);
      } else if (!has_scan) {
        return "its elements read what its prefixes are stored over";
      } else if (const std::string reason = Split(*b); !reason.empty()) {
        builder().Append(b);
      }
    }
    return "";
  }

  LoopIndependence independence_;
  Context& context_;
  bool inside_ = false;
};

}  // namespace

ir::Program SeparateScans(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ScanSeparator(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
