#ifndef PARAKEET_IR_PARSE_BLOCK_H_
#define PARAKEET_IR_PARSE_BLOCK_H_

#include <string_view>
#include <vector>

#include "ir/node.h"
#include "ir/text_reader.h"

namespace parakeet::ir {

// Reads blocks and bindings: what BlockPrinter (print_block.h) writes.
class BlockParser {
 public:
  explicit BlockParser(TextReader* reader) : reader_(*reader) {}

  // `{ bindings last_word operands }`, in a scope that opened at `scope`, where the parameters are
  // defined, and that ends with the block. The last word is left out where nothing is yielded.
  const Block* Read(size_t scope, std::vector<const Var*> params, std::string_view last_word);

 private:
  const Binding* ReadBinding();
  void ReadInFormat(Binding& binding);
  void ReadGeneric(Binding& binding);
  void ReadPlain(Binding& binding);
  void ReadCheck(Binding& binding);
  void ReadFree(Binding& binding);
  void ReadSlice(Binding& binding);
  void ReadView(Binding& binding);
  void ReadElements(Binding& binding);
  void ReadIndices(Binding& binding);
  void ReadCall(Binding& binding);
  void ReadAccess(Binding& binding);
  void ReadIf(Binding& binding);
  void ReadFor(Binding& binding);
  void ReadWhile(Binding& binding);

  // What follows the index space of an operator: the combine, `from`, the tree, and the blocks. The
  // parameters of block 0 are in scope since `scope`.
  void ReadOperator(Binding& binding, size_t scope, std::vector<const Var*> params);
  std::vector<OpCode> ReadCombineWords();
  void ReadTree(Binding& binding);
  // `(%a: T, ...)` and a block over those.
  const Block* ReadBlockOfParams();
  // `(%acc: f64 = %init, ...)`, if that is next: initial values go to the binding, parameters to
  // `params`.
  void ReadCarried(Binding& binding, std::vector<const Var*>& params);
  const Var* DefineIndex();
  void SetAttr(Binding& binding, Attr attr, AttrValue value);
  // Adds operands in parentheses and returns how many they are.
  int64_t AppendOperands(Binding& binding);

  TextReader& reader_;
  int depth_ = 0;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_PARSE_BLOCK_H_
