// Scans of which nobody reads but the last prefix, np.cumsum(x)[-1]: no other one is stored, and
// the blocks of a sum are folded side by side, in the order that all prefixes have.
#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/scan_costs.h"
#include "passes/lowering/lower_scans.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

// True for a scan of numbers that can be made without its array.
bool NeedsNoArray(const Binding& b) {
  return b.op == OpCode::kIscan && b.results.size() == 1 && b.result()->type.rank() == 1 &&
         b.blocks[0]->params.size() == 1 && !b.attrs.Has(Attr::kOver) && !NeedsItsArrays(b) &&
         ir::TypeOf(b.blocks[1]->results[0]).IsScalar();
}

}  // namespace

void ScanLowering::FindLast(const ir::Function& function) {
  std::unordered_map<const Var*, const Binding*> scans;
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (NeedsNoArray(b)) scans[b.result()] = &b;
  });
  if (scans.empty()) return;
  std::unordered_map<const Var*, int> uses;
  ir::ForEachUse(*function.body, [&](const Var* value) { ++uses[value]; });
  const WrappingForms forms(function);
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (b.op != OpCode::kLoad || !scans.contains(b.operands[0].var())) return;
    const Binding& scan = *scans.at(b.operands[0].var());
    const LinearForm behind = Difference(forms.Of(scan.operands[0]), forms.Of(b.operands[1]));
    if (behind.IsConstant() && behind.constant == 1) --uses[scan.result()];
  });
  for (const auto& [result, scan] : scans) {
    if (uses[result] == 0) last_only_.insert(result);
  }
}

bool ScanLowering::LowerLast(const Binding& b) {
  if (b.op == OpCode::kLoad) {
    const auto made = lasts_.find(b.operands[0].var());
    if (made == lasts_.end()) return false;
    Replace(b.result(), made->second);
    return true;
  }
  if (b.op != OpCode::kIscan || !last_only_.contains(b.result())) return false;
  const Reduction r = Describe(b);
  const Put nowhere = [](const Operand&, const Operands&) {};
  const Scan scan{
      r, {nullptr}, nowhere, b.attrs.Int(Attr::kBlock), b.attrs.Int(Attr::kParallel) != 0};
  const auto none = [&] { return Operands{ir::ZeroOf(b.result()->type.dtype())}; };
  const Operand some = builder().Scalar(OpCode::kGt, {r.extents[0], Int(0)});
  lasts_[b.result()] = Choose(some, [&] { return LastOf(scan); }, none)[0];
  return true;
}

// What there is of a scan of so many elements: its first block, or those before the last, and that.
Operands ScanLowering::LastOf(Scan scan) {
  const Reduction& r = scan.reduction;
  const auto with_init = [&](const Operands& prefixes) {
    return r.inits.empty() ? prefixes : Combine(r, r.inits, prefixes);
  };
  if (scan.block == 0 || MayGoInOrder(r.binding)) return PutInOrder(r, scan.put);
  const auto ignore = [](size_t, const Operand&, const Operands&) {};
  const Operand& extent = r.extents[0];
  const Operands first = RunChains(scan, {Int(0)}, Min(extent, Int(scan.block)), ignore)[0];
  const auto of_more = [&] {
    scan.count = CeilDiv(extent, Int(scan.block));
    scan.before = AllocateParts(r.binding, scan.count);
    StoreAll(scan.before, Int(1), with_init(first));
    FoldGroups(scan, kMostChains);
    CombineTotals(scan);
    const Operand last = builder().Sub(scan.count, Int(1));
    const auto total = RunChains(scan, {StartOf(scan, last)}, LengthOf(scan, last), ignore)[0];
    return Combine(r, LoadAll(scan.before, last), total);
  };
  return Choose(builder().Scalar(OpCode::kGt, {extent, Int(scan.block)}), of_more,
                [&] { return with_init(first); });
}

}  // namespace parakeet::passes
