#ifndef PARAKEET_PASSES_LOWERING_RADIX_SORT_WRITER_H_
#define PARAKEET_PASSES_LOWERING_RADIX_SORT_WRITER_H_

#include <functional>

#include "passes/lowering/sort_writer.h"

namespace parakeet::passes {

// Writes the sort of a long array for blocks of a GPU's threads: by the bits of its keys, digits of
// eight from the lowest on, each stably, in one pass over the array (Adinets and Merrill,
// "Onesweep", 2022). Bits are turned so that they compare as unsigned integers do, in NumPy's
// order: zeros as equal, and what is nan as equal and last.
//
// The first kernels count all digits of all keys, and how many keys have a smaller one. A kernel
// for each digit then has blocks that take a tile each, in the order of a counter. A thread keeps
// its keys in registers. Those of a warp with the same digit know one another by `match`, so that
// their ranks within the warp follow from counters that a warp has for itself. The counts of a
// tile's warps, added up, are published digit by digit, and each digit's thread sums what the tiles
// before have published, back to one that says the sum of all before it. Keys go through shared
// memory, where a tile's are sorted, so that those of a digit are stored side by side. Digits that
// all keys have in common are passed over.
//
// Where places are sorted by keys, both are moved, places in 32 bits.
class RadixSortWriter : public SortWriter {
 protected:
  using SortWriter::SortWriter;

  // Whether there is a radix sort of such keys, and it is better than merging: one array, long, yet
  // with places in 30 bits, of numbers that one integer stands for.
  ir::Operand IsForRadix(const ir::Var* keys);
  // Sorts `keys` where `places` is null, else `places`, which hold each index once, by the keys
  // there. Keys that are sorted alone come from `source`, which may be another array.
  void WriteRadixSort(const ir::Var* keys, const ir::Var* places, const ir::Var* source);

 private:
  struct Sort {
    const ir::Var* keys;
    const ir::Var* places;
    const ir::Var* source;
    ir::Operand length;
    ir::Operand tiles;
    int64_t digits;
    int64_t threads;
    int64_t each;            // Keys of a thread.
    const ir::Var* words;    // Of all blocks: see the .cc.
    const ir::Var* bits;     // Two copies of the keys' bits,
    const ir::Var* indexes;  // and of the places.
    ir::DType dtype() const { return bits->type.dtype(); }
    int64_t tile() const { return threads * each; }
  };
  // What is done by the pass of one digit.
  struct Pass {
    ir::Operand digit;
    ir::Operand is_wanted;  // Whether keys differ in it.
    ir::Operand is_first;   // Of those with something to do: from the keys.
    ir::Operand is_last;    // To them.
    ir::Operand from;       // Where the copy begins that is read,
    ir::Operand to;         // and the other.
  };
  // A block's part. Of a thread's own arrays, the first index is the thread.
  struct Tile {
    ir::Operand number;
    ir::Operand start;
    ir::Operand count;
    ir::Operand is_whole;
    const ir::Var* bits = nullptr;      // A thread's,
    const ir::Var* digits = nullptr;    // as the words below,
    const ir::Var* ranks = nullptr;     // and where they come to stand in the tile,
    const ir::Var* targets = nullptr;   // and where goes what it stores.
    const ir::Var* peers = nullptr;     // The lanes with its digit.
    const ir::Var* counters = nullptr;  // The block's: of each warp and digit,
    const ir::Var* starts = nullptr;    // of each digit,
    const ir::Var* parts = nullptr;     // of some,
    const ir::Var* sorted = nullptr;    // and keys or places in order.
  };

  Sort Describe(const ir::Var* keys, const ir::Var* places, const ir::Var* source);
  const ir::Var* Shared(ir::DType dtype, int64_t size, const char* hint);
  const ir::Var* Own(const Sort& sort, ir::DType dtype, int64_t size, const char* hint);

  // Numbers of one dtype, by name.
  ir::Operand Number(int64_t value, ir::DType dtype);
  ir::Operand Narrow(const ir::Operand& number);  // To 32 bits
  ir::Operand Wide(const ir::Operand& number);    // and to an index.

  // Bits that compare as the keys do, but for zeros and nan; and the key that has them.
  ir::Operand BitsOf(const Sort& sort, const ir::Operand& key);
  ir::Operand KeyOf(const Sort& sort, const ir::Operand& bits);
  // Those of one zero for both, and of one nan for all.
  ir::Operand Canonical(const Sort& sort, const ir::Operand& bits);
  // What is compared of the bits that are moved. Keys of places are canonical from the start, since
  // nobody wants them back.
  ir::Operand Compared(const Sort& sort, const ir::Operand& bits);
  // Of what is compared, a byte.
  ir::Operand DigitOf(const Sort& sort, const ir::Operand& bits, const ir::Operand& digit);
  // What is moved, at an index of the array as it was.
  ir::Operand FirstBits(const Sort& sort, const ir::Operand& at);

  void ClearWords(const Sort& sort);
  void CountDigits(const Sort& sort);
  void CountRun(const Sort& sort, const ir::Var* counts, const ir::Var* taken,
                const ir::Operand& thread, const ir::Operand& first);
  void AddCounts(const Sort& sort, const ir::Var* counts);
  // Counts become how many keys have a smaller digit; notes digits that all have in common.
  void PlaceDigits(const Sort& sort);
  // Each of 256 becomes the sum of those before, in the arrays of one block.
  void SumBefore(const ir::Var* counts, const ir::Var* parts);

  Pass DescribePass(const Sort& sort, const ir::Operand& digit);
  void SortByDigit(const Sort& sort, const ir::Operand& digit);
  Tile TakeTile(const Sort& sort, const Pass& pass);
  void TakeKeys(const Sort& sort, const Pass& pass, const Tile& tile);
  void CountKeys(const Sort& sort, const Tile& tile);
  void PublishCounts(const Sort& sort, const Pass& pass, const Tile& tile);
  // A warp's count of a digit becomes where its first key with it comes to stand in the tile.
  void PlaceCounters(const Sort& sort, const Tile& tile);
  void OrderKeys(const Sort& sort, const Tile& tile);
  // One key of each thread. Behind it, threads have waited for those of their warp, or the block.
  void OrderKey(const Sort& sort, const Tile& tile, const ir::Operand& k, bool waits_for_block);
  void LookBack(const Sort& sort, const Pass& pass, const Tile& tile);
  void StoreKeys(const Sort& sort, const Pass& pass, const Tile& tile);
  void OrderPlaces(const Sort& sort, const Pass& pass, const Tile& tile);
  void StorePlaces(const Sort& sort, const Pass& pass, const Tile& tile);

  // Each key of a thread: which of its own, and where in the tile.
  void EachKey(const Sort& sort, const ir::Operand& thread,
               const std::function<void(const ir::Operand& k, const ir::Operand& at)>& write);
  // Each place of the tile that a thread stores from.
  void EachPlace(const Sort& sort, const ir::Operand& thread,
                 const std::function<void(const ir::Operand& k, const ir::Operand& at)>& write);
  ir::Operand Counter(const ir::Operand& thread, const ir::Operand& digit);
  ir::Operand Word(const Sort& sort, const Pass& pass, const ir::Operand& tile,
                   const ir::Operand& digit);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_RADIX_SORT_WRITER_H_
