#include "passes/analyses/find_borders.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr size_t kMostPlaces = 3;  // on a side, of which is not known which is farther in
constexpr int64_t kWidestEqual = 8;

bool IsExtreme(OpCode op) { return op == OpCode::kMin || op == OpCode::kMax; }

bool IsI64(const Operand& operand) { return ir::TypeOf(operand) == ir::Type(DType::kI64); }

bool TouchesMemory(const Block& block) {
  bool touches = false;
  ir::ForEachBinding(block, [&](const Binding& b) {
    touches |= b.op == OpCode::kLoad || b.op == OpCode::kStore || b.op == OpCode::kCheck;
  });
  return touches;
}

LinearForm Times(const LinearForm& form, int64_t times) {
  LinearForm product;
  product.Add(form, times);
  return product;
}

}  // namespace

BorderFinder::BorderFinder(const ir::Function& function)
    : forms_(function), definitions_(ir::Definitions(*function.body)) {
  FindDear(*function.body);
}

void BorderFinder::FindDear(const Block& block) {
  ir::ForEachBinding(block, [&](const Binding& b) {
    if (b.op == OpCode::kLoad || b.op == OpCode::kStore) {
      const size_t end = b.operands.size() - (b.op == OpCode::kStore ? 1 : 0);
      for (size_t k = 1; k < end; ++k) AddMakers(b.operands[k], dear_);
    } else if (b.op == OpCode::kIf) {
      if (std::any_of(b.blocks.begin(), b.blocks.end(), [](auto* s) { return TouchesMemory(*s); }))
        AddMakers(b.operands[0], dear_);
    } else if (b.op == OpCode::kCheck) {
      AddMakers(b.operands[0], checked_);
    }
  });
}

void BorderFinder::AddMakers(const Operand& value, ir::VarSet& set) {
  if (!value.IsVar() || !set.insert(value.var()).second) return;
  const auto found = definitions_.find(value.var());
  if (found == definitions_.end()) return;
  const Binding& b = *found->second;
  if (ir::IsScalarOp(b.op)) {
    for (const Operand& operand : b.operands) AddMakers(operand, set);
  } else if (b.op == OpCode::kIf) {
    AddMakers(b.operands[0], set);
    const size_t place = std::find(b.results.begin(), b.results.end(), value.var()) -  //
                         b.results.begin();
    for (const Block* side : b.blocks) AddMakers(side->results[place], set);
  }
}

std::optional<Borders> BorderFinder::Of(const Binding& loop) {
  const Block& body = *loop.blocks[0];
  index_ = body.params[0];
  inner_.clear();
  borders_ = {};
  ends_ = {FormOf(loop.operands[0]), FormOf(loop.operands[1])};
  borders_.is_likely_all = IsLoaded(ends_.first) || IsLoaded(ends_.last);
  return Find(body);
}

std::optional<Borders> BorderFinder::Of(const Binding& nest, size_t axis) {
  const Block& body = *nest.blocks[0];
  inner_.clear();
  BoundIndexes(nest);
  index_ = body.params[axis];
  inner_.erase(index_);
  borders_ = {};
  ends_ = {LinearForm::Of(int64_t{0}), FormOf(nest.operands[axis])};
  return Find(body);
}

std::optional<Borders> BorderFinder::Find(const Block& body) {
  inside_ = ir::DefinedVars(body);
  fails_ = false;
  const auto known = known_;
  const auto chosen = chosen_;
  Walk(body);
  const auto is_one = [](const std::vector<LinearForm>& places, const LinearForm& end) {
    if (places.size() != 1) return false;
    const LinearForm width = Difference(places[0], end);
    return width.IsConstant() && std::abs(width.constant) == 1;
  };
  borders_.is_one_before = is_one(borders_.lower, ends_.first);
  borders_.is_one_behind = is_one(borders_.upper, ends_.last);
  if (!fails_ && borders_.lower.size() + borders_.upper.size() > 0) return borders_;
  known_ = known;
  chosen_ = chosen;
  return std::nullopt;
}

std::optional<Borders> BorderFinder::OfPart(const Binding& nest, const std::vector<Ends>& part,
                                            size_t axis) {
  const Block& body = *nest.blocks[0];
  index_ = body.params[axis];
  inside_ = ir::DefinedVars(body);
  inner_.clear();
  known_.clear();
  chosen_.clear();
  borders_ = {};
  fails_ = false;
  ends_ = part[axis];
  Walk(body);
  if (fails_ || borders_.lower.size() + borders_.upper.size() == 0) return std::nullopt;
  return borders_;
}

bool BorderFinder::IsLoaded(const LinearForm& end) const {
  return std::any_of(end.terms.begin(), end.terms.end(), [&](const auto& term) {
    auto made = definitions_.find(term.first);
    if (made != definitions_.end() && made->second->op == OpCode::kCast)
      made = definitions_.find(made->second->operands[0].var());
    return made != definitions_.end() && made->second->op == OpCode::kLoad;
  });
}

void BorderFinder::Walk(const Block& block) {
  for (const Binding* b : block.bindings) {
    BoundIndexes(*b);
    if (b->op == OpCode::kIf) {
      const std::optional<bool> answer = AnswerOf(b->operands[0]);
      for (const bool side : {true, false}) {
        if (!answer || *answer == side) Walk(*b->blocks[side ? 0 : 1]);
      }
      if (!answer) continue;
      const std::vector<Operand>& chosen = b->blocks[*answer ? 0 : 1]->results;
      for (size_t k = 0; k < chosen.size(); ++k) Choose(b->results[k], chosen[k]);
      continue;
    }
    for (const Block* inner : b->blocks) Walk(*inner);
    if (b->results.size() != 1 || !b->blocks.empty()) continue;
    if ((ir::IsComparison(b->op) || IsExtreme(b->op)) && IsI64(b->operands[0])) {
      AskOf(*b);
    } else {
      Combine(*b);
    }
  }
}

void BorderFinder::BoundIndexes(const Binding& b) {
  if (b.op == OpCode::kFor && b.operands[2].IsInt(1)) {
    inner_[b.blocks[0]->params[0]] = {FormOf(b.operands[0]), Plus(FormOf(b.operands[1]), -1)};
  } else if (ir::InfoOf(b.op).format == ir::OpFormat::kIndices) {
    for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis)
      inner_[b.blocks[0]->params[axis]] = {LinearForm::Of(int64_t{0}),
                                           Plus(FormOf(b.operands[axis]), -1)};
  }
}

// Notes between which borders the condition has which value.
void BorderFinder::AskOf(const Binding& b) {
  const Var* result = b.result();
  if (known_.contains(result) || chosen_.contains(result)) return;
  if (!dear_.contains(result) && !(borders_.is_likely_all && checked_.contains(result))) return;
  const LinearForm gap = Difference(FormOf(b.operands[0]), FormOf(b.operands[1]));
  const int64_t times = gap.Coefficient(index_);
  if (times != 1 && times != -1) return;
  if (b.op == OpCode::kEq || b.op == OpCode::kNe) return AskOfEqual(b, gap);
  // True where `room` is not negative.
  const bool is_less = b.op == OpCode::kLt || b.op == OpCode::kLe || b.op == OpCode::kMin;
  const bool is_strict = b.op == OpCode::kLt || b.op == OpCode::kGt;
  LinearForm room = Plus(Times(gap, is_less ? -1 : 1), is_strict ? -1 : 0);
  const bool rises = (times == 1) != is_less;
  room.Add(LinearForm::Of(index_), rises ? -1 : 1);
  const std::optional<LinearForm> least = ExtremeOf(room, false), most = ExtremeOf(room, true);
  if (!least || !most) return;
  const bool is_lower = IsNearFirst(rises ? Times(*least, -1) : Plus(*least, 1));
  const bool answer = rises == is_lower;
  const LinearForm& rest = answer ? *least : *most;
  Add(is_lower ? borders_.lower : borders_.upper, rises ? Times(rest, -1) : Plus(rest, 1),
      is_lower);
  if (IsExtreme(b.op)) return Choose(result, b.operands[answer ? 0 : 1]);
  known_[result] = answer;
}

// Of `i == first`, or the last: all the others are between the borders.
void BorderFinder::AskOfEqual(const Binding& b, const LinearForm& gap) {
  LinearForm place = Times(gap, -gap.Coefficient(index_));
  place.Add(LinearForm::Of(index_), 1);
  if (std::any_of(place.terms.begin(), place.terms.end(),
                  [&](const auto& term) { return inside_.contains(term.first); }))
    return;
  const LinearForm from_first = Difference(place, ends_.first);
  const LinearForm to_last = Difference(ends_.last, place);
  const auto is_short = [](const LinearForm& distance) {
    return distance.IsConstant() && std::abs(distance.constant) <= kWidestEqual;
  };
  if (is_short(from_first)) {
    Add(borders_.lower, Plus(place, 1), true);
  } else if (is_short(to_last)) {
    Add(borders_.upper, place, false);
  } else {
    return;
  }
  known_[b.result()] = b.op == OpCode::kNe;
}

// What follows of what is known for what is made of it.
void BorderFinder::Combine(const Binding& b) {
  if (b.op == OpCode::kSelect) {
    if (const std::optional<bool> answer = AnswerOf(b.operands[0]))
      Choose(b.result(), b.operands[*answer ? 1 : 2]);
    return;
  }
  if (b.result()->type != ir::Type(DType::kBool)) return;
  if (b.op == OpCode::kNot) {
    if (const std::optional<bool> answer = AnswerOf(b.operands[0])) known_[b.result()] = !*answer;
  } else if (b.op == OpCode::kAnd || b.op == OpCode::kOr) {
    const bool decides = b.op == OpCode::kOr;
    const std::optional<bool> sides[2] = {AnswerOf(b.operands[0]), AnswerOf(b.operands[1])};
    if (sides[0] == decides || sides[1] == decides) {
      known_[b.result()] = decides;
    } else if (sides[0] && sides[1]) {
      known_[b.result()] = !decides;
    }
  }
}

void BorderFinder::Choose(const Var* result, const Operand& chosen) {
  if (result->type == ir::Type(DType::kI64)) {
    chosen_[result] = FormOf(chosen);
  } else if (const std::optional<bool> answer = AnswerOf(chosen)) {
    known_[result] = *answer;
  }
}

std::optional<bool> BorderFinder::AnswerOf(const Operand& condition) const {
  if (ir::TypeOf(condition) != ir::Type(DType::kBool)) return std::nullopt;
  if (condition.IsConstant()) return condition.constant().integer != 0;
  const auto found = known_.find(condition.var());
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

LinearForm BorderFinder::FormOf(const Operand& operand) const {
  LinearForm form = forms_.Of(operand);
  const std::vector<std::pair<const Var*, int64_t>> terms = form.terms;
  for (const auto& [var, times] : terms) {
    const auto found = chosen_.find(var);
    if (found != chosen_.end()) form = form.With(var, found->second);
  }
  return form;
}

std::optional<LinearForm> BorderFinder::ExtremeOf(const LinearForm& form, bool largest) const {
  LinearForm extreme = LinearForm::Of(form.constant);
  for (const auto& [var, times] : form.terms) {
    if (!inside_.contains(var)) {
      extreme.Add(LinearForm::Of(var), times);
      continue;
    }
    const auto ends = inner_.find(var);
    if (ends == inner_.end()) return std::nullopt;
    extreme.Add(largest == (times > 0) ? ends->second.last : ends->second.first, times);
  }
  const bool is_outside = std::all_of(extreme.terms.begin(), extreme.terms.end(),
                                      [&](const auto& t) { return !inside_.contains(t.first); });
  return is_outside ? std::optional(extreme) : std::nullopt;
}

// True where the place is rather where the loop begins than where it ends.
bool BorderFinder::IsNearFirst(const LinearForm& place) const {
  const LinearForm from_first = Difference(place, ends_.first);
  // Of numbers that nothing is known of: from 0 on, and below a size.
  if (borders_.is_likely_all) return place.IsConstant() || from_first.IsConstant();
  const LinearForm to_last = Difference(ends_.last, place);
  if (from_first.IsConstant() && to_last.IsConstant())
    return from_first.constant <= to_last.constant;
  if (from_first.IsConstant() || to_last.IsConstant()) return from_first.IsConstant();
  return std::none_of(ends_.last.terms.begin(), ends_.last.terms.end(), [&](const auto& term) {
    const int64_t times = place.Coefficient(term.first);
    return times != 0 && (times > 0) == (term.second > 0);
  });
}

// Keeps the place that is farthest in.
void BorderFinder::Add(std::vector<LinearForm>& places, const LinearForm& place, bool is_lower) {
  const LinearForm width =
      is_lower ? Difference(place, ends_.first) : Difference(ends_.last, place);
  if (width.IsConstant() && width.constant <= 0) return;
  for (LinearForm& other : places) {
    const LinearForm gap = Difference(place, other);
    if (!gap.IsConstant()) continue;
    if (is_lower == (gap.constant > 0)) other = place;
    return;
  }
  places.push_back(place);
  fails_ |= places.size() > kMostPlaces;
}

}  // namespace parakeet::passes
