#include "backends/llvm/counters.h"

#include <algorithm>

namespace parakeet::backends {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kLargestMove = 1024;
constexpr int64_t kLargestStart = int64_t{1} << 31;

bool IsConstantWithin(const Operand& operand, int64_t limit) {
  if (!operand.IsConstant() || ir::TypeOf(operand) != ir::Type(ir::DType::kI64)) return false;
  const int64_t value = operand.constant().integer;
  return value >= -limit && value <= limit;
}

class Steps {
 public:
  // Both are borrowed.
  Steps(const ir::DefinitionMap& makers, const ir::VarSet& counters)
      : makers_(makers), counters_(counters) {}

  // Whether the value, yielded behind a step, is one that a counter may go on with.
  bool Count(const Operand& value) {
    if (!value.IsVar()) return IsConstantWithin(value, kLargestStart);
    if (counters_.contains(value.var()) || found_.contains(value.var())) return true;
    const auto maker = makers_.find(value.var());
    if (maker == makers_.end() || !IsCounted(*maker->second, value.var())) return false;
    found_.insert(value.var());
    return true;
  }
  const ir::VarSet& found() const { return found_; }

 private:
  bool IsCounted(const Binding& b, const Var* result) {
    const std::vector<Operand>& in = b.operands;
    const size_t k = std::find(b.results.begin(), b.results.end(), result) - b.results.begin();
    switch (b.op) {
      case OpCode::kAdd:
      case OpCode::kSub: return IsConstantWithin(in[1], kLargestMove) && Count(in[0]);
      case OpCode::kSelect: return Count(in[1]) && Count(in[2]);
      case OpCode::kIf: return Count(b.blocks[0]->results[k]) && Count(b.blocks[1]->results[k]);
      case OpCode::kWhile:
        if (!Count(in[k])) return false;
        for (const ir::Block* block : b.blocks) found_.insert(block->params[k]);
        return Count(b.blocks[1]->results[k]);
      default: return false;
    }
  }

  const ir::DefinitionMap& makers_;
  const ir::VarSet& counters_;
  ir::VarSet found_;
};

bool BeginsSmall(const Operand& init, const ir::VarSet& counters) {
  return init.IsVar() ? counters.contains(init.var()) : IsConstantWithin(init, kLargestStart);
}

}  // namespace

void FindCounters(const Binding& loop, ir::VarSet& counters) {
  const Block &test = *loop.blocks[0], &body = *loop.blocks[1];
  const ir::DefinitionMap makers = ir::Definitions(body);
  for (size_t k = 0; k < loop.results.size(); ++k) {
    if (body.params[k]->type != ir::Type(ir::DType::kI64)) continue;
    if (!BeginsSmall(loop.operands[k], counters)) continue;
    ir::VarSet supposed = counters;
    supposed.insert(body.params[k]);
    Steps steps(makers, supposed);
    if (!steps.Count(body.results[k])) continue;
    for (const Var* var : {test.params[k], body.params[k], loop.results[k]}) counters.insert(var);
    counters.merge(steps.found());
  }
}

bool IsCount(const Binding& b, const ir::VarSet& counters) {
  return (b.op == OpCode::kAdd || b.op == OpCode::kSub) && b.operands[0].IsVar() &&
         counters.contains(b.operands[0].var()) && IsConstantWithin(b.operands[1], kLargestMove) &&
         !b.operands[1].IsInt(0);
}

}  // namespace parakeet::backends
