// Reads the rows of a matrix some at a time, for all that is made of rows, of columns and of the
// whole: from memory once, and from cache behind that.
//
// Before:
//   %t: [n]f64 = imap (%i) in (%n) { %s = ireduce (%j) in (%m) add ... { load %a[%i, %j] ... } }
//   %y: [m]f64 = imap (%j) in (%m) { %s = ireduce (%i) in (%n) add from 0.0 { %u = load %t[%i]
//   %b = load %a[%i, %j] ... } yield %s }
// After:
//   %t: [n]f64 = alloc (%n)  %y: [m]f64 = alloc (%m)
//   if %pays {
//     %part: [blocks][m]f64 = alloc (%blocks, %m)
//     foreach (%b) in (%blocks) {
//       for %p in %first to %last step 4 {
//         foreach (%k) in (4) { %i = add %p, %k ... store %t[%i], ... }
//         foreach (%j) in (%m) { %c = load %part[%b, %j] ... store %part[%b, %j], %sum } } }
//     foreach (%j) in (%m) { %s = ireduce (%b) in (%blocks) add from 0.0 { load %part[%b, %j] } ...
//     store %y[%j], %s } } else { ... }
//
// `(A @ x) @ A`, a gradient `X.T @ (f(X @ w) - y)`, `r @ A, A @ p`. A sum of columns is of blocks
// of rows, whose size depends on the matrix's alone: one core and many give the same bits.
//
// A sum of the whole, `a.sum(), a.sum(0)`, is made of sums of columns there: of the very ones,
// where it sums the same. Beside rows alone, `a.mean(), a.max(1)`, it is the sum of what rows sum:
//   foreach (%i) in (%n) { ... store %y[%i], %v
//     %r = ireduce (%j) in (%m) ...  store %part[%i], %r }
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 { load %part[%i] }
// Of one axis, `y = np.exp(x)`, `y.sum()`, elements are made and summed a block at a time. So are
// prefixes, `np.cumsum(x).max()`, `np.cumsum(np.cumsum(x))`, where one thread makes them: many
// threads make those of all blocks first.
//
// Assumes: index form behind fusion, before choose_trees, which says how what is left is summed.
// Refuses: a sum of columns or of all that reads what rows made elsewhere than in its own row; rows
// that may fail, or that need each other or the sum; arguments that may overlap; results in Fortran
// order; what takes so long that memory is no matter.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/binding_key.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/analyses/scan_costs.h"
#include "passes/fusing/panel_groups.h"
#include "passes/lowering/loop_writer.h"
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

// Rows of a panel: each sum of a column is read and stored once for all of them.
constexpr int64_t kPanel = 4;
// Rows of a block are so many at least, and its elements: sums of columns are kept for each block.
// Threads share fewer blocks unevenly.
constexpr int64_t kLeastBlock = 32;
constexpr int64_t kElementsOfBlock = 8192;
constexpr int64_t kFewestBlocks = 16;
// Of arrays of one axis: what is read of them stays in the first cache.
constexpr int64_t kElementsOfRun = 2048;
// The same where there are scans, whose blocks are so long (choose_trees.cc), and how many threads
// are faster by two traversals than one by one (lowering/lower_scans.cc).
constexpr int64_t kElementsOfScannedRun = 2112;
constexpr int64_t kScanBlock = 264;
constexpr int64_t kFewThreads = 4;
constexpr int kCheapElement = 6;
// A panel has to stay in a core's own cache, and the matrix is read no slower twice if all of it
// does. Rows that are short are summed faster many at a time, and threads share few unevenly.
constexpr int64_t kFewestRowBytes = 512;
constexpr int64_t kMostRowBytes = 131072;
constexpr int64_t kFewestRows = 256;
constexpr int64_t kFewestBytes = 1 << 19;

class PanelFuser : public LoopWriter {
 public:
  PanelFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        grouper_(function),
        may_overlap_(function.may_overlap),
        context_(context) {
    ir::ForEachUse(*function.body, [&](const Var* value) { ++uses_[value]; });
  }

 protected:
  void Visit(const Binding* b) override {
    const auto group = groups_.find(b);
    if (group == groups_.end()) return VisitOther(*b);
    if (group->second.members.back() == b) Write(group->second);
  }

  const Block* VisitBlock(const Block* block) override {
    if (may_overlap_) return Mutator::VisitBlock(block);
    Block ordered = *block;
    const std::vector<PanelGroup> groups = grouper_.Find(ordered.bindings);
    for (const PanelGroup& group : groups) {
      for (const Binding* member : group.members) {
        groups_[member] = group;
        const Binding* first = group.members.front();
        const Binding* other = member == first ? group.members.back() : first;
        context_.Note(member->span,
                      group.columns ? "shares the traversal of a matrix's rows"
                                    : "shares the traversal of an array's elements",
                      Topic::kMemory, Verdict::kDone, other->span);
      }
    }
    return Mutator::VisitBlock(groups.empty() ? block : arena()->New(std::move(ordered)));
  }

 private:
  // A sum of the columns of a group's matrix, with its sums by block and column: an imap over the
  // columns of an ireduce of one result. Some members may have one in common.
  struct ColumnSum {
    const Binding* nest;
    std::string key;
    const Var* part;
  };
  // Which of them a member's results are made of.
  using SumsOf = std::unordered_map<const Binding*, std::vector<size_t>>;
  // By result of a total, what it is of each row or block.
  using PartsOf = std::unordered_map<const Binding*, std::vector<const Var*>>;

  static bool IsTotal(const Binding& b) { return b.op == OpCode::kIreduce; }
  static bool IsScan(const Binding& b) { return b.op == OpCode::kIscan; }
  static bool HasScans(const PanelGroup& group) {
    const auto is_scan = [](const Binding* member) { return IsScan(*member); };
    return std::any_of(group.members.begin(), group.members.end(), is_scan);
  }
  bool IsColumns(const Binding& b) const {
    return !IsTotal(b) && grouper_.SumOfColumns(b) != nullptr;
  }
  bool HasColumns(const PanelGroup& group) const {
    const auto is_columns = [&](const Binding* member) { return IsColumns(*member); };
    return std::any_of(group.members.begin(), group.members.end(), is_columns);
  }
  // Whether each of its results is combined by one operation.
  static bool IsSeparate(const Binding& total) {
    for (size_t k = 0; k < total.results.size(); ++k) {
      if (!SumIdentity(total, k)) return false;
    }
    return true;
  }

  void Write(const PanelGroup& group) {
    for (const Binding* member : group.members) {
      if (IsTotal(*member)) continue;
      for (const Var* result : member->results) {
        if (IsScan(*member) && !IsReadElsewhere(result, group)) continue;
        const ir::Type type = Apply(result->type);
        Replace(result, builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, result->hint));
      }
    }
    const Operands totals = group.columns     ? WriteIfPays(group)
                            : HasScans(group) ? WriteScannedRuns(group)
                                              : WriteRuns(group);
    auto total = totals.begin();
    for (const Binding* member : group.members) {
      for (const Var* result : IsTotal(*member) ? member->results : std::vector<const Var*>())
        Replace(result, *total++);
    }
  }

  Operands WriteIfPays(const PanelGroup& group) {
    const bool has_columns = HasColumns(group);
    const Operand block = has_columns ? RowsOfBlock(group) : Int(1);
    return Choose(
        has_columns ? BlocksPay(group, block) : RowsPay(group),
        [&] { return has_columns ? WritePanels(group, block) : WriteRows(group); },
        [&] { return WriteApart(group); }, {{Attr::kLikely, int64_t{1}}});
  }

  Operands WriteApart(const PanelGroup& group) {
    Operands totals;
    for (const Binding* member : group.members) {
      if (!IsTotal(*member)) {
        WriteNest(*member, Int(0), Apply(member->operands[0]), *member->blocks[0]);
        continue;
      }
      builder().set_span(member->span);
      const Binding* total = Renewed(*Rewrite(member));
      builder().Append(total);
      totals.insert(totals.end(), total->results.begin(), total->results.end());
    }
    return totals;
  }

  // The same with results and blocks of its own.
  const Binding* Renewed(Binding b) {
    for (const Var*& result : b.results) result = builder().NewVar(result->type, result->hint);
    for (const Block*& block : b.blocks) block = ir::CloneBlock(arena(), *block);
    return arena()->New(std::move(b));
  }

  // --- What pays ---

  Operand AllOf(const std::vector<std::pair<Operand, Operand>>& limits) {
    Operand all = Operand::Bool(true);
    for (const auto& [least, most] : limits)
      all = builder().Scalar(OpCode::kAnd, {all, builder().Scalar(OpCode::kLe, {least, most})});
    return all;
  }

  Operand RowsOfBlock(const PanelGroup& group) {
    const Operand many =
        builder().Quotient(Int(kElementsOfBlock / kPanel), Max(Apply(*group.columns), Int(1)));
    return Max(builder().Mul(many, Int(kPanel)), Int(kLeastBlock));
  }

  // With blocks of so many rows.
  Operand BlocksPay(const PanelGroup& group, const Operand& block) {
    const Operand bytes = builder().Mul(Apply(*group.columns), Int(group.bytes));
    const Operand all = builder().Mul(Apply(group.rows[0]), bytes);
    return AllOf({{Int(kFewestRowBytes), bytes},
                  {bytes, Int(kMostRowBytes)},
                  {Int(kFewestBytes), all},
                  {builder().Mul(block, Int(kFewestBlocks)), Apply(group.rows[0])}});
  }

  Operand RowsPay(const PanelGroup& group) {
    const Operand rows = Product(Apply(group.rows));
    const Operand bytes = builder().Mul(Apply(*group.columns), Int(group.bytes));
    return AllOf({{Int(kFewestRowBytes), bytes},
                  {bytes, Int(kMostRowBytes)},
                  {Int(kFewestRows), rows},
                  {Int(kFewestBytes), builder().Mul(rows, bytes)}});
  }

  // --- Rows and totals ---

  // Row by row; what the totals are.
  Operands WriteRows(const PanelGroup& group) {
    const Operands rows = Apply(group.rows);
    const PartsOf parts = AllocateParts(group, rows);
    Foreach(rows, [&](const Operands& row) {
      for (const Binding* member : group.members) {
        if (IsTotal(*member)) {
          StoreParts(*member, parts, row, RowOf(group, *member, row));
        } else {
          WriteRow(*member, row);
        }
      }
    });
    return WriteTotals(group, parts, rows);
  }

  // The same of elements of arrays of one axis, some at a time.
  Operands WriteRuns(const PanelGroup& group) {
    const Operand runs = CeilDiv(Apply(group.rows[0]), Int(kElementsOfRun));
    const PartsOf parts = AllocateParts(group, {runs});
    WriteRuns(group, group.members, parts, runs, kElementsOfRun);
    return WriteTotals(group, parts, {runs});
  }

  void WriteRuns(const PanelGroup& group, const std::vector<const Binding*>& members,
                 const PartsOf& parts, const Operand& runs, int64_t length) {
    Foreach({runs}, [&](const Operands& run) {
      const auto [first, last] = EndsOf(run[0], group, length);
      for (const Binding* member : members) WriteRun(group, *member, parts, run, first, last);
    });
  }

  std::pair<Operand, Operand> EndsOf(const Operand& run, const PanelGroup& group, int64_t length) {
    const Operand first = builder().Mul(run, Int(length));
    return {first, Min(builder().Add(first, Int(length)), Apply(group.rows[0]))};
  }

  void WriteRun(const PanelGroup& group, const Binding& member, const PartsOf& parts,
                const Operands& run, const Operand& first, const Operand& last) {
    const Operand count = builder().Sub(last, first);
    if (IsTotal(member)) return StoreParts(member, parts, run, RunOf(group, member, first, count));
    WriteNest(member, first, count, *member.blocks[0]);
  }

  // --- Scans ---

  // Whether others than the group's members take the array.
  bool IsReadElsewhere(const Var* array, const PanelGroup& group) const {
    int inside = 0;
    for (const Binding* member : group.members)
      ir::ForEachUse(*member, [&](const Var* used) { inside += used == array; });
    const auto all = uses_.find(array);
    return all != uses_.end() && all->second > inside;
  }

  Operands WriteScannedRuns(const PanelGroup& group) {
    const Operand runs = CeilDiv(Apply(group.rows[0]), Int(kElementsOfScannedRun));
    const PartsOf parts = AllocateParts(group, {runs});
    const Operand threads =
        builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {}, {}, {}, "threads");
    Choose(
        builder().Scalar(OpCode::kLe, {threads, Int(kFewThreads)}),
        [&] { return WriteInOrder(group, parts, runs); },
        [&] { return WriteBehindScans(group, parts, runs); }, {{Attr::kLikely, int64_t{1}}});
    return WriteTotals(group, parts, {runs});
  }

  // Run by run, each with what is before it. Prefixes that only members take are kept for a run.
  Operands WriteInOrder(const PanelGroup& group, const PartsOf& parts, const Operand& runs) {
    Operands starts;
    for (const Binding* member : group.members) {
      if (!IsScan(*member)) continue;
      for (size_t k = 0; k < member->results.size(); ++k) {
        const Var* result = member->results[k];
        if (!IsReadElsewhere(result, group))
          kept_[result] = Part(result, {Int(kElementsOfScannedRun)});
        const bool has_init = member->operands.size() > 1;
        starts.push_back(has_init ? Apply(member->operands[1 + k])
                                  : Operand(*SumIdentity(*member, k)));
      }
    }
    Carry(Int(0), runs, starts, [&](const Operand& run, const Operands& before) {
      const auto [first, last] = EndsOf(run, group, kElementsOfScannedRun);
      const Operand outer = std::exchange(run_, first);
      Operands behind;
      for (const Binding* member : group.members) {
        if (!IsScan(*member)) {
          WriteRun(group, *member, parts, {run}, first, last);
          continue;
        }
        const auto own = before.begin() + behind.size();
        const Operands next = WriteScan(*member, {own, own + member->results.size()}, first, last);
        behind.insert(behind.end(), next.begin(), next.end());
      }
      run_ = outer;
      return behind;
    });
    kept_.clear();
    return {};
  }

  // The prefixes of a run, block by block as scans are, or in order where that gives the same bits;
  // what is before the next run.
  Operands WriteScan(const Binding& scan, const Operands& before, const Operand& first,
                     const Operand& last) {
    builder().set_span(scan.span);
    const Block& combine = *scan.blocks[1];
    const auto element = [&](const Operand& i) {
      return VisitBody(*ir::CloneBlock(arena(), *scan.blocks[0]), {i});
    };
    const auto in_order = [&](const Operand& i, const Operands& so_far) {
      const Operands next = CombineWith(combine, so_far, element(i));
      StorePrefixes(scan, i, next);
      return next;
    };
    if (MayGoInOrder(scan)) return Carry(first, last, before, in_order);
    Operands nothing;
    for (size_t k = 0; k < scan.results.size(); ++k) nothing.emplace_back(*SumIdentity(scan, k));
    const auto block = [&](const Operand& lo, const Operands& so_far) {
      const Operand hi = Min(builder().Add(lo, Int(kScanBlock)), last);
      const auto step = [&](const Operand& i, const Operands& own) {
        const Operands next = CombineWith(combine, own, element(i));
        StorePrefixes(scan, i, CombineWith(combine, so_far, next));
        return next;
      };
      return CombineWith(combine, so_far, Carry(lo, hi, nothing, step));
    };
    return Carry(first, last, before, block, kScanBlock);
  }

  void StorePrefixes(const Binding& scan, const Operand& i, const Operands& prefixes) {
    for (size_t k = 0; k < prefixes.size(); ++k) {
      const auto kept = kept_.find(scan.results[k]);
      if (kept == kept_.end()) {
        builder().Store(Apply(Operand(scan.results[k])), {i}, prefixes[k]);
      } else {
        builder().Store(kept->second, {builder().Sub(i, run_)}, prefixes[k]);
      }
    }
  }

  // Scans by themselves, as many threads make them, and what stands between them in runs.
  Operands WriteBehindScans(const PanelGroup& group, const PartsOf& parts, const Operand& runs) {
    std::vector<const Binding*> others;
    const auto write_others = [&] {
      if (!others.empty()) WriteRuns(group, others, parts, runs, kElementsOfScannedRun);
      others.clear();
    };
    for (const Binding* member : group.members) {
      if (!IsScan(*member)) {
        others.push_back(member);
        continue;
      }
      write_others();
      builder().set_span(member->span);
      const Binding* scan = Renewed(*Rewrite(member));
      builder().Append(scan);
      for (size_t k = 0; k < member->results.size(); ++k) {
        const Var* result = member->results[k];
        if (IsReadElsewhere(result, group)) {
          Foreach({Apply(group.rows[0])}, [&](const Operands& at) {
            builder().Store(Apply(Operand(result)), at, builder().Load(scan->results[k], at));
          });
        } else {
          Replace(result, scan->results[k]);
        }
      }
    }
    write_others();
    for (const Binding* member : group.members) {
      for (const Var* result : IsScan(*member) ? member->results : std::vector<const Var*>()) {
        if (!IsReadElsewhere(result, group)) Restore(result);
      }
    }
    return {};
  }

  // What is loaded of prefixes that are kept for a run, and, in a total, of what is made again.
  void VisitOther(const Binding& b) {
    if (b.op == OpCode::kLoad && again_.contains(b.operands[0].var())) return MakeAgain(b);
    const auto kept = b.op == OpCode::kLoad ? kept_.find(b.operands[0].var()) : kept_.end();
    if (kept == kept_.end()) return Mutator::Visit(&b);
    const Operand place = builder().Sub(Apply(b.operands[1]), run_);
    Replace(b.result(), builder().Load(kept->second, {place}, b.result()->hint));
  }

  void MakeAgain(const Binding& load) {
    const Binding& nest = *again_.at(load.operands[0].var());
    const size_t k = std::find(nest.results.begin(), nest.results.end(), load.operands[0].var()) -
                     nest.results.begin();
    const Operands index = Apply({load.operands.begin() + 1, load.operands.end()});
    Replace(load.result(), VisitBody(*ir::CloneBlock(arena(), *nest.blocks[0]), index)[k]);
  }

  // What a total takes of elements that are cheaply made is made again: an array that is not read
  // may be stored past the caches.
  void FindMadeAgain(const PanelGroup& group) {
    const auto stores = [](const Binding* member) { return member->op == OpCode::kForeach; };
    if (std::any_of(group.members.begin(), group.members.end(), stores)) return;
    for (const Binding* member : group.members) {
      if (member->op != OpCode::kImap || CostOf(*member->blocks[0]) > kCheapElement) continue;
      const auto& inner = member->blocks[0]->bindings;
      const bool is_plain = std::all_of(inner.begin(), inner.end(), [](const Binding* b) {
        return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
      });
      for (const Var* result : is_plain ? member->results : std::vector<const Var*>())
        again_[result] = member;
    }
  }

  // --- Parts of totals ---

  PartsOf AllocateParts(const PanelGroup& group, const Operands& dims) {
    PartsOf parts;
    for (const Binding* member : group.members) {
      if (!IsTotal(*member)) continue;
      for (const Var* result : member->results) parts[member].push_back(Part(result, dims));
    }
    return parts;
  }

  const Var* Part(const Var* result, const Operands& dims) {
    const ir::Type type = ir::Type::Array(result->type.dtype(), dims);
    return builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, "part");
  }

  void StoreParts(const Binding& total, const PartsOf& parts, const Operands& place,
                  const Operands& values) {
    for (size_t k = 0; k < values.size(); ++k)
      builder().Store(parts.at(&total)[k], place, values[k]);
  }

  void WriteRow(const Binding& nest, const Operands& row) {
    const Block& body = *nest.blocks[0];
    const Operands all = Apply(nest.operands);
    const auto write = [&](const Operands& inner) {
      Operands index = row;
      index.insert(index.end(), inner.begin(), inner.end());
      builder().set_span(nest.span);
      const Operands made = VisitBody(*ir::CloneBlock(arena(), body), index);
      for (size_t k = 0; k < made.size(); ++k)
        builder().Store(Apply(Operand(nest.results[k])), index, made[k]);
    };
    builder().set_span(nest.span);
    if (all.size() == row.size()) return write({});
    Foreach({all.begin() + row.size(), all.end()}, write);
  }

  // What a total is of a row. Results that are combined each by itself are reductions each by
  // itself, which rows may have in common with others.
  Operands RowOf(const PanelGroup& group, const Binding& total, const Operands& row) {
    const Operands columns = {Apply(total.operands[row.size()])};
    const auto reduce = [&](const Binding& part) {
      return Reduce(group, part, columns, [&](const Operands& at) {
        Operands index = row;
        index.insert(index.end(), at.begin(), at.end());
        return index;
      });
    };
    if (!IsSeparate(total)) return reduce(total);
    Operands values;
    for (size_t k = 0; k < total.results.size(); ++k)
      values.push_back(reduce(*OneResult(total, k))[0]);
    return values;
  }

  // What a total is of so many elements.
  Operands RunOf(const PanelGroup& group, const Binding& total, const Operand& first,
                 const Operand& count) {
    return Reduce(group, total, {count},
                  [&](const Operands& at) -> Operands { return {builder().Add(first, at[0])}; });
  }

  // What the total's elements come to over other extents, which are not empty.
  Operands Reduce(const PanelGroup& group, const Binding& total, const Operands& extents,
                  const std::function<Operands(const Operands& at)>& index_at) {
    Binding part = total;
    part.operands = extents;
    for (size_t k = 0; IsSeparate(total) && k < total.results.size(); ++k)
      part.operands.push_back(StartOf(total, k));
    std::vector<const Var*> at;
    for (size_t k = 0; k < extents.size(); ++k)
      at.push_back(builder().NewVar(ir::DType::kI64, "i"));
    builder().set_span(total.span);
    part.blocks[0] = BlockOf(at, [&] {
      if (!HasScans(group)) FindMadeAgain(group);
      const Operands values =
          VisitBody(*ir::CloneBlock(arena(), *total.blocks[0]), index_at({at.begin(), at.end()}));
      again_.clear();
      return values;
    });
    const Binding* reduction = Renewed(std::move(part));
    builder().Append(reduction);
    return {reduction->results.begin(), reduction->results.end()};
  }

  Operands WriteTotals(const PanelGroup& group, const PartsOf& parts, const Operands& dims) {
    Operands totals;
    for (const Binding* member : group.members) {
      if (!IsTotal(*member)) continue;
      const Operands made = Total(*member, parts.at(member), dims);
      totals.insert(totals.end(), made.begin(), made.end());
    }
    return totals;
  }

  // A total of its parts.
  Operands Total(const Binding& member, const std::vector<const Var*>& parts,
                 const Operands& dims) {
    const size_t rank = member.blocks[0]->params.size();
    Binding total = member;
    total.attrs = member.attrs.With(Attr::kPart, int64_t{1});
    total.operands = dims;
    for (size_t k = rank; k < member.operands.size(); ++k)
      total.operands.push_back(Apply(member.operands[k]));
    std::vector<const Var*> at;
    for (size_t k = 0; k < dims.size(); ++k) at.push_back(builder().NewVar(ir::DType::kI64, "b"));
    builder().set_span(member.span);
    total.blocks[0] = BlockOf(at, [&] {
      Operands values;
      for (const Var* part : parts) values.push_back(builder().Load(part, {at.begin(), at.end()}));
      return values;
    });
    const Binding* made = Renewed(std::move(total));
    builder().Append(made);
    return {made->results.begin(), made->results.end()};
  }

  // What a part of a reduction begins with: adding 0.0 to each is adding it to all of them, and
  // rows that are summed by themselves begin so.
  static Operand StartOf(const Binding& b, size_t k) {
    const Operand identity(*SumIdentity(b, k));
    const size_t rank = b.blocks[0]->params.size();
    if (b.operands.size() == rank) return identity;
    const Operand& init = b.operands[rank + k];
    const bool adds = ir::CombineOp(*b.blocks[1], static_cast<int>(k)) == OpCode::kAdd;
    return adds && init == Operand(ir::ZeroOf(b.results[k]->type.dtype())) ? init : identity;
  }

  // The reduction with one of its results, which is combined by itself.
  const Binding* OneResult(const Binding& b, size_t k) {
    const Var* result = b.results[k];
    Block element{b.blocks[0]->params, {}, {b.blocks[0]->results[k]}};
    element.bindings = NeededBindings(*b.blocks[0], element.results);
    Binding one = b;
    one.results = {builder().NewVar(result->type, result->hint)};
    one.operands.resize(b.blocks[0]->params.size());
    one.operands.push_back(StartOf(b, k));
    const OpCode combine = *ir::CombineOp(*b.blocks[1], static_cast<int>(k));
    one.blocks = {arena()->New(std::move(element)),
                  ir::CombineBlock(arena(), combine, result->type.dtype())};
    return arena()->New(std::move(one));
  }

  // --- Panels, where columns are summed ---

  Operands WritePanels(const PanelGroup& group, const Operand& block) {
    const Operand rows = Apply(group.rows[0]), columns = Apply(*group.columns);
    const Operand blocks = CeilDiv(rows, block);
    std::vector<ColumnSum> sums;
    const SumsOf sums_of = FindSums(group, {blocks, columns}, sums);
    PartsOf parts;
    for (const Binding* member : group.members) {
      if (!IsTotal(*member) || sums_of.contains(member)) continue;
      for (const Var* result : member->results) parts[member].push_back(Part(result, {rows}));
    }
    Foreach({blocks}, [&](const Operands& at) {
      const Operand first = builder().Mul(at[0], block);
      const Operand last = Min(builder().Add(first, block), rows);
      Foreach({columns}, [&](const Operands& column) {
        for (const ColumnSum& sum : sums)
          builder().Store(sum.part, {at[0], column[0]}, *SumIdentity(SumIn(sum), 0));
      });
      Loop(
          first, last, {},
          [&](const Operand& row) { WritePanel(group, sums, parts, at[0], row, last); }, kPanel);
    });
    Operands totals;
    for (const Binding* member : group.members) {
      const auto of_columns = sums_of.find(member);
      std::vector<const Var*> arrays;
      if (of_columns != sums_of.end()) {
        for (const size_t k : of_columns->second) arrays.push_back(sums[k].part);
      }
      if (IsTotal(*member)) {
        const bool by_columns = !arrays.empty();
        const Operands made = by_columns ? Total(*member, arrays, {blocks, columns})
                                         : Total(*member, parts.at(member), {rows});
        totals.insert(totals.end(), made.begin(), made.end());
      } else if (!arrays.empty()) {
        WriteSums(*member, arrays, blocks);
      }
    }
    return totals;
  }

  // The sums of columns of all members, each once.
  SumsOf FindSums(const PanelGroup& group, const Operands& dims, std::vector<ColumnSum>& sums) {
    SumsOf found;
    for (const Binding* member : group.members) {
      if (IsTotal(*member) ? !IsSeparate(*member) : !IsColumns(*member)) continue;
      for (const Var* result :
           IsTotal(*member) ? member->results : grouper_.SumOfColumns(*member)->results) {
        const size_t k = found[member].size();
        const Binding* nest = OfColumns(*member, k, *group.columns);
        const std::string key = KeyOf(*nest);
        const auto same = std::find_if(sums.begin(), sums.end(),
                                       [&](const ColumnSum& sum) { return sum.key == key; });
        found[member].push_back(same - sums.begin());
        if (same == sums.end()) sums.push_back({nest, key, Part(result, dims)});
      }
    }
    return found;
  }

  // A result of a sum of columns or of a total as a nest over columns.
  const Binding* OfColumns(const Binding& member, size_t k, const Operand& columns) {
    const Binding* sum = IsTotal(member) ? &member : grouper_.SumOfColumns(member);
    Binding one = *OneResult(*sum, k);
    const Var* column = member.blocks[0]->params[0];
    if (IsTotal(member)) {
      Block element = *ir::CloneBlock(arena(), *one.blocks[0]);
      column = element.params[1];
      element.params.pop_back();
      one.blocks[0] = arena()->New(std::move(element));
      one.operands.erase(one.operands.begin() + 1);
    }
    const ir::Type type = ir::Type::Array(one.result()->type.dtype(), {columns});
    Block body{{column}, {arena()->New(one)}, {Operand(one.result())}};
    return arena()->New(Binding{OpCode::kImap,
                                {builder().NewVar(type)},
                                {columns},
                                {arena()->New(std::move(body))},
                                {},
                                member.span});
  }

  static const Binding& SumIn(const ColumnSum& sum) {
    return *sum.nest->blocks[0]->bindings.front();
  }

  void WritePanel(const PanelGroup& group, const std::vector<ColumnSum>& sums, const PartsOf& parts,
                  const Operand& block, const Operand& first, const Operand& last) {
    const Operand end = Min(builder().Add(first, Int(kPanel)), last);
    const Operand count = builder().Sub(end, first);
    for (const Binding* member : group.members) {
      if (parts.contains(member)) {
        Foreach({count}, [&](const Operands& at) {
          const Operands row = {builder().Add(first, at[0])};
          StoreParts(*member, parts, row, RowOf(group, *member, row));
        });
      } else if (!IsTotal(*member) && !IsColumns(*member)) {
        WriteNest(*member, first, count, *member->blocks[0]);
      }
    }
    const auto add = [&](const Operand& row, int64_t rows) {
      Foreach({Apply(*group.columns)}, [&](const Operands& column) {
        for (const ColumnSum& sum : sums) AddRows(sum, {block, column[0]}, row, rows);
      });
      return Operands{};
    };
    Choose(
        builder().Scalar(OpCode::kEq, {count, Int(kPanel)}), [&] { return add(first, kPanel); },
        [&] {
          Loop(first, end, {}, [&](const Operand& row) { add(row, 1); });
          return Operands{};
        });
  }

  // So many of a nest's outermost indexes, from `first` on, with `body` as its block.
  void WriteNest(const Binding& nest, const Operand& first, const Operand& count, const Block& body,
                 const ir::Attributes& attrs = {}) {
    Operands extents = Apply(nest.operands);
    extents[0] = count;
    builder().set_span(nest.span);
    const auto write = [&](Operands index) {
      if (!first.IsInt(0)) index[0] = builder().Add(first, index[0]);
      const Operands made = VisitBody(*ir::CloneBlock(arena(), body), index);
      for (size_t k = 0; k < made.size(); ++k)
        builder().Store(Apply(Operand(nest.results[k])), index, made[k]);
    };
    Foreach(extents, write, attrs);
  }

  // Adds elements of a column, which are in so many rows, to its sum in a block.
  void AddRows(const ColumnSum& columns, const Operands& place, const Operand& first,
               int64_t rows) {
    const Binding& sum = SumIn(columns);
    const Var* column = columns.nest->blocks[0]->params[0];
    builder().set_span(columns.nest->span);
    Replace(column, place[1]);
    Operands totals = {builder().Load(columns.part, place)};
    for (int64_t row = 0; row < rows; ++row) {
      const Operands element =
          VisitBody(*ir::CloneBlock(arena(), *sum.blocks[0]), {builder().Add(first, Int(row))});
      totals = CombineWith(*sum.blocks[1], totals, element);
    }
    builder().Store(columns.part, place, totals[0]);
    Restore(column);
  }

  // The nest of the columns, where each sum is of what blocks have summed.
  void WriteSums(const Binding& nest, const std::vector<const Var*>& arrays,
                 const Operand& blocks) {
    const Binding& sum = *grouper_.SumOfColumns(nest);
    const Var* column = nest.blocks[0]->params[0];
    const Var* at = builder().NewVar(ir::DType::kI64, "b");
    Binding total = sum;
    total.operands[0] = blocks;
    total.blocks[0] = BlockOf({at}, [&] {
      Operands sums;
      for (const Var* array : arrays) sums.push_back(builder().Load(array, {at, column}));
      return sums;
    });
    Block body = *nest.blocks[0];
    std::replace(body.bindings.begin(), body.bindings.end(), &sum,
                 static_cast<const Binding*>(arena()->New(std::move(total))));
    WriteNest(nest, Int(0), Apply(nest.operands[0]), body, {{Attr::kPart, int64_t{1}}});
  }

  void Foreach(const Operands& extents, const std::function<void(const Operands&)>& write,
               const ir::Attributes& attrs = {}) {
    std::vector<const Var*> indexes;
    for (size_t k = 0; k < extents.size(); ++k)
      indexes.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Block* body = BlockOf(indexes, [&] {
      write({indexes.begin(), indexes.end()});
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, extents, attrs, {body});
  }

  PanelGrouper grouper_;
  bool may_overlap_;
  Context& context_;
  ir::FlatMap<const Var*, int> uses_;
  std::unordered_map<const Var*, const Var*> kept_;        // by array of prefixes, those of a run
  Operand run_ = Int(0);                                   // where that begins
  std::unordered_map<const Var*, const Binding*> again_;   // by array, what makes it
  std::unordered_map<const Binding*, PanelGroup> groups_;  // by member
};

}  // namespace

ir::Program FusePanels(const ir::Program& program, Context& context) {
  bool has_written = false;
  const ir::Program fused = ForEachFunction(program, [&](const ir::Function* function) {
    PanelFuser fuser(program.arena.get(), *function, context);
    const ir::Function* made = fuser.Run(function);
    has_written |= made != function;
    return made;
  });
  if (!has_written) return fused;
  // What is reduced of a row by several becomes one loop. That says nothing of the user's siblings.
  Context aside;
  aside.options = context.options;
  return FuseHorizontally(EliminateCommonSubexpressions(fused, aside), aside);
}

}  // namespace parakeet::passes
