// Makes a reduction or scan of arrays by an element-wise combine one of their elements for each of
// them, so that no array is made at each step.
//
// Before:
//   %r: [m]f64 = ireduce (%i) in (%n) {
//     %row: [m]f64 = view %x offset (%i, 0) strides ((0), (1))
//     yield %row } combine (%a: [m]f64, %b: [m]f64) {
//     %c: [m]f64 = imap (%j) in (%m) { %p = load %a[%j]  %q = load %b[%j]  %s = add %p, %q  yield
//     %s }
//     yield %c }
// After:
//   %r: [m]f64 = imap (%j) in (%m) {
//     %t: f64 = ireduce (%i) in (%n) add { %p: f64 = load %x[%i, %j]  yield %p }
//     yield %t }
//
// A scan becomes a foreach of loops, which store every prefix in its row: a map of scans would have
// the scanned axis last. For kernels it becomes a foreach of scans and loops that store their
// prefixes, since threads share each of them.
//
// Assumes: index form. Each element combines in the order in which its array did.
// Refuses: a combine that reads another element than its own; blocks that store or may raise, since
// iterations then run in another order; scalars accumulated beside arrays, or arrays of several
// sizes; arrays that are no map or view of others; dear code that the elements of an array share,
// or that would be computed again at another index.
#include <algorithm>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
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

// What the elements of an array share may cost as much as about an exponential: it runs again for
// each of them.
constexpr int kCheapBeside = 16;
// An element may be computed again where that costs no more than about a load from cache.
constexpr int kCheapCost = 4;

// Writes blocks that yield arrays as blocks that yield one element of each.
class ElementWriter : public ir::Mutator {
 public:
  // Of arrays of these sizes, at this index.
  ElementWriter(ir::Arena* arena, const Index& sizes, Index own)
      : Mutator(arena), sizes_(sizes), own_(std::move(own)) {}

  // Why what was written is of no use; empty where it is.
  const std::string& reason() const { return reason_; }

  // The block, with scalars for parameters that are arrays, at the writer's index. It takes the
  // block's definitions over.
  const Block* Write(const Block& block) {
    Builder outer = std::exchange(builder(), builder().Nested());
    std::vector<const Var*> params;
    for (const Var* param : block.params) params.push_back(ScalarFor(param));
    Block beside;
    for (const Binding* b : block.bindings) {
      builder().set_span(b->span);
      if (!DefineArray(*b, block)) {
        beside.bindings.push_back(b);
        Visit(b);
      }
    }
    if (CostOf(beside) > kCheapBeside)
      Refuse("dear code that an array's elements share would run for each of them");
    Index results;
    for (const Operand& result : block.results) results.push_back(ElementAt(result, own_));
    const Block* written = builder().Finish(std::move(params), std::move(results));
    builder() = std::move(outer);
    return written;
  }

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kLoad && IsLocal(b->operands[0])) {
      Index index = Apply(b->operands);
      index.erase(index.begin());
      return Replace(b->result(), ElementAt(b->operands[0], index));
    }
    for (const Operand& operand : b->operands) {
      if (IsLocal(operand))
        Refuse(NameOf(operand.var()) + " is read as a whole by " + std::string(Name(b->op)));
    }
    Mutator::Visit(b);
  }

  const Block* VisitBlock(const Block* block) override {
    for (const Operand& result : block->results) {
      if (IsLocal(result)) Refuse(NameOf(result.var()) + " is chosen as a whole");
    }
    return Mutator::VisitBlock(block);
  }

 private:
  // A map that the block makes: what an element of it costs, with what that reads of other maps of
  // the block.
  struct Map {
    const Binding* binding;
    size_t result;
    int cost;
  };

  void Refuse(const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
  }

  const Var* ScalarFor(const Var* param) {
    if (!param->type.IsArray()) return param;
    const Var* scalar = builder().NewVar(param->type.dtype(), param->hint);
    accumulators_.insert(param);
    elements_[param] = scalar;
    return scalar;
  }

  bool IsLocal(const Operand& operand) const {
    return operand.IsVar() && (accumulators_.contains(operand.var()) ||
                               views_.contains(operand.var()) || maps_.contains(operand.var()));
  }

  // Notes what makes an array; false for what does not. A map over the index space of the results
  // is written here, at the writer's index, once for all that read it there.
  bool DefineArray(const Binding& b, const Block& block) {
    if (b.op == OpCode::kView) {
      views_[b.result()] = &b;
      return true;
    }
    if (b.op != OpCode::kImap) {
      const bool makes = std::any_of(b.results.begin(), b.results.end(),
                                     [](const Var* v) { return v->type.IsArray(); });
      if (makes) Refuse("an array is made by " + std::string(Name(b.op)) + " at each step");
      return false;
    }
    const int cost = CostOf(*b.blocks[0], [&](const Binding& inner) {
      const auto map =
          inner.op == OpCode::kLoad ? maps_.find(inner.operands[0].var()) : maps_.end();
      return map == maps_.end() ? int{InfoOf(inner.op).cost} : map->second.cost;
    });
    for (size_t k = 0; k < b.results.size(); ++k) maps_[b.results[k]] = {&b, k, cost};
    if (!HasOwnSpace(b, block)) return true;
    const Index elements = InlineAt(b, own_);
    for (size_t k = 0; k < b.results.size(); ++k) elements_[b.results[k]] = elements[k];
    return true;
  }

  // What is yielded has the sizes of the results, by whatever name.
  bool HasOwnSpace(const Binding& map, const Block& block) const {
    if (map.operands.size() != own_.size()) return false;
    return Apply(map.operands) == sizes_ ||
           std::any_of(block.results.begin(), block.results.end(), [&](const Operand& result) {
             return std::count(map.results.begin(), map.results.end(), result.var()) > 0;
           });
  }

  Index InlineAt(const Binding& map, const Index& index) {
    const Block* copy = ir::CloneBlock(arena(), *map.blocks[0]);
    for (size_t axis = 0; axis < index.size(); ++axis) Replace(copy->params[axis], index[axis]);
    for (const Binding* b : copy->bindings) {
      builder().set_span(b->span);
      Visit(b);
    }
    return Apply(copy->results);
  }

  // The element of an array at an index, both as they read in the block being written.
  Operand ElementAt(const Operand& array, const Index& index) {
    const Var* var = array.var();
    const auto element = index == own_ ? elements_.find(var) : elements_.end();
    if (element != elements_.end()) return element->second;
    if (const auto view = views_.find(var); view != views_.end())
      return ElementOfView(*view->second, index);
    if (const auto map = maps_.find(var); map != maps_.end())
      return ElementOfMap(map->second, index);
    if (!accumulators_.contains(var)) return builder().Load(Apply(array), index);
    Refuse("its combine reads another element of " + NameOf(var) + " than its own");
    return ir::ZeroOf(var->type.dtype());
  }

  Operand ElementOfMap(const Map& map, const Index& index) {
    const Var* result = map.binding->results[map.result];
    if (map.binding->operands.size() != index.size()) {
      Refuse("the elements of " + NameOf(result) + " are arrays");
    } else if (map.cost > kCheapCost) {
      Refuse(NameOf(result) + " is dear and read at other elements");
    }
    if (!reason_.empty()) return ir::ZeroOf(result->type.dtype());
    return InlineAt(*map.binding, index)[map.result];
  }

  // Root index k is offset k and, for each index of the view, coefficient times index.
  Operand ElementOfView(const Binding& view, const Index& index) {
    const Operand& root = view.operands[0];
    const size_t rank = ir::TypeOf(root).rank();
    if (view.attrs.Int(Attr::kFlat) != 0 && rank != 1) {
      Refuse(NameOf(view.result()) + " is a reshaped array");
      return ir::ZeroOf(ir::DTypeOf(root));
    }
    Index place;
    for (size_t k = 0; k < rank; ++k) {
      Operand at = Apply(view.operands[1 + k]);
      for (size_t axis = 0; axis < index.size(); ++axis) {
        const Operand step = Apply(view.operands[1 + rank + k * index.size() + axis]);
        at = builder().Add(at, builder().Mul(index[axis], step));
      }
      place.push_back(at);
    }
    return ElementAt(root, place);
  }

  const Index& sizes_;
  const Index own_;
  std::string reason_;
  ir::VarSet accumulators_;
  ir::DefinitionMap views_;
  std::unordered_map<const Var*, Map> maps_;
  std::unordered_map<const Var*, Operand> elements_;  // At own_.
};

class Interchanger : public ir::Mutator {
 public:
  Interchanger(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    const bool is_candidate =
        (b->op == OpCode::kIreduce || b->op == OpCode::kIscan) && HoldsArrays(*b->blocks[1]);
    if (!is_candidate || !Interchange(*rewritten)) builder().Append(rewritten);
  }

 private:
  // What is reduced or scanned at one index of the arrays.
  struct Element {
    Index sizes;  // Of the arrays.
    std::vector<const Var*> index;
    Builder body;  // Where it is written; the inits are.
    Index inits;
    const Block* element = nullptr;
    const Block* combine = nullptr;
  };

  static bool HoldsArrays(const Block& combine) {
    return std::any_of(combine.results.begin(), combine.results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsArray(); });
  }

  std::string WhyNot(const Binding& b) const {
    const size_t accumulators = b.results.size();
    for (size_t k = 0; k < accumulators; ++k) {
      const ir::Type& type = b.blocks[1]->params[k]->type;
      if (!type.IsArray()) return "it accumulates scalars and arrays together";
      if (type.rank() == 0) return "its arrays have no axes";
      if (b.results[k]->type.dims() != b.results[0]->type.dims())
        return "its arrays have several sizes";
    }
    for (const Block* block : b.blocks) {
      const std::string which = block == b.blocks[0] ? "its elements" : "its combine";
      const Effects effects = EffectsOf(*block, roots_);
      if (effects.may_fail) return which + " may raise";
      if (!effects.writes.empty()) return which + (block == b.blocks[0] ? " store" : " stores");
    }
    return "";
  }

  // Writes what stands for the binding; false where it stays.
  bool Interchange(const Binding& b) {
    std::string reason = WhyNot(b);
    Element element{{}, {}, builder().Nested(), {}};
    if (reason.empty()) reason = WriteElement(b, element);
    const bool is_scan = b.op == OpCode::kIscan;
    if (!reason.empty()) {
      context_.Note(
          b.span,
          std::string(is_scan ? "not scanned" : "not reduced") + " element by element: " + reason,
          Topic::kNests, Verdict::kRefused);
      return false;
    }
    context_.Note(
        b.span, is_scan ? "each element is scanned by itself" : "each element is reduced by itself",
        Topic::kNests, Verdict::kDone);
    if (!is_scan) WriteReductions(b, element);
    else if (context_.options.kernels) WriteRowScans(b, element);
    else WriteScans(b, element);
    return true;
  }

  // Why the binding has no such element; empty where it has.
  std::string WriteElement(const Binding& b, Element& e) const {
    e.sizes = b.results[0]->type.dims();
    if (b.op == OpCode::kIscan) e.sizes.erase(e.sizes.begin());
    for (size_t axis = 0; axis < e.sizes.size(); ++axis)
      e.index.push_back(e.body.NewVar(ir::DType::kI64, "j"));
    const Index own(e.index.begin(), e.index.end());
    for (size_t k = b.blocks[0]->params.size(); k < b.operands.size(); ++k)
      e.inits.push_back(e.body.Load(b.operands[k], own));
    ElementWriter writer(arena(), e.sizes, own);
    e.element = writer.Write(*b.blocks[0]);
    e.combine = writer.Write(*b.blocks[1]);
    return writer.reason();
  }

  void WriteReductions(const Binding& b, Element& e) {
    std::vector<const Var*> totals;
    for (const Var* result : b.results)
      totals.push_back(e.body.NewVar(result->type.dtype(), result->hint));
    Index operands(b.operands.begin(), b.operands.begin() + b.blocks[0]->params.size());
    operands.insert(operands.end(), e.inits.begin(), e.inits.end());
    e.body.Emit(OpCode::kIreduce, totals, std::move(operands), b.attrs, {e.element, e.combine});
    const Block* block = e.body.Finish(e.index, Index(totals.begin(), totals.end()));
    builder().Emit(OpCode::kImap, b.results, e.sizes, {}, {block});
  }

  void WriteRowScans(const Binding& b, Element& e) {
    for (const Var* result : b.results)
      builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
    std::vector<const Var*> rows;
    Index operands = {b.operands[0]};
    operands.insert(operands.end(), e.inits.begin(), e.inits.end());
    for (const Var* result : b.results) {
      const ir::Type type = ir::Type::Array(result->type.dtype(), {b.operands[0]});
      rows.push_back(e.body.NewVar(type, result->hint));
    }
    e.body.Emit(OpCode::kIscan, rows, std::move(operands), b.attrs, {e.element, e.combine});
    Builder stores = e.body.Nested();
    const Var* i = stores.NewVar(ir::DType::kI64, "i");
    Index prefixes;
    for (const Var* row : rows) prefixes.push_back(stores.Load(row, {i}));
    StoreAt(stores, b, e, i, prefixes);
    e.body.Emit(OpCode::kForeach, {}, {b.operands[0]}, {}, {stores.Finish({i}, {})});
    WriteForeach(b, e, true);
  }

  // A loop an element, since a map of scans would have the scanned axis last. Without an init it
  // starts behind the first element, where there is one.
  void WriteScans(const Binding& b, Element& e) {
    for (const Var* result : b.results)
      builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
    const bool has_init = !e.inits.empty();
    Index so_far = e.inits;
    if (!has_init) {
      so_far = ir::InlineBlock(e.body, *e.element, Index{Operand::Int(0)});
      StoreAt(e.body, b, e, Operand::Int(0), so_far);
    }
    Builder step = e.body.Nested();
    const Var* i = step.NewVar(ir::DType::kI64, "i");
    std::vector<const Var*> params = {i};
    std::vector<const Var*> totals;
    for (const Operand& start : so_far) {
      params.push_back(step.NewVar(ir::TypeOf(start), "acc"));
      totals.push_back(step.NewVar(ir::TypeOf(start), "acc"));
    }
    Index both(params.begin() + 1, params.end());
    const Index right = ir::InlineBlock(step, *e.element, Index{i});
    both.insert(both.end(), right.begin(), right.end());
    Index next = ir::InlineBlock(step, *e.combine, both);
    StoreAt(step, b, e, i, next);
    const Block* block = step.Finish(std::move(params), std::move(next));
    Index operands = {Operand::Int(has_init ? 0 : 1), b.operands[0], Operand::Int(1)};
    operands.insert(operands.end(), so_far.begin(), so_far.end());
    e.body.Emit(OpCode::kFor, totals, std::move(operands), {}, {block});
    WriteForeach(b, e, has_init);
  }

  void WriteForeach(const Binding& b, Element& e, bool even_of_none) {
    const Block* each = e.body.Finish(e.index, {});
    if (even_of_none) return void(builder().Emit(OpCode::kForeach, {}, e.sizes, {}, {each}));
    Builder inner = builder().Nested();
    inner.Emit(OpCode::kForeach, {}, e.sizes, {}, {each});
    const Operand some = builder().Scalar(OpCode::kGt, {b.operands[0], Operand::Int(0)});
    const Block* none = builder().Nested().Finish({}, {});
    builder().Emit(OpCode::kIf, {}, {some}, {}, {inner.Finish({}, {}), none});
  }

  static void StoreAt(Builder& body, const Binding& b, const Element& e, const Operand& i,
                      const Index& values) {
    Index place = {i};
    place.insert(place.end(), e.index.begin(), e.index.end());
    for (size_t k = 0; k < values.size(); ++k) body.Store(b.results[k], place, values[k]);
  }

  Roots roots_;
  Context& context_;
};

}  // namespace

ir::Program InterchangeReductions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Interchanger(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
