// What an entry of the disk cache is found by.
#ifndef PARAKEET_PYLIB_CORE_QUESTION_H_
#define PARAKEET_PYLIB_CORE_QUESTION_H_

#include <string>

#include "pylib/core/arguments.h"
#include "pylib/core/function.h"

namespace parakeet::pylib {

// All that decides about the code before any outside name is read: build, processor, versions,
// options, the function with its closure, the kinds of the arguments and the values of static ones.
// Empty where some of that cannot be told in another process. Leaves no exception set.
std::string QuestionOf(const FunctionState& function, const Arguments& call);

// The same with another header.
std::string QuestionOf(const FunctionState& function, const Arguments& call, uint64_t header);

// As the first for a process that does not know yet what of its parameters belongs into the key:
// numbers stand with their types, arrays without lengths.
std::string QuestionOfTypes(const FunctionState& function, const Arguments& call);

// 32 hexadecimal digits.
std::string NameOfQuestion(const std::string& question);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_QUESTION_H_
