#ifndef PARAKEET_PYLIB_COMPILER_LOAD_NUMBERS_H_
#define PARAKEET_PYLIB_COMPILER_LOAD_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "ir/node.h"

namespace parakeet::pylib {

// Makes arrays without axes of the entry's parameters that are numbers on the device by their leaf
// words (key.h), and has it load them first. The frontend knows them as scalars.
void LoadNumbers(const std::vector<uint64_t>& leaves, ir::Program* program);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_LOAD_NUMBERS_H_
