#include "backends/llvm/even_trips.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::backends {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class TripReader {
 public:
  explicit TripReader(const Binding& loop) : definitions_(ir::Definitions(*loop.blocks[0])) {
    varies_.insert(loop.blocks[0]->params[0]);
    is_even_ = Read(*loop.blocks[0]);
  }

  bool is_even() const { return is_even_; }

 private:
  bool Varies(const Operand& operand) const {
    return operand.IsVar() && varies_.contains(operand.var());
  }

  const Binding* DefinitionOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  // What varies in the value, apart from what is added that does not.
  Operand BaseOf(const Operand& operand) const {
    const Binding* sum = DefinitionOf(operand);
    if (sum == nullptr || (sum->op != OpCode::kAdd && sum->op != OpCode::kSub)) return operand;
    if (!Varies(sum->operands[1])) return BaseOf(sum->operands[0]);
    const bool is_second = sum->op == OpCode::kAdd && !Varies(sum->operands[0]);
    return is_second ? BaseOf(sum->operands[1]) : operand;
  }

  // Whether the two are as far apart in each trip; `end` may be limited, for the last of them.
  bool AreApart(const Operand& begin, const Operand& end) const {
    if (!Varies(begin) && !Varies(end)) return true;
    if (BaseOf(begin) == BaseOf(end)) return true;
    const Binding* limited = DefinitionOf(end);
    if (limited == nullptr || limited->op != OpCode::kMin) return false;
    return std::any_of(limited->operands.begin(), limited->operands.end(),
                       [&](const Operand& o) { return Varies(o) && AreApart(begin, o); });
  }

  static bool HoldsLoops(const Block& block) {
    bool holds = false;
    ir::ForEachBinding(
        block, [&](const Binding& b) { holds |= b.op == OpCode::kFor || b.op == OpCode::kWhile; });
    return holds;
  }

  bool Read(const Block& block) {
    return std::all_of(block.bindings.begin(), block.bindings.end(),
                       [&](const Binding* b) { return Read(*b); });
  }

  bool Read(const Binding& b) {
    const bool is_loop = b.op == OpCode::kFor;
    if (b.op == OpCode::kWhile || b.op == OpCode::kCall) return false;
    if (is_loop && !AreApart(b.operands[0], b.operands[1])) return false;
    if (b.op == OpCode::kIf && Varies(b.operands[0]) &&
        std::any_of(b.blocks.begin(), b.blocks.end(),
                    [](const Block* side) { return HoldsLoops(*side); }))
      return false;
    if (b.op == OpCode::kSub && AreApart(b.operands[1], b.operands[0])) return true;
    const bool is_number = ir::IsScalarOp(b.op);
    const bool varies = !is_number || std::any_of(b.operands.begin(), b.operands.end(),
                                                  [&](const Operand& o) { return Varies(o); });
    if (varies) varies_.insert(b.results.begin(), b.results.end());
    for (const Block* inner : b.blocks) {
      // An index from a beginning that does not vary takes the same values in each trip.
      const bool is_same = is_loop && !Varies(b.operands[0]);
      varies_.insert(inner->params.begin() + (is_same ? 1 : 0), inner->params.end());
      if (!Read(*inner)) return false;
    }
    return true;
  }

  ir::DefinitionMap definitions_;
  ir::VarSet varies_;  // What is not the same in each trip.
  bool is_even_ = false;
};

}  // namespace

bool HasEvenTrips(const Binding& loop) { return TripReader(loop).is_even(); }

}  // namespace parakeet::backends
