#include "passes/fusing/choose_rows.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/reduction_lanes.h"
#include "passes/analyses/vector_legality.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

// Code that makes one value a row may cost this much where it leaves the lanes that it had.
constexpr int kCheapBeside = 48;
// A longer nest is not better for being one, and takes long to compile.
constexpr size_t kMostBindings = 16;
constexpr size_t kFarthest = 256;  // Bindings between two that are joined, at most.

bool IsImap(const Binding& b, size_t depth) {
  return b.op == OpCode::kImap && b.operands.size() >= depth;
}

bool SameRows(const Binding& a, const Binding& b, size_t depth) {
  return std::equal(a.operands.begin(), a.operands.begin() + depth, b.operands.begin());
}

// True where the load is at the first `depth` indexes of the imap around it.
bool IsInOwnRow(const Binding& load, const Binding& imap, size_t depth) {
  const std::vector<const Var*>& params = imap.blocks[0]->params;
  return load.operands.size() > depth &&
         std::equal(params.begin(), params.begin() + depth, load.operands.begin() + 1,
                    [](const Var* own, const Operand& index) { return index == Operand(own); });
}

}  // namespace

bool HasRowsOfOne(const Binding& imap, size_t depth) {
  if (imap.operands.size() == depth) return true;
  const std::vector<Operand>& elements = imap.blocks[0]->results;
  return std::all_of(imap.operands.begin() + depth, imap.operands.end(),
                     [](const Operand& extent) { return extent == Operand::Int(1); }) &&
         std::all_of(elements.begin(), elements.end(),
                     [](const Operand& element) { return ir::TypeOf(element).IsScalar(); });
}

VarSet RowsOf(const Binding& imap, size_t depth) {
  VarSet rows;
  for (const Var* result : imap.results) {
    const std::vector<Operand>& dims = result->type.dims();
    const bool is_row = std::any_of(dims.begin() + depth, dims.end(),
                                    [](const Operand& size) { return size != Operand::Int(1); });
    if (is_row) rows.insert(result);
  }
  VarSet inside = ir::DefinedVars(*imap.blocks[0]);
  for (size_t k = 0; k < depth; ++k) inside.erase(imap.blocks[0]->params[k]);
  ir::ForEachBinding(*imap.blocks[0], [&](const Binding& b) {
    if (b.op != OpCode::kLoad || !IsInOwnRow(b, imap, depth)) return;
    const bool moves = std::any_of(b.operands.begin() + 1 + depth, b.operands.end(),
                                   [&](const Operand& o) { return inside.contains(o.var()); });
    if (moves && !inside.contains(b.operands[0].var())) rows.insert(b.operands[0].var());
  });
  return rows;
}

std::string WhyOtherRows(const Binding& imap, const VarSet& made, size_t depth) {
  std::string reason;
  ir::ForEachBinding(*imap.blocks[0], [&](const Binding& b) {
    const auto see = [&](const Operand& operand, std::string_view how) {
      if (operand.IsVar() && made.contains(operand.var()))
        reason = NameOf(operand.var()) + " is read " + std::string(how);
    };
    const bool is_own = b.op == OpCode::kLoad && IsInOwnRow(b, imap, depth);
    for (size_t k = is_own ? 1 : 0; k < b.operands.size(); ++k)
      see(b.operands[k], b.op == OpCode::kLoad ? "in other rows too" : "as a whole");
    for (const Block* block : b.blocks) {
      for (const Operand& result : block->results) see(result, "as a whole");
    }
  });
  for (const Operand& result : imap.blocks[0]->results) {
    if (result.IsVar() && made.contains(result.var()))
      reason = NameOf(result.var()) + " is read as a whole";
  }
  return reason;
}

void RowChooser::Member::Add(const Member& other) {
  bindings.insert(bindings.end(), other.bindings.begin(), other.bindings.end());
  effects.reads.insert(other.effects.reads.begin(), other.effects.reads.end());
  effects.writes.insert(other.effects.writes.begin(), other.effects.writes.end());
  effects.may_fail |= other.effects.may_fail;
  needs.insert(other.needs.begin(), other.needs.end());
  makes.insert(other.makes.begin(), other.makes.end());
  rows.insert(other.rows.begin(), other.rows.end());
}

// Why the other, which stands behind this, does not move before it.
std::string RowChooser::Member::WhyBefore(const Member& other) const {
  if (Intersects(makes, other.needs)) return "it needs what is made of the first as a whole";
  if (Conflict(effects, other.effects)) return "an effect stands between them";
  if (effects.may_fail && !other.effects.reads.empty())
    return "a check between them may guard what it reads";
  return "";
}

bool RowChooser::SharesRows(const Member& a, const Member& b) { return Intersects(a.rows, b.rows); }

// Whether a value is made of a row.
bool RowChooser::Reduces(const RowGroup& group, size_t depth) {
  return std::any_of(group.begin(), group.end(), [&](const Binding* member) {
    if (!IsImap(*member, depth) || !HasRowsOfOne(*member, depth)) return false;
    const std::vector<const Binding*>& element = member->blocks[0]->bindings;
    return std::any_of(element.begin(), element.end(),
                       [](const Binding* b) { return b->op == OpCode::kIreduce; });
  });
}

RowChooser::Member RowChooser::MemberOf(const Binding& b, size_t depth) const {
  Member member;
  member.bindings = {&b};
  member.effects = EffectsOf(b, roots_);
  member.needs = ir::FreeVars(b);
  member.makes.insert(b.results.begin(), b.results.end());
  if (!IsImap(b, depth)) return member;
  member.rows = RowsOf(b, depth);
  member.why_by_itself = WhyByItself(b, member.effects, depth);
  return member;
}

std::string RowChooser::WhyByItself(const Binding& imap, const Effects& effects,
                                    size_t depth) const {
  if (effects.may_fail) return "its elements may raise";
  if (!effects.writes.empty()) return "it stores";
  if (imap.attrs.Int(ir::Attr::kFortran) != 0) return "it lies in Fortran order";
  const bool has_one = std::all_of(imap.operands.begin(), imap.operands.begin() + depth,
                                   [](const Operand& n) { return n == Operand::Int(1); });
  return has_one ? "it has one row" : WhyAcrossRows(imap, depth);
}

// Why the imap does better with lanes that take one of its first indexes, which go along no row.
std::string RowChooser::WhyAcrossRows(const Binding& imap, size_t depth) const {
  const Block& body = *imap.blocks[0];
  const int axis = patterns_.VectorAxis(imap);
  if (axis >= static_cast<int>(depth) || !WhyNotVector(body, body.params[axis]).empty()) return "";
  if (HasRowsOfOne(imap, depth)) {
    if (CostOf(body) <= kCheapBeside) return "";
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kIreduce && WhyNoLanes(*b, &imap, patterns_).empty()) return "";
    }
  }
  return "its lanes go from row to row";
}

std::vector<RowGroup> RowChooser::Choose(const Block& block, size_t depth) {
  const auto is_imap = [&](const Binding* b) { return IsImap(*b, depth); };
  if (std::count_if(block.bindings.begin(), block.bindings.end(), is_imap) < 2) return {};
  std::vector<Member> members;
  for (const Binding* b : block.bindings) members.push_back(MemberOf(*b, depth));
  for (size_t later = 1; later < members.size(); ++later) {
    while (JoinEarlier(members, later, depth)) continue;
  }
  std::vector<RowGroup> groups;
  bool some = false;
  for (Member& member : members) {
    // A GPU gives a row to several threads where it is reduced, and to one where it is not.
    if (context_.options.kernels && !Reduces(member.bindings, depth)) member.is_worth_it = false;
    some |= member.is_worth_it;
    if (member.is_worth_it || member.bindings.size() == 1) {
      groups.push_back(std::move(member.bindings));
    } else {
      for (const Binding* b : member.bindings) groups.push_back({b});
    }
  }
  return some ? groups : std::vector<RowGroup>{};
}

// Joins members[later] to the nearest one before it with which it shares rows, or of which it
// reads; `later` is then where the two stand.
bool RowChooser::JoinEarlier(std::vector<Member>& members, size_t& later, size_t depth) {
  const Member& mover = members[later];
  if (!IsImap(*mover.bindings[0], depth)) return false;
  for (size_t first = later; first-- > 0;) {
    const Member& other = members[first];
    if (!IsImap(*other.bindings[0], depth) ||
        !SameRows(*other.bindings[0], *mover.bindings[0], depth))
      continue;
    const bool shares = SharesRows(other, mover);
    if (!shares && !Intersects(other.makes, mover.needs)) continue;
    const std::string reason = WhyNot(members, first, later, depth);
    if (reason.empty()) {
      later = Join(members, first, later);
      return true;
    }
    if (shares)
      context_.Note(mover.bindings[0]->span,
                    "not fused with what goes over the same rows: " + reason);
  }
  return false;
}

std::string RowChooser::WhyNot(const std::vector<Member>& members, size_t first, size_t later,
                               size_t depth) {
  const Member& other = members[first];
  const Member& mover = members[later];
  if (!mover.why_by_itself.empty()) return mover.why_by_itself;
  if (!other.why_by_itself.empty()) return other.why_by_itself;
  if (other.bindings.size() + mover.bindings.size() > kMostBindings || later - first > kFarthest)
    return "it would be a long traversal";
  for (const Binding* imap : mover.bindings) {
    const std::string reason = WhyOtherRows(*imap, other.makes, depth);
    if (!reason.empty()) return reason;
  }
  Member between;
  for (const size_t k : BehindFirst(members, first, later)) between.Add(members[k]);
  return between.WhyBefore(mover);
}

// Of the members between the two, those that stay behind the first: they need what it makes, or
// what another of them does.
std::vector<size_t> RowChooser::BehindFirst(const std::vector<Member>& members, size_t first,
                                            size_t later) {
  std::vector<size_t> behind;
  Member before;
  before.Add(members[first]);
  for (size_t k = first + 1; k < later; ++k) {
    if (before.WhyBefore(members[k]).empty()) continue;
    before.Add(members[k]);
    behind.push_back(k);
  }
  return behind;
}

// Puts the two, as one, between what needs nothing of the first and what does. Returns the place.
size_t RowChooser::Join(std::vector<Member>& members, size_t first, size_t later) {
  const std::vector<size_t> behind = BehindFirst(members, first, later);
  Member joined = std::move(members[first]);
  joined.is_worth_it |= members[later].is_worth_it || SharesRows(joined, members[later]);
  joined.Add(members[later]);
  std::vector<Member> before;
  std::vector<Member> after;
  for (size_t k = first + 1; k < later; ++k) {
    const bool stays = std::binary_search(behind.begin(), behind.end(), k);
    (stays ? after : before).push_back(std::move(members[k]));
  }
  const size_t place = first + before.size();
  std::move(before.begin(), before.end(), members.begin() + first);
  members[place] = std::move(joined);
  std::move(after.begin(), after.end(), members.begin() + place + 1);
  members.erase(members.begin() + later);
  return place;
}

}  // namespace parakeet::passes
