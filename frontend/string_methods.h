#ifndef PARAKEET_FRONTEND_STRING_METHODS_H_
#define PARAKEET_FRONTEND_STRING_METHODS_H_

#include <string>

#include "frontend/evaluator.h"

namespace parakeet::frontend {

// Whether it is a static string, and Python's strings have such a method: `mode.lower()`.
bool HasStringMethod(const Value& value, const std::string& name);

// What Python's method gives of what is known at compile time; TypeError and ValueError as there.
Value CallStringMethod(Evaluator* evaluator, const Value& self, const std::string& name,
                       const Arguments& arguments);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_STRING_METHODS_H_
