// Leaves loops of few iterations, each of which goes through whole arrays, to the host, so that a
// GPU's threads share what an iteration does.
//
// Before:
//   foreach (%c) in (%n) {
//     %t: [h][w]f64 = imap (%i, %j) in (%h, %w) { %a = load %x[%c, %i, %j] ... }
//     foreach (%i, %j) in (%h, %w) { ... load %t[...] ... store %y[%c, %i, %j], %q } }
// After:
//   if %h * %w > 128 * %n {
//     for %c in 0 to %n step 1 { ... the same, whose operators are kernels ... } } else {
//     foreach (%c) in (%n) { ... as before ... } }
//
// As a kernel, each iteration is one thread's.
//
// Assumes: fusion is over.
// Refuses: what stands inside another operator; iterations that are known to be many, or go through
// little, or through rows one behind the other with reductions of them, which a block of threads
// shares (lowering/lower_block_rows.h).
#include <algorithm>

#include "ir/uses.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;

// What a thread does one by one in the time that the host takes for a kernel.
constexpr int64_t kElementsOfLaunch = 128;
constexpr int64_t kManyIterations = 1 << 14;

bool IsOperator(const Binding& b) { return ir::InfoOf(b.op).format == ir::OpFormat::kIndices; }

std::vector<Operand> Extents(const Binding& b) {
  return {b.operands.begin(), b.operands.begin() + b.blocks[0]->params.size()};
}

// The product of the constants among them; 1 for none.
int64_t KnownSize(const std::vector<Operand>& extents) {
  int64_t size = 1;
  for (const Operand& extent : extents) {
    if (extent.IsConstant()) size *= extent.constant().integer;
  }
  return size;
}

bool IsKnown(const std::vector<Operand>& extents) {
  return std::all_of(extents.begin(), extents.end(), [](auto& e) { return e.IsConstant(); });
}

class HostIterator : public LoopWriter {
 public:
  HostIterator(ir::Arena* arena, Context& context) : LoopWriter(arena), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (!IsOperator(*b)) return Mutator::Visit(b);
    const bool is_nest = b->op == OpCode::kForeach && KnownSize(Extents(*b)) < kManyIterations;
    const std::vector<const Binding*> wide = is_nest ? WideIn(*b) : std::vector<const Binding*>{};
    if (wide.empty()) return builder().Append(Rewrite(b));
    const Binding& nest = *Rewrite(b);
    context_.Note(b->span, "iterated by the host where iterations are few and long",
                  Topic::kThreads, Verdict::kDone);
    Operand elements = Int(0);
    for (const Binding* inner : wide)
      elements = builder().Add(elements, Product(Apply(Extents(*inner))));
    const Operand least = builder().Mul(Product(Extents(nest)), Int(kElementsOfLaunch));
    const auto on_host = [&] {
      Iterate(*nest.blocks[0], Extents(nest), {});
      return Operands{};
    };
    const auto on_device = [&] {
      builder().Append(&nest);
      return Operands{};
    };
    Choose(builder().Scalar(OpCode::kGt, {elements, least}), on_host, on_device);
  }

 private:
  // The operators of an iteration that may be worth kernels of their own; none where a block of
  // threads makes an iteration.
  static std::vector<const Binding*> WideIn(const Binding& nest) {
    const Block& body = *nest.blocks[0];
    const ir::VarSet inside = ir::DefinedVars(body);
    std::vector<const Binding*> wide;
    bool reduces = false, has_rows_alone = true;
    for (const Binding* b : body.bindings) {
      if (!IsOperator(*b)) {
        has_rows_alone &= b->blocks.empty();
        continue;
      }
      const std::vector<Operand> extents = Extents(*b);
      const auto is_inside = [&](const Operand& size) { return inside.contains(size.var()); };
      if (std::any_of(extents.begin(), extents.end(), is_inside)) return {};
      reduces |= b->op == OpCode::kIreduce;
      bool holds_operator = false;
      ir::ForEachBinding(*b->blocks[0],
                         [&](const Binding& in) { holds_operator |= IsOperator(in); });
      has_rows_alone &= extents.size() == 1 && !holds_operator && b->op != OpCode::kContract;
      const bool is_little = IsKnown(extents) && KnownSize(extents) < kElementsOfLaunch;
      if (!is_little) wide.push_back(b);
    }
    return reduces && has_rows_alone ? std::vector<const Binding*>{} : wide;
  }

  // Loops of the host over `extents`, behind those over `index`.
  void Iterate(const Block& body, const Operands& extents, const Operands& index) {
    if (index.size() == extents.size())
      return void(VisitBody(*ir::CloneBlock(arena(), body), index));
    Loop(Int(0), extents[index.size()], {}, [&](const Operand& i) {
      Operands more = index;
      more.push_back(i);
      Iterate(body, extents, more);
    });
  }

  Context& context_;
};

}  // namespace

ir::Program IterateOnHost(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return HostIterator(program.arena.get(), context).Run(function);
  });
}

}  // namespace parakeet::passes
