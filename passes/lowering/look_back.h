#ifndef PARAKEET_PASSES_LOWERING_LOOK_BACK_H_
#define PARAKEET_PASSES_LOWERING_LOOK_BACK_H_

#include <functional>

#include "passes/lowering/lower_reductions.h"

namespace parakeet::passes {

// How the blocks of one launch wait for what others make: each takes the number of its chunk from a
// counter, so that whoever has a chunk before it has begun, and runs to its end whatever comes
// later. A block says in a word of memory that something of its chunk is there; a thread that is to
// read it looks at the word until it says so.
//
//   %old = atomic %words[0], 1 {combine = "add"}                    the number
//   store %totals[%k], %v
//   %old = atomic %words[%k + 32], 1 {combine = "add", ordered = 1}      it is there
//
// A word holds 0 until then; adding 0 reads it.
class LookBackLowering : public ReductionLowering {
 public:
  using ReductionLowering::ReductionLowering;

 protected:
  struct LookBack {
    const ir::Var* words;
    ir::Operand is_many;  // Whether there is more than one block: else nobody waits.
  };

  // Host code: words that hold 0.
  LookBack StartLookBack(const ir::Operand& blocks, const ir::Operand& words);
  // The block's, which all its threads get.
  ir::Operand TakeNumber(const LookBack& look_back);
  // Says that what the thread has stored is there; `value` is not 0. Where there are many blocks.
  void Publish(const LookBack& look_back, const ir::Operand& word, const ir::Operand& value);
  // What the word holds, once it is not 0.
  ir::Operand Await(const LookBack& look_back, const ir::Operand& word);

  // The elements that a block of threads takes: a whole chunk has `each` for each thread.
  struct ChunkSize {
    int64_t threads;
    int64_t each;
    ir::Operand size;
    ir::Operand is_whole;
  };
  // Every `threads`th of them from `thread` on: neighbours are neighbouring threads'. What is cheap
  // is written for whole chunks apart, so that all loads are under way at a time.
  void EachOf(const ChunkSize& chunk, const ir::Operand& thread, bool is_cheap,
              const std::function<void(const ir::Operand& k)>& body);
  // The run of a thread, carrying values: from its first element lo, or from the one behind it.
  Operands CarryRun(const ChunkSize& chunk, const ir::Operand& lo, bool behind, bool is_cheap,
                    const Operands& first,
                    const std::function<Operands(const ir::Operand& k, const Operands&)>& body);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOK_BACK_H_
