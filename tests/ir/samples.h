#ifndef PARAKEET_TESTS_IR_SAMPLES_H_
#define PARAKEET_TESTS_IR_SAMPLES_H_

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace parakeet::ir {

// Programs that between them use every operation of ops.def, each fit for its stage.
std::vector<std::pair<Stage, std::string>> Samples();

// The text with a few pieces cut out, put in or exchanged: nearly a program, and sometimes one.
std::string Mutated(std::string text, std::mt19937& random);

}  // namespace parakeet::ir

#endif  // PARAKEET_TESTS_IR_SAMPLES_H_
