// Bits of numbers: what the library writes functions of floats' parts with.
#include "frontend/broadcasting.h"
#include "frontend/evaluator.h"
#include "frontend/intrinsics.h"
#include "frontend/static_values.h"
#include "ir/builder.h"

namespace parakeet::frontend {

Value BitcastElements(Evaluator* evaluator, const Values& arguments) {
  const ir::DType dtype = StaticDType(evaluator, arguments[1]);
  const Value settled = SettleNumber(evaluator, arguments[0], "bitcast");
  return MapElements(evaluator, {settled}, [&](const std::vector<ir::Operand>& elements) {
    return evaluator->builder().Bitcast(elements[0], dtype);
  });
}

Value CountSetBits(Evaluator* evaluator, const Values& arguments) {
  const Value settled = SettleNumber(evaluator, arguments[0], "popcount");
  return MapElements(evaluator, {settled}, [&](const std::vector<ir::Operand>& elements) {
    return evaluator->builder().Scalar(ir::OpCode::kPopCount, {elements[0]});
  });
}

}  // namespace parakeet::frontend
