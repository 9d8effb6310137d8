#include "passes/analyses/find_nans.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What a float may be, from the least to the most.
enum class Kind { kFinite, kNumber, kAny };

class KindFinder {
 public:
  explicit KindFinder(const std::vector<const Binding*>& finite) : finite_(finite) {}

  void Add(const Binding& b) {
    if (b.results.size() == 1) kinds_[b.result()] = KindOf(b);
  }

  Kind Of(const Operand& operand) const {
    const DType dtype = ir::DTypeOf(operand);
    if (!ir::IsFloat(dtype)) return ir::IsComplex(dtype) ? Kind::kAny : Kind::kFinite;
    if (operand.IsConstant()) {
      const double value = operand.constant().real;
      return std::isfinite(value) ? Kind::kFinite : std::isnan(value) ? Kind::kAny : Kind::kNumber;
    }
    const auto found = kinds_.find(operand.var());
    return found == kinds_.end() ? Kind::kAny : found->second;
  }

 private:
  Kind KindOf(const Binding& b) const {
    const auto of = [&](size_t k) { return Of(b.operands[k]); };
    if (std::find(finite_.begin(), finite_.end(), &b) != finite_.end()) return Kind::kFinite;
    switch (b.op) {
      case OpCode::kNeg:
      case OpCode::kAbs: return of(0);
      case OpCode::kMin:
      case OpCode::kMax: return std::max(of(0), of(1));
      case OpCode::kSelect: return std::max(of(1), of(2));
      // Finite numbers may overflow; infinities may cancel.
      case OpCode::kAdd:
      case OpCode::kSub:
        return std::max(of(0), of(1)) == Kind::kFinite ? Kind::kNumber : Kind::kAny;
      case OpCode::kMul: return Product(b);
      case OpCode::kCast: return std::max(of(0), Kind::kNumber);  // Half precision overflows soon.
      default: return Kind::kAny;
    }
  }

  // 0 times an infinity is nan; a square is not.
  Kind Product(const Binding& b) const {
    const Kind most = std::max(Of(b.operands[0]), Of(b.operands[1]));
    const bool is_square = b.operands[0] == b.operands[1];
    return most == Kind::kFinite || is_square ? std::max(most, Kind::kNumber) : Kind::kAny;
  }

  const std::vector<const Binding*>& finite_;
  std::unordered_map<const Var*, Kind> kinds_;
};

}  // namespace

bool IsNumberIfFinite(const ir::Block& block, const std::vector<const Binding*>& finite) {
  KindFinder finder(finite);
  for (const Binding* b : block.bindings) finder.Add(*b);
  return finder.Of(block.results[0]) != Kind::kAny;
}

}  // namespace parakeet::passes
