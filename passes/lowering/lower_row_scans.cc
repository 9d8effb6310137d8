#include "passes/lowering/lower_row_scans.h"

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;

namespace {

constexpr int64_t kManyColumns = 1 << 16;  // So many keep a GPU busy with a thread each.

// True where neighbouring rows lie nearer to one another than neighbouring elements of a row.
bool AreColumns(const Binding& nest, const RowScan& row) {
  const ir::Var* line = nest.blocks[0]->params.back();
  const ir::Var* element = row.scan->blocks[0]->params[0];
  bool goes_along = false, goes_across = false;
  ir::ForEachBinding(*row.scan->blocks[0], [&](const Binding& b) {
    if (b.op != OpCode::kLoad || b.operands.size() == 1) return;
    goes_along |= b.operands.back() == Operand(element);
    goes_across |= b.operands.back() == Operand(line);
  });
  return goes_across && !goes_along;
}

}  // namespace

void RowScanLowering::WriteRowScans(const Binding& nest) {
  const RowScan row = RowScanOf(nest);
  const Operands extents = Apply(nest.operands);
  const auto by_threads = [&] {
    WriteByThreads(nest, extents);
    return Operands{};
  };
  if (!row.has_known_length || row.scan->attrs.Int(Attr::kLanes, 1) == 1) return void(by_threads());
  const Operand length = Apply(row.scan->operands[0]);
  Operand is_for_threads =
      builder().Scalar(OpCode::kLt, {length, Int(row.scan->attrs.Int(Attr::kShort))});
  if (AreColumns(nest, row)) {
    const Operand are_many = builder().Scalar(OpCode::kGe, {Product(extents), Int(kManyColumns)});
    is_for_threads = builder().Scalar(OpCode::kOr, {is_for_threads, are_many});
  }
  Choose(is_for_threads, by_threads, [&] {
    const auto by_chunks = [&] {
      WriteByChunks(nest, extents);
      return Operands{};
    };
    if (!HasTiles(Describe(*row.scan))) return by_chunks();
    const auto by_tiles = [&](TileKind kind) {
      WriteByTiles(nest, extents, kind);
      return Operands{};
    };
    const bool are_columns = AreColumns(nest, row);
    const Operand chunk = Int(row.scan->attrs.Int(Attr::kBlock));
    return Choose(
        builder().Scalar(OpCode::kLe, {length, chunk}),
        [&] { return by_tiles(are_columns ? TileKind::kColumns : TileKind::kRows); },
        [&] { return are_columns ? by_tiles(TileKind::kLongColumns) : by_chunks(); });
  });
}

RowScanLowering::Row RowScanLowering::BeginRow(const Binding& nest, const Operands& index) {
  Binding copy = nest;
  copy.blocks = {ir::CloneBlock(arena(), *nest.blocks[0])};
  const RowScan parts = RowScanOf(copy);
  VisitBody(parts.before, index);
  return {parts, Describe(*parts.scan)};
}

void RowScanLowering::StorePrefix(const RowScan& parts, const Operand& index,
                                  const Operands& prefix) {
  for (size_t k = 0; k < prefix.size(); ++k) prefixes_[parts.scan->results[k]] = prefix[k];
  VisitBody(*ir::CloneBlock(arena(), *parts.stores->blocks[0]), {index});
  prefixes_.clear();
}

bool RowScanLowering::VisitPrefix(const Binding& access) {
  if (prefixes_.empty() || access.op != OpCode::kLoad) return false;
  const auto prefix = prefixes_.find(access.operands[0].var());
  if (prefix == prefixes_.end()) return false;
  Replace(access.result(), prefix->second);
  return true;
}

void RowScanLowering::WriteByThreads(const Binding& nest, const Operands& extents) {
  Loop(Int(0), Product(extents), OverThreads(), [&](const Operand& at) {
    const Row row = BeginRow(nest, Delinear(at, extents));
    const Put put = [&](const Operand& index, const Operands& prefix) {
      StorePrefix(row.parts, index, prefix);
    };
    If(builder().Scalar(OpCode::kGt, {row.scan.extents[0], Int(0)}),
       [&] { row.scan.lanes > 1 ? PutInLevels(row.scan, put) : void(PutInOrder(row.scan, put)); });
  });
}

void RowScanLowering::WriteByChunks(const Binding& nest, const Operands& extents) {
  const Binding& scan = *RowScanOf(nest).scan;
  const Operand rows = Product(extents);
  const ChunkGrid grid = GridOf(scan, rows, Apply(scan.operands[0]));
  const Radix radix = RadixOf(extents);
  Blocks(builder().Mul(grid.chunks, rows), [&](const Operand& number) {
    const Operand line = builder().Remainder(number, rows);
    const Row row = BeginRow(nest, IndexOf(line, radix));
    const Put put = [&](const Operand& index, const Operands& prefix) {
      StorePrefix(row.parts, index, prefix);
    };
    WriteChunk(grid, row.scan, number, put, CostOf(*row.parts.stores->blocks[0]) <= kCheapPut);
  });
}

}  // namespace parakeet::passes
