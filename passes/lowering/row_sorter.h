#ifndef PARAKEET_PASSES_LOWERING_ROW_SORTER_H_
#define PARAKEET_PASSES_LOWERING_ROW_SORTER_H_

#include <optional>
#include <string>
#include <unordered_map>

#include "ir/uses.h"
#include "passes/lowering/loop_writer.h"
#include "passes/lowering/sorting_network.h"
#include "passes/pass.h"

namespace parakeet::passes {

// Writes networks (sorting_network.h) where short rows would be sorted, or selected of, by a call
// of a library.
class RowSorter : public LoopWriter {
 public:
  RowSorter(ir::Arena* arena, const ir::Function& function, Context& context);

 protected:
  // How long the rows of a call are; nothing where that is not known, or the call shall stay.
  virtual std::optional<int64_t> LengthOf(const ir::Binding& call, const ir::Operand& extent) = 0;

  void Visit(const ir::Binding* b) override;
  const ir::Block* VisitBlock(const ir::Block* block) override;

  Context& context() { return context_; }

 private:
  // A call and the maps that make what it reads and nothing else does, of which no array is made.
  struct Call {
    const ir::Binding* binding;
    std::string routine;
    int64_t length;
    const ir::Binding* keys = nullptr;
    const ir::Binding* places = nullptr;
  };

  std::optional<Call> AsCall(const ir::Binding& b);
  void Plan(const ir::Block& block, size_t at);
  const ir::Binding* MakerOf(const ir::Block& block, size_t at, const ir::Var* array,
                             bool is_replaced) const;

  void Write(const Call& call);
  void WriteSorted(const Call& call, const Operands& sorted);
  void Make(const ir::Binding& maker);
  ir::Operand ElementOf(const ir::Binding& maker, int64_t place);
  Operands ElementsOf(const ir::Var* array, const ir::Binding* maker, int64_t count);
  Operands PlaceIn(const ir::Var* array, const ir::Var** root, int64_t place);
  void Store(const ir::Var* array, const Operands& values);
  const ir::Var* NewFor(const ir::Var* array);
  ir::Operand ElementAt(const Operands& sorted, const ir::Operand& place);
  ir::Operand CountOfNans(const Operands& elements);

  Context& context_;
  const ir::DefinitionMap definitions_;
  std::unordered_map<const ir::Binding*, Call> calls_;
  std::unordered_map<const ir::Binding*, int64_t> makers_;  // of rows of so many elements,
  std::unordered_map<const ir::Binding*, Operands> made_;   // and these.
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_ROW_SORTER_H_
