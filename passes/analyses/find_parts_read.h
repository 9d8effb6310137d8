#ifndef PARAKEET_PASSES_ANALYSES_FIND_PARTS_READ_H_
#define PARAKEET_PASSES_ANALYSES_FIND_PARTS_READ_H_

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// What is read along one axis of an array: one index, or `size` of them from `start` on by `step`.
struct AxisPart {
  bool is_index = false;
  ir::Operand start;  // Or the index.
  ir::Operand size;
  ir::Operand step;

  static AxisPart Whole(const ir::Operand& size);
  static AxisPart At(const ir::Operand& index);
  bool IsWhole(const ir::Operand& extent) const;
  friend bool operator==(const AxisPart&, const AxisPart&) = default;
};

// Sums and products of indexes, of which zeros and ones are left out.
ir::Operand Plus(ir::Builder& builder, const ir::Operand& a, const ir::Operand& b);
ir::Operand Times(ir::Builder& builder, const ir::Operand& a, const ir::Operand& b);
// The index that is number `k` of a part.
ir::Operand PlaceIn(ir::Builder& builder, const AxisPart& part, const ir::Operand& k);

// A slice or a load that reads a part of an array, through other views or not.
struct PartRead {
  const ir::Binding* reader;
  // The binding of the block that makes the array which holds the reader, or the reader itself.
  const ir::Binding* at;
  // Of each axis of the array: what is read of it, and the ranges through which that is seen, the
  // array's own first.
  std::vector<AxisPart> parts;
  std::vector<std::vector<AxisPart>> through;
  // The axis of the array that each axis of what the reader gives goes along; -1: a new one.
  std::vector<int> axes;

  bool IsElement() const { return reader->op == ir::OpCode::kLoad; }
  bool HasIndex(size_t axis) const { return parts[axis].is_index; }
  // As one part of each axis of the array itself: what that takes is computed there.
  std::vector<AxisPart> Composed(ir::Builder& builder) const;
};

struct PartsRead {
  std::vector<PartRead> reads;
  std::vector<const ir::Binding*> views;  // Between the array and its readers.
};

// Answers which parts of an array are all that is read of it. At the parallel stage.
class PartsReadFinder {
 public:
  explicit PartsReadFinder(const ir::Function& function);

  // Of the only array that a binding makes. None where something takes the whole of it, or reads it
  // in a loop. `besides` does not count as a reader.
  std::optional<PartsRead> Of(const ir::Binding& maker, const ir::Binding* besides = nullptr) const;

  // The block that a binding stands in, and the bindings that use a value, null for what a block
  // yields.
  const ir::Block* BlockOf(const ir::Binding* binding) const { return places_.at(binding).block; }
  const std::vector<const ir::Binding*>& UsersOf(const ir::Var* value) const;

 private:
  struct Place {
    const ir::Block* block;
    const ir::Binding* around;
  };
  struct Search;

  void Visit(const ir::Block& block, const ir::Binding* around);
  bool Follow(const ir::Var* view, const PartRead& seen, Search& search) const;
  bool FollowUse(const ir::Binding& user, const PartRead& seen, Search& search) const;
  bool FollowSlice(const ir::Binding& slice, const PartRead& seen, Search& search) const;
  bool AddRead(const ir::Binding& reader, PartRead seen, Search& search) const;
  const ir::Binding* HolderOf(const ir::Binding& reader, const ir::Block* home) const;

  std::unordered_map<const ir::Binding*, Place> places_;
  std::unordered_map<const ir::Var*, std::vector<const ir::Binding*>> users_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_PARTS_READ_H_
