#include "frontend/element_block.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "ir/mutator.h"

namespace parakeet::frontend {
namespace {

using VarSet = std::unordered_set<const ir::Var*>;

bool DefinesAny(const ir::Binding& binding, const VarSet& vars) {
  return std::any_of(binding.results.begin(), binding.results.end(),
                     [&](const ir::Var* result) { return vars.contains(result); });
}

// Moves sizes out of a block.
class SizeLifter {
 public:
  SizeLifter(Context* context, ElementBlock* element) : context_(context), element_(element) {}

  // Whether the size is known outside, after moving the arithmetic that makes it there.
  bool MoveOut(const ir::Operand& size) {
    if (!IsInside(size)) return true;
    auto& bindings = element_->block.bindings();
    VarSet needed = {size.var()};
    for (auto b = bindings.rbegin(); b != bindings.rend(); ++b) {
      if (!DefinesAny(**b, needed)) continue;
      if (!ir::IsScalarOp((*b)->op)) return false;
      for (const ir::Operand& operand : (*b)->operands) {
        if (operand.IsVar()) needed.insert(operand.var());
      }
    }
    for (const ir::Var* index : element_->indexes) {
      if (needed.contains(index)) return false;
    }
    const auto moves = [&](const ir::Binding* b) { return DefinesAny(*b, needed); };
    for (const ir::Binding* binding : bindings) {
      if (moves(binding)) context_->builder().Append(binding);
    }
    std::erase_if(bindings, moves);
    return true;
  }

  // The sizes of the first iteration, or zeros where there is none.
  std::vector<ir::Operand> OfFirstIteration(const std::vector<ir::Operand>& sizes) {
    const ir::Block body{element_->indexes, element_->block.bindings(), sizes};
    ir::Builder first = context_->NewBlock();
    const std::vector<ir::Operand> zeros(element_->indexes.size(), ir::Operand::Int(0));
    const std::vector<ir::Operand> found = ir::InlineBlock(first, body, zeros);
    const std::vector<ir::Operand> none(sizes.size(), ir::Operand::Int(0));
    ir::Builder& outer = context_->builder();
    std::vector<const ir::Var*> results;
    for (size_t i = 0; i < sizes.size(); ++i) {
      results.push_back(outer.NewVar(ir::DType::kI64, "k"));
    }
    const ir::Operand any = HasElements();
    outer.Emit(ir::OpCode::kIf, results, {any}, {},
               {first.Finish({}, found), context_->NewBlock().Finish({}, none)});
    return {results.begin(), results.end()};
  }

  // Every iteration has to have the first one's sizes.
  ir::Operand CheckedArray(const ir::Operand& array, const std::vector<ir::Operand>& dims) {
    const std::vector<ir::Operand> own = ir::TypeOf(array).dims();
    if (own == dims) return array;
    ir::Builder& block = element_->block;
    const std::vector<ir::Operand> places(element_->indexes.begin(), element_->indexes.end());
    const Inside inside(context_, &block);
    const LoopScope scope(context_, element_->number, places, element_->next_check);
    for (size_t i = 0; i < dims.size(); ++i) {
      if (own[i] == dims[i]) continue;
      context_->Check(block.Scalar(ir::OpCode::kEq, {own[i], dims[i]}), "ValueError",
                      "setting an array element with a sequence. The requested array has an "
                      "inhomogeneous shape: an element has {} along axis {}, the first has {}",
                      {own[i], ir::Operand::Int(static_cast<int64_t>(i)), dims[i]});
    }
    element_->next_check = context_->NextNumber();
    return block.EmitOne(ir::OpCode::kAscribe, ir::Type::Array(ir::DTypeOf(array), dims), {array});
  }

 private:
  bool IsInside(const ir::Operand& operand) const {
    if (!operand.IsVar()) return false;
    const auto& indexes = element_->indexes;
    if (std::find(indexes.begin(), indexes.end(), operand.var()) != indexes.end()) return true;
    const auto& bindings = element_->block.bindings();
    return std::any_of(bindings.begin(), bindings.end(),
                       [&](const ir::Binding* b) { return DefinesAny(*b, {operand.var()}); });
  }

  ir::Operand HasElements() {
    ir::Builder& outer = context_->builder();
    ir::Operand any = ir::Operand::Bool(true);
    for (const ir::Operand& extent : element_->extents) {
      const ir::Operand some = outer.Scalar(ir::OpCode::kGt, {extent, ir::Operand::Int(0)});
      any = any.IsInt(1) ? some : outer.Scalar(ir::OpCode::kAnd, {any, some});
    }
    return any;
  }

  Context* context_;
  ElementBlock* element_;
};

// `array` at the indexes of the element.
ir::Operand ElementView(ElementBlock* element, const ir::Operand& array, const ir::Type& type) {
  std::vector<ir::Operand> operands = {array};
  operands.insert(operands.end(), element->indexes.begin(), element->indexes.end());
  std::string axes(element->indexes.size(), 'i');
  for (const ir::Operand& dim : type.dims()) {
    operands.insert(operands.end(), {ir::Operand::Int(0), dim, ir::Operand::Int(1)});
    axes += 'r';
  }
  return element->block.EmitOne(ir::OpCode::kSlice, type, std::move(operands),
                                {{ir::Attr::kAxes, axes}});
}

}  // namespace

std::vector<std::vector<ir::Operand>> LiftSizes(Context* context, ElementBlock* element,
                                                bool may_repeat) {
  SizeLifter lifter(context, element);
  std::vector<std::vector<ir::Operand>> lifted;
  std::vector<ir::Operand> inner;
  for (const ir::Operand& yielded : element->yielded) {
    lifted.push_back(ir::TypeOf(yielded).dims());
    for (const ir::Operand& size : lifted.back()) {
      if (!lifter.MoveOut(size)) inner.push_back(size);
    }
  }
  if (inner.empty()) return lifted;
  if (!may_repeat) {
    context->FailLimitation(
        "the elements' size depends on the element, which also stores to an array; use a for loop");
  }
  const std::vector<ir::Operand> outer = lifter.OfFirstIteration(inner);
  for (size_t i = 0; i < lifted.size(); ++i) {
    for (ir::Operand& dim : lifted[i]) {
      const auto found = std::find(inner.begin(), inner.end(), dim);
      if (found != inner.end()) dim = outer[found - inner.begin()];
    }
    element->yielded[i] = lifter.CheckedArray(element->yielded[i], lifted[i]);
  }
  return lifted;
}

std::vector<ir::Operand> EmitAsLoops(Context* context, ElementBlock* element,
                                     const std::vector<ir::Type>& types) {
  const std::vector<ir::Operand> place(element->indexes.begin(), element->indexes.end());
  std::vector<ir::Operand> arrays;
  for (size_t i = 0; i < types.size(); ++i) {
    arrays.push_back(context->builder().EmitOne(ir::OpCode::kAlloc, types[i], types[i].dims()));
    const ir::Operand& yielded = element->yielded[i];
    const ir::Type type = ir::TypeOf(yielded);
    if (type.IsArray()) {
      element->block.Emit(ir::OpCode::kCopy, {}, {yielded, ElementView(element, arrays[i], type)});
    } else {
      element->block.Store(arrays[i], place, yielded);
    }
  }
  ir::Builder inner = std::move(element->block);
  for (size_t axis = element->extents.size(); axis-- > 0;) {
    const ir::Block* body = inner.Finish({element->indexes[axis]}, {});
    inner = context->NewBlock();
    inner.Emit(ir::OpCode::kFor, {},
               {ir::Operand::Int(0), element->extents[axis], ir::Operand::Int(1)}, {}, {body});
  }
  for (const ir::Binding* binding : inner.bindings()) context->builder().Append(binding);
  return arrays;
}

}  // namespace parakeet::frontend
