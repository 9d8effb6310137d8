#ifndef PARAKEET_PASSES_LOWERING_LOWER_SCANS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_SCANS_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "ir/uses.h"
#include "passes/analyses/prefix_readers.h"
#include "passes/lowering/lower_device_scans.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes scans, in exactly the order that
// ir/interpreter_reductions.cc says: prefixes inside each block, what is before each block, and the
// two combined.
//
// A block is one chain of combines, each of which waits for the one before. Several blocks
// therefore run side by side: in lanes where the combine is dear, as scalars where it is cheap and
// rather computed twice than stored twice. A dear element of a cheap combine is computed once and
// first stands where its prefix is to be.
class ScanLowering : public DeviceScanLowering {
 public:
  using DeviceScanLowering::DeviceScanLowering;

 protected:
  void LowerScan(const ir::Binding& b);
  // Writes a nest that takes a scan's prefixes with the scan, or leaves the scan to such a nest:
  // then true, as for the nest. `make` makes the nest's own arrays.
  bool LowerWithReader(const ir::Binding& b,
                       const std::function<const ir::Var*(const ir::Var* result)>& make);
  // Finds the arrays that marked scans of the function are written over.
  void FindScannedOver(const ir::Function& function);
  // Finds the nests that are written with their scans.
  void FindReaders(const ir::Function& function);
  // Finds the scans of which the last prefix alone is read.
  void FindLast(const ir::Function& function);
  // Makes that prefix in place of such a scan, and puts it in the place of a load: then true.
  bool LowerLast(const ir::Binding& b);
  // One thread's prefixes of something: in order, and as a tree with lanes says. The last of them.
  Operands PutInOrder(const Reduction& r, const Put& put);
  void PutInLevels(const Reduction& r, const Put& put);

 private:
  // A scan being written in blocks.
  struct Scan {
    const Reduction& reduction;
    std::vector<const ir::Var*> results;  // Null for one whose array is left out.
    const Put& put;
    int64_t block;
    bool parallel;
    bool has_elements = false;             // The results hold the elements already.
    ir::Operand count{};                   // of blocks
    std::vector<const ir::Var*> before{};  // by block: what all blocks before it combine to
  };
  // Gets the prefixes of one of the blocks that run side by side.
  using Use = std::function<void(size_t chain, const ir::Operand& index, const Operands& prefixes)>;

  // Writes the scan, each prefix of which is given to `reader` too.
  void LowerScan(const ir::Binding& b, const PrefixReader* reader, const Put& reads);
  // The array of a result, which stands for it from here on; null for one that is left out.
  const ir::Var* ArrayFor(const ir::Binding& scan, size_t k, const PrefixReader* reader);
  Operands LastOf(Scan scan);
  void ScanInBlocks(const Scan& scan);
  void ScanBlocks(Scan scan);
  // What is before a block of the levels around, outermost first, where something is.
  struct Outer {
    ir::Operand exists;
    Operands values;
  };
  // The elements from lo to hi, of which there are some, at the first level of sizes; their total.
  Operands PutLevel(const Reduction& r, const std::vector<int64_t>& sizes,
                    const std::vector<Outer>& outer, const ir::Operand& lo, const ir::Operand& hi,
                    const Put& put);
  // The prefixes inside the runs of `length` elements from each of `starts`, side by side; each
  // run's last.
  std::vector<Operands> RunChains(const Scan& scan, const Operands& starts,
                                  const ir::Operand& length, const Use& use);
  ir::Operand IsOutdone(ir::OpCode extreme, const ir::Operand& best, const ir::Operand& value);
  Operands ElementOf(const Scan& scan, const ir::Operand& index);
  void StoreElements(const Scan& scan);
  void StorePrefixes(const Scan& scan, const ir::Operand& index, const Operands& prefixes);

  // Both ways leave the total of block b in before[b + 1], for every block but the first and last.
  void FoldGroups(const Scan& scan, size_t chains);
  void StoreCheaply(const Scan& scan);
  void StoreGroups(const Scan& scan, size_t chains);
  // The same of all blocks but the first in one traversal, by one thread.
  void StoreOneByOne(const Scan& scan);
  void StoreLocalPrefixes(const Scan& scan);
  void AddWhatIsBefore(const Scan& scan);
  void CombineTotals(const Scan& scan);

  // Groups of `chains` blocks from block 1 to `end`; `side_by_side` gets the first of a group of
  // whole ones, `single` each block of what is left.
  void EachGroup(const Scan& scan, size_t chains, const ir::Operand& end,
                 const std::function<void(const ir::Operand& first)>& side_by_side,
                 const std::function<void(const ir::Operand& block)>& single);
  ir::Operand StartOf(const Scan& scan, const ir::Operand& block);
  ir::Operand LengthOf(const Scan& scan, const ir::Operand& block);
  int64_t CostOfBlocks(const Scan& scan, int64_t blocks) const;
  ir::Attributes KindOf(const Scan& scan, int64_t cost) const;

  std::unordered_map<const ir::Var*, const ir::Var*> scanned_over_;  // by result
  std::unordered_map<const ir::Binding*, PrefixReader> readers_;     // by nest
  std::unordered_map<const ir::Binding*, const ir::Binding*> read_by_;
  ir::VarSet last_only_;                                   // results of scans
  std::unordered_map<const ir::Var*, ir::Operand> lasts_;  // by result
  static constexpr size_t kMostChains = 8;  // Sums that a processor has under way at a time.
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_SCANS_H_
