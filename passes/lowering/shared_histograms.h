#ifndef PARAKEET_PASSES_LOWERING_SHARED_HISTOGRAMS_H_
#define PARAKEET_PASSES_LOWERING_SHARED_HISTOGRAMS_H_

#include <unordered_map>
#include <vector>

#include "passes/analyses/find_histograms.h"
#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

// Histograms whose combine depends on the order, in the shared memory of a GPU's blocks. A block
// takes a stretch of the loop's trips and has some copies of the arrays. Its threads do 256 trips
// at a time but for what touches the arrays, and keep what that needs: then copy c of C takes trips
// c, c + C, c + 2 C ... of them, in order. Where a trip adds rows, a copy has a thread for each
// column, up to 32. At the end the copies are combined in order into the block's row of the sums.
class SharedHistograms : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

 protected:
  using Found = std::vector<Histogram>;

  // A trip in two: what touches no histogram, which yields what the other takes, and what does.
  struct Halves {
    ir::Block first;
    ir::Block second;  // Its parameters: the trip, and what it takes.
  };
  static Halves Split(const ir::Block& body, const Found& found);
  static bool MayRaise(const ir::Block& body);
  // An array for each value that the second half takes, of so many trips.
  std::vector<const ir::Var*> AllocateKept(const Halves& halves, int64_t trips);

  // True where threads may do the trips: they hold no arrays, no operators but rows, and what is
  // kept of them is little.
  static bool CanBeShared(const HistogramLoop& histograms);
  // Whether a copy of the arrays fits a block, and the trips are worth it.
  ir::Operand IsWorthSharing(const ir::Binding& loop, const Found& found, const ir::Operand& trips,
                             const ir::Operand& inside);
  // A row of sums for each block: an array for each histogram. `inside`: trips of the innermost
  // loop in one trip.
  std::vector<const ir::Var*> WriteInBlocks(const ir::Binding& loop, const Found& found,
                                            const ir::Operand& trips, const ir::Operand& inside);
  // Where trips are being written so, writes what touches the arrays; else false.
  bool VisitShared(const ir::Binding& b);
  bool WritesShared() const { return !own_.empty(); }

  // True for an operation on what an array holds: what it combines with that is kept for the store.
  bool TakeStep(const ir::Binding& b);
  void TakeOld(const ir::Var* old) { olds_.insert(old); }
  const ir::Operand& Added(const ir::Operand& stepped) const { return added_.at(stepped.var()); }

 private:
  // Where the copies of a histogram are: one behind the other in what all of its dtype have.
  struct Copies {
    const Histogram& histogram;
    const ir::Var* buffer;
    ir::Operand first;
    ir::Operand size;
    ir::Operand own = {};  // Where the thread's copy begins.
  };

  // What is kept of 256 trips.
  struct Kept {
    std::vector<const ir::Var*> values;
    const ir::Var* is_done;  // Where the first half may raise.
  };

  // Leaves what only widens a number to the second half: narrow ones are kept.
  static void WidenLast(Halves& halves);
  static int64_t BytesKept(const Halves& halves);
  static int64_t ElementsOf(ir::DType dtype, const ir::Block& body, const Found& found);
  ir::Operand CountCopies(const ir::Block& body, const Found& found);
  std::vector<Copies> Allocate(const ir::Block& body, const Found& found, const ir::Operand& count);
  void Clear(const std::vector<Copies>& all, const ir::Operand& count);
  void WriteTrips(const Halves& halves, const std::vector<Copies>& all, const ir::Operand& count,
                  const ir::Operand& lo, const ir::Operand& hi);
  void WriteFirst(const Halves& halves, const Kept& kept, const ir::Operand& start,
                  const ir::Operand& hi);
  void WriteSecond(const Halves& halves, const Kept& kept, const std::vector<Copies>& all,
                   const ir::Operand& count, const ir::Operand& start, const ir::Operand& trips);
  void HandOn(const Copies& copies, const ir::Operand& count, const ir::Var* sums,
              const ir::Operand& block);
  void WriteRow(const ir::Binding& foreach);
  void StoreStep(const ir::Binding& store, const Copies& copies);
  void ChooseLanes(const ir::Block& body, const Found& found);

  ir::VarSet olds_;                                        // what a step would have loaded,
  std::unordered_map<const ir::Var*, ir::Operand> added_;  // and what is combined with that.
  std::unordered_map<const ir::Var*, Copies> own_;         // by array, while a trip is written
  ir::Operand lanes_ = {};  // Threads of a copy, 1 where no rows are added,
  ir::Operand lane_ = {};   // which of them this is,
  int64_t round_ = 0;       // and how many columns on a thread's next one is.
  bool in_row_ = false;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_SHARED_HISTOGRAMS_H_
