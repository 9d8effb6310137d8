#include "passes/analyses/short_siblings.h"

#include <algorithm>

#include "ir/combines.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;

class SiblingFinder {
 public:
  explicit SiblingFinder(const ir::Function& function) : roots_(function) {
    FindIn(*function.body);
  }

  std::unordered_map<const Binding*, ShortSiblings> Take() { return std::move(found_); }

 private:
  void FindIn(const Block& block) {
    const Binding* before = nullptr;
    for (const Binding* b : block.bindings) {
      for (const Block* inner : b->blocks) FindIn(*inner);
      const bool is_pair =
          before != nullptr && (Join(*before, *before, *b) || Join(*before, *b, *before));
      before = is_pair ? nullptr : b;
    }
  }

  bool Join(const Binding& first, const Binding& nest, const Binding& reduction) {
    if (nest.op != OpCode::kForeach || nest.operands.size() != 1 ||
        reduction.op != OpCode::kIreduce || !reduction.attrs.Has(Attr::kShort) ||
        reduction.blocks[0]->params.size() != 1 || reduction.operands[0] != nest.operands[0])
      return false;
    const Block& combine = *reduction.blocks[1];
    for (const ir::Operand& result : combine.results) {
      const ir::Type type = ir::TypeOf(result);
      if (!type.IsScalar() || ir::IsComplex(type.dtype())) return false;
    }
    if (ir::TraitsOf(combine).identities.empty() || Reads(nest, reduction)) return false;
    const Effects stores = EffectsOf(nest, roots_), sums = EffectsOf(reduction, roots_);
    if (stores.may_fail || !sums.IsPure() || Intersects(sums.reads, stores.writes)) return false;
    found_[&nest] = found_[&reduction] = {&first, &nest, &reduction};
    return true;
  }

  static bool Reads(const Binding& nest, const Binding& reduction) {
    const ir::VarSet read = ir::FreeVars(nest);
    return std::any_of(reduction.results.begin(), reduction.results.end(),
                       [&](const ir::Var* result) { return read.contains(result); });
  }

  const Roots roots_;
  std::unordered_map<const Binding*, ShortSiblings> found_;
};

}  // namespace

std::unordered_map<const Binding*, ShortSiblings> FindShortSiblings(const ir::Function& function) {
  return SiblingFinder(function).Take();
}

}  // namespace parakeet::passes
