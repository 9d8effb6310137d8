#include "passes/analyses/vector_legality.h"

#include <algorithm>

#include "ir/uses.h"
#include "passes/analyses/varying_values.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Goes through a block of which it is known what differs from lane to lane.
class Divergence {
 public:
  // Where lanes follow each other in program order, those of a check may fail one by one.
  Divergence(VarSet varying, bool in_program_order)
      : varying_(std::move(varying)), in_program_order_(in_program_order) {}

  std::string Check(const Block& block) {
    std::string reason;
    for (const Binding* b : block.bindings) {
      if (reason.empty()) reason = Check(*b);
    }
    return reason;
  }

 private:
  std::string Check(const Binding& b) {
    if (ir::IsScalarOp(b.op) || b.op == OpCode::kLoad) {
      return b.results[0]->type.dtype() == ir::DType::kF16
                 ? "half precision is computed one element at a time"
                 : HalfReason(b);
    }
    switch (b.op) {
      case OpCode::kStore:
        if (b.operands.size() == 2) return "it stores to an array without axes";
        if (checks_in_branch_) return "it stores in a branch in which a check may fail";
        stores_ = true;
        return HalfReason(b);
      case OpCode::kIf: return CheckIf(b);
      case OpCode::kFor: return CheckLoop(b, Varies(b.operands[0]) || Varies(b.operands[1]));
      case OpCode::kIreduce:
        if (b.attrs.Int(ir::Attr::kLanes, 1) > 1) return "a reduction in it takes the lanes";
        return CheckLoop(b, ExtentsVary(b));
      case OpCode::kForeach: return CheckLoop(b, ExtentsVary(b));
      case OpCode::kWhile: {
        const bool parts = Varies(b.blocks[0]->results[0]);
        leave_alone_ += parts;
        std::string reason = CheckLoop(b, false);
        leave_alone_ -= parts;
        return reason;
      }
      case OpCode::kCheck: return AnyVaries(b) ? CheckReason(b) : "";
      default: return "it holds " + std::string(Name(b.op));
    }
  }

  static std::string HalfReason(const Binding& b) {
    const bool has_half = std::any_of(b.operands.begin(), b.operands.end(), [](const Operand& o) {
      return DTypeOf(o) == ir::DType::kF16;
    });
    return has_half ? "its numbers have no lanes" : "";
  }

  // All lanes fail together where the condition is the same in all. Where one fails alone, its
  // vector is run again, one iteration after the other: nothing may have been stored by then. What
  // follows in its branch is left out for lanes that have failed.
  std::string CheckReason(const Binding& b) {
    if (!in_program_order_ || leave_alone_ > 0) return "a check in it may fail in one lane";
    if (divergent_ == 0 && !Varies(b.operands[0])) return "";
    if (inside_ > 0) return "a check in it may fail in one lane, within a loop";
    checks_in_branch_ |= divergent_ > 0;
    return stores_ ? "a check in it may fail in one lane after it stores" : "";
  }

  std::string CheckIf(const Binding& b) {
    const bool varies = Varies(b.operands[0]);
    for (const Var* result : b.results) {
      if (result->type.IsArray()) return "an array is chosen in it";
    }
    (varies ? divergent_ : inside_) += 1;
    std::string reason;
    for (const Block* block : b.blocks) {
      if (reason.empty()) reason = Check(*block);
    }
    (varies ? divergent_ : inside_) -= 1;
    if (divergent_ == 0) checks_in_branch_ = false;
    return reason;
  }

  bool ExtentsVary(const Binding& b) const {
    for (size_t i = 0; i < b.blocks[0]->params.size(); ++i) {
      if (Varies(b.operands[i])) return true;
    }
    return false;
  }

  std::string CheckLoop(const Binding& b, bool bounds_vary) {
    if (bounds_vary) return "a loop in it runs longer in some lanes";
    if (checks_in_branch_) return "a loop in it follows a check that may fail in one lane";
    for (const Var* result : b.results) {
      if (result->type.IsArray()) return "an array is carried in it";
    }
    ++inside_;
    std::string reason;
    for (const Block* block : b.blocks) {
      if (reason.empty()) reason = Check(*block);
    }
    --inside_;
    return reason;
  }

  bool Varies(const Operand& operand) const {
    return operand.IsVar() && varying_.contains(operand.var());
  }
  bool AnyVaries(const Binding& b) const {
    return std::any_of(b.operands.begin(), b.operands.end(),
                       [&](const Operand& o) { return Varies(o); });
  }

  const VarSet varying_;
  const bool in_program_order_;
  bool stores_ = false;
  bool checks_in_branch_ = false;  // which some lanes take, and which is not left yet
  int inside_ = 0;                 // Loops around, and branches that all lanes take alike.
  int divergent_ = 0;              // Branches around that some lanes take.
  int leave_alone_ = 0;            // Loops around that some lanes leave before others.
};

}  // namespace

std::string WhyNotVector(const Block& block, const Var* index) {
  return Divergence(VaryingValues(block, index), index == block.params.back()).Check(block);
}

}  // namespace parakeet::passes
