// Makes of an array only what the nest behind it does not store over.
//
// Before:
//   %v: [n]f64 = imap (%i) in (%n) { %a = load %u[%i]  yield %a }
//   foreach (%j) in (%m) { %k = add %j, 1  ...  store %v[%k], %b }
// After:
//   %v: [n]f64 = alloc (%n)
//   %rest = sub %n, %m
//   foreach (%p) in (%rest) {
//     %behind = ge %p, 1  %gap = select %behind, %m, 0  %i = add %p, %gap
//     %a = load %u[%i]  store %v[%i], %a }
//   foreach (%j) in (%m) { %k = add %j, 1  ...  store %v[%k], %b }
//
// as of `v = u.copy(); v[1:-1] = ...`, or zeros with an inside. Of several axes, what lies outside
// along the first is made, then what lies inside there and outside along the second, and so on.
//
// Assumes: index form, behind all that fuses: the map is then one to nothing.
// Refuses: maps of more than a few scalars, of several arrays or many axes, or that may raise; what
// touches the array in between, or writes what the map reads; nests that read the array, or store
// to it otherwise than once, at a place that moves by one along each axis.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr size_t kMostAxes = 3;
constexpr size_t kMostBindings = 8;  // of a map that is written once an axis

// What a nest stores of an array that `map` makes: from `begin` on, `sizes` along each axis.
struct Box {
  const Binding* map;
  std::vector<LinearForm> begin;
  std::vector<Operand> sizes;
};

class RestFiller : public LoopWriter {
 public:
  RestFiller(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), forms_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    for (size_t at = 0; at < block->bindings.size(); ++at) {
      const Binding* b = block->bindings[at];
      if (b->op != OpCode::kForeach) continue;
      if (auto box = BoxOf(*block, at)) {
        left_out_.insert(box->map);
        boxes_.emplace(b, std::move(*box));
      }
    }
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    if (left_out_.contains(b)) return;
    if (const auto box = boxes_.find(b); box != boxes_.end()) WriteRest(box->second);
    Mutator::Visit(b);
  }

 private:
  std::optional<Box> BoxOf(const Block& block, size_t at) const {
    const Binding& nest = *block.bindings[at];
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (b->op != OpCode::kStore) continue;
      const Binding* map = MapBefore(block, at, b->operands[0].var());
      if (map == nullptr || UsesOf(nest, map->result()) != 1) continue;
      if (auto box = BoxOf(nest, *b, *map)) return box;
    }
    return std::nullopt;
  }

  // The map that makes the array, if it may as well be made right before binding `at`.
  const Binding* MapBefore(const Block& block, size_t at, const Var* array) const {
    VarSet writes;
    while (at-- > 0) {
      const Binding& b = *block.bindings[at];
      if (b.op == OpCode::kImap && b.results == std::vector{array})
        return IsPlain(b) && !Intersects(EffectsOf(b, roots_).reads, writes) ? &b : nullptr;
      if (ir::FreeVars(b).contains(array)) return nullptr;
      for (const Var* written : EffectsOf(b, roots_).writes) writes.insert(written);
    }
    return nullptr;
  }

  bool IsPlain(const Binding& map) const {
    const Block& body = *map.blocks[0];
    return !left_out_.contains(&map) && map.operands.size() <= kMostAxes &&
           body.bindings.size() <= kMostBindings && EffectsOf(map, roots_).IsPure() &&
           std::all_of(body.bindings.begin(), body.bindings.end(), [](const Binding* b) {
             return b->op == OpCode::kLoad || ir::IsScalarOp(b->op);
           });
  }

  static int UsesOf(const Binding& nest, const Var* array) {
    int uses = 0;
    ir::ForEachUse(nest, [&](const Var* used) { uses += used == array; });
    return uses;
  }

  std::optional<Box> BoxOf(const Binding& nest, const Binding& store, const Binding& map) const {
    const std::vector<const Var*>& params = nest.blocks[0]->params;
    const VarSet inside = ir::DefinedVars(*nest.blocks[0]);
    Box box{&map};
    VarSet used;
    for (size_t axis = 0; axis < map.operands.size(); ++axis) {
      LinearForm place = forms_.Of(store.operands[1 + axis]);
      const auto moves = std::find_if(params.begin(), params.end(), [&](const Var* param) {
        return place.Coefficient(param) == 1 && !used.contains(param);
      });
      if (moves == params.end()) return std::nullopt;
      used.insert(*moves);
      place.Add(LinearForm::Of(*moves), -1);
      for (const auto& [value, times] : place.terms) {
        if (inside.contains(value)) return std::nullopt;
      }
      box.begin.push_back(std::move(place));
      box.sizes.push_back(nest.operands[moves - params.begin()]);
    }
    return used.size() == params.size() ? std::optional(box) : std::nullopt;
  }

  void WriteRest(const Box& box) {
    const Binding& map = *box.map;
    const Operands sizes = Apply(map.operands), inner = Apply(box.sizes);
    builder().set_span(map.span);
    context_.Note(map.span, "makes only what is not stored over", Topic::kMemory, Verdict::kDone);
    const bool is_fortran = map.attrs.Int(Attr::kFortran) != 0;
    const ir::Attributes order =
        is_fortran ? ir::Attributes{{Attr::kFortran, int64_t{1}}} : ir::Attributes{};
    builder().Emit(OpCode::kAlloc, {map.result()}, sizes, order);
    Operands begin;
    for (const LinearForm& place : box.begin) {
      begin.push_back(
          Written(builder(), place, [&](const Var* value) { return Apply(Operand(value)); }));
    }
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if (sizes[axis] == inner[axis]) continue;
      WriteOutside(map, sizes, begin, inner, axis);
    }
  }

  // What lies inside along the axes before this one, and outside along it.
  void WriteOutside(const Binding& map, const Operands& sizes, const Operands& begin,
                    const Operands& inner, size_t axis) {
    Operands extents(inner.begin(), inner.begin() + axis);
    const Operand rest = builder().Sub(sizes[axis], inner[axis]);
    extents.push_back(builder().Scalar(OpCode::kMax, {rest, Int(0)}));
    extents.insert(extents.end(), sizes.begin() + axis + 1, sizes.end());
    std::vector<const Var*> params;
    for (size_t k = 0; k < extents.size(); ++k)
      params.push_back(builder().NewVar(ir::DType::kI64, "i"));
    const Block* body = BlockOf(params, [&] {
      Operands index(params.begin(), params.end());
      for (size_t k = 0; k < axis; ++k) index[k] = builder().Add(begin[k], index[k]);
      // Where nothing is before it, all of the rest is behind.
      const Operand is_behind = begin[axis].IsInt(0)
                                    ? Operand::Bool(true)
                                    : builder().Scalar(OpCode::kGe, {index[axis], begin[axis]});
      const Operand gap = builder().Scalar(OpCode::kSelect, {is_behind, inner[axis], Int(0)});
      index[axis] = builder().Add(index[axis], gap);
      const Operands made =
          ir::InlineBlock(builder(), *ir::CloneBlock(arena(), *map.blocks[0]), index);
      builder().Store(map.result(), index, made[0]);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, extents, map.attrs.Without(Attr::kFortran), {body});
  }

  const Roots roots_;
  const WrappingForms forms_;
  Context& context_;
  std::unordered_set<const Binding*> left_out_;  // maps
  std::unordered_map<const Binding*, Box> boxes_;
};

}  // namespace

ir::Program FillRest(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return RestFiller(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
