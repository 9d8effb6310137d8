// Writes out what loops do with rows of a few elements, and makes numbers of the arrays that only
// such code reads: the coordinates of points, the state of a small system.
//
// Before:
//   %e: f64 = for %j in 0 to %n step 1 (%s: f64 = 0.0) {
//     %d: [3]f64 = imap (%k) in (3) {
//       %a = load %x[%i, %k]  %b = load %x[%j, %k]  %c = sub %a, %b  yield %c }
//     %r: f64 = ireduce (%k) in (3) add from 0.0 {
//       %a = load %d[%k]  %b = mul %a, %a  yield %b }
//     %t = add %s, %r  yield %t }
// After:
//   %e: f64 = for %j in 0 to %n step 1 (%s: f64 = 0.0) {
//     %a = load %x[%i, 0]  %b = load %x[%j, 0]  %c = sub %a, %b
//     ...
//     %b = mul %c, %c  %b.1 = mul %c.1, %c.1  %b.2 = mul %c.2, %c.2
//     %r = add %b, %b.1  %r.1 = add %r, %b.2
//     %t = add %s, %r.1  yield %t }
//
// So are the arrays that loops and branches pass on.
//
// Where an entry function's last axes would be written out if they were so short, and nobody knows
// how long they are, it checks that they are longer.
//
// Assumes: where that check fails, whose site is new and has the exception kShortAxes, the caller
// runs the program made with these sizes known; index form as express_by_index leaves it: an array
// stands for each step of an expression. Sums are taken in order, as those of few elements that
// stand in loops are (choose_trees.cc): no bit changes there.
// Refuses: arrays that are stored to behind where they are made, or read at places that are not
// known; operators that hold loops in order; functions where nothing takes a row apart, which go
// along memory better.
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/fold.h"
#include "passes/analyses/holds_op.h"
#include "passes/analyses/short_rows.h"
#include "passes/lowering/check_long.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

size_t CountOf(const std::vector<Operand>& extents) {
  size_t count = 1;
  for (const Operand& extent : extents) count *= size_t(extent.constant().integer);
  return count;
}

class RowUnroller : public LoopWriter {
 public:
  RowUnroller(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), rows_(function, {}), context_(context) {}

  bool HasNothing() const { return !rows_.IsWorthIt(); }

 protected:
  void Visit(const Binding* b) override {
    if (rows_.IsWrittenOut(b)) return WriteOut(*b);
    switch (b->op) {
      case OpCode::kAlloc:
        if (rows_.IsElements(b->result())) return Begin(*b);
        break;
      case OpCode::kStore:
        if (rows_.IsElements(b->operands[0].var())) return Keep(*b);
        break;
      case OpCode::kLoad:
        if (rows_.IsElements(b->operands[0].var())) return Replace(b->result(), ElementAt(*b));
        break;
      case OpCode::kIf:
        if (TakeBranch(*b)) return;
        [[fallthrough]];
      case OpCode::kFor:
      case OpCode::kWhile:
        if (PassesElements(*b)) return WriteJoin(*b);
        break;
      default:
        if (Fold(*b)) return;
    }
    is_copied_ ? AppendCopy(*b) : Mutator::Visit(b);
  }

 private:
  void WriteOut(const Binding& b) {
    context_.Note(b.span, "its short axis is written out", Topic::kNests, Verdict::kDone);
    const bool was_copied = std::exchange(is_copied_, true);
    if (b.op == OpCode::kImap) WriteMap(b);
    if (b.op == OpCode::kIreduce) WriteReduction(b);
    if (b.op == OpCode::kForeach) ForEachIndex(b, [&](const Operands& i) { Element(b, i); });
    is_copied_ = was_copied;
  }

  // In C order, which is that of the elements of an array.
  void ForEachIndex(const Binding& b, const std::function<void(const Operands& index)>& see) {
    const Operands extents(b.operands.begin(), b.operands.begin() + RankOf(b));
    Operands index(extents.size(), Int(0));
    for (size_t count = CountOf(extents); count > 0; --count) {
      see(index);
      for (size_t axis = extents.size(); axis-- > 0;) {
        const int64_t next = index[axis].constant().integer + 1;
        index[axis] = Int(next < extents[axis].constant().integer ? next : 0);
        if (next < extents[axis].constant().integer) break;
      }
    }
  }
  static int64_t RankOf(const Binding& b) { return int64_t(b.blocks[0]->params.size()); }

  Operands Element(const Binding& b, const Operands& index) {
    return VisitBody(*b.blocks[0], index);
  }

  void WriteMap(const Binding& b) {
    std::vector<Operands> made(b.results.size());
    ForEachIndex(b, [&](const Operands& index) {
      Element(b, index);
      for (size_t k = 0; k < made.size(); ++k) Add(b.blocks[0]->results[k], b.results[k], made[k]);
    });
    for (size_t k = 0; k < made.size(); ++k) elements_[b.results[k]] = std::move(made[k]);
  }

  void WriteReduction(const Binding& b) {
    Operands sum = Apply(Operands(b.operands.begin() + RankOf(b), b.operands.end()));
    ForEachIndex(b, [&](const Operands& index) {
      const Operands element = Element(b, index);
      sum = sum.empty() ? element : Combine(*b.blocks[1], sum, element);
    });
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], sum[k]);
  }

  Operands Combine(const Block& combine, Operands left, const Operands& right) {
    left.insert(left.end(), right.begin(), right.end());
    return VisitBody(combine, left);
  }

  // The value, or the elements of the array, that goes into `result`, which is elements.
  void Add(const Operand& value, const Var* result, Operands& to) {
    if (!value.IsVar() || !value.var()->type.IsArray()) return to.push_back(Apply(value));
    const Operands elements = ElementsOf(value.var(), result->type.dims());
    to.insert(to.end(), elements.begin(), elements.end());
  }

  // As many as the last of those sizes say: the array's own may be known by another name.
  Operands ElementsOf(const Var* array, const std::vector<Operand>& sizes) {
    if (rows_.IsElements(array)) return elements_.at(array);
    Operands elements;
    const std::vector<Operand> dims(sizes.end() - array->type.rank(), sizes.end());
    for (size_t place = 0; place < CountOf(dims); ++place)
      elements.push_back(builder().Load(Apply(array), IndexOf(place, dims)));
    return elements;
  }

  static Operands IndexOf(size_t place, const std::vector<Operand>& dims) {
    Operands index(dims.size());
    for (size_t axis = dims.size(); axis-- > 0;) {
      const auto size = size_t(dims[axis].constant().integer);
      index[axis] = Int(int64_t(place % size));
      place /= size;
    }
    return index;
  }

  // Where the place in `b`, a load or a store, is among the elements; what nothing reaches may be
  // outside.
  std::optional<size_t> PlaceOf(const Binding& b) const {
    const std::vector<Operand>& dims = b.operands[0].var()->type.dims();
    size_t place = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const int64_t index = Apply(b.operands[axis + 1]).constant().integer;
      const int64_t size = dims[axis].constant().integer;
      if (index < 0 || index >= size) return std::nullopt;
      place = place * size_t(size) + size_t(index);
    }
    return place;
  }

  Operand ElementAt(const Binding& load) {
    const std::optional<size_t> place = PlaceOf(load);
    const ir::DType dtype = load.result()->type.dtype();
    return place ? elements_.at(load.operands[0].var())[*place] : ir::ZeroOf(dtype);
  }

  void Begin(const Binding& alloc) {
    elements_[alloc.result()].resize(CountOf(alloc.result()->type.dims()));
  }
  void Keep(const Binding& store) {
    elements_.at(store.operands[0].var())[*PlaceOf(store)] = Apply(store.operands.back());
  }

  // A branch of which is known which way it goes, as one may be that asks for an index.
  bool TakeBranch(const Binding& branch) {
    const Operand condition = Apply(branch.operands[0]);
    if (!is_copied_ || !condition.IsConstant()) return false;
    const Block& block = *branch.blocks[condition.constant().integer != 0 ? 0 : 1];
    VisitBody(block, {});
    for (size_t k = 0; k < branch.results.size(); ++k) {
      const Var* result = branch.results[k];
      if (rows_.IsElements(result)) Add(block.results[k], result, elements_[result] = {});
      if (!rows_.IsElements(result)) Replace(result, Apply(block.results[k]));
    }
    return true;
  }

  bool Fold(const Binding& b) {
    if (!ir::IsScalarOp(b.op)) return false;
    const auto value = ir::Fold(b.op, Apply(b.operands), b.result()->type);
    if (value) Replace(b.result(), *value);
    return value.has_value();
  }

  // With definitions of its own, since the block is visited several times.
  void AppendCopy(const Binding& b) {
    Binding copy = *Rewrite(&b);
    for (const Var*& result : copy.results) {
      const Var* own = builder().NewVar(result->type, result->hint);
      Replace(std::exchange(result, own), own);
    }
    builder().Append(arena()->New(std::move(copy)));
  }

  bool PassesElements(const Binding& b) const {
    return std::any_of(b.results.begin(), b.results.end(),
                       [&](const Var* result) { return rows_.IsElements(result); });
  }

  // A loop or a branch that passes on elements in place of arrays.
  void WriteJoin(const Binding& b) {
    const size_t others = b.operands.size() - (b.op == OpCode::kIf ? 0 : b.results.size());
    Operands operands = Apply(Operands(b.operands.begin(), b.operands.begin() + int64_t(others)));
    for (size_t k = others; k < b.operands.size(); ++k)
      AddPassed(b.operands[k], b.results[k - others], operands);
    std::vector<const Block*> blocks;
    for (const Block* block : b.blocks) blocks.push_back(WriteBlock(b, *block));
    std::vector<const Var*> results;
    for (const Var* result : b.results) Define(result, result, results);
    builder().Emit(b.op, results, std::move(operands), b.attrs, std::move(blocks));
    for (const Var* result : b.results) {
      if (rows_.IsElements(result) && rows_.IsMadeToo(result)) Make(result);
    }
  }

  // What is passed on as that result: a value, or the elements of an array.
  void AddPassed(const Operand& value, const Var* result, Operands& to) {
    rows_.IsElements(result) ? Add(value, result, to) : to.push_back(Apply(value));
  }

  const Block* WriteBlock(const Binding& b, const Block& block) {
    const size_t others = block.params.size() - (b.op == OpCode::kIf ? 0 : b.results.size());
    std::vector<const Var*> params(block.params.begin(), block.params.begin() + int64_t(others));
    for (size_t k = others; k < block.params.size(); ++k)
      Define(block.params[k], b.results[k - others], params);
    return BlockOf(std::move(params), [&] {
      for (const Binding* inner : block.bindings) {
        builder().set_span(inner->span);
        Visit(inner);
      }
      const bool says_whether = b.op == OpCode::kWhile && &block == b.blocks[0];
      Operands results;
      for (size_t k = 0; k < block.results.size(); ++k) {
        says_whether ? results.push_back(Apply(block.results[k]))
                     : AddPassed(block.results[k], b.results[k], results);
      }
      return results;
    });
  }

  // Appends `var`, or the elements that it is where `result` is elements.
  void Define(const Var* var, const Var* result, std::vector<const Var*>& to) {
    if (!rows_.IsElements(result)) {
      const Var* own = is_copied_ ? builder().NewVar(Apply(var->type), var->hint) : var;
      if (own != var) Replace(var, own);
      return to.push_back(own);
    }
    Operands elements;
    for (size_t place = 0; place < CountOf(var->type.dims()); ++place) {
      to.push_back(builder().NewVar(ir::Type(var->type.dtype()), var->hint));
      elements.push_back(to.back());
    }
    elements_[var] = std::move(elements);
  }

  void Make(const Var* array) {
    const std::vector<Operand>& dims = array->type.dims();
    builder().Emit(OpCode::kAlloc, {array}, dims);
    const Operands& elements = elements_.at(array);
    for (size_t place = 0; place < elements.size(); ++place)
      builder().Store(array, IndexOf(place, dims), elements[place]);
  }

  const ShortRows rows_;
  std::unordered_map<const Var*, Operands> elements_;  // in C order
  bool is_copied_ = false;                             // in what is written out
  Context& context_;
};

bool HoldsLoop(const ir::Function& function) {
  return HoldsOp(*function.body, OpCode::kFor) || HoldsOp(*function.body, OpCode::kWhile);
}

// What would be written out if it were short.
std::vector<ShortTogether> ShorterRows(const ir::Function& function) {
  if (!HoldsLoop(function)) return {};
  ir::VarSet last;
  for (const ir::Param& param : function.params) {
    const ir::Type& type = param.var->type;
    if (type.IsArray() && type.rank() > 0 && type.dims().back().IsVar())
      last.insert(type.dims().back().var());
  }
  std::vector<ShortTogether> better;
  const ShortRows rows(function, last);
  for (const Var* size : function.Sizes()) {
    if (rows.lengths().contains(size)) better.push_back({size});
  }
  return better;
}

}  // namespace

ir::Program UnrollShortRows(const ir::Program& program, Context& context) {
  const ir::Program checked = CheckShortAxes(program, context, ShorterRows);
  return ForEachFunction(checked, [&](const ir::Function* function) {
    if (!HoldsLoop(*function)) return function;
    RowUnroller unroller(program.arena.get(), *function, context);
    return unroller.HasNothing() ? function : unroller.Run(function);
  });
}

}  // namespace parakeet::passes
