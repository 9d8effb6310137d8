// Lets a contraction make, of each sum, the elements that its reader would make of it.
//
// Before:
//   %p: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... yield %c }
//   %r: [n][m]f64 = imap (%i, %j) in (%n, %m) { %s = load %p[%i, %j]  %b = load %v[%j]  ... yield
//   %e }
// After:
//   %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... yield %c }
//   then (%i, %j, %s) { %b = load %v[%j]  ... yield %e }
//
// A foreach that stores what it makes is a reader too: the contraction then has no result of its
// own. Sums that others read as well stay a result beside what is made of them.
//
// Assumes: index form after fusion: the reader is all that is made of the sums element by element.
// Refuses: a reader over other indices, or of other sums than that at its own index; one that may
// raise, or that holds a loop; one that writes what is summed, or behind such a write; orders in
// memory that differ where both are kept.
#include <algorithm>
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
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

class EpilogueFuser : public ir::Mutator {
 public:
  EpilogueFuser(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const auto sum = sums_.find(b);
    if (sum != sums_.end()) return Replace(b->result(), sum->second);
    Mutator::Visit(b);
  }

  const Block* VisitBlock(const Block* block) override {
    std::vector<const Binding*> bindings = block->bindings;
    for (size_t at = 0; at < bindings.size(); ++at) {
      if (bindings[at]->op == OpCode::kContract) FuseReader(bindings, at, *block);
    }
    if (bindings == block->bindings) return Mutator::VisitBlock(block);
    Block fused = *block;
    fused.bindings = std::move(bindings);
    return Mutator::VisitBlock(arena()->New(std::move(fused)));
  }

 private:
  // Where the first reader of the contraction's sums may take its place, it does.
  void FuseReader(std::vector<const Binding*>& bindings, size_t at, const Block& block) {
    const Binding& contract = *bindings[at];
    if (contract.results.size() != 1) return;
    const Var* sums = contract.result();
    const auto reads = [&](const Binding* b) { return ir::FreeVars(*b).contains(sums); };
    const auto first = std::find_if(bindings.begin() + at + 1, bindings.end(), reads);
    if (first == bindings.end()) return;
    const bool is_kept = std::any_of(first + 1, bindings.end(), reads) ||
                         std::count(block.results.begin(), block.results.end(), Operand(sums)) > 0;
    std::string reason = WhyNot(contract, **first, is_kept);
    const Effects effects = EffectsOf(contract, roots_);
    for (auto between = bindings.begin() + at + 1; between != first && reason.empty(); ++between) {
      if (Intersects(EffectsOf(**between, roots_).writes, effects.reads))
        reason = "what is summed is written before that";
    }
    if (!reason.empty())
      return context_.Note(contract.span, "its sums are stored before they are used: " + reason);
    context_.Note((*first)->span, "made of the contraction's sums as they are made", Topic::kFusion,
                  Verdict::kDone, contract.span);
    *first = Fused(contract, **first, is_kept);
    bindings.erase(bindings.begin() + at);
  }

  std::string WhyNot(const Binding& contract, const Binding& reader, bool is_kept) const {
    if (reader.op != OpCode::kImap && reader.op != OpCode::kForeach)
      return "they are read by " + std::string(Name(reader.op));
    const size_t free = contract.attrs.Int(Attr::kFree);
    const bool same =
        reader.operands.size() == free &&
        std::equal(reader.operands.begin(), reader.operands.end(), contract.operands.begin());
    if (!same) return "what reads them has other indices";
    if (is_kept && reader.op == OpCode::kImap && IsFortran(contract) != IsFortran(reader))
      return "the two lie in memory in different orders";
    const std::string reason = WhyNotInPlace(reader, contract.result());
    if (!reason.empty()) return reason;
    const VarSet writes = EffectsOf(reader, roots_).writes;
    return Intersects(writes, EffectsOf(contract, roots_).reads)
               ? "what reads them writes what is summed"
               : "";
  }

  // Why the reader's block cannot stand where a sum is made.
  static std::string WhyNotInPlace(const Binding& reader, const Var* sums) {
    const Block& block = *reader.blocks[0];
    std::string reason;
    for (const Operand& result : block.results) {
      if (!ir::TypeOf(result).IsScalar()) reason = "arrays are made of them";
    }
    ir::ForEachBinding(block, [&](const Binding& b) {
      const bool is_plain = ir::IsScalarOp(b.op) || b.op == OpCode::kLoad ||
                            b.op == OpCode::kStore || b.op == OpCode::kIf;
      if (!is_plain) reason = "what reads them holds " + std::string(Name(b.op));
      const bool reads = std::count(b.operands.begin(), b.operands.end(), Operand(sums)) > 0;
      if (reads && !IsOwnElement(b, block)) reason = "another sum is read than the one just made";
    });
    return reason;
  }

  static bool IsOwnElement(const Binding& b, const Block& block) {
    return b.op == OpCode::kLoad &&
           std::equal(b.operands.begin() + 1, b.operands.end(), block.params.begin(),
                      block.params.end(),
                      [](const Operand& index, const Var* own) { return index == Operand(own); });
  }

  // The contraction with the reader's block behind it, in which what is made so far of the sum
  // stands for its loads.
  const Binding* Fused(const Binding& contract, const Binding& reader, bool is_kept) {
    const Var* sums = contract.result();
    const Block& block = *reader.blocks[0];
    Block then = ThenOf(contract);
    const Operand made = then.results[0];
    ir::ForEachBinding(block, [&](const Binding& b) {
      if (b.op == OpCode::kLoad && b.operands[0] == Operand(sums)) sums_.emplace(&b, made);
    });
    for (size_t k = 0; k < block.params.size(); ++k) Replace(block.params[k], then.params[k]);
    then.bindings.insert(then.bindings.end(), block.bindings.begin(), block.bindings.end());
    then.results = block.results;
    if (is_kept) then.results.insert(then.results.begin(), made);
    Binding fused = contract;
    fused.results = reader.results;
    if (is_kept) fused.results.insert(fused.results.begin(), sums);
    fused.blocks.resize(2);
    fused.blocks.push_back(arena()->New(std::move(then)));
    if (reader.op == OpCode::kImap) {
      fused.attrs = IsFortran(reader) ? contract.attrs.With(Attr::kFortran, int64_t{1})
                                      : contract.attrs.Without(Attr::kFortran);
    }
    fused.span = reader.span;
    return arena()->New(std::move(fused));
  }

  // What follows the sums already: nothing, if nothing does.
  Block ThenOf(const Binding& contract) {
    if (contract.blocks.size() > 2) return *contract.blocks[2];
    Block then;
    for (int64_t k = 0; k < contract.attrs.Int(Attr::kFree); ++k)
      then.params.push_back(builder().NewVar(ir::DType::kI64, "i"));
    then.params.push_back(builder().NewVar(contract.result()->type.dtype(), "s"));
    then.results = {Operand(then.params.back())};
    return then;
  }

  Roots roots_;
  Context& context_;
  std::unordered_map<const Binding*, Operand> sums_;  // loads, and what each is
};

}  // namespace

ir::Program FuseEpilogues(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return EpilogueFuser(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
