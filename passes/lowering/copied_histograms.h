#ifndef PARAKEET_PASSES_LOWERING_COPIED_HISTOGRAMS_H_
#define PARAKEET_PASSES_LOWERING_COPIED_HISTOGRAMS_H_

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/analyses/find_histograms.h"
#include "passes/lowering/shared_histograms.h"

namespace parakeet::passes {

// Histograms in copies that parts of a loop have to themselves, as privatize_histograms.cc shows
// them.
class CopiedHistograms : public SharedHistograms {
 public:
  using SharedHistograms::SharedHistograms;

 protected:
  // A power of two. A processor adds to one place in about as many steps.
  static constexpr int64_t kCopies = 4;

  // A row of the copies of one array.
  struct Row {
    const ir::Var* copies;
    std::optional<ir::Operand> row;  // Nothing for the array itself.
    ir::OpCode combine;
    Operands dims = {};               // Of shared counts, which have one axis: the histogram's.
    std::optional<size_t> held = {};  // Where the array's only element is in held_.
  };

  struct Parts {
    ir::Operand count;
    ir::Operand length;  // trips of each, the last one's aside
    ir::Operand copies;  // of each array, a part
    bool in_copies;
    bool in_halves;  // what touches no array first
  };

  // Which copy an iteration takes: a row of arrays, a number of values that are held.
  struct Copy {
    ir::Operand row;
    size_t held;
  };

  // A histogram, a row for each part, and the rows of the part that is written: none where it is
  // one place, whose copies are values that the loops carry.
  struct Shared {
    const Histogram& histogram;
    const ir::Var* sums;
    const ir::Var* copies;
    std::optional<size_t> held = {};  // its first copy in held_
  };

  // The loop in parts, and what they give into the arrays.
  void WriteParts(const ir::Binding& loop, const std::vector<Histogram>& found, const Parts& parts);
  // The rows into the array. Those of a processor's parts are few: a loop through them, the first
  // of which takes the others, is a tenth of the code of a sum of columns of any length.
  void Combine(const Histogram& h, const ir::Var* rows, const ir::Operand& count);
  // So many arrays of the histogram's shape, each as a copy starts.
  const ir::Var* StartRows(const Histogram& h, const ir::Operand& rows);
  // Trip `i` of the loop, in one of the copies.
  void WriteTrip(const ir::Binding& loop, const std::vector<Shared>& all, const Copy& copy,
                 const ir::Operand& i);
  // A load or store of an array that has copies.
  void TouchCopy(const ir::Binding& b, const Row& row);

  // Rows of a processor's parts are few; those of a GPU's are a reduction each.
  bool combines_in_order_ = true;
  std::unordered_map<const ir::Var*, Row> rows_;  // by array, while an iteration is written

 private:
  // True where the array is one element, which the body steps whenever it runs.
  static bool IsOnePlace(const ir::Block& body, const Histogram& h);
  // So many copies of it, as they start; where they begin in held_.
  size_t Hold(const Histogram& h, int64_t copies);
  // A loop that carries held_.
  void HoldingLoop(const ir::Operand& lo, const ir::Operand& hi,
                   const std::function<void(const ir::Operand& index)>& body, int64_t step = 1);
  // The same, whatever they hold.
  const ir::Var* AllocateRows(const Histogram& h, const ir::Operand& rows);
  static ir::Type RowsType(const Histogram& h, const ir::Operand& rows);
  void WritePart(const ir::Binding& loop, const Parts& parts, std::vector<Shared>& all,
                 const ir::Operand& part);
  // Combines the rows of a part's copies, in order, into its row of the sums.
  void HandOn(const Shared& shared, const ir::Operand& part, const ir::Operand& copies);
  // The same of copies that are held.
  void HandOnHeld(const Shared& shared, const ir::Operand& part, int64_t copies);
  // All rows but the first, in order, into one.
  void AddRows(const Histogram& h, const ir::Var* into, const ir::Operand& at, const ir::Var* rows,
               const ir::Operand& count);
  static Operands PlaceIn(const ir::Operand& row, Operands place);
  // Several trips at a time: which rows they take is known before. What is left goes one by one.
  void WriteTrips(const ir::Binding& loop, const Parts& parts, const std::vector<Shared>& all,
                  const ir::Operand& lo, const ir::Operand& hi);
  // Trips from lo to hi in two halves: a stretch of the first, then of the second, of which what is
  // left of the last stretch goes one by one.
  void WriteStretches(const ir::Binding& loop, const std::vector<Shared>& all,
                      const std::vector<Copy>& rows, const ir::Operand& lo, const ir::Operand& hi,
                      const std::function<ir::Operand(const ir::Operand& trip)>& row_of);
  void WriteFirst(const Halves& halves, const std::vector<const ir::Var*>& kept,
                  const ir::Operand& start, const ir::Operand& trips);
  void WriteSecond(const Halves& halves, const std::vector<const ir::Var*>& kept,
                   const std::vector<Shared>& all, const Copy& copy, const ir::Operand& start,
                   const ir::Operand& j);
  void WriteInRow(const ir::Block& body, const std::vector<Shared>& all, const Copy& copy,
                  const Operands& arguments);
  void TouchHeld(const ir::Binding& b, size_t held);
  // One place of the rows, combined in order.
  ir::Operand SumOfRows(const Histogram& h, const ir::Var* rows, const ir::Operand& count,
                        const Operands& place);
  void EachPlace(const Histogram& h, const std::function<void(const Operands& place)>& write);

  Operands held_;  // what the part's loops carry of copies so far
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_COPIED_HISTOGRAMS_H_
