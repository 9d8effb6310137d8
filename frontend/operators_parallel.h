#ifndef PARAKEET_FRONTEND_OPERATORS_PARALLEL_H_
#define PARAKEET_FRONTEND_OPERATORS_PARALLEL_H_

#include <string>
#include <vector>

#include "frontend/broadcasting.h"
#include "frontend/evaluator.h"
#include "frontend/value.h"

// What the data-parallel operators share.
namespace parakeet::frontend {

// The arguments of an operator, taken one by one.
class OperatorCall {
 public:
  OperatorCall(Evaluator* evaluator, std::string name, Arguments arguments);

  // The next positional argument, or the keyword of that name; TypeError where there is neither.
  Value Next(const char* parameter);
  Value Function(const char* parameter);
  Value NextOr(const char* parameter, const Value& otherwise);
  Value Keyword(const char* parameter, const Value& otherwise);
  // All positional arguments that are left. Nothing else may be.
  Values Rest();
  void RequireNoMore();

 private:
  Evaluator* evaluator_;
  std::string name_;
  Arguments arguments_;
  size_t next_ = 0;
};

// The arrays with `axis` (or each its own, of a tuple) as their first axis; scalars as they are.
Values AxisFirst(Evaluator* evaluator, const Values& arrays, const Value& axis);
// The array with `axes` first, in that order, and the others behind them in theirs.
Value MoveFirst(Evaluator* evaluator, const Value& array, const std::vector<int>& axes);
// The length of every array's first axis, checked to be the same.
ir::Operand CommonLength(Evaluator* evaluator, const std::string& name, const Values& arrays);
// f at an index: one int of a 1-D space, else separate ints or one tuple, whichever f declares.
Value CallAtIndex(Evaluator* evaluator, const Value& f, const std::vector<ir::Operand>& index);
// What `pred` accepts, of each array along its first axis.
Values KeptBy(Evaluator* evaluator, const std::string& name, const Value& pred,
              const Values& arrays);

// reduce_operators.cc
Value ReduceOperator(Evaluator* evaluator, const std::string& name, Arguments arguments);
Value ScanOperator(Evaluator* evaluator, const std::string& name, Arguments arguments);
Value IreduceOperator(Evaluator* evaluator, const std::string& name, Arguments arguments);
Value FilterReduceOperator(Evaluator* evaluator, const std::string& name, Arguments arguments);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_OPERATORS_PARALLEL_H_
