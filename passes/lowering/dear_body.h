#ifndef PARAKEET_PASSES_LOWERING_DEAR_BODY_H_
#define PARAKEET_PASSES_LOWERING_DEAR_BODY_H_

#include <optional>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// The bindings of a loop's body, in an order in which they may be done.
struct DearBody {
  std::vector<const ir::Binding*> places;  // of what indexes are made, and loads of one place
  std::vector<const ir::Binding*> loads;   // of neighbours, by neighbouring iterations
  std::vector<const ir::Binding*> work;    // what is made of them
  std::vector<const ir::Binding*> stores;  // to neighbours
};

// Of a long body that makes of what it loads, by arithmetic that takes long, what it stores, and
// needs its index for nothing else. Nothing for others: they take little to compile, or their code
// would differ where some iterations are not there.
std::optional<DearBody> PartDearBody(const ir::Block& body);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_DEAR_BODY_H_
