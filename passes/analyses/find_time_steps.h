#ifndef PARAKEET_PASSES_ANALYSES_FIND_TIME_STEPS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_TIME_STEPS_H_

#include <optional>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// A nest of a time loop. The rows of an array are its elements along the first axis; the row of an
// iteration is the one that its first store goes to.
struct RowNest {
  bool goes_by_rows;  // By its first index; else all iterations have one row.
  LinearForm first;   // the row of the first iteration, of values from outside the loop

  // Of a step begun at a row of a band's, how many rows further from it this nest begins, so that
  // nothing that other bands still do touches what it touches: behind the first row of the band,
  // and before the last.
  int64_t behind = 0;
  int64_t before = 0;
};

// An array that steps store to, by a name of its own outside the loop.
struct OwnArray {
  const ir::Var* array;
  const ir::Var* copied;  // the initial value that it is a copy of; null for none
};

// A loop over time whose steps are nests that each touch rows a known distance from their own, in
// arrays that are the same in every step, or take turns. Checks of the steps ask for what is so
// before the loop, or is not.
struct TimeSteps {
  int64_t together;  // so many steps, behind which all arrays that the loop carries are back
  // By step of those: arrays of the body and what they are outside the loop.
  std::vector<std::vector<std::pair<const ir::Var*, const ir::Var*>>> names;
  // What is to be made before the loop, where steps make arrays: these have the memory of those
  // that have ended.
  std::vector<OwnArray> own;
  // Which of the values that are carried are numbers that a step makes of those alone, of its index
  // and of what is outside.
  std::vector<size_t> numbers;
  std::vector<RowNest> nests;           // of these steps, in order
  std::vector<const ir::Var*> arrays;   // that nests touch, by their names outside the loop
  const ir::Var* stored;                // one of those that they store to
  std::vector<ir::Operand> conditions;  // what checks of the steps ask for
  bool is_ring = false;  // Behind the last row is the first one, of all arrays that are stored to.
  int64_t behind = 0, before = 0;  // of each nest further from one group of steps to the next
  int64_t reach = 0;               // of rows that two nests of one group may be apart and conflict
};

// An `imap` of a step stands there as an `alloc` and a `foreach` that stores.
std::optional<TimeSteps> FindTimeSteps(const ir::Binding& loop, const Roots& roots,
                                       const WrappingForms& forms,
                                       const ir::DefinitionMap& definitions, ir::Arena* arena);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_TIME_STEPS_H_
