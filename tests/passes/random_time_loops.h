#ifndef PARAKEET_TESTS_PASSES_RANDOM_TIME_LOOPS_H_
#define PARAKEET_TESTS_PASSES_RANDOM_TIME_LOOPS_H_

#include <string>

#include "tests/passes/outcome.h"

namespace parakeet::passes {

constexpr int kTimeLoopArrays = 3;

int RandomNumber(Random& random, int from, int to);

// A time loop of nests chosen at random, over matrices %a, %b and %c of so many columns, 3 or more,
// which it may let take turns, for %steps steps. Sizes are asked for where rows beside the first
// and the last are: `n` is 5 or more.
std::string RandomTimeLoop(Random& random, int columns);

}  // namespace parakeet::passes

#endif  // PARAKEET_TESTS_PASSES_RANDOM_TIME_LOOPS_H_
