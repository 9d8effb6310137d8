#ifndef PARAKEET_PASSES_ANALYSES_SETTLED_EXTREMES_H_
#define PARAKEET_PASSES_ANALYSES_SETTLED_EXTREMES_H_

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/arena.h"
#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// What says whether an element takes the place of what is held:
//   or(beats(element, held), and(eq(element, held), sooner(place, held_place)))
struct ExtremeDecision {
  ir::OpCode beats;  // gt or lt
  ir::Operand element;
  ir::Operand held;
  bool is_least;  // sooner is lt
  ir::Operand place;
  ir::Operand held_place;

  ir::Operand Worst() const;
  ir::Operand Nowhere() const;
};

// The same where elements come in order, and what stands for the element and its place then.
struct SettledExtreme {
  ir::OpCode op;
  ir::Operand element;
  ir::Operand place;
};

// Reads such decisions in a block.
class ExtremeReader {
 public:
  // `near`: what is far from where i64 wraps around, as indexes of loops and sizes are.
  ExtremeReader(const ir::Block& block, ir::VarSet near);

  const ir::Binding* DefinitionOf(const ir::Operand& operand, ir::OpCode op) const;
  std::optional<ExtremeDecision> DecisionOf(const ir::Operand& takes) const;
  // What says whether result `k` of a block is replaced, where that is an extreme or its index.
  std::optional<ir::Operand> TakesOf(const ir::Block& block, size_t k) const;
  // Whether result `k` of `block` is `element` where `takes` says so, and else `held`.
  bool IsChoice(const ir::Block& block, size_t k, const ir::Operand& takes,
                const ir::Operand& element, const ir::Operand& held) const;
  // Of the decision whose `element` and `place` are these, which `index` numbers.
  std::optional<SettledExtreme> Settle(const ExtremeDecision& decision, ir::Operand element,
                                       ir::Operand place, const ir::Var* index) const;

 private:
  static constexpr int kDeepest = 4;

  const ir::Binding* Comparison(const ir::Operand& operand) const;
  int SlopeOf(const ir::Operand& operand, const ir::Var* index) const;
  bool StaysNear(const ir::Operand& operand, int depth = kDeepest) const;
  bool IsBeginOf(const ir::Var* index, const ir::Operand& operand) const;

  ir::DefinitionMap definitions_;
  ir::VarSet near_;
  std::unordered_map<const ir::Var*, ir::Operand> ends_;  // of indexes that go up from 0
};

// A reduction of two accumulators over one index, an extreme and its place, whose extreme is found
// without the place where elements come in order; nothing where it is another, or begins with one.
std::optional<SettledExtreme> SettledInOrder(const ir::Block& around, const ir::Binding& reduction);

// The place of an operand among `count` parameters from `first` on.
std::optional<size_t> PlaceAmong(const std::vector<const ir::Var*>& params, size_t first,
                                 size_t count, const ir::Operand& operand);

// A reduction whose elements come in order, what it begins with being operands from `first_init`
// on: what its element yields, and the combine that takes it; nothing where no accumulator is such
// an extreme.
struct SettledExtremes {
  std::vector<ir::Operand> elements;
  const ir::Block* take;
};
std::optional<SettledExtremes> SettleExtremes(ir::Arena* arena, const ExtremeReader& reader,
                                              const ir::Binding& reduction, size_t first_init);

// The combine of an extreme in order: select(op(new, held), new, held). The comparison of such a
// block; nothing where it is another.
const ir::Block* OrderedCombine(ir::Arena* arena, ir::OpCode op, ir::DType dtype);
std::optional<ir::OpCode> OrderOf(const ir::Block& combine);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_SETTLED_EXTREMES_H_
