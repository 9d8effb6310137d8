#include "passes/lowering/lower_row_groups.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr size_t kMostRows = 4;
// Operators that cost more are not written out for each place, nor more accumulators shared.
constexpr int kDearOperators = 250;
constexpr int kDearOfGroup = 8;
constexpr int64_t kMostTotalBytes = 64;
// Of elements of four bytes a thread has more places, where a group is so many threads: half as
// many combine what they have. Fewer would read too far from their neighbours.
constexpr int64_t kPlacesOfNarrow = 16;
constexpr int64_t kNeighboursOfNarrow = 4;
constexpr int64_t kThreadsOfMorePlaces = 4;

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
  return builder().Scalar(OpCode::kLe, {LongestRow(nest), Int(kRowThreads * kRowPlaces)});
}

RowGroupLowering::Group RowGroupLowering::GroupOf(const Binding& nest, const Operands& extents) {
  const int64_t width = RowNeighbours(nest);
  const int64_t places = width == kNeighboursOfNarrow ? kPlacesOfNarrow : kRowPlaces;
  Group group{nest, RadixOf(extents), width, places, Int(kRowThreads), Int(8), Product(extents)};
  group.nest.blocks = {ir::CloneBlock(arena(), *nest.blocks[0])};
  group.rows = KeptRows(group.nest);
  const Operand longest = LongestRow(nest);
  int64_t bits = 7;
  for (int64_t threads = kRowThreads / 2; threads > 0; threads /= 2, --bits) {
    const int64_t each = threads < kThreadsOfMorePlaces ? kRowPlaces : places;
    const Operand fits = builder().Scalar(OpCode::kLe, {longest, Int(threads * each)});
    group.threads = builder().Scalar(OpCode::kSelect, {fits, Int(threads), group.threads});
    group.bits = builder().Scalar(OpCode::kSelect, {fits, Int(bits), group.bits});
  }
  return group;
}

void RowGroupLowering::WriteGroups(const Binding& nest, const Operands& extents,
                                   const Finish& finish) {
  group_ = GroupOf(nest, extents);
  const Operand each = builder().Scalar(OpCode::kShr, {Int(kRowThreads), group_->bits});
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
  Operands dims = {Int(kRowThreads)};
  if (each > 1) dims.push_back(Int(each));
  return builder().EmitOne(OpCode::kAlloc, ir::Type::Array(dtype, dims), dims,
                           Attributes{{Attr::kPrivate, int64_t{1}}}, {}, "own");
}

void RowGroupLowering::AllocateAll() {
  kept_rows_.clear();
  for (const ir::DType dtype : group_->rows.buffers)
    kept_rows_.push_back(AllocateOwn(dtype, group_->places));
  for (size_t k = 0; k < group_->rows.operators.size(); ++k) {
    const Binding& b = *group_->rows.operators[k];
    staged_[&b] = Stage(b, k);
    if (b.op != OpCode::kIreduce) continue;
    Totals totals{{}, {}, AllocateParts(b, Int(kRowThreads))};
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
  const ir::VarSet of_element = ir::DefinedVars(*group_->nest.blocks[0]);
  const auto whose = [&](const Binding& access) {
    const auto is_own = [&](const Operand& o) { return o.IsVar() && of_element.contains(o.var()); };
    const Operands& operands = access.operands;
    const bool is_all =
        access.op == OpCode::kLoad && std::none_of(operands.begin(), operands.end() - 1, is_own);
    return is_all ? Whose::kAll : Whose::kElement;
  };
  for (size_t at = 0; at < body.bindings.size(); ++at) {
    const Binding& access = *body.bindings[at];
    if (access.op != OpCode::kLoad && access.op != OpCode::kStore) continue;
    const Var* array = access.operands[0].var();
    if (const CachedRow* row = KeptOf(array)) {
      const bool brings = row->brings && row->first == CachedRow::Access{number, at};
      const bool in_memory = access.op == OpCode::kLoad ? brings : number == row->last_store;
      staged[at] = {&access, kept_rows_[row->buffer], in_memory, Whose::kElement};
    } else if (IsOfRow(access, body)) {
      staged[at] = {&access, AllocateOwn(array->type.dtype(), group_->places), true, whose(access)};
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
    WarpThreads(kRowThreads, [&](const Operand& thread) {
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
  for (int64_t place = 0; place < group_->places; place += group_->width) {
    const Operand before = builder().Mul(group_->threads, Int(place));
    write({place, builder().Add(before, own), size});
  }
}

Operand RowGroupLowering::IsInside(const Neighbours& at, int64_t k) {
  return builder().Scalar(OpCode::kLt, {builder().Add(at.first, Int(k)), at.size});
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

// Where the first of them is inside, for the others, too, which are the last one's then.
std::vector<RowGroupLowering::Operands> RowGroupLowering::WriteAll(const Binding& reduction,
                                                                   const Reduction& r,
                                                                   const Neighbours& at) {
  size_t each = 0;  // values of one
  const auto write = [&] {
    Operands all;
    for (int64_t k = 0; k < group_->width; ++k) {
      const Operands values = WriteNeighbour(reduction, r.extents, at, k, k == 0);
      all.insert(all.end(), values.begin(), values.end());
      each = values.size();
    }
    return all;
  };
  const auto nothing = [&] {
    Operands zeros;
    for (int64_t k = 0; k < group_->width; ++k) {
      for (const Operand& value : reduction.blocks[0]->results)
        zeros.push_back(ir::ZeroOf(ir::DTypeOf(value)));
    }
    return zeros;
  };
  const Operands all = Choose(IsInside(at, 0), write, nothing);
  std::vector<Operands> values;
  for (auto next = all.begin(); next != all.end(); next += ptrdiff_t(each))
    values.emplace_back(next, next + ptrdiff_t(each));
  return values;
}

// What takes long is written once for neighbours of which some are missing at the end of a row, and
// for those that are all there.
void RowGroupLowering::FoldPlaces(const Binding& reduction) {
  const Reduction r = Describe(reduction);
  const Operands start = r.starts.empty()
                             ? ReductionLowering::Element(r, Operands(r.extents.size(), Int(0)))
                             : r.starts;
  std::vector<Operands> sums;
  BringOwn(reduction, r.extents);
  const auto fold = [&](const Neighbours& at, bool all_inside, const Values& value_of) {
    Operands sum = start;
    for (int64_t k = 0; k < group_->width; ++k) {
      const bool is_inside = all_inside || k == 0;
      const Operands next = Combine(r, sum, value_of(k, is_inside));
      for (size_t n = 0; n < sum.size(); ++n) {
        sum[n] = is_inside ? next[n]
                           : builder().Scalar(OpCode::kSelect, {IsInside(at, k), next[n], sum[n]});
      }
    }
    return sum;
  };
  const auto total = [&](const Neighbours& at, const Values& value_of) {
    const auto some = [&] {
      return Choose(
          IsInside(at, 0), [&] { return fold(at, false, value_of); }, [&] { return start; });
    };
    if (group_->width == 1) return some();
    return Choose(IsInside(at, group_->width - 1), [&] { return fold(at, true, value_of); }, some);
  };
  EachNeighbours(r.extents, [&](const Neighbours& at) {
    Move(OpCode::kLoad, reduction, at, Whose::kAll);
    if (CostOf(*reduction.blocks[0]) >= kDearOfGroup) {
      const std::vector<Operands> values = WriteAll(reduction, r, at);
      sums.push_back(total(at, [&](int64_t k, bool) { return values[size_t(k)]; }));
    } else {
      sums.push_back(total(at, [&](int64_t k, bool is_inside) {
        return WriteNeighbour(reduction, r.extents, at, k, is_inside);
      }));
    }
    Move(OpCode::kStore, reduction, at, Whose::kElement);
  });
  StoreAll(totals_.at(&reduction).own, thread_, CombineHalves(r, std::move(sums)));
}

void RowGroupLowering::MapPlaces(const Binding& b) {
  const Operands extents = Apply(b.operands);
  BringOwn(b, extents);
  EachNeighbours(extents, [&](const Neighbours& at) {
    Move(OpCode::kLoad, b, at, Whose::kAll);
    If(IsInside(at, 0), [&] {
      for (int64_t k = 0; k < group_->width; ++k) {
        const Operands values = WriteNeighbour(b, extents, at, k, k == 0);
        for (size_t n = 0; n < values.size(); ++n)
          builder().Store(kept_rows_[KeptOf(b.results[n])->buffer], {thread_, Int(at.place + k)},
                          values[n]);
      }
    });
    Move(OpCode::kStore, b, at, Whose::kElement);
  });
}

}  // namespace parakeet::passes
