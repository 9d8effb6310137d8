#ifndef PARAKEET_PASSES_LOWERING_CHECK_LONG_H_
#define PARAKEET_PASSES_LOWERING_CHECK_LONG_H_

#include <functional>
#include <vector>

#include "ir/node.h"
#include "passes/pass.h"

namespace parakeet::passes {

// Sizes of an entry function of which not all may be short.
using ShortTogether = std::vector<const ir::Var*>;

// The program, whose entry function first checks that of each group of its sizes that
// `better_short` names one is not short. The site of these checks is new and has the exception
// kShortAxes: the caller runs the program made with these sizes known. The same program where
// nothing may be assumed of shapes, or nothing is named.
ir::Program CheckShortAxes(
    const ir::Program& program, const Context& context,
    const std::function<std::vector<ShortTogether>(const ir::Function&)>& better_short);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_CHECK_LONG_H_
