// Rewrites every operator and view as a function of its index, after which a slice, transpose,
// reshape or broadcast costs nothing: it is arithmetic on indexes.
//
// Before:
//   %v: [k]f64 = slice %x[%s:%k:2]
//   %r: [k]f64 = map (%a: f64 in %v) { %b: f64 = exp %a  yield %b }
// After:
//   %r: [k]f64 = imap (%i) in (%k) { %1 = mul %i, 2  %2 = add %s, %1  %a: f64 = load %x[%2]  %b:
//   f64 = exp %a  yield %b }
//
// A broadcast_size becomes the check that it is and the size it gives; rows that a filter keeps are
// read by the numbers that it keeps of them.
//
// Assumes: arrays of one map have equal leading sizes.
// Refuses: a reshape, stored to, of what may or may not be contiguous: whether NumPy copies there
// depends on strides that only the call knows. A view that is returned, joined or passed to a call
// stays, as `view` of its root; a reshape that does so is copied where its root is not contiguous.
#include <unordered_set>
#include <utility>

#include "ir/diagnostics.h"
#include "ir/mutator.h"
#include "passes/analyses/index_maps.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using Index = std::vector<Operand>;

class IndexForm : public ir::Mutator {
 public:
  IndexForm(ir::Arena* arena, const ir::Function& function) : Mutator(arena), maps_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (ir::IsView(b->op)) return DefineView(*b);
    if (b->op == OpCode::kImap) elements_.insert(b->blocks[0]);
    switch (b->op) {
      case OpCode::kMap: return VisitMap(*b);
      case OpCode::kReduce: return VisitReduction(*b, OpCode::kIreduce);
      case OpCode::kScan: return VisitReduction(*b, OpCode::kIscan);
      case OpCode::kFilter: return VisitFilter(*b);
      case OpCode::kCopy: return VisitCopy(*b);
      case OpCode::kBroadcastSize: return VisitSize(*b);
      case OpCode::kLoad:
      case OpCode::kStore: return VisitAccess(*b);
      default: return VisitOther(*b);
    }
  }

  const Block* VisitBlock(const Block* block) override {
    const Block* rewritten = Mutator::VisitBlock(block);
    if (!maps_.AnyView(rewritten->results)) return rewritten;
    return WithArrays(rewritten, elements_.contains(block));
  }

 private:
  // The rewritten view lives as long as the arena, and so do the maps made from it.
  void DefineView(const Binding& b) {
    const Var* result = Renamed(b.result());
    maps_.Define(builder(), result,
                 *arena()->New(Binding{b.op, {result}, Apply(b.operands), {}, b.attrs, b.span}));
  }

  // The leading sizes that a map, reduction or filter runs over.
  Index Extents(const Binding& b) {
    const ir::Type type = Apply(ir::TypeOf(b.operands[0]));
    const int rank = type.rank() - b.blocks[0]->params[0]->type.rank();
    return Index(type.dims().begin(), type.dims().begin() + rank);
  }

  Index NewIndex(Builder& inner, size_t rank, std::vector<const Var*>& params) {
    static constexpr const char* kNames[] = {"i", "j", "k", "l"};
    Index index;
    for (size_t axis = 0; axis < rank; ++axis) {
      params.push_back(inner.NewVar(ir::DType::kI64, axis < 4 ? kNames[axis] : "m"));
      index.push_back(params.back());
    }
    return index;
  }

  // The element block of `b` over an index: each parameter becomes a load, or a view of its
  // array's slice.
  const Block* ElementBlock(const Binding& b, bool by_index = false) {
    Builder inner = builder().Nested();
    std::vector<const Var*> params;
    const Index index = NewIndex(inner, Extents(b).size(), params);
    std::swap(inner, builder());
    for (size_t i = 0; i < b.blocks[0]->params.size(); ++i) {
      const Var* element = b.blocks[0]->params[i];
      const Operand array = Apply(b.operands[i]);
      if (element->type.IsArray()) {
        maps_.DefineSlice(element, Apply(element->type), array, index);
      } else {
        Replace(element, maps_.Load(builder(), array, index, element->hint));
      }
    }
    for (const Binding* binding : b.blocks[0]->bindings) {
      builder().set_span(binding->span);
      Visit(binding);
    }
    Index results = Apply(b.blocks[0]->results);
    for (Operand& result : results) result = ArrayOf(builder(), result, by_index);
    std::swap(inner, builder());
    return inner.Finish(std::move(params), std::move(results));
  }

  // A view as a value of its own, or by its elements where they will be copied anyway.
  Operand ArrayOf(Builder& inner, const Operand& value, bool by_index) {
    if (!by_index || !maps_.IsView(value)) return maps_.Materialise(inner, value);
    const ir::Type type = Apply(ir::TypeOf(value));
    Builder element = inner.Nested();
    std::vector<const Var*> params;
    const Index index = NewIndex(element, type.rank(), params);
    const Operand loaded = maps_.Load(element, value, index, "");
    return inner.EmitOne(OpCode::kImap, type, type.dims(), {},
                         {element.Finish(std::move(params), {loaded})});
  }

  void VisitMap(const Binding& b) {
    EmitLike(b, OpCode::kImap, Extents(b), {ElementBlock(b, /*by_index=*/true)});
  }

  void VisitReduction(const Binding& b, OpCode op) {
    Index operands = Extents(b);
    for (size_t i = b.blocks[0]->params.size(); i < b.operands.size(); ++i) {
      operands.push_back(maps_.Materialise(builder(), Apply(b.operands[i])));
    }
    const Block* element = ElementBlock(b);
    EmitLike(b, op, std::move(operands), {element, VisitBlock(b.blocks[1])});
  }

  // The kept values of a filter are the elements themselves, read again where the predicate held;
  // where they are arrays, their indexes.
  void VisitFilter(const Binding& b) {
    const Block* predicate = ElementBlock(b);
    const Index index(predicate->params.begin(), predicate->params.end());
    Builder inner = builder().Nested();
    for (const Binding* binding : predicate->bindings) inner.Append(binding);
    Index yields = predicate->results;
    std::vector<const Var*> kept = {b.results[0]};
    for (size_t i = 0; i + 1 < b.results.size(); ++i) {
      if (b.blocks[0]->params[i]->type.IsArray()) continue;
      yields.push_back(maps_.Load(inner, Apply(b.operands[i]), index, ""));
      kept.push_back(Renamed(b.results[i + 1]));
    }
    std::vector<const Var*> places;
    if (kept.size() < b.results.size()) {
      yields.insert(yields.end(), index.begin(), index.end());
      const ir::Type type = ir::Type::Array(ir::DType::kI64, {b.results[0]});
      for (size_t axis = 0; axis < index.size(); ++axis)
        places.push_back(builder().NewVar(type, "at"));
    }
    kept.insert(kept.end(), places.begin(), places.end());
    const Block* element = inner.Finish(predicate->params, std::move(yields));
    builder().Emit(OpCode::kIfilter, std::move(kept), Extents(b), b.attrs, {element});
    for (size_t i = 0; i + 1 < b.results.size(); ++i) {
      if (b.blocks[0]->params[i]->type.IsArray())
        Gather(b.results[i + 1], Apply(b.operands[i]), places);
    }
  }

  // The slices of `array` at `places` of its leading axes.
  void Gather(const Var* original, const Operand& array, const std::vector<const Var*>& places) {
    const Var* result = Renamed(original);
    Builder inner = builder().Nested();
    std::vector<const Var*> params;
    const Index index = NewIndex(inner, result->type.rank(), params);
    Index whole;
    for (const Var* place : places) whole.push_back(inner.Load(place, {index[0]}));
    whole.insert(whole.end(), index.begin() + 1, index.end());
    const Operand element = maps_.Load(inner, array, whole, "");
    const Block* block = inner.Finish(std::move(params), {element});
    builder().Emit(OpCode::kImap, {result}, result->type.dims(), {}, {block});
  }

  // n when the two are equal or the other is 1, the other when n is 1.
  void VisitSize(const Binding& b) {
    const Index operands = Apply(b.operands);
    const Operand& n = operands[0];
    const Operand& m = operands[1];
    const auto same = [&](const Operand& a, const Operand& c) {
      return builder().Scalar(OpCode::kEq, {a, c});
    };
    const Operand repeats = same(n, Operand::Int(1));
    const Operand either = builder().Scalar(OpCode::kOr, {repeats, same(m, Operand::Int(1))});
    Index check = {builder().Scalar(OpCode::kOr, {same(n, m), either})};
    check.insert(check.end(), operands.begin() + 2, operands.end());
    check.insert(check.end(), {n, m});
    const auto places = static_cast<int64_t>(operands.size() - 2);
    const ir::Attributes attrs{{Attr::kSite, b.attrs.Int(Attr::kSite)}, {Attr::kAt, places}};
    builder().Emit(OpCode::kCheck, {}, std::move(check), attrs);
    Replace(b.result(), builder().Scalar(OpCode::kSelect, {repeats, m, n}, b.result()->hint));
  }

  void VisitCopy(const Binding& b) {
    const Operand source = Apply(b.operands[0]);
    const Operand target = Apply(b.operands[1]);
    const Index extents = Apply(ir::TypeOf(b.operands[1])).dims();
    if (maps_.MayOverlapItself(target)) return CopyInOrder(source, target, extents, {});
    Builder inner = builder().Nested();
    std::vector<const Var*> params;
    const Index index = NewIndex(inner, extents.size(), params);
    maps_.Store(inner, target, index, maps_.Load(inner, source, index, ""));
    if (extents.empty()) {
      for (const Binding* binding : inner.bindings()) builder().Append(binding);
      return;
    }
    builder().Emit(OpCode::kForeach, {}, extents, {}, {inner.Finish(std::move(params), {})});
  }

  // Of two elements that are one place the last is kept.
  void CopyInOrder(const Operand& source, const Operand& target, const Index& extents,
                   const Index& outer) {
    if (outer.size() == extents.size()) {
      return maps_.Store(builder(), target, outer, maps_.Load(builder(), source, outer, ""));
    }
    const Var* i = builder().NewVar(ir::DType::kI64, "i");
    Builder around = std::exchange(builder(), builder().Nested());
    Index index = outer;
    index.push_back(i);
    CopyInOrder(source, target, extents, index);
    const Block* block = builder().Finish({i}, {});
    builder() = std::move(around);
    builder().Emit(OpCode::kFor, {}, {Operand::Int(0), extents[outer.size()], Operand::Int(1)}, {},
                   {block});
  }

  void VisitAccess(const Binding& b) {
    const Index operands = Apply(b.operands);
    const bool is_load = b.op == OpCode::kLoad;
    const Index index(operands.begin() + 1, operands.end() - (is_load ? 0 : 1));
    if (is_load)
      return Replace(b.result(), maps_.Load(builder(), operands[0], index, b.result()->hint));
    maps_.Store(builder(), operands[0], index, operands.back());
  }

  // Any other operation takes arrays as they are, so views are given to it as values.
  void VisitOther(const Binding& b) {
    const Binding* rewritten = Rewrite(&b);
    if (!maps_.AnyView(rewritten->operands)) return builder().Append(rewritten);
    Binding copy = *rewritten;
    for (Operand& operand : copy.operands) operand = maps_.Materialise(builder(), operand);
    builder().Append(arena()->New(std::move(copy)));
  }

  void EmitLike(const Binding& b, OpCode op, Index operands, std::vector<const Block*> blocks) {
    std::vector<const Var*> results;
    for (const Var* result : b.results) results.push_back(Renamed(result));
    builder().Emit(op, std::move(results), std::move(operands), b.attrs, std::move(blocks));
  }

  // The result with its sizes rewritten.
  const Var* Renamed(const Var* result) {
    const ir::Type type = Apply(result->type);
    if (type == result->type) return result;
    const Var* renamed = builder().NewVar(type, result->hint);
    Replace(result, renamed);
    return renamed;
  }

  // The block with views that it yields made into values.
  const Block* WithArrays(const Block* block, bool by_index) {
    Builder inner = builder().Nested();
    for (const Binding* binding : block->bindings) inner.Append(binding);
    Index results = block->results;
    for (Operand& result : results) result = ArrayOf(inner, result, by_index);
    return inner.Finish(block->params, std::move(results));
  }

  IndexMaps maps_;
  std::unordered_set<const Block*> elements_;  // of imaps: the arrays that they yield are copied
};

}  // namespace

ir::Program ExpressByIndex(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return IndexForm(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
