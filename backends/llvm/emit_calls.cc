// Calls of other functions of the program: recursion, since everything else is inlined.
#include "backends/llvm/function_emitter.h"
#include "ir/diagnostics.h"

namespace parakeet::backends {

using llvm::Value;

void FunctionEmitter::EmitCall(const ir::Binding& call) {
  const std::string& name = call.attrs.Text(ir::Attr::kCallee);
  const auto callee = callees_.find(name);
  if (callee == callees_.end()) ir::FailBug("no code for a call of " + name, call.span);
  const int64_t at = call.attrs.Int(ir::Attr::kAt);
  const llvm::ArrayRef<ir::Operand> operands(call.operands);
  Value* place = EmitPlaceNode(operands.take_back(at));
  int64_t slots = 0;
  for (const ir::Var* result : call.results) {
    const ir::Type& type = result->type;
    slots += type.IsArray() ? 3 + type.rank() : ir::IsComplex(type.dtype()) ? 2 : 1;
  }
  Value* results = OnStack(llvm::ArrayType::get(builder_.getInt64Ty(), slots));
  Parts arguments = {Local(call_), place, results};
  for (const ir::Operand& operand : operands.drop_back(at)) {
    if (!TypeOf(operand).IsArray()) {
      const Number number = NumberOf(operand);
      arguments.push_back(number.value);
      if (number.imag != nullptr) arguments.push_back(number.imag);
      continue;
    }
    const ArrayValue array = ArrayOf(operand);
    arguments.insert(arguments.end(), {array.data, array.base, array.root});
    arguments.insert(arguments.end(), array.sizes.begin(), array.sizes.end());
    arguments.insert(arguments.end(), array.strides.begin(), array.strides.end());
  }
  Value* failed = builder_.CreateCall(callee->second, arguments);
  ContinueUnless(builder_.CreateIsNotNull(failed));
  int64_t slot = 0;
  const auto load = [&](llvm::Type* type) {
    return builder_.CreateLoad(type, SlotAddress(results, slot++));
  };
  for (const ir::Var* result : call.results) {
    const ir::Type& type = result->type;
    Parts parts;
    if (type.IsArray()) {
      for (int i = 0; i < 2; ++i) parts.push_back(load(builder_.getPtrTy()));
      for (int i = 0; i < 1 + type.rank(); ++i) parts.push_back(load(builder_.getInt64Ty()));
    } else {
      const int count = ir::IsComplex(type.dtype()) ? 2 : 1;
      for (int i = 0; i < count; ++i) parts.push_back(load(RegisterType(emission_, type.dtype())));
    }
    DefineFromParts({result}, parts);
  }
}

}  // namespace parakeet::backends
