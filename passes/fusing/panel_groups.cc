#include "passes/fusing/panel_groups.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/scan_costs.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

constexpr size_t kMostBetween = 32;  // Bindings between two members of a group.
// What takes so many cycles an element is no sooner done where memory is read once.
constexpr int kDearElement = 100;
// Beside a scan, one thread makes what several would: little.
constexpr int64_t kQuickStep = 8;
constexpr int kDearBesideScan = 12;

using Bindings = std::vector<const Binding*>;
// Calls `see` with each array that the binding's blocks take, and the indexes where they load or
// store an element of it: none where they take it as a whole.
void ForEachAccess(const Binding& b,
                   const std::function<void(const Var*, const std::vector<Operand>&)>& see) {
  ir::ForEachBinding(*b.blocks[0], [&](const Binding& inner) {
    const bool is_element = inner.op == OpCode::kLoad || inner.op == OpCode::kStore;
    for (const Operand& operand : inner.operands) {
      if (!operand.IsVar() || !operand.var()->type.IsArray()) continue;
      see(operand.var(),
          is_element ? std::vector<Operand>(inner.operands.begin() + 1, inner.operands.end())
                     : std::vector<Operand>());
    }
  });
}

bool IsMapOrForeach(const Binding& b) { return b.op == OpCode::kImap || b.op == OpCode::kForeach; }

bool IsScalarCode(const Block& block) {
  return std::all_of(block.bindings.begin(), block.bindings.end(), [](const Binding* b) {
    return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
  });
}

bool YieldsScalars(const Block& block) {
  return std::all_of(block.results.begin(), block.results.end(),
                     [](const Operand& result) { return ir::TypeOf(result).IsScalar(); });
}

bool HasLoops(const Block& block) {
  bool loops = false;
  ir::ForEachBinding(block, [&](const Binding& b) {
    loops |= b.op == OpCode::kFor || b.op == OpCode::kWhile || b.op == OpCode::kCall;
  });
  return loops;
}

// Of numbers, each combined by one operation, and of elements made by scalar code.
bool IsSum(const Binding& b) {
  for (size_t k = 0; k < b.results.size(); ++k) {
    if (!SumIdentity(b, k)) return false;
  }
  return YieldsScalars(*b.blocks[1]) && IsScalarCode(*b.blocks[0]);
}

// Whether the element reads what the nest around makes for it.
bool IsOfBody(const Block& element, const Block& body) {
  VarSet made = ir::DefinedVars(body);
  for (const Var* param : body.params) made.erase(param);
  const VarSet read = ir::FreeVars(element);
  return std::any_of(read.begin(), read.end(), [&](const Var* v) { return made.contains(v); });
}

bool BeginsWith(const std::vector<Operand>& indexes, const std::vector<const Var*>& params,
                size_t depth) {
  return indexes.size() >= depth &&
         std::equal(params.begin(), params.begin() + depth, indexes.begin(),
                    [](const Var* own, const Operand& index) { return index == Operand(own); });
}

bool HasScan(const PanelGroup& group) {
  return std::any_of(group.members.begin(), group.members.end(),
                     [](const Binding* b) { return b->op == OpCode::kIscan; });
}

bool AreCheapBesideScan(const PanelGroup& group) {
  return std::all_of(group.members.begin(), group.members.end(), [](const Binding* b) {
    return b->op == OpCode::kIscan || CostOf(*b->blocks[0]) <= kDearBesideScan;
  });
}

bool Uses(const VarSet& needs, const VarSet& made) {
  return std::any_of(made.begin(), made.end(), [&](const Var* v) { return needs.contains(v); });
}

// The roots and the widest element of the arrays that the block loads at just these indexes.
void AddMatrix(const Block& block, const std::vector<const Var*>& indexes, const Roots& roots,
               PanelGroup& group) {
  for (const Binding* b : block.bindings) {
    if (b->op != OpCode::kLoad || b->operands.size() != indexes.size() + 1) continue;
    if (!BeginsWith({b->operands.begin() + 1, b->operands.end()}, indexes, indexes.size()))
      continue;
    const VarSet& of = roots.Of(b->operands[0].var());
    group.matrix.insert(of.begin(), of.end());
    const int64_t bytes = ir::SizeInBytes(b->result()->type.dtype());
    group.bytes = std::max(group.bytes, bytes);
  }
}

}  // namespace

std::optional<ir::Constant> SumIdentity(const Binding& sum, size_t result) {
  const auto op = ir::CombineOp(*sum.blocks[1], static_cast<int>(result));
  return op ? ir::IdentityOf(*op, sum.results[result]->type.dtype()) : std::nullopt;
}

const Binding* PanelGrouper::SumOfColumns(const Binding& nest) const {
  if (!IsMapOrForeach(nest) || nest.operands.size() != 1) return nullptr;
  const Block& body = *nest.blocks[0];
  const Binding* sum = nullptr;
  for (const Binding* b : body.bindings) {
    if (b->op == OpCode::kIreduce && sum == nullptr) {
      sum = b;
    } else if (!ir::IsScalarOp(b->op) && b->op != OpCode::kLoad && b->op != OpCode::kStore) {
      return nullptr;
    }
  }
  const bool fits = sum != nullptr && sum->blocks[0]->params.size() == 1 && IsSum(*sum) &&
                    !IsOfBody(*sum->blocks[0], body) &&
                    patterns_.UnitStrides(*sum->blocks[0], body.params[0]) > 0;
  return fits ? sum : nullptr;
}

const PanelGrouper::Deeds& PanelGrouper::DeedsOf(const Binding& b) {
  const auto [known, is_new] = deeds_.try_emplace(&b);
  if (is_new) known->second = {EffectsOf(b, roots_), ir::FreeVars(b)};
  return known->second;
}

PanelGroup PanelGrouper::ColumnsOf(const Binding& nest, const Binding& sum) const {
  PanelGroup group{{&nest}, {}, {sum.operands[0]}, nest.operands[0]};
  AddMatrix(*sum.blocks[0], {sum.blocks[0]->params[0], nest.blocks[0]->params[0]}, roots_, group);
  return group;
}

// Of a reduction of all elements of a matrix, by scalar code.
PanelGroup PanelGrouper::SpaceOf(const Binding& total) const {
  const Block& element = *total.blocks[0];
  const std::vector<const Var*>& params = element.params;
  PanelGroup group{{&total}, {}, {}, std::nullopt};
  if (params.empty() || !IsScalarCode(element) || !YieldsScalars(element)) return group;
  group.rows = {total.operands.begin(), total.operands.begin() + params.size()};
  if (params.size() > 1) {
    group.columns = group.rows.back();
    group.rows.pop_back();
    if (patterns_.UnitStrides(element, params.back()) == 0) return group;
  }
  AddMatrix(element, params, roots_, group);
  return group;
}

// Of a scan that few threads make no sooner than one does, of numbers combined by one operation.
PanelGroup PanelGrouper::PrefixesOf(const Binding& scan) const {
  const Block& element = *scan.blocks[0];
  PanelGroup group{{&scan}, {}, {scan.operands[0]}, std::nullopt};
  const bool is_cheap = MayGoInOrder(scan) || StepCost(scan) <= kQuickStep;
  if (element.params.size() != 1 || !IsSum(scan) || !is_cheap || scan.attrs.Int(Attr::kOver) != 0)
    return group;
  AddMatrix(element, element.params, roots_, group);
  group.matrix.insert(scan.results.begin(), scan.results.end());
  return group;
}

PanelGroup PanelGrouper::SeedOf(const Binding& b) const {
  if (b.op == OpCode::kIreduce) return SpaceOf(b);
  if (b.op == OpCode::kIscan) return PrefixesOf(b);
  const Binding* sum = SumOfColumns(b);
  return sum == nullptr ? PanelGroup{} : ColumnsOf(b, *sum);
}

std::vector<PanelGroup> PanelGrouper::Find(Bindings& bindings) {
  std::vector<PanelGroup> groups;
  for (size_t at = 0; at < bindings.size(); ++at) {
    if (grouped_.contains(bindings[at])) continue;
    PanelGroup group = SeedOf(*bindings[at]);
    if (group.matrix.empty()) continue;
    const std::vector<size_t> places = Grow(bindings, at, group);
    group.members.clear();
    for (const size_t place : places) group.members.push_back(bindings[place]);
    if (!IsWorthwhile(group)) continue;
    const auto order = InOrder(bindings, places);
    std::copy(order->begin(), order->end(), bindings.begin() + places.front());
    grouped_.insert(group.members.begin(), group.members.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

// What takes one scan's prefixes element by element is written with it (prefix_readers.h).
bool PanelGrouper::IsWorthwhile(const PanelGroup& group) const {
  const auto count = [&](OpCode op) {
    return std::count_if(group.members.begin(), group.members.end(),
                         [&](const Binding* b) { return b->op == op; });
  };
  const auto scans = count(OpCode::kIscan), totals = count(OpCode::kIreduce);
  if (scans > 0) return scans + totals > 1;
  return group.members.size() > 1 && totals < static_cast<int64_t>(group.members.size());
}

// Takes in what stands before and behind, as far as the order of what is done allows: the places of
// all members.
std::vector<size_t> PanelGrouper::Grow(const Bindings& bindings, size_t at, PanelGroup& group) {
  std::vector<size_t> places = {at};
  size_t between = 0;
  for (size_t k = at; k-- > 0 && between < kMostBetween;) {
    if (Joins(bindings, places, k, group)) {
      places.insert(places.begin(), k);
      Add(*bindings[k], group);
    } else {
      ++between;
    }
  }
  between = 0;
  for (size_t k = at + 1; k < bindings.size() && between < kMostBetween; ++k) {
    if (Joins(bindings, places, k, group)) {
      places.push_back(k);
      Add(*bindings[k], group);
    } else {
      ++between;
    }
  }
  return places;
}

// What scans make is taken as it is made, and so is what they are made of.
void PanelGrouper::Add(const Binding& b, PanelGroup& group) const {
  group.members.push_back(&b);
  if (b.op == OpCode::kIscan) group.matrix.merge(SeedOf(b).matrix);
}

bool PanelGrouper::Joins(const Bindings& bindings, const std::vector<size_t>& places, size_t at,
                         const PanelGroup& group) {
  if (grouped_.contains(bindings[at]) || !Fits(*bindings[at], group)) return false;
  std::vector<size_t> all = places;
  all.insert(at < places.front() ? all.begin() : all.end(), at);
  return std::all_of(places.begin(), places.end(),
                     [&](size_t place) {
                       return GoTogether(*bindings[std::min(at, place)],
                                         *bindings[std::max(at, place)], group);
                     }) &&
         InOrder(bindings, all).has_value();
}

// The bindings from the first to the last of these places, with those at the places side by side:
// what needs one of them behind all. Nothing where that cannot be.
std::optional<Bindings> PanelGrouper::InOrder(const Bindings& bindings,
                                              const std::vector<size_t>& places) {
  Bindings before, members, behind;
  VarSet made, made_behind;
  Effects done, done_behind;
  const auto add = [](const Effects& effects, Effects& all) {
    all.reads.insert(effects.reads.begin(), effects.reads.end());
    all.writes.insert(effects.writes.begin(), effects.writes.end());
    all.may_fail |= effects.may_fail;
  };
  for (size_t k = places.front(); k <= places.back(); ++k) {
    const Binding* b = bindings[k];
    const Deeds& deeds = DeedsOf(*b);
    const bool is_guarded = done_behind.may_fail && !deeds.effects.reads.empty();
    const bool follows =
        is_guarded || Uses(deeds.needs, made_behind) || Conflict(deeds.effects, done_behind);
    if (std::binary_search(places.begin(), places.end(), k)) {
      if (follows) return std::nullopt;
      members.push_back(b);
      made.insert(b->results.begin(), b->results.end());
      add(deeds.effects, done);
    } else if (follows || Uses(deeds.needs, made) || Conflict(deeds.effects, done)) {
      if (grouped_.contains(b)) return std::nullopt;
      behind.push_back(b);
      made_behind.insert(b->results.begin(), b->results.end());
      add(deeds.effects, done_behind);
    } else {
      before.push_back(b);
    }
  }
  before.insert(before.end(), members.begin(), members.end());
  before.insert(before.end(), behind.begin(), behind.end());
  return before;
}

// Whether it goes through the rows of the group's matrix, sums its columns or all of it.
bool PanelGrouper::Fits(const Binding& b, const PanelGroup& group) {
  if (ir::IsFortran(b)) return false;
  if (b.op == OpCode::kIscan && !AreCheapBesideScan(group)) return false;
  if (b.op == OpCode::kIreduce || b.op == OpCode::kIscan || SumOfColumns(b) != nullptr) {
    if (HasScan(group) && b.op == OpCode::kIreduce && CostOf(*b.blocks[0]) > kDearBesideScan)
      return false;
    const PanelGroup other = SeedOf(b);
    return other.rows == group.rows && other.columns == group.columns &&
           Intersects(other.matrix, group.matrix);
  }
  return IsMapOrForeach(b) && GoesByRows(b, group);
}

bool PanelGrouper::GoesByRows(const Binding& nest, const PanelGroup& group) {
  const size_t depth = group.rows.size();
  if (nest.operands.size() < depth ||
      !std::equal(group.rows.begin(), group.rows.end(), nest.operands.begin()))
    return false;
  const Block& body = *nest.blocks[0];
  const Effects& effects = DeedsOf(nest).effects;
  const bool has_columns = SumOfColumns(*group.members[0]) != nullptr;
  if (effects.may_fail || !YieldsScalars(body) || (!has_columns && HasLoops(body))) return false;
  const auto holds_block = [](const Binding* b) {
    return !b->blocks.empty() && b->op != OpCode::kIf;
  };
  const bool has_operators = std::any_of(body.bindings.begin(), body.bindings.end(), holds_block);
  if (!group.columns && (nest.operands.size() > 1 || has_operators || CostOf(body) >= kDearElement))
    return false;
  bool touches = Intersects(effects.writes, group.matrix) ||
                 std::any_of(nest.results.begin(), nest.results.end(),
                             [&](const Var* made) { return group.matrix.contains(made); });
  ForEachAccess(nest, [&](const Var* array, const std::vector<Operand>& at) {
    touches |= BeginsWith(at, body.params, depth) && Intersects(roots_.Of(array), group.matrix);
  });
  return touches;
}

// Whether a panel of `later` may be made behind the same panel of `before`, and before the next one
// of that.
bool PanelGrouper::GoTogether(const Binding& before, const Binding& later,
                              const PanelGroup& group) {
  const Effects &first = DeedsOf(before).effects, &second = DeedsOf(later).effects;
  VarSet shared(before.results.begin(), before.results.end());
  if (before.op == OpCode::kIreduce || SumOfColumns(before) != nullptr)
    return !Uses(DeedsOf(later).needs, shared) && !Conflict(first, second);
  if (Intersects(first.reads, second.writes)) return false;
  shared.insert(first.writes.begin(), first.writes.end());
  const size_t depth = group.rows.size();
  return IsByRow(before, shared, depth) && IsByRow(later, shared, depth);
}

// Whether all that the binding does to these arrays is to load and store elements of its own row.
bool PanelGrouper::IsByRow(const Binding& b, const VarSet& arrays, size_t depth) const {
  const Binding* sum = SumOfColumns(b);
  const std::vector<const Var*>& params = (sum == nullptr ? b : *sum).blocks[0]->params;
  bool is_by_row = true;
  ForEachAccess(b, [&](const Var* array, const std::vector<Operand>& at) {
    is_by_row &= BeginsWith(at, params, depth) || !Intersects(roots_.Of(array), arrays);
  });
  return is_by_row;
}

}  // namespace parakeet::passes
