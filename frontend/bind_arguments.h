#ifndef PARAKEET_FRONTEND_BIND_ARGUMENTS_H_
#define PARAKEET_FRONTEND_BIND_ARGUMENTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/context.h"
#include "frontend/syntax.h"
#include "frontend/value.h"

namespace parakeet::frontend {

// Arguments of a call, evaluated. Keywords in the order written.
struct Arguments {
  Values positional;
  std::vector<std::pair<std::string, Value>> keywords;

  // The keyword's value, taken out; nullopt when it is not given.
  std::optional<Value> Take(const std::string& name);
};

// The value of each parameter of a function, as Python binds them; nullopt where the default is to
// be taken. A call that does not fit is a TypeError in Python's words.
std::vector<std::optional<Value>> BindArguments(const Context& context,
                                                const FunctionSyntax& function,
                                                Arguments arguments);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_BIND_ARGUMENTS_H_
