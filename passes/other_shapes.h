#ifndef PARAKEET_PASSES_OTHER_SHAPES_H_
#define PARAKEET_PASSES_OTHER_SHAPES_H_

#include <cstdint>
#include <string_view>

namespace parakeet::passes {

// The exception of a site that no user sees. A program that fails there has done nothing yet: its
// arguments have other shapes than assume-shapes takes them to have, and the program that is made
// without that pass runs in its place.
inline constexpr std::string_view kOtherShapes = "OtherShapes";

// The exception of another such site: the last axis of some argument is so short that the program
// is better made with its length known.
inline constexpr std::string_view kShortAxes = "ShortAxes";

// The exception of a third: a product has so short a side that it is better made by tiles which
// other code does without (Options::short_sides).
inline constexpr std::string_view kShortSides = "ShortSides";
inline constexpr int64_t kLongestShortSide = 16;
// Of a matrix by a matrix, both in C order, so few rows or columns are.
inline constexpr int64_t kLongestSideOfRows = 4;

// The exception of a fourth: rows are so few and long that threads had better share each, which
// other code has no loops for (Options::few_rows).
inline constexpr std::string_view kFewLongRows = "FewRows";

// Which lengths of axes are short.
inline constexpr int64_t kShortestAxis = 2;
inline constexpr int64_t kLongestShortAxis = 4;

// Whether nobody is told of what fails at a site with that exception.
constexpr bool IsGuard(std::string_view exception) {
  return exception == kOtherShapes || exception == kShortAxes || exception == kShortSides ||
         exception == kFewLongRows;
}

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_OTHER_SHAPES_H_
