// Makes a reduction of arrays by an element-wise combine a map of reductions of their elements, so
// that no array is made at each step.
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
// Assumes: index form. Each element combines in the order in which its array did.
// Refuses: a combine that reads another element than its own; blocks that store or may raise, since
// iterations then run in another order; scalars accumulated beside arrays, or arrays of several
// sizes; arrays that are no map or view of others; dear code that the elements of an array share,
// or that would be computed again at another index; scans, whose results have the scanned axis
// first: a map of scans would have it last.
#include <algorithm>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/find_cost.h"
#include "passes/find_effects.h"
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

  // The element of an array from outside, in the block being written.
  Operand Load(Builder& builder, const Operand& array) const { return builder.Load(array, own_); }

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
  std::unordered_map<const Var*, const Binding*> views_;
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
    builder().Append(is_candidate ? Interchange(*rewritten) : rewritten);
  }

 private:
  static bool HoldsArrays(const Block& combine) {
    return std::any_of(combine.results.begin(), combine.results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsArray(); });
  }

  std::string WhyNot(const Binding& b) const {
    if (b.op == OpCode::kIscan) return "its rows are stored as they come";
    for (const Var* result : b.results) {
      if (!result->type.IsArray()) return "it accumulates scalars and arrays together";
      if (result->type.rank() == 0) return "its arrays have no axes";
      if (result->type.dims() != b.results[0]->type.dims()) return "its arrays have several sizes";
    }
    for (const Block* block : b.blocks) {
      const std::string which = block == b.blocks[0] ? "its elements" : "its combine";
      const Effects effects = EffectsOf(*block, roots_);
      if (effects.may_fail) return which + " may raise";
      if (!effects.writes.empty()) return which + " store" + (block == b.blocks[0] ? "" : "s");
    }
    return "";
  }

  // The binding itself where it stays.
  const Binding* Interchange(const Binding& b) {
    std::string reason = WhyNot(b);
    const Binding* map = &b;
    if (reason.empty()) map = MapOfReductions(b, reason);
    context_.Note(b.span, reason.empty() ? "each element is reduced by itself"
                                         : "not reduced element by element: " + reason);
    return reason.empty() ? map : &b;
  }

  const Binding* MapOfReductions(const Binding& b, std::string& reason) {
    Builder body = builder().Nested();
    const std::vector<Operand>& dims = b.results[0]->type.dims();
    std::vector<const Var*> params;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      params.push_back(body.NewVar(ir::DType::kI64, "j"));
    ElementWriter writer(arena(), dims, Index(params.begin(), params.end()));
    const size_t extents = b.blocks[0]->params.size();
    Index operands(b.operands.begin(), b.operands.begin() + extents);
    for (size_t k = extents; k < b.operands.size(); ++k)
      operands.push_back(writer.Load(body, b.operands[k]));
    const std::vector<const Block*> blocks = {writer.Write(*b.blocks[0]),
                                              writer.Write(*b.blocks[1])};
    reason = writer.reason();
    std::vector<const Var*> totals;
    for (const Var* result : b.results)
      totals.push_back(body.NewVar(result->type.dtype(), result->hint));
    body.Emit(OpCode::kIreduce, totals, std::move(operands), b.attrs, blocks);
    const Block* block = body.Finish(std::move(params), Index(totals.begin(), totals.end()));
    return arena()->New(Binding{OpCode::kImap, b.results, dims, {block}, {}, b.span});
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
