#ifndef PARAKEET_PASSES_ANALYSES_FIND_READS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_READS_H_

#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// A load of an imap's result.
struct Read {
  const ir::Binding* load = nullptr;
  const ir::Block* block = nullptr;     // where it stands
  const ir::Binding* reader = nullptr;  // around it, beside the imap; null for the load itself
};

// Where the result of an imap is read.
struct Reads {
  std::vector<Read> loads;
  bool recomputes = false;             // some load stands in a loop that its index does not follow
  const ir::Binding* other = nullptr;  // a reader that is no load
  bool is_result = false;              // yielded or returned
};

// Who reads the results of a function's imaps, and in which loops.
class ReadFinder {
 public:
  explicit ReadFinder(const ir::Function& function);

  // Of a result of an imap of the function.
  const Reads& Of(const ir::Var* result) const { return reads_.at(result); }

 private:
  // A loop that the walk is in. A loop without an index (a while, a combine) is followed by none.
  struct Loop {
    bool has_index = false;
    std::vector<const ir::Var*> indexes;
  };

  // How deep an imap stands.
  struct Depth {
    size_t loops = 0;
    size_t bindings = 0;
  };

  void Visit(const ir::Block& block);
  void Visit(const ir::Binding& b, const ir::Block& block);
  void See(const ir::Binding& b, size_t operand, const ir::Block& block);
  bool Follows(const ir::Binding& load, size_t depth) const;
  bool Mentions(const ir::Operand& operand, const ir::Var* index) const;

  std::vector<Loop> loops_;
  std::vector<const ir::Binding*> around_;  // the bindings that the walk is in, outermost first
  std::unordered_map<const ir::Var*, Reads> reads_;
  std::unordered_map<const ir::Var*, Depth> depth_;
  ir::DefinitionMap definitions_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_READS_H_
