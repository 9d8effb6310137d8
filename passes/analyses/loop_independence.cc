#include "passes/analyses/loop_independence.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "passes/analyses/places_apart.h"
#include "passes/pass.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

constexpr int64_t kLargestMultiple = 1 << 15;
constexpr size_t kMostPairs = 4096;   // of accesses that are held against one another
constexpr size_t kMostMeetings = 64;  // of which inequalities are asked
constexpr int kMostLoops = 8;         // of which an index may be made
constexpr int kDeepest = 8;           // of what an amount is computed from
constexpr double kFarthestScalar = 281474976710656.0;  // 2^48, as places_apart.cc has it
constexpr int kMostFactors = 4;  // of an index that is put together of several

}  // namespace

LoopIndependence::LoopIndependence(const ir::Function& function)
    : roots_(function), forms_(function), remainders_(function) {
  const auto add_root = [&](const Var* var) {
    if (var->type.IsArray()) arrays_.push_back(var);
  };
  for (const ir::Param& param : function.params) {
    add_root(param.var);
    if (function.may_overlap) overlapping_.insert(param.var);
    for (const Operand& size : param.var->type.dims()) {
      if (size.IsVar()) sizes_.insert(size.var());
    }
  }
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    for (const Var* result : b.results) {
      add_root(result);
      makers_[result] = &b;
    }
    for (const Block* block : b.blocks) {
      for (const Var* param : block->params) order_.emplace(param, order_.size());
    }
    if (b.op == OpCode::kFor) loops_[b.blocks[0]->params[0]] = &b;
    if (InfoOf(b.op).format != ir::OpFormat::kIndices) return;
    for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis) {
      const Var* index = b.blocks[0]->params[axis];
      if (index->type == ir::Type(ir::DType::kI64)) spaces_[index] = b.operands[axis];
    }
  });
  FindNear(*function.body);
}

// What the function checks before it does anything else.
void LoopIndependence::FindNear(const Block& body) {
  VarSet above, below;
  for (const Binding* b : body.bindings) {
    if (b->op != OpCode::kCheck && !ir::IsScalarOp(b->op)) return;
    const auto maker = b->op == OpCode::kCheck && b->operands[0].IsVar()
                           ? makers_.find(b->operands[0].var())
                           : makers_.end();
    if (maker == makers_.end() || maker->second->op != OpCode::kLe) continue;
    const Operand &least = maker->second->operands[0], &most = maker->second->operands[1];
    const auto is_near = [](const Operand& bound) {
      return bound.IsConstant() && ir::DTypeOf(bound) == ir::DType::kI64 &&
             std::abs(double(bound.constant().integer)) <= kFarthestScalar;
    };
    if (is_near(least) && most.IsVar()) above.insert(most.var());
    if (is_near(most) && least.IsVar()) below.insert(least.var());
    for (const Var* var : above) {
      if (below.contains(var)) near_.insert(var);
    }
  }
}

// True where the place of a check is less in a later iteration: of two errors the one with the
// lesser place is told, which must be the earlier one.
bool LoopIndependence::HasFallingPlaces(const Binding& loop) const {
  const Var* index = loop.blocks[0]->params[0];
  const bool up = loop.operands[2].constant().integer > 0;
  bool falls = false;
  ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
    if (b.op != OpCode::kCheck) return;
    for (int64_t k = 1; k <= b.attrs.Int(Attr::kAt); ++k) {
      const int64_t grows = forms_.Of(b.operands[k]).Coefficient(index);
      falls |= up ? grows < 0 : grows > 0;
    }
  });
  return falls;
}

std::string LoopIndependence::Named(const Var* array) const {
  const auto maker = makers_.find(array);
  const bool has_place = maker != makers_.end() && maker->second->span.IsKnown();
  if (!array->hint.empty() || !has_place) return NameOf(array);
  return "the array of line " + std::to_string(maker->second->span.line);
}

std::string LoopIndependence::WhyDependent(const Binding& loop) const {
  const Block& body = *loop.blocks[0];
  std::string reason;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op == OpCode::kCall) reason = "it calls @" + b.attrs.Text(Attr::kCallee);
  });
  const VarSet written = WrittenBy(body);
  for (const Var* root : arrays_) {
    if (reason.empty() && written.contains(root)) reason = WhyShared(loop, root);
  }
  return reason;
}

const Var* LoopIndependence::ShownBehindErrors(const Binding& loop) const {
  const Block& body = *loop.blocks[0];
  if (!EffectsOf(body, roots_).may_fail) return nullptr;
  const VarSet written = WrittenBy(body);
  const auto shown = std::find_if(arrays_.begin(), arrays_.end(), [&](const Var* root) {
    return written.contains(root) && !roots_.IsFresh(root);
  });
  return shown == arrays_.end() ? nullptr : *shown;
}

// The arrays that were there before the block, of those that it stores to.
VarSet LoopIndependence::WrittenBy(const Block& body) const {
  VarSet written = EffectsOf(body, roots_).writes;
  for (const Var* own : ir::DefinedVars(body)) written.erase(own);
  return written;
}

// Why two iterations may touch one element of the root; empty when they cannot.
std::string LoopIndependence::WhyShared(const Binding& loop, const Var* root) const {
  if (overlapping_.contains(root)) return "places of the arguments overlap in memory";
  std::vector<const Var*> stored;
  std::string reason;
  ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
    if (!b.blocks.empty() || !EffectsOf(b, roots_).writes.contains(root)) return;
    if (b.op != OpCode::kStore) reason = Named(root) + " is touched as a whole";
    const Var* array = b.operands[0].var();
    if (std::find(stored.begin(), stored.end(), array) == stored.end()) stored.push_back(array);
  });
  for (const Var* array : stored) {
    if (reason.empty()) reason = WhyShared(loop, root, array);
  }
  return reason;
}

// The same of what is stored by this name of the root, and touched by any other name.
std::string LoopIndependence::WhyShared(const Binding& loop, const Var* root,
                                        const Var* array) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  std::vector<const Binding*> accesses;
  std::string reason;
  ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
    if (!b.blocks.empty() || ir::IsView(b.op)) return;
    const bool is_plain = b.op == OpCode::kLoad || b.op == OpCode::kStore;
    if (is_plain && b.operands[0] == Operand(array)) return accesses.push_back(&b);
    for (const Operand& operand : b.operands) {
      const Var* other = operand.IsVar() ? operand.var() : nullptr;
      if (other == nullptr || !other->type.IsArray()) continue;
      const bool are_known = !inside.contains(array) && !inside.contains(other);
      if (!(are_known ? roots_.MayShareNow(array, other) : roots_.MayShare(array, other))) continue;
      reason =
          is_plain ? "two names may stand for one array" : Named(root) + " is touched as a whole";
    }
  });
  if (!reason.empty()) return reason;
  if (inside.contains(array))
    return Named(root) + " is seen through another view in each iteration";
  for (int axis = 0; axis < array->type.rank(); ++axis) {
    if (FollowsLoop(accesses, loop, axis)) return "";
  }
  if (AreApart(accesses, loop)) return "";
  return Named(array) + " may be touched at one place by two iterations";
}

// True when of each two accesses, one of them a store, an axis tells that they are of one
// iteration or of two places.
bool LoopIndependence::AreApart(const std::vector<const Binding*>& accesses,
                                const Binding& loop) const {
  std::vector<Extent> extents;
  for (const Binding* access : accesses) extents.push_back(ExtentOf(*access, loop));
  VarSet sizes = sizes_;
  for (const Operand& size : accesses[0]->operands[0].var()->type.dims()) {
    if (size.IsVar()) sizes.insert(size.var());
  }
  PlacesApart meeting({forms_, makers_, loops_, spaces_, sizes, near_}, loop);
  size_t pairs = 0, meetings = 0;
  for (size_t k = 0; k < accesses.size(); ++k) {
    if (accesses[k]->op != OpCode::kStore) continue;
    for (size_t other = 0; other < accesses.size(); ++other) {
      if (++pairs > kMostPairs) return false;
      bool apart = AreOfOtherParity(*accesses[k], *accesses[other], loop);
      for (int axis = 0; axis < int(extents[k].size()) && !apart; ++axis) {
        apart = FollowsLoop({accesses[k], accesses[other]}, loop, axis) ||
                IsBelow(extents[k][axis], extents[other][axis]) ||
                IsBelow(extents[other][axis], extents[k][axis]) ||
                AreMirrored(*accesses[k], *accesses[other], loop, axis) ||
                AreMirrored(*accesses[other], *accesses[k], loop, axis);
      }
      if (apart) continue;
      if (++meetings > kMostMeetings || !meeting.AreApart(*accesses[k], *accesses[other]) ||
          !meeting.AreApart(*accesses[other], *accesses[k]))
        return false;
    }
  }
  return true;
}

// True where one is at places whose index on an axis, or whose sum of indexes, is always even, and
// that of the other odd, as of a chessboard's fields of two colours.
bool LoopIndependence::AreOfOtherParity(const Binding& one, const Binding& other,
                                        const Binding& loop) const {
  const auto differ = [&](const LinearForm& a, const LinearForm& b) {
    const std::optional<LinearForm> first = ParityOf(a, loop), second = ParityOf(b, loop);
    if (!first || !second) return false;
    const LinearForm between = Difference(*first, *second);
    return between.constant % 2 != 0 &&
           std::all_of(between.terms.begin(), between.terms.end(),
                       [](const auto& term) { return term.second % 2 == 0; });
  };
  LinearForm sum, other_sum;
  for (int axis = 0; axis < one.operands[0].var()->type.rank(); ++axis) {
    const LinearForm a = forms_.Of(one.operands[1 + axis]), b = forms_.Of(other.operands[1 + axis]);
    if (differ(a, b)) return true;
    sum.Add(a, 1);
    other_sum.Add(b, 1);
  }
  return differ(sum, other_sum);
}

// A form that is as even as this one, of values that are the same in all of the loop; nothing where
// there is none.
std::optional<LinearForm> LoopIndependence::ParityOf(LinearForm form, const Binding& loop) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  for (int left = kMostFactors; left > 0; --left) {
    LinearForm next = LinearForm::Of(form.constant % 2);
    bool varies = false;
    for (const auto& [var, times] : form.terms) {
      if (times % 2 == 0) continue;
      const std::optional<LinearForm> by = AsEvenAs(var);
      varies |= by || inside.contains(var);
      next.Add(by.value_or(LinearForm::Of(var)), 1);
    }
    form = std::move(next);
    if (!varies) return form;
  }
  return std::nullopt;
}

// Of an index that goes by even steps, where it begins; of a remainder by an even number, or of the
// last bit, of what.
std::optional<LinearForm> LoopIndependence::AsEvenAs(const Var* value) const {
  if (const auto loop = loops_.find(value); loop != loops_.end()) {
    const Binding& b = *loop->second;
    const bool is_even = b.op == OpCode::kFor && b.blocks[0]->params[0] == value &&
                         b.operands[2].IsConstant() && b.operands[2].constant().integer % 2 == 0;
    return is_even ? std::optional<LinearForm>(forms_.Of(b.operands[0])) : std::nullopt;
  }
  const auto maker = makers_.find(value);
  if (maker == makers_.end()) return std::nullopt;
  const Binding& b = *maker->second;
  const bool is_last_bit = b.op == OpCode::kAnd && b.operands[1] == Operand::Int(1);
  const bool is_remainder = b.op == OpCode::kMod && b.operands[1].IsConstant() &&
                            value->type.dtype() == ir::DType::kI64 &&
                            b.operands[1].constant().integer % 2 == 0 &&
                            b.operands[1].constant().integer != 0;
  if (!is_last_bit && !is_remainder) return std::nullopt;
  return forms_.Of(b.operands[0]);
}

// True of a[i, j] and a[j, i] where j begins at i: the index on this axis is never above that on
// another one in the first access, and never below it in the second. Where both are at one place,
// the two indexes are equal in each, and then they are those of one iteration.
bool LoopIndependence::AreMirrored(const Binding& upper, const Binding& lower, const Binding& loop,
                                   int axis) const {
  const auto form = [&](const Binding& access, int of) {
    return forms_.Of(access.operands[1 + of]);
  };
  const auto is_of_one = [&](int first, int second) {
    const LinearForm of_loop = form(upper, first);
    return IsOfLoop(of_loop, {&upper, &lower}, loop, first) &&
           SameForm(of_loop, form(lower, second));
  };
  const int rank = upper.operands[0].var()->type.rank();
  for (int other = axis + 1; other < rank; ++other) {
    const auto rise = OutsideOf(Difference(form(upper, other), form(upper, axis)), loop, false);
    const auto fall = OutsideOf(Difference(form(lower, other), form(lower, axis)), loop, true);
    if (!rise || !fall || !rise->IsConstant() || !fall->IsConstant()) continue;
    if (rise->constant < 0 || fall->constant > 0) continue;
    if (rise->constant > 0 || fall->constant < 0) return true;
    if (is_of_one(axis, other) || is_of_one(other, axis)) return true;
  }
  return false;
}

LoopIndependence::Extent LoopIndependence::ExtentOf(const Binding& access,
                                                    const Binding& loop) const {
  Extent extent;
  const int rank = access.operands[0].var()->type.rank();
  for (int axis = 0; axis < rank; ++axis) {
    const LinearForm form = forms_.Of(access.operands[1 + axis]);
    extent.push_back({OutsideOf(form, loop, false), OutsideOf(form, loop, true)});
  }
  return extent;
}

// How often a loop from 0 runs that does: of max(n, 0) that is n.
LinearForm LoopIndependence::CountOf(const Operand& end) const {
  const auto maker = end.IsVar() ? makers_.find(end.var()) : makers_.end();
  const bool is_count = maker != makers_.end() && maker->second->op == OpCode::kMax &&
                        maker->second->operands[1].IsInt(0);
  return forms_.Of(is_count ? maker->second->operands[0] : end);
}

// Whether the index is one of a loop that begins behind the other's.
bool LoopIndependence::IsInside(const Var* index, const Var* other) const {
  const auto mine = order_.find(index), others = order_.find(other);
  return mine != order_.end() && (others == order_.end() || mine->second > others->second);
}

bool LoopIndependence::IsBelow(const Bounds& a, const Bounds& b) {
  if (!a.most || !b.least) return false;
  const LinearForm gap = Difference(*b.least, *a.most);
  return gap.IsConstant() && gap.constant > 0 && gap.constant <= kLargestMultiple;
}

// The least or largest value of the form, of values that are defined outside the loop: indexes
// of the loop and of those inside it by their ends, the innermost first, but for what is kept.
std::optional<LinearForm> LoopIndependence::OutsideOf(LinearForm form, const Binding& loop,
                                                      bool largest, Kept kept) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  const auto is_kept = [&](const auto& term) {
    if (kept == Kept::kIndex) return term.first == loop.blocks[0]->params[0];
    return kept == Kept::kProducts && !FactorOf({0, {{term.first, 1}}}, loop).IsInt(0);
  };
  for (int left = kMostLoops; left > 0; --left) {
    auto term = form.terms.end();
    for (auto each = form.terms.begin(); each != form.terms.end(); ++each) {
      const bool is_inner = term == form.terms.end() || IsInside(each->first, term->first);
      if (inside.contains(each->first) && is_inner && !is_kept(*each)) term = each;
    }
    if (term == form.terms.end()) return form;
    if (std::abs(term->second) > kLargestMultiple) return std::nullopt;
    const auto maker = makers_.find(term->first);
    const OpCode wanted = largest == (term->second > 0) ? OpCode::kMin : OpCode::kMax;
    if (maker != makers_.end() && maker->second->op == wanted)
      return OutsideOfExtreme(form, *maker->second, loop, largest, kept);
    if (const auto space = spaces_.find(term->first); space != spaces_.end()) {
      LinearForm end;
      if (largest == (term->second > 0)) {
        end = CountOf(space->second);
        end.constant -= 1;
      }
      form = form.With(term->first, end);
      continue;
    }
    const auto ends = loops_.find(term->first);
    if (ends == loops_.end()) return std::nullopt;
    const Binding& own = *ends->second;
    const int64_t step = own.operands[2].constant().integer;
    const bool is_end = largest == (term->second > 0) ? step > 0 : step < 0;
    const bool is_count = is_end && step > 0 && own.operands[0].IsInt(0);
    LinearForm end = is_count ? CountOf(own.operands[1]) : forms_.Of(own.operands[is_end ? 1 : 0]);
    if (is_end) end.constant += step > 0 ? -1 : 1;
    form = form.With(term->first, end);
  }
  return std::nullopt;
}

// The least of two is no more than either: than what changes with the loop first, where that says
// something. Where the index is kept, only what has it does.
std::optional<LinearForm> LoopIndependence::OutsideOfExtreme(const LinearForm& form,
                                                             const Binding& extreme,
                                                             const Binding& loop, bool largest,
                                                             Kept kept) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  for (const bool changes : {true, false}) {
    for (const Operand& side : extreme.operands) {
      if (changes != (side.IsVar() && inside.contains(side.var()))) continue;
      const LinearForm with = form.With(extreme.result(), forms_.Of(side));
      const auto bound = OutsideOf(with, loop, largest, kept);
      if (!bound) continue;
      if (kept != Kept::kIndex || bound->Coefficient(loop.blocks[0]->params[0]) != 0) return bound;
    }
  }
  return std::nullopt;
}

// True where each iteration goes through a block of its own, from %q * %n to less than %n behind:
// `for i in range(q * n, min(q * n + n, m))`.
bool LoopIndependence::AreInBlocks(const Accesses& accesses, const Binding& loop, int axis) const {
  std::vector<LinearForm> least, most;
  for (const Binding* access : accesses) {
    const LinearForm form = forms_.Of(access->operands[1 + axis]);
    const auto low = OutsideOf(form, loop, false, Kept::kProducts);
    const auto high = OutsideOf(form, loop, true, Kept::kProducts);
    if (!low || !high) return false;
    least.push_back(*low);
    most.push_back(*high);
  }
  const Operand factor = FactorOf(least[0], loop);
  if (factor.IsInt(0) || accesses.size() * accesses.size() > kMostPairs) return false;
  std::vector<LinearForm> quotients;
  for (std::vector<LinearForm>* ends : {&least, &most}) {
    for (LinearForm& end : *ends) quotients.push_back(TakeQuotient(end, factor));
  }
  const bool are_one = std::all_of(quotients.begin(), quotients.end(),
                                   [&](auto& other) { return SameForm(other, quotients[0]); });
  if (!are_one || !IsOfLoop(quotients[0], accesses, loop, axis)) return false;
  return std::all_of(most.begin(), most.end(), [&](const LinearForm& high) {
    return std::all_of(least.begin(), least.end(), [&](const LinearForm& low) {
      const LinearForm left = Difference(forms_.Of(factor), Difference(high, low));
      return left.IsConstant() && left.constant > 0 && left.constant <= kLargestMultiple;
    });
  });
}

// The same of blocks of a known length, from 64 * %q to less than 64 behind.
bool LoopIndependence::AreInSteps(const Accesses& accesses, const Binding& loop, int axis) const {
  const Var* index = loop.blocks[0]->params[0];
  if (accesses.size() * accesses.size() > kMostPairs) return false;
  std::vector<Bounds> bounds;
  for (const Binding* access : accesses) {
    const LinearForm form = forms_.Of(access->operands[1 + axis]);
    bounds.push_back(
        {OutsideOf(form, loop, false, Kept::kIndex), OutsideOf(form, loop, true, Kept::kIndex)});
    if (!bounds.back().least || !bounds.back().most) return false;
  }
  const int64_t times = bounds[0].least->Coefficient(index);
  const int64_t step = loop.operands[2].constant().integer;
  if (times == 0 || std::abs(times) > kLargestMultiple || std::abs(step) > kLargestMultiple)
    return false;
  const auto is_within = [&](const Bounds& one, const Bounds& other) {
    const LinearForm between = Difference(*one.most, *other.least);
    return one.most->Coefficient(index) == times && between.IsConstant() &&
           std::abs(between.constant) < std::abs(times * step);
  };
  return std::all_of(bounds.begin(), bounds.end(), [&](const Bounds& one) {
    return std::all_of(bounds.begin(), bounds.end(),
                       [&](const Bounds& other) { return is_within(one, other); });
  });
}

// True where accesses at one place of the axis are of one iteration.
bool LoopIndependence::FollowsLoop(const Accesses& accesses, const Binding& loop, int axis) const {
  std::vector<LinearForm> forms;
  for (const Binding* access : accesses) forms.push_back(forms_.Of(access->operands[1 + axis]));
  return TellIteration(std::move(forms), accesses, loop, axis) || IsRotated(accesses, loop, axis) ||
         AreInBlocks(accesses, loop, axis) || AreInSteps(accesses, loop, axis);
}

// True where equal ones of these indexes are of one iteration: multiples of the loop's index, and
// amounts less than they are apart. Multiples of so few wrap around to one place only after 2^48
// iterations.
bool LoopIndependence::TellIteration(std::vector<LinearForm> forms, const Accesses& accesses,
                                     const Binding& loop, int axis) const {
  const Var* index = loop.blocks[0]->params[0];
  for (int left = kMostFactors; left > 0; --left) {
    const LinearForm first = forms[0];
    if (std::all_of(forms.begin(), forms.end(),
                    [&](const LinearForm& form) { return SameForm(form, first); }) &&
        IsOfLoop(first, accesses, loop, axis))
      return true;
    // 3 * %q + less than 3: equal ones have one %q.
    if (const int64_t common = CommonFactorOf(forms, loop); common > 1) {
      std::vector<LinearForm> rests = forms, quotients;
      for (LinearForm& rest : rests) quotients.push_back(TakeQuotient(rest, common, loop));
      if (AreWithin(rests, LinearForm::Of(common), loop)) {
        forms = std::move(quotients);
        continue;
      }
    }
    const int64_t times = first.Coefficient(index);
    if (times != 0) {
      const int64_t step = loop.operands[2].constant().integer;
      if (std::abs(times) > kLargestMultiple || std::abs(step) > kLargestMultiple) return false;
      for (LinearForm& form : forms) form.Add(LinearForm::Of(index), -times);
      return AreWithin(forms, LinearForm::Of(std::abs(times * step)), loop);
    }
    // %q * %n + less than %n: equal ones have one %q.
    const Operand factor = FactorOf(first, loop);
    if (factor.IsInt(0)) return false;
    std::vector<LinearForm> quotients;
    for (LinearForm& form : forms) quotients.push_back(TakeQuotient(form, factor));
    if (!AreWithin(forms, forms_.Of(factor), loop)) return false;
    forms = std::move(quotients);
  }
  return false;
}

// True where no two of the values, of whatever iterations, are so far apart.
bool LoopIndependence::AreWithin(const std::vector<LinearForm>& forms, const LinearForm& distance,
                                 const Binding& loop) const {
  if (forms.size() * forms.size() > kMostPairs) return false;
  std::vector<Bounds> bounds;
  for (const LinearForm& form : forms)
    bounds.push_back({OutsideOf(form, loop, false), OutsideOf(form, loop, true)});
  for (const Bounds& one : bounds) {
    for (const Bounds& other : bounds) {
      if (!one.most || !other.least) return false;
      const LinearForm left = Difference(distance, Difference(*one.most, *other.least));
      if (!left.IsConstant() || left.constant <= 0 || left.constant > kLargestMultiple)
        return false;
    }
  }
  return true;
}

// The largest number that all values which change inside the loop are multiples of.
int64_t LoopIndependence::CommonFactorOf(const std::vector<LinearForm>& forms,
                                         const Binding& loop) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  int64_t common = 0;
  for (const LinearForm& form : forms) {
    for (const auto& [var, times] : form.terms) {
      if (std::abs(times) > kLargestMultiple) return 1;
      if (inside.contains(var)) common = std::gcd(common, times);
    }
  }
  return common;
}

// Takes all multiples of the number out of the form, of what changes inside the loop and of the
// constant, of which less than the number is left.
LinearForm LoopIndependence::TakeQuotient(LinearForm& form, int64_t factor,
                                          const Binding& loop) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  const int64_t left = ((form.constant % factor) + factor) % factor;
  LinearForm quotient = LinearForm::Of((form.constant - left) / factor);
  LinearForm rest = LinearForm::Of(left);
  for (const auto& [var, times] : form.terms) {
    const bool is_inside = inside.contains(var);
    (is_inside ? quotient : rest).Add(LinearForm::Of(var), is_inside ? times / factor : times);
  }
  form = rest;
  return quotient;
}

// What a value that changes inside the loop is multiplied by, and does not; 0 for nothing.
Operand LoopIndependence::FactorOf(const LinearForm& form, const Binding& loop) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  for (const auto& [var, times] : form.terms) {
    const auto maker = makers_.find(var);
    const bool is_product = maker != makers_.end() && maker->second->op == OpCode::kMul;
    if (times != 1 || !is_product || !inside.contains(var)) continue;
    for (const Operand& factor : maker->second->operands) {
      if (factor.IsVar() && !inside.contains(factor.var())) return factor;
    }
  }
  return Operand::Int(0);
}

// Takes all multiples of the factor out of the form.
LinearForm LoopIndependence::TakeQuotient(LinearForm& form, const Operand& factor) const {
  LinearForm quotient, rest = LinearForm::Of(form.constant);
  for (const auto& [var, times] : form.terms) {
    const auto maker = makers_.find(var);
    const bool is_product = maker != makers_.end() && maker->second->op == OpCode::kMul;
    const auto& operands = is_product ? maker->second->operands : std::vector<Operand>{};
    const auto found = std::find(operands.begin(), operands.end(), factor);
    if (found == operands.end()) rest.Add(LinearForm::Of(var), times);
    else quotient.Add(forms_.Of(operands[found == operands.begin() ? 1 : 0]), times);
  }
  form = rest;
  return quotient;
}

bool LoopIndependence::IsSameOnAxis(const Accesses& accesses, int axis) const {
  const LinearForm first = forms_.Of(accesses[0]->operands[1 + axis]);
  return std::all_of(accesses.begin(), accesses.end(), [&](const Binding* access) {
    return SameForm(forms_.Of(access->operands[1 + axis]), first);
  });
}

// True where the indexes on the axis are one multiple by 1 or -1 of the loop's, plus one amount,
// modulo what two iterations are less apart than.
bool LoopIndependence::IsRotated(const Accesses& accesses, const Binding& loop, int axis) const {
  const Remainders::Remainder* first = remainders_.Find(accesses[0]->operands[1 + axis]);
  if (first == nullptr || std::abs(first->of.Coefficient(loop.blocks[0]->params[0])) != 1)
    return false;
  for (const Binding* access : accesses) {
    const Remainders::Remainder* other = remainders_.Find(access->operands[1 + axis]);
    if (other == nullptr || other->modulus != first->modulus || !SameForm(other->of, first->of))
      return false;
  }
  const bool up = loop.operands[2].constant().integer > 0;
  const LinearForm length =
      up && loop.operands[0].IsInt(0)
          ? CountOf(loop.operands[1])
          : Difference(forms_.Of(loop.operands[up ? 1 : 0]), forms_.Of(loop.operands[up ? 0 : 1]));
  const LinearForm left = Difference(forms_.Of(first->modulus), length);
  return left.IsConstant() && left.constant >= 0 && left.constant <= kLargestMultiple &&
         IsOfLoop(first->of, accesses, loop, axis);
}

// True for a multiple of the loop's index plus an amount that is the same in all iterations, or in
// those that meet on the other axes.
bool LoopIndependence::IsOfLoop(const LinearForm& form, const Accesses& accesses,
                                const Binding& loop, int axis) const {
  const Var* index = loop.blocks[0]->params[0];
  const int64_t coefficient = form.Coefficient(index);
  if (coefficient == 0 || std::abs(coefficient) > kLargestMultiple) return false;
  const Meeting meeting{accesses, ir::DefinedVars(*loop.blocks[0]), WrittenBy(*loop.blocks[0]),
                        axis};
  return std::all_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
    return term.first == index || IsFixed(term.first, meeting);
  });
}

// True where the value is one wherever the accesses meet on all other axes: what no iteration
// changes, an index of another axis, and what is computed of them.
bool LoopIndependence::IsFixed(const Operand& value, const Meeting& meeting, int depth) const {
  if (!value.IsVar() || !meeting.inside.contains(value.var())) return true;
  const int rank = meeting.accesses[0]->operands[0].var()->type.rank();
  for (int axis = 0; axis < rank; ++axis) {
    if (axis == meeting.axis || !IsSameOnAxis(meeting.accesses, axis)) continue;
    const LinearForm form = forms_.Of(meeting.accesses[0]->operands[1 + axis]);
    const bool is_alone = std::none_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
      return term.first != value.var() && meeting.inside.contains(term.first);
    });
    if (is_alone && std::abs(form.Coefficient(value.var())) == 1) return true;
  }
  const auto maker = makers_.find(value.var());
  if (maker == makers_.end() || depth == kDeepest) return false;
  const Binding& b = *maker->second;
  const bool is_read = b.op == OpCode::kLoad && !meeting.inside.contains(b.operands[0].var()) &&
                       !Intersects(roots_.Of(b.operands[0].var()), meeting.written);
  if (!is_read && !ir::IsScalarOp(b.op)) return false;
  return std::all_of(b.operands.begin() + (is_read ? 1 : 0), b.operands.end(),
                     [&](const Operand& part) { return IsFixed(part, meeting, depth + 1); });
}

}  // namespace parakeet::passes
