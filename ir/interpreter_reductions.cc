// The order of reductions and scans, which every target follows bit for bit.
//
// Without the attributes block and lanes, or with block 0 and lanes 1: a left fold in index order,
// from init combined from the left, or from the first element. With `run R`, over one axis, the
// same of the first R elements; every further R are a left fold from the combine's identity, and
// the folds are combined from the left.
//
// With `block B, lanes L`: the reduced index space is row-major (n1 .. nk); inner = nk, rows = the
// product of the others, 1 when there are none.
//
// 1. Parts. With B = 0 there is one, of all rows. Else, where inner > B, a row is cut into
//    ceil(inner / B) columns and a part is one segment of one row; otherwise a part is
//    max(1, B / inner) whole rows. Parts are numbered by rows, then by columns (reduction_tree.h).
//    With `block B to M`, over one axis, B doubles up to M while there would be over 1024 parts.
//
// 2. A part is the left fold, over its rows in order, of run(row, lo..hi).
//
// 3. A run with L = 1 is the left fold of its elements from the first. With L > 1 every lane starts
//    from the combine's identity where all accumulators' combines have one, else from the run's
//    first element (such a combine is idempotent). Lane l takes lo+l, lo+l+L, ... in order. Then
//    for h = L/2, ..., 2, 1 and every j < h: lane[j] = combine(lane[j], lane[j+h]). With `step S`,
//    lane l of a run of up to L S elements takes the S from lo+l S on, in order, and nothing else.
//    With `run R`, a multiple of L, and L > 1, lanes start again at every R elements; what a lane
//    has of each R is combined from the left, before lanes are.
//    With `short S`, a run of fewer than S elements has L = 1.
//
// 4. Parts combine as a balanced tree: for s = 1, 2, 4, ... and i = 0, 2s, 4s, ... with i + s < P:
//    part[i] = combine(part[i], part[i+s]).
//
// 5. Last, once: combine(init, total). An empty space gives init.
//
// A scan without block is the left fold, every prefix kept. With block B: each block's own prefixes
// are its left fold from its first element; what is before a block are the totals of those before
// it, combined from the left, starting from init; a prefix is combine(before, own prefix), in the
// first block without init its own. So prefixes of sums of what is not negative never fall.
//
// With `block B, lanes L` and L > 1 the same at several levels: blocks of L elements are cut from
// blocks of L^2, those from blocks of B, those from B L, and those from B L^2. What is before a
// block are the totals of those before it in the block around, combined from the left; before one
// of B L^2, the totals of all those before it, starting from init. A prefix is the block's own,
// combined with what is before the block, that with what is before the block around, and so on
// outwards. With `short S`, a scan of fewer than S elements is the left fold.

#include <algorithm>
#include <bit>
#include <utility>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/diagnostics.h"
#include "ir/interpreter_machine.h"
#include "ir/reduction_tree.h"

namespace parakeet::ir {
namespace {

// The index whose leading part is `outer` and whose reduced part is of `row`; the inner index is
// left 0.
Index IndexOfRow(const Index& outer, const std::vector<int64_t>& extents, int64_t row) {
  Index index = outer;
  index.resize(outer.size() + extents.size(), 0);
  for (size_t axis = extents.size() - 1; axis-- > 0;) {
    index[outer.size() + axis] = row % extents[axis];
    row /= extents[axis];
  }
  return index;
}

// How many elements the blocks of a scan of `count` have, the innermost first.
std::vector<int64_t> BlocksOfScan(const Attributes& attrs, int64_t count) {
  const int64_t block = attrs.Int(Attr::kBlock);
  const int64_t lanes = attrs.Int(Attr::kLanes, 1);
  if (block == 0 || count < attrs.Int(Attr::kShort)) return {};
  if (lanes == 1) return {block};
  return {lanes, lanes * lanes, block, block * lanes, block * lanes * lanes};
}

// An operator's arrays are new: a total that is a slice of an operand, or init itself, is copied.
Values Owned(Values values) {
  for (RuntimeValue& value : values) {
    if (const auto* array = std::get_if<ArrayValue>(&value)) value = CopyOf(*array);
  }
  return values;
}

}  // namespace

Values Machine::InitsOf(const Step& step) const {
  Values inits;
  for (size_t i = step.blocks[0].params.size(); i < step.operands.size(); ++i) {
    inits.push_back(At(step.operands[i]));
  }
  return inits;
}

Values Machine::Element(const Step& step, const Index& index) {
  RunElement(step, index);
  return ResultsOf(step.blocks[0]);
}

Values Machine::Combine(const Step& step, Values left, Values right) {
  return CombineBy(step.blocks[1], std::move(left), std::move(right));
}

Values Machine::CombineBy(const BlockCode& block, Values left, Values right) {
  const size_t count = left.size();
  SetParams(block, std::move(left));
  SetParams(block, std::move(right), count);
  Run(block);
  return ResultsOf(block);
}

void Machine::Accumulate(const Step& step, Values& accumulators, Values right) {
  accumulators = accumulators.empty() ? std::move(right)
                                      : Combine(step, std::move(accumulators), std::move(right));
}

Values Machine::Identities(const Step& step) const {
  const std::vector<Constant> identities = TraitsOf(*step.binding->blocks[1]).identities;
  return Values(identities.begin(), identities.end());
}

Values Machine::FoldInOrder(const Step& step, const Index& outer,
                            const std::vector<int64_t>& extents) {
  Values total = InitsOf(step);
  Index index = outer;
  ForEachIndex(extents, [&](const Index& inner) {
    index.resize(outer.size());
    index.insert(index.end(), inner.begin(), inner.end());
    Accumulate(step, total, Element(step, index));
  });
  return total;
}

Values Machine::FoldInRuns(const Step& step, const Index& outer, int64_t size, int64_t run) {
  Values total = InitsOf(step);
  Index index = outer;
  index.push_back(0);
  for (int64_t lo = 0; lo < size; lo += run) {
    Values of_run = lo == 0 ? std::move(total) : Identities(step);
    for (index.back() = lo; index.back() < std::min(size, lo + run); ++index.back())
      Accumulate(step, of_run, Element(step, index));
    if (lo == 0) total = std::move(of_run);
    else Accumulate(step, total, std::move(of_run));
  }
  return total;
}

Values Machine::RunOfLanes(const Step& step, Index& index, int64_t lo, int64_t hi) {
  const Attributes& attrs = step.binding->attrs;
  const int64_t most_lanes = hi - lo < attrs.Int(Attr::kShort) ? 1 : attrs.Int(Attr::kLanes, 1);
  const Values identities = most_lanes > 1 ? Identities(step) : Values();
  const int64_t together = attrs.Int(Attr::kStep, 1);
  const int64_t neighbours = hi - lo <= most_lanes * together ? together : 1;
  // Lanes without elements change nothing.
  const int64_t lanes =
      std::min<int64_t>(most_lanes, std::bit_ceil<uint64_t>(std::max<int64_t>(hi - lo, 1)));
  const int64_t run = most_lanes > 1 ? attrs.Int(Attr::kRun) : 0;
  std::vector<Values> accumulators(lanes, identities), before(lanes), starts = accumulators;
  for (int64_t i = lo; i < hi; ++i) {
    if (!index.empty()) index.back() = i;
    Values element = Element(step, index);
    if (i == lo && most_lanes > 1 && identities.empty())
      starts = accumulators = std::vector<Values>(lanes, element);
    if (run > 0 && i > lo && (i - lo) % run == 0) {
      for (int64_t l = 0; l < lanes; ++l)
        Accumulate(step, before[l], std::exchange(accumulators[l], starts[l]));
    }
    Accumulate(step, accumulators[(i - lo) / neighbours % lanes], std::move(element));
  }
  if (run > 0 && hi - lo > run) {
    for (int64_t l = 0; l < lanes; ++l) Accumulate(step, before[l], std::move(accumulators[l]));
    accumulators = std::move(before);
  }
  return CombineHalves(step, std::move(accumulators));
}

Values Machine::CombineHalves(const Step& step, std::vector<Values> lanes) {
  for (size_t half = lanes.size() / 2; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) {
      lanes[j] = Combine(step, std::move(lanes[j]), std::move(lanes[j + half]));
    }
  }
  return std::move(lanes[0]);
}

Values Machine::Tree(const Step& step, const Index& outer, const std::vector<int64_t>& extents) {
  const Attributes& attrs = step.binding->attrs;
  const ReductionTree tree(extents, attrs.Int(Attr::kBlock), attrs.Int(Attr::kMostBlock));
  if (tree.IsEmpty()) return InitsOf(step);
  std::vector<Values> parts(tree.shape().parts);
  for (size_t p = 0; p < parts.size(); ++p) {
    const TreePart part = tree.Part(static_cast<int64_t>(p));
    for (int64_t row = part.first_row; row < part.last_row; ++row) {
      Index index = extents.empty() ? outer : IndexOfRow(outer, extents, row);
      Accumulate(step, parts[p], RunOfLanes(step, index, part.lo, part.hi));
    }
  }
  Values total = attrs.Has(Attr::kMostBlock) ? CombineByLanes(step, std::move(parts))
                                             : CombineNeighbours(step, std::move(parts));
  return HasInits(step) ? Combine(step, InitsOf(step), std::move(total)) : total;
}

Values Machine::CombineByLanes(const Step& step, std::vector<Values> parts) {
  const Values identities = Identities(step);
  std::vector<Values> lanes(step.binding->attrs.Int(Attr::kLanes),
                            identities.empty() ? parts[0] : identities);
  for (size_t p = 0; p < parts.size(); ++p)
    Accumulate(step, lanes[p % lanes.size()], std::move(parts[p]));
  return CombineHalves(step, std::move(lanes));
}

Values Machine::CombineNeighbours(const Step& step, std::vector<Values> parts) {
  for (size_t s = 1; s < parts.size(); s *= 2) {
    for (size_t i = 0; i + s < parts.size(); i += 2 * s) {
      parts[i] = Combine(step, std::move(parts[i]), std::move(parts[i + s]));
    }
  }
  return std::move(parts[0]);
}

Values Machine::ReduceFrom(const Step& step, const Index& outer,
                           const std::vector<int64_t>& extents) {
  const Attributes& attrs = step.binding->attrs;
  const bool in_order = attrs.Int(Attr::kBlock) == 0 && attrs.Int(Attr::kLanes, 1) == 1;
  const int64_t run = attrs.Int(Attr::kRun);
  Values total = !in_order ? Tree(step, outer, extents)
                 : run > 0 ? FoldInRuns(step, outer, extents[0], run)
                           : FoldInOrder(step, outer, extents);
  if (total.empty()) {
    FailBug("a reduction of nothing has no init: a check is missing", step.binding->span);
  }
  return total;
}

void Machine::Reduce(const Step& step) {
  SetAll(step, Owned(ReduceFrom(step, {}, ExtentsOf(step))));
}

void Machine::Scan(const Step& step) {
  const std::vector<int64_t> extents = ExtentsOf(step);
  if (extents.size() != 1) FailBug("a scan runs along one axis", step.binding->span);
  const int64_t count = extents[0];
  const std::vector<int64_t> sizes = BlocksOfScan(step.binding->attrs, count);
  std::vector<ArrayValue> arrays;
  for (size_t i = 0; i < step.results.size(); ++i) arrays.push_back(NewResult(step, i, {count}));
  // By level: what is before the element's block, in the block around; first the block's own.
  std::vector<Values> before(sizes.size() + 1);
  before.back() = InitsOf(step);
  for (int64_t i = 0; i < count; ++i) {
    Accumulate(step, before[0], Element(step, {i}));
    Values prefix = before[0];
    for (size_t level = 1; level < before.size(); ++level) {
      if (!before[level].empty()) prefix = Combine(step, before[level], std::move(prefix));
    }
    for (size_t k = 0; k < arrays.size(); ++k) WriteAt(arrays[k], {i}, prefix[k]);
    for (size_t level = 0; level < sizes.size(); ++level) {
      if (i + 1 == count || (i + 1) % sizes[level] != 0) break;
      Accumulate(step, before[level + 1], std::exchange(before[level], {}));
    }
  }
  for (size_t k = 0; k < arrays.size(); ++k) Set(step, k, std::move(arrays[k]));
}

// Operands: lo, hi, and where every lane starts.
void Machine::Lanes(const Step& step) {
  const int64_t lanes = step.binding->attrs.Int(Attr::kLanes, 1);
  const int64_t lo = IntAt(step.operands[0]);
  const int64_t hi = IntAt(step.operands[1]);
  Values inits;
  for (size_t i = 2; i < step.operands.size(); ++i) inits.push_back(At(step.operands[i]));
  std::vector<Values> accumulators(lanes, inits);
  for (int64_t i = lo; i < hi; ++i) {
    Values& held = accumulators[(i - lo) % lanes];
    held = CombineBy(step.blocks.back(), std::move(held), Element(step, {i}));
  }
  SetAll(step, CombineHalves(step, std::move(accumulators)));
}

}  // namespace parakeet::ir
