#include <algorithm>

#include "passes/analyses/ranges.h"

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;

// A place below a * b is, divided by b, below a. A product of sizes that wraps around is less than
// the true one, so that the place is below that too.
std::vector<LinearForm> Ranges::QuotientLimits(const Binding& b) const {
  std::vector<LinearForm> limits;
  const auto found = facts_.find(b.operands[0].IsVar() ? b.operands[0].var() : nullptr);
  if (found == facts_.end()) return limits;
  for (const LinearForm& limit : found->second.upper) {
    if (limit.terms.size() != 1 || limit.terms[0].second != 1 || limit.constant > -1) continue;
    const auto product = definitions_.find(limit.terms[0].first);
    if (product == definitions_.end() || product->second->op != OpCode::kMul) continue;
    for (const int side : {0, 1}) {
      const Operand& other = product->second->operands[1 - side];
      if (product->second->operands[side] != b.operands[1]) continue;
      if (ProvesLe(Operand::Int(0), other)) limits.push_back(Plus(FormOf(other), -1));
    }
  }
  return limits;
}

// Where a block of a known length begins, of as many as there are: no further than the last one.
void Ranges::BoundMultiple(const Binding& b) {
  for (const int side : {0, 1}) {
    const auto most = MostOfMultiple(b.operands[side], b.operands[1 - side]);
    if (!most) continue;
    Limit(b.result(), false, LinearForm::Of(int64_t{0}));
    Limit(b.result(), true, *most);
    return;
  }
}

// What q * d is at most, where 0 <= q <= x // d - c and 0 < d: x - c * d. None where x may be far
// from 0, so that the product might wrap around.
std::optional<LinearForm> Ranges::MostOfMultiple(const Operand& times, const Operand& of) const {
  if (!of.IsVar() || quotients_.empty()) return std::nullopt;
  const auto divides = [&](const Binding* quotient) { return quotient->operands[1] == of; };
  if (std::none_of(quotients_.begin(), quotients_.end(), divides)) return std::nullopt;
  if (!ProvesLe(Operand::Int(0), times) || !ProvesLt(Operand::Int(0), of)) return std::nullopt;
  for (const Binding* quotient : quotients_) {
    const LinearForm whole = FormOf(quotient->operands[0]);
    if (!divides(quotient) || !IsNear(whole)) continue;
    const LinearForm gap = Difference(FormOf(quotient->result()), FormOf(times));
    if (ProvesNonNegative(Plus(gap, -1))) return Difference(whole, FormOf(of));
    if (ProvesNonNegative(gap)) return whole;
  }
  return std::nullopt;
}

}  // namespace parakeet::passes
