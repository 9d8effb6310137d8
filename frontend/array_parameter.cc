#include "frontend/array_parameter.h"

#include <utility>

namespace parakeet::frontend {
namespace {

constexpr const char* kSizeNames[] = {"n", "m", "l", "k"};

Access AccessOf(const Argument& argument) {
  if (argument.is_list) return Access::kList;
  return argument.writable ? Access::kWritable : Access::kReadOnly;
}

}  // namespace

ArrayParameter MakeArrayParameter(const ir::Builder& builder, const Argument& argument,
                                  const std::string& name) {
  std::vector<ir::Operand> dims;
  for (const bool is_unit : argument.unit_axes) {
    const char* hint = dims.size() < std::size(kSizeNames) ? kSizeNames[dims.size()] : "d";
    dims.push_back(is_unit ? ir::Operand::Int(1)
                           : ir::Operand(builder.NewVar(ir::DType::kI64, hint)));
  }
  for (size_t axis = 0; axis < argument.short_axes.size(); ++axis) {
    if (argument.short_axes[axis] != 0) dims[axis] = ir::Operand::Int(argument.short_axes[axis]);
  }
  const ir::Var* var = builder.NewVar(ir::Type::Array(argument.dtype, std::move(dims)), name);
  const bool strides_grow = argument.layout == ir::Layout::kFortran || argument.strides_grow;
  const bool is_fortran = strides_grow && var->type.rank() > 1;
  return {
      ArrayValue{var, AccessOf(argument), argument.python, is_fortran ? Order::kFortran : Order::kC,
                 argument.layout != ir::Layout::kStrided},
      {var, argument.layout, argument.writable, argument.aligned}};
}

}  // namespace parakeet::frontend
