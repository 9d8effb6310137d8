#ifndef PARAKEET_FRONTEND_ARRAY_ROOTS_H_
#define PARAKEET_FRONTEND_ARRAY_ROOTS_H_

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/node.h"

// Whose memory a piece of IR may write, as far as building it asks: the blocks of data-parallel
// operators may store only to what they allocate.
namespace parakeet::frontend {

// What a function may do with the arrays among its parameters, by number: store to them, and return
// them or views of them.
struct ArrayEffects {
  std::set<int> stored;
  std::set<int> returned;
};

// The effects of a function that a call names; null where it is being built, and may do anything.
using EffectsOfCallee = std::function<const ArrayEffects*(const std::string& name)>;

// Whether the bindings, or blocks inside them, may store to an array that they do not make.
bool StoresOutside(const std::vector<const ir::Binding*>& bindings, const EffectsOfCallee& callee);

ArrayEffects EffectsOfFunction(const ir::Function& function, const EffectsOfCallee& callee);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_ARRAY_ROOTS_H_
