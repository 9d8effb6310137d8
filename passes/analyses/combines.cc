#include "passes/analyses/combines.h"

#include <optional>
#include <unordered_map>

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Reads a combine from its results back.
class Reader {
 public:
  explicit Reader(const Block& combine) : combine_(combine), count_(combine.results.size()) {
    for (const Binding* b : combine.bindings) {
      if (b->results.size() == 1) definitions_[b->result()] = b;
    }
  }

  bool IsExtreme() const {
    if (count_ < 2 || combine_.params.size() != 2 * count_) return false;
    const Binding* first = Find(combine_.results[0], OpCode::kSelect);
    if (first == nullptr) return false;
    for (size_t k = 0; k < count_; ++k) {
      const Binding* select = Find(combine_.results[k], OpCode::kSelect);
      if (select == nullptr || select->operands[0] != first->operands[0] ||
          select->operands[1] != Right(k) || select->operands[2] != Left(k))
        return false;
    }
    const Binding* takes = Find(first->operands[0], OpCode::kOr);
    return takes != nullptr && (IsChoice(takes->operands[0], takes->operands[1]) ||
                                IsChoice(takes->operands[1], takes->operands[0]));
  }

 private:
  Operand Left(size_t k) const { return combine_.params[k]; }
  Operand Right(size_t k) const { return combine_.params[k + count_]; }

  const Binding* Find(const Operand& value, OpCode op) const {
    const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
    return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
  }

  // The accumulator of which `value` is right `op` left, or for an op that commutes left `op`
  // right.
  std::optional<size_t> Compared(const Operand& value, OpCode op) const {
    const Binding* b = Find(value, op);
    for (size_t k = 0; b != nullptr && k < count_; ++k) {
      if (b->operands[0] == Right(k) && b->operands[1] == Left(k)) return k;
      if (ir::IsCommutative(op) && b->operands[0] == Left(k) && b->operands[1] == Right(k))
        return k;
    }
    return std::nullopt;
  }

  std::optional<size_t> Ordered(const Operand& value) const {
    const auto greater = Compared(value, OpCode::kGt);
    return greater ? greater : Compared(value, OpCode::kLt);
  }

  bool IsChoice(const Operand& better, const Operand& instead) const {
    const std::optional<size_t> k = Ordered(better);
    const Binding* both = Find(instead, OpCode::kAnd);
    if (!k || both == nullptr) return false;
    for (int side = 0; side < 2; ++side) {
      const std::optional<size_t> index = Ordered(both->operands[1 - side]);
      const bool decides =
          index && ir::IsInteger(combine_.params[*index]->type.dtype()) && *index != *k;
      if (Compared(both->operands[side], OpCode::kEq) == k && decides) return true;
    }
    return false;
  }

  const Block& combine_;
  const size_t count_;
  std::unordered_map<const Var*, const Binding*> definitions_;
};

}  // namespace

bool IsExtremeByIndex(const Block& combine) { return Reader(combine).IsExtreme(); }

}  // namespace parakeet::passes
