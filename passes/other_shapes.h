#ifndef PARAKEET_PASSES_OTHER_SHAPES_H_
#define PARAKEET_PASSES_OTHER_SHAPES_H_

#include <string_view>

namespace parakeet::passes {

// The exception of a site that no user sees. A program that fails there has done nothing yet: its
// arguments have other shapes than assume-shapes takes them to have, and the program that is made
// without that pass runs in its place.
inline constexpr std::string_view kOtherShapes = "OtherShapes";

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_OTHER_SHAPES_H_
