#ifndef PARAKEET_PASSES_ANALYSES_BINDING_KEY_H_
#define PARAKEET_PASSES_ANALYSES_BINDING_KEY_H_

#include <string>

#include "ir/node.h"

namespace parakeet::passes {

// What a binding computes, as bytes: the same for two that compute the same of the same values and
// the same memory. Values defined inside are numbered; of what may fail only the values that decide
// it count, not the message or the place.
std::string KeyOf(const ir::Binding& binding);

// A filter or ifilter that only counts what it keeps: its results but the first, and what only they
// need, left out.
const ir::Binding* CountOnly(ir::Arena* arena, const ir::Binding& filter);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_BINDING_KEY_H_
