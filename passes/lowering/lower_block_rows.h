#ifndef PARAKEET_PASSES_LOWERING_LOWER_BLOCK_ROWS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_BLOCK_ROWS_H_

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/uses.h"
#include "passes/lowering/cached_rows.h"
#include "passes/lowering/lower_rows.h"

namespace parakeet::passes {

// The part of lower_to_loops that gives each element of a nest a block of a GPU's threads: an
// element that is made by reductions along memory, of rows that are long or few.
//
//   imap (%i) in (%n) { %s = ireduce (%j) in (%m) add { ... load %x[%i, %j] ... }  ... yield %v }
//
// is a kernel of %n blocks, whose threads take every 256th index of the reduction each, in four
// sums side by side, combine them in memory that they share, and go on alike behind it. What stands
// in the element beside its operators is done by every thread alike; of its stores, one thread does
// each. Rows that several of its operators go through stand in shared memory, where they are short
// enough.
class BlockRowLowering : public RowLowering {
 public:
  BlockRowLowering(ir::Arena* arena, const ir::Function& function, int vector_bytes)
      : RowLowering(arena, function, vector_bytes),
        roots_(function),
        definitions_(ir::Definitions(*function.body)) {}

 protected:
  using Body = std::function<void(const Operands& index)>;

  // Also where it is the lesser of two, one of which is.
  bool IsAtMost(const ir::Operand& size, int64_t most) const override;
  // Whether blocks are worth it, as a bool of sizes; nothing where they cannot be.
  std::optional<ir::Operand> WorthBlocks(const ir::Binding& nest);
  // The kernel: `body` writes an element.
  void WriteBlocks(const ir::Binding& nest, const Operands& extents, const Body& body);

  // Whether a sum that each of few threads would make of many elements is sooner made in parts, as
  // a bool of sizes; nothing where it cannot be.
  std::optional<ir::Operand> WorthParts(const ir::Binding& nest);
  // A kernel that makes the parts, then `nest_again` with the sums of parts for the reduction.
  void WriteInParts(const ir::Binding& nest, const Operands& extents,
                    const std::function<void()>& nest_again);
  // What a reduction inside an element is while its parts are there; false where there are none.
  bool SumParts(const ir::Binding& reduction);

  // Whether the long rows of so few elements are shared by several blocks each, run by run, as a
  // bool of sizes; nothing where they cannot be.
  std::optional<ir::Operand> WorthRuns(const ir::Binding& nest);
  // A kernel of a block a run, whose threads leave what their lanes have of it, then `nest_again`
  // for blocks that combine them.
  void WriteInRuns(const ir::Binding& nest, const Operands& extents,
                   const std::function<void()>& nest_again);

  // While an element is written for a block: what it does with operators and stores. False for what
  // is the same there as elsewhere.
  bool VisitByBlock(const ir::Binding& b);
  bool IsByBlock() const { return by_block_; }
  void set_row(const Operands& index) { row_ = index; }
  const Roots& roots() const { return roots_; }
  // Stores a result of the element.
  void StoreByBlock(const ir::Operand& array, const Operands& index, const ir::Operand& value);

 private:
  void WriteBlocks(const ir::Binding& nest, const Operands& extents, const Body& body,
                   const CachedRows& cached);
  std::optional<ir::Operand> FitsShared(const CachedRows& cached);
  void AllocateMade(const ir::Binding& nest, const Operands& extents, const CachedRows& cached);
  // An access to a row that stands in shared memory; false for any other.
  bool VisitCached(const ir::Binding& access);
  const CachedRow* CachedOf(const ir::Var* array) const;
  // What the nest has in place of a copy of an operator of its element.
  const ir::Var* ResultOf(size_t result) const { return cached_.operators[op_]->results[result]; }
  void ReduceByBlock(const ir::Binding& b);
  Operands FoldLanes(const Reduction& r, const ir::Operand& lane);
  Operands FoldRun(const Reduction& r, const ir::Operand& lane, const ir::Operand& lo,
                   const ir::Operand& hi);
  Operands SumsOfRuns(const Reduction& r, const ir::Operand& lane);
  static int64_t SumsOf(const ir::Binding& reduction);
  Operands StartOf(const Reduction& r);
  Operands CombineSums(const Reduction& r, const Operands& left, const Operands& right);
  void MapByBlock(const ir::Binding& b);
  const ir::Var* RowOf(const ir::Var& result, const ir::Var* whole);
  // What one thread does for all; the rest of them wait.
  void ByOneThread(const std::function<void()>& write);
  // Indexes of the space, every one for one of the threads.
  void ByThreads(const Operands& extents, const Body& body);

  // The parts of the reduction of the nest that is written.
  struct Parts {
    ir::Operand count = {};
    Operands extents = {};  // Of the elements.
    std::vector<const ir::Var*> arrays = {};
    ir::Operand first = {};   // Of those that are summed last,
    ir::Operand behind = {};  // and where they end.
  };
  // True where the sizes of what the binding makes and goes through are known around the element.
  static bool KnowsSizesOf(const ir::Binding& b, const ir::VarSet& inside);
  static bool IsScalarChoice(const ir::Binding& choice);
  static bool IsPlainChoice(const ir::Binding& b);
  const ir::Binding* OnlyReduction(const ir::Binding& nest);
  const ir::Binding& BeginElement(const ir::Binding& nest, const Operands& index);
  void MakePart(const ir::Binding& nest, const Parts& parts, const ir::Operand& part,
                const ir::Operand& element, const ir::Operand& length);
  Operands SumOfParts(const Reduction& r, const Parts& parts, const ir::Operand& lo,
                      const ir::Operand& hi, const ir::Operand& element);
  Operands PartAt(const Parts& parts, const ir::Operand& part, const ir::Operand& element);
  void StorePart(const Parts& parts, const ir::Operand& part, const ir::Operand& element,
                 const Operands& total);
  void JoinParts(const ir::Binding& nest, const Parts& parts);

  bool by_block_ = false;
  Parts parts_;
  Parts runs_;    // The same of the lanes of runs.
  Operands row_;  // The index of the element, for blocks and for sums of parts.
  Roots roots_;
  ir::DefinitionMap definitions_;
  // Of the element that is written for a block: its operators, which one is at hand, and the rows
  // in shared memory.
  CachedRows cached_;
  size_t op_ = 0;
  std::vector<const ir::Var*> buffers_;
  std::unordered_map<const ir::Var*, const CachedRow*> cached_by_name_;
  // Arrays that elements make, as one for all elements.
  std::unordered_map<const ir::Var*, const ir::Var*> made_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_BLOCK_ROWS_H_
