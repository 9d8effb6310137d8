#include "passes/analyses/vector_legality.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Follows what differs from lane to lane through a block.
class Divergence {
 public:
  std::string Check(const Block& block) {
    for (const Binding* b : block.bindings) {
      std::string reason = Check(*b);
      if (!reason.empty()) return reason;
    }
    return "";
  }

  void Add(const Var* var) { varying_.insert(var); }

 private:
  std::string Check(const Binding& b) {
    const bool varies = std::any_of(b.operands.begin(), b.operands.end(),
                                    [&](const Operand& o) { return Varies(o); });
    if (ir::IsScalarOp(b.op) || b.op == OpCode::kLoad) {
      if (varies) Mark(b);
      return b.results[0]->type.dtype() == ir::DType::kF16
                 ? "half precision is computed one element at a time"
                 : ComplexReason(b);
    }
    switch (b.op) {
      case OpCode::kStore: return ComplexReason(b);
      case OpCode::kIf: return CheckIf(b);
      case OpCode::kFor:
        return CheckLoop(b, 1, varies && (Varies(b.operands[0]) || Varies(b.operands[1])));
      case OpCode::kIreduce:
        if (b.attrs.Int(ir::Attr::kLanes, 1) > 1) return "a reduction in it takes the lanes";
        return CheckLoop(b, 0, ExtentsVary(b));
      case OpCode::kCheck: return varies ? "a check in it may fail in one lane" : "";
      default: return "it holds " + std::string(Name(b.op));
    }
  }

  std::string ComplexReason(const Binding& b) const {
    for (const Operand& operand : b.operands) {
      if (ir::IsComplex(DTypeOf(operand)) || DTypeOf(operand) == ir::DType::kF16)
        return "its numbers have no lanes";
    }
    return !b.results.empty() && ir::IsComplex(b.results[0]->type.dtype())
               ? "its numbers have no lanes"
               : "";
  }

  std::string CheckIf(const Binding& b) {
    Mark(b);
    for (const Var* result : b.results) {
      if (result->type.IsArray()) return "an array is chosen in it";
    }
    for (const Block* block : b.blocks) {
      std::string reason = Check(*block);
      if (!reason.empty()) return reason;
    }
    return "";
  }

  bool ExtentsVary(const Binding& b) const {
    for (size_t i = 0; i < b.blocks[0]->params.size(); ++i) {
      if (Varies(b.operands[i])) return true;
    }
    return false;
  }

  // Carried values count as differing: one lane may leave them so.
  std::string CheckLoop(const Binding& b, size_t first_carried, bool bounds_vary) {
    if (bounds_vary) return "a loop in it runs longer in some lanes";
    Mark(b);
    for (const Var* result : b.results) {
      if (result->type.IsArray()) return "an array is carried in it";
    }
    for (size_t block = 0; block < b.blocks.size(); ++block) {
      const std::vector<const Var*>& params = b.blocks[block]->params;
      const bool carries = b.op == OpCode::kFor || block == 1;
      for (size_t i = carries ? first_carried : params.size(); i < params.size(); ++i)
        Add(params[i]);
      std::string reason = Check(*b.blocks[block]);
      if (!reason.empty()) return reason;
    }
    return "";
  }

  bool Varies(const Operand& operand) const {
    return operand.IsVar() && varying_.contains(operand.var());
  }
  void Mark(const Binding& b) { varying_.insert(b.results.begin(), b.results.end()); }

  VarSet varying_;
};

}  // namespace

std::string WhyNotVector(const Block& block, const Var* index) {
  Divergence divergence;
  divergence.Add(index);
  return divergence.Check(block);
}

}  // namespace parakeet::passes
