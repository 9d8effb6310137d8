#include "frontend/static_values.h"

#include <algorithm>
#include <optional>

#include "frontend/promotion.h"

namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

constexpr int kDTypes = static_cast<int>(DType::kC128) + 1;

// NumPy's long and short names: "float32", "f4", "<f4"; and "int", "float", "complex".
std::optional<DType> DTypeFromString(std::string name) {
  if (!name.empty() && (name[0] == '<' || name[0] == '=' || name[0] == '|')) name.erase(0, 1);
  if (name == "int") return DType::kI64;
  if (name == "float") return DType::kF64;
  if (name == "complex") return DType::kC128;
  for (int i = 0; i < kDTypes; ++i) {
    const DType dtype = static_cast<DType>(i);
    if (name == NumpyName(dtype)) return dtype;
    const char kind = NumpyName(dtype)[0];
    if (name == kind + std::to_string(ir::SizeInBytes(dtype))) return dtype;
  }
  return name == "?" ? std::optional(DType::kBool) : std::nullopt;
}

std::optional<DType> DTypeFromBuiltin(const std::string& name) {
  if (name == "bool") return DType::kBool;
  return name == "int" || name == "float" || name == "complex" ? DTypeFromString(name)
                                                               : std::nullopt;
}

void RequireNotNegative(Context* context, const Operand& size) {
  const Operand ok = context->builder().Scalar(OpCode::kGe, {size, Operand::Int(0)});
  if (ok.IsInt(0)) context->Raise("ValueError", "negative dimensions are not allowed");
  context->Check(ok, "ValueError", "negative dimensions are not allowed");
}

// A dtype in the other byte order is known, and refused by name.
void RefuseByteOrder(const Context& context, const std::string& name) {
  if (name.size() < 2 || (name[0] != '>' && name[0] != '<')) return;
  if (!DTypeFromString(name.substr(1))) return;
  context.FailLimitation("arrays of dtype '" + name +
                         "', whose byte order is not this machine's; use '" + name.substr(1) + "'");
}

}  // namespace

DType StaticDType(Evaluator* evaluator, const Value& value) {
  if (const auto* dtype = value.TryAs<DTypeValue>()) return dtype->dtype;
  if (const auto* text = value.TryAs<StringValue>()) {
    if (const auto dtype = DTypeFromString(text->text)) return *dtype;
    RefuseByteOrder(evaluator->context(), text->text);
    evaluator->context().FailType("data type '" + text->text + "' not understood");
  }
  if (const auto* function = value.TryAs<IntrinsicValue>()) {
    if (const auto dtype = DTypeFromBuiltin(function->name)) return *dtype;
  }
  evaluator->context().FailType("expected a dtype, got " + Describe(value));
}

int StaticAxis(Evaluator* evaluator, const Value& axis, int rank) {
  Context& context = evaluator->context();
  const int64_t given = context.StaticInt(axis, "axis");
  if (given < -rank || given >= rank) {
    context.FailUser("AxisError", "axis " + std::to_string(given) +
                                      " is out of bounds for array of dimension " +
                                      std::to_string(rank));
  }
  return static_cast<int>(given < 0 ? given + rank : given);
}

std::vector<int> StaticAxes(Evaluator* evaluator, const Value& axes, int rank) {
  std::vector<int> normalised;
  if (axes.IsNone()) {
    for (int axis = 0; axis < rank; ++axis) normalised.push_back(axis);
    return normalised;
  }
  const Values one = {axes};
  const Values& given = axes.Elements() != nullptr ? *axes.Elements() : one;
  for (const Value& axis : given) {
    const int checked = StaticAxis(evaluator, axis, rank);
    if (std::find(normalised.begin(), normalised.end(), checked) != normalised.end()) {
      evaluator->context().FailUser("ValueError", "duplicate value in 'axis'");
    }
    normalised.push_back(checked);
  }
  return normalised;
}

std::vector<Operand> ShapeOf(Evaluator* evaluator, const Value& shape) {
  std::vector<Operand> sizes;
  const Values one = {shape};
  const Values& given = shape.Elements() != nullptr ? *shape.Elements() : one;
  for (const Value& size : given) sizes.push_back(evaluator->AsIndex(size, "a size"));
  for (const Operand& size : sizes) RequireNotNegative(&evaluator->context(), size);
  return sizes;
}

std::string StaticString(Evaluator* evaluator, const Value& value, const std::string& what) {
  const auto* text = value.TryAs<StringValue>();
  if (text == nullptr || text->is_format) {
    evaluator->context().FailType(what + " must be a string, not " + Describe(value));
  }
  return text->text;
}

Casting StaticCasting(Evaluator* evaluator, const Value& value) {
  const std::string text = StaticString(evaluator, value, "casting");
  if (text == "equiv") return Casting::kNo;  // They differ in the order of bytes.
  for (const Casting rule : {Casting::kNo, Casting::kSafe, Casting::kSameKind, Casting::kUnsafe}) {
    if (text == NameOf(rule)) return rule;
  }
  evaluator->context().FailUser(
      "ValueError",
      "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '" + text + "')");
}

}  // namespace parakeet::frontend
