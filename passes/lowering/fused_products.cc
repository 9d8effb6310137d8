// Sums of products whose last rounding is one, of real and of complex numbers.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

using ir::DType;
using ir::OpCode;
using ir::Operand;

namespace {

// A product that the block has just made, of numbers of any kind, and whether it is subtracted.
class MadeProduct {
 public:
  MadeProduct(ir::Builder& builder, const Operand& value) : builder_(builder) {
    const ir::Binding* made = MakerOf(value);
    if (IsBy(made, OpCode::kReal) || IsBy(made, OpCode::kImag)) {
      part_ = made->op;
      made = MakerOf(made->operands[0]);
    }
    is_negative_ = IsBy(made, OpCode::kNeg);
    if (is_negative_) made = MakerOf(made->operands[0]);
    if (IsBy(made, OpCode::kMul)) product_ = made;
  }

  // The sum with the product; nothing where there is no such product.
  std::optional<Operand> AddedTo(const Operand& sum) const {
    if (product_ == nullptr) return std::nullopt;
    const DType dtype = ir::DTypeOf(Operand(product_->result()));
    if (!ir::IsComplex(dtype)) {
      if (part_ || (dtype != DType::kF32 && dtype != DType::kF64)) return std::nullopt;
      return Fma(Signed(product_->operands[0], is_negative_), product_->operands[1], sum);
    }
    if (part_) return PartAddedTo(*part_, sum);
    return builder_.Scalar(OpCode::kMakeComplex,
                           {PartAddedTo(OpCode::kReal, Part(OpCode::kReal, sum)),
                            PartAddedTo(OpCode::kImag, Part(OpCode::kImag, sum))});
  }

 private:
  static bool IsBy(const ir::Binding* made, OpCode op) { return made != nullptr && made->op == op; }

  const ir::Binding* MakerOf(const Operand& value) const {
    const std::vector<const ir::Binding*>& made = builder_.bindings();
    const auto makes = [&](const ir::Binding* b) {
      return b->results.size() == 1 && Operand(b->results[0]) == value;
    };
    const auto maker = std::find_if(made.rbegin(), made.rend(), makes);
    return maker == made.rend() ? nullptr : *maker;
  }

  Operand Part(OpCode part, const Operand& number) const { return builder_.Scalar(part, {number}); }
  Operand Signed(const Operand& number, bool is_negative) const {
    return is_negative ? builder_.Scalar(OpCode::kNeg, {number}) : number;
  }
  Operand Fma(const Operand& a, const Operand& b, const Operand& sum) const {
    return builder_.Scalar(OpCode::kFma, {a, b, sum});
  }

  // (a + bi) * (c + di) = ac - bd + (ad + bc)i
  Operand PartAddedTo(OpCode part, const Operand& sum) const {
    const Operand &left = product_->operands[0], &right = product_->operands[1];
    const OpCode other = part == OpCode::kReal ? OpCode::kImag : OpCode::kReal;
    const Operand first = Signed(Part(OpCode::kReal, left), is_negative_);
    const Operand second =
        Signed(Part(OpCode::kImag, left), is_negative_ != (part == OpCode::kReal));
    return Fma(second, Part(other, right), Fma(first, Part(part, right), sum));
  }

  ir::Builder& builder_;
  std::optional<OpCode> part_;
  bool is_negative_ = false;
  const ir::Binding* product_ = nullptr;
};

}  // namespace

std::optional<Operand> LoopWriter::FuseMultiplyAdd(const Operand& sum, const Operand& product) {
  return MadeProduct(builder(), product).AddedTo(sum);
}

}  // namespace parakeet::passes
