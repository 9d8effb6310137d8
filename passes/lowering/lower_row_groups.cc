#include "passes/lowering/lower_row_groups.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/reduction_lanes.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kThreads = kRowThreads;
constexpr int64_t kWarp = 32;
// Of a thread: it asks for all that it reads there before it uses any.
constexpr int64_t kPlaces = kRowPlaces;
constexpr size_t kMostRows = 4;
// Operators that cost more are not written out for each place, nor more accumulators shared.
constexpr int kDearOperators = 250;
constexpr int64_t kMostTotalBytes = 64;

bool IsOperator(const Binding& b) {
  return b.op == OpCode::kImap || b.op == OpCode::kForeach || b.op == OpCode::kIreduce;
}

bool IsPlain(const Binding& b) {
  return ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
         b.op == OpCode::kIf;
}

// Operators of scalar code among scalar code.
bool IsPlain(const Block& body) {
  bool is_plain = true;
  for (const Binding* b : body.bindings) {
    is_plain &= IsOperator(*b) || (IsPlain(*b) && b->op != OpCode::kIf);
    for (const Block* inner : b->blocks)
      ir::ForEachBinding(*inner, [&](const Binding& i) { is_plain &= IsPlain(i); });
  }
  return is_plain && std::none_of(body.results.begin(), body.results.end(),
                                  [](const Operand& r) { return ir::TypeOf(r).IsArray(); });
}

bool HasKnownSizes(const Block& body) {
  const ir::VarSet inside = ir::DefinedVars(body);
  return std::all_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
    const size_t indices = IsOperator(*b) ? b->blocks[0]->params.size() : 0;
    return std::none_of(b->operands.begin(), b->operands.begin() + indices,
                        [&](const Operand& size) { return inside.contains(size.var()); });
  });
}

// Whether the threads of a group may be anywhere in the element at a time: nobody reads what
// another stores, and each array is stored in one place.
bool StoresApart(const Block& body, const CachedRows& rows, const Roots& roots) {
  const auto is_kept = [&](const Var* array) {
    return std::any_of(rows.rows.begin(), rows.rows.end(),
                       [&](const CachedRow& row) { return row.array == array; });
  };
  std::vector<const Var*> touched;
  std::vector<const Var*> stored;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
    const Var* array = b.operands[0].var();
    if (is_kept(array)) return;
    touched.push_back(array);
    if (b.op == OpCode::kStore) stored.push_back(array);
  });
  return std::all_of(stored.begin(), stored.end(), [&](const Var* array) {
    return std::count_if(touched.begin(), touched.end(),
                         [&](const Var* other) { return roots.MayShare(array, other); }) == 1;
  });
}

std::vector<std::vector<const Binding*>> PhasesOf(const Block& body) {
  std::vector<std::vector<const Binding*>> phases(1);
  for (const Binding* b : body.bindings) {
    phases.back().push_back(b);
    if (b->op == OpCode::kIreduce) phases.emplace_back();
  }
  return phases;
}

}  // namespace

CachedRows RowGroupLowering::KeptRows(const Binding& nest) {
  const auto is_peeled = [&](const Binding& b) { return Describe(b).starts.empty(); };
  return FindCachedRows(nest, roots(), is_peeled, kMostRows);
}

Operand RowGroupLowering::LongestRow(const Binding& nest) {
  Operand longest = Int(1);
  for (const Binding* b : nest.blocks[0]->bindings) {
    if (!IsOperator(*b)) continue;
    const size_t indices = b->blocks[0]->params.size();
    const Operands sizes(b->operands.begin(), b->operands.begin() + indices);
    longest = Max(longest, Product(Apply(sizes)));
  }
  return longest;
}

const CachedRow* RowGroupLowering::KeptOf(const Var* array) const {
  const std::vector<CachedRow>& rows = group_->rows.rows;
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const CachedRow& r) { return r.array == array; });
  return found == rows.end() ? nullptr : &*found;
}

bool RowGroupLowering::FitsRegisters(const Binding& nest, const CachedRows& rows) {
  const int64_t width = RowNeighbours(nest);
  int64_t bytes = 0;
  int cost = 0;
  for (const Binding* b : rows.operators) {
    cost += CostOf(*b->blocks[0]);
    for (const Var* result : b->results) {
      const bool is_kept = std::any_of(rows.rows.begin(), rows.rows.end(),
                                       [&](const CachedRow& row) { return row.array == result; });
      if (b->op == OpCode::kImap && !is_kept) return false;
      if (b->op == OpCode::kIreduce) bytes += ir::SizeInBytes(result->type.dtype());
    }
    if (b->op != OpCode::kIreduce) continue;
    const Reduction r = Describe(*b);
    const bool along_memory = b->attrs.Int(Attr::kLanes, 1) > 1;
    const bool is_wide = b->attrs.Int(Attr::kStep, 1) == width;
    if (!along_memory || !is_wide || (r.starts.empty() && !r.inits.empty())) return false;
  }
  return bytes > 0 && bytes <= kMostTotalBytes && cost <= kDearOperators &&
         StoresApart(*nest.blocks[0], rows, roots());
}

std::optional<Operand> RowGroupLowering::WorthGroups(const Binding& nest) {
  const Block& body = *nest.blocks[0];
  const bool is_fit = IsPlain(body) && HasKnownSizes(body) && FitsRegisters(nest, KeptRows(nest));
  if (!is_fit) return std::nullopt;
  return builder().Scalar(OpCode::kLe, {LongestRow(nest), Int(kThreads * kPlaces)});
}

RowGroupLowering::Group RowGroupLowering::GroupOf(const Binding& nest, const Operands& extents) {
  Group group{nest, RadixOf(extents), RowNeighbours(nest), Int(kThreads), Int(8), Product(extents)};
  group.nest.blocks = {ir::CloneBlock(arena(), *nest.blocks[0])};
  group.rows = KeptRows(group.nest);
  const Operand longest = LongestRow(nest);
  int64_t bits = 7;
  for (int64_t threads = kThreads / 2; threads > 0; threads /= 2, --bits) {
    const Operand fits = builder().Scalar(OpCode::kLe, {longest, Int(threads * kPlaces)});
    group.threads = builder().Scalar(OpCode::kSelect, {fits, Int(threads), group.threads});
    group.bits = builder().Scalar(OpCode::kSelect, {fits, Int(bits), group.bits});
  }
  return group;
}

void RowGroupLowering::WriteGroups(const Binding& nest, const Operands& extents,
                                   const Finish& finish) {
  group_ = GroupOf(nest, extents);
  const Operand each = builder().Scalar(OpCode::kShr, {Int(kThreads), group_->bits});
  Blocks(CeilDiv(group_->elements, each), [&](const Operand& block) {
    AllocateAll();
    WriteGroup(builder().Mul(block, each), finish);
  });
  staged_.clear();
  totals_.clear();
  group_.reset();
}

// --- What threads have of their own ---

const Var* RowGroupLowering::AllocateOwn(ir::DType dtype, int64_t each) {
  Operands dims = {Int(kThreads)};
  if (each > 1) dims.push_back(Int(each));
  return builder().EmitOne(OpCode::kAlloc, ir::Type::Array(dtype, dims), dims,
                           Attributes{{Attr::kPrivate, int64_t{1}}}, {}, "own");
}

void RowGroupLowering::AllocateAll() {
  kept_rows_.clear();
  for (const ir::DType dtype : group_->rows.buffers)
    kept_rows_.push_back(AllocateOwn(dtype, kPlaces));
  for (size_t k = 0; k < group_->rows.operators.size(); ++k) {
    const Binding& b = *group_->rows.operators[k];
    staged_[&b] = Stage(b, k);
    if (b.op != OpCode::kIreduce) continue;
    Totals totals{{}, {}, AllocateParts(b, Int(kThreads))};
    for (const Var* result : b.results) {
      totals.own.push_back(AllocateOwn(result->type.dtype(), 1));
      totals.next.push_back(AllocateOwn(result->type.dtype(), 1));
    }
    totals_[&b] = totals;
  }
}

// At the operator's index along what surely lies side by side.
bool RowGroupLowering::IsOfRow(const Binding& access, const Block& body) const {
  const size_t last = access.operands[0].var()->type.rank();
  const ir::VarSet inside = ir::DefinedVars(body);
  for (size_t axis = 1; axis < last; ++axis)
    if (inside.contains(access.operands[axis].var())) return false;
  return body.params.size() == 1 && access.operands[last] == Operand(body.params[0]) &&
         patterns_.LiesNext(access, body.params[0]);
}

RowGroupLowering::StagedAccesses RowGroupLowering::Stage(const Binding& b, size_t number) {
  StagedAccesses staged;
  const Block& body = *b.blocks[0];
  for (size_t at = 0; at < body.bindings.size(); ++at) {
    const Binding& access = *body.bindings[at];
    if (access.op != OpCode::kLoad && access.op != OpCode::kStore) continue;
    const Var* array = access.operands[0].var();
    if (const CachedRow* row = KeptOf(array)) {
      const bool brings = row->brings && row->first == CachedRow::Access{number, at};
      const bool in_memory = access.op == OpCode::kLoad ? brings : number == row->last_store;
      staged[at] = {&access, kept_rows_[row->buffer], in_memory};
    } else if (IsOfRow(access, body)) {
      staged[at] = {&access, AllocateOwn(array->type.dtype(), kPlaces), true};
    }
  }
  return staged;
}

// --- An element ---

// Phase by phase, each a loop of the threads.
void RowGroupLowering::WriteGroup(const Operand& first, const Finish& finish) {
  const Block& body = *group_->nest.blocks[0];
  const std::vector<Phase> phases = PhasesOf(body);
  kept_scalars_.clear();
  for (size_t p = 0; p < phases.size(); ++p) {
    const bool is_last = p + 1 == phases.size();
    const KeptScalars kept = AllocateScalars(phases, p);
    WarpThreads(kThreads, [&](const Operand& thread) {
      Begin(first, thread);
      if (p > 0) TakeTotal(*phases[p - 1].back());
      for (const Binding* b : phases[p]) WriteInPhase(*b);
      for (const auto& [value, array] : kept) builder().Store(array, {thread}, Apply(value));
      if (is_last && !body.results.empty()) ByFirst([&] { finish(element_, Apply(body.results)); });
    });
    kept_scalars_.insert(kept_scalars_.end(), kept.begin(), kept.end());
    if (!is_last) CombineThreads(*phases[p].back());
  }
}

RowGroupLowering::KeptScalars RowGroupLowering::AllocateScalars(const std::vector<Phase>& phases,
                                                                size_t phase) {
  ir::VarSet wanted;
  const auto want = [&](const Operands& operands) {
    for (const Operand& operand : operands)
      if (operand.IsVar()) wanted.insert(operand.var());
  };
  for (size_t later = phase + 1; later < phases.size(); ++later)
    for (const Binding* b : phases[later]) wanted.merge(ir::FreeVars(*b));
  want(group_->nest.blocks[0]->results);
  std::vector<const Var*> made;
  if (phase > 0) made = phases[phase - 1].back()->results;
  for (const Binding* b : phases[phase]) {
    if (b->op == OpCode::kIreduce) want(b->operands);  // Its inits enter behind it.
    if (!IsOperator(*b)) made.insert(made.end(), b->results.begin(), b->results.end());
  }
  KeptScalars kept;
  for (const Var* value : made) {
    const bool is_kept = wanted.contains(value) && phase + 1 < phases.size();
    if (is_kept) kept.emplace_back(value, AllocateOwn(value->type.dtype(), 1));
  }
  return kept;
}

// What every thread knows at the beginning of a phase. Groups beyond the last element make that
// again, and store nothing.
void RowGroupLowering::Begin(const Operand& first, const Operand& thread) {
  const Operand number =
      builder().Add(first, builder().Scalar(OpCode::kShr, {thread, group_->bits}));
  thread_ = thread;
  lane_ = builder().Scalar(OpCode::kAnd, {thread, builder().Sub(group_->threads, Int(1))});
  is_element_ = builder().Scalar(OpCode::kLt, {number, group_->elements});
  element_ = IndexOf(Min(number, builder().Sub(group_->elements, Int(1))), group_->place);
  const std::vector<const Var*>& params = group_->nest.blocks[0]->params;
  for (size_t k = 0; k < params.size(); ++k) Replace(params[k], element_[k]);
  for (const auto& [value, array] : kept_scalars_) Replace(value, builder().Load(array, {thread}));
}

void RowGroupLowering::WriteInPhase(const Binding& b) {
  switch (b.op) {
    case OpCode::kIreduce: return FoldPlaces(b);
    case OpCode::kImap:
    case OpCode::kForeach: return MapPlaces(b);
    case OpCode::kStore: return ByFirst([&] { Mutator::Visit(&b); });
    default: return Mutator::Visit(&b);
  }
}

void RowGroupLowering::ByFirst(const std::function<void()>& write) {
  const Operand is_first = builder().Scalar(OpCode::kEq, {lane_, Int(0)});
  If(builder().Scalar(OpCode::kAnd, {is_element_, is_first}), write);
}

// What is staged does not come here: stores of the threads that have something to store.
bool RowGroupLowering::VisitInGroup(const Binding& b) {
  if (!group_ || b.op != OpCode::kStore) return false;
  If(stores_, [&] { Mutator::Visit(&b); });
  return true;
}

void RowGroupLowering::EachNeighbours(const Operands& extents,
                                      const std::function<void(const Neighbours&)>& write) {
  const Operand size = Product(extents);
  const Operand own = builder().Mul(lane_, Int(group_->width));
  for (int64_t place = 0; place < kPlaces; place += group_->width) {
    const Operand before = builder().Mul(group_->threads, Int(place));
    write({place, builder().Add(before, own), size});
  }
}

Operand RowGroupLowering::IsInside(const Neighbours& at, int64_t k) {
  return builder().Scalar(OpCode::kLt, {builder().Add(at.first, Int(k)), at.size});
}

// What the operator reads or stores, between memory and the thread's own arrays: all of it is asked
// for before any is used.
void RowGroupLowering::Move(OpCode op, const Binding& b, const Operands& extents) {
  const auto& bindings = b.blocks[0]->bindings;
  EachNeighbours(extents, [&](const Neighbours& at) {
    for (size_t k = 0; k < bindings.size(); ++k) {
      const auto found = staged_.at(&b).find(k);
      if (found == staged_.at(&b).end() || !found->second.in_memory || bindings[k]->op != op)
        continue;
      const auto move = [&] { MoveStaged(found->second, *b.blocks[0], at); };
      op == OpCode::kLoad ? move() : If(is_element_, move);
    }
  });
}

// Neighbours as one where all of them are there.
void RowGroupLowering::MoveStaged(const Staged& staged, const Block& body, const Neighbours& at) {
  const auto one_by_one = [&] {
    If(IsInside(at, 0), [&] {
      for (int64_t k = 0; k < group_->width; ++k) MoveOne(staged, at, k);
    });
    return Operands{};
  };
  if (group_->width == 1 || !IsOfRow(*staged.access, body)) return void(one_by_one());
  const auto as_one = [&] {
    MoveAsOne(staged, at);
    return Operands{};
  };
  Choose(IsInside(at, group_->width - 1), as_one, one_by_one);
}

RowGroupLowering::Operands RowGroupLowering::PlaceInMemory(const Binding& access,
                                                           const Operand& last) {
  const size_t rank = access.operands[0].var()->type.rank();
  Operands place = Apply(Operands(access.operands.begin() + 1, access.operands.begin() + rank));
  place.push_back(last);
  return place;
}

void RowGroupLowering::MoveAsOne(const Staged& staged, const Neighbours& at) {
  const bool brings = staged.access->op == OpCode::kLoad;
  const Operand array = Apply(staged.access->operands[0]);
  Operands memory = PlaceInMemory(*staged.access, at.first);
  Operands own = {thread_, Int(at.place)};
  const Attributes along_own{{Attr::kAxis, int64_t{1}}};
  const Attributes along_memory{{Attr::kAxis, int64_t(memory.size()) - 1}};
  memory.insert(memory.begin(), array);
  own.insert(own.begin(), staged.own);
  const ir::Type type = ir::Type::Vector(ir::DTypeOf(array), int(group_->width));
  const Var* lanes = builder().EmitOne(OpCode::kLoadLanes, type, brings ? memory : own,
                                       brings ? along_memory : along_own);
  Operands to = brings ? own : memory;
  to.push_back(lanes);
  builder().Emit(OpCode::kStoreLanes, {}, to, brings ? along_own : along_memory);
}

// Beyond the end of the row, the last element is brought again, and nothing is stored.
void RowGroupLowering::MoveOne(const Staged& staged, const Neighbours& at, int64_t k) {
  const Operand array = Apply(staged.access->operands[0]);
  const Operand place = builder().Add(at.first, Int(k));
  const Operands own = {thread_, Int(at.place + k)};
  if (staged.access->op == OpCode::kStore) {
    return If(IsInside(at, k), [&] {
      builder().Store(array, PlaceInMemory(*staged.access, place), builder().Load(staged.own, own));
    });
  }
  const Operand there = k == 0 ? place : Min(place, builder().Sub(at.size, Int(1)));
  builder().Store(staged.own, own, builder().Load(array, PlaceInMemory(*staged.access, there)));
}

RowGroupLowering::Operands RowGroupLowering::WriteNeighbour(const Binding& b,
                                                            const Operands& extents,
                                                            const Neighbours& at, int64_t k,
                                                            bool is_inside) {
  const Operand place = builder().Add(at.first, Int(k));
  const Operand last = builder().Sub(at.size, Int(1));
  const Operands index = Delinear(is_inside ? place : Min(place, last), extents);
  stores_ = builder().Scalar(OpCode::kAnd, {is_element_, IsInside(at, k)});
  const Block& body = *ir::CloneBlock(arena(), *b.blocks[0]);
  for (size_t p = 0; p < body.params.size(); ++p) Replace(body.params[p], index[p]);
  const Operands own_place = {thread_, Int(at.place + k)};
  for (size_t n = 0; n < body.bindings.size(); ++n) {
    const Binding& inner = *body.bindings[n];
    const auto staged = staged_.at(&b).find(n);
    if (staged == staged_.at(&b).end()) {
      Visit(&inner);
    } else if (inner.op == OpCode::kStore) {
      builder().Store(staged->second.own, own_place, Apply(inner.operands.back()));
    } else {
      Replace(inner.result(), builder().Load(staged->second.own, own_place, inner.result()->hint));
    }
  }
  return Apply(body.results);
}

void RowGroupLowering::FoldPlaces(const Binding& reduction) {
  const Reduction r = Describe(reduction);
  const Operands start = r.starts.empty()
                             ? ReductionLowering::Element(r, Operands(r.extents.size(), Int(0)))
                             : r.starts;
  std::vector<Operands> sums;
  Move(OpCode::kLoad, reduction, r.extents);
  const auto fold = [&](const Neighbours& at, bool all_inside) {
    Operands sum = start;
    for (int64_t k = 0; k < group_->width; ++k) {
      const bool is_inside = all_inside || k == 0;
      const Operands next = Combine(r, sum, WriteNeighbour(reduction, r.extents, at, k, is_inside));
      for (size_t n = 0; n < sum.size(); ++n) {
        sum[n] = is_inside ? next[n]
                           : builder().Scalar(OpCode::kSelect, {IsInside(at, k), next[n], sum[n]});
      }
    }
    return sum;
  };
  EachNeighbours(r.extents, [&](const Neighbours& at) {
    const auto some = [&] {
      return Choose(IsInside(at, 0), [&] { return fold(at, false); }, [&] { return start; });
    };
    const bool is_one = group_->width == 1;
    sums.push_back(
        is_one ? some()
               : Choose(IsInside(at, group_->width - 1), [&] { return fold(at, true); }, some));
  });
  Move(OpCode::kStore, reduction, r.extents);
  StoreAll(totals_.at(&reduction).own, thread_, CombineHalves(r, std::move(sums)));
}

void RowGroupLowering::MapPlaces(const Binding& b) {
  const Operands extents = Apply(b.operands);
  Move(OpCode::kLoad, b, extents);
  EachNeighbours(extents, [&](const Neighbours& at) {
    If(IsInside(at, 0), [&] {
      for (int64_t k = 0; k < group_->width; ++k) {
        const Operands values = WriteNeighbour(b, extents, at, k, k == 0);
        for (size_t n = 0; n < values.size(); ++n)
          builder().Store(kept_rows_[KeptOf(b.results[n])->buffer], {thread_, Int(at.place + k)},
                          values[n]);
      }
    });
  });
  Move(OpCode::kStore, b, extents);
}

// --- What the threads of a group make together ---

// Where a group is of several warps, each of them combines what its threads' numbers have in all.
void RowGroupLowering::CombineThreads(const Binding& reduction) {
  const Reduction r = Describe(reduction);
  const Totals& totals = totals_.at(&reduction);
  const auto several = [&] {
    Threads(kThreads, [&](const Operand& thread) {
      StoreAll(totals.block, thread, LoadAll(totals.own, thread));
    });
    WarpThreads(kThreads, [&](const Operand& thread) { CombineWarps(r, totals, thread); });
    CombineLanes(r, totals, /*is_whole=*/true);
    return Operands{};
  };
  const auto one = [&] {
    CombineLanes(r, totals, /*is_whole=*/false);
    return Operands{};
  };
  Choose(builder().Scalar(OpCode::kGt, {group_->threads, Int(kWarp)}), several, one);
}

// Of two, four or eight warps.
void RowGroupLowering::CombineWarps(const Reduction& r, const Totals& totals,
                                    const Operand& thread) {
  const Operand last = builder().Sub(group_->threads, Int(1));
  const Operand in_group = builder().Scalar(OpCode::kAnd, {thread, last});
  const Operand in_warp = builder().Scalar(OpCode::kAnd, {thread, Int(kWarp - 1)});
  const Operand first = builder().Add(builder().Sub(thread, in_group), in_warp);
  const std::function<Operands(int64_t)> of_warps = [&](int64_t warps) {
    const auto these = [&] {
      std::vector<Operands> sums;
      for (int64_t warp = 0; warp < warps; ++warp)
        sums.push_back(LoadAll(totals.block, builder().Add(first, Int(warp * kWarp))));
      return CombineHalves(r, std::move(sums));
    };
    if (warps == 2) return these();
    const Operand has = builder().Scalar(OpCode::kGt, {group_->threads, Int(warps / 2 * kWarp)});
    return Choose(has, these, [&] { return of_warps(warps / 2); });
  };
  StoreAll(totals.own, thread, of_warps(kThreads / kWarp));
}

// Every lane with the one half a warp further, then half of that, of whose sums those of the lower
// half count.
void RowGroupLowering::CombineLanes(const Reduction& r, const Totals& totals, bool is_whole) {
  const std::vector<const Var*>*from = &totals.own, *to = &totals.next;
  for (int64_t half = kWarp / 2; half > 0; half /= 2, std::swap(from, to)) {
    WarpThreads(kThreads, [&](const Operand& thread) {
      const Operands own = LoadAll(*from, thread);
      const Operands other = FromLane(*from, thread, builder().Add(thread, Int(half)));
      const auto both = [&] { return Combine(r, own, other); };
      const Operand is_wide = builder().Scalar(OpCode::kGt, {group_->threads, Int(half)});
      StoreAll(*to, thread, is_whole ? both() : Choose(is_wide, both, [&] { return own; }));
    });
  }
}

RowGroupLowering::Operands RowGroupLowering::FromLane(const std::vector<const Var*>& arrays,
                                                      const Operand& thread, const Operand& lane) {
  Operands values;
  for (const Var* array : arrays) {
    values.push_back(
        builder().EmitOne(OpCode::kShuffle, array->type.dtype(), {array, thread, lane}));
  }
  return values;
}

// The thread's number among those of its group in its warp.
Operand RowGroupLowering::LaneOfWarp(const Operand& thread) {
  const Operand lanes = Min(group_->threads, Int(kWarp));
  return builder().Scalar(OpCode::kAnd, {thread, builder().Sub(lanes, Int(1))});
}

void RowGroupLowering::TakeTotal(const Binding& reduction) {
  const Reduction r = Describe(reduction);
  const Operand first = builder().Sub(thread_, LaneOfWarp(thread_));
  const Operands total = AfterInits(r, FromLane(totals_.at(&reduction).next, thread_, first));
  for (size_t k = 0; k < total.size(); ++k) Replace(reduction.results[k], total[k]);
}

}  // namespace parakeet::passes
