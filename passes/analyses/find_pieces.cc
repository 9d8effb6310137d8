#include "passes/analyses/find_pieces.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

constexpr size_t kMostPieces = 8;

bool IsFull(const PieceSide& side, const LinearForm& size) {
  return side.begin.IsConstant() && side.begin.constant == 0 && SameForm(side.end, size);
}

// True where the pieces leave out no place along the axis and those behind it. Ends that follow one
// another from 0 to the size go past every place, also where some run backwards and hold nothing.
bool LeaveOutNothing(const std::vector<const Piece*>& pieces, const std::vector<LinearForm>& sizes,
                     size_t axis) {
  if (axis == sizes.size()) return !pieces.empty();
  LinearForm done = LinearForm::Of(int64_t{0});
  for (size_t steps = 0; steps <= pieces.size(); ++steps) {
    if (SameForm(done, sizes[axis])) return true;
    const auto next = std::find_if(pieces.begin(), pieces.end(), [&](const Piece* piece) {
      const PieceSide& side = piece->sides[axis];
      if (!SameForm(side.begin, done)) return false;
      std::vector<const Piece*> beside;
      for (const Piece* other : pieces) {
        const PieceSide& own = other->sides[axis];
        const bool goes_along = SameForm(own.begin, side.begin) && SameForm(own.end, side.end);
        if (goes_along || IsFull(own, sizes[axis])) beside.push_back(other);
      }
      return LeaveOutNothing(beside, sizes, axis + 1);
    });
    if (next == pieces.end()) return false;
    done = (*next)->sides[axis].end;
  }
  return false;
}

}  // namespace

std::optional<PiecewiseArray> PieceFinder::Of(const Block& block, size_t at) const {
  const Binding& maker = *block.bindings[at];
  const bool is_alloc = maker.op == OpCode::kAlloc;
  if (!is_alloc && (maker.op != OpCode::kImap || maker.results.size() != 1)) return std::nullopt;
  if (!is_alloc && !ir::TypeOf(maker.blocks[0]->results[0]).IsScalar()) return std::nullopt;
  const Var* array = maker.result();
  if (array->type.rank() == 0 || !ir::TypeOf(array).IsArray()) return std::nullopt;
  PiecewiseArray made{&maker, {}};
  size_t last = at;
  for (size_t next = at + 1; next < block.bindings.size(); ++next) {
    const Binding& b = *block.bindings[next];
    if (!ir::FreeVars(b).contains(array)) continue;
    auto piece = PieceOf(b, *array);
    if (!piece) break;
    made.pieces.push_back(std::move(*piece));
    last = next;
    if (made.pieces.size() > kMostPieces) return std::nullopt;
  }
  if (made.pieces.empty() || !MayWait(block, at, last, made)) return std::nullopt;
  if (!is_alloc) return made;
  std::vector<const Piece*> pieces;
  for (const Piece& piece : made.pieces) pieces.push_back(&piece);
  std::vector<LinearForm> sizes;
  for (const Operand& size : maker.operands) sizes.push_back(forms_.Of(size));
  return LeaveOutNothing(pieces, sizes, 0) ? std::optional(made) : std::nullopt;
}

std::optional<Piece> PieceFinder::PieceOf(const Binding& b, const Var& array) const {
  if (b.op != OpCode::kStore && b.op != OpCode::kForeach) return std::nullopt;
  if (b.op == OpCode::kForeach && b.blocks[0]->bindings.empty()) return std::nullopt;
  const Binding& store = b.op == OpCode::kStore ? b : *b.blocks[0]->bindings.back();
  if (store.op != OpCode::kStore || store.operands[0] != Operand(&array)) return std::nullopt;
  int uses = 0;
  ir::ForEachUse(b, [&](const Var* used) { uses += used == &array; });
  const Effects effects = EffectsOf(b, roots_);
  if (uses != 1 || effects.may_fail || effects.writes != roots_.Of(&array)) return std::nullopt;
  Piece piece{&b, &store, {}};
  std::vector<bool> taken(b.op == OpCode::kStore ? 0 : b.blocks[0]->params.size());
  for (int axis = 0; axis < array.type.rank(); ++axis) {
    auto side = SideOf(store.operands[1 + axis], b, taken);
    if (!side) return std::nullopt;
    piece.sides.push_back(std::move(*side));
  }
  const bool all = std::find(taken.begin(), taken.end(), false) == taken.end();
  return all ? std::optional(piece) : std::nullopt;
}

std::optional<PieceSide> PieceFinder::SideOf(const Operand& place, const Binding& nest,
                                             std::vector<bool>& taken) const {
  PieceSide side{forms_.Of(place), {}, std::nullopt};
  LinearForm size = LinearForm::Of(int64_t{1});
  if (nest.op == OpCode::kForeach) {
    const Block& body = *nest.blocks[0];
    for (size_t k = 0; k < body.params.size() && !side.index; ++k) {
      if (taken[k] || side.begin.Coefficient(body.params[k]) != 1) continue;
      taken[k] = true;
      side.index = k;
      side.begin.Add(LinearForm::Of(body.params[k]), -1);
      size = forms_.Of(nest.operands[k]);
    }
    const VarSet inside = ir::DefinedVars(body);
    for (const auto& [value, times] : side.begin.terms) {
      if (inside.contains(value)) return std::nullopt;
    }
  }
  side.end = side.begin;
  side.end.Add(size, 1);
  return side;
}

// True where nothing between the maker and the last piece stores to what those before it read, and
// nothing behind stores to the array.
bool PieceFinder::MayWait(const Block& block, size_t at, size_t last,
                          const PiecewiseArray& made) const {
  const VarSet& own = roots_.Of(made.maker->result());
  VarSet read;
  for (size_t next = at; next < block.bindings.size(); ++next) {
    const Binding& b = *block.bindings[next];
    const bool is_piece =
        next == at || std::any_of(made.pieces.begin(), made.pieces.end(),
                                  [&](const Piece& piece) { return piece.nest == &b; });
    const Effects effects = EffectsOf(b, roots_);
    if (next == at && effects.may_fail && b.op == OpCode::kImap) return false;
    if (is_piece) read.insert(effects.reads.begin(), effects.reads.end());
    if (is_piece) continue;
    if (next < last && Intersects(effects.writes, read)) return false;
    if (Intersects(effects.writes, own)) return false;
  }
  return true;
}

}  // namespace parakeet::passes
