// Leaves out what fills an array whose elements a loop then stores all, before anything reads them.
//
// Before:
//   %h: [n][m]f64 = imap (%i, %j) in (%n, %m) { yield 0.0 }
//   for %i in 0 to %n step 1 { for %j in 0 to %m step 1 { ...  store %h[%i, %j], %a } }
// After:
//   %h: [n][m]f64 = alloc (%n, %m)
//   for %i in 0 to %n step 1 { for %j in 0 to %m step 1 { ...  store %h[%i, %j], %a } }
//
// An error on the way leaves an array that nobody sees.
//
// Assumes: index form; before loops are split at borders, whose parts would have to be put
// together.
// Refuses: loops that read the array, or whose ends are not its sizes; elements that are stored in
// a branch.
#include <algorithm>
#include <set>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool Uses(const Binding& b, const Var* array) {
  bool uses = false;
  ir::ForEachUse(b, [&](const Var* used) { uses |= used == array; });
  return uses;
}

// Of values that are there: what it makes may as well not be made.
bool IsFill(const Binding& b) {
  if (b.op != OpCode::kImap || b.results.size() != 1) return false;
  const auto& bindings = b.blocks[0]->bindings;
  return std::all_of(bindings.begin(), bindings.end(),
                     [](const Binding* in) { return ir::IsScalarOp(in->op); });
}

class FillDropper : public ir::Mutator {
 public:
  FillDropper(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context), forms_(function) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    for (size_t at = 0; at < block->bindings.size(); ++at) {
      const Binding& fill = *block->bindings[at];
      if (!IsFill(fill)) continue;
      const Var* array = fill.result();
      const auto user = std::find_if(block->bindings.begin() + at + 1, block->bindings.end(),
                                     [&](const Binding* b) { return Uses(*b, array); });
      if (user != block->bindings.end() && StoresAll(**user, *array)) dropped_.insert(&fill);
    }
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    if (!dropped_.contains(b)) return Mutator::Visit(b);
    context_.Note(b->span, "not filled: a loop stores all of it", Topic::kFusion, Verdict::kDone);
    Binding alloc = *Rewrite(b);
    alloc.op = OpCode::kAlloc;
    alloc.operands = alloc.result()->type.dims();
    alloc.blocks.clear();
    alloc.attrs =
        ir::IsFortran(*b) ? ir::Attributes{{Attr::kFortran, int64_t{1}}} : ir::Attributes{};
    builder().Append(arena()->New(std::move(alloc)));
  }

 private:
  bool StoresAll(const Binding& loop, const Var& array) const {
    bool stores_alone = true;
    ir::ForEachBinding(Block{{}, {&loop}, {}}, [&](const Binding& b) {
      for (size_t k = 0; k < b.operands.size(); ++k)
        stores_alone &= b.operands[k] != Operand(&array) || (b.op == OpCode::kStore && k == 0);
      for (const Block* block : b.blocks) {
        for (const Operand& result : block->results) stores_alone &= result != Operand(&array);
      }
    });
    return stores_alone && GoesThrough(loop, array, {});
  }

  // Whether the loop is the one along the next axis, and so on, and the innermost stores in each
  // iteration.
  bool GoesThrough(const Binding& loop, const Var& array, std::vector<Operand> index) const {
    const auto& dims = array.type.dims();
    const bool is_plain = loop.op == OpCode::kFor && loop.attrs.Text(Attr::kKind).empty() &&
                          loop.operands[0].IsInt(0) && loop.operands[2].IsInt(1);
    if (!is_plain || index.size() == dims.size()) return false;
    if (!SameForm(forms_.Of(loop.operands[1]), forms_.Of(dims[index.size()]))) return false;
    const Block& body = *loop.blocks[0];
    index.push_back(body.params[0]);
    return std::any_of(body.bindings.begin(), body.bindings.end(), [&](const Binding* b) {
      if (index.size() < dims.size()) return GoesThrough(*b, array, index);
      return b->op == OpCode::kStore && b->operands[0] == Operand(&array) &&
             std::equal(index.begin(), index.end(), b->operands.begin() + 1);
    });
  }

  Context& context_;
  WrappingForms forms_;
  std::set<const Binding*> dropped_;
};

}  // namespace

ir::Program DropFills(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return FillDropper(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
