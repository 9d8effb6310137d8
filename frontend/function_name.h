#ifndef PARAKEET_FRONTEND_FUNCTION_NAME_H_
#define PARAKEET_FRONTEND_FUNCTION_NAME_H_

#include <string>

namespace parakeet::frontend {

// A name for a function of the program: Python's, reduced to letters, digits and underscores.
std::string FunctionName(const std::string& python_name);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_FUNCTION_NAME_H_
