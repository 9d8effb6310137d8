#include "ir/combines.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/builder.h"
#include "ir/dtype.h"
#include "ir/flat_table.h"

namespace parakeet::ir {
namespace {

// Reads a combine from its results back.
class CombineReader {
 public:
  explicit CombineReader(const Block& combine) : combine_(combine), count_(combine.results.size()) {
    for (const Binding* b : combine.bindings) {
      if (b->results.size() == 1) definitions_[b->result()] = b;
    }
    if (combine.params.size() == 2 * count_) FindChosen();
  }

  // The operation of an accumulator that is combined by one, as CombineOp has it of all of them.
  std::optional<OpCode> OpOf(size_t k) const {
    const Operand& result = combine_.results[k];
    const auto found = result.IsVar() ? definitions_.find(result.var()) : definitions_.end();
    if (found == definitions_.end() || combine_.params.size() != 2 * count_) return std::nullopt;
    const Binding& b = *found->second;
    const bool is_own = IsScalarOp(b.op) && b.operands == std::vector<Operand>{Left(k), Right(k)};
    return is_own ? std::optional(b.op) : std::nullopt;
  }

  // What leaves the other accumulators as they are, of those that are taken from one side.
  const std::map<size_t, Constant>& chosen() const { return chosen_; }

 private:
  Operand Left(size_t k) const { return combine_.params[k]; }
  Operand Right(size_t k) const { return combine_.params[k + count_]; }
  DType DTypeOfAccumulator(size_t k) const { return combine_.params[k]->type.dtype(); }

  const Binding* Find(const Operand& value, OpCode op) const {
    const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
    return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
  }

  // By the condition that is asked for them all.
  void FindChosen() {
    std::map<const Var*, std::vector<size_t>> groups;
    for (size_t k = 0; k < count_; ++k) {
      const Binding* select = Find(combine_.results[k], OpCode::kSelect);
      if (select == nullptr || !select->operands[0].IsVar() || select->operands[1] != Right(k) ||
          select->operands[2] != Left(k) || !combine_.params[k]->type.IsScalar())
        continue;
      groups[select->operands[0].var()].push_back(k);
    }
    for (const auto& [takes, group] : groups) {
      const Binding* either = Find(takes, OpCode::kOr);
      if (either == nullptr) continue;
      if (!AddChosen(group, either->operands[0], either->operands[1]))
        AddChosen(group, either->operands[1], either->operands[0]);
    }
  }

  bool AddChosen(const std::vector<size_t>& group, const Operand& better, const Operand& instead) {
    const auto best = Ordered(better);
    const Binding* both = Find(instead, OpCode::kAnd);
    if (!best || both == nullptr) return false;
    for (int side = 0; side < 2; ++side) {
      const auto index = Ordered(both->operands[1 - side]);
      const bool decides = index && IsInteger(DTypeOfAccumulator(index->accumulator)) &&
                           index->accumulator != best->accumulator;
      const auto equal = Compared(both->operands[side], OpCode::kEq);
      if (!decides || equal != best->accumulator || !Has(group, best->accumulator) ||
          !Has(group, index->accumulator))
        continue;
      for (const size_t k : group) chosen_.emplace(k, ZeroOf(DTypeOfAccumulator(k)));
      for (const Order& order : {*best, *index}) {
        const OpCode keeps = order.op == OpCode::kGt ? OpCode::kMax : OpCode::kMin;
        chosen_.at(order.accumulator) = *IdentityOf(keeps, DTypeOfAccumulator(order.accumulator));
      }
      return true;
    }
    return false;
  }

  static bool Has(const std::vector<size_t>& group, size_t k) {
    return std::count(group.begin(), group.end(), k) > 0;
  }

  // The accumulator of which `value` is right `op` left, or for an op that commutes left `op`
  // right.
  std::optional<size_t> Compared(const Operand& value, OpCode op) const {
    const Binding* b = Find(value, op);
    for (size_t k = 0; b != nullptr && k < count_; ++k) {
      if (b->operands[0] == Right(k) && b->operands[1] == Left(k)) return k;
      if (IsCommutative(op) && b->operands[0] == Left(k) && b->operands[1] == Right(k)) return k;
    }
    return std::nullopt;
  }

  struct Order {
    size_t accumulator;
    OpCode op;
  };
  std::optional<Order> Ordered(const Operand& value) const {
    for (const OpCode op : {OpCode::kGt, OpCode::kLt}) {
      if (const auto k = Compared(value, op)) return Order{*k, op};
    }
    return std::nullopt;
  }

  const Block& combine_;
  const size_t count_;
  FlatMap<const Var*, const Binding*> definitions_;
  std::map<size_t, Constant> chosen_;
};

}  // namespace

CombineTraits TraitsOf(const Block& combine) {
  CombineTraits traits;
  const CombineReader reader(combine);
  for (size_t k = 0; k < combine.results.size(); ++k) {
    if (const auto chosen = reader.chosen().find(k); chosen != reader.chosen().end()) {
      traits.identities.push_back(chosen->second);
      continue;
    }
    const auto op = reader.OpOf(k);
    const Type type = TypeOf(combine.results[k]);
    traits.commutes &= op && IsCommutative(*op);
    traits.is_idempotent &= op && IsIdempotent(*op);
    const auto identity = op && type.IsScalar() ? IdentityOf(*op, type.dtype()) : std::nullopt;
    if (identity) traits.identities.push_back(*identity);
  }
  if (traits.identities.size() != combine.results.size()) traits.identities.clear();
  return traits;
}

}  // namespace parakeet::ir
