#include "backends/llvm/choose_apart.h"

#include <algorithm>
#include <string>

#include "ir/uses.h"

namespace parakeet::backends {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;

// Fewer bindings are sooner compiled where they stand than called, unless all are asked for.
constexpr int kFewest = 16;
// A nest of more is long itself.
constexpr int kMost = 400;

bool IsLoop(const Binding& binding) {
  return binding.op == OpCode::kFor || binding.op == OpCode::kWhile;
}

class Chooser {
 public:
  Chooser(std::unordered_set<const Binding*>& chosen, int limit, bool forked)
      : chosen_(chosen), fewest_(std::min(kFewest, limit)), forked_(forked) {}

  void Visit(const Block& block) {
    for (const Binding* binding : block.bindings) Visit(*binding);
  }

 private:
  struct Size {
    int bindings = 1;
    bool loops = false;
  };

  bool IsForked(const Binding& binding) const {
    return forked_ && binding.op == OpCode::kFor &&
           binding.attrs.Text(ir::Attr::kKind) == "parallel";
  }

  Size SizeOf(const Binding& binding) const {
    Size size = {1, IsLoop(binding)};
    if (IsForked(binding)) return {kForkSize, true};
    for (const Block* block : binding.blocks) {
      for (const Binding* inner : block->bindings) {
        const Size added = SizeOf(*inner);
        size.bindings += added.bindings;
        size.loops |= added.loops;
      }
    }
    return size;
  }

  // A branch without loops may be in the middle of a hot one, where a call would be felt.
  void Visit(const Binding& binding) {
    if (binding.blocks.empty() || IsForked(binding)) return;
    const Size size = SizeOf(binding);
    if (!size.loops || size.bindings < fewest_) return;
    if (size.bindings <= kMost) {
      chosen_.insert(&binding);
      return;
    }
    for (const Block* block : binding.blocks) Visit(*block);
  }

  // What is left of a forked loop: its captures and the choice to fork.
  static constexpr int kForkSize = 8;

  std::unordered_set<const Binding*>& chosen_;
  int fewest_;
  bool forked_;
};

}  // namespace

std::unordered_set<const Binding*> ChooseApart(const ir::Function& function, int limit,
                                               bool forked) {
  std::unordered_set<const Binding*> chosen;
  int bindings = 0;
  ir::ForEachBinding(*function.body, [&](const Binding&) { ++bindings; });
  if (bindings > limit) Chooser(chosen, limit, forked).Visit(*function.body);
  return chosen;
}

}  // namespace parakeet::backends
