// Writes `vector for` loops and `lanes` that are left one iteration after another, without values
// of several lanes. It is what stands in the place of vectorize_loops where that is disabled.
//
// Before:
//   %s: f64 = lanes (%i) in %lo to %hi add from -0.0 tree(lanes 8) {
//     %a: f64 = load %x[%i]  yield %a }
// After:
//   %acc: [8]f64 = alloc (8)
//   ... each element of %acc is -0.0 ...
//   for %i in %lo to %hi step 1 { %l: i64 = mod (%i - %lo), 8  %a: f64 = load %x[%i]
//     store %acc[%l], (%acc[%l] + %a) }
//   ... %acc combined by halves ...
//   %s: f64 = load %acc[0]
//
// Assumes: nothing.
// Refuses: nothing. The order in which a reduction combines is that of the lanes, so are the bits.
#include <utility>

#include "ir/uses.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class OneByOneWriter : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kLanes) return WriteReduction(*b);
    if (b->op != OpCode::kFor || b->attrs.Text(Attr::kKind) != "vector") return Mutator::Visit(b);
    Binding plain = *b;
    plain.attrs = b->attrs.Without(Attr::kKind);
    Mutator::Visit(arena()->New(std::move(plain)));
  }

 private:
  using Arrays = std::vector<const Var*>;

  void WriteReduction(const Binding& b) {
    const Operands operands = Apply(b.operands);
    const int64_t lanes = b.attrs.Int(Attr::kLanes);
    const Operands inits(operands.begin() + 2, operands.end());
    const Arrays arrays = AllocateFor(inits, lanes);
    Loop(Int(0), Int(lanes), {}, [&](const Operand& lane) { StoreAll(arrays, lane, inits); });
    Loop(operands[0], operands[1], {}, [&](const Operand& i) {
      const Operand lane =
          builder().Scalar(OpCode::kMod, {builder().Sub(i, operands[0]), Int(lanes)});
      const Operands elements = VisitBody(*ir::CloneBlock(arena(), *b.blocks[0]), {i});
      StoreAll(arrays, lane, Combine(*b.blocks.back(), LoadAll(arrays, lane), elements));
    });
    for (int64_t left = lanes / 2; left > 0; left /= 2) {
      Loop(Int(0), Int(left), {}, [&](const Operand& lane) {
        const Operands high = LoadAll(arrays, builder().Add(lane, Int(left)));
        StoreAll(arrays, lane, Combine(*b.blocks[1], LoadAll(arrays, lane), high));
      });
    }
    const Operands totals = LoadAll(arrays, Int(0));
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], totals[k]);
  }

  Operands Combine(const Block& combine, const Operands& left, const Operands& right) {
    return CombineWith(*ir::CloneBlock(arena(), combine), left, right);
  }

  Arrays AllocateFor(const Operands& inits, int64_t lanes) {
    Arrays arrays;
    for (const Operand& init : inits) {
      const ir::Type type = ir::Type::Array(ir::DTypeOf(init), {Int(lanes)});
      arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, {Int(lanes)}));
    }
    return arrays;
  }

  Operands LoadAll(const Arrays& arrays, const Operand& lane) {
    Operands values;
    for (const Var* array : arrays) values.push_back(builder().Load(array, {lane}));
    return values;
  }

  void StoreAll(const Arrays& arrays, const Operand& lane, const Operands& values) {
    for (size_t k = 0; k < arrays.size(); ++k) builder().Store(arrays[k], {lane}, values[k]);
  }
};

}  // namespace

ir::Program WriteOneByOne(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return OneByOneWriter(program.arena.get()).Run(function);
  });
}

}  // namespace parakeet::passes
