#ifndef PARAKEET_PASSES_ANALYSES_INDEX_SCALARS_H_
#define PARAKEET_PASSES_ANALYSES_INDEX_SCALARS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// True for what may be computed at any time: integers and bools, where nothing can fail.
bool IsIndexExpression(const ir::Binding& binding);

// What the index of a loop, or of an operator that makes its elements one by one, goes through.
struct IndexRange {
  ir::Operand begin;
  ir::Operand end;  // is not reached
  bool rises = true;
};
using IndexRanges = std::unordered_map<const ir::Var*, IndexRange>;

// The ranges of the indexes that the binding has, loop or operator.
void AddIndexRanges(const ir::Binding& b, IndexRanges* ranges);

// The scalars that indexes in loops are made of, through sums, products and the ends of loops.
class IndexScalars {
 public:
  using Definitions = ir::DefinitionMap;

  IndexScalars(const Definitions& definitions, const IndexRanges& loops)
      : definitions_(definitions), loops_(loops) {}

  // Takes in what checks in loops ask of indexes, and where slices in loops begin and end.
  void FindIn(const ir::Block& body) { FindIndexes(body, false); }
  void Add(const ir::Var* scalar) { seen_.insert(scalar); }
  bool Contains(const ir::Var* scalar) const { return seen_.contains(scalar); }
  // What a factor may be for products of as many to be exact; none where it is in none.
  std::optional<int64_t> MostOfFactor(const ir::Var* factor) const;
  // The indexes of loops that a value is computed from.
  ir::VarSet LoopsIn(const ir::Var* value) const;

 private:
  void FindIndexes(const ir::Block& block, bool repeats);
  void FindIndex(const ir::Operand& condition);
  void FindScalars(const ir::Operand& operand);
  void FindFactors(const ir::Operand& operand, int factors, bool in_product);
  int FactorsIn(const ir::Operand& operand);
  const ir::Binding* DefinitionOf(const ir::Operand& operand, ir::OpCode op) const;

  const Definitions& definitions_;
  const IndexRanges& loops_;
  ir::VarSet seen_;
  std::unordered_map<const ir::Var*, int> factors_in_;
  std::unordered_map<const ir::Var*, int> factors_around_;  // of what stands in a product,
  std::unordered_map<const ir::Var*, int> factors_below_;   // and in a sum that products may be in
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_INDEX_SCALARS_H_
