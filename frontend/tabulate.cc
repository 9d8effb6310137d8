#include <algorithm>
#include <utility>

#include "frontend/call_memo.h"
#include "frontend/element_block.h"
#include "frontend/evaluator.h"
#include "frontend/memory_order.h"

namespace parakeet::frontend {
namespace {

// The scalars and arrays that a tabulated value is made of.
void AddLeaves(const Context& context, const Value& value, std::vector<Value>* leaves) {
  if (value.IsTuple()) {
    for (const Value& element : *value.Elements()) AddLeaves(context, element, leaves);
  } else if (value.IsScalar() || value.IsArray()) {
    leaves->push_back(value);
  } else {
    context.FailLimitation("the elements of an array are numbers or arrays, not " +
                           Describe(value));
  }
}

// The value's shape with its leaves replaced by arrays, in order.
Value WithLeaves(const Value& value, const std::vector<Value>& arrays, size_t* next) {
  if (!value.IsTuple()) return arrays[(*next)++];
  Values elements;
  for (const Value& element : *value.Elements()) {
    elements.push_back(WithLeaves(element, arrays, next));
  }
  return Value::Tuple(std::move(elements));
}

bool IsPython(const Value& leaf) {
  if (const auto* array = leaf.TryAs<ArrayValue>()) return array->python_elements;
  return leaf.IsPythonScalar();
}

std::vector<ir::Type> TypesOf(const ElementBlock& element,
                              const std::vector<std::vector<ir::Operand>>& sizes) {
  std::vector<ir::Type> types;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<ir::Operand> dims = element.extents;
    dims.insert(dims.end(), sizes[i].begin(), sizes[i].end());
    types.push_back(ir::Type::Array(ir::DTypeOf(element.yielded[i]), std::move(dims)));
  }
  return types;
}

// Whether some read in the block finds its name bound at run time only.
bool MayReadUnbound(const Context& context, ir::Builder& block) {
  const auto asks = [&](const ir::Binding* binding) {
    if (binding->op != ir::OpCode::kCheck) return false;
    const std::string& exception =
        context.program().sites[binding->attrs.Int(ir::Attr::kSite)].exception;
    return exception == "UnboundLocalError" || exception == "NameError";
  };
  return std::any_of(block.bindings().begin(), block.bindings().end(), asks);
}

std::vector<ir::Operand> EmitAsImap(ir::Builder& builder, ElementBlock* element,
                                    const std::vector<ir::Type>& types, Order order) {
  std::vector<const ir::Var*> results;
  for (const ir::Type& type : types) results.push_back(builder.NewVar(type));
  builder.Emit(ir::OpCode::kImap, results, element->extents,
               OrderAttributes(order, element->extents.size()),
               {element->block.Finish(element->indexes, element->yielded)});
  return {results.begin(), results.end()};
}

}  // namespace

Value Evaluator::Tabulate(const std::vector<ir::Operand>& extents,
                          const std::function<Value(const std::vector<ir::Operand>&)>& element,
                          Order order) {
  constexpr const char* kNames[] = {"i", "j", "k"};
  ElementBlock made{extents, {}, context_->NewBlock(), {}, context_->NextNumber(), 0};
  for (size_t i = 0; i < extents.size(); ++i) {
    made.indexes.push_back(made.block.NewVar(ir::DType::kI64, kNames[std::min<size_t>(i, 2)]));
  }
  // Where every element raises, its type is anybody's guess.
  Value value = Value::Float(0.0);
  const Environment before = frame_->environment;
  {
    const std::vector<ir::Operand> places(made.indexes.begin(), made.indexes.end());
    const Inside inside(context_, &made.block);
    const LoopScope scope(context_, made.number, places);
    try {
      value = element(places);
    } catch (const Leaves&) {
    } catch (const ir::Failure& failure) {
      // A name that this read may have got the type that was guessed: where the read does not raise
      // first, this does.
      if (failure.kind() != ir::FailureKind::kUserError || !MayReadUnbound(*context_, made.block))
        throw;
      const SpanScope span(context_, failure.span());
      context_->Check(ir::Operand::Bool(false), failure.exception(), EscapeBraces(failure.what()));
    }
    made.next_check = context_->NextNumber();
  }
  RefuseRebinding(before);
  frame_->environment = before;

  std::vector<Value> leaves;
  AddLeaves(*context_, value, &leaves);
  for (const Value& leaf : leaves) made.yielded.push_back(leaf.op());
  const bool stores = StoresOutside(
      made.block.bindings(), [this](const std::string& name) { return memo_->EffectsOf(name); });
  const std::vector<ir::Type> types = TypesOf(made, LiftSizes(context_, &made, !stores));
  const std::vector<ir::Operand> results =
      stores ? EmitAsLoops(context_, &made, types) : EmitAsImap(builder(), &made, types, order);
  std::vector<Value> arrays;
  for (size_t i = 0; i < leaves.size(); ++i) {
    arrays.push_back(Value::NewArray(results[i], order, IsPython(leaves[i])));
  }
  size_t next = 0;
  return WithLeaves(value, arrays, &next);
}

// An element may run in any order, so it may not bind what others read.
void Evaluator::RefuseRebinding(const Environment& before) {
  for (const auto& [variable, slot] : frame_->environment.slots()) {
    if (variable->is_of_comprehension || SameSlot(slot, before.Get(variable))) continue;
    context_->FailLimitation("'" + variable->name +
                             "' is bound by an element and would be read by others; use a for "
                             "loop");
  }
}

}  // namespace parakeet::frontend
