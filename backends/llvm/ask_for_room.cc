#include "backends/llvm/ask_for_room.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::backends {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;

using Blocks = std::unordered_set<const Block*>;

bool IsCall(const Binding& b) { return b.op == OpCode::kCall; }

bool Calls(const Block& block) {
  bool calls = false;
  ir::ForEachBinding(block, [&](const Binding& b) { calls |= IsCall(b); });
  return calls;
}

bool Calls(const Binding& b) {
  return IsCall(b) ||
         std::any_of(b.blocks.begin(), b.blocks.end(), [](const Block* in) { return Calls(*in); });
}

// What needs little of a stack.
bool IsLight(const Binding& b) {
  const bool is_in_order = b.op != OpCode::kFor || b.attrs.Text(ir::Attr::kKind).empty();
  switch (b.op) {
    case OpCode::kLoad:
    case OpCode::kStore:
    case OpCode::kCheck:
    case OpCode::kView:
    case OpCode::kIf:
    case OpCode::kFor:
    case OpCode::kWhile:
      return is_in_order && std::all_of(b.blocks.begin(), b.blocks.end(), [](const Block* inner) {
               return std::all_of(inner->bindings.begin(), inner->bindings.end(),
                                  [](const Binding* each) { return IsLight(*each); });
             });
    default: return ir::IsScalarOp(b.op);
  }
}

// Adds the blocks in it that ask; false where every way through it calls, or needs more than a
// little: it asks as it begins, and what it holds needs not.
bool Find(const Block& block, Blocks& found) {
  const Binding* calling = nullptr;
  for (const Binding* b : block.bindings) {
    const bool calls = Calls(*b);
    if (!calls && !IsLight(*b)) return false;
    if (!calls) continue;
    if (calling != nullptr || b->op != OpCode::kIf) return false;
    calling = b;
  }
  if (calling == nullptr) return false;
  bool some_way_is_free = false;
  for (const Block* side : calling->blocks) {
    const bool is_free = !Calls(*side) || Find(*side, found);
    some_way_is_free |= is_free;
    if (!is_free) found.insert(side);
  }
  return some_way_is_free;
}

}  // namespace

Blocks BlocksThatCall(const ir::Function& function, int most) {
  int bindings = 0;
  ir::ForEachBinding(*function.body, [&](const Binding&) { ++bindings; });
  if (bindings > most) return {};
  Blocks found;
  return Find(*function.body, found) ? found : Blocks();
}

}  // namespace parakeet::backends
