#ifndef PARAKEET_FRONTEND_LOOP_HINTS_H_
#define PARAKEET_FRONTEND_LOOP_HINTS_H_

#include <optional>
#include <vector>

#include "frontend/frame.h"
#include "frontend/joins.h"

// What building a loop has found out, kept for when it is built again because a loop around it had
// to be: without it, nested loops would be built in a number of rounds exponential in their depth.
namespace parakeet::frontend {

// The types of everything that is bound where a loop begins, its sizes apart. Equal ones make equal
// loops.
struct LoopSurroundings {
  struct Item {
    const Variable* variable;
    ir::Operand bound;  // A constant, or a default where it is known at run time only.
    Pattern pattern;
    friend bool operator==(const Item&, const Item&) = default;
  };
  std::vector<Item> items;
  friend bool operator==(const LoopSurroundings&, const LoopSurroundings&) = default;
};

// A variable that a loop's body binds and that something reads later.
struct CarriedVariable {
  const Variable* variable;
  bool changes;  // Whether its value is carried: an array that the body leaves alone is not.
  bool bound_changes;
  Pattern pattern;
};

struct LoopHint {
  LoopSurroundings surroundings;
  std::vector<CarriedVariable> carries;
};

LoopSurroundings SurroundingsOf(const Environment& environment);

// A pattern found for a variable that now enters the loop as `entry`; nullopt where it cannot be
// told, because it keeps a size that the entry does not have.
std::optional<Pattern> Hinted(const Pattern& entry, const Pattern& found);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_LOOP_HINTS_H_
