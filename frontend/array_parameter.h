#ifndef PARAKEET_FRONTEND_ARRAY_PARAMETER_H_
#define PARAKEET_FRONTEND_ARRAY_PARAMETER_H_

#include <string>

#include "frontend/argument.h"
#include "frontend/value.h"
#include "ir/builder.h"

namespace parakeet::frontend {

struct ArrayParameter {
  Value value;
  ir::Param param;
};

// A parameter for an array argument, with sizes of its own; axes of length 1 are the constant 1.
ArrayParameter MakeArrayParameter(const ir::Builder& builder, const Argument& argument,
                                  const std::string& name);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_ARRAY_PARAMETER_H_
