// Reads and stores in whole vectors what lanes that lie apart have between them, and what several
// of them have in common.
//
// Before:
//   %a: f64x8 = load_lanes %x[%i] {axis = 0, step = 2}
//   %b: f64x8 = load_lanes %x[%j] {axis = 0, step = 2}        (%j = %i + 1)
//   store_lanes %y[%i], %b {axis = 0, step = 2}
//   store_lanes %y[%j], %a {axis = 0, step = 2}
//   %c: f64x8 = gather_lanes %z[%h]                           (%h = (%k + iota) // 2)
// After:
//   %a: f64x8 = load_lanes %x[%i] {axis = 0, step = 2, place = 0}
//   %b: f64x8 = load_lanes %x[%j] {axis = 0, step = 2, place = 1}
//   %d: f64x16 = interleave %b, %a
//   store_lanes %y[%i], %d {axis = 0}
//   %g: i64 = floordiv %k, 2
//   %c: f64x8 = load_lanes %z[%g] {axis = 0, repeat = 2, phase = 0}
//
// The code of loads that say their place reads the same vectors, and picks lanes out of them: all
// of their elements are there, since somebody reads them.
//
// Assumes: lanes are written, and equal indexes are one value.
// Refuses: loads some of whose neighbours nobody reads, or only behind a check; stores between
// which their places are read, or the array is stored to elsewhere; quotients by what is no power
// of 2, or of a lane of which is not known what it leaves.
#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/known_lengths.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

constexpr int64_t kLongestStep = 4;
constexpr int kDeepestIndex = 8;  // Operations that an index is made by, one of the other.

int64_t StepOf(const Binding& access) { return access.attrs.Int(Attr::kStep, 1); }

bool LiesApart(const Binding& access) {
  return StepOf(access) > 1 && StepOf(access) <= kLongestStep;
}

// What powers of 2 leave of i64s, by how they are made: that holds of values that wrap, too.
class Residues {
 public:
  explicit Residues(const ir::Function& function) : definitions_(ir::Definitions(*function.body)) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kFor) loops_[b.blocks[0]->params[0]] = &b;
    });
  }

  std::optional<int64_t> Of(const Operand& value, int64_t divisor, int depth = 0) const {
    if (depth > kDeepestIndex) return std::nullopt;
    if (value.IsConstant()) return value.constant().integer & (divisor - 1);
    if (const auto loop = loops_.find(value.var()); loop != loops_.end()) {
      const Binding& b = *loop->second;
      return b.operands[2].constant().integer % divisor == 0 ? Of(b.operands[0], divisor, depth + 1)
                                                             : std::nullopt;
    }
    const Binding* b = DefinitionOf(value);
    if (b == nullptr || b->operands.size() != 2 || !ir::IsScalarOp(b->op)) return std::nullopt;
    if (b->op == OpCode::kSub && IsRest(b->operands[1], b->operands[0], divisor)) return 0;
    const std::optional<int64_t> x = Of(b->operands[0], divisor, depth + 1);
    const std::optional<int64_t> y = Of(b->operands[1], divisor, depth + 1);
    if (b->op == OpCode::kMul && (x == 0 || y == 0)) return 0;
    if (!x || !y) return std::nullopt;
    switch (b->op) {
      case OpCode::kAdd: return (*x + *y) & (divisor - 1);
      case OpCode::kSub: return (*x - *y) & (divisor - 1);
      case OpCode::kMul: return (*x * *y) & (divisor - 1);
      default: return std::nullopt;
    }
  }

  const Binding* DefinitionOf(const Operand& value) const {
    const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

 private:
  // What a multiple of the divisor leaves of the value: x - x mod 32.
  bool IsRest(const Operand& rest, const Operand& value, int64_t divisor) const {
    const Binding* b = DefinitionOf(rest);
    return b != nullptr && b->op == OpCode::kMod && b->operands[0] == value &&
           b->operands[1].IsConstant() && b->operands[1].constant().integer > 0 &&
           b->operands[1].constant().integer % divisor == 0;
  }

  ir::DefinitionMap definitions_;
  ir::DefinitionMap loops_;  // by index
};

class LaneJoiner : public ir::Mutator {
 public:
  LaneJoiner(ir::Arena* arena, const ir::Function& function, const Options& options)
      : Mutator(arena),
        roots_(function),
        forms_(function),
        residues_(function),
        lengths_(function, options) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    Find(*block);
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    if (left_out_.contains(b)) return;
    if (const auto stores = joined_.find(b); stores != joined_.end())
      return StoreJoined(stores->second);
    if (b->op == OpCode::kGatherLanes && LoadRepeated(*b)) return;
    if (const auto place = places_.find(b); place != places_.end()) {
      Binding load = *Rewrite(b);
      load.attrs = load.attrs.With(Attr::kPlace, place->second);
      return builder().Append(arena()->New(std::move(load)));
    }
    Mutator::Visit(b);
  }

 private:
  // Accesses in lanes along one line of an array, and how far each lies behind the first.
  struct Line {
    std::vector<const Binding*> accesses;
    std::vector<int64_t> offsets;
  };

  void Find(const Block& block) {
    std::vector<Line> loads, stores;  // since something that may fail
    for (const Binding* b : block.bindings) {
      if (!b->blocks.empty() || EffectsOf(*b, roots_).may_fail) {
        PlaceLoads(loads);
        loads.clear();
        stores.clear();
        continue;
      }
      if (b->op == OpCode::kStoreLanes && LiesApart(*b)) {
        SeeStore(*b, stores);
        continue;
      }
      std::erase_if(
          stores, [&](const Line& line) { return InTheWay(*b, line) && !ReadsBetween(*b, line); });
      if (b->op == OpCode::kLoadLanes && LiesApart(*b) && !b->attrs.Has(Attr::kPlace))
        AddTo(loads, *b);
    }
    PlaceLoads(loads);
  }

  bool InTheWay(const Binding& b, const Line& stores) const {
    return Conflict(EffectsOf(b, roots_), EffectsOf(*stores.accesses[0], roots_));
  }

  // True where what the load reads lies between what the lanes of these stores do.
  bool ReadsBetween(const Binding& load, const Line& stores) const {
    if (load.op != OpCode::kLoadLanes || !LiesApart(load)) return false;
    const std::optional<int64_t> offset = OffsetIn(stores, load);
    return offset && std::all_of(stores.offsets.begin(), stores.offsets.end(), [&](int64_t stored) {
             return (*offset - stored) % StepOf(load) != 0;
           });
  }

  // How far the access lies behind the first of the line; none where it is of another.
  std::optional<int64_t> OffsetIn(const Line& line, const Binding& b) const {
    const Binding& first = *line.accesses[0];
    if (first.operands[0] != b.operands[0] || first.attrs != b.attrs) return std::nullopt;
    if (b.attrs.Int(Attr::kMasked) != 0 && first.operands.back() != b.operands.back())
      return std::nullopt;
    const Type& type = b.operands[0].var()->type;
    const size_t along = b.attrs.Int(Attr::kAxis);
    const bool is_flat = b.attrs.Int(Attr::kFlat) != 0;
    int64_t offset = 0;
    std::optional<int64_t> unit = 1;  // What a step along the axis is, of those that lanes take.
    for (size_t axis = type.rank(); axis-- > 0;) {
      const LinearForm gap =
          Difference(forms_.Of(b.operands[1 + axis]), forms_.Of(first.operands[1 + axis]));
      if (!gap.IsConstant()) return std::nullopt;
      const bool moves = axis == along || (is_flat && axis > along);
      if (gap.constant != 0 && (!moves || !unit)) return std::nullopt;
      if (gap.constant != 0) offset += gap.constant * *unit;
      if (!is_flat || axis <= along) continue;
      const std::optional<int64_t> length = lengths_.Of(type.dims()[axis]);
      unit = unit && length ? std::optional(*unit * *length) : std::nullopt;
    }
    return offset;
  }

  Line& AddTo(std::vector<Line>& lines, const Binding& b) const {
    for (Line& line : lines) {
      const std::optional<int64_t> offset = OffsetIn(line, b);
      if (!offset) continue;
      line.accesses.push_back(&b);
      line.offsets.push_back(*offset);
      return line;
    }
    return lines.emplace_back(Line{{&b}, {0}});
  }

  // --- Loads. ---

  // All that read what lies between two lanes share a window of as many elements.
  void PlaceLoads(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      const int64_t step = StepOf(*line.accesses[0]);
      std::vector<int64_t> offsets = line.offsets;
      std::sort(offsets.begin(), offsets.end());
      const auto is_read = [&](int64_t offset) {
        return std::binary_search(offsets.begin(), offsets.end(), offset);
      };
      std::unordered_map<int64_t, int64_t> places;
      for (const int64_t first : offsets) {
        int64_t count = 0;
        while (count < step && is_read(first + count) && !places.contains(first + count)) ++count;
        for (int64_t place = 0; count == step && place < step; ++place)
          places[first + place] = place;
      }
      for (size_t k = 0; k < line.accesses.size(); ++k) {
        const auto place = places.find(line.offsets[k]);
        if (place != places.end()) places_[line.accesses[k]] = place->second;
      }
    }
  }

  // --- Stores. ---

  void SeeStore(const Binding& b, std::vector<Line>& lines) {
    // What is stored at one place twice, or at places of two lines, stays in order.
    std::erase_if(lines, [&](const Line& line) {
      const std::optional<int64_t> offset = OffsetIn(line, b);
      const bool is_next = offset && !std::count(line.offsets.begin(), line.offsets.end(), *offset);
      return !is_next && InTheWay(b, line);
    });
    Line& line = AddTo(lines, b);
    const auto [least, most] = std::minmax_element(line.offsets.begin(), line.offsets.end());
    const int64_t step = StepOf(b);
    if (*most - *least >= step) {
      line = Line{{&b}, {0}};
      return;
    }
    if (static_cast<int64_t>(line.accesses.size()) < step) return;
    std::vector<const Binding*> in_order(step);
    for (size_t k = 0; k < line.accesses.size(); ++k)
      in_order[line.offsets[k] - *least] = line.accesses[k];
    for (const Binding* store : line.accesses) {
      if (store != &b) left_out_.insert(store);
    }
    joined_[&b] = std::move(in_order);
    std::swap(line, lines.back());
    lines.pop_back();
  }

  void StoreJoined(const std::vector<const Binding*>& stores) {
    const Binding& first = *stores[0];
    const size_t value = 1 + first.operands[0].var()->type.rank();
    std::vector<Operand> operands = Apply(first.operands);
    std::vector<Operand> values;
    for (const Binding* store : stores) values.push_back(Apply(store->operands[value]));
    operands[value] = Interleave(values);
    if (first.attrs.Int(Attr::kMasked) != 0)
      operands.back() = Interleave(std::vector<Operand>(stores.size(), operands.back()));
    builder().Emit(OpCode::kStoreLanes, {}, std::move(operands), first.attrs.Without(Attr::kStep));
  }

  Operand Interleave(const std::vector<Operand>& vectors) {
    const Type type = ir::TypeOf(vectors[0]);
    const int lanes = type.lanes() * static_cast<int>(vectors.size());
    return builder().EmitOne(OpCode::kInterleave, Type::Vector(type.dtype(), lanes), vectors);
  }

  // --- Lanes that read one element. ---

  bool LoadRepeated(const Binding& b) {
    const int lanes = b.result()->type.lanes();
    const size_t rank = b.operands[0].var()->type.rank();
    size_t along = rank;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (!ir::TypeOf(b.operands[1 + axis]).IsVector()) continue;
      if (along < rank) return false;
      along = axis;
    }
    if (along == rank) return false;
    const Binding* quotient = residues_.DefinitionOf(b.operands[1 + along]);
    const std::optional<int64_t> divisor =
        quotient != nullptr ? DivisorOf(*quotient) : std::nullopt;
    if (!divisor || 2 * *divisor > lanes) return false;
    const std::optional<Operand> first = FirstOf(quotient->operands[0]);
    const std::optional<int64_t> phase = first ? residues_.Of(*first, *divisor) : std::nullopt;
    if (!phase) return false;
    std::vector<Operand> operands = Apply(b.operands);
    operands[1 + along] =
        builder().Scalar(OpCode::kFloorDiv, {Apply(*first), Operand::Int(*divisor)});
    ir::Attributes attrs = b.attrs.With(Attr::kAxis, static_cast<int64_t>(along));
    attrs = attrs.With(Attr::kRepeat, *divisor).With(Attr::kPhase, *phase);
    Replace(b.result(), builder().EmitOne(OpCode::kLoadLanes, b.result()->type, std::move(operands),
                                          attrs, {}, b.result()->hint));
    return true;
  }

  // The power of 2 that lanes are divided by, rounding down.
  std::optional<int64_t> DivisorOf(const Binding& b) const {
    if (b.op != OpCode::kFloorDiv && b.op != OpCode::kShr) return std::nullopt;
    const std::optional<Operand> by = SplatOf(b.operands[1]);
    if (!by || !by->IsConstant()) return std::nullopt;
    const int64_t number = by->constant().integer;
    if (b.op == OpCode::kShr)
      return number > 0 && number < 8 ? std::optional(int64_t{1} << number) : std::nullopt;
    return number > 1 && std::has_single_bit(static_cast<uint64_t>(number)) ? std::optional(number)
                                                                            : std::nullopt;
  }

  std::optional<Operand> SplatOf(const Operand& vector) const {
    const Binding* b = residues_.DefinitionOf(vector);
    return b != nullptr && b->op == OpCode::kSplat ? std::optional(b->operands[0]) : std::nullopt;
  }

  // The first of lanes that follow one another by 1.
  std::optional<Operand> FirstOf(const Operand& vector) const {
    if (IsCount(vector)) return Operand::Int(0);
    const Binding* b = residues_.DefinitionOf(vector);
    if (b == nullptr || b->op != OpCode::kAdd) return std::nullopt;
    for (const int side : {0, 1}) {
      if (IsCount(b->operands[side])) return SplatOf(b->operands[1 - side]);
    }
    return std::nullopt;
  }

  // 0, 1, 2, ...
  bool IsCount(const Operand& vector) const {
    const Binding* b = residues_.DefinitionOf(vector);
    if (b == nullptr) return false;
    if (b->op == OpCode::kIota) return true;
    if (b->op != OpCode::kMul) return false;
    for (const int side : {0, 1}) {
      const std::optional<Operand> times = SplatOf(b->operands[1 - side]);
      if (times && times->IsInt(1) && IsCount(b->operands[side])) return true;
    }
    return false;
  }

  const Roots roots_;
  const WrappingForms forms_;
  const Residues residues_;
  const KnownLengths lengths_;
  std::unordered_map<const Binding*, int64_t> places_;
  std::unordered_map<const Binding*, std::vector<const Binding*>> joined_;  // by the last
  std::unordered_set<const Binding*> left_out_;
};

}  // namespace

ir::Program JoinLanes(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LaneJoiner(program.arena.get(), *function, context.options).Run(function);
  });
}

}  // namespace parakeet::passes
