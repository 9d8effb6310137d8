// Splits maps where conditions of their indexes change that say where memory is read, or whether,
// so that between the borders lanes read neighbours.
//
// Before:
//   %y: [n]f64 = imap (%i) in (%n) {
//     %h = sub %i, %s  %ok = ge %h, 0  %t = add %h, %n  %k = select %ok, %h, %t
//     %a = load %x[%k]  yield %a }
// After:
//   %y: [n]f64 = alloc (%n)
//   foreach (%i) in (%s) { ... store %y[%i], %a }
//   %rest = sub %n, %s
//   foreach (%p) in (%rest) {
//     %i = add %p, %s  %h = sub %i, %s  %ok = ge %h, 0  ... store %y[%i], %a }
// where %ok is true now, which prove-bounds sees: as of np.roll, and of pads that repeat, mirror or
// wrap what is at an edge. Each axis is split, of what lies between the borders of those before it.
//
// Assumes: index form, behind all that looks for maps; the parts make up the map wherever the
// borders are.
// Refuses: elements that hold loops, may raise, or take very long, or long where borders may lie
// anywhere; maps over nothing that is asked about an index; Fortran order.
#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_borders.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kLongestSplitMap = 60;  // operations
// Of longer ones, as of two stencils one behind the other, all that is not between the borders is
// one loop over its parts, so that its code stands once, where that is no more than so many
// elements at each end of an axis.
constexpr int kLongestOfTwoParts = 800;
constexpr int64_t kWidestBorder = 16;
constexpr size_t kMostAxes = 3;

// A map's elements along an axis, from one on and so many.
struct Range {
  Operand begin;
  Operand size;
};

class MapSplitter : public LoopWriter {
 public:
  MapSplitter(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), context_(context), finder_(function), forms_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (!MaySplit(*b)) return Mutator::Visit(b);
    std::vector<std::optional<Borders>> borders;
    for (size_t axis = 0; axis < b->operands.size(); ++axis)
      borders.push_back(finder_.Of(*b, axis));
    const bool is_long = OperationsOf(*b) > kLongestSplitMap;
    if (std::none_of(borders.begin(), borders.end(), [](auto& of) { return of.has_value(); }) ||
        (is_long && !AreNarrow(*b, borders)))
      return Mutator::Visit(b);
    context_.Note(b->span, "split at its borders", Topic::kNests, Verdict::kDone);
    for (const Var* result : b->results)
      builder().Emit(OpCode::kAlloc, {result}, Apply(result->type.dims()));
    std::vector<Range> ranges;
    for (const Operand& extent : b->operands) ranges.push_back({Int(0), Apply(extent)});
    is_long ? WriteTwoParts(*b, borders, ranges) : WriteParts(*b, borders, ranges, 0);
  }

 private:
  static bool MaySplit(const Binding& b) {
    if (b.op != OpCode::kImap && b.op != OpCode::kForeach) return false;
    const Block& body = *b.blocks[0];
    if (b.attrs.Int(Attr::kFortran) != 0 || b.operands.empty() || b.operands.size() > kMostAxes ||
        b.operands.size() != body.params.size())
      return false;
    bool is_plain = true;
    ir::ForEachBinding(body, [&](const Binding& inner) {
      is_plain &= ir::IsScalarOp(inner.op) || inner.op == OpCode::kLoad ||
                  inner.op == OpCode::kStore || inner.op == OpCode::kIf;
    });
    return is_plain && OperationsOf(b) <= kLongestOfTwoParts &&
           std::all_of(body.results.begin(), body.results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsScalar(); });
  }

  static int OperationsOf(const Binding& map) {
    int operations = 0;
    ir::ForEachBinding(*map.blocks[0], [&](const Binding&) { ++operations; });
    return operations;
  }

  bool AreNarrow(const Binding& map, const std::vector<std::optional<Borders>>& borders) const {
    const auto is_narrow = [](const LinearForm& width) {
      return width.IsConstant() && width.constant >= 0 && width.constant <= kWidestBorder;
    };
    for (size_t axis = 0; axis < borders.size(); ++axis) {
      if (!borders[axis]) continue;
      const LinearForm end = forms_.Of(map.operands[axis]);
      const auto& [lower, upper] = std::tie(borders[axis]->lower, borders[axis]->upper);
      const bool are_narrow = std::all_of(lower.begin(), lower.end(), is_narrow) &&
                              std::all_of(upper.begin(), upper.end(), [&](auto& place) {
                                return is_narrow(Difference(end, place));
                              });
      if (!are_narrow) return false;
    }
    return true;
  }

  // Of an axis: what is before its borders ends at `done`, what is between them is from `first` to
  // `last`. Borders may lie anywhere, as far behind each other as numbers go.
  struct Cuts {
    Operand done;
    Operand first;
    Operand last;
  };
  Cuts CutsOf(const Borders& borders, const Operand& end) {
    Operand first = Int(0), last = end;
    for (const LinearForm& place : borders.lower) first = Max(PlaceOf(place), first);
    for (const LinearForm& place : borders.upper) last = Min(PlaceOf(place), last);
    return {borders.lower.empty() ? first : Min(first, end), first, last};
  }

  // What lies before the borders of an axis, behind them, and, split along the axes that follow,
  // between them.
  void WriteParts(const Binding& map, const std::vector<std::optional<Borders>>& borders,
                  const std::vector<Range>& ranges, size_t axis) {
    if (axis == ranges.size()) return WritePart(map, ranges, map.attrs);
    if (!borders[axis]) return WriteParts(map, borders, ranges, axis + 1);
    const Operand end = ranges[axis].size;
    const auto [done, first, last] = CutsOf(*borders[axis], end);
    const auto part = [&](const Operand& from, const Operand& to) {
      return Along(ranges, axis, from, to);
    };
    // What is between stands for the map in reports.
    const ir::Attributes beside = map.attrs.With(ir::Attr::kPart, int64_t{1});
    if (!borders[axis]->lower.empty()) WritePart(map, part(Int(0), done), beside);
    WriteParts(map, borders, part(first, Max(first, last)), axis + 1);
    if (!borders[axis]->upper.empty()) WritePart(map, part(Max(done, last), end), beside);
  }

  std::vector<Range> Along(std::vector<Range> ranges, size_t axis, const Operand& from,
                           const Operand& to) {
    ranges[axis] = {from, builder().Sub(to, from)};
    return ranges;
  }

  // The same with one loop over all that is not between the borders.
  void WriteTwoParts(const Binding& map, const std::vector<std::optional<Borders>>& borders,
                     std::vector<Range> ranges) {
    std::vector<std::vector<Range>> parts;
    for (size_t axis = 0; axis < ranges.size(); ++axis) {
      if (!borders[axis]) continue;
      const Operand end = ranges[axis].size;
      const auto [done, first, last] = CutsOf(*borders[axis], end);
      if (!borders[axis]->lower.empty()) parts.push_back(Along(ranges, axis, Int(0), done));
      if (!borders[axis]->upper.empty()) parts.push_back(Along(ranges, axis, Max(done, last), end));
      ranges = Along(ranges, axis, first, Max(first, last));
    }
    Loop(Int(0), Int(int64_t(parts.size())), {}, [&](const Operand& part) {
      std::vector<Range> chosen = parts.back();
      for (size_t k = 0; k + 1 < parts.size(); ++k) {
        const Operand is_this = builder().Scalar(OpCode::kEq, {part, Int(int64_t(k))});
        for (size_t axis = 0; axis < chosen.size(); ++axis) {
          chosen[axis] = {Select(is_this, parts[k][axis].begin, chosen[axis].begin),
                          Select(is_this, parts[k][axis].size, chosen[axis].size)};
        }
      }
      // Lanes would have branches, of code that is long, for a few elements.
      const ir::Attributes beside = map.attrs.With(ir::Attr::kPart, int64_t{1});
      WritePart(map, chosen, beside.With(ir::Attr::kLanes, int64_t{1}));
    });
    WritePart(map, ranges, map.attrs);
  }

  Operand Select(const Operand& condition, const Operand& one, const Operand& other) {
    return one == other ? one : builder().Scalar(OpCode::kSelect, {condition, one, other});
  }

  void WritePart(const Binding& map, const std::vector<Range>& ranges,
                 const ir::Attributes& attrs) {
    Operands extents;
    std::vector<const Var*> params;
    for (size_t axis = 0; axis < ranges.size(); ++axis) {
      extents.push_back(ranges[axis].size);
      params.push_back(builder().NewVar(ir::DType::kI64, map.blocks[0]->params[axis]->hint));
    }
    const Block* body = BlockOf(params, [&] {
      Operands index;
      for (size_t axis = 0; axis < ranges.size(); ++axis)
        index.push_back(builder().Add(Operand(params[axis]), ranges[axis].begin));
      const Operands made = VisitBody(*ir::CloneBlock(arena(), *map.blocks[0]), index);
      for (size_t k = 0; k < made.size(); ++k) builder().Store(map.results[k], index, made[k]);
      return Operands{};
    });
    builder().Emit(OpCode::kForeach, {}, std::move(extents), attrs, {body});
  }

  Operand PlaceOf(const LinearForm& place) {
    return Written(builder(), place, [&](const Var* var) { return Apply(Operand(var)); });
  }

  Context& context_;
  BorderFinder finder_;
  const WrappingForms forms_;
};

}  // namespace

ir::Program SplitMapsAtBorders(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MapSplitter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
