#include "ir/builder.h"

#include <limits>

#include "ir/diagnostics.h"
#include "ir/fold.h"

namespace parakeet::ir {
namespace {

bool SameShape(const Type& a, const Type& b) {
  return a.lanes() == b.lanes() && !a.IsArray() && !b.IsArray();
}

void RequireOneType(OpCode op, const std::vector<Operand>& operands, size_t first) {
  for (size_t i = first; i < operands.size(); ++i) {
    if (!(TypeOf(operands[i]) == TypeOf(operands[first])) || TypeOf(operands[i]).IsArray()) {
      FailBug(std::string(Name(op)) + " takes operands of one scalar type");
    }
  }
}

Type PartType(const Type& type) {
  return IsComplex(type.dtype()) ? type.With(PartOf(type.dtype())) : type;
}

std::optional<Constant> Extreme(DType dtype, bool highest) {
  if (IsBool(dtype)) return Constant::Bool(highest);
  if (IsComplex(dtype)) return std::nullopt;
  if (IsFloat(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Constant::Float(highest ? infinity : -infinity, dtype);
  }
  const int bits = SizeInBits(dtype);
  if (IsUnsigned(dtype)) return ConstantOf(dtype, highest ? -1 : 0);
  const int64_t low = static_cast<int64_t>(uint64_t{1} << 63) >> (64 - bits);
  return Constant::Int(highest ? ~low : low, dtype);
}

// What is none of two numbers, or the extreme where all are.
std::optional<Constant> NanOr(DType dtype, bool highest) {
  if (!IsFloat(dtype)) return Extreme(dtype, highest);
  return Constant::Float(std::numeric_limits<double>::quiet_NaN(), dtype);
}

Constant ZeroThatAdds(DType dtype) {
  if (IsFloat(dtype)) return Constant::Float(-0.0, dtype);
  if (IsComplex(dtype)) return Constant::Complex(-0.0, -0.0, dtype);
  return ZeroOf(dtype);
}

}  // namespace

Builder Builder::Nested() const {
  Builder inner(arena_);
  inner.set_span(span_);
  return inner;
}

const Var* Builder::NewVar(Type type, std::string_view hint) const {
  return arena_->New(Var{std::move(type), arena_->Intern(hint)});
}

Operand Builder::Scalar(OpCode op, std::vector<Operand> operands, std::string_view hint) {
  const Type type = ResultType(op, operands);
  if (auto folded = Fold(op, operands, type)) return *folded;
  return EmitOne(op, type, std::move(operands), {}, {}, hint);
}

Operand Builder::Divide(OpCode op, const Operand& a, const Operand& b) {
  if (b.IsConstant()) return Scalar(op, {a, b});
  const Type type = ResultType(op, {a, b});
  if (auto folded = Fold(op, {a, b}, type)) return *folded;
  return EmitOne(op, type, {a, b}, {{Attr::kPositive, int64_t{1}}});
}

Operand Builder::Convert(OpCode op, const Operand& operand, DType dtype, std::string_view hint) {
  if (DTypeOf(operand) == dtype) return operand;
  const Type type = TypeOf(operand).With(dtype);
  if (auto folded = Fold(op, {operand}, type)) return *folded;
  return EmitOne(op, type, {operand}, {}, {}, hint);
}

Operand Builder::Cast(const Operand& operand, DType dtype, std::string_view hint) {
  return Convert(OpCode::kCast, operand, dtype, hint);
}

Operand Builder::Bitcast(const Operand& operand, DType dtype, std::string_view hint) {
  return Convert(OpCode::kBitcast, operand, dtype, hint);
}

Operand Builder::Load(const Operand& array, const std::vector<Operand>& index,
                      std::string_view hint) {
  std::vector<Operand> operands = {array};
  operands.insert(operands.end(), index.begin(), index.end());
  return EmitOne(OpCode::kLoad, DTypeOf(array), std::move(operands), {}, {}, hint);
}

void Builder::Store(const Operand& array, const std::vector<Operand>& index, const Operand& value) {
  std::vector<Operand> operands = {array};
  operands.insert(operands.end(), index.begin(), index.end());
  operands.push_back(value);
  Emit(OpCode::kStore, {}, std::move(operands));
}

Operand Builder::Atomic(OpCode combine, const Operand& array, const std::vector<Operand>& index,
                        const Operand& value, bool ordered) {
  std::vector<Operand> operands = {array};
  operands.insert(operands.end(), index.begin(), index.end());
  operands.push_back(value);
  Attributes attrs = {{Attr::kCombine, std::string(Name(combine))}};
  if (ordered) attrs = attrs.With(Attr::kOrdered, int64_t{1});
  return EmitOne(OpCode::kAtomic, DTypeOf(array), std::move(operands), std::move(attrs), {}, "old");
}

const Binding* Builder::Emit(OpCode op, std::vector<const Var*> results,
                             std::vector<Operand> operands, Attributes attrs,
                             std::vector<const Block*> blocks) {
  const Binding* binding = arena_->New(Binding{op, std::move(results), std::move(operands),
                                               std::move(blocks), std::move(attrs), span_});
  bindings_.push_back(binding);
  return binding;
}

const Var* Builder::EmitOne(OpCode op, Type type, std::vector<Operand> operands, Attributes attrs,
                            std::vector<const Block*> blocks, std::string_view hint) {
  const Var* result = NewVar(std::move(type), hint);
  Emit(op, {result}, std::move(operands), std::move(attrs), std::move(blocks));
  return result;
}

const Block* Builder::Finish(std::vector<const Var*> params, std::vector<Operand> results) {
  Block block{std::move(params), std::move(bindings_), std::move(results)};
  bindings_.clear();
  return arena_->New(std::move(block));
}

Type ResultType(OpCode op, const std::vector<Operand>& operands) {
  switch (InfoOf(op).rule) {
    case TypeRule::kSame: RequireOneType(op, operands, 0); return TypeOf(operands[0]);
    case TypeRule::kPart: RequireOneType(op, operands, 0); return PartType(TypeOf(operands[0]));
    case TypeRule::kBool:
      RequireOneType(op, operands, 0);
      return TypeOf(operands[0]).With(DType::kBool);
    case TypeRule::kChoice:
      RequireOneType(op, operands, 1);
      if (!SameShape(TypeOf(operands[0]), TypeOf(operands[1])))
        FailBug("select takes a mask of as many lanes");
      return TypeOf(operands[1]);
    case TypeRule::kSize: return DType::kI64;
    case TypeRule::kElement: return DTypeOf(operands[0]);
    case TypeRule::kDeclared:
      if (op == OpCode::kMakeComplex) {
        RequireOneType(op, operands, 0);
        return TypeOf(operands[0])
            .With(DTypeOf(operands[0]) == DType::kF32 ? DType::kC64 : DType::kC128);
      }
      break;
    case TypeRule::kNoResult: break;
  }
  FailBug("the type of " + std::string(Name(op)) + " is declared, not inferred");
}

const Block* CombineBlock(Arena* arena, OpCode op, DType dtype) {
  Builder builder(arena);
  const Var* left = builder.NewVar(dtype, "a");
  const Var* right = builder.NewVar(dtype, "b");
  const Operand both = builder.Scalar(op, {left, right});
  return builder.Finish({left, right}, {both});
}

std::optional<OpCode> CombineOp(const Block& block, int accumulator) {
  const size_t count = block.results.size();
  if (block.params.size() != 2 * count || block.bindings.size() != count) return std::nullopt;
  for (const Binding* binding : block.bindings) {
    if (binding->results.size() != 1 || block.results[accumulator] != Operand(binding->result()))
      continue;
    const bool simple = IsScalarOp(binding->op) && binding->operands.size() == 2 &&
                        binding->operands[0] == Operand(block.params[accumulator]) &&
                        binding->operands[1] == Operand(block.params[accumulator + count]);
    if (simple) return binding->op;
  }
  return std::nullopt;
}

std::optional<Constant> IdentityOf(OpCode op, DType dtype) {
  switch (InfoOf(op).identity) {
    case Identity::kNoId: return std::nullopt;
    case Identity::kZero: return op == OpCode::kAdd ? ZeroThatAdds(dtype) : ZeroOf(dtype);
    case Identity::kOne: return ConstantOf(dtype, 1);
    case Identity::kLowest: return Extreme(dtype, false);
    case Identity::kHighest: return Extreme(dtype, true);
    case Identity::kNanOrLowest: return NanOr(dtype, false);
    case Identity::kNanOrHighest: return NanOr(dtype, true);
    case Identity::kAllOnes: return IsBool(dtype) ? Constant::Bool(true) : ConstantOf(dtype, -1);
  }
  return std::nullopt;
}

}  // namespace parakeet::ir
