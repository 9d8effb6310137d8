#ifndef PARAKEET_PASSES_LOWERING_SORT_WRITER_H_
#define PARAKEET_PASSES_LOWERING_SORT_WRITER_H_

#include <functional>
#include <vector>

#include "passes/lowering/loop_writer.h"

namespace parakeet::passes {

// Writes the sort of the rows of an array for blocks of a GPU's threads: a merge sort, since the IR
// compares numbers of every kind and takes none for its bits. Equal elements keep their order, and
// what is nan comes last, complex numbers as NumPy has them.
//
// The first kernel sorts tiles, a block each, in shared memory: a thread sorts a short run by
// insertion, then runs are merged two by two, a thread finding by bisection where its part of what
// two become starts in both (a merge path). Further kernels, as many as doubling takes, merge tiles
// that stand sorted in memory, from one array to another and back: a block makes one tile of what
// two become, from the parts of both that it has found by bisection.
//
// Where places are sorted by keys, both are moved.
class SortWriter : public LoopWriter {
 protected:
  using LoopWriter::LoopWriter;

  // Sorts the rows of `keys` where `places` is null, else those of `places` by the keys there.
  void WriteSort(const ir::Var* keys, const ir::Var* places);

  // `test` and `body` take what is carried.
  Operands Repeat(const Operands& inits,
                  const std::function<ir::Operand(const Operands& carried)>& test,
                  const std::function<Operands(const Operands& carried)>& body);

 private:
  using Arrays = std::vector<const ir::Var*>;  // The keys, then the places where there are some.
  using Element = std::function<ir::Operand(const ir::Operand& at)>;

  struct Sort {
    const ir::Var* keys;
    const ir::Var* places;
    Operands rows;       // How many there are, an axis each;
    ir::Operand length;  // of each;
    ir::Operand tiles;   // of each.
    int64_t run;         // Elements that one thread takes at most,
    int64_t tile;        // and those that a block takes.
  };
  // A block's part of a row.
  struct Tile {
    Operands row;
    ir::Operand start;
    ir::Operand count;
    ir::Operand run;  // Elements that a thread takes of it: fewer where a whole row is short.
    Arrays shared;    // Two tiles.
  };
  // Two sorted sequences one behind the other in shared memory, and where the merged one starts.
  struct Pair {
    ir::Operand from;
    ir::Operand to;
    ir::Operand left;   // How many are in the first,
    ir::Operand right;  // and in the second.
  };

  static Sort Describe(const ir::Var* keys, const ir::Var* places);
  Arrays AllocateLike(const Sort& sort, const Operands& dims);
  Operands AtPlace(const Tile& tile, const ir::Operand& at);
  ir::Operand RunOfThread(const Sort& sort);
  void EachTile(const Sort& sort, const std::function<void(const Tile& tile)>& write);

  void SortTiles(const Sort& sort, const Arrays& sorted, const ir::Operand& is_long);
  void TakeElements(const Sort& sort, const Tile& tile);
  void SortRun(const Sort& sort, const Tile& tile, const ir::Operand& thread);
  // Merges runs until the tile is one; where it starts in shared memory.
  ir::Operand MergeRuns(const Sort& sort, const Tile& tile);
  void MergeTiles(const Sort& sort, const Arrays& from, const Arrays& to, const ir::Operand& width);
  // Brings what a tile of two merged ones is made of; how much of it is the left one's.
  ir::Operand TakeSides(const Sort& sort, const Tile& tile, const Arrays& from,
                        const ir::Operand& width);
  // The elements of the merged pair from `first` on that one thread makes, `run` at most.
  void MergePart(const Sort& sort, const Arrays& shared, const Pair& pair, const ir::Operand& first,
                 const ir::Operand& run);
  // How many of the first `count` elements of two merged sequences are the left one's.
  ir::Operand Split(const ir::Operand& count, const ir::Operand& left, const ir::Operand& right,
                    const Element& left_key, const Element& right_key);

  // Indexes below `count`, every one for one of a block's threads, neighbours for neighbours.
  void ByThreads(const ir::Operand& count, const std::function<void(const ir::Operand& k)>& write);
  // NumPy's order.
  ir::Operand Less(const ir::Operand& a, const ir::Operand& b);
  ir::Operand LessComplex(const ir::Operand& a, const ir::Operand& b);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_SORT_WRITER_H_
