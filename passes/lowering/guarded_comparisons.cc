#include "passes/lowering/guarded_comparisons.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kDeepest = 6;

class Writer {
 public:
  Writer(ir::Arena* arena, const Binding& loop)
      : loop_(loop), body_(*loop.blocks[0]), builder_(arena) {
    carried_.insert(body_.params.begin() + 1, body_.params.end());
    definitions_ = ir::Definitions(body_);
    ir::ForEachUse(body_, [&](const Var* value) { ++use_counts_[value]; });
  }

  const Binding* Write() {
    for (const Binding* b : body_.bindings) {
      builder_.set_span(b->span);
      if (!WriteComparison(*b)) builder_.Append(OfValue(b));
    }
    if (values_.empty()) return &loop_;
    // Comparisons that only such a condition has read.
    for (const auto& [condition, value] : values_) {
      const Binding* plain = value.comparison.plain;
      if (use_counts_.at(plain->result()) == 1) std::erase(builder_.bindings(), plain);
    }
    Binding written = loop_;
    written.blocks = {builder_.Finish(body_.params, body_.results)};
    return builder_.arena()->New(std::move(written));
  }

 private:
  // What is compared with a carried value, behind whatever conditions, and how.
  struct Comparison {
    const Binding* plain;
    bool is_left;  // It stands left of the carried value.

    const Operand& value() const { return plain->operands[is_left ? 0 : 1]; }
    bool KeepsGreater() const { return (plain->op == OpCode::kGt) == is_left; }
    Operand Worst() const {
      const OpCode best = KeepsGreater() ? OpCode::kMax : OpCode::kMin;
      return *ir::IdentityOf(best, ir::DTypeOf(value()));
    }
  };

  const Binding* DefinitionOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  bool IsCarried(const Operand& operand) const {
    return operand.IsVar() && carried_.contains(operand.var());
  }

  // The comparison that the condition comes down to where all conditions before it hold.
  std::optional<Comparison> ComparisonIn(const Operand& condition) const {
    const Binding* b = DefinitionOf(condition);
    if (b == nullptr) return std::nullopt;
    switch (b->op) {
      case OpCode::kLt:
      case OpCode::kGt: {
        const bool is_left = IsCarried(b->operands[1]);
        const ir::DType dtype = ir::DTypeOf(b->operands[0]);
        if (is_left == IsCarried(b->operands[0]) || dtype == ir::DType::kBool ||
            ir::IsComplex(dtype))
          return std::nullopt;
        return Comparison{b, is_left};
      }
      case OpCode::kAnd: {
        const std::optional<Comparison> second = ComparisonIn(b->operands[1]);
        return second ? second : ComparisonIn(b->operands[0]);
      }
      case OpCode::kIf: {
        const Operand& inner = b->blocks[0]->results[0];
        const bool guards = b->results.size() == 1 && b->blocks[1]->bindings.empty() &&
                            b->blocks[1]->results[0] == Operand::Bool(false);
        // Nothing else may read what is left out of the branch.
        if (!guards || !inner.IsVar() || use_counts_.at(inner.var()) != 1) return std::nullopt;
        const std::optional<Comparison> comparison = ComparisonIn(inner);
        const bool is_own = comparison && use_counts_.at(comparison->plain->result()) == 1;
        return is_own ? comparison : std::nullopt;
      }
      default: return std::nullopt;
    }
  }

  // The value that is compared, or what never compares where a condition does not hold.
  Operand Guarded(Builder& builder, const Operand& condition, const Comparison& comparison) {
    const Binding* b = DefinitionOf(condition);
    const Operand worst = comparison.Worst();
    if (b == comparison.plain) return comparison.value();
    if (b->op == OpCode::kAnd) {
      const int side = ComparisonIn(b->operands[1]) ? 1 : 0;
      const Operand value = Guarded(builder, b->operands[side], comparison);
      return builder.Scalar(OpCode::kSelect, {b->operands[1 - side], value, worst});
    }
    const Block& then = *b->blocks[0];
    Builder inside = builder.Nested();
    for (const Binding* of : then.bindings) {
      const bool leads_there = of == comparison.plain || of == DefinitionOf(then.results[0]);
      if (!leads_there) inside.Append(of);
    }
    const Operand value = Guarded(inside, then.results[0], comparison);
    const Var* result = builder.NewVar(ir::TypeOf(worst), "v");
    const Block* otherwise = builder.Nested().Finish({}, {worst});
    builder.Emit(OpCode::kIf, {result}, {b->operands[0]}, {},
                 {inside.Finish({}, {value}), otherwise});
    return result;
  }

  bool WriteComparison(const Binding& b) {
    if ((b.op != OpCode::kIf && b.op != OpCode::kAnd) || b.results.size() != 1 ||
        !IsReadByChoices(b.result()))
      return false;
    const auto comparison = ComparisonIn(b.result());
    if (!comparison) return false;
    const Operand value = Guarded(builder_, b.result(), *comparison);
    Binding plain = *comparison->plain;
    plain.results = b.results;
    plain.operands[comparison->is_left ? 0 : 1] = value;
    builder_.Append(builder_.arena()->New(std::move(plain)));
    values_[b.result()] = {*comparison, value};
    return true;
  }

  bool IsReadByChoices(const Var* condition) const {
    return std::any_of(body_.bindings.begin(), body_.bindings.end(), [&](const Binding* b) {
      return (b->op == OpCode::kIf || b->op == OpCode::kSelect) &&
             b->operands[0] == Operand(condition);
    });
  }

  // A choice by such a comparison reads the value instead of what is compared, also where it would
  // make that again.
  const Binding* OfValue(const Binding* b) {
    const bool is_choice = b->op == OpCode::kIf || b->op == OpCode::kSelect;
    const auto found =
        is_choice && b->operands[0].IsVar() ? values_.find(b->operands[0].var()) : values_.end();
    if (found == values_.end()) return b;
    const auto& [comparison, value] = found->second;
    Binding choice = *b;
    if (b->op == OpCode::kSelect) {
      if (choice.operands[1] == comparison.value()) choice.operands[1] = value;
      return builder_.arena()->New(std::move(choice));
    }
    // What may raise stays.
    const auto is_pure = [](const Binding* of) {
      return ir::IsScalarOp(of->op) || of->op == OpCode::kLoad;
    };
    Block then = *b->blocks[0];
    if (!std::ranges::all_of(then.bindings, is_pure)) return b;
    ir::Substitution same;
    if (comparison.value().IsVar()) same[comparison.value().var()] = value;
    std::erase_if(then.bindings, [&](const Binding* of) {
      const bool is_same = IsSame(Operand(of->result()), comparison.value());
      if (is_same) same[of->result()] = value;
      return is_same;
    });
    then = *ir::CloneBlock(builder_.arena(), then, std::move(same));
    then.bindings = NeededBindings(then, then.results);
    choice.blocks[0] = builder_.arena()->New(std::move(then));
    return builder_.arena()->New(std::move(choice));
  }

  // Whether two values are made in the same way of the same; the loop stores nothing.
  bool IsSame(const Operand& a, const Operand& b, int depth = kDeepest) const {
    if (a == b) return true;
    if (depth == 0) return false;
    const Binding* left = DefinitionOf(a);
    const Binding* right = DefinitionOf(b);
    if (left == nullptr || right == nullptr || left->op != right->op ||
        !(ir::IsScalarOp(left->op) || left->op == OpCode::kLoad) ||
        !(left->attrs == right->attrs) || ir::TypeOf(a) != ir::TypeOf(b) ||
        left->operands.size() != right->operands.size())
      return false;
    for (size_t i = 0; i < left->operands.size(); ++i) {
      if (!IsSame(left->operands[i], right->operands[i], depth - 1)) return false;
    }
    return true;
  }

  struct Value {
    Comparison comparison;
    Operand value;
  };

  const Binding& loop_;
  const Block& body_;
  Builder builder_;
  ir::VarSet carried_;
  ir::DefinitionMap definitions_;
  std::unordered_map<const Var*, int> use_counts_;
  std::unordered_map<const Var*, Value> values_;
};

bool Stores(const Block& block) {
  bool stores = false;
  ir::ForEachBinding(block, [&](const Binding& b) {
    stores |= !ir::StoredOperands(b).empty() || b.op == OpCode::kCall;
  });
  return stores;
}

}  // namespace

const Binding* WithPlainComparisons(ir::Arena* arena, const Binding& loop) {
  return Stores(*loop.blocks[0]) ? &loop : Writer(arena, loop).Write();
}

}  // namespace parakeet::passes
