// What is known of each array of a function before code is written: where its memory comes from
// and how it lies there.
#ifndef PARAKEET_BACKENDS_LLVM_ARRAY_FACTS_H_
#define PARAKEET_BACKENDS_LLVM_ARRAY_FACTS_H_

#include <set>
#include <unordered_map>

#include "ir/node.h"

namespace parakeet::backends {

// kRows: the last axis has unit stride, the others anything.
enum class MemoryOrder { kC, kFortran, kRows, kStrided };

struct ArrayFacts {
  MemoryOrder order = MemoryOrder::kStrided;
  bool aligned = true;  // elements lie at multiples of their size
  // The allocations and parameters whose memory it may be, by number; two numbers are memory that
  // does not overlap. With `anywhere` it may be any memory.
  std::set<int> roots;
  bool anywhere = false;

  friend bool operator==(const ArrayFacts&, const ArrayFacts&) = default;
};

// A fixed point over loops: a loop-carried array keeps what all that is carried has in common.
class ArrayAnalysis {
 public:
  // Parameters are distinct roots only in an entry function whose arguments may not overlap.
  ArrayAnalysis(const ir::Function& function, bool as_entry);

  // Assumes an array value of the function.
  const ArrayFacts& Of(const ir::Var* array) const { return facts_.at(array); }
  int root_count() const { return root_count_; }

 private:
  void Visit(const ir::Block& block);
  void Visit(const ir::Binding& binding);
  void VisitLoop(const ir::Binding& binding, const ir::Block& body, size_t first_init,
                 size_t first_param);
  void Join(const ir::Var* into, const ir::Operand& from);
  void JoinAll(const std::vector<const ir::Var*>& into, const std::vector<ir::Operand>& from);
  void Set(const ir::Var* array, ArrayFacts facts);
  ArrayFacts FactsOfView(const ir::Binding& binding) const;
  int NumberOf(const ir::Var* root);

  std::unordered_map<const ir::Var*, ArrayFacts> facts_;
  std::unordered_map<const ir::Var*, int> numbers_;
  int root_count_ = 0;
  bool changed_ = false;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_ARRAY_FACTS_H_
