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
// that are one chunk, or less, and of columns, a block has several (row_scan_tiles.cc). Rows of few
// elements, and columns that are enough for all threads of a GPU, are made by a thread each, in the
// same order; so are rows of which each has a length of its own.
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

  // --- Several lines to a block (row_scan_tiles.cc) ---

  // Rows and columns of one chunk each, and columns of several.
  enum class TileKind : uint8_t { kRows, kColumns, kLongColumns };

  // What the host knows of them.
  struct Tiles {
    const ir::Binding& nest;
    Radix radix;         // of the lines
    ir::Operand lines;   // how many
    ir::Operand length;  // of each
    TileKind kind;
    int64_t threads = 0;     // of a block
    int64_t lanes = 0;       // elements of a run, runs of a group
    ir::Operand runs = {};   // of a line
    ir::Operand shift = {};  // The room of a line is for
    ir::Operand room = {};   // so many runs, 1 << shift.
    ir::Operand lines_of_block = {};
    ir::Operand blocks = {};  // that all lines have, for a chunk
  };
  // A thread's part: a run of a line's chunk.
  struct Place {
    ir::Operand thread, line, run;
    ir::Operand entry;  // which of the block's lines,
    ir::Operand base;   // whose entries stand from here on
    ir::Operand chunk;  // which of the line's,
    ir::Operand runs;   // and how many runs it has
    ir::Operand lo;     // the run's first element
  };
  struct TileArrays {
    Arrays own;  // The run, in registers.
    Arrays before_run, before_group;
    Chunk waiting;
  };
  using PlaceBody = std::function<void(const Place& place)>;

  bool HasTiles(const Reduction& scan) const;
  Tiles TilesOf(const ir::Binding& nest, const Operands& extents, TileKind kind);
  void EachPlace(const Tiles& tiles, const ir::Operand& block, const PlaceBody& body);
  void WriteByTiles(const ir::Binding& nest, const Operands& extents, TileKind kind);
  void TakeRun(const Tiles& tiles, const Place& place, const TileArrays& arrays);
  Operands FoldBefore(const Tiles& tiles, const Place& place, const Arrays& entries,
                      const ir::Operand& lo, const ir::Operand& hi);
  // What waits for other chunks of the line, of which `body` writes some.
  void WithChunk(const Tiles& tiles, const ChunkGrid& grid, const Place& place,
                 const TileArrays& arrays,
                 const std::function<void(const DeviceScan& scan, const Chunk& chunk)>& body);
  void PublishChunk(const ChunkGrid& grid, const Place& place, const TileArrays& arrays,
                    const Operands& total);
  std::vector<Before> BeforeRunOf(const Tiles& tiles, const ChunkGrid& grid, const Place& place,
                                  const TileArrays& arrays, const Row& row);
  void PutRun(const Tiles& tiles, const ChunkGrid& grid, const Place& place,
              const TileArrays& arrays);

  std::unordered_map<const ir::Var*, ir::Operand> prefixes_;  // by result of the scan
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_ROW_SCANS_H_
