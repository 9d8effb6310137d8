#include "frontend/selected_comprehensions.h"

#include <algorithm>
#include <utility>

#include "frontend/array_roots.h"
#include "frontend/call_memo.h"
#include "frontend/comprehension_scope.h"
#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

// Whether an expression may depend on the element that is in hand.
bool IsOfElement(const Expr& expr) {
  if (expr.kind == ExprKind::kNamed || expr.kind == ExprKind::kLambda) return true;
  if (const auto* name = TryAs<NameExpr>(&expr)) {
    return name->variable != nullptr && name->variable->is_of_comprehension;
  }
  bool found = false;
  ForEachChild(expr, [&](const Expr& child) { found = found || IsOfElement(child); });
  return found;
}

// Whether a size that `bindings` lead to is the same for every one of `indexes`.
bool IsInvariant(const std::vector<const ir::Binding*>& bindings,
                 const std::vector<const ir::Var*>& indexes, const Operand& size) {
  if (!size.IsVar()) return true;
  if (std::find(indexes.begin(), indexes.end(), size.var()) != indexes.end()) return false;
  const auto made = std::find_if(bindings.begin(), bindings.end(), [&](const ir::Binding* b) {
    return std::find(b->results.begin(), b->results.end(), size.var()) != b->results.end();
  });
  if (made == bindings.end()) return true;
  const auto is_invariant = [&](const Operand& part) {
    return IsInvariant(bindings, indexes, part);
  };
  return ir::IsScalarOp((*made)->op) &&
         std::all_of((*made)->operands.begin(), (*made)->operands.end(), is_invariant);
}

Value ItemOf(const Sequence& sequence, const Operand& index, int origin = -1) {
  const Value item = sequence.element(index);
  const auto* scalar = item.TryAs<ScalarValue>();
  if (!sequence.counted || scalar == nullptr) return item;
  return Value::Python(scalar->op, scalar->op.IsVar() ? origin : -1);
}

const ir::Var* NewIndexes(ir::Builder& builder, const Operand& count) {
  return builder.EmitOne(OpCode::kAlloc, ir::Type::Array(ir::DType::kI64, {count}), {count});
}

}  // namespace

SelectedComprehension::SelectedComprehension(Evaluator* evaluator, const ComprehensionExpr& expr,
                                             size_t first, const Sequence& sequence, int origin)
    : evaluator_(evaluator), expr_(expr), first_(first), sequence_(sequence), origin_(origin) {}

Value SelectedComprehension::Run() {
  const size_t last = expr_.generators.size() - 1;
  count_ = sequence_.length;
  positions_.emplace_back();
  for (size_t depth = first_; depth <= last; ++depth) {
    if (depth > first_) Expand(depth);
    if (!expr_.generators[depth].conditions.empty()) Select(depth);
  }
  return evaluator_->Tabulate({count_}, [&](const std::vector<Operand>& indexes) {
    const ComprehensionScope scope(&evaluator_->frame(), expr_);
    Bind(last, indexes[0]);
    const Value value = evaluator_->Evaluate(*expr_.element);
    return value.Elements() != nullptr ? evaluator_->AsArray(value) : value;
  });
}

bool SelectedComprehension::IsRectangular(Evaluator* evaluator, const ComprehensionExpr& expr,
                                          size_t depth, const Sequence& sequence) {
  const auto& generators = expr.generators;
  bool depends = false;
  for (size_t inner = depth; inner < generators.size(); ++inner) {
    if (!generators[inner].conditions.empty()) return false;
    depends = depends || (inner > depth && IsOfElement(*generators[inner].iterable));
  }
  if (!depends) return true;
  // Tried in a block that is thrown away.
  Context& context = evaluator->context();
  ir::Builder block = context.NewBlock();
  std::vector<const ir::Var*> indexes;
  const Inside inside(&context, &block);
  const ComprehensionScope scope(&evaluator->frame(), expr);
  try {
    Sequence outer = sequence;
    for (size_t inner = depth; inner + 1 < generators.size(); ++inner) {
      indexes.push_back(block.NewVar(ir::DType::kI64, "i"));
      if (outer.fixed) return true;
      evaluator->Assign(*generators[inner].target, ItemOf(outer, indexes.back()));
      outer = evaluator->IterateLoop(*generators[inner + 1].iterable);
      if (!IsInvariant(block.bindings(), indexes, outer.length)) return false;
    }
  } catch (const ir::Failure&) {  // It is met again where it counts.
  } catch (const NeedStatic&) {
  } catch (const Leaves&) {
  }
  return true;
}

void SelectedComprehension::Expand(size_t depth) {
  const auto count_inside = [&](const std::vector<Operand>& indexes) {
    const ComprehensionScope scope(&evaluator_->frame(), expr_);
    Bind(depth - 1, indexes[0]);
    return Value::Python(SequenceOf(depth).length);
  };
  const Operand counts = evaluator_->Tabulate({count_}, count_inside).op();
  // Where each row's elements start, and how many there are.
  const ir::Var* starts = NewIndexes(builder(), count_);
  ir::Builder block = context().NewBlock();
  const ir::Var* row = block.NewVar(ir::DType::kI64, "i");
  const ir::Var* start = block.NewVar(ir::DType::kI64, "start");
  block.Store(starts, {row}, start);
  const Operand next = block.Add(start, block.Load(counts, {row}));
  const ir::Var* total = builder().NewVar(ir::DType::kI64, "total");
  builder().Emit(OpCode::kFor, {total}, {Operand::Int(0), count_, Operand::Int(1), Operand::Int(0)},
                 {}, {block.Finish({row, start}, {next})});
  const ir::Var* owners = NewIndexes(builder(), total);
  const ir::Var* inner = NewIndexes(builder(), total);
  ir::Builder outer_block = context().NewBlock();
  ir::Builder inner_block = context().NewBlock();
  const ir::Var* owner = outer_block.NewVar(ir::DType::kI64, "i");
  const ir::Var* position = inner_block.NewVar(ir::DType::kI64, "j");
  const Operand first = outer_block.Load(starts, {owner});
  const Operand inside = outer_block.Load(counts, {owner});
  const Operand at = inner_block.Add(first, position);
  inner_block.Store(owners, {at}, owner);
  inner_block.Store(inner, {at}, position);
  outer_block.Emit(OpCode::kFor, {}, {Operand::Int(0), inside, Operand::Int(1)}, {},
                   {inner_block.Finish({position}, {})});
  builder().Emit(OpCode::kFor, {}, {Operand::Int(0), count_, Operand::Int(1)}, {},
                 {outer_block.Finish({owner}, {})});
  Reorder(total, owners);
  positions_.emplace_back(inner);
}

void SelectedComprehension::Select(size_t depth) {
  const Value all = evaluator_->Tabulate(
      {count_}, [](const std::vector<Operand>& indexes) { return Value::Python(indexes[0]); });
  ir::Builder block = context().NewBlock();
  const ir::Var* index = block.NewVar(ir::DType::kI64, "i");
  Operand kept = Operand::Bool(false);
  {
    const Inside inside(&context(), &block);
    const LoopScope loop(&context(), context().NextNumber(), {index});
    const ComprehensionScope scope(&evaluator_->frame(), expr_);
    evaluator_->Reaches([&] {
      BindTarget(depth, index);
      kept = Passes(depth, 0);
    });
  }
  RefuseStores(block.bindings());
  const ir::Var* count = builder().NewVar(ir::DType::kI64, "k");
  const ir::Var* rows = builder().NewVar(ir::Type::Array(ir::DType::kI64, {count}), "kept");
  builder().Emit(OpCode::kFilter, {count, rows}, {all.op()}, {}, {block.Finish({index}, {kept})});
  Reorder(count, rows);
}

// Row i is what row `rows[i]` was.
void SelectedComprehension::Reorder(const Operand& count, const Operand& rows) {
  for (size_t i = 0; i < positions_.size(); ++i) {
    if (!positions_[i]) {
      positions_[i] = rows;
      continue;
    }
    positions_[i] = evaluator_
                        ->Tabulate({count},
                                   [&](const std::vector<Operand>& indexes) {
                                     return Value::Python(builder().Load(
                                         *positions_[i], {builder().Load(rows, {indexes[0]})}));
                                   })
                        .op();
  }
  count_ = count;
}

// As BindTarget, with what the conditions bind by `:=`.
void SelectedComprehension::Bind(size_t last, const Operand& row) {
  BindTarget(last, row);
  BindNamesOf(last);
}

void SelectedComprehension::BindTarget(size_t last, const Operand& row) {
  for (size_t depth = first_; depth <= last; ++depth) {
    if (depth > first_) BindNamesOf(depth - 1);
    const std::optional<Operand>& positions = positions_[depth - first_];
    const Operand at = positions ? builder().Load(*positions, {row}) : row;
    const Value item = ItemOf(SequenceOf(depth), at, depth == first_ ? origin_ : -1);
    evaluator_->Assign(*expr_.generators[depth].target, item);
  }
}

void SelectedComprehension::BindNamesOf(size_t depth) {
  for (const ExprPtr& condition : expr_.generators[depth].conditions) {
    if (BindsNames(*condition)) evaluator_->Evaluate(*condition);
  }
}

Sequence SelectedComprehension::SequenceOf(size_t depth) {
  if (depth == first_) return sequence_;
  Sequence sequence = evaluator_->IterateLoop(*expr_.generators[depth].iterable);
  if (!sequence.fixed) return sequence;
  return evaluator_->Iterate(evaluator_->DisplayAsArray(Value::List(*sequence.fixed)));
}

Operand SelectedComprehension::Passes(size_t depth, size_t first) {
  const auto& conditions = expr_.generators[depth].conditions;
  const Operand truth = evaluator_->EvaluateTruth(*conditions[first]);
  if (first + 1 == conditions.size()) return truth;
  return evaluator_
      ->Choose(
          truth, -1, [&] { return Value::Python(Passes(depth, first + 1)); },
          [] { return Value::Bool(false); })
      .op();
}

void SelectedComprehension::RefuseStores(const std::vector<const ir::Binding*>& bindings) {
  const auto effects = [this](const std::string& name) {
    return evaluator_->memo_->EffectsOf(name);
  };
  if (!StoresOutside(bindings, effects)) return;
  context().FailLimitation(
      "a condition of this comprehension calls what stores to an array; use a for loop");
}

}  // namespace parakeet::frontend
