#include "passes/lowering/lower_elements.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/tile_reads.h"
#include "passes/lowering/block_threads.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kRowsOfThread = 4;
// Where planes share rows, of as many planes, and fewer rows.
constexpr int64_t kPlanesOfThread = 4;
constexpr int64_t kRowsOfPlanes = 2;
constexpr int kCheapElement = 64;
constexpr int kCheapStencil = 256;
// Of shorter rows, those one above the other are too far apart for neighbouring threads.
constexpr int64_t kLongRow = 16;

// True where one thread had better make elements of some rows: they cost little, or read an array
// at several places, of which neighbours read some too.
bool IsForRows(const Block& body) {
  std::unordered_map<const Var*, int> loads;
  bool reads_neighbours = false;
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op == OpCode::kLoad) reads_neighbours |= ++loads[b.operands[0].var()] > 1;
  });
  return CostOf(body) <= (reads_neighbours ? kCheapStencil : kCheapElement);
}

int LoadsIn(const Block& block) {
  int loads = 0;
  ir::ForEachBinding(block, [&](const Binding& b) { loads += b.op == OpCode::kLoad; });
  return loads;
}

// True where kernels have the body as it is: it calls nothing and makes no arrays.
bool IsForThreads(const Block& body) {
  bool is_fit = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    const bool is_control = b.op == OpCode::kIf || b.op == OpCode::kFor || b.op == OpCode::kWhile;
    is_fit &= ir::IsScalarOp(b.op) || is_control || b.op == OpCode::kLoad ||
              b.op == OpCode::kStore || b.op == OpCode::kIreduce || b.op == OpCode::kCheck ||
              b.op == OpCode::kAtomic;
    for (const Var* result : b.results) is_fit &= !result->type.IsArray();
  });
  return is_fit;
}

// How many of the bindings stand before the stores that the body ends with.
size_t FirstStore(const Block& body) {
  size_t first = body.bindings.size();
  while (first > 0 && body.bindings[first - 1]->op == OpCode::kStore) --first;
  return first;
}

}  // namespace

// Behind a check in the function's own block is all that follows.
ElementLowering::ElementLowering(ir::Arena* arena, const ir::Function& function, int vector_bytes)
    : RowGroupLowering(arena, function, vector_bytes), forms_(function) {
  ir::DefinitionMap comparisons;
  for (const Binding* b : function.body->bindings) {
    if (b->op == OpCode::kEq) comparisons[b->result()] = b;
    const auto asked =
        b->op == OpCode::kCheck ? comparisons.find(b->operands[0].var()) : comparisons.end();
    if (asked != comparisons.end()) equalities_[b] = asked->second;
  }
}

void ElementLowering::LearnSizes(const Binding& check) {
  const auto found = equalities_.find(&check);
  if (found == equalities_.end()) return;
  const Operand one = SizeOf(Apply(found->second->operands[0]));
  const Operand other = SizeOf(Apply(found->second->operands[1]));
  if (one == other) return;
  if (one.IsVar()) {
    same_sizes_[one.var()] = other;
  } else if (other.IsVar()) {
    same_sizes_[other.var()] = one;
  }
}

Operand ElementLowering::SizeOf(Operand size) const {
  while (size.IsVar()) {
    const auto same = same_sizes_.find(size.var());
    if (same == same_sizes_.end()) break;
    size = same->second;
  }
  return size;
}

bool ElementLowering::IsPlain(const Block& body) {
  bool is_plain = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
                b.op == OpCode::kIf;
  });
  return is_plain;
}

bool ElementLowering::IsPlainBehindChecks(const Block& body) {
  Block rest = body;
  std::erase_if(rest.bindings, [](const Binding* b) { return b->op == OpCode::kCheck; });
  return IsPlain(rest);
}

std::optional<std::vector<const Binding*>> ElementLowering::ArithmeticOf(
    const std::vector<Operand>& values, const Block& body) {
  ir::VarSet needed;
  for (const Operand& value : values) needed.insert(value.var());
  std::vector<const Binding*> arithmetic;
  for (auto it = body.bindings.rbegin(); it != body.bindings.rend(); ++it) {
    const Binding& b = **it;
    const bool is_needed = std::any_of(b.results.begin(), b.results.end(),
                                       [&](const Var* result) { return needed.contains(result); });
    if (!is_needed) continue;
    if (!ir::IsScalarOp(b.op)) return std::nullopt;
    for (const Operand& operand : b.operands) needed.insert(operand.var());
    arithmetic.insert(arithmetic.begin(), &b);
  }
  return arithmetic;
}

void ElementLowering::WriteElements(const Elements& elements) {
  const Block& body = *elements.nest.blocks[0];
  if (LiesInLine(elements)) return WriteLine(elements);
  if (elements.order.size() < 2 || !IsForThreads(body)) return WriteTrips(elements);
  WriteGrid(elements, TileOf(elements));
}

// --- One index ---

bool ElementLowering::LiesInLine(const Elements& elements) const {
  const Binding& nest = elements.nest;
  const Block& body = *nest.blocks[0];
  if (elements.order.size() < 2 || !IsPlainBehindChecks(body) ||
      nest.attrs.Int(Attr::kFortran) != 0)
    return false;
  const ir::VarSet params(body.params.begin(), body.params.end());
  // An array is seen as a line wherever it is touched, or nowhere.
  ir::VarSet in_lines, elsewhere;
  bool in_line = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    const bool is_access = b.op == OpCode::kLoad || b.op == OpCode::kStore;
    if (is_access) (IsLineAccess(b, elements) ? in_lines : elsewhere).insert(b.operands[0].var());
    if (IsLineAccess(b, elements)) return;
    // A check may say where it fails.
    const auto places = b.op == OpCode::kCheck ? static_cast<size_t>(b.attrs.Int(Attr::kAt)) : 0;
    for (size_t k = 0; k < b.operands.size(); ++k) {
      const bool is_place = k >= 1 && k <= places;
      in_line &= is_place || !params.contains(b.operands[k].var());
    }
  });
  for (const Var* array : in_lines) in_line &= !elsewhere.contains(array);
  for (const Operand& result : body.results) in_line &= !params.contains(result.var());
  return in_line;
}

bool ElementLowering::IsLineAccess(const Binding& access, const Elements& elements) const {
  const std::vector<const Var*>& params = elements.nest.blocks[0]->params;
  if (access.op != OpCode::kLoad && access.op != OpCode::kStore) return false;
  const Var* array = access.operands[0].var();
  if (array->type.rank() != int(params.size()) || !patterns_.LiesInC(array)) return false;
  for (size_t axis = 0; axis < params.size(); ++axis) {
    const bool is_whole = SizeOf(Apply(array->type.dims()[axis])) == SizeOf(elements.extents[axis]);
    if (access.operands[1 + axis] != Operand(params[axis]) || !is_whole) return false;
  }
  const bool stores = access.op == OpCode::kStore;
  return !stores ||
         std::find(params.begin(), params.end(), access.operands.back().var()) == params.end();
}

void ElementLowering::WriteLine(const Elements& elements) {
  const Binding& nest = elements.nest;
  const Operand count = Product(elements.extents);
  ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
    if (!IsLineAccess(b, elements) || lines_.contains(b.operands[0].var())) return;
    lines_[b.operands[0].var()] = LineOf(b.operands[0], count);
  });
  Operands made;
  if (nest.op == OpCode::kImap) {
    for (const Var* result : nest.results) made.push_back(LineOf(result, count));
  }
  const Attributes parallel = OverThreads();
  Loop(Int(0), count, parallel, [&](const Operand& at) {
    line_place_ = at;
    const Block& element = *ir::CloneBlock(arena(), *nest.blocks[0]);
    line_index_ = element.params;
    line_extents_ = elements.extents;
    const Operands values = VisitBody(element, Operands(element.params.size(), Int(0)));
    for (size_t k = 0; k < made.size(); ++k) builder().Store(made[k], {at}, values[k]);
  });
  lines_.clear();
}

Operand ElementLowering::LineOf(const Operand& array, const Operand& count) {
  const ir::Type type = ir::Type::Array(ir::TypeOf(array).dtype(), {count});
  return builder().EmitOne(OpCode::kView, type, {Apply(array), Int(0), Int(1)},
                           {{Attr::kFlat, int64_t{1}}}, {}, "line");
}

// Where a check fails, an index is found of the place in the line.
void ElementLowering::VisitCheckInLine(const Binding& check) {
  const Operand holds = Apply(check.operands[0]);
  If(builder().Scalar(OpCode::kNot, {holds}), [&] {
    const Operands index = Delinear(line_place_, line_extents_);
    Operands operands = {holds};
    for (size_t k = 1; k < check.operands.size(); ++k) {
      const auto at = std::find(line_index_.begin(), line_index_.end(), check.operands[k].var());
      operands.push_back(at == line_index_.end() ? Apply(check.operands[k])
                                                 : index[at - line_index_.begin()]);
    }
    builder().Emit(OpCode::kCheck, {}, std::move(operands), check.attrs);
  });
}

bool ElementLowering::VisitLine(const Binding& access) {
  if (!lines_.empty() && access.op == OpCode::kCheck) {
    VisitCheckInLine(access);
    return true;
  }
  const bool stores = access.op == OpCode::kStore;
  if (lines_.empty() || (access.op != OpCode::kLoad && !stores)) return false;
  const auto line = lines_.find(access.operands[0].var());
  if (line == lines_.end()) return false;
  if (stores) {
    builder().Store(line->second, {line_place_}, Apply(access.operands.back()));
  } else {
    const Var* loaded = access.result();
    Replace(loaded, builder().Load(line->second, {line_place_}, loaded->hint));
  }
  return true;
}

// --- One element a trip ---

// What the host has to run may be in the body.
void ElementLowering::WriteTrips(const Elements& elements) {
  Operands extents;
  for (const int axis : elements.order) extents.push_back(elements.extents[axis]);
  const Attributes parallel = OverThreads();
  Loop(Int(0), Product(extents), parallel, [&](const Operand& at) {
    const Operands place = Delinear(at, extents);
    Operands index(extents.size());
    for (size_t k = 0; k < place.size(); ++k) index[elements.order[k]] = place[k];
    set_row(index);
    elements.body(index);
  });
}

// --- Elements of some rows a thread ---

// Rows, and planes of these where they share lines: those come from a cache that all threads have.
std::vector<ElementLowering::Several> ElementLowering::TileOf(const Elements& elements) const {
  const Block& body = *elements.nest.blocks[0];
  const Operand& along = elements.extents[elements.order.back()];
  const bool is_short = along.IsConstant() && along.constant().integer < kLongRow;
  if (is_short || !IsPlainBehindChecks(body) || !IsForRows(body)) return {};
  const size_t rank = elements.order.size();
  const auto axis = [&](size_t from_last) { return size_t(elements.order[rank - 1 - from_last]); };
  const Several rows{axis(1), kRowsOfThread};
  if (rank < 3) return {rows};
  TileReads reads(forms_, body.params[axis(1)], body.params[axis(2)]);
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op == OpCode::kLoad) reads.Add(b);
  });
  if (!reads.SharesLines(kRowsOfPlanes, kPlanesOfThread, kRowsOfThread)) return {rows};
  return {{axis(2), kPlanesOfThread}, {axis(1), kRowsOfPlanes}};
}

void ElementLowering::WriteGrid(const Elements& elements, std::vector<Several> tile) {
  const Operands& extents = elements.extents;
  Operand takes_several =
      builder().Scalar(OpCode::kGe, {extents[elements.order.back()], Int(kLongRow)});
  for (const Several& each : tile) {
    const Operand is_long = builder().Scalar(OpCode::kGe, {extents[each.axis], Int(each.count)});
    takes_several = builder().Scalar(OpCode::kAnd, {takes_several, is_long});
  }
  Operands heights(extents.size(), Int(1));
  for (const Several& each : tile)
    heights[each.axis] =
        builder().Scalar(OpCode::kSelect, {takes_several, Int(each.count), Int(1)});
  Operands groups;
  for (const int axis : elements.order) groups.push_back(CeilDiv(extents[axis], heights[axis]));
  const Radix radix = RadixOf(groups);
  const Operand count = Product(groups);
  Blocks(CeilDiv(count, Int(kBlockThreads)), [&](const Operand& block) {
    Threads(kBlockThreads, [&](const Operand& thread) {
      const Operand at = builder().Add(builder().Mul(block, Int(kBlockThreads)), thread);
      If(builder().Scalar(OpCode::kLt, {at, count}), [&] {
        const Operands place = IndexOf(at, radix);
        Operands index(place.size());
        for (size_t k = 0; k < place.size(); ++k) index[elements.order[k]] = place[k];
        if (tile.empty()) {
          set_row(index);
          return elements.body(index);
        }
        for (Several& each : tile) {
          const Operand& height = heights[each.axis];
          each.first = builder().Mul(index[each.axis], height);
          each.last = Min(builder().Add(each.first, height), extents[each.axis]);
        }
        WriteSeveral(elements, index, tile);
      });
    });
  });
}

// Straight code for as many elements as there are nearly everywhere, and for those of which none
// has the usual arm, where the other one is short: at the ends of lines the rest of a warp waits
// for them. Loops for others.
void ElementLowering::WriteSeveral(const Elements& elements, Operands place,
                                   const std::vector<Several>& tile) {
  const std::optional<Usual> usual = FindUsual(*elements.nest.blocks[0]);
  const bool has_ends = usual && IsOtherShort(*usual, *elements.nest.blocks[0]);
  Operand all = Operand::Bool(true);
  std::vector<Operands> indexes = {place};
  for (const Several& each : tile) {
    const Operand span = builder().Sub(each.last, each.first);
    all = builder().Scalar(OpCode::kAnd,
                           {all, builder().Scalar(OpCode::kEq, {span, Int(each.count)})});
    std::vector<Operands> further;
    for (Operands& index : indexes) {
      for (int64_t k = 0; k < each.count; ++k) {
        index[each.axis] = builder().Add(each.first, Int(k));
        further.push_back(index);
      }
    }
    indexes = std::move(further);
  }
  Operand none = all;
  for (const Operands& index : indexes) {
    if (!usual) break;
    const Operand is_usual = IsUsual(*usual, index);
    all = builder().Scalar(OpCode::kAnd, {all, is_usual});
    if (!has_ends) continue;
    const Operand is_other = builder().Scalar(OpCode::kNot, {is_usual});
    none = builder().Scalar(OpCode::kAnd, {none, is_other});
  }
  const auto together = [&](const std::optional<Usual>& arm) {
    WriteTogether(elements, indexes, arm);
    return Operands{};
  };
  const auto one_by_one = [&] {
    WriteEach(elements, place, tile, 0);
    return Operands{};
  };
  const auto rest = [&] {
    if (!has_ends) return one_by_one();
    const Usual other{usual->branch, 1 - usual->arm, usual->condition};
    return Choose(none, [&] { return together(other); }, one_by_one);
  };
  Choose(all, [&] { return together(usual); }, rest);
}

// One element after the other, along the axes from that one on.
void ElementLowering::WriteEach(const Elements& elements, Operands& place,
                                const std::vector<Several>& tile, size_t from) {
  if (from == tile.size()) return elements.body(place);
  Loop(tile[from].first, tile[from].last, {}, [&](const Operand& at) {
    place[tile[from].axis] = at;
    WriteEach(elements, place, tile, from + 1);
  });
}

bool ElementLowering::IsOtherShort(const Usual& usual, const Block& body) {
  const Block& other = *body.bindings[usual.branch]->blocks[1 - usual.arm];
  return LoadsIn(other) <= 1 && CostOf(other) <= kCheapElement;
}

// What all of them read is asked for before any is stored.
void ElementLowering::WriteTogether(const Elements& elements, const std::vector<Operands>& indexes,
                                    const std::optional<Usual>& usual) {
  std::vector<const Block*> copies;
  for (const Operands& index : indexes) {
    const Block& copy = *ir::CloneBlock(arena(), *elements.nest.blocks[0]);
    copies.push_back(&copy);
    for (size_t k = 0; k < index.size(); ++k) Replace(copy.params[k], index[k]);
    for (size_t at = 0; at < FirstStore(copy); ++at) {
      const Binding& b = *copy.bindings[at];
      builder().set_span(b.span);
      if (!usual || usual->branch != at) {
        Visit(&b);
        continue;
      }
      const Operands taken = VisitBody(*b.blocks[usual->arm], {});
      for (size_t k = 0; k < taken.size(); ++k) Replace(b.results[k], taken[k]);
    }
  }
  for (size_t k = 0; k < copies.size(); ++k) {
    const Block& copy = *copies[k];
    for (size_t at = FirstStore(copy); at < copy.bindings.size(); ++at) Visit(copy.bindings[at]);
    elements.finish(indexes[k], Apply(copy.results));
  }
}

// The arm that reads more is what a stencil has inside.
std::optional<ElementLowering::Usual> ElementLowering::FindUsual(const Block& body) {
  for (size_t at = 0; at < body.bindings.size(); ++at) {
    const Binding& b = *body.bindings[at];
    if (b.op != OpCode::kIf) continue;
    const auto arithmetic = ArithmeticOf({b.operands[0]}, body);
    if (!arithmetic || arithmetic->empty()) continue;
    const size_t arm = LoadsIn(*b.blocks[1]) > LoadsIn(*b.blocks[0]) ? 1 : 0;
    return Usual{at, arm, Block{body.params, *arithmetic, {b.operands[0]}}};
  }
  return std::nullopt;
}

Operand ElementLowering::IsUsual(const Usual& usual, const Operands& index) {
  const Operand holds = VisitBody(*ir::CloneBlock(arena(), usual.condition), index)[0];
  return usual.arm == 0 ? holds : builder().Scalar(OpCode::kNot, {holds});
}

}  // namespace parakeet::passes
