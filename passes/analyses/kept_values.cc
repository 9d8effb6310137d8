#include "passes/analyses/kept_values.h"

#include <algorithm>
#include <unordered_map>

#include "ir/builder.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/needed_bindings.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Operand;
using ir::Var;

// What an iteration yields for the values that are kept, by arithmetic that is known: nothing for
// one that it makes otherwise.
class Iteration {
 public:
  Iteration(const Binding& loop, const std::vector<Operand>& inits, const std::vector<bool>& keeps,
            ir::Arena* arena)
      : body_(*loop.blocks.back()), builder_(arena) {
    std::vector<Operand> results;
    for (size_t k = 0; k < keeps.size(); ++k) {
      if (!keeps[k]) continue;
      known_.emplace(body_.params[FirstCarried(loop) + k], inits[k]);
      results.push_back(body_.results[k]);
    }
    for (const Binding* b : NeededBindings(body_, results)) {
      if (ir::IsScalarOp(b->op) && b->results.size() == 1 && b->result()->type.IsScalar()) Make(*b);
    }
  }

  Operand Known(const Operand& value) const {
    const auto found = value.IsVar() ? known_.find(value.var()) : known_.end();
    return found == known_.end() ? value : found->second;
  }

 private:
  void Make(const Binding& b) {
    std::vector<Operand> operands;
    for (const Operand& operand : b.operands) operands.push_back(Known(operand));
    if (operands == b.operands || b.op == ir::OpCode::kCast || b.op == ir::OpCode::kBitcast) return;
    known_.insert_or_assign(b.result(), builder_.Scalar(b.op, std::move(operands)));
  }

  const Block& body_;
  ir::Builder builder_;  // of bindings that nobody reads
  std::unordered_map<const Var*, Operand> known_;
};

}  // namespace

std::vector<bool> KeptValues(const Binding& loop, const std::vector<Operand>& inits,
                             ir::Arena* arena) {
  const Block& body = *loop.blocks.back();
  std::vector<bool> keeps(loop.results.size());
  for (size_t k = 0; k < keeps.size(); ++k)
    keeps[k] = loop.results[k]->type == ir::Type(ir::DType::kI64);
  while (std::find(keeps.begin(), keeps.end(), true) != keeps.end()) {
    const Iteration iteration(loop, inits, keeps, arena);
    std::vector<bool> still = keeps;
    for (size_t k = 0; k < keeps.size(); ++k)
      still[k] = keeps[k] && iteration.Known(body.results[k]) == inits[k];
    if (still == keeps) break;
    keeps = std::move(still);
  }
  return keeps;
}

}  // namespace parakeet::passes
