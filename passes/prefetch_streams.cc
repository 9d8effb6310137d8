// Asks ahead for what a loop reads from end to end where it also stores at places that it has read
// or counts.
//
// Before:
//   for %i in %lo to %hi step 4 {
//     %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1  store %h[%k], %d ... }
// After:
//   for %i in %lo to %hi step 4 {
//     %ahead = add %i, 256  prefetch %x[%ahead]
//     %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1  store %h[%k], %d ... }
//
// A step of such a loop may wait for the one before it, so that the processor looks too few
// elements ahead to see what memory it will want; in other loops it does.
//
// Assumes: loops over buffers, behind vectorize_loops.
// Refuses: loops in lanes and loops that hold others; arrays whose neighbours along the last axis
// may lie apart; arrays of a known size that the first cache holds; elements of less than four
// bytes, of which a line lasts long enough for the processor to see the next one coming.
#include <algorithm>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/dtype.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// What memory takes to answer, at the rate at which such loops read.
constexpr int64_t kBytesAhead = 2048;
constexpr int kLeastBytes = 4;                // of an element
constexpr int64_t kBytesOfCache = 16 * 1024;  // half of one, which others want too

class Prefetcher : public ir::Mutator {
 public:
  Prefetcher(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), context_(context) {
    for (const ir::Param& param : function.params) {
      if (param.layout == ir::Layout::kC) in_c_order_.insert(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kAlloc && b.attrs.Int(ir::Attr::kFortran) == 0 && !IsSmall(b))
        in_c_order_.insert(b.result());
    });
  }

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kFor && StoresAtPlacesRead(*b->blocks[0])) FindStreams(*b);
    if (streams_.contains(b)) Ask(*b);
    Mutator::Visit(b);
  }

 private:
  // What fits the first cache stays there.
  static bool IsSmall(const Binding& alloc) {
    int64_t bytes = ir::SizeInBytes(alloc.result()->type.dtype());
    for (const Operand& extent : alloc.operands) {
      if (!extent.IsConstant() || bytes > kBytesOfCache) return false;
      bytes *= extent.constant().integer;
    }
    return bytes <= kBytesOfCache;
  }

  // True where some store's index is made of what the body loads or carries, and no loop is inside.
  static bool StoresAtPlacesRead(const Block& body) {
    VarSet read(body.params.begin() + 1, body.params.end());
    bool stores = false, has_loops = false;
    ir::ForEachBinding(body, [&](const Binding& b) {
      has_loops |= b.op == OpCode::kFor || b.op == OpCode::kWhile;
      const auto is_read = [&](const Operand& o) { return o.IsVar() && read.contains(o.var()); };
      const bool any = std::any_of(b.operands.begin(), b.operands.end(), is_read);
      if (any || b.op == OpCode::kLoad) read.insert(b.results.begin(), b.results.end());
      stores |= b.op == OpCode::kStore &&
                std::any_of(b.operands.begin() + 1, b.operands.end() - 1, is_read);
    });
    return stores && !has_loops;
  }

  // Loads of the loop's next element, in branches too.
  void FindStreams(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const Var* index = body.params[0];
    const VarSet inside = ir::DefinedVars(body);
    ir::ForEachBinding(body, [&](const Binding& b) {
      if (b.op != OpCode::kLoad || b.operands.size() < 2) return;
      if (ir::SizeInBytes(ir::DTypeOf(b.operands[0])) < kLeastBytes) return;
      const bool stays =
          std::all_of(b.operands.begin() + 1, b.operands.end() - 1,
                      [&](const Operand& o) { return !o.IsVar() || !inside.contains(o.var()); });
      if (!stays || b.operands.back() != Operand(index)) return;
      if (in_c_order_.contains(b.operands[0].var())) return void(streams_.insert(&b));
      context_.Note(b.span, "not asked for ahead: its elements may lie apart", Topic::kOther,
                    Verdict::kAside);
    });
  }

  void Ask(const Binding& load) {
    std::vector<Operand> at = Apply(load.operands);
    const int64_t elements = kBytesAhead / ir::SizeInBytes(ir::DTypeOf(load.operands[0]));
    at.back() = builder().Add(at.back(), Operand::Int(elements));
    builder().set_span(load.span);
    builder().Emit(OpCode::kPrefetch, {}, at);
  }

  Context& context_;
  VarSet in_c_order_;
  std::unordered_set<const Binding*> streams_;  // Loads.
};

}  // namespace

ir::Program PrefetchStreams(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Prefetcher(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
