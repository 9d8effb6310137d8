// Sums complex numbers as their real parts and their imaginary parts: sums of floats take lanes.
//
// Before:
//   %s: c128 = ireduce (%i) in (%n) add from (0.0,0.0):c128 { ... yield %z }
// After:
//   %a: f64, %b: f64 = ireduce (%i) in (%n) (add, add) from (0.0, 0.0) {
//     ... %x = real %z  %y = imag %z  yield %x, %y }
//   %s: c128 = complex %a, %b
//
// Assumes: index form, behind fusion and what looks for sums; before their order is chosen.
// Refuses: other combines than sums, and sums beside what is not combined by one operation.
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = std::vector<Operand>;

bool IsComplexScalar(const ir::Type& type) {
  return type.IsScalar() && ir::IsComplex(type.dtype());
}

class ComplexSumSplitter : public ir::Mutator {
 public:
  using Mutator::Mutator;

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kIreduce || !HasComplexSum(*b)) return Mutator::Visit(b);
    Write(*Rewrite(b));
  }

 private:
  static bool IsComplexSum(const Binding& reduction, size_t k) {
    return IsComplexScalar(reduction.results[k]->type) &&
           ir::CombineOp(*reduction.blocks[1], int(k)) == OpCode::kAdd;
  }

  static bool HasComplexSum(const Binding& reduction) {
    bool has = false;
    for (size_t k = 0; k < reduction.results.size(); ++k) {
      if (!ir::CombineOp(*reduction.blocks[1], int(k))) return false;
      has |= IsComplexSum(reduction, k);
    }
    return has;
  }

  // One for each accumulator, two for a complex sum's.
  Operands Split(ir::Builder& at, const Binding& reduction, const Operand* values) {
    Operands split;
    for (size_t k = 0; k < reduction.results.size(); ++k) {
      if (!IsComplexSum(reduction, k)) {
        split.push_back(values[k]);
        continue;
      }
      split.push_back(at.Scalar(OpCode::kReal, {values[k]}));
      split.push_back(at.Scalar(OpCode::kImag, {values[k]}));
    }
    return split;
  }

  void Write(const Binding& reduction) {
    const Block& element = *reduction.blocks[0];
    const size_t rank = element.params.size();
    Binding sums = reduction;
    sums.operands.resize(rank);
    if (reduction.operands.size() > rank) {
      const Operands inits = Split(builder(), reduction, &reduction.operands[rank]);
      sums.operands.insert(sums.operands.end(), inits.begin(), inits.end());
    }
    ir::Builder inside = builder().Nested();
    for (const Binding* each : element.bindings) inside.Append(each);
    const Operands yielded = Split(inside, reduction, element.results.data());
    sums.results.clear();
    std::vector<OpCode> ops;
    for (size_t k = 0; k < reduction.results.size(); ++k) {
      const Var* result = reduction.results[k];
      const bool is_split = IsComplexSum(reduction, k);
      ops.insert(ops.end(), is_split ? 2 : 1, *ir::CombineOp(*reduction.blocks[1], int(k)));
      if (!is_split) {
        sums.results.push_back(result);
        continue;
      }
      const DType part = ir::PartOf(result->type.dtype());
      const Var* real = builder().NewVar(part, "re");
      const Var* imag = builder().NewVar(part, "im");
      sums.results.insert(sums.results.end(), {real, imag});
      halves_.push_back({result, real, imag});
    }
    sums.blocks = {inside.Finish(element.params, yielded), CombineOf(sums, ops)};
    builder().Append(arena()->New(std::move(sums)));
    for (const auto& [whole, real, imag] : std::exchange(halves_, {})) {
      Replace(whole, builder().EmitOne(OpCode::kMakeComplex, whole->type, {real, imag}, {}, {},
                                       whole->hint));
    }
  }

  // Each accumulator's operation.
  const Block* CombineOf(const Binding& sums, const std::vector<OpCode>& ops) {
    ir::Builder combine(arena());
    std::vector<const Var*> params;
    for (const char* side : {"a", "b"}) {
      for (const Var* result : sums.results) params.push_back(combine.NewVar(result->type, side));
    }
    Operands results;
    for (size_t k = 0; k < ops.size(); ++k)
      results.push_back(combine.Scalar(ops[k], {params[k], params[ops.size() + k]}));
    return combine.Finish(params, results);
  }

  struct Halves {
    const Var* whole;
    const Var* real;
    const Var* imag;
  };
  std::vector<Halves> halves_;  // of the sums that are being written
};

}  // namespace

ir::Program SplitComplexSums(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ComplexSumSplitter(program.arena.get()).Run(function);
  });
}

}  // namespace parakeet::passes
