#include "passes/analyses/loop_independence.h"

#include <algorithm>
#include <cstdlib>

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
constexpr size_t kMostPairs = 4096;  // of accesses that are held against one another
constexpr int kMostLoops = 8;        // of which an index may be made

// True for a multiple of the loop's index plus an amount that no iteration changes.
bool IsOfLoopAlone(const LinearForm& form, const Binding& loop) {
  const Var* index = loop.blocks[0]->params[0];
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  for (const auto& [var, coefficient] : form.terms) {
    if (var != index && inside.contains(var)) return false;
  }
  const int64_t coefficient = form.Coefficient(index);
  return coefficient != 0 && std::abs(coefficient) <= kLargestMultiple;
}

}  // namespace

LoopIndependence::LoopIndependence(const ir::Function& function)
    : roots_(function), forms_(function) {
  const auto add_root = [&](const Var* var) {
    if (var->type.IsArray()) arrays_.push_back(var);
  };
  for (const ir::Param& param : function.params) {
    add_root(param.var);
    if (function.may_overlap) overlapping_.insert(param.var);
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
  std::vector<const Binding*> accesses;
  std::string reason;
  ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
    const Effects own = EffectsOf(b, roots_);
    if (!b.blocks.empty() || (!own.reads.contains(root) && !own.writes.contains(root))) return;
    const bool plain = b.op == OpCode::kLoad || b.op == OpCode::kStore;
    if (plain && roots_.IsFromBefore(b.operands[0].var(), root)) return;
    if (!plain || roots_.Of(b.operands[0].var()).size() != 1)
      reason = Named(root) + " is touched as a whole";
    if (plain && !accesses.empty() && b.operands[0] != accesses[0]->operands[0]) {
      reason = "two names may stand for one array";
    }
    accesses.push_back(&b);
  });
  if (!reason.empty() || accesses.empty()) return reason;
  const Var* array = accesses[0]->operands[0].var();
  if (ir::DefinedVars(*loop.blocks[0]).contains(array)) {
    return Named(root) + " is seen through another view in each iteration";
  }
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
  size_t pairs = 0;
  for (size_t k = 0; k < accesses.size(); ++k) {
    if (accesses[k]->op != OpCode::kStore) continue;
    for (size_t other = 0; other < accesses.size(); ++other) {
      if (++pairs > kMostPairs) return false;
      bool apart = false;
      for (int axis = 0; axis < int(extents[k].size()) && !apart; ++axis) {
        apart = FollowsLoop({accesses[k], accesses[other]}, loop, axis) ||
                IsBelow(extents[k][axis], extents[other][axis]) ||
                IsBelow(extents[other][axis], extents[k][axis]) ||
                AreMirrored(*accesses[k], *accesses[other], loop, axis) ||
                AreMirrored(*accesses[other], *accesses[k], loop, axis);
      }
      if (!apart) return false;
    }
  }
  return true;
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
    return IsOfLoopAlone(of_loop, loop) && SameForm(of_loop, form(lower, second));
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
// of the loop and of those inside it by their ends, the innermost first.
std::optional<LinearForm> LoopIndependence::OutsideOf(LinearForm form, const Binding& loop,
                                                      bool largest) const {
  const VarSet inside = ir::DefinedVars(*loop.blocks[0]);
  for (int left = kMostLoops; left > 0; --left) {
    auto term = form.terms.end();
    for (auto each = form.terms.begin(); each != form.terms.end(); ++each) {
      const bool is_inner = term == form.terms.end() || IsInside(each->first, term->first);
      if (inside.contains(each->first) && is_inner) term = each;
    }
    if (term == form.terms.end()) return form;
    if (std::abs(term->second) > kLargestMultiple) return std::nullopt;
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

// True when every access has the same multiple of the index plus one same amount on the axis, an
// amount that no iteration changes. Multiples of so few wrap around to one place only after 2^48
// iterations.
bool LoopIndependence::FollowsLoop(const std::vector<const Binding*>& accesses, const Binding& loop,
                                   int axis) const {
  const LinearForm first = forms_.Of(accesses[0]->operands[1 + axis]);
  if (!IsOfLoopAlone(first, loop)) return false;
  for (const Binding* access : accesses) {
    if (!SameForm(forms_.Of(access->operands[1 + axis]), first)) return false;
  }
  return true;
}

}  // namespace parakeet::passes
