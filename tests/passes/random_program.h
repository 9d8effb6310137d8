#ifndef PARAKEET_TESTS_PASSES_RANDOM_PROGRAM_H_
#define PARAKEET_TESTS_PASSES_RANDOM_PROGRAM_H_

#include <string>

#include "tests/passes/outcome.h"

namespace parakeet {

// The text of a program of the parallel stage that verifies and is valid for any arguments of its
// entry @f: operators, views, loops, branches, stores, checks and calls nested a few deep, over
// arrays of one and two axes. Every access is in range by construction or behind checks; what is
// read has been written.
std::string RandomProgram(Random& random);

}  // namespace parakeet

#endif  // PARAKEET_TESTS_PASSES_RANDOM_PROGRAM_H_
