// Makes several elements of a map together where much of what they read is the same: it is read
// once, and stays in registers. A thread of a GPU takes neighbours along the axis before the last
// (the rows of a convolution), a core those along the last, of sums in lanes (the rows of `a @ v`),
// and of two rows at a time where these read the same too (`a @ b.T` of a few rows).
//
// Before:
//   %r: [n][m]f64 = imap (%i, %j) in (%n, %m) { ... %x[%i, %j], %x[%i + 1, %j] ... yield %s }
// After:
//   %r: [n][m]f64 = alloc (%n, %m)
//   foreach (%t, %j) in ((%n + 3) / 4, %m) { %i = %t * 4
//   if (%i + 4 <= %n) { ... %x[%i, %j] ... %x[%i + 4, %j] ...  store %r[%i, %j], %s ... }
//   else { for %k in %i to %n { ... store %r[%k, %j], %s } } }
//
// The reductions of these elements become one of several accumulators, on a GPU where there are so
// many elements that a thread would make each of them alone: each is combined in its own order.
//
// Assumes: what is the same is merged behind this pass; choose_trees has run.
// Refuses: elements that hold other loops, may raise, or store anywhere but at their end; elements
// that read little, or little that is the same; arrays in Fortran order, where neighbours in memory
// are others; on a core, reductions that are no plain sums of what lies along them, registers of 16
// bytes, and those of 64 that do not hold so many accumulators.
#include <algorithm>
#include <string>

#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/tile_reads.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Substitution;
using ir::Var;

// A thread of few reads has none to spare: more threads hide more latency. Of many that move from
// neighbour to neighbour, so much is the same that more elements are worth their registers.
constexpr size_t kFewReads = 12;
constexpr size_t kSomeReads = 12;
constexpr size_t kManyReads = 20;
constexpr int64_t kTogether = 4;
constexpr int64_t kOfSomeReads = 6;
constexpr int64_t kOfManyReads = 8;
// Of so many elements, lower_to_loops lets a thread make each, where its reduction does not lie
// along memory or is as short as that.
constexpr int64_t kManyElements = 1 << 16;
constexpr int64_t kShortRow = 64;
// Of a core: how many registers may hold accumulators, half of all, and how many operations an
// element may take: where it takes more, what it reads is not what takes time.
constexpr int64_t kRegistersOfSums = 16;
constexpr int64_t kRowsTogether = 2;  // where neighbours of both read the same
constexpr size_t kMostOfElement = 12;

bool IsPlain(const Binding& b) { return ir::IsScalarOp(b.op) || b.op == OpCode::kLoad; }

bool HasPlainElements(const Binding& reduction) {
  const auto is_plain = [](const Binding* b) { return IsPlain(*b); };
  const auto is_scalar = [](const Var* result) { return result->type.IsScalar(); };
  const std::vector<const Binding*>& element = reduction.blocks[0]->bindings;
  const std::vector<const Binding*>& combine = reduction.blocks[1]->bindings;
  return std::all_of(element.begin(), element.end(), is_plain) &&
         std::all_of(combine.begin(), combine.end(), is_plain) &&
         std::all_of(reduction.results.begin(), reduction.results.end(), is_scalar);
}

class NeighbourJammer : public LoopWriter {
 public:
  NeighbourJammer(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), forms_(function), patterns_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_nest = b->op == OpCode::kImap || b->op == OpCode::kForeach;
    if (is_nest && depth_ == 0) {
      const Tile tile = IsFit(*b) ? TileOf(*b) : Tile{};
      if (tile.columns > 1) return Write(*b, tile);
    }
    depth_ += is_nest;
    Mutator::Visit(b);
    depth_ -= is_nest;
  }

 private:
  // How many neighbours are made together, and of how many rows.
  struct Tile {
    int64_t columns = 1;
    int64_t rows = 1;
    int64_t size() const { return columns * rows; }
  };

  bool IsFit(const Binding& b) const {
    const Block& body = *b.blocks[0];
    const size_t least = context_.options.kernels ? 2 : 1;
    if (body.params.size() < least || b.attrs.Int(Attr::kFortran) != 0) return false;
    const auto is_store = [](const Binding* inner) { return inner->op == OpCode::kStore; };
    const auto end = std::find_if(body.bindings.begin(), body.bindings.end(), is_store);
    const ir::VarSet inside = ir::DefinedVars(body);
    return std::all_of(body.results.begin(), body.results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsScalar(); }) &&
           std::all_of(end, body.bindings.end(), is_store) &&
           std::all_of(body.bindings.begin(), end, [&](const Binding* inner) {
             return IsPlain(*inner) || IsFitReduction(*inner, inside);
           });
  }

  // Of as many elements wherever it stands.
  static bool IsFitReduction(const Binding& b, const ir::VarSet& inside) {
    if (b.op != OpCode::kIreduce || b.attrs.Int(Attr::kBlock) != 0) return false;
    const size_t rank = b.blocks[0]->params.size();
    return HasPlainElements(b) &&
           std::none_of(b.operands.begin(), b.operands.begin() + rank,
                        [&](const Operand& extent) { return inside.contains(extent.var()); });
  }

  static std::vector<const Binding*> ReductionsOf(const Block& body) {
    std::vector<const Binding*> reductions;
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kIreduce) reductions.push_back(b);
    }
    return reductions;
  }

  // Along which axis neighbours are made together: on a core the last that is not of one element.
  size_t AxisOf(const Binding& b) const {
    const size_t rank = b.blocks[0]->params.size();
    if (context_.options.kernels) return rank - 2;
    size_t axis = rank - 1;
    while (axis > 0 && b.operands[axis].IsInt(1)) --axis;
    return axis;
  }

  // True of sums in lanes that wait for what they read, so many of which registers hold.
  bool SuitsRegisters(const Binding& reduction) const {
    const int64_t lanes = reduction.attrs.Int(Attr::kLanes, 1);
    const Block& element = *reduction.blocks[0];
    return lanes > 1 && (!IsRoomy() || SumsInRegisters(reduction) >= kTogether) &&
           context_.options.vector_bytes >= 32 && element.bindings.size() <= kMostOfElement &&
           std::all_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
             return b->op != OpCode::kLoad || patterns_.LiesNext(*b, element.params.back());
           });
  }

  // Whether registers hold all lanes of several sums. Sixteen hold parts of them at a time
  // (lane_reductions.h).
  bool IsRoomy() const { return context_.options.vector_bytes == 64; }

  // Of how many elements registers hold the accumulators.
  int64_t SumsInRegisters(const Binding& reduction) const {
    int64_t bytes = 0;
    for (const Var* result : reduction.results)
      bytes += reduction.attrs.Int(Attr::kLanes, 1) * ir::SizeInBytes(result->type.dtype());
    return kRegistersOfSums * context_.options.vector_bytes / bytes;
  }

  static void AddLoads(const Block& block, TileReads& reads) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kLoad) reads.Add(*b);
    }
  }

  // Whether four elements read at most that part of what they would read one by one.
  static bool Saves(const TileReads& reads, size_t part, size_t of) {
    return of * reads.Places(kTogether) <= part * kTogether * reads.Places(1);
  }

  // How many elements a thread makes.
  Tile TileOf(const Binding& b) const {
    const Block& body = *b.blocks[0];
    const size_t axis = AxisOf(b);
    const std::vector<const Binding*> reductions = ReductionsOf(body);
    const auto reads_along = [&](size_t which) {
      TileReads reads(forms_, body.params[which]);
      for (const Binding* reduction : reductions) AddLoads(*reduction->blocks[0], reads);
      return reads;
    };
    const auto saves = [&](size_t which) {
      const TileReads reads = reads_along(which);
      return reads.Places(1) > 1 && Saves(reads, 2, 3);
    };
    if (!context_.options.kernels) {
      if (reductions.size() != 1 || !SuitsRegisters(*reductions[0]) || !saves(axis)) return {};
      // Of two rows each register that is read is used twice, and what is far read half as often.
      const bool has_rows = axis > 0 && !b.operands[axis - 1].IsInt(1) && saves(axis - 1);
      if (!has_rows) return {kTogether};
      if (!IsRoomy()) return {kRowsTogether, kRowsTogether};
      const int64_t columns = SumsInRegisters(*reductions[0]) / kRowsTogether;
      return {std::min(columns, kTogether), kRowsTogether};
    }
    if (!reductions.empty()) return {saves(axis) ? kTogether : 1};
    TileReads reads = reads_along(axis);
    AddLoads(body, reads);
    if (reads.Places(1) < kFewReads || !Saves(reads, 1, 2)) return {};
    const size_t moving = reads.MovingPlaces();
    return {moving < kSomeReads ? kTogether : moving < kManyReads ? kOfSomeReads : kOfManyReads};
  }

  void Write(const Binding& b, const Tile& tile) {
    const std::string who = context_.options.kernels ? "a thread makes " : "";
    const std::string made = context_.options.kernels ? "" : " are made together";
    context_.Note(
        b.span, who + std::to_string(tile.size()) + " neighbours" + made + ", which read the same",
        Topic::kNests, Verdict::kDone);
    for (const Var* result : b.results)
      builder().Emit(OpCode::kAlloc, {result}, result->type.dims());
    const auto jammed = [&] {
      WriteNest(b, tile);
      return Operands{};
    };
    const auto alone = [&] {
      WriteNest(b, {});
      return Operands{};
    };
    if (!context_.options.kernels) return void(jammed());
    Choose(IsWorth(b), jammed, alone);
  }

  Operand IsWorth(const Binding& b) {
    const std::vector<const Binding*> reductions = ReductionsOf(*b.blocks[0]);
    if (reductions.empty()) return Operand::Bool(true);
    const size_t rank = b.blocks[0]->params.size();
    const Operand elements = Product({b.operands.begin(), b.operands.begin() + rank});
    Operand worth = builder().Scalar(OpCode::kGe, {elements, Int(kManyElements)});
    for (const Binding* reduction : reductions) {
      if (reduction->attrs.Int(Attr::kLanes, 1) == 1) continue;
      const Operands& operands = reduction->operands;
      const Operand size =
          Product({operands.begin(), operands.begin() + reduction->blocks[0]->params.size()});
      const Operand is_short = builder().Scalar(OpCode::kLt, {size, Int(kShortRow)});
      worth = builder().Scalar(OpCode::kAnd, {worth, is_short});
    }
    return worth;
  }

  void WriteNest(const Binding& b, const Tile& tile) {
    const size_t axis = AxisOf(b);
    const Operand each = EachTakes(b, tile);
    Operands extents = b.operands;
    extents[axis] = CeilDiv(extents[axis], each);
    if (tile.rows > 1) extents[axis - 1] = CeilDiv(extents[axis - 1], Int(tile.rows));
    std::vector<const Var*> params;
    for (const Var* param : b.blocks[0]->params)
      params.push_back(builder().NewVar(param->type, param->hint));
    const Operands index(params.begin(), params.end());
    // What a core reads for the neighbours stays in the first cache while the others pass by.
    if (!context_.options.kernels) {
      std::rotate(params.begin(), params.begin() + axis, params.begin() + axis + 1);
      std::rotate(extents.begin(), extents.begin() + axis, extents.begin() + axis + 1);
    }
    const Block* body = BlockOf(params, [&] {
      tile.columns == 1 ? WriteElements(b, {index}) : WriteTile(b, index, axis, each, tile);
      return Operands{};
    });
    // Another part of what is counted stays one.
    ir::Attributes attrs;
    if (b.attrs.Has(Attr::kPart)) attrs = {{Attr::kPart, b.attrs.Int(Attr::kPart)}};
    builder().Emit(OpCode::kForeach, {}, std::move(extents), attrs, {body});
  }

  // One at a time where threads would have nothing to share else.
  Operand EachTakes(const Binding& b, const Tile& tile) {
    if (context_.options.kernels || tile.columns == 1) return Int(tile.columns);
    const size_t rank = b.blocks[0]->params.size();
    const Operand threads = builder().EmitOne(OpCode::kTeam, ir::DType::kI64, {});
    const Operand elements = Product({b.operands.begin(), b.operands.begin() + rank});
    const Operand are_few =
        builder().Scalar(OpCode::kLt, {elements, builder().Mul(threads, Int(tile.size()))});
    return builder().Scalar(OpCode::kSelect, {are_few, Int(1), Int(tile.columns)});
  }

  // What tells lower_to_loops how long an element takes, too.
  static ir::Attributes Likely() { return {{Attr::kLikely, int64_t{1}}}; }

  // The rows of the tile in order, those that there are, and the neighbours of each together.
  void WriteTile(const Binding& b, Operands index, size_t axis, const Operand& each,
                 const Tile& tile) {
    if (tile.rows == 1) return WriteSeveral(b, {index}, axis, each, tile.columns);
    const size_t row_axis = axis - 1;
    const Operand first = builder().Mul(index[row_axis], Int(tile.rows));
    const Operand end = builder().Add(first, Int(tile.rows));
    const Operand rows = b.operands[row_axis];
    const auto all = [&] {
      std::vector<Operands> starts(tile.rows, index);
      for (int64_t k = 0; k < tile.rows; ++k) starts[k][row_axis] = builder().Add(first, Int(k));
      WriteSeveral(b, starts, axis, each, tile.columns);
      return Operands{};
    };
    const auto some = [&] {
      Loop(first, rows, {}, [&](const Operand& row) {
        index[row_axis] = row;
        WriteSeveral(b, {index}, axis, each, tile.columns);
      });
      return Operands{};
    };
    Choose(builder().Scalar(OpCode::kLe, {end, rows}), all, some, Likely());
  }

  // Neighbours along the axis, of each of those rows.
  void WriteSeveral(const Binding& b, std::vector<Operands> rows, size_t axis, const Operand& each,
                    int64_t together) {
    const Operand extent = b.operands[axis];
    const Operand first = builder().Mul(rows[0][axis], each);
    const Operand end = builder().Add(first, Int(together));
    const auto all = [&] {
      std::vector<Operands> places;
      for (Operands& row : rows) {
        for (int64_t k = 0; k < together; ++k) {
          row[axis] = builder().Add(first, Int(k));
          places.push_back(row);
        }
      }
      WriteElements(b, places);
      return Operands{};
    };
    const auto some = [&] {
      const Operand last = each.IsConstant() ? extent : Min(builder().Add(first, each), extent);
      Loop(first, last, {}, [&](const Operand& at) {
        for (Operands& row : rows) row[axis] = at;
        WriteElements(b, rows);
      });
      return Operands{};
    };
    Operand are_all = builder().Scalar(OpCode::kLe, {end, extent});
    if (!each.IsInt(together)) {
      const Operand are_together = builder().Scalar(OpCode::kGt, {each, Int(1)});
      are_all = builder().Scalar(OpCode::kAnd, {are_together, are_all});
    }
    Choose(are_all, all, some, Likely());
  }

  // The elements at those places, side by side; what is stored of them is stored behind all that
  // they read.
  void WriteElements(const Binding& b, const std::vector<Operands>& places) {
    const Block& body = *b.blocks[0];
    std::vector<Substitution> elements(places.size());
    for (size_t k = 0; k < places.size(); ++k) {
      for (size_t axis = 0; axis < places[k].size(); ++axis)
        elements[k][body.params[axis]] = places[k][axis];
    }
    for (const Binding* inner : body.bindings) {
      builder().set_span(inner->span);
      if (inner->op == OpCode::kIreduce) {
        WriteReduction(*inner, elements);
      } else {
        for (Substitution& element : elements) WriteCopy(*inner, element);
      }
    }
    for (size_t k = 0; k < places.size(); ++k) {
      const Operands values = ir::InlineBlock(builder(), Block{{}, {}, body.results}, elements[k]);
      for (size_t i = 0; i < values.size(); ++i)
        builder().Store(b.results[i], places[k], values[i]);
    }
  }

  void WriteCopy(const Binding& b, Substitution& element) {
    const Operands results(b.results.begin(), b.results.end());
    const Operands copies = ir::InlineBlock(builder(), Block{{}, {&b}, results}, element);
    for (size_t i = 0; i < copies.size(); ++i) element[b.results[i]] = copies[i];
  }

  // One traversal for all elements.
  void WriteReduction(const Binding& b, std::vector<Substitution>& elements) {
    Binding all{OpCode::kIreduce, {}, {}, {}, b.attrs, b.span};
    const size_t rank = b.blocks[0]->params.size();
    all.operands.assign(b.operands.begin(), b.operands.begin() + rank);
    const Block inits{{}, {}, {b.operands.begin() + rank, b.operands.end()}};
    for (Substitution& element : elements) {
      const Operands own = ir::InlineBlock(builder(), inits, element);
      all.operands.insert(all.operands.end(), own.begin(), own.end());
      for (const Var* result : b.results) {
        all.results.push_back(builder().NewVar(result->type, result->hint));
        element[result] = all.results.back();
      }
    }
    all.blocks = {ElementOf(b, elements), CombineOf(b, elements.size())};
    builder().Append(arena()->New(std::move(all)));
  }

  const Block* ElementOf(const Binding& b, const std::vector<Substitution>& elements) {
    std::vector<const Var*> params;
    for (const Var* param : b.blocks[0]->params)
      params.push_back(builder().NewVar(param->type, param->hint));
    return BlockOf(params, [&] {
      Operands values;
      for (Substitution element : elements) {
        for (size_t i = 0; i < params.size(); ++i) element[b.blocks[0]->params[i]] = params[i];
        const Operands own = ir::InlineBlock(builder(), *b.blocks[0], element);
        values.insert(values.end(), own.begin(), own.end());
      }
      return values;
    });
  }

  // The parameters are all left accumulators, then all right ones.
  const Block* CombineOf(const Binding& b, size_t count) {
    const size_t width = b.results.size();
    std::vector<const Var*> params;
    for (size_t k = 0; k < 2 * count * width; ++k)
      params.push_back(builder().NewVar(b.results[k % width]->type));
    return BlockOf(params, [&] {
      Operands values;
      for (size_t k = 0; k < count; ++k) {
        const auto left = params.begin() + k * width, right = left + count * width;
        Operands arguments(left, left + width);
        arguments.insert(arguments.end(), right, right + width);
        const Operands own = ir::InlineBlock(builder(), *b.blocks[1], arguments);
        values.insert(values.end(), own.begin(), own.end());
      }
      return values;
    });
  }

  WrappingForms forms_;
  AccessPatterns patterns_;
  Context& context_;
  int depth_ = 0;  // Of nests around what is visited.
};

}  // namespace

ir::Program JamNeighbours(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return NeighbourJammer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
