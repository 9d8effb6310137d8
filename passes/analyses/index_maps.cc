#include "passes/analyses/index_maps.h"

#include <algorithm>
#include <utility>

#include "ir/diagnostics.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_reshapes.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Index = IndexMaps::Index;
using Map = std::function<Index(Builder&, const Index&)>;

Operand Zero() { return Operand::Int(0); }

Map SliceMap(const Binding& b) {
  return [&b](Builder& builder, const Index& index) {
    Index result;
    size_t operand = 1;
    size_t axis = 0;
    for (char kind : b.attrs.Text(Attr::kAxes)) {
      if (kind == 'n') ++axis;
      if (kind == 'i') result.push_back(b.operands[operand++]);
      if (kind != 'r') continue;
      const Operand offset = builder.Mul(index[axis++], b.operands[operand + 2]);
      result.push_back(builder.Add(b.operands[operand], offset));
      operand += 3;
    }
    return result;
  };
}

Map TransposeMap(const Binding& b) {
  return [&b](Builder&, const Index& index) {
    Index result(index.size());
    const std::vector<int64_t>& perm = b.attrs.Ints(Attr::kPerm);
    for (size_t axis = 0; axis < perm.size(); ++axis) result[perm[axis]] = index[axis];
    return result;
  };
}

// The index along an axis of size `from` that is read where an axis of size `to` is at `index`.
Operand BroadcastIndex(Builder& builder, const Operand& from, const Operand& to,
                       const Operand& index) {
  if (from == to) return index;
  if (from.IsInt(1)) return Zero();
  if (from.IsConstant()) return index;
  const Operand repeats = builder.Scalar(OpCode::kNe, {from, Operand::Int(1)});
  return builder.Mul(index, builder.Cast(repeats, ir::DType::kI64));
}

Map BroadcastMap(const ir::Type& from, const ir::Type& to) {
  return [from, to](Builder& builder, const Index& index) {
    Index result;
    const int skipped = to.rank() - from.rank();
    for (int axis = 0; axis < from.rank(); ++axis) {
      result.push_back(BroadcastIndex(builder, from.dims()[axis], to.dims()[axis + skipped],
                                      index[axis + skipped]));
    }
    return result;
  };
}

// The place of `index` in C order among `dims`.
Operand Linear(Builder& builder, const Index& dims, const Index& index) {
  Operand place = Zero();
  for (size_t axis = 0; axis < dims.size(); ++axis)
    place = builder.Add(builder.Mul(place, dims[axis]), index[axis]);
  return place;
}

// The index of the element at `place` in C order among `dims`.
Index Delinear(Builder& builder, const Index& dims, Operand place) {
  Index result(dims.size());
  for (size_t axis = dims.size(); axis-- > 1;) {
    result[axis] = builder.Scalar(OpCode::kMod, {place, dims[axis]});
    place = builder.Scalar(OpCode::kFloorDiv, {place, dims[axis]});
  }
  if (!dims.empty()) result[0] = place;
  return result;
}

// How many of the last axes have so many elements together; 0 where sizes do not tell.
size_t LastAxesOf(const ir::Type& type, const std::vector<size_t>& axes, const Operand& size) {
  if (!size.IsConstant()) return 0;
  int64_t elements = 1;
  for (size_t count = 1; count <= axes.size(); ++count) {
    const Operand& dim = type.dims()[axes[axes.size() - count]];
    if (!dim.IsConstant() || dim.IsInt(0)) return 0;
    elements *= dim.constant().integer;
    if (elements >= size.constant().integer) return elements == size.constant().integer ? count : 0;
  }
  return 0;
}

// Axes that both shapes begin or end with keep their indexes, and one that several of the other
// shape's last make up has the place among those: only between them is the place taken apart anew.
// Of an axis of one element, the index is 0.
Map ReshapeMap(const ir::Type& from, const ir::Type& to) {
  return [from, to](Builder& builder, const Index& index) {
    std::vector<size_t> axes, places;  // of more than one element
    for (size_t axis = 0; axis < from.dims().size(); ++axis) {
      if (!from.dims()[axis].IsInt(1)) axes.push_back(axis);
    }
    for (size_t axis = 0; axis < to.dims().size(); ++axis) {
      if (!to.dims()[axis].IsInt(1)) places.push_back(axis);
    }
    Index result(from.dims().size(), Zero());
    const auto keep = [&](size_t axis, size_t place) {
      if (from.dims()[axis] != to.dims()[place]) return false;
      result[axis] = index[place];
      return true;
    };
    const auto take_apart = [&](size_t count, size_t size) {
      Index inner_dims, outer_dims, outer;
      for (size_t k = axes.size() - count; k < axes.size(); ++k)
        inner_dims.push_back(from.dims()[axes[k]]);
      for (size_t k = places.size() - size; k < places.size(); ++k) {
        outer_dims.push_back(to.dims()[places[k]]);
        outer.push_back(index[places[k]]);
      }
      const Index inner = Delinear(builder, inner_dims, Linear(builder, outer_dims, outer));
      for (size_t k = 0; k < count; ++k) result[axes[axes.size() - count + k]] = inner[k];
      axes.resize(axes.size() - count);
      places.resize(places.size() - size);
    };
    while (!axes.empty() && !places.empty()) {
      const Operand &axis = from.dims()[axes.back()], &place = to.dims()[places.back()];
      if (keep(axes.back(), places.back())) {
        axes.pop_back();
        places.pop_back();
      } else if (const size_t size = LastAxesOf(to, places, axis)) {
        take_apart(1, size);
      } else if (const size_t count = LastAxesOf(from, axes, place)) {
        take_apart(count, 1);
      } else {
        break;
      }
    }
    while (!axes.empty() && !places.empty() && keep(axes.front(), places.front())) {
      axes.erase(axes.begin());
      places.erase(places.begin());
    }
    take_apart(axes.size(), places.size());
    return result;
  };
}

Map MapOf(const Binding& b) {
  const ir::Type from = ir::TypeOf(b.operands[0]);
  switch (b.op) {
    case OpCode::kSlice: return SliceMap(b);
    case OpCode::kTranspose: return TransposeMap(b);
    case OpCode::kBroadcast: return BroadcastMap(from, b.result()->type);
    case OpCode::kReshape: return ReshapeMap(from, b.result()->type);
    case OpCode::kAscribe: return [](Builder&, const Index& index) { return index; };
    default: ir::FailBug("no index map for " + std::string(Name(b.op)));
  }
}

bool MakesArrays(OpCode op) {
  switch (op) {
    case OpCode::kAlloc:
    case OpCode::kMap:
    case OpCode::kImap:
    case OpCode::kReduce:
    case OpCode::kScan:
    case OpCode::kFilter:
    case OpCode::kIreduce:
    case OpCode::kIscan: return true;
    default: return false;
  }
}

}  // namespace

IndexMaps::IndexMaps(const ir::Function& function)
    : roots_(function), may_overlap_(function.may_overlap) {
  if (function.entry) {
    for (const Var* size : function.Sizes()) not_one_.insert(size);
  }
  written_ = EffectsOf(*function.body, roots_).writes;
  exposed_ = FindExposedReshapes(function, roots_);
  const auto learn = [this](const Var* array, bool is_fortran) {
    if (!array->type.IsArray()) return;
    const bool is_c = !is_fortran || array->type.rank() <= 1;
    contiguity_[array] = is_c ? Contiguity::kYes : Contiguity::kNo;
  };
  for (const ir::Param& param : function.params) {
    if (param.layout != ir::Layout::kStrided)
      learn(param.var, param.layout == ir::Layout::kFortran);
  }
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (!MakesArrays(b.op)) return;
    for (const Var* result : b.results) learn(result, b.attrs.Int(Attr::kFortran) != 0);
  });
  LearnJoins(*function.body);
}

// What loops carry and branches choose is taken to be contiguous until something of it is not; what
// is once unknown stays so.
void IndexMaps::LearnJoins(const ir::Block& body) {
  ir::ForEachBinding(body, [&](const Binding& b) {
    if (b.op != OpCode::kIf && !IsLoop(b.op)) return;
    for (size_t k = 0; k < b.results.size(); ++k) {
      contiguity_[b.results[k]] = Contiguity::kYes;
      for (const ir::Block* block : b.blocks) {
        if (IsLoop(b.op)) contiguity_[block->params[FirstCarried(b) + k]] = Contiguity::kYes;
      }
    }
  });
  bool changed = true;
  const auto lower = [&](const Var* array, Contiguity a, Contiguity b) {
    if (!array->type.IsArray()) return;
    const Contiguity joined = a == b ? a : Contiguity::kUnknown;
    const auto [known, is_new] = contiguity_.emplace(array, joined);
    const bool is_settled = known->second == joined || known->second == Contiguity::kUnknown;
    changed |= is_new || !is_settled;
    if (!is_settled)
      known->second = known->second == Contiguity::kYes ? joined : Contiguity::kUnknown;
  };
  while (std::exchange(changed, false)) {
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (ir::IsView(b.op)) {
        const Contiguity own = ContiguityOfView(b);
        lower(b.result(), own, own);
      }
      if (b.op != OpCode::kIf && !IsLoop(b.op)) return;
      for (size_t k = 0; k < b.results.size(); ++k) {
        const Contiguity last = ContiguityOf(b.blocks.back()->results[k]);
        const Contiguity first = ContiguityOf(b.op == OpCode::kIf ? b.blocks[0]->results[k]
                                                                  : b.operands[FirstInit(b) + k]);
        lower(b.results[k], first, last);
        for (const ir::Block* block : b.blocks) {
          if (IsLoop(b.op)) lower(block->params[FirstCarried(b) + k], first, last);
        }
      }
    });
  }
}

void IndexMaps::Define(Builder& builder, const Var* result, const Binding& binding) {
  const bool is_reshape = binding.op == OpCode::kReshape;
  View view{binding.operands[0], result->type, is_reshape, ContiguityOfView(binding),
            MapOf(binding)};
  if (!is_reshape || !MustCopy(binding)) {
    views_[result] = std::move(view);
    return;
  }
  views_[result] = view;
  const Operand copy = CopyOf(builder, result, result->type);
  views_[result] = View{copy, result->type, false, Contiguity::kYes,
                        [](Builder&, const Index& index) { return index; }};
}

void IndexMaps::DefineSlice(const Var* element, const ir::Type& type, const Operand& array,
                            const Index& leading) {
  const Contiguity contiguity = IsContiguous(array) ? Contiguity::kYes : Contiguity::kUnknown;
  views_[element] = View{array, type, false, contiguity, [leading](Builder&, const Index& index) {
                           Index whole = leading;
                           whole.insert(whole.end(), index.begin(), index.end());
                           return whole;
                         }};
}

const IndexMaps::View* IndexMaps::Find(const Operand& operand) const {
  if (!operand.IsVar()) return nullptr;
  const auto found = views_.find(operand.var());
  return found == views_.end() ? nullptr : &found->second;
}

bool IndexMaps::MayOverlapItself(const Operand& array) const {
  Operand root = array;
  while (const View* view = Find(root)) root = view->source;
  return may_overlap_ && !roots_.IsFresh(root.var());
}

bool IndexMaps::IsView(const Operand& operand) const { return Find(operand) != nullptr; }

bool IndexMaps::AnyView(const Index& operands) const {
  for (const Operand& operand : operands) {
    if (IsView(operand)) return true;
  }
  return false;
}

Operand IndexMaps::Resolve(Builder& builder, Operand operand, Index& index) const {
  while (const View* view = Find(operand)) {
    index = view->map(builder, index);
    operand = view->source;
  }
  return operand;
}

Operand IndexMaps::Load(Builder& builder, const Operand& array, const Index& index,
                        std::string_view hint) const {
  Index resolved = index;
  const Operand root = Resolve(builder, array, resolved);
  return builder.Load(root, resolved, hint);
}

void IndexMaps::Store(Builder& builder, const Operand& array, const Index& index,
                      const Operand& value) const {
  Index resolved = index;
  const Operand root = Resolve(builder, array, resolved);
  builder.Store(root, resolved, value);
}

IndexMaps::Contiguity IndexMaps::ContiguityOf(const Operand& operand) const {
  if (const View* view = Find(operand)) return view->contiguity;
  const auto known = contiguity_.find(operand.var());
  return known == contiguity_.end() ? Contiguity::kUnknown : known->second;
}

IndexMaps::Contiguity IndexMaps::ContiguityOfView(const Binding& view) const {
  const bool has_contiguous = IsContiguous(view.operands[0]);
  switch (view.op) {
    case OpCode::kSlice: return has_contiguous ? ContiguityOfSlice(view) : Contiguity::kUnknown;
    case OpCode::kTranspose: {
      const std::vector<int64_t>& perm = view.attrs.Ints(Attr::kPerm);
      if (std::is_sorted(perm.begin(), perm.end())) return ContiguityOf(view.operands[0]);
      return has_contiguous ? Contiguity::kNo : Contiguity::kUnknown;
    }
    case OpCode::kReshape: return has_contiguous ? Contiguity::kYes : Contiguity::kUnknown;
    case OpCode::kAscribe: return ContiguityOf(view.operands[0]);
    default: return Contiguity::kUnknown;
  }
}

// True where the size is another than 1: where it is, its axis does not count.
bool IndexMaps::IsNotOne(const Operand& size) const {
  return size.IsVar() ? not_one_.contains(size.var()) : !size.IsInt(1);
}

// Of a contiguous array: the axes in front may be cut to one index, the first of the rest to a run
// of neighbours, and what follows must be whole. An axis of length 1 counts as one index.
IndexMaps::Contiguity IndexMaps::ContiguityOfSlice(const Binding& slice) const {
  const std::vector<Operand> dims = ir::TypeOf(slice.operands[0]).dims();
  size_t axis = 0;
  size_t operand = 1;
  bool whole_from_here = false;
  bool surely = false;  // an axis before this one is longer than 1
  for (const char kind : slice.attrs.Text(Attr::kAxes)) {
    if (kind == 'n') continue;
    if (kind == 'i') {
      if (whole_from_here) return surely ? Contiguity::kNo : Contiguity::kUnknown;
      ++operand;
      ++axis;
      continue;
    }
    const Operand* range = &slice.operands[operand];  // start, size, step
    // With steps, NumPy needs no copy where those of two axes happen to fit.
    if (!range[2].IsInt(1)) return Contiguity::kUnknown;
    if (whole_from_here && !(range[0].IsInt(0) && range[1] == dims[axis])) {
      const bool is_less = range[0].IsConstant() && range[0].constant().integer > 0;
      return is_less && surely ? Contiguity::kNo : Contiguity::kUnknown;
    }
    whole_from_here |= !range[1].IsInt(1);
    surely |= IsNotOne(range[1]);
    operand += 3;
    ++axis;
  }
  return Contiguity::kYes;
}

// NumPy copies what it reshapes when it is not contiguous; that shows where either side is stored
// to. What it decides by the strides of an argument is not known here.
bool IndexMaps::MustCopy(const Binding& reshape) const {
  const Contiguity contiguity = ContiguityOf(reshape.operands[0]);
  if (contiguity == Contiguity::kYes) return false;
  Operand root = reshape.operands[0];
  while (const View* view = Find(root)) root = view->source;
  if (!Intersects(roots_.Of(root.var()), written_)) return false;
  if (contiguity == Contiguity::kUnknown && exposed_.contains(reshape.result())) {
    ir::FailLimitation(
        "whether this reshape is a copy depends on the array's strides, and its elements are "
        "stored to; reshape a copy, np.array(x)",
        reshape.span);
  }
  return true;
}

Operand IndexMaps::Materialise(Builder& builder, const Operand& operand) const {
  const View* view = Find(operand);
  if (view == nullptr) return operand;
  for (const View* below = view; below != nullptr; below = Find(below->source)) {
    if (!below->is_reshape) continue;
    if (!IsContiguous(below->source)) return CopyOf(builder, operand, view->type);
    return MakeView(builder, *view, operand, true);
  }
  return MakeView(builder, *view, operand, false);
}

// The place in C order, in the array under all views, where a contiguous view of it begins.
Operand IndexMaps::StartOf(Builder& builder, const Operand& operand) const {
  Index index(ir::TypeOf(operand).rank(), Zero());
  const Operand root = Resolve(builder, operand, index);
  return Linear(builder, ir::TypeOf(root).dims(), index);
}

// Offsets and coefficients are read off the map itself: at index zero, and one step along each
// axis.
Operand IndexMaps::MakeView(Builder& builder, const View& view, const Operand& top,
                            bool flat) const {
  // Above the lowest reshape maps are affine; the reshape itself ends in a place in C order.
  const auto at = [&](const Index& index) {
    Operand operand = top;
    Index resolved = index;
    while (const View* next = Find(operand)) {
      if (next->is_reshape) {
        resolved = {builder.Add(StartOf(builder, next->source),
                                Linear(builder, next->type.dims(), resolved))};
        break;
      }
      resolved = next->map(builder, resolved);
      operand = next->source;
    }
    return resolved;
  };
  Index index(view.type.rank(), Zero());
  const Index offsets = at(index);
  std::vector<Index> steps;
  for (Operand& axis : index) {
    axis = Operand::Int(1);
    steps.push_back(at(index));
    axis = Zero();
  }
  Operand root = top;
  while (const View* next = Find(root)) root = next->source;
  Index operands = {root};
  operands.insert(operands.end(), offsets.begin(), offsets.end());
  for (size_t k = 0; k < offsets.size(); ++k) {
    for (const Index& step : steps) operands.push_back(builder.Sub(step[k], offsets[k]));
  }
  const ir::Attributes attrs = flat ? ir::Attributes{{Attr::kFlat, int64_t{1}}} : ir::Attributes{};
  return builder.EmitOne(OpCode::kView, view.type, std::move(operands), attrs, {}, top.var()->hint);
}

Operand IndexMaps::CopyOf(Builder& builder, const Operand& operand, const ir::Type& type) const {
  Builder inner = builder.Nested();
  std::vector<const Var*> params;
  for (int axis = 0; axis < type.rank(); ++axis)
    params.push_back(inner.NewVar(ir::DType::kI64, "i"));
  const Index index(params.begin(), params.end());
  const Operand element = Load(inner, operand, index, "");
  return builder.EmitOne(OpCode::kImap, type, type.dims(), {},
                         {inner.Finish(std::move(params), {element})});
}

}  // namespace parakeet::passes
