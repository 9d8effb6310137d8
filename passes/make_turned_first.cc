// Makes an array that a reduction reads in another order and another shape before it is reduced.
//
// Before: (%x is [m][n]f64; its columns, one behind the other, are reduced in rows of %k)
//   %r: [l]f64 = imap (%i) in (%l) { %s = ireduce (%j) in (%k) add from 0.0 {
//     %a = mul %i, %k  %at = add %a, %j  %p = mod %at, %m  %q = floordiv %at, %m
//     %b = load %x[%p, %q]  yield %b }  yield %s }
// After:
//   %c = mul %n, %m
//   %t: [c]f64 = imap (%at) in (%c) { %p = mod %at, %m  %q = floordiv %at, %m
//                                     %b = load %x[%p, %q]  yield %b }
//   %r: [l]f64 = imap (%i) in (%l) { %s = ireduce (%j) ... { ... %b = load %t[%at]  yield %b }
//                                    yield %s }
//
// A map's index is then taken apart by loops (split_indexes). That of a reduction cannot be, whose
// order follows from it: lanes would divide, and gather, for each element.
//
// Assumes: index form, behind flatten_loads, which leaves none of this to arrays in C order.
// Refuses: divisors that are all constant; arrays that the nest makes; nests that store; what is
// not surely read as often as the array has elements: a part of it, or where a branch is taken.
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/uses.h"
#include "passes/analyses/size_factors.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// How a place is taken apart to the index of an array: the axes from the one that changes fastest.
struct TurnedLoad {
  const Binding* load;
  Operand place;
  std::vector<size_t> axes;

  bool IsOfSame(const TurnedLoad& other) const {
    return load->operands[0] == other.load->operands[0] && axes == other.axes;
  }
};

// The loads of a nest's reductions that take a place apart.
class TurnedLoads {
 public:
  TurnedLoads(const Binding& nest, const SizeFactors& factors) : factors_(factors) {
    is_pure_ = true;
    ForEachInside(nest, [&](const Binding& b) {
      const bool is_known = ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kIf ||
                            b.op == OpCode::kImap || b.op == OpCode::kIreduce;
      is_pure_ &= is_known;
      for (const Var* result : b.results) made_by_[result] = &b;
      if (b.op == OpCode::kFloorDiv) quotients_.push_back(&b);
    });
    if (is_pure_) Walk(nest, false);
  }

  const std::vector<TurnedLoad>& found() const { return found_; }

 private:
  template <typename See>
  static void ForEachInside(const Binding& nest, const See& see) {
    for (const Block* block : nest.blocks) ir::ForEachBinding(*block, see);
  }

  void Walk(const Binding& nest, bool in_reduction) {
    const size_t outer = reads_.size();
    for (size_t axis = 0; axis < nest.blocks[0]->params.size(); ++axis) {
      for (const Operand& factor : factors_.Of(nest.operands[axis])) reads_.push_back(factor);
    }
    const bool reduces = in_reduction || nest.op == OpCode::kIreduce;
    for (const Binding* b : nest.blocks[0]->bindings) {
      if (b->op == OpCode::kLoad && reduces) AddLoad(*b);
      if (b->op == OpCode::kImap || b->op == OpCode::kIreduce) Walk(*b, reduces);
    }
    reads_.resize(outer);
  }

  // True where the nest's iterations are as many as the array's elements, or more.
  bool IsReadWhole(const Operand& array) const {
    Operands left = reads_;
    for (const Operand& size : array.var()->type.dims()) {
      auto rest = factors_.Without(left, size);
      if (!rest) return false;
      left = std::move(*rest);
    }
    return true;
  }

  void AddLoad(const Binding& load) {
    const ir::Type& type = load.operands[0].var()->type;
    if (made_by_.contains(load.operands[0].var()) || type.rank() < 2) return;
    const bool divides = std::any_of(type.dims().begin(), type.dims().end(),
                                     [](const Operand& size) { return size.IsVar(); });
    if (!divides || !IsReadWhole(load.operands[0])) return;
    for (size_t axis = 0; axis < type.dims().size(); ++axis) {
      const Binding* digit = DefinitionOf(load.operands[1 + axis]);
      if (digit == nullptr || digit->op != OpCode::kMod) continue;
      TurnedLoad turned{&load, digit->operands[0], {}};
      if (!TakesApart(load, turned.place, turned.axes)) continue;
      found_.push_back(std::move(turned));
      return;
    }
  }

  const Binding* DefinitionOf(const Operand& value) const {
    const auto found = value.IsVar() ? made_by_.find(value.var()) : made_by_.end();
    return found == made_by_.end() ? nullptr : found->second;
  }

  // True where the axes that are not in `axes` yet have the digits of `rest`, the last one all of
  // it.
  bool TakesApart(const Binding& load, const Operand& rest, std::vector<size_t>& axes) const {
    const std::vector<Operand>& dims = load.operands[0].var()->type.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
      const Operand& index = load.operands[1 + axis];
      if (axes.size() + 1 == dims.size()) {
        axes.push_back(axis);
        return index == rest;
      }
      const Binding* digit = DefinitionOf(index);
      if (digit == nullptr || digit->op != OpCode::kMod) continue;
      if (digit->operands[0] != rest || digit->operands[1] != dims[axis]) continue;
      const Var* quotient = QuotientOf(rest, dims[axis]);
      if (quotient == nullptr) return false;
      axes.push_back(axis);
      return TakesApart(load, quotient, axes);
    }
    return false;
  }

  const Var* QuotientOf(const Operand& place, const Operand& divisor) const {
    const auto found = std::find_if(quotients_.begin(), quotients_.end(), [&](const Binding* b) {
      return b->operands[0] == place && b->operands[1] == divisor;
    });
    return found == quotients_.end() ? nullptr : (*found)->result();
  }

  using Operands = SizeFactors::Operands;

  const SizeFactors& factors_;
  bool is_pure_;
  Operands reads_;  // The factors of how often what is visited is.
  ir::DefinitionMap made_by_;
  std::vector<const Binding*> quotients_;
  std::vector<TurnedLoad> found_;
};

class TurnedMaker : public LoopWriter {
 public:
  TurnedMaker(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), context_(context), factors_(function) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    const SizeFactors::Known known = factors_.known();
    const Block* made = LoopWriter::VisitBlock(block);
    factors_.Forget(known);
    return made;
  }

  void Visit(const Binding* b) override {
    const auto turned = lines_.find(b);
    if (turned != lines_.end()) {
      const auto& [line, place] = turned->second;
      return Replace(b->result(), builder().Load(line, {Apply(place)}));
    }
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kIreduce;
    if (is_nest && !inside_) MakeFirst(*b);
    const bool is_operator = ir::InfoOf(b->op).format == ir::OpFormat::kIndices;
    const bool outer = std::exchange(inside_, inside_ || is_operator);
    Mutator::Visit(b);
    inside_ = outer;
    factors_.Learn(*b);
  }

 private:
  void MakeFirst(const Binding& nest) {
    const TurnedLoads loads(nest, factors_);
    std::vector<std::pair<TurnedLoad, const Var*>> made;
    for (const TurnedLoad& turned : loads.found()) {
      auto same = std::find_if(made.begin(), made.end(),
                               [&](const auto& each) { return each.first.IsOfSame(turned); });
      if (same == made.end()) same = made.insert(made.end(), {turned, Make(turned)});
      lines_.insert({turned.load, {same->second, turned.place}});
    }
  }

  const Var* Make(const TurnedLoad& turned) {
    const Binding& load = *turned.load;
    context_.Note(load.span, "made in the order it is read in, before it is reduced", Topic::kNests,
                  Verdict::kDone);
    const Operand array = Apply(load.operands[0]);
    const std::vector<Operand> dims = array.var()->type.dims();
    Operand count = dims[turned.axes.back()];
    for (size_t k = turned.axes.size() - 1; k-- > 0;) {
      count = builder().Mul(count, dims[turned.axes[k]]);
    }
    const Var* at = builder().NewVar(ir::DType::kI64, "i");
    const Block* element = BlockOf({at}, [&]() -> Operands {
      Operands index(dims.size(), Int(0));
      Operand rest = at;
      for (size_t k = 0; k + 1 < turned.axes.size(); ++k) {
        const Operand& size = dims[turned.axes[k]];
        index[turned.axes[k]] = builder().Remainder(rest, size);
        rest = builder().Quotient(rest, size);
      }
      index[turned.axes.back()] = rest;
      return {builder().Load(array, index)};
    });
    const ir::Type type = ir::Type::Array(array.var()->type.dtype(), {count});
    return builder().EmitOne(OpCode::kImap, type, {count}, {}, {element}, "line");
  }

  Context& context_;
  SizeFactors factors_;
  bool inside_ = false;  // an operator
  // Loads that read an array which is made first, where.
  std::unordered_map<const Binding*, std::pair<const Var*, Operand>> lines_;
};

}  // namespace

ir::Program MakeTurnedFirst(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return TurnedMaker(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
