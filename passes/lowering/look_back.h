#ifndef PARAKEET_PASSES_LOWERING_LOOK_BACK_H_
#define PARAKEET_PASSES_LOWERING_LOOK_BACK_H_

#include <functional>
#include <vector>

#include "passes/lowering/lower_reductions.h"

namespace parakeet::passes {

// How the blocks of one launch wait for what others make: blocks begin in the order of their
// numbers, as CUB too expects of a device, so that whoever has a chunk before it has begun, and
// runs to its end whatever comes later. What a block publishes is in words of memory that say that
// it is there: of each value, 4 bytes a word, above a bit that is set. So nothing else need be in
// order.
//
//   %bits = load %total.bits[0]  %low = shl %bits, 32  %word = or %low, 1
//   %old = atomic %words[%k], %word {combine = "add"}
//
// A word holds 0 until then; adding 0 reads it, which a thread that is to have the value does until
// it is there.
class LookBackLowering : public ReductionLowering {
 public:
  using ReductionLowering::ReductionLowering;

 protected:
  using Arrays = std::vector<const ir::Var*>;

  struct LookBack {
    const ir::Var* words;
    ir::Operand is_many;  // Whether there is more than one block: else nobody waits.
  };

  // Host code: so many words that hold 0.
  LookBack StartLookBack(const ir::Operand& blocks, const ir::Operand& words);
  // The word becomes `value`, which is not 0 and stays.
  void PublishWord(const LookBack& look_back, const ir::Operand& word, const ir::Operand& value);
  // What so many words from `word` on hold, once none is 0.
  Operands AwaitWords(const LookBack& look_back, const ir::Operand& word, int64_t count);

  // Arrays in the memory of a block, with views of their elements' bits as integers: of the two
  // parts of complex numbers, which then are in arrays of their own.
  struct Exposed {
    Arrays arrays;
    std::vector<Arrays> parts;
    std::vector<Arrays> bits;
  };
  Exposed Expose(const Arrays& arrays);
  // How many words an entry of such arrays takes.
  static int64_t WordsOf(const Operands& values);
  // The entry into the words from `word` on, where there are many blocks.
  void Publish(const LookBack& look_back, const ir::Operand& word, const Exposed& values,
               const ir::Operand& entry);
  // The values of these words, once they are there, into the entry.
  void Await(const LookBack& look_back, const ir::Operand& word, const Exposed& values,
             const ir::Operand& entry);

  // The elements that a block of threads takes: a whole chunk has `each` for each thread.
  struct ChunkSize {
    int64_t threads;
    int64_t each;
    ir::Operand size;
    ir::Operand is_whole;
  };
  // Where entry k stands in shared memory, so that threads which read every `run`th do not wait for
  // one another.
  ir::Operand Spread(const ir::Operand& k, int64_t run);
  // Every `threads`th of them from `thread` on: neighbours are neighbouring threads'; with where
  // each stands, spread for runs of `each`, of which the threads are a multiple. What is cheap is
  // written for whole chunks apart.
  void EachOf(const ChunkSize& chunk, const ir::Operand& thread, bool is_cheap,
              const std::function<void(const ir::Operand& k, const ir::Operand& spread)>& body);
  // An element of the run of a thread: the `step`th, where it stands among all, and where, spread.
  // Where the chunk is whole, and what is done with its elements cheap, steps are constants once
  // loops are unrolled.
  struct PlaceInRun {
    ir::Operand step;
    ir::Operand k;
    ir::Operand spread;
    bool is_constant;
  };
  // The run from its first element, or from the one behind it, carrying values.
  Operands CarryRun(
      const ChunkSize& chunk, const ir::Operand& thread, bool behind, bool is_cheap,
      const Operands& first,
      const std::function<Operands(const PlaceInRun& place, const Operands& so_far)>& body);

 private:
  const ir::Var* ViewBits(const ir::Var* array);
  Operands ToWords(const ir::Operand& bits);
  ir::Operand FromWords(const Operands& words, size_t first, ir::DType dtype);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOK_BACK_H_
