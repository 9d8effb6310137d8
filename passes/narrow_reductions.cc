// Takes the least and the largest of numbers before they are widened: more of them fit a register.
//
// Before:
//   %r: i64 = ireduce (%i) in (%n) max from -1 {
//     %a: i32 = load %x[%i]  %b: i64 = cast %a  yield %b }
// After:
//   %m: i32 = ireduce (%i) in (%n) max from -2147483648 { %a: i32 = load %x[%i]  yield %a }
//   %w: i64 = cast %m  %t = max -1, %w  %p = gt %n, 0  %r: i64 = select %p, %t, -1
//
// Assumes: index form, behind fusion, which puts casts into what reads them.
// Refuses: what is no cast of an integer to one that has all its values; another combine than min
// and max.
#include <algorithm>

#include "ir/builder.h"
#include "ir/dtype.h"
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

bool HasAllValuesOf(DType wide, DType narrow) {
  return ir::IsInteger(wide) && ir::IsInteger(narrow) &&
         ir::SizeInBytes(narrow) < ir::SizeInBytes(wide) &&
         (ir::IsSigned(wide) || ir::IsUnsigned(narrow));
}

class Narrower : public ir::Mutator {
 public:
  Narrower(ir::Arena* arena, Context& context) : Mutator(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kIreduce) return Mutator::Visit(b);
    const Binding* rewritten = Rewrite(b);
    const std::vector<const Binding*> casts = CastsOf(*rewritten);
    const bool some = std::any_of(casts.begin(), casts.end(),
                                  [](const Binding* cast) { return cast != nullptr; });
    some ? Write(*rewritten, casts) : builder().Append(rewritten);
  }

 private:
  // What widens each accumulator's element; null where nothing does.
  static std::vector<const Binding*> CastsOf(const Binding& reduction) {
    const Block& element = *reduction.blocks[0];
    std::vector<const Binding*> casts(element.results.size());
    for (size_t k = 0; k < casts.size(); ++k) {
      const auto op = ir::CombineOp(*reduction.blocks[1], static_cast<int>(k));
      if (!op) return {};
      if (op != OpCode::kMin && op != OpCode::kMax) continue;
      for (const Binding* b : element.bindings) {
        const bool is_cast = b->op == OpCode::kCast && Operand(b->result()) == element.results[k];
        if (is_cast && HasAllValuesOf(ir::DTypeOf(b->result()), ir::DTypeOf(b->operands[0])))
          casts[k] = b;
      }
    }
    return casts;
  }

  void Write(const Binding& reduction, const std::vector<const Binding*>& casts) {
    const size_t rank = reduction.blocks[0]->params.size();
    Block element = *reduction.blocks[0];
    Binding narrow = reduction;
    for (size_t k = 0; k < casts.size(); ++k) {
      if (casts[k] == nullptr) continue;
      element.results[k] = casts[k]->operands[0];
      const DType dtype = ir::DTypeOf(element.results[k]);
      narrow.results[k] = builder().NewVar(dtype, reduction.results[k]->hint);
      if (narrow.operands.size() > rank)
        narrow.operands[rank + k] = *ir::IdentityOf(OpOf(reduction, k), dtype);
    }
    narrow.blocks = {arena()->New(std::move(element)), CombineOf(narrow)};
    builder().Append(arena()->New(narrow));
    for (size_t k = 0; k < casts.size(); ++k) {
      if (casts[k] != nullptr) Replace(reduction.results[k], Widened(reduction, narrow, k));
    }
    context_.Note(reduction.span, "compared before it is widened", Topic::kOther, Verdict::kAside);
  }

  static OpCode OpOf(const Binding& reduction, size_t k) {
    return *ir::CombineOp(*reduction.blocks[1], static_cast<int>(k));
  }

  // The accumulators' operations, in the types of the reduction's results.
  const Block* CombineOf(const Binding& reduction) {
    ir::Builder combine(arena());
    std::vector<const Var*> params;
    std::vector<Operand> results;
    for (const char* side : {"a", "b"}) {
      for (const Var* result : reduction.results)
        params.push_back(combine.NewVar(result->type, side));
    }
    const size_t count = reduction.results.size();
    for (size_t k = 0; k < count; ++k)
      results.push_back(combine.Scalar(OpOf(reduction, k), {params[k], params[count + k]}));
    return combine.Finish(params, results);
  }

  // The init alone, where there are no elements: the narrow identity is no identity.
  Operand Widened(const Binding& wide, const Binding& narrow, size_t k) {
    const size_t rank = wide.blocks[0]->params.size();
    const Operand extreme = builder().Cast(narrow.results[k], ir::DTypeOf(wide.results[k]));
    if (wide.operands.size() == rank) return extreme;
    const Operand& init = wide.operands[rank + k];
    const Operand both = builder().Scalar(OpOf(wide, k), {init, extreme});
    Operand some = Operand::Bool(true);
    for (size_t axis = 0; axis < rank; ++axis) {
      const Operand has = builder().Scalar(OpCode::kGt, {wide.operands[axis], Operand::Int(0)});
      some = builder().Scalar(OpCode::kAnd, {some, has});
    }
    return builder().Scalar(OpCode::kSelect, {some, both, init});
  }

  Context& context_;
};

}  // namespace

ir::Program NarrowReductions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Narrower(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
