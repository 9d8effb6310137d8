#include "backends/llvm/share_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "ir/mutator.h"

namespace parakeet::backends {
namespace {

using ir::Binding;
using ir::Block;
using ir::Constant;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool TakesAnyValue(OpCode op, size_t i, double value) {
  switch (op) {
    case OpCode::kAdd:
    case OpCode::kSub:
    case OpCode::kMul:
    case OpCode::kFma:
    case OpCode::kMin:
    case OpCode::kMax:
    case OpCode::kEq:
    case OpCode::kNe:
    case OpCode::kLt:
    case OpCode::kLe:
    case OpCode::kGt:
    case OpCode::kGe:
    case OpCode::kSelect:
    case OpCode::kSplat:
    case OpCode::kStore: return true;
    case OpCode::kDiv: {
      int exponent = 0;
      return i == 0 || std::abs(std::frexp(value, &exponent)) != 0.5;
    }
    default: return false;
  }
}

// Whether operand `i` is a constant that might as well be a value.
bool IsMovable(const Binding& binding, size_t i) {
  const Operand& operand = binding.operands[i];
  if (!operand.IsConstant()) return false;
  const Constant& constant = operand.constant();
  const double value = constant.real;
  return (constant.dtype == ir::DType::kF64 || constant.dtype == ir::DType::kF32) &&
         std::isfinite(value) && value != 0 && std::abs(value) != 1 &&
         TakesAnyValue(binding.op, i, value);
}

// What a part says, names and movable constants left out, as a number; the latter in order, each
// once. Parts of one number may differ: it only says where to look.
class Reading {
 public:
  explicit Reading(const Binding& part) { Read(part); }

  size_t number() const { return number_; }
  const std::vector<Constant>& constants() const { return constants_; }

 private:
  void Add(size_t word) { number_ = (number_ ^ word) * 0x9e3779b97f4a7c15 + (number_ >> 29); }

  void Read(const Binding& binding) {
    Add(static_cast<size_t>(binding.op));
    for (size_t i = 0; i < binding.operands.size(); ++i) {
      if (IsMovable(binding, i)) Add(PlaceOf(binding.operands[i].constant()));
      else Read(binding.operands[i]);
    }
    for (const auto& [attr, value] : binding.attrs.entries()) Read(attr, value);
    for (const Block* block : binding.blocks) Read(*block);
    for (const Var* result : binding.results) Read(Operand(result));
  }

  void Read(const Block& block) {
    Add(block.bindings.size());
    for (const Var* param : block.params) Read(Operand(param));
    for (const Binding* binding : block.bindings) Read(*binding);
    for (const Operand& result : block.results) Read(result);
  }

  void Read(ir::Attr attr, const ir::AttrValue& value) {
    Add(static_cast<size_t>(attr));
    if (const auto* whole = std::get_if<int64_t>(&value)) Add(*whole);
    else if (const auto* text = std::get_if<std::string>(&value))
      Add(std::hash<std::string>()(*text));
    else
      for (const int64_t item : std::get<std::vector<int64_t>>(value)) Add(item);
  }

  void Read(const Operand& operand) {
    if (operand.IsVar()) {
      const auto [known, is_new] = names_.try_emplace(operand.var(), names_.size());
      Add(known->second);
      if (is_new) Read(operand.var()->type);
      return;
    }
    const Constant& constant = operand.constant();
    Add(constant.integer);
    Add(std::hash<double>()(constant.real));
    Add(std::hash<double>()(constant.imag));
  }

  void Read(const ir::Type& type) {
    Add(static_cast<size_t>(type.dtype()));
    Add(type.lanes());
    for (const Operand& dim : type.dims()) Read(dim);
  }

  size_t PlaceOf(const Constant& constant) {
    const auto known = std::find(constants_.begin(), constants_.end(), constant);
    const size_t place = known - constants_.begin();
    if (place == constants_.size()) constants_.push_back(constant);
    return place;
  }

  size_t number_ = 0;
  std::unordered_map<const Var*, size_t> names_;
  std::vector<Constant> constants_;
};

// Puts values in place of constants.
class Replacer : public ir::Mutator {
 public:
  Replacer(ir::Arena* arena, SharedPart& part) : Mutator(arena), part_(part) {}

  const Binding* Replaced(const Binding* binding) {
    builder() = ir::Builder(arena());
    Visit(binding);
    return builder().bindings().front();
  }

 protected:
  void Visit(const Binding* binding) override {
    const Binding* rewritten = Rewrite(binding);
    for (size_t i = 0; i < binding->operands.size(); ++i) {
      if (!IsMovable(*binding, i)) continue;
      const Var* value = ValueOf(binding->operands[i].constant());
      if (value == nullptr) continue;
      Binding copy = *rewritten;
      copy.operands[i] = value;
      rewritten = arena()->New(std::move(copy));
    }
    builder().Append(rewritten);
  }

 private:
  const Var* ValueOf(const Constant& constant) const {
    for (const auto& [value, replaced] : part_.constants) {
      if (replaced == constant) return value;
    }
    return nullptr;
  }

  SharedPart& part_;
};

// Of parts of one number: the places of constants that are not the same in all.
std::vector<size_t> Differing(const std::vector<std::vector<Constant>>& constants) {
  std::vector<size_t> differing;
  for (size_t i = 0; i < constants.front().size(); ++i) {
    const bool same = std::all_of(constants.begin(), constants.end(), [&](const auto& other) {
      return i < other.size() && other[i] == constants.front()[i];
    });
    if (!same) differing.push_back(i);
  }
  return differing;
}

}  // namespace

SharedParts ShareParts(ir::Arena* arena, const std::vector<const Binding*>& parts) {
  struct Alike {
    std::vector<const Binding*> parts;
    std::vector<std::vector<Constant>> constants;
  };
  std::map<size_t, Alike> by_number;
  for (const Binding* part : parts) {
    const Reading reading(*part);
    Alike& alike = by_number[reading.number()];
    alike.parts.push_back(part);
    alike.constants.push_back(reading.constants());
  }
  SharedParts shared;
  for (const auto& [number, alike] : by_number) {
    const std::vector<size_t> differing = Differing(alike.constants);
    if (differing.empty()) continue;
    for (size_t k = 0; k < alike.parts.size(); ++k) {
      SharedPart part;
      for (const size_t i : differing) {
        if (i >= alike.constants[k].size()) continue;
        const Constant& constant = alike.constants[k][i];
        part.constants.emplace_back(arena->New(Var{constant.dtype, ""}), constant);
      }
      part.binding = Replacer(arena, part).Replaced(alike.parts[k]);
      shared.emplace(alike.parts[k], std::move(part));
    }
  }
  return shared;
}

}  // namespace parakeet::backends
