#ifndef PARAKEET_IR_PRINT_BLOCK_H_
#define PARAKEET_IR_PRINT_BLOCK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/names.h"
#include "ir/node.h"

namespace parakeet::ir {

// Writes blocks and bindings as text, one binding a line; parser.h's productions, the other way
// round.
class BlockPrinter {
 public:
  // What the files of spans print as: their own numbers where the vector is too short. nullopt:
  // spans are not shown.
  using FileNumbers = std::optional<std::vector<int>>;

  BlockPrinter(Names names, FileNumbers files)
      : names_(std::move(names)), files_(std::move(files)) {}

  // ` { ... yield %x }`, the last word being `yield` or `return`; a `yield` of nothing is left out.
  void Print(const Block& block, std::string_view last_word);
  void Print(const Binding& binding);

  std::string Text(const Operand& operand);
  std::string Text(const Type& type);
  // `%x: [n]f64`
  std::string Text(const Var* var);
  // ` @0:12:9-12:20`, or nothing.
  std::string Text(const Span& span) const;

  std::string& out() { return out_; }

 private:
  template <typename Item>
  std::string List(const std::vector<Item>& items, size_t begin, size_t end);
  template <typename Item>
  std::string List(const std::vector<Item>& items, size_t begin = 0) {
    return List(items, begin, items.size());
  }

  void PrintInFormat(const Binding& binding);
  void PrintGeneric(const Binding& binding);
  void PrintPlain(const Binding& binding);
  void PrintCheck(const Binding& binding);
  void PrintFree(const Binding& binding);
  void PrintSlice(const Binding& binding);
  void PrintView(const Binding& binding);
  void PrintElements(const Binding& binding);
  void PrintIndices(const Binding& binding);
  void PrintCall(const Binding& binding);
  void PrintAccess(const Binding& binding);
  void PrintIf(const Binding& binding);
  void PrintFor(const Binding& binding);
  void PrintWhile(const Binding& binding);

  // What follows the index space of an operator: the combine, `from`, the tree, and the blocks.
  void PrintOperator(const Binding& binding, size_t first_init);
  // `(%acc: f64 = %init, ...)`
  std::string Carried(const Block& block, size_t first_param, const Binding& binding,
                      size_t first_init);
  void PrintAttributes(const Binding& binding, bool generic = false);
  void NewLine();

  Names names_;
  FileNumbers files_;
  std::string out_;
  int indent_ = 0;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_PRINT_BLOCK_H_
