#include "passes/analyses/loop_buffers.h"

#include <algorithm>

#include "passes/analyses/carried_values.h"
#include "passes/analyses/kernel_legality.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool HasArrays(const std::vector<const Var*>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const Var* value) { return value->type.IsArray(); });
}

class BufferFinder {
 public:
  bool FindInLoop(const Binding& loop) {
    for (const Block* block : loop.blocks) {
      if (!FindInBlock(*block)) return false;
    }
    return !HasArrays(loop.results) || FindTurns(loop);
  }

  LoopBuffers found;

 private:
  bool FindInBlock(const Block& block) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kAlloc) found.buffers.push_back({b});
      if (IsForMany(*b) || b->blocks.empty()) continue;
      if (IsLoop(b->op) ? !FindInLoop(*b) : !FindInBranch(*b)) return false;
    }
    return true;
  }

  bool FindInBranch(const Binding& b) {
    return !HasArrays(b.results) &&
           std::all_of(b.blocks.begin(), b.blocks.end(),
                       [&](const Block* block) { return FindInBlock(*block); });
  }

  // The place among the loop's buffers of what its body makes by itself.
  std::optional<size_t> BufferOf(const Binding& loop, const Operand& value) const {
    const std::vector<const Binding*>& body = loop.blocks.back()->bindings;
    for (size_t k = 0; k < found.buffers.size(); ++k) {
      const Binding* alloc = found.buffers[k].alloc;
      const bool is_own = std::find(body.begin(), body.end(), alloc) != body.end();
      if (Operand(alloc->result()) == value && is_own) return k;
    }
    return std::nullopt;
  }

  // The value that is carried there, if it is one of the loop's.
  static std::optional<size_t> SlotOf(const Binding& loop, const Operand& value) {
    const std::vector<const Var*>& params = loop.blocks.back()->params;
    for (size_t k = FirstCarried(loop); k < params.size(); ++k) {
      if (Operand(params[k]) == value) return k - FirstCarried(loop);
    }
    return std::nullopt;
  }

  // From each array that is carried to what is made, through the arrays that it has been.
  bool FindTurns(const Binding& loop) {
    const Block& body = *loop.blocks.back();
    found.results.clear();
    for (size_t slot = 0; slot < loop.results.size(); ++slot) {
      if (!loop.results[slot]->type.IsArray()) continue;
      std::optional<size_t> at = slot, buffer;
      int64_t steps = 0;
      for (; at && steps <= int64_t(loop.results.size()); ++steps) {
        const Operand& next = body.results[*at];
        buffer = BufferOf(loop, next);
        at = buffer ? std::nullopt : SlotOf(loop, next);
      }
      if (!buffer) return false;
      found.results.push_back({slot, *buffer, steps});
      int64_t& count = found.buffers[*buffer].count;
      if (count == 1) found.turning[&loop].push_back(*buffer);
      count = std::max(count, steps + 1);
    }
    return true;
  }
};

}  // namespace

std::optional<LoopBuffers> BuffersOf(const Binding& loop) {
  BufferFinder finder;
  if (!finder.FindInLoop(loop)) return std::nullopt;
  if (!HasArrays(loop.results)) finder.found.results.clear();
  return std::move(finder.found);
}

}  // namespace parakeet::passes
