#ifndef PARAKEET_PASSES_LOWERING_WHILE_FORMS_H_
#define PARAKEET_PASSES_LOWERING_WHILE_FORMS_H_

#include <cstdint>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// A `for` by ones as a `while`, which carries its index before all else.
ir::Binding AsWhile(ir::Builder& builder, const ir::Binding& loop);

// A `while` that goes on for at most so many iterations, with how many there were as one result
// more. All that it defines is new.
ir::Binding FirstSteps(ir::Builder& builder, const ir::Binding& loop, int64_t most);

// Of the types of what the loop results in.
std::vector<const ir::Var*> NewResults(ir::Builder& builder, const ir::Binding& loop);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_WHILE_FORMS_H_
