#ifndef PARAKEET_IR_BUILDER_H_
#define PARAKEET_IR_BUILDER_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "ir/node.h"

namespace parakeet::ir {

// Appends bindings to one block under construction. Scalar operations on constants fold as they are
// built (fold.h), so a builder may return a constant. Every binding takes the current span.
class Builder {
 public:
  explicit Builder(Arena* arena) : arena_(arena) {}

  Arena* arena() const { return arena_; }
  void set_span(Span span) { span_ = span; }
  const Span& span() const { return span_; }

  // A builder of a block inside this one.
  Builder Nested() const;
  const Var* NewVar(Type type, std::string_view hint = "") const;

  // A scalar operation (elementwise on lanes); its type follows from the operands. Casts have
  // their own.
  Operand Scalar(OpCode op, std::vector<Operand> operands, std::string_view hint = "");
  // The operand itself when it has the dtype already.
  Operand Cast(const Operand& operand, DType dtype, std::string_view hint = "");
  // The same bits as a dtype of the same width.
  Operand Bitcast(const Operand& operand, DType dtype, std::string_view hint = "");

  // i64 arithmetic of sizes and indexes, in words.
  Operand Add(const Operand& a, const Operand& b) { return Scalar(OpCode::kAdd, {a, b}); }
  Operand Sub(const Operand& a, const Operand& b) { return Scalar(OpCode::kSub, {a, b}); }
  Operand Mul(const Operand& a, const Operand& b) { return Scalar(OpCode::kMul, {a, b}); }
  // By a divisor that is positive wherever anything depends on what they make.
  Operand Quotient(const Operand& a, const Operand& b) { return Divide(OpCode::kFloorDiv, a, b); }
  Operand Remainder(const Operand& a, const Operand& b) { return Divide(OpCode::kMod, a, b); }

  Operand Load(const Operand& array, const std::vector<Operand>& index, std::string_view hint = "");
  void Store(const Operand& array, const std::vector<Operand>& index, const Operand& value);

  // The element as it was; `combine` as in atomics.h.
  Operand Atomic(OpCode combine, const Operand& array, const std::vector<Operand>& index,
                 const Operand& value, bool ordered = false);

  // Any operation, with results made by the caller (types may refer to earlier results).
  const Binding* Emit(OpCode op, std::vector<const Var*> results, std::vector<Operand> operands,
                      Attributes attrs = {}, std::vector<const Block*> blocks = {});
  // As Emit, for one result.
  const Var* EmitOne(OpCode op, Type type, std::vector<Operand> operands, Attributes attrs = {},
                     std::vector<const Block*> blocks = {}, std::string_view hint = "");
  // Appends a binding made elsewhere.
  void Append(const Binding* binding) { bindings_.push_back(binding); }

  // The block of everything appended so far; the builder is empty afterwards.
  const Block* Finish(std::vector<const Var*> params, std::vector<Operand> results);
  std::vector<const Binding*>& bindings() { return bindings_; }

 private:
  Operand Convert(OpCode op, const Operand& operand, DType dtype, std::string_view hint);
  Operand Divide(OpCode op, const Operand& a, const Operand& b);

  Arena* arena_;
  Span span_;
  std::vector<const Binding*> bindings_;
};

// The result type of an operation whose rule is not kDeclared or kNoResult. Throws a Bug when
// operands do not fit.
Type ResultType(OpCode op, const std::vector<Operand>& operands);

// A block of two scalars that applies `op`: the combine of reductions.
const Block* CombineBlock(Arena* arena, OpCode op, DType dtype);
// The operation where `block` is just one on its two parameters (for k accumulators: accumulator
// `k`'s own), else nullopt. What `add` in `ireduce ... add` is printed from.
std::optional<OpCode> CombineOp(const Block& block, int accumulator = 0);

// The identity of an operation in a dtype (ops.def's column), where it has one.
std::optional<Constant> IdentityOf(OpCode op, DType dtype);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_BUILDER_H_
