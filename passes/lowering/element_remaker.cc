#include "passes/lowering/element_remaker.h"

#include <algorithm>
#include <utility>

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

LinearForm Zero() { return LinearForm::Of(int64_t{0}); }

// The form of a value by the names that are known where elements are made.
LinearForm FormOutside(const RemadeNest& nest, const LinearForm& form) {
  LinearForm outside = LinearForm::Of(form.constant);
  for (const auto& [value, times] : form.terms) {
    const auto known = nest.known->find(value);
    const Operand now = known == nest.known->end() ? Operand(value) : known->second;
    outside.Add(now.IsVar() ? LinearForm::Of(now.var()) : LinearForm::Of(now.constant().integer),
                times);
  }
  return outside;
}

Operand Outside(const RemadeNest& nest, const Operand& operand) {
  if (!operand.IsVar()) return operand;
  const auto known = nest.known->find(operand.var());
  return known == nest.known->end() ? operand : known->second;
}

LinearForm FormOutside(const RemadeNest& nest, const Operand& operand) {
  return operand.IsVar() ? FormOutside(nest, LinearForm::Of(operand.var()))
                         : LinearForm::Of(operand.constant().integer);
}

bool IsIndex(const Operand& operand) { return ir::TypeOf(operand) == ir::Type(DType::kI64); }

// True for what may be made of any values.
bool MayBeMade(const Binding& b, const ir::VarSet& inner) {
  if (b.op == OpCode::kIf || b.op == OpCode::kLoad) return true;
  if (!ir::IsScalarOp(b.op)) return false;
  const bool divides = b.op == OpCode::kFloorDiv || b.op == OpCode::kMod;
  if (!divides || ir::IsFloat(ir::DTypeOf(b.operands[1]))) return true;
  return b.operands[1].IsConstant() || !inner.contains(b.operands[1].var());
}

// Which of the nest's own indexes a store has along each axis; nothing where it has sums of them,
// one twice, or not all.
std::optional<std::vector<StoredElements::Axis>> AxesOf(const Binding& store, const Block& element,
                                                        const ir::VarSet& inner,
                                                        const WrappingForms& forms) {
  std::vector<StoredElements::Axis> axes;
  std::vector<const Var*> left = element.params;
  for (size_t k = 1; k + 1 < store.operands.size(); ++k) {
    axes.push_back({nullptr, Zero()});
    const LinearForm form = forms.Of(store.operands[k]);
    axes.back().first.constant = form.constant;
    for (const auto& [value, times] : form.terms) {
      const auto param = std::find(left.begin(), left.end(), value);
      if (param == left.end()) {
        if (inner.contains(value)) return {};
        axes.back().first.Add(LinearForm::Of(value), times);
        continue;
      }
      if (times != 1 || axes.back().param != nullptr) return {};
      axes.back().param = value;
      left.erase(param);
    }
  }
  if (!left.empty()) return {};
  return axes;
}

}  // namespace

std::optional<RemadeNest> AsRemadeNest(const Binding& nest, const ir::Substitution& known,
                                       const WrappingForms& forms) {
  const Block& element = *nest.blocks[0];
  RemadeNest remade{&nest, &known, {}, ir::Definitions(element)};
  const ir::VarSet inner = ir::DefinedVars(element);
  const auto stores_to = [&](const Var* array) {
    return std::any_of(remade.stored.begin(), remade.stored.end(),
                       [&](const StoredElements& stored) { return stored.array == array; });
  };
  bool is_fit = true;
  for (const Binding* b : element.bindings) {
    if (b->op == OpCode::kStore) {
      const Var* array = remade.NameOutside(b->operands[0].var());
      auto axes = AxesOf(*b, element, inner, forms);
      if (!axes || stores_to(array)) return {};
      remade.stored.push_back({array, b->operands.back(), std::move(*axes)});
      continue;
    }
    const auto check = [&](const Binding& part) {
      is_fit &= MayBeMade(part, inner);
      if (part.op == OpCode::kLoad)
        is_fit &= !stores_to(remade.NameOutside(part.operands[0].var()));
    };
    check(*b);
    for (const Block* block : b->blocks) ir::ForEachBinding(*block, check);
  }
  if (!is_fit || remade.stored.empty()) return {};
  return remade;
}

const Var* RemadeNest::NameOutside(const Var* array) const {
  const auto found = known->find(array);
  return found == known->end() ? array : found->second.var();
}

std::optional<size_t> Inside::AxisOf(const LinearForm& place) const {
  std::optional<size_t> found;
  for (const auto& [value, times] : place.terms) {
    if (inner.contains(value)) return {};
    const auto axis = std::find(space.begin(), space.end(), value);
    if (axis == space.end()) continue;
    if (found || times != 1) return {};
    found = size_t(axis - space.begin());
  }
  return found;
}

bool Inside::IsNearBegin(size_t axis, const LinearForm& place) const {
  if (!lengths[axis].IsConstant()) return place.IsConstant();
  return place.IsConstant() && 2 * place.constant < lengths[axis].constant().integer;
}

bool Inside::IsNearEnd(size_t axis, const LinearForm& place) const {
  const Operand& length = lengths[axis];
  if (length.IsVar()) return Difference(place, LinearForm::Of(length.var())).IsConstant();
  return place.IsConstant() && !IsNearBegin(axis, place);
}

void Inside::KeepFrom(const LinearForm& place, const LinearForm& least) {
  const size_t axis = *AxisOf(place);
  LinearForm own = Difference(least, place);
  own.Add(LinearForm::Of(space[axis]), 1);
  for (LinearForm& known : from[axis]) {
    const LinearForm apart = Difference(own, known);
    if (!apart.IsConstant()) continue;
    if (apart.constant > 0) known = own;
    return;
  }
  from[axis].push_back(std::move(own));
}

void Inside::KeepBelow(const LinearForm& place, const LinearForm& limit) {
  const size_t axis = *AxisOf(place);
  LinearForm own = Difference(limit, place);
  own.Add(LinearForm::Of(space[axis]), 1);
  for (LinearForm& known : below[axis]) {
    const LinearForm apart = Difference(own, known);
    if (!apart.IsConstant()) continue;
    if (apart.constant < 0) known = own;
    return;
  }
  below[axis].push_back(std::move(own));
}

Operand ElementRemaker::ElementBehind(size_t count, const Var* array, const Place& place) {
  for (size_t number = count; number-- > 0;) {
    for (const StoredElements& stored : nests_[number].stored) {
      if (stored.array != array) continue;
      std::vector<Operand> conditions;
      if (!IsStored(nests_[number], stored, place, conditions)) continue;
      return conditions.empty() ? Made(number, stored, place)
                                : Either(number, stored, place, conditions);
    }
  }
  return Loaded(sources_.at(array), place);
}

// What a nest stores where the conditions hold, else what there was before.
Operand ElementRemaker::Either(size_t number, const StoredElements& stored, const Place& place,
                               const std::vector<Operand>& conditions) {
  const std::vector<uintptr_t> key = KeyOf(nests_.size() + 1 + number, stored.array, place);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  const auto outer = inside_ == nullptr ? std::map<std::vector<uintptr_t>, Operand>() : made_;
  ++unsure_;
  const Operand made = Made(number, stored, place);
  --unsure_;
  // Inside, what is read for certain is read at its own place.
  if (inside_ != nullptr) made_ = outer;
  const Operand before = ElementBehind(number, stored.array, place);
  Operand is_stored = conditions[0];
  for (size_t k = 1; k < conditions.size(); ++k)
    is_stored = builder_.Scalar(OpCode::kAnd, {is_stored, conditions[k]});
  return made_[key] = builder_.Scalar(OpCode::kSelect, {is_stored, made, before});
}

// An element that is there; where nobody may take it, any.
Operand ElementRemaker::Loaded(const Var* array, const Place& place) {
  std::vector<uintptr_t> key = KeyOf(nests_.size(), array, place);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  std::vector<Operand> index;
  for (size_t axis = 0; axis < place.size(); ++axis) {
    Operand at = Written(place[axis]);
    if (inside_ == nullptr || unsure_ > 0) {
      const Operand last = builder_.Sub(array->type.dims()[axis], Operand::Int(1));
      at = builder_.Scalar(OpCode::kMin, {at, last});
      at = builder_.Scalar(OpCode::kMax, {at, Operand::Int(0)});
    }
    index.push_back(at);
  }
  ++loads_;
  return made_[key] = builder_.Load(array, index);
}

std::vector<uintptr_t> ElementRemaker::KeyOf(size_t number, const Var* array, const Place& place) {
  std::vector<uintptr_t> key = {number, uintptr_t(array)};
  for (const LinearForm& form : place) {
    auto terms = form.terms;
    std::sort(terms.begin(), terms.end());
    key.push_back(uintptr_t(form.constant));
    key.push_back(terms.size());
    for (const auto& [value, times] : terms) {
      key.push_back(uintptr_t(value));
      key.push_back(uintptr_t(times));
    }
  }
  return key;
}

LinearForm ElementRemaker::IterationAt(const RemadeNest& nest, const StoredElements::Axis& axis,
                                       const LinearForm& place) {
  return Difference(place, FormOutside(nest, axis.first));
}

LinearForm ElementRemaker::Extent(const RemadeNest& nest, const StoredElements::Axis& axis) {
  if (axis.param == nullptr) return LinearForm::Of(1);
  const std::vector<const Var*>& params = nest.nest->blocks[0]->params;
  const auto at = std::find(params.begin(), params.end(), axis.param) - params.begin();
  return FormOutside(nest, nest.nest->operands[size_t(at)]);
}

ElementRemaker::Along ElementRemaker::StoresAlong(const RemadeNest& nest,
                                                  const StoredElements& stored, size_t axis,
                                                  const LinearForm& place) const {
  const LinearForm at = IterationAt(nest, stored.axes[axis], place);
  const LinearForm extent = Extent(nest, stored.axes[axis]);
  const Operand& length = stored.array->type.dims()[axis];
  const LinearForm first = FormOutside(nest, stored.axes[axis].first);
  if (SameForm(first, Zero()) && SameForm(extent, FormOutside(nest, length))) return Along::kAlways;
  if (at.IsConstant() && extent.IsConstant())
    return at.constant >= 0 && at.constant < extent.constant ? Along::kAlways : Along::kNever;
  const auto own = inside_ == nullptr ? std::nullopt : inside_->AxisOf(at);
  if (!own) return Along::kUnknown;
  const bool is_short =
      extent.IsConstant() && (!inside_->lengths[*own].IsConstant() ||
                              2 * extent.constant < inside_->lengths[*own].constant().integer);
  if (!is_short) return Along::kInside;
  const bool is_edge = inside_->IsNearBegin(*own, first) || inside_->IsNearEnd(*own, first);
  return is_edge ? Along::kAtEdge : Along::kUnknown;
}

bool ElementRemaker::IsStored(const RemadeNest& nest, const StoredElements& stored,
                              const Place& place, std::vector<Operand>& conditions) {
  std::vector<Along> along;
  for (size_t axis = 0; axis < place.size(); ++axis)
    along.push_back(StoresAlong(nest, stored, axis, place[axis]));
  if (std::count(along.begin(), along.end(), Along::kNever) > 0) return false;
  for (size_t axis = 0; axis < place.size(); ++axis) {
    if (along[axis] != Along::kAtEdge) continue;
    KeepOffEdge(nest, stored.axes[axis], place[axis]);
    return false;
  }
  for (size_t axis = 0; axis < place.size(); ++axis) {
    const LinearForm at = IterationAt(nest, stored.axes[axis], place[axis]);
    const LinearForm extent = Extent(nest, stored.axes[axis]);
    if (along[axis] == Along::kInside) {
      inside_->KeepFrom(at, Zero());
      inside_->KeepBelow(at, extent);
    } else if (along[axis] == Along::kUnknown) {
      const Operand now = Written(at);
      conditions.push_back(builder_.Scalar(OpCode::kGe, {now, Operand::Int(0)}));
      conditions.push_back(builder_.Scalar(OpCode::kLt, {now, Written(extent)}));
    }
  }
  return true;
}

void ElementRemaker::KeepOffEdge(const RemadeNest& nest, const StoredElements::Axis& axis,
                                 const LinearForm& place) {
  const LinearForm at = IterationAt(nest, axis, place);
  const LinearForm first = FormOutside(nest, axis.first);
  if (inside_->IsNearBegin(*inside_->AxisOf(at), first)) {
    inside_->KeepFrom(at, Extent(nest, axis));
  } else {
    inside_->KeepBelow(at, Zero());
  }
}

Operand ElementRemaker::Made(size_t number, const StoredElements& stored, const Place& place) {
  const std::vector<uintptr_t> key = KeyOf(number, stored.array, place);
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  if (IsTooLarge()) return Loaded(sources_.at(stored.array), place);
  ++elements_;
  Iteration iteration{&nests_[number], number, {}, {}};
  for (size_t axis = 0; axis < place.size(); ++axis) {
    const StoredElements::Axis& own = stored.axes[axis];
    if (own.param != nullptr)
      iteration.forms[own.param] = IterationAt(nests_[number], own, place[axis]);
  }
  const ir::Span outer = builder_.span();
  builder_.set_span(nests_[number].nest->span);
  const Operand value = ValueIn(iteration, stored.value);
  builder_.set_span(outer);
  return made_[key] = value;
}

LinearForm ElementRemaker::FormIn(Iteration& iteration, const Operand& operand) {
  if (!operand.IsVar()) return LinearForm::Of(operand.constant().integer);
  const auto known = iteration.forms.find(operand.var());
  if (known != iteration.forms.end()) return known->second;
  const auto found = iteration.nest->definitions.find(operand.var());
  if (found == iteration.nest->definitions.end()) return FormOutside(*iteration.nest, operand);
  std::optional<LinearForm> form = LinearFormOf(iteration, *found->second);
  if (!form) {
    const Operand value = ValueOf(iteration, *found->second, operand.var());
    form = value.IsVar() ? LinearForm::Of(value.var()) : LinearForm::Of(value.constant().integer);
  }
  return iteration.forms[operand.var()] = *form;
}

std::optional<LinearForm> ElementRemaker::LinearFormOf(Iteration& iteration, const Binding& b) {
  const std::vector<Operand>& of = b.operands;
  if (b.op == OpCode::kSelect) {
    const Operand condition = ValueIn(iteration, of[0]);
    if (condition.IsVar()) return {};
    return FormIn(iteration, condition.constant().integer ? of[1] : of[2]);
  }
  if (b.op == OpCode::kAdd || b.op == OpCode::kSub) {
    LinearForm form = FormIn(iteration, of[0]);
    form.Add(FormIn(iteration, of[1]), b.op == OpCode::kAdd ? 1 : -1);
    return form;
  }
  if (b.op != OpCode::kMul) return {};
  const LinearForm one = FormIn(iteration, of[0]), other = FormIn(iteration, of[1]);
  if (!one.IsConstant() && !other.IsConstant()) return {};
  LinearForm form = Zero();
  form.Add(one.IsConstant() ? other : one, one.IsConstant() ? one.constant : other.constant);
  return form;
}

Operand ElementRemaker::ValueIn(Iteration& iteration, const Operand& operand) {
  if (!operand.IsVar()) return operand;
  if (IsIndex(operand)) return Written(FormIn(iteration, operand));
  const auto known = iteration.values.find(operand.var());
  if (known != iteration.values.end()) return known->second;
  const auto found = iteration.nest->definitions.find(operand.var());
  if (found == iteration.nest->definitions.end()) return Outside(*iteration.nest, operand);
  return iteration.values[operand.var()] = ValueOf(iteration, *found->second, operand.var());
}

Operand ElementRemaker::ValueOf(Iteration& iteration, const Binding& b, const Var* result) {
  if (b.op == OpCode::kIf) return Chosen(iteration, b, result);
  if (b.op == OpCode::kLoad) {
    const Var* array = iteration.nest->NameOutside(b.operands[0].var());
    Place place;
    for (size_t k = 1; k < b.operands.size(); ++k)
      place.push_back(FormIn(iteration, b.operands[k]));
    const bool is_stored = sources_.contains(array);
    return is_stored ? ElementBehind(iteration.number, array, place) : Loaded(array, place);
  }
  if (ir::IsComparison(b.op) && IsIndex(b.operands[0]) && IsIndex(b.operands[1]))
    return Compared(iteration, b);
  std::vector<Operand> operands;
  for (const Operand& operand : b.operands) operands.push_back(ValueIn(iteration, operand));
  return Computed(b, std::move(operands));
}

// Indexes along an axis are compared with where it begins or ends.
Operand ElementRemaker::Compared(Iteration& iteration, const Binding& b) {
  const LinearForm one = FormIn(iteration, b.operands[0]);
  const LinearForm other = FormIn(iteration, b.operands[1]);
  const bool is_turned = b.op == OpCode::kGt || b.op == OpCode::kLe;
  LinearForm apart = is_turned ? Difference(other, one) : Difference(one, other);
  const bool is_of_order = b.op != OpCode::kEq && b.op != OpCode::kNe;
  const bool is_below = b.op == OpCode::kLt || b.op == OpCode::kGt;
  if (apart.IsConstant()) {
    const bool holds = is_of_order ? (apart.constant < 0) == is_below
                                   : (apart.constant == 0) == (b.op == OpCode::kEq);
    return Operand::Bool(holds);
  }
  if (inside_ != nullptr) {
    const auto below = is_of_order ? IsBelow(apart) : std::nullopt;
    if (below) return Operand::Bool(*below == is_below);
    if (!is_of_order && inside_->AxisOf(apart)) {
      KeepOff(apart);
      return Operand::Bool(b.op == OpCode::kNe);
    }
  }
  return Computed(b, {Written(one), Written(other)});
}

// Whether a difference that goes as an index, or against it, is less than 0 inside.
std::optional<bool> ElementRemaker::IsBelow(const LinearForm& apart) {
  if (const auto axis = inside_->AxisOf(apart)) {
    const bool is_begin = inside_->IsNearBegin(*axis, Limit(apart, *axis));
    is_begin ? inside_->KeepFrom(apart, Zero()) : inside_->KeepBelow(apart, Zero());
    return !is_begin;
  }
  // -x - 1 < 0 where x >= 0.
  LinearForm turned = LinearForm::Of(int64_t{-1});
  turned.Add(apart, -1);
  const auto axis = inside_->AxisOf(turned);
  if (!axis) return {};
  const bool is_begin = inside_->IsNearBegin(*axis, Limit(turned, *axis));
  is_begin ? inside_->KeepFrom(turned, Zero()) : inside_->KeepBelow(turned, Zero());
  return is_begin;
}

// Leaves out where a difference that goes as an index is 0.
void ElementRemaker::KeepOff(const LinearForm& apart) {
  const size_t axis = *inside_->AxisOf(apart);
  if (inside_->IsNearBegin(axis, Limit(apart, axis))) {
    inside_->KeepFrom(apart, LinearForm::Of(1));
  } else {
    inside_->KeepBelow(apart, Zero());
  }
}

// Where along the axis the form is 0.
LinearForm ElementRemaker::Limit(const LinearForm& form, size_t axis) const {
  return Difference(LinearForm::Of(inside_->space[axis]), form);
}

Operand ElementRemaker::Computed(const Binding& b, std::vector<Operand> operands) {
  if (b.op == OpCode::kAnd || b.op == OpCode::kOr) {
    for (size_t k = 0; k < 2; ++k) {
      if (operands[k].IsVar() || ir::DTypeOf(operands[k]) != DType::kBool) continue;
      const bool decides = (operands[k].constant().integer != 0) == (b.op == OpCode::kOr);
      return decides ? operands[k] : operands[1 - k];
    }
  }
  if (b.op == OpCode::kNot && !operands[0].IsVar() && ir::DTypeOf(operands[0]) == DType::kBool)
    return Operand::Bool(operands[0].constant().integer == 0);
  if (b.op == OpCode::kSelect && !operands[0].IsVar())
    return operands[operands[0].constant().integer ? 1 : 2];
  operations_ += !IsIndex(b.result()) && b.result()->type != ir::Type(DType::kBool);
  const Var* result = NewValue(b.result());
  builder_.Emit(b.op, {result}, std::move(operands), b.attrs);
  return result;
}

const Var* ElementRemaker::NewValue(const Var* of) {
  const Var* value = builder_.NewVar(of->type, of->hint);
  if (inside_ != nullptr) inside_->inner.insert(value);
  return value;
}

Operand ElementRemaker::Chosen(Iteration& iteration, const Binding& branch, const Var* result) {
  const Operand condition = ValueIn(iteration, branch.operands[0]);
  const auto at = size_t(std::find(branch.results.begin(), branch.results.end(), result) -
                         branch.results.begin());
  if (!condition.IsVar()) {
    const Block& taken = *branch.blocks[condition.constant().integer ? 0 : 1];
    return ValueIn(iteration, taken.results[at]);
  }
  Binding copy = branch;
  copy.operands = {condition};
  for (const Block*& block : copy.blocks) block = BlockIn(iteration, *block);
  for (const Var*& own : copy.results) {
    const Var* original = std::exchange(own, NewValue(own));
    if (IsIndex(original)) {
      iteration.forms[original] = LinearForm::Of(own);
    } else {
      iteration.values[original] = own;
    }
  }
  const Operand value = copy.results[at];
  builder_.Append(builder_.arena()->New(std::move(copy)));
  return value;
}

// What is made in a branch is not known behind it.
const Block* ElementRemaker::BlockIn(Iteration& iteration, const Block& block) {
  const auto made = made_;
  const Iteration outer = iteration;
  ir::Builder around = std::exchange(builder_, builder_.Nested());
  std::vector<Operand> results;
  for (const Operand& result : block.results) results.push_back(ValueIn(iteration, result));
  const Block* copy = builder_.Finish({}, std::move(results));
  builder_ = std::move(around);
  made_ = made;
  iteration = outer;
  return copy;
}

}  // namespace parakeet::passes
