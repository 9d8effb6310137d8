// How long axes of an entry function's parameters are, as far as its caller says.
#ifndef PARAKEET_PASSES_ANALYSES_KNOWN_LENGTHS_H_
#define PARAKEET_PASSES_ANALYSES_KNOWN_LENGTHS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir/node.h"
#include "passes/pass.h"

namespace parakeet::passes {

// True where the extent is the length of an axis of the array that a caller could say.
bool IsSayable(const ir::Operand& extent, const ir::Var* array);

// What is known of the lengths of an entry function's parameters (Options::lengths). No order of a
// sum may depend on them: nothing before choose_trees asks.
class KnownLengths {
 public:
  KnownLengths(const ir::Function& function, const Options& options);

  // Of an extent; nothing where it is not known.
  std::optional<int64_t> Of(const ir::Operand& extent) const;
  // The numbers of the parameters of which a caller could say how long this axis is.
  std::set<size_t> ParametersOf(const ir::Operand& extent) const;
  // The number of a parameter.
  std::optional<size_t> NumberOf(const ir::Var* array) const;

 private:
  std::unordered_map<const ir::Var*, int64_t> lengths_;
  std::unordered_map<const ir::Var*, size_t> arrays_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_KNOWN_LENGTHS_H_
