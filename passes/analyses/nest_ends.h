#ifndef PARAKEET_PASSES_ANALYSES_NEST_ENDS_H_
#define PARAKEET_PASSES_ANALYSES_NEST_ENDS_H_

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/integer_intervals.h"

namespace parakeet::passes {

// Comparisons that hold in all iterations of a loop and of those inside it where they do at the
// ends of their ranges: of places that go up or down with each index, whatever else they are made
// of is known in front of the loop. Of `a[i * w + j + h]` these are the first and the last i, and
// for each of them the last j.
class NestEnds {
 public:
  // `outside` says what is defined in front of the loop, `sizes` which values are sizes of arrays.
  NestEnds(const ir::Binding& loop, const ir::DefinitionMap& outside, const ir::VarSet& sizes);

  // Whether the condition of a check in the loop, or in one inside it, is such a comparison, or
  // several of them that are all to hold; keeps it where it is.
  bool Add(const ir::Operand& condition);
  // Inside the block, which a branch runs where `condition` holds, indexes go no farther than it
  // lets them, until Leave. False where it says so of none.
  bool Enter(const ir::Block& block, const ir::Operand& condition);
  void Leave(const ir::Block& block);
  // Indexes that may be counted from the end, `p < 0 ? p + size : p`, of what has been added: that
  // they are not is asked of the ends too.
  const std::vector<const ir::Binding*>& selections() const { return selections_; }

  // True where something is asked of all that data may say: `table[byte]` of a table's 256 places,
  // or what a branch checks that data decide.
  bool AsksOfData() const { return asks_of_data_; }
  void AskOfData() { asks_of_data_ = true; }

  // Appends, in front of the loop, what says whether all that has been added holds; where the loop
  // does not run, it may say either. No sum that it asks about wraps around where it says yes.
  ir::Operand Write(ir::Builder& builder);

 private:
  // How a value follows the indexes: a sum of products of some of them, each times what is known in
  // front, which has a sign or, for 0, an unknown one; and what else only rises (1) or falls (-1)
  // with an index, whatever the others are.
  struct Moves {
    std::map<std::vector<const ir::Var*>, int> products;
    std::map<const ir::Var*, int> steps;
    bool IsStill() const;
  };
  struct Range {
    ir::Operand lo, hi;
    int64_t step;
  };
  // No index goes below `end` in a block, or above it where `high`.
  struct Narrowed {
    const ir::Block* block;
    const ir::Var* index;
    bool high;
    ir::Operand end;
    int64_t beside;  // to be added to it
  };
  // One end of each index that matters: outer indexes behind inner ones.
  using Corner = std::vector<std::pair<const ir::Var*, bool>>;  // true for the highest
  struct Test {
    ir::OpCode op;
    ir::Operand left, right;
    std::vector<Corner> corners;
    std::vector<Narrowed> narrowed;
  };
  using Values = std::unordered_map<const ir::Var*, ir::Operand>;

  void FindRanges(const ir::Block& block);
  const ir::Binding* Made(const ir::Operand& value) const;
  const ir::Binding* FromTheEnd(const ir::Operand& value) const;
  std::optional<Moves> MovesOf(const ir::Operand& value);
  std::optional<Moves> MadeBy(const ir::Binding& b);
  bool IsFromTheStart(const ir::Binding& select);
  static bool AddTo(Moves& sum, const Moves& other, int sign);
  static std::optional<Moves> Product(const Moves& a, const Moves& b);
  static std::optional<Moves> OneWay(const std::vector<Moves>& parts);
  static std::optional<int> SlopeOf(const Moves& moves, const ir::Var* index);
  std::optional<Moves> AtEnd(const Moves& moves, const ir::Var* index, bool high);
  bool AddComparison(const ir::Binding& comparison);
  bool FindCorners(const Moves& gap, size_t inner, int worse, const Corner& so_far,
                   std::vector<Corner>& corners);
  ir::Operand Bounded(ir::OpCode op, const ir::Operand& value);
  bool Demand(ir::OpCode op, const ir::Operand& left, const ir::Operand& right);

  bool IsNarrowed(const ir::Var* index, bool high) const;
  bool Narrow(const ir::Block& block, const ir::Binding& comparison, bool turned);
  ir::Operand EndOf(ir::Builder& builder, const ir::Var* index, bool high, Values& values) const;
  ir::Operand EndIn(ir::Builder& builder, const Test& test, const ir::Var* index, bool high,
                    Values& values);
  ir::Operand ValueOf(ir::Builder& builder, const ir::Operand& value, Values& values) const;
  void MustBeNear(const ir::Operand& magnitude);
  ir::Operand Magnitude(ir::Builder& builder, const ir::Operand& value);
  std::optional<double> KnownMagnitude(const ir::Operand& value, int depth) const;

  const ir::DefinitionMap& outside_;
  const ir::VarSet& sizes_;
  const ir::VarSet inside_;
  const ir::DefinitionMap makers_;  // in the loop
  std::unordered_map<const ir::Var*, Range> ranges_;
  std::vector<const ir::Var*> indexes_;  // inner ones behind outer ones
  std::unordered_map<const ir::Var*, std::optional<Moves>> moves_;
  std::vector<Narrowed> narrowed_;  // where Add is asked
  std::vector<Test> tests_;
  std::vector<const ir::Binding*> selections_;
  const ir::Block& body_;
  std::optional<BlockIntervals> data_;
  bool asks_of_data_ = false;
  std::vector<ir::Operand> far_;  // magnitudes that may be large, as floats
  Values magnitudes_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_NEST_ENDS_H_
