#ifndef PARAKEET_PASSES_ANALYSES_FIND_PIECES_H_
#define PARAKEET_PASSES_ANALYSES_FIND_PIECES_H_

#include <optional>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// What a piece takes of one axis of its array: from `begin` on, so many places, which an index of
// the piece's nest goes through; or one place alone.
struct PieceSide {
  LinearForm begin;
  LinearForm end;
  std::optional<size_t> index;
};

// Elements of an array that a foreach stores, each once, or that one store does.
struct Piece {
  const ir::Binding* nest = nullptr;   // the foreach, or the store
  const ir::Binding* store = nullptr;  // the last binding of the foreach's block, or `nest`
  std::vector<PieceSide> sides;        // by axis of the array
};

// An array that a block makes piece by piece, all of it before any of it is read.
struct PiecewiseArray {
  const ir::Binding* maker =
      nullptr;  // an alloc, of which the pieces leave nothing out, or an imap of scalars
  std::vector<Piece> pieces;  // in the order in which they are stored, one at least
};

// Finds arrays that are made piece by piece, and whose pieces could as well be made where the last
// of them is: none may raise or reads the array, and nothing stores to what they read in between.
class PieceFinder {
 public:
  explicit PieceFinder(const ir::Function& function) : roots_(function), forms_(function) {}

  // What binding `at` of the block begins to make; none where that is no such array.
  std::optional<PiecewiseArray> Of(const ir::Block& block, size_t at) const;

 private:
  std::optional<Piece> PieceOf(const ir::Binding& b, const ir::Var& array) const;
  std::optional<PieceSide> SideOf(const ir::Operand& place, const ir::Binding& nest,
                                  std::vector<bool>& taken) const;
  bool MayWait(const ir::Block& block, size_t at, size_t last, const PiecewiseArray& made) const;

  Roots roots_;
  WrappingForms forms_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_PIECES_H_
