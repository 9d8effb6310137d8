// Names the sum over k of a[..k..] * b[..k..], under any two operations, as one `contract`.
//
// Before:
//   imap (%i, %j) in (%n, %m) { %s = ireduce (%k) in (%l) add from 0.0 { load %X[%i, %k]  load
//   %Y[%k, %j]  mul  yield }  yield %s }
// After:
//   contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { load %X[%i, %k]  load %Y[%k,
//   %j]  mul  yield }
//
// Assumes: index form after fusion; index structure alone is looked at, never how the user spelled
// it.
// Refuses: a matrix times a vector, and whatever else has no two operands that each follow a free
// index which the other does not (only then is either used again while it is in registers); an
// element with control flow, stores or checks; several or array accumulators; code beside the
// reduction.
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
  // The ireduce that is all of the map's block.
  static const Binding* ReductionOf(const Binding& map) {
    const Block& body = *map.blocks[0];
    if (body.bindings.size() != 1 || body.bindings[0]->op != OpCode::kIreduce) return nullptr;
    const Binding* reduction = body.bindings[0];
    const bool is_all =
        body.results.size() == 1 && body.results[0] == Operand(reduction->results[0]);
    return is_all ? reduction : nullptr;
  }

  static std::string WhyNot(const Binding& map, const Binding& reduction) {
    if (reduction.results.size() != 1) return "it has several accumulators";
    const auto combine = ir::CombineOp(*reduction.blocks[1]);
    if (!combine) return "its combine is not one operation";
    const Block& element = *reduction.blocks[0];
    const VarSet free(map.blocks[0]->params.begin(), map.blocks[0]->params.end());
    const VarSet summed(element.params.begin(), element.params.end());
    for (const Operand& extent : reduction.operands) {
      if (extent.IsVar() && free.contains(extent.var())) return "how much it sums depends on where";
    }
    for (const Binding* b : element.bindings) {
      if (b->op != OpCode::kLoad && !ir::IsScalarOp(b->op))
        return "its element holds " + std::string(Name(b->op));
      if (b->op != OpCode::kLoad) continue;
      for (size_t k = 1; k < b->operands.size(); ++k) {
        const Var* index = b->operands[k].var();
        if (index != nullptr && !free.contains(index) && !summed.contains(index))
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
    const Block& element = *reduction.blocks[0];
    const VarSet free(map.blocks[0]->params.begin(), map.blocks[0]->params.end());
    const VarSet summed(element.params.begin(), element.params.end());
    std::vector<VarSet> uses;
    for (const Binding* b : element.bindings) {
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
    Binding contract = map;
    contract.op = OpCode::kContract;
    contract.operands.insert(contract.operands.end(), reduction.operands.begin(),
                             reduction.operands.end());
    Block element = *reduction.blocks[0];
    const std::vector<const Var*>& free = map.blocks[0]->params;
    element.params.insert(element.params.begin(), free.begin(), free.end());
    contract.blocks = {arena()->New(std::move(element)), reduction.blocks[1]};
    contract.attrs = map.attrs.With(Attr::kFree, static_cast<int64_t>(free.size()));
    return arena()->New(std::move(contract));
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
