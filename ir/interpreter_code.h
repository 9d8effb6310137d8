#ifndef PARAKEET_IR_INTERPRETER_CODE_H_
#define PARAKEET_IR_INTERPRETER_CODE_H_

#include <vector>

#include "ir/interpreter.h"
#include "ir/node.h"

namespace parakeet::ir {

// A function as the interpreter runs it: every value and constant has a numbered slot of the call's
// frame, so that an operand is one index away.
struct Step;

struct BlockCode {
  std::vector<int> params;
  std::vector<Step> steps;
  std::vector<int> results;
};

struct Step {
  const Binding* binding;
  OpCode op;
  std::vector<int> operands;
  std::vector<int> results;
  std::vector<BlockCode> blocks;
  std::vector<std::vector<int>> result_sizes;  // Of each result, the slots of its type's sizes.
};

struct FunctionCode {
  const Function* function;
  Values frame;  // What a call's frame starts as: constants in their slots.
  std::vector<int> params;
  std::vector<std::vector<int>> param_sizes;
  std::vector<char> is_size;  // Of each slot: a size that the call binds from its arguments.
  std::vector<int> results;  // The templates of the results, whose types name parameters' sizes and
                             // earlier results.
  std::vector<std::vector<int>> result_sizes;
  BlockCode body;
};

// Throws a Bug where a value is read that nothing before defines.
FunctionCode NumberSlots(const Function& function);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_INTERPRETER_CODE_H_
