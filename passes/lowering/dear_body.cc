#include "passes/lowering/dear_body.h"

#include <algorithm>

#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/lowering/lane_counts.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Of all that makes an element, and of one operation: beside less, two branches in each iteration
// would be felt. What takes as long streams nothing past the caches (stream_stores.cc). Of short
// bodies, lanes wait for what is loaded: a tanh of doubles took 7 % longer so.
constexpr int kDear = 40;
constexpr int kDearStep = 9;

bool IsDear(const Block& body) {
  return IsLong(body) &&
         (CostOf(body) > kDear ||
          std::any_of(body.bindings.begin(), body.bindings.end(),
                      [](const Binding* b) { return InfoOf(b->op).cost > kDearStep; }));
}

class Parter {
 public:
  explicit Parter(const Block& body) : body_(body), inside_(ir::DefinedVars(body)) {
    inside_.insert(body.params[0]);
  }

  std::optional<DearBody> Run() {
    if (!body_.results.empty() || body_.params.size() != 1 || !IsDear(body_)) return std::nullopt;
    FindIndexes();
    DearBody parts;
    for (const Binding* b : body_.bindings) {
      if (!Place(*b, parts)) return std::nullopt;
    }
    if (parts.loads.empty() || parts.stores.empty()) return std::nullopt;
    return parts;
  }

 private:
  bool IsInside(const Operand& operand) const {
    return operand.IsVar() && inside_.contains(operand.var());
  }

  // The body's index, and what lies at one distance from it.
  void FindIndexes() {
    indexes_.insert(body_.params[0]);
    for (const Binding* b : body_.bindings) {
      if (b->op != OpCode::kAdd && b->op != OpCode::kSub) continue;
      const Operand index(body_.params[0]);
      const bool adds = b->op == OpCode::kAdd && b->operands[1] == index;
      const Operand& other = b->operands[adds ? 0 : 1];
      if ((adds || b->operands[0] == index) && !IsInside(other)) indexes_.insert(b->result());
    }
  }

  bool Place(const Binding& b, DearBody& parts) const {
    const bool is_load = b.op == OpCode::kLoad;
    if (is_load || b.op == OpCode::kStore) {
      const auto moving = AxesThatMove(b);
      if (!moving || (is_load && !parts.stores.empty())) return false;
      if (*moving == 0 && !is_load) return false;
      std::vector<const Binding*>& where = !is_load       ? parts.stores
                                           : *moving == 1 ? parts.loads
                                                          : parts.places;
      where.push_back(&b);
      return true;
    }
    if (!ir::IsScalarOp(b.op)) return false;
    if (indexes_.contains(b.result())) {
      parts.places.push_back(&b);
      return true;
    }
    // Values of the index would be others behind the end.
    if (std::any_of(b.operands.begin(), b.operands.end(), [&](const Operand& operand) {
          return operand.IsVar() && indexes_.contains(operand.var());
        }))
      return false;
    parts.work.push_back(&b);
    return true;
  }

  // One, or none for the same place in all iterations; nothing where it is neither.
  std::optional<int> AxesThatMove(const Binding& access) const {
    const bool is_load = access.op == OpCode::kLoad;
    const ir::DType dtype = access.operands[0].var()->type.dtype();
    if (!ir::IsFloat(dtype) && !ir::IsInteger(dtype)) return std::nullopt;
    if (IsInside(access.operands[0])) return std::nullopt;
    int moving = 0;
    for (size_t k = 1; k < access.operands.size() - (is_load ? 0 : 1); ++k) {
      const Operand& index = access.operands[k];
      if (!IsInside(index)) continue;
      if (!indexes_.contains(index.var()) || ++moving > 1) return std::nullopt;
    }
    const Operand& stored = access.operands.back();
    if (!is_load && stored.IsVar() && indexes_.contains(stored.var())) return std::nullopt;
    return moving;
  }

  const Block& body_;
  ir::VarSet inside_;
  ir::VarSet indexes_;
};

}  // namespace

std::optional<DearBody> PartDearBody(const Block& body) { return Parter(body).Run(); }

}  // namespace parakeet::passes
