#ifndef PARAKEET_PASSES_LOWERING_LOWER_ELEMENTS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_ELEMENTS_H_

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/analyses/linear_forms.h"
#include "passes/lowering/lower_row_groups.h"

namespace parakeet::passes {

// The part of lower_to_loops that gives each element of a nest to one of a GPU's threads,
// neighbours in memory to neighbouring threads.
//
// A nest that reads and writes arrays just as they lie in memory has one index:
//
//   imap (%i, %j) in (%n, %m) { %a = load %x[%i, %j] ... }   as   imap (%p) in (%n * %m)
//
// Of any other nest a thread finds the index by products instead of divisions, and makes elements
// of some rows, one above the other, where these are cheap, and of some planes where those share
// rows: the index is found once, and what several of them read is read once. An `if` of the element
// that asks for its place, as those of boundaries do, is decided for all of them at once.
class ElementLowering : public RowGroupLowering {
 public:
  ElementLowering(ir::Arena* arena, const ir::Function& function, int vector_bytes);

 protected:
  struct Elements {
    const ir::Binding& nest;
    const Operands& extents;
    const std::vector<int>& order;  // of the indexes as they lie in memory, the fastest last
    const Body& body;               // Writes an element.
    const Finish& finish;           // Takes what an element yields.
  };
  void WriteElements(const Elements& elements);

  // Takes in a check of the function's that sizes are equal: for what is written from here on.
  void LearnSizes(const ir::Binding& check);

  // While a nest is written with one index: an access to what lies along it, or a check. False for
  // anything else.
  bool VisitLine(const ir::Binding& access);

  // True for a body that does not raise and holds no loops: an element by itself.
  static bool IsPlain(const ir::Block& body);
  // The same but for checks of its own block.
  static bool IsPlainBehindChecks(const ir::Block& body);
  // The bindings of the body that some of its values need, in order; nothing where those take more
  // than arithmetic.
  static std::optional<std::vector<const ir::Binding*>> ArithmeticOf(
      const std::vector<ir::Operand>& values, const ir::Block& body);

 private:
  // Which arm of which of the body's bindings the elements of most rows take, and the condition for
  // that as a block of its own.
  struct Usual {
    size_t branch;
    size_t arm;
    ir::Block condition;
  };

  // What stands for all sizes that are equal to this one.
  ir::Operand SizeOf(ir::Operand size) const;
  bool LiesInLine(const Elements& elements) const;
  bool IsLineAccess(const ir::Binding& access, const Elements& elements) const;
  void WriteLine(const Elements& elements);
  void VisitCheckInLine(const ir::Binding& check);
  ir::Operand LineOf(const ir::Operand& array, const ir::Operand& count);
  void WriteTrips(const Elements& elements);
  // How many neighbours a thread makes along an axis, where there are as many: those from `first`
  // on, to `last` where there are fewer.
  struct Several {
    size_t axis;  // of the extents
    int64_t count;
    ir::Operand first = {};
    ir::Operand last = {};
  };
  std::vector<Several> TileOf(const Elements& elements) const;
  void WriteGrid(const Elements& elements, std::vector<Several> tile);
  void WriteSeveral(const Elements& elements, Operands place, const std::vector<Several>& tile);
  void WriteEach(const Elements& elements, Operands& place, const std::vector<Several>& tile,
                 size_t from);
  void WriteTogether(const Elements& elements, const std::vector<Operands>& indexes,
                     const std::optional<Usual>& usual);
  static std::optional<Usual> FindUsual(const ir::Block& body);
  static bool IsOtherShort(const Usual& usual, const ir::Block& body);
  ir::Operand IsUsual(const Usual& usual, const Operands& index);

  // Of checks that every element is behind: what they ask.
  std::unordered_map<const ir::Binding*, const ir::Binding*> equalities_;
  std::unordered_map<const ir::Var*, ir::Operand> same_sizes_;
  std::unordered_map<const ir::Var*, ir::Operand> lines_;  // by array
  const WrappingForms forms_;
  ir::Operand line_place_;
  std::vector<const ir::Var*> line_index_;  // of the nest
  Operands line_extents_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_ELEMENTS_H_
