// Names the sum over k of a[..k..] * b[..k..], under any two operations, as one `contract`.
//
// Before:
//   imap (%i, %j) in (%n, %m) { %s = ireduce (%k) in (%l) add from 0.0 { load %X[%i, %k]  load
//   %Y[%k, %j]  mul  yield }  yield %s }
// After:
//   contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { load %X[%i, %k]  load %Y[%k,
//   %j]  mul  yield }
// with what the map makes of the sum as its block `then`.
//
// Assumes: index form after fusion; index structure alone is looked at, never how the user spelled
// it.
// Refuses: a matrix times a vector, and whatever else has no two operands that each follow a free
// index which the other does not (only then is either used again while it is in registers); a
// computed index, as that of a window; an element with control flow, stores or
// checks; several or array accumulators; more than scalar code and loads beside the reduction.
#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
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

class ContractionFinder : public ir::Mutator {
 public:
  ContractionFinder(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    const Binding* reduction = b->op == OpCode::kImap ? ReductionOf(*rewritten) : nullptr;
    if (reduction != nullptr) {
      const std::string reason = WhyNot(*rewritten, *reduction);
      if (reason.empty()) {
        rewritten = Contract(*rewritten, *reduction);
        context_.Note(b->span, "recognised as a contraction", Topic::kContraction, Verdict::kDone);
      } else {
        // What uses nothing again never looked like one.
        context_.Note(b->span, "not a contraction: " + reason, Topic::kContraction,
                      Reuses(*rewritten, *reduction) ? Verdict::kRefused : Verdict::kAside);
      }
    }
    builder().Append(rewritten);
  }

 private:
  // The one ireduce of the map's block.
  static const Binding* ReductionOf(const Binding& map) {
    const Binding* reduction = nullptr;
    for (const Binding* b : map.blocks[0]->bindings) {
      if (b->op != OpCode::kIreduce) continue;
      if (reduction != nullptr) return nullptr;
      reduction = b;
    }
    return reduction;
  }

  // The element function, free indices first, with what the map makes before it and it reads.
  static Block ElementOf(const Binding& map, const Binding& reduction) {
    const Block& body = *map.blocks[0];
    Block element = *reduction.blocks[0];
    element.params.insert(element.params.begin(), body.params.begin(), body.params.end());
    VarSet needed = ir::FreeVars(element);
    std::vector<const Binding*> before;
    for (size_t at = body.bindings.size(); at-- > 0;) {
      const Binding* b = body.bindings[at];
      if (b->results.size() != 1 || !needed.contains(b->result())) continue;
      before.insert(before.begin(), b);
      ir::ForEachUse(*b, [&](const Var* used) { needed.insert(used); });
    }
    element.bindings.insert(element.bindings.begin(), before.begin(), before.end());
    return element;
  }

  std::string WhyNot(const Binding& map, const Binding& reduction) const {
    const Block& body = *map.blocks[0];
    for (const Binding* b : body.bindings) {
      const bool is_plain = ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
      if (!is_plain && b != &reduction)
        return "beside the sum it holds " + std::string(Name(b->op));
    }
    VarSet made = ir::DefinedVars(body);
    for (const Var* index : body.params) made.erase(index);
    for (const Operand& operand : reduction.operands) {
      if (made.contains(operand.var())) return "where it begins or ends is made beside it";
    }
    return WhyNotSummed(map, reduction, ElementOf(map, reduction));
  }

  static std::string WhyNotSummed(const Binding& map, const Binding& reduction,
                                  const Block& element) {
    if (reduction.results.size() != 1) return "it has several accumulators";
    const auto combine = ir::CombineOp(*reduction.blocks[1]);
    if (!combine) return "its combine is not one operation";
    const VarSet free(map.blocks[0]->params.begin(), map.blocks[0]->params.end());
    const VarSet summed(reduction.blocks[0]->params.begin(), reduction.blocks[0]->params.end());
    for (const Operand& extent : reduction.operands) {
      if (extent.IsVar() && free.contains(extent.var())) return "how much it sums depends on where";
    }
    const VarSet made = ir::DefinedVars(element);
    for (const Binding* b : element.bindings) {
      if (b->op != OpCode::kLoad && !ir::IsScalarOp(b->op))
        return "its element holds " + std::string(Name(b->op));
      if (b->op != OpCode::kLoad) continue;
      for (size_t k = 1; k < b->operands.size(); ++k) {
        const Var* index = b->operands[k].var();
        if (made.contains(index) && !free.contains(index) && !summed.contains(index))
          return "an operand's index is computed";
      }
    }
    return Reuses(map, reduction)
               ? ""
               : "no two operands are used again, each along an index of the other";
  }

  // True where two loads that follow what is summed each follow a free index which the other does
  // not.
  static bool Reuses(const Binding& map, const Binding& reduction) {
    VarSet free;  // but for those of one element
    for (size_t axis = 0; axis < map.operands.size(); ++axis) {
      if (!map.operands[axis].IsInt(1)) free.insert(map.blocks[0]->params[axis]);
    }
    const VarSet summed(reduction.blocks[0]->params.begin(), reduction.blocks[0]->params.end());
    std::vector<VarSet> uses;
    for (const Binding* b : ElementOf(map, reduction).bindings) {
      if (b->op != OpCode::kLoad) continue;
      VarSet of_load;
      bool sums = false;
      for (size_t k = 1; k < b->operands.size(); ++k) {
        const Var* index = b->operands[k].var();
        sums |= summed.contains(index);
        if (free.contains(index)) of_load.insert(index);
      }
      if (sums) uses.push_back(std::move(of_load));
    }
    return std::any_of(uses.begin(), uses.end(), [&](const VarSet& a) {
      return std::any_of(uses.begin(), uses.end(),
                         [&](const VarSet& b) { return Exceeds(a, b) && Exceeds(b, a); });
    });
  }

  // True where some of `a` is not in `b`.
  static bool Exceeds(const VarSet& a, const VarSet& b) {
    return std::any_of(a.begin(), a.end(), [&](const Var* index) { return !b.contains(index); });
  }

  const Binding* Contract(const Binding& map, const Binding& reduction) {
    const Block& body = *map.blocks[0];
    Binding contract = map;
    contract.op = OpCode::kContract;
    contract.operands.insert(contract.operands.end(), reduction.operands.begin(),
                             reduction.operands.end());
    contract.blocks = {ir::CloneBlock(arena(), ElementOf(map, reduction)), reduction.blocks[1]};
    contract.attrs = map.attrs.With(Attr::kFree, static_cast<int64_t>(body.params.size()));
    const bool is_all = body.results.size() == 1 && body.results[0] == Operand(reduction.result());
    if (!is_all) contract.blocks.push_back(ThenOf(body, reduction));
    return arena()->New(std::move(contract));
  }

  // What the map makes of the sum.
  const Block* ThenOf(const Block& body, const Binding& reduction) {
    Block then = body;
    std::erase(then.bindings, &reduction);
    then.params.push_back(reduction.result());
    return ir::CloneBlock(arena(), then);
  }

  Context& context_;
};

}  // namespace

ir::Program RecognizeContractions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ContractionFinder(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
