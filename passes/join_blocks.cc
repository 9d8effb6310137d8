// Joins kernels of one block that stand one behind the other.
//
// Before:
//   block for %i in 0 to 1 step 1 { thread for %t in 0 to 256 step 1 { ... store %parts[0], %p } }
//   %total: []f64 = alloc ()
//   block for %j in 0 to 1 step 1 { thread for %u in 0 to 256 step 1 {
//     %a = load %parts[%u] {unchanged = 1}  ... } }
// After:
//   %total: []f64 = alloc ()
//   block for %i in 0 to 1 step 1 {
//     thread for %t in 0 to 256 step 1 { ... store %parts[0], %p }
//     thread for %u in 0 to 256 step 1 { %a = load %parts[%u]  ... } }
//
// A launch that waits for another one takes a GPU two microseconds; threads of a block wait for one
// another in a few dozen cycles, and see then what each has stored. What the host does between the
// two without reading memory it does before both.
//
// Assumes: keep-scalars-on-device has run; plan-memory has not.
// Refuses: kernels that may fail, whose iterations are in the order of their launches; atomics;
// kernels that would have more shared memory together than a block has wherever it runs.
#include <algorithm>
#include <utility>

#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/kernel_legality.h"
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

constexpr int64_t kMostSharedBytes = int64_t{32} << 10;

bool HasKind(const Binding& b, std::string_view kind) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == kind;
}

bool IsKernel(const Binding& b) { return HasKind(b, "block"); }

// What moves past a kernel: it has no effect and reads no memory.
bool IsApart(const Binding& b) {
  if (ir::IsScalarOp(b.op) || ir::IsView(b.op) || b.op == OpCode::kAlloc) return true;
  if (b.op != OpCode::kIf) return false;
  return std::all_of(b.blocks.begin(), b.blocks.end(), [](const Block* block) {
    return std::all_of(block->bindings.begin(), block->bindings.end(),
                       [](const Binding* inner) { return ir::IsScalarOp(inner->op); });
  });
}

// Whether all that the block does is its threads' own affair, and theirs together.
bool IsPlain(const Block& block, bool in_thread) {
  return std::all_of(block.bindings.begin(), block.bindings.end(), [&](const Binding* b) {
    const bool is_own = b->attrs.Int(Attr::kPrivate) != 0;
    if (b->op == OpCode::kCheck || b->op == OpCode::kAtomic) return false;
    if (b->op == OpCode::kAlloc && in_thread && !is_own) return false;
    return std::all_of(b->blocks.begin(), b->blocks.end(), [&](const Block* inner) {
      return IsPlain(*inner, in_thread || HasKind(*b, "thread"));
    });
  });
}

bool IsOfOnePlainBlock(const Binding& b) {
  return IsKernel(b) && b.results.empty() && b.operands[0].IsInt(0) && b.operands[1].IsInt(1) &&
         IsPlain(*b.blocks[0], false);
}

// More than there may be where nobody knows.
int64_t SharedBytes(const Block& block) {
  int64_t bytes = 0;
  ir::ForEachBinding(block, [&](const Binding& b) {
    if (b.op != OpCode::kAlloc || b.attrs.Int(Attr::kPrivate) != 0) return;
    int64_t own = ir::SizeInBytes(ir::DTypeOf(Operand(b.result())));
    for (const Operand& size : b.operands)
      own *= size.IsConstant() ? size.constant().integer : kMostSharedBytes + 1;
    bytes += own;
  });
  return bytes;
}

class BlockJoiner : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

 protected:
  void Visit(const Binding* b) override {
    if (IsOnHost(*b) || (IsKernel(*b) && !Join(*b))) return void(builder().Append(Rewrite(b)));
    if (!IsKernel(*b)) Mutator::Visit(b);
  }

 private:
  // As a part of the kernel that was written last, if there is one to be part of.
  bool Join(const Binding& kernel) {
    if (!IsOfOnePlainBlock(kernel)) return false;
    auto& bindings = builder().bindings();
    size_t at = bindings.size();
    while (at > 0 && IsApart(*bindings[at - 1])) --at;
    if (at == 0 || !IsOfOnePlainBlock(*bindings[at - 1])) return false;
    Binding joined = *bindings[at - 1];
    const Block& first = *joined.blocks[0];
    const Block& second = *kernel.blocks[0];
    if (SharedBytes(first) + SharedBytes(second) > kMostSharedBytes) return false;
    bindings.erase(bindings.begin() + ptrdiff_t(at - 1));
    joined.blocks[0] = BlockOf(first.params, [&] {
      for (const Binding* b : first.bindings) builder().Append(b);
      VisitBody(second, {Operand(first.params[0])});
      return Operands{};
    });
    builder().Append(arena()->New(std::move(joined)));
    return true;
  }
};

// Of arrays that a kernel stores to its loads are not what they were before it.
class ChangeMarker : public ir::Mutator {
 public:
  ChangeMarker(ir::Arena* arena, const ir::Function& function) : Mutator(arena), roots_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (IsKernel(*b)) {
      stored_.clear();
      ir::ForEachBinding(*b->blocks[0], [&](const Binding& inner) {
        for (const size_t stored : ir::StoredOperands(inner))
          stored_.insert(inner.operands[stored].var());
      });
    }
    const bool is_marked = b->attrs.Int(Attr::kUnchanged) != 0;
    if (!is_marked || !IsStored(b->operands[0].var())) return Mutator::Visit(b);
    Binding load = *Rewrite(b);
    load.attrs = load.attrs.Without(Attr::kUnchanged);
    builder().Append(arena()->New(std::move(load)));
  }

 private:
  bool IsStored(const Var* array) const {
    return std::any_of(stored_.begin(), stored_.end(),
                       [&](const Var* stored) { return roots_.MayShareNow(array, stored); });
  }

  Roots roots_;
  ir::VarSet stored_;
};

}  // namespace

ir::Program JoinBlocks(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* joined = BlockJoiner(program.arena.get()).Run(function);
    if (joined == function) return function;
    return ChangeMarker(program.arena.get(), *joined).Run(joined);
  });
}

}  // namespace parakeet::passes
