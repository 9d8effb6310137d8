// Calls of routines of other libraries. Our own library alone makes them. What they write are
// arrays that it has just made; what they only read may lie anyhow, and is copied where it must be.
#include "frontend/evaluator.h"
#include "frontend/intrinsics.h"
#include "frontend/static_values.h"
#include "ir/diagnostics.h"
#include "ir/library_routines.h"

namespace parakeet::frontend {
namespace {

ir::Operand OperandOf(Evaluator* evaluator, const ir::Routine& routine, size_t operand,
                      const Value& value) {
  if (!routine.IsArray(operand)) {
    const bool is_letter = routine.operands[operand] == 'u';
    if (!is_letter) return evaluator->AsIndex(value, "an operand");
    return ir::Operand::Int(StaticString(evaluator, value, "an operand").at(0));
  }
  const ArrayValue& array = value.As<ArrayValue>();
  if (array.dense && array.order == Order::kC) return array.op;
  if (routine.IsWritten(operand))
    ir::FailBug("a routine writes new arrays in C order", evaluator->context().span());
  return evaluator->CopyArray(value, Order::kC).As<ArrayValue>().op;
}

}  // namespace

Value CallRoutine(Evaluator* evaluator, const Values& arguments) {
  const std::string name = StaticString(evaluator, arguments.at(0), "a routine");
  const ir::Routine* routine = ir::FindRoutine(name);
  if (routine == nullptr || arguments.size() != routine->size() + 1)
    ir::FailBug("no routine is so called: " + name, evaluator->context().span());
  std::vector<ir::Operand> operands;
  for (size_t i = 0; i < routine->size(); ++i)
    operands.push_back(OperandOf(evaluator, *routine, i, arguments[i + 1]));
  return Value::Python(evaluator->builder().EmitOne(
      ir::OpCode::kLibraryCall, ir::DType::kI64, std::move(operands), {{ir::Attr::kCallee, name}}));
}

}  // namespace parakeet::frontend
