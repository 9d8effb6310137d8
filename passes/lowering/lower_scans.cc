#include "passes/lowering/lower_scans.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_reuse.h"
#include "passes/analyses/scan_costs.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kElementsAtOnce = 4096;
constexpr int64_t kFewThreads = 4;  // So many are not faster in two traversals than one in one.
constexpr int64_t kUsualScanLanes = 8;
constexpr int64_t kQuickStep = 8;      // One that costs no more waits for memory, in one chain too.
constexpr int64_t kBlocksAtOnce = 32;  // Of lanes: what one thread takes.

// Which extreme of complex numbers the combine gives, if it does.
std::optional<OpCode> ComplexExtreme(const Binding& scan) {
  const std::optional<OpCode> op = ir::CombineOp(*scan.blocks[1]);
  const bool is_extreme = op && (*op == OpCode::kMin || *op == OpCode::kMax);
  const bool is_one = is_extreme && scan.results.size() == 1;
  return is_one && ir::IsComplex(scan.result()->type.dtype()) ? op : std::nullopt;
}

Attributes VectorKind() { return {{Attr::kKind, std::string("vector")}}; }

}  // namespace

void ScanLowering::FindScannedOver(const ir::Function& function) {
  std::vector<const Binding*> marked;
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (b.op == OpCode::kIscan && b.attrs.Int(Attr::kOver) != 0) marked.push_back(&b);
  });
  if (marked.empty()) return;
  const ReuseFinder finder(function, /*copies_slices=*/true);
  for (const Binding* scan : marked) {
    for (const Var* result : scan->results) {
      if (const Var* array = finder.ScannedOver(result)) scanned_over_[result] = array;
    }
  }
}

void ScanLowering::FindReaders(const ir::Function& function) {
  readers_ = FindPrefixReaders(function, for_kernels_);
  for (const auto& [nest, reader] : readers_) read_by_[reader.scan] = nest;
}

bool ScanLowering::LowerWithReader(const Binding& b,
                                   const std::function<const Var*(const Var*)>& make) {
  if (read_by_.contains(&b)) return true;
  const auto found = readers_.find(&b);
  if (found == readers_.end()) return false;
  const PrefixReader& reader = found->second;
  std::vector<const Var*> made;
  for (const Var* result : b.results) made.push_back(make(result));
  LowerScan(*reader.scan, &reader, [&](const Operand& index, const Operands& prefixes) {
    Operands arguments = {index};
    for (const size_t k : reader.takes) arguments.push_back(prefixes[k]);
    const Operands values = VisitBody(*ir::CloneBlock(arena(), reader.body), arguments);
    for (size_t k = 0; k < made.size(); ++k) StoreElement(made[k], {index}, values[k]);
  });
  return true;
}

void ScanLowering::LowerScan(const Binding& b) {
  LowerScan(b, nullptr, [](const Operand&, const Operands&) {});
}

const Var* ScanLowering::ArrayFor(const Binding& scan, size_t k, const PrefixReader* reader) {
  const Var* result = scan.results[k];
  if (reader != nullptr && reader->arrays[k] == PrefixReader::kLeftOut) return nullptr;
  const auto over = scanned_over_.find(result);
  const Var* array = over != scanned_over_.end()
                         ? Apply(Operand(over->second)).var()
                         : builder().NewVar(Apply(result->type), result->hint);
  if (over == scanned_over_.end()) builder().Emit(OpCode::kAlloc, {array}, array->type.dims());
  Replace(result, array);
  const bool is_reused = reader != nullptr && reader->arrays[k] == PrefixReader::kReused;
  return is_reused ? nullptr : array;
}

void ScanLowering::LowerScan(const Binding& b, const PrefixReader* reader, const Put& reads) {
  const Reduction r = Describe(b);
  const int64_t block = r.has_arrays ? 0 : b.attrs.Int(Attr::kBlock);
  std::vector<const Var*> results;
  for (size_t k = 0; k < b.results.size(); ++k) results.push_back(ArrayFor(b, k, reader));
  const Operand some = builder().Scalar(OpCode::kGt, {r.extents[0], Int(0)});
  const Put put = [&](const Operand& index, const Operands& values) {
    for (size_t k = 0; k < results.size(); ++k) {
      if (results[k] != nullptr) StoreElement(results[k], {index}, values[k]);
    }
    reads(index, values);
  };
  const Scan scan{r, results, put, block, b.attrs.Int(Attr::kParallel) != 0};
  const auto write = [&] {
    if (r.lanes > 1 && !r.has_arrays) {
      const bool is_cheap = reader == nullptr || CostOf(reader->body) <= kCheapPut;
      scan.parallel ? ScanOnDevice(r, scan.results, put, is_cheap) : PutInLevels(r, put);
      return Operands{};
    }
    block > 0 ? ScanInBlocks(scan) : void(PutInOrder(r, put));
    return Operands{};
  };
  Choose(some, write, [] { return Operands{}; });
}

// Blocks take two traversals, which a few threads make up for but one does not.
void ScanLowering::ScanInBlocks(const Scan& scan) {
  if (!MayGoInOrder(scan.reduction.binding)) return ScanBlocks(scan);
  if (!scan.parallel) return void(PutInOrder(scan.reduction, scan.put));
  const Operand threads = builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {}, {}, {}, "threads");
  const auto in_order = [&] {
    PutInOrder(scan.reduction, scan.put);
    return Operands{};
  };
  const auto in_blocks = [&] {
    ScanBlocks(scan);
    return Operands{};
  };
  Choose(builder().Scalar(OpCode::kLe, {threads, Int(kFewThreads)}), in_order, in_blocks);
}

// From the init, or from the first element.
Operands ScanLowering::PutInOrder(const Reduction& r, const Put& put) {
  Operands first = Element(r, {Int(0)});
  if (!r.inits.empty()) first = Combine(r, r.inits, first);
  put(Int(0), first);
  return Carry(Int(1), r.extents[0], first, [&](const Operand& i, const Operands& so_far) {
    const Operands element = Element(r, {i});
    const auto combine = [&] { return Combine(r, so_far, element); };
    const auto extreme = in_lanes_ ? std::nullopt : ComplexExtreme(r.binding);
    // Mostly nothing changes, which real parts tell: the next step need not wait for this one.
    const Operands next =
        extreme ? Choose(IsOutdone(*extreme, so_far[0], element[0]), [&] { return so_far; },
                         combine, {{Attr::kLikely, int64_t{1}}})
                : combine();
    put(i, next);
    return next;
  });
}

// Whether real parts alone put `value` behind `best`, and neither is nan.
Operand ScanLowering::IsOutdone(OpCode extreme, const Operand& best, const Operand& value) {
  const auto part = [&](OpCode of, const Operand& z) { return builder().Scalar(of, {z}); };
  const OpCode order = extreme == OpCode::kMax ? OpCode::kLt : OpCode::kGt;
  const Operand is_behind =
      builder().Scalar(order, {part(OpCode::kReal, value), part(OpCode::kReal, best)});
  const Operand some_nan =
      builder().Scalar(OpCode::kOr, {part(OpCode::kIsNan, part(OpCode::kImag, value)),
                                     part(OpCode::kIsNan, part(OpCode::kImag, best))});
  return builder().Scalar(OpCode::kAnd, {is_behind, part(OpCode::kNot, some_nan)});
}

void ScanLowering::PutInLevels(const Reduction& r, const Put& put) {
  const auto in_order = [&] {
    PutInOrder(r, put);
    return Operands{};
  };
  const auto in_levels = [&] {
    const int64_t block = r.binding.attrs.Int(Attr::kBlock);
    PutLevel(r, {block * r.lanes * r.lanes, block * r.lanes, block, r.lanes * r.lanes, r.lanes}, {},
             Int(0), r.extents[0], put);
    return Operands{};
  };
  const int64_t least = r.binding.attrs.Int(Attr::kShort);
  Choose(builder().Scalar(OpCode::kLt, {r.extents[0], Int(least)}), in_order, in_levels);
}

// What is before the first block of a level is the identity, where there is one; of the outermost
// level, the init.
Operands ScanLowering::PutLevel(const Reduction& r, const std::vector<int64_t>& sizes,
                                const std::vector<Outer>& outer, const Operand& lo,
                                const Operand& hi, const Put& put) {
  if (sizes.empty()) {
    const auto prefix = [&](const Operand& i, const Operands& own) {
      Operands values = own;
      for (auto level = outer.rbegin(); level != outer.rend(); ++level) {
        values = Choose(
            level->exists, [&] { return Combine(r, level->values, values); },
            [&] { return values; });
      }
      put(i, values);
      return own;
    };
    const bool peel = r.starts.empty();
    const Operands first = peel ? prefix(lo, Element(r, {lo})) : r.starts;
    return Carry(peel ? builder().Add(lo, Int(1)) : lo, hi, first,
                 [&](const Operand& i, const Operands& so_far) {
                   return prefix(i, Combine(r, so_far, Element(r, {i})));
                 });
  }
  Operands nothing = outer.empty() && !r.inits.empty() ? r.inits : r.starts;
  const bool exists_first = !nothing.empty();
  for (const Operand& result : r.binding.blocks[1]->results) {
    if (!exists_first) nothing.push_back(builder().Cast(Int(0), ir::DTypeOf(result)));
  }
  const auto block = [&](const Operand& from, const Operands& so_far) {
    const Operand exists =
        exists_first ? Operand::Bool(true) : builder().Scalar(OpCode::kGt, {from, lo});
    std::vector<Outer> around = outer;
    around.push_back({exists, so_far});
    const Operand to = Min(builder().Add(from, Int(sizes[0])), hi);
    const Operands total = PutLevel(r, {sizes.begin() + 1, sizes.end()}, around, from, to, put);
    return Choose(exists, [&] { return Combine(r, so_far, total); }, [&] { return total; });
  };
  return Carry(lo, hi, nothing, block, sizes[0]);
}

Operands ScanLowering::ElementOf(const Scan& scan, const Operand& index) {
  return scan.has_elements ? LoadAll(scan.results, index) : Element(scan.reduction, {index});
}

std::vector<Operands> ScanLowering::RunChains(const Scan& scan, const Operands& starts,
                                              const Operand& length, const Use& use) {
  const Reduction& r = scan.reduction;
  const bool peel = r.starts.empty();
  const size_t width = r.binding.results.size();
  Operands carried;
  for (size_t chain = 0; chain < starts.size(); ++chain) {
    const Operands first = peel ? ElementOf(scan, starts[chain]) : r.starts;
    if (peel) use(chain, starts[chain], first);
    carried.insert(carried.end(), first.begin(), first.end());
  }
  const auto part = [&](const Operands& all, size_t chain) {
    return Operands(all.begin() + chain * width, all.begin() + (chain + 1) * width);
  };
  const Operands last =
      Carry(Int(peel ? 1 : 0), length, carried, [&](const Operand& k, const Operands& so_far) {
        Operands next;
        for (size_t chain = 0; chain < starts.size(); ++chain) {
          const Operand index = builder().Add(starts[chain], k);
          const Operands made = Combine(r, part(so_far, chain), ElementOf(scan, index));
          use(chain, index, made);
          next.insert(next.end(), made.begin(), made.end());
        }
        return next;
      });
  std::vector<Operands> totals;
  for (size_t chain = 0; chain < starts.size(); ++chain) totals.push_back(part(last, chain));
  return totals;
}

// The first block stands alone: it is all of a short scan, and nothing need be before it.
void ScanLowering::ScanBlocks(Scan scan) {
  const Reduction& r = scan.reduction;
  const auto with_init = [&](const Operands& prefixes) {
    return r.inits.empty() ? prefixes : Combine(r, r.inits, prefixes);
  };
  const Operand& extent = r.extents[0];
  scan.has_elements = StoresElementsFirst(r.binding);
  if (scan.has_elements) StoreElements(scan);
  const Operands first = RunChains(scan, {Int(0)}, Min(extent, Int(scan.block)),
                                   [&](size_t, const Operand& index, const Operands& prefixes) {
                                     scan.put(index, with_init(prefixes));
                                   })[0];
  const auto write_rest = [&] {
    scan.count = CeilDiv(extent, Int(scan.block));
    scan.before = AllocateParts(r.binding, scan.count);
    StoreAll(scan.before, Int(1), with_init(first));
    if (IsDearToCombine(r.binding)) {
      StoreLocalPrefixes(scan);
      CombineTotals(scan);
      AddWhatIsBefore(scan);
    } else {
      StoreCheaply(scan);
    }
    return Operands{};
  };
  Choose(builder().Scalar(OpCode::kGt, {extent, Int(scan.block)}), write_rest,
         [] { return Operands{}; });
}

// Two traversals pay where several threads share them.
void ScanLowering::StoreCheaply(const Scan& scan) {
  const auto by_groups = [&] {
    const size_t chains = std::max<size_t>(1, kMostChains / scan.results.size());
    FoldGroups(scan, chains);
    CombineTotals(scan);
    StoreGroups(scan, chains);
    return Operands{};
  };
  const auto one_by_one = [&] {
    StoreOneByOne(scan);
    return Operands{};
  };
  if (StepCost(scan.reduction.binding) > kQuickStep) return void(by_groups());
  if (!scan.parallel) return void(one_by_one());
  const Operand threads = builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {}, {}, {}, "threads");
  Choose(builder().Scalar(OpCode::kLe, {threads, Int(kFewThreads)}), one_by_one, by_groups);
}

void ScanLowering::StoreElements(const Scan& scan) {
  const Binding& b = scan.reduction.binding;
  const Operand& extent = scan.reduction.extents[0];
  const bool in_lanes = HasElementsInLanes(b);
  const int64_t cost =
      std::max<int64_t>(1, CostOf(*b.blocks[0]) / (in_lanes ? kUsualScanLanes : 1));
  const auto chunk = [&](const Operand& lo) {
    const Operand hi = Min(builder().Add(lo, Int(kElementsAtOnce)), extent);
    const bool outer_lanes = std::exchange(in_lanes_, in_lanes_ || in_lanes);
    Loop(lo, hi, in_lanes ? VectorKind() : Attributes{},
         [&](const Operand& i) { StoreAll(scan.results, i, Element(scan.reduction, {i})); });
    in_lanes_ = outer_lanes;
  };
  Loop(Int(0), extent, KindOf(scan, cost * kElementsAtOnce), chunk, kElementsAtOnce);
}

void ScanLowering::CombineTotals(const Scan& scan) {
  Loop(Int(2), scan.count, {}, [&](const Operand& block) {
    const Operands so_far = LoadAll(scan.before, builder().Sub(block, Int(1)));
    StoreAll(scan.before, block, Combine(scan.reduction, so_far, LoadAll(scan.before, block)));
  });
}

Operand ScanLowering::StartOf(const Scan& scan, const Operand& block) {
  return builder().Mul(block, Int(scan.block));
}

Operand ScanLowering::LengthOf(const Scan& scan, const Operand& block) {
  const Operand left = builder().Sub(scan.reduction.extents[0], StartOf(scan, block));
  return Min(left, Int(scan.block));
}

Attributes ScanLowering::KindOf(const Scan& scan, int64_t cost) const {
  if (!scan.parallel) return {};
  return {{Attr::kKind, std::string("parallel")}, {Attr::kCost, std::max<int64_t>(1, cost)}};
}

int64_t ScanLowering::CostOfBlocks(const Scan& scan, int64_t blocks) const {
  return StepCost(scan.reduction.binding) * scan.block * blocks;
}

// --- Cheap steps: totals, then all prefixes again, with what is before them. ---

void ScanLowering::EachGroup(const Scan& scan, size_t chains, const Operand& end,
                             const std::function<void(const Operand&)>& side_by_side,
                             const std::function<void(const Operand&)>& single) {
  const int64_t width = static_cast<int64_t>(chains);
  const Operand groups = CeilDiv(builder().Sub(end, Int(1)), Int(width));
  const Operand last = builder().Sub(scan.count, Int(1));
  Loop(Int(0), groups, KindOf(scan, CostOfBlocks(scan, width)), [&](const Operand& group) {
    const Operand first = builder().Add(builder().Mul(group, Int(width)), Int(1));
    const Operand next = builder().Add(first, Int(width));
    const auto together = [&] {
      side_by_side(first);
      return Operands{};
    };
    const auto alone = [&] {
      Loop(first, Min(next, end), {}, single);
      return Operands{};
    };
    Choose(builder().Scalar(OpCode::kLe, {next, last}), together, alone);
  });
}

void ScanLowering::FoldGroups(const Scan& scan, size_t chains) {
  const auto fold = [&](const Operand& first, size_t count) {
    Operands starts;
    for (size_t k = 0; k < count; ++k)
      starts.push_back(StartOf(scan, builder().Add(first, Int(static_cast<int64_t>(k)))));
    const auto ignore = [](size_t, const Operand&, const Operands&) {};
    const auto totals = RunChains(scan, starts, Int(scan.block), ignore);
    for (size_t k = 0; k < count; ++k)
      StoreAll(scan.before, builder().Add(first, Int(static_cast<int64_t>(k + 1))), totals[k]);
  };
  EachGroup(
      scan, chains, builder().Sub(scan.count, Int(1)),
      [&](const Operand& first) { fold(first, chains); },
      [&](const Operand& block) { fold(block, 1); });
}

void ScanLowering::StoreGroups(const Scan& scan, size_t chains) {
  const auto store = [&](const Operand& first, size_t count, const Operand& length) {
    Operands starts;
    std::vector<Operands> before;
    for (size_t k = 0; k < count; ++k) {
      const Operand block = builder().Add(first, Int(static_cast<int64_t>(k)));
      starts.push_back(StartOf(scan, block));
      before.push_back(LoadAll(scan.before, block));
    }
    RunChains(scan, starts, length,
              [&](size_t chain, const Operand& index, const Operands& prefixes) {
                scan.put(index, Combine(scan.reduction, before[chain], prefixes));
              });
  };
  EachGroup(
      scan, chains, scan.count,
      [&](const Operand& first) { store(first, chains, Int(scan.block)); },
      [&](const Operand& block) { store(block, 1, LengthOf(scan, block)); });
}

void ScanLowering::StoreOneByOne(const Scan& scan) {
  const Operands second = LoadAll(scan.before, Int(1));
  Carry(Int(1), scan.count, second, [&](const Operand& block, const Operands& before) {
    const Use store = [&](size_t, const Operand& index, const Operands& prefixes) {
      scan.put(index, Combine(scan.reduction, before, prefixes));
    };
    const auto totals = RunChains(scan, {StartOf(scan, block)}, LengthOf(scan, block), store);
    return Combine(scan.reduction, before, totals[0]);
  });
}

// --- Dear steps: the prefixes inside the blocks are stored, and combined where they are. ---

void ScanLowering::StoreLocalPrefixes(const Scan& scan) {
  const Use store = [&](size_t, const Operand& index, const Operands& prefixes) {
    StoreAll(scan.results, index, prefixes);
  };
  const Operand last = builder().Sub(scan.count, Int(1));
  const bool in_lanes = CombinesInLanes(scan.reduction.binding);
  const int64_t width = in_lanes ? kBlocksAtOnce : 1;
  const Operand groups = CeilDiv(builder().Sub(last, Int(1)), Int(width));
  Loop(Int(0), groups, KindOf(scan, CostOfBlocks(scan, width)), [&](const Operand& group) {
    const Operand first = builder().Add(builder().Mul(group, Int(width)), Int(1));
    const Operand end = Min(builder().Add(first, Int(width)), last);
    const bool outer_lanes = std::exchange(in_lanes_, in_lanes_ || in_lanes);
    Loop(first, end, in_lanes ? VectorKind() : Attributes{}, [&](const Operand& block) {
      const auto totals = RunChains(scan, {StartOf(scan, block)}, Int(scan.block), store);
      StoreAll(scan.before, builder().Add(block, Int(1)), totals[0]);
    });
    in_lanes_ = outer_lanes;
  });
  RunChains(scan, {StartOf(scan, last)}, LengthOf(scan, last), store);
}

void ScanLowering::AddWhatIsBefore(const Scan& scan) {
  const bool in_lanes = CombinesInLanes(scan.reduction.binding);
  Loop(Int(1), scan.count, KindOf(scan, CostOfBlocks(scan, 1)), [&](const Operand& block) {
    const Operand lo = StartOf(scan, block);
    const Operand hi = builder().Add(lo, LengthOf(scan, block));
    const Operands before = LoadAll(scan.before, block);
    Loop(lo, hi, in_lanes ? VectorKind() : Attributes{}, [&](const Operand& i) {
      StoreAll(scan.results, i, Combine(scan.reduction, before, LoadAll(scan.results, i)));
    });
  });
}

}  // namespace parakeet::passes
