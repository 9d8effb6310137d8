// Makes arrays in Fortran order in C order, by the axes the other way round, and sees them turned:
// what goes through memory in order is then one thing to all passes that follow.
//
// Before:
//   %y: [n][m]f64 = map (%a: f64 in %x) {fortran = 1} { %b = neg %a  yield %b }
// After:
//   %0: [m][n]f64 = transpose %x {perm = [1, 0]}
//   %1: [m][n]f64 = map (%a: f64 in %0) { %b = neg %a  yield %b }
//   %y: [n][m]f64 = transpose %1 {perm = [1, 0]}
//
// Assumes: nothing.
// Refuses: maps of rows, or that make rows: these stay as they are.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class MapTurner : public ir::Mutator {
 public:
  using Mutator::Mutator;

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kMap || b->attrs.Int(Attr::kFortran) == 0 || !IsOfNumbers(*b))
      return Mutator::Visit(b);
    Binding turned = *Rewrite(b);
    const std::vector<const Var*> results = turned.results;
    turned.attrs = turned.attrs.Without(Attr::kFortran);
    for (Operand& array : turned.operands) {
      array = builder().EmitOne(OpCode::kTranspose, Turned(ir::TypeOf(array)), {array},
                                ReversalOf(ir::TypeOf(array)));
    }
    for (const Var*& result : turned.results)
      result = builder().NewVar(Turned(result->type), result->hint);
    builder().Append(arena()->New(turned));
    for (size_t k = 0; k < results.size(); ++k) {
      builder().Emit(OpCode::kTranspose, {results[k]}, {turned.results[k]},
                     ReversalOf(results[k]->type));
    }
  }

 private:
  static bool IsOfNumbers(const Binding& map) {
    const auto& params = map.blocks[0]->params;
    const auto& made = map.blocks[0]->results;
    return std::all_of(params.begin(), params.end(),
                       [](const Var* param) { return param->type.IsScalar(); }) &&
           std::all_of(made.begin(), made.end(),
                       [](const Operand& value) { return ir::TypeOf(value).IsScalar(); });
  }

  static ir::Type Turned(const ir::Type& type) {
    std::vector<Operand> dims = type.dims();
    std::reverse(dims.begin(), dims.end());
    return ir::Type::Array(type.dtype(), std::move(dims));
  }

  static ir::Attributes ReversalOf(const ir::Type& type) {
    std::vector<int64_t> perm;
    for (int axis = type.rank(); axis-- > 0;) perm.push_back(axis);
    return {{Attr::kPerm, std::move(perm)}};
  }
};

}  // namespace

ir::Program TurnMaps(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MapTurner(program.arena.get()).Run(function);
  });
}

}  // namespace parakeet::passes
