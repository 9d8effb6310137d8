#ifndef PARAKEET_FRONTEND_REFUSED_NODES_H_
#define PARAKEET_FRONTEND_REFUSED_NODES_H_

#include <string>

#include "ir/span.h"

namespace parakeet::frontend {

// Throws the Limitation for a class of `ast` node that has no place in a jitted function, such as
// "Try" or "ClassDef": what the construct is called, and what works instead. A class that no table
// knows is refused by its own name.
[[noreturn]] void RefuseNode(const std::string& kind, ir::Span span);

// Throws "`construct` is not supported inside jit; advice".
[[noreturn]] void RefuseConstruct(const std::string& construct, const std::string& advice,
                                  ir::Span span);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_REFUSED_NODES_H_
