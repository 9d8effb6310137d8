// Assumes that sizes which may be broadcast together are equal, and checks it before anything else
// happens.
//
// Before:
//   %a: i64 = sub %n, 1
//   %b: i64 = min %m, %n
//   %s: i64 = broadcast_size %a, %b, site 0 at (1)
// After:
//   %c: i64 = sub %n, 1
//   %d: i64 = min %m, %n
//   %e: bool = eq %c, %d
//   check %e, site 1 at () with ()
//   ...
//   %s: i64 = broadcast_size %a, %b, site 0 at (1)
// which simplify makes %a. Without it each element would be found by asking whether its axis is
// repeated.
//
// Assumes: the caller runs the program without site 1 where that check fails, which has the
// exception kOtherShapes; a program that has no such site stays as it is. Equal expressions are
// made one afterwards.
// Refuses: sizes that depend on more than the entry's sizes and scalars; those that are not equal
// wherever slices lie inside their arrays. Where a size is 1 in such arrays, it is taken to be 1.
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kLargestExpression = 64;  // operations of one size

class ShapeAssumer {
 public:
  ShapeAssumer(ir::Arena* arena, const ir::Function& function, int64_t site, Context& context)
      : builder_(arena), function_(function), site_(site), context_(context) {
    for (const Var* size : function.Sizes()) given_.insert(size);
    for (const ir::Param& param : function.params) {
      if (param.var->type == ir::Type(ir::DType::kI64)) given_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Var* result : b.results) definitions_[result] = &b;
    });
  }

  const ir::Function* Run(ir::Arena* arena) {
    ir::ForEachBinding(*function_.body, [&](const Binding& b) {
      if (b.op == OpCode::kBroadcastSize) Consider(b);
    });
    if (builder_.bindings().empty()) return &function_;
    ir::Block body = *function_.body;
    body.bindings.insert(body.bindings.begin(), builder_.bindings().begin(),
                         builder_.bindings().end());
    ir::Function copy = function_;
    copy.body = arena->New(std::move(body));
    return arena->New(std::move(copy));
  }

 private:
  void Consider(const Binding& b) {
    const std::optional<LinearForm> n = Likely(b.operands[0]), m = Likely(b.operands[1]);
    if (!n || !m) return;
    if (IsLikelyOne(b.operands[0])) return Assume(b, b.operands[0], Operand::Int(1));
    if (IsLikelyOne(b.operands[1])) return Assume(b, b.operands[1], Operand::Int(1));
    const LinearForm gap = Difference(*n, *m);
    if (gap.IsConstant() && gap.constant != 0) return;
    Assume(b, b.operands[0], b.operands[1]);
  }

  void Assume(const Binding& b, const Operand& n, const Operand& m) {
    cost_ = 0;
    const std::optional<Operand> left = AtEntry(n), right = AtEntry(m);
    if (!left || !right || *left == *right) return;
    builder_.set_span(b.span);
    const Operand equal = builder_.Scalar(OpCode::kEq, {*left, *right});
    if (equal.IsConstant()) return;
    builder_.Emit(OpCode::kCheck, {}, {equal}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
    context_.Note(b.span, "sizes taken to be equal, which a call checks first");
  }

  // The size where every slice lies inside its array: min(stop, size) is the stop, max(length, 0)
  // the length. None where it depends on more than what the entry is given.
  std::optional<LinearForm> Likely(const Operand& operand) {
    if (operand.IsConstant()) return LinearForm::Of(operand.constant().integer);
    if (given_.contains(operand.var())) return LinearForm::Of(operand.var());
    const auto known = likely_.find(operand.var());
    if (known != likely_.end()) return known->second;
    const auto found = definitions_.find(operand.var());
    std::optional<LinearForm> form;
    if (found != definitions_.end()) form = LikelyResult(*found->second);
    likely_.emplace(operand.var(), form);
    return form;
  }

  std::optional<LinearForm> LikelyResult(const Binding& b) {
    if (b.op == OpCode::kBroadcastSize) return Likely(b.operands[IsLikelyOne(b.operands[0])]);
    if (!IsExpression(b)) return std::nullopt;
    std::vector<LinearForm> parts;
    for (const Operand& operand : b.operands) {
      std::optional<LinearForm> part = Likely(operand);
      if (!part) return std::nullopt;
      parts.push_back(*std::move(part));
    }
    switch (b.op) {
      case OpCode::kMin: return parts[0];
      case OpCode::kMax: return parts[b.operands[0].IsInt(0)];
      case OpCode::kAdd: parts[0].Add(parts[1], 1); return parts[0];
      case OpCode::kSub: parts[0].Add(parts[1], -1); return parts[0];
      default: return LinearForm::Of(b.result());
    }
  }

  bool IsLikelyOne(const Operand& operand) {
    const std::optional<LinearForm> form = Likely(operand);
    return form && form->IsConstant() && form->constant == 1;
  }

  // The value as an expression in front of everything; none where it is not known there.
  std::optional<Operand> AtEntry(const Operand& operand) {
    if (operand.IsConstant() || given_.contains(operand.var())) return operand;
    const auto made = made_.find(operand.var());
    if (made != made_.end()) return made->second;
    const auto found = definitions_.find(operand.var());
    if (found == definitions_.end() || ++cost_ > kLargestExpression) return std::nullopt;
    const Binding& b = *found->second;
    std::optional<Operand> value;
    if (b.op == OpCode::kBroadcastSize) {
      value = AtEntry(b.operands[IsLikelyOne(b.operands[0])]);
    } else if (IsExpression(b)) {
      std::vector<Operand> operands;
      for (const Operand& part : b.operands) {
        const std::optional<Operand> known = AtEntry(part);
        if (!known) return std::nullopt;
        operands.push_back(*known);
      }
      value = builder_.Scalar(b.op, std::move(operands));
    }
    if (value) made_.emplace(operand.var(), *value);
    return value;
  }

  // True for what may be computed at any time: it cannot fail.
  static bool IsExpression(const Binding& b) {
    switch (b.op) {
      case OpCode::kAdd:
      case OpCode::kSub:
      case OpCode::kMul:
      case OpCode::kMin:
      case OpCode::kMax:
      case OpCode::kNeg: return b.result()->type == ir::Type(ir::DType::kI64);
      default: return false;
    }
  }

  ir::Builder builder_;
  const ir::Function& function_;
  int64_t site_;
  Context& context_;
  ir::VarSet given_;
  std::unordered_map<const Var*, const Binding*> definitions_;
  std::unordered_map<const Var*, std::optional<LinearForm>> likely_;
  std::unordered_map<const Var*, Operand> made_;  // in front of everything
  int cost_ = 0;
};

}  // namespace

ir::Program AssumeShapes(const ir::Program& program, Context& context) {
  int64_t site = 0;
  const auto count = static_cast<int64_t>(program.sites.size());
  while (site < count && program.sites[site].exception != kOtherShapes) ++site;
  if (site == count) return program;
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!function->entry) return function;
    return ShapeAssumer(program.arena.get(), *function, site, context).Run(program.arena.get());
  });
}

}  // namespace parakeet::passes
