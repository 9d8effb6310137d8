#ifndef PARAKEET_PASSES_LOWERING_LOWER_ROW_SCANS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_ROW_SCANS_H_

#include <unordered_map>

#include "passes/analyses/row_scans.h"
#include "passes/lowering/lower_scans.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes scans of rows for a GPU, straight to where their prefixes
// are stored:
//
//   foreach (%i) in (%n) {
//     %s: [m]f64 = iscan (%j) in (%m) add tree(block 2048, lanes 16) {short = 64} { ... }
//     foreach (%j) in (%m) { %p = load %s[%j]  store %y[%i, %j], %p } }
//
// is one kernel over the chunks of all rows, of a block of threads each, as of a scan by itself
// (lower_device_scans.h): the chunks of a row wait for one another, and rows for nobody. Of rows
// that are one chunk, or less, a block has several (row_scan_tiles.cc). Rows of few elements, and columns that are enough for all threads of a GPU, are made by a thread each, in
// the same order; so are rows of which each has a length of its own.
class RowScanLowering : public ScanLowering {
 public:
  using ScanLowering::ScanLowering;

 protected:
  // `nest` is a row scan, and threads share it.
  void WriteRowScans(const ir::Binding& nest);

  // While prefixes are stored: a load of one. False for any other.
  bool VisitPrefix(const ir::Binding& access);

 private:
  // A row of which what is before the scan has been written.
  struct Row {
    RowScan parts;
    Reduction scan;
  };
  Row BeginRow(const ir::Binding& nest, const Operands& index);
  // What is stored of the prefix at an index.
  void StorePrefix(const RowScan& parts, const ir::Operand& index, const Operands& prefix);
  void WriteByThreads(const ir::Binding& nest, const Operands& extents);
  void WriteByChunks(const ir::Binding& nest, const Operands& extents);

  // --- Lines of one chunk each (row_scan_tiles.cc) ---

  // What the host knows of them.
  struct Tiles {
    const ir::Binding& nest;
    Radix radix;         // of the lines
    ir::Operand lines;   // how many
    ir::Operand length;  // of each
    bool are_columns = false;
    int64_t threads = 0;  // of a block
    int64_t lanes = 0;    // elements of a run, runs of a group
    ir::Operand runs;     // of a line
    ir::Operand shift;    // The room of a line is for
    ir::Operand room;     // so many runs, 1 << shift.
    ir::Operand lines_of_block;
  };
  // A thread's part: a run of a line, whose entries stand from `base` on.
  struct Place {
    ir::Operand thread, line, run, base;
  };
  using PlaceBody = std::function<void(const Place& place)>;

  static bool HasTiles(const Reduction& scan);
  Tiles TilesOf(const ir::Binding& nest, const Operands& extents, bool are_columns);
  void EachPlace(const Tiles& tiles, const ir::Operand& block, const PlaceBody& body);
  void WriteByTiles(const ir::Binding& nest, const Operands& extents, bool are_columns);
  void TakeRun(const Tiles& tiles, const Place& place, const Arrays& own, const Arrays& before_run);
  Operands FoldBefore(const Tiles& tiles, const Place& place, const Arrays& entries,
                      const ir::Operand& lo, const ir::Operand& hi);
  void PutRun(const Tiles& tiles, const Place& place, const Arrays& own, const Arrays& before_run,
              const Arrays& before_group);

  std::unordered_map<const ir::Var*, ir::Operand> prefixes_;  // by result of the scan
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_ROW_SCANS_H_
