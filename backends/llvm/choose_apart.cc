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
// Loops of more than this, side by side in the body of a forked one that is long, are functions,
// and so are those inside a loop of a long nest, where calls and what they hand over are felt.
constexpr int kLongInFork = 100;
// What is left of a forked loop: its captures and the choice to fork.
constexpr int kForkSize = 8;
// What is left of a part: its captures, the call and what it gives back.
constexpr int kCallSize = 4;

bool IsLoop(const Binding& binding) {
  return binding.op == OpCode::kFor || binding.op == OpCode::kWhile;
}

class Chooser {
 public:
  explicit Chooser(const PartLimits& limits)
      : fewest_(std::min(kFewest, limits.apart_above)),
        long_in_fork_(std::min(kLongInFork, limits.apart_above)),
        apart_above_(limits.apart_above),
        forked_(limits.forked) {}

  ChosenParts Choose(const Block& body) {
    Visit(body);
    CollectLeaves(body);
    return std::move(chosen_);
  }

  ChosenParts ChooseEveryLoop(const Block& body) {
    every_loop_ = true;
    chosen_.rest_is_cold = true;
    return Choose(body);
  }

  // The bindings that no part has.
  int CountLeft(const Block& body, const ChosenParts& chosen) const {
    int left = 0;
    for (const Binding* binding : body.bindings) {
      if (chosen.nests.contains(binding)) left += kCallSize;
      else if (IsForked(*binding)) left += kForkSize;
      else left += CountLeftIn(*binding, chosen);
    }
    return left;
  }

 private:
  struct Size {
    int bindings = 1;
    bool loops = false;
  };

  int CountLeftIn(const Binding& binding, const ChosenParts& chosen) const {
    int left = 1;
    for (const Block* block : binding.blocks) left += CountLeft(*block, chosen);
    return left;
  }

  bool IsForked(const Binding& binding) const {
    return forked_ && binding.op == OpCode::kFor &&
           binding.attrs.Text(ir::Attr::kKind) == "parallel";
  }

  // In the body of a forked loop, others are plain.
  Size SizeOf(const Binding& binding, bool in_fork = false) const {
    if (!in_fork && IsForked(binding)) return {kForkSize, true};
    Size size = {1, IsLoop(binding)};
    for (const Block* block : binding.blocks) {
      for (const Binding* inner : block->bindings) {
        const Size added = SizeOf(*inner, in_fork);
        size.bindings += added.bindings;
        size.loops |= added.loops;
      }
    }
    return size;
  }

  void Visit(const Block& block) {
    for (const Binding* binding : block.bindings) Visit(*binding);
  }

  // A branch without loops may be in the middle of a hot one, where a call would be felt.
  void Visit(const Binding& binding) {
    if (binding.blocks.empty()) return;
    if (IsForked(binding)) return VisitFork(binding);
    const Size size = SizeOf(binding);
    const int fewest = in_loop_ ? long_in_fork_ : fewest_;
    if (!size.loops || (size.bindings < fewest && !every_loop_)) return;
    const bool is_long = size.bindings > kMost;
    const bool holds_the_loop = IsLoop(binding) || !is_long;
    if (every_loop_ ? holds_the_loop : !is_long) chosen_.nests.insert(&binding);
    if (!is_long) return;
    // Inside a loop, a part is called in every iteration.
    const bool outer = every_loop_, was_in_loop = in_loop_;
    every_loop_ &= !IsLoop(binding);
    in_loop_ |= IsLoop(binding);
    for (const Block* block : binding.blocks) Visit(*block);
    every_loop_ = outer;
    in_loop_ = was_in_loop;
  }

  // The body of a forked loop is one function unless two threads would rather compile it: then
  // loops that stand side by side are others, outermost first, since each call hands over captures.
  void VisitFork(const Binding& binding) {
    if (SizeOf(binding, /*in_fork=*/true).bindings <= apart_above_) return;
    for (const Block* block : binding.blocks) VisitFork(*block);
  }

  void VisitFork(const Block& block) {
    std::vector<const Binding*> longs;
    for (const Binding* binding : block.bindings) {
      const Size size = SizeOf(*binding, /*in_fork=*/true);
      if (size.loops && size.bindings > long_in_fork_) longs.push_back(binding);
    }
    if (longs.size() == 1) return VisitFork(*longs.front());
    for (const Binding* binding : longs) {
      if (IsLoop(*binding)) chosen_.nests.insert(binding);
    }
  }

  // Whether there are parts inside.
  bool CollectLeaves(const Block& block) {
    bool parts = false;
    for (const Binding* binding : block.bindings) parts |= CollectLeaves(*binding);
    return parts;
  }

  bool CollectLeaves(const Binding& binding) {
    const size_t before = chosen_.leaves.size();
    bool parts = false;
    for (const Block* block : binding.blocks) parts |= CollectLeaves(*block);
    if (!chosen_.nests.contains(&binding) && !IsForked(binding)) return parts;
    if (!parts) {
      chosen_.leaves.resize(before);
      chosen_.leaves.push_back(&binding);
    }
    return parts || chosen_.nests.contains(&binding);
  }

  ChosenParts chosen_;
  int fewest_;
  int long_in_fork_;
  int apart_above_;
  bool forked_;
  bool every_loop_ = false;
  bool in_loop_ = false;  // of a nest that is long
};

}  // namespace

ChosenParts ChooseApart(const ir::Function& function, const PartLimits& limits) {
  int bindings = 0;
  ir::ForEachBinding(*function.body, [&](const Binding&) { ++bindings; });
  if (bindings <= limits.apart_above) return {};
  ChosenParts chosen = Chooser(limits).Choose(*function.body);
  if (!limits.may_be_cold ||
      Chooser(limits).CountLeft(*function.body, chosen) <= limits.cold_above) {
    return chosen;
  }
  return Chooser(limits).ChooseEveryLoop(*function.body);
}

}  // namespace parakeet::backends
