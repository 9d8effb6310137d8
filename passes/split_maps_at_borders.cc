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
// Refuses: elements that hold loops, may raise, or take long; maps over nothing that is asked about
// an index; Fortran order.
#include <algorithm>
#include <optional>
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
constexpr size_t kMostAxes = 3;

// A map's elements along an axis, from one on and so many.
struct Range {
  Operand begin;
  Operand size;
};

class MapSplitter : public LoopWriter {
 public:
  MapSplitter(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), context_(context), finder_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (!MaySplit(*b)) return Mutator::Visit(b);
    std::vector<std::optional<Borders>> borders;
    for (size_t axis = 0; axis < b->operands.size(); ++axis)
      borders.push_back(finder_.Of(*b, axis));
    if (std::none_of(borders.begin(), borders.end(), [](const auto& of) { return of.has_value(); }))
      return Mutator::Visit(b);
    context_.Note(b->span, "split at its borders", Topic::kNests, Verdict::kDone);
    for (const Var* result : b->results)
      builder().Emit(OpCode::kAlloc, {result}, Apply(result->type.dims()));
    std::vector<Range> ranges;
    for (const Operand& extent : b->operands) ranges.push_back({Int(0), Apply(extent)});
    WriteParts(*b, borders, ranges, 0);
  }

 private:
  static bool MaySplit(const Binding& b) {
    if (b.op != OpCode::kImap && b.op != OpCode::kForeach) return false;
    const Block& body = *b.blocks[0];
    if (b.attrs.Int(Attr::kFortran) != 0 || b.operands.empty() || b.operands.size() > kMostAxes ||
        b.operands.size() != body.params.size())
      return false;
    int operations = 0;
    bool is_plain = true;
    ir::ForEachBinding(body, [&](const Binding& inner) {
      ++operations;
      is_plain &= ir::IsScalarOp(inner.op) || inner.op == OpCode::kLoad ||
                  inner.op == OpCode::kStore || inner.op == OpCode::kIf;
    });
    return is_plain && operations <= kLongestSplitMap &&
           std::all_of(body.results.begin(), body.results.end(),
                       [](const Operand& result) { return ir::TypeOf(result).IsScalar(); });
  }

  // What lies before the borders of an axis, behind them, and, split along the axes that follow,
  // between them.
  void WriteParts(const Binding& map, const std::vector<std::optional<Borders>>& borders,
                  const std::vector<Range>& ranges, size_t axis) {
    if (axis == ranges.size()) return WritePart(map, ranges, map.attrs);
    if (!borders[axis]) return WriteParts(map, borders, ranges, axis + 1);
    // Borders may lie anywhere, as far behind each other as numbers go.
    const Operand end = ranges[axis].size;
    Operand first = Int(0), last = end;
    for (const LinearForm& place : borders[axis]->lower) first = Max(PlaceOf(place), first);
    for (const LinearForm& place : borders[axis]->upper) last = Min(PlaceOf(place), last);
    const Operand done = borders[axis]->lower.empty() ? first : Min(first, end);
    const auto part = [&](const Operand& from, const Operand& to) {
      std::vector<Range> some = ranges;
      some[axis] = {from, builder().Sub(to, from)};
      return some;
    };
    // What is between stands for the map in reports.
    const ir::Attributes beside = map.attrs.With(ir::Attr::kPart, int64_t{1});
    if (!borders[axis]->lower.empty()) WritePart(map, part(Int(0), done), beside);
    WriteParts(map, borders, part(first, Max(first, last)), axis + 1);
    if (!borders[axis]->upper.empty()) WritePart(map, part(Max(done, last), end), beside);
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
};

}  // namespace

ir::Program SplitMapsAtBorders(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MapSplitter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
