#include "passes/analyses/carried_together.h"

#include <algorithm>
#include <numeric>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int kMostChoices = 4;

}  // namespace

std::vector<size_t> CarriedTogether::FirstOf(const Binding& binding) const {
  if (binding.op != OpCode::kIf) return OfLoop(binding);
  std::vector<size_t> first(binding.results.size());
  std::vector<Key> keys;
  for (size_t k = 0; k < first.size(); ++k) {
    const bool is_scalar = binding.results[k]->type.IsScalar();
    keys.push_back(is_scalar ? KeyOfChoice(binding, k, {}, kMostChoices)
                             : Key{Operand(binding.results[k])});
    first[k] = std::find(keys.begin(), keys.end(), keys.back()) - keys.begin();
  }
  return first;
}

std::vector<size_t> CarriedTogether::OfLoop(const Binding& loop) const {
  const Block& body = *loop.blocks.back();
  const size_t counters = body.params.size() - loop.results.size();
  const size_t inits = loop.operands.size() - loop.results.size();
  std::vector<size_t> first(loop.results.size());
  std::iota(first.begin(), first.end(), 0);
  for (size_t k = 0; k < first.size(); ++k) {
    if (!loop.results[k]->type.IsScalar()) continue;
    for (size_t other = 0; other < k && first[k] == k; ++other) {
      const bool begins_equal = loop.results[other]->type == loop.results[k]->type &&
                                as_(loop.operands[inits + other]) == as_(loop.operands[inits + k]);
      if (begins_equal) first[k] = first[other];
    }
  }
  for (bool is_stable = false; !is_stable;) {
    is_stable = true;
    Known known;
    for (size_t k = 0; k < first.size(); ++k)
      known.emplace(body.params[counters + k], body.params[counters + first[k]]);
    std::vector<Key> keys;
    for (size_t k = 0; k < first.size(); ++k) {
      const bool is_one_of_many = std::count(first.begin(), first.end(), first[k]) > 1;
      keys.push_back(is_one_of_many ? KeyOf(body.results[k], known, kMostChoices) : Key{});
    }
    const std::vector<size_t> before = first;
    for (size_t k = 0; k < first.size(); ++k) {
      size_t other = before[k];
      while (before[other] != before[k] || keys[other] != keys[k]) ++other;
      is_stable &= other == first[k];
      first[k] = other;
    }
  }
  return first;
}

CarriedTogether::Key CarriedTogether::KeyOf(const Operand& operand, const Known& known,
                                            int depth) const {
  const Operand value = Read(operand, known);
  const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
  const bool is_choice = found != definitions_.end() && found->second->op == OpCode::kIf;
  if (!is_choice || depth == 0) return {value};
  const auto& results = found->second->results;
  const auto at = std::find(results.begin(), results.end(), value.var());
  return KeyOfChoice(*found->second, at - results.begin(), known, depth - 1);
}

CarriedTogether::Key CarriedTogether::KeyOfChoice(const Binding& choice, size_t result,
                                                  const Known& known, int depth) const {
  const Operand& condition = choice.operands[0];
  const Key then = KeyOf(choice.blocks[0]->results[result], Where(condition, true, known), depth);
  const Key otherwise =
      KeyOf(choice.blocks[1]->results[result], Where(condition, false, known), depth);
  if (then == otherwise) return then;
  Key key = {condition, Operand::Int(static_cast<int64_t>(then.size()))};
  key.insert(key.end(), then.begin(), then.end());
  key.insert(key.end(), otherwise.begin(), otherwise.end());
  return key;
}

Operand CarriedTogether::Read(const Operand& operand, const Known& known) const {
  Operand value = operand;
  for (;;) {
    const auto found = value.IsVar() ? known.find(value.var()) : known.end();
    const Operand next = found == known.end() ? as_(value) : found->second;
    if (next == value) return value;
    value = next;
  }
}

CarriedTogether::Known CarriedTogether::Where(const Operand& condition, bool value,
                                              Known known) const {
  const auto found = condition.IsVar() ? definitions_.find(condition.var()) : definitions_.end();
  if (found == definitions_.end()) return known;
  const Binding& b = *found->second;
  if (b.op == OpCode::kNot) return Where(b.operands[0], !value, std::move(known));
  if (b.op != (value ? OpCode::kEq : OpCode::kNe)) return known;
  for (const int side : {0, 1}) {
    const Operand read = Read(b.operands[side], known);
    const Operand& other = b.operands[1 - side];
    const bool is_exact = other.IsConstant() && ir::IsInteger(other.constant().dtype);
    if (read.IsVar() && is_exact) known[read.var()] = other;
  }
  return known;
}

}  // namespace parakeet::passes
