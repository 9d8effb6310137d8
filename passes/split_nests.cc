// Goes apart through the parts of a nest between whose borders one array is read, or one place.
//
// Before:
//   %r: [%k]f64 = imap (%i) in (%k) {
//     %ok = ge %i, %n
//     %a = if %ok { %q = sub %i, %n  %b = load %y[%q]  yield %b }
//          else { %c = load %x[%i]  yield %c }
//     %d = mul %a, 2.0  yield %d }
// After:
//   %r: [%k]f64 = alloc (%k)
//   foreach (%i) in (%n) { %c = load %x[%i]  %d = mul %c, 2.0  store %r[%i], %d }
//   foreach (%i) in (%m) {
//     %q = add %n, %i  %b = load %y[%i]  %d = mul %b, 2.0  store %r[%q], %d } {part = 1}
//
// Lanes would read both arrays, or gather. A reduction is one of each part, combined in order.
//
// Assumes: behind fusion. The parts make up the nest wherever the borders are.
// Refuses: nests inside others, but for reductions; those that may raise, whose first error another
// order would hide; long ones; more parts than a few; reductions whose combine is no single
// operation; borders that are not counted from lengths of arrays, that depend on other indexes of
// the nest, or on what it computes.
#include <algorithm>
#include <optional>

#include "ir/uses.h"
#include "passes/analyses/find_borders.h"
#include "passes/analyses/find_effects.h"
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

constexpr int kLongestSplitNest = 150;      // operations of a nest
constexpr int kMostOperationsOfNest = 600;  // of all its parts
constexpr size_t kMostParts = 9;
constexpr int64_t kNarrow = 64;  // What has so few indexes along an axis is not split along it.

// Lengths are far from where i64 wraps around, and so are some of them together.
constexpr int64_t kFarthest = int64_t{1} << 40;
constexpr int64_t kMostTimes = 1024;

int LengthOf(const Binding& nest) {
  int length = 0;
  for (const Block* block : nest.blocks) {
    ir::ForEachBinding(*block, [&](const Binding&) { ++length; });
  }
  return length;
}

// True where no count in the form's place makes it positive.
bool IsSurelyNone(const LinearForm& form) {
  return form.constant <= 0 && std::all_of(form.terms.begin(), form.terms.end(),
                                           [](const auto& term) { return term.second < 0; });
}

// A part of a nest: by axis, between which indexes, as forms to ask about and as values to write.
struct Part {
  std::vector<BorderFinder::Ends> ends;
  std::vector<std::pair<Operand, Operand>> values;
  std::vector<LinearForm> cuts;  // where it has been cut along the axis that is gone through
};

class NestSplitter : public LoopWriter {
 public:
  NestSplitter(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        roots_(function),
        forms_(function),
        finder_(function),
        context_(context) {
    for (const ir::Param& param : function.params) {
      if (!param.var->type.IsArray()) continue;
      for (const Operand& size : param.var->type.dims()) lengths_.insert(size.var());
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kIfilter) lengths_.insert(b.result());
    });
  }

 protected:
  void Visit(const Binding* b) override {
    const bool is_nest = ir::InfoOf(b->op).format == ir::OpFormat::kIndices;
    if (!MaySplit(*b)) return VisitInside(*b, is_nest);
    std::vector<Part> parts;
    Part whole;
    for (size_t axis = 0; axis < IndexCount(*b); ++axis) {
      whole.ends.push_back({LinearForm::Of(int64_t{0}), forms_.Of(b->operands[axis])});
      whole.values.emplace_back(Int(0), Apply(b->operands[axis]));
    }
    Split(*b, whole, 0, parts);
    if (parts.size() < 2) return VisitInside(*b, is_nest);
    context_.Note(b->span, "split at its borders", Topic::kNests, Verdict::kDone);
    b->op == OpCode::kIreduce ? WriteReductions(*b, parts) : WriteNests(*b, parts);
  }

 private:
  static size_t IndexCount(const Binding& b) { return b.blocks[0]->params.size(); }

  void VisitInside(const Binding& b, bool is_nest) {
    depth_ += is_nest;
    Mutator::Visit(&b);
    depth_ -= is_nest;
  }

  bool MaySplit(const Binding& b) const {
    if (b.op == OpCode::kIreduce) {
      if (!HasIdentities(b)) return false;
    } else if (depth_ > 0 || (b.op != OpCode::kImap && b.op != OpCode::kForeach)) {
      return false;
    }
    for (const Var* result : b.results) {
      if (b.op == OpCode::kImap && result->type.rank() != static_cast<int>(IndexCount(b)))
        return false;
    }
    return HasChoice(*b.blocks[0]) && LengthOf(b) <= kLongestSplitNest &&
           !EffectsOf(b, roots_).may_fail;
  }

  // Whether anything of the block may have borders that are worth it. Lanes ask where a selected
  // place lies, and mostly read whole vectors.
  static bool HasChoice(const Block& block) {
    bool has = false;
    ir::ForEachBinding(block, [&](const Binding& b) {
      const bool clips = b.op == OpCode::kMin || b.op == OpCode::kMax;
      has |= b.op == OpCode::kIf || (clips && ir::TypeOf(b.result()) == ir::Type(ir::DType::kI64));
    });
    return has;
  }

  static std::optional<ir::Constant> IdentityOf(const Binding& reduction, size_t k) {
    const auto op = ir::CombineOp(*reduction.blocks[1], static_cast<int>(k));
    const ir::Type& type = reduction.results[k]->type;
    return op && type.IsScalar() ? ir::IdentityOf(*op, type.dtype()) : std::nullopt;
  }

  static bool HasIdentities(const Binding& reduction) {
    for (size_t k = 0; k < reduction.results.size(); ++k) {
      if (!IdentityOf(reduction, k)) return false;
    }
    return true;
  }

  // Appends the parts of the part from that axis on, in order.
  void Split(const Binding& nest, const Part& part, size_t axis, std::vector<Part>& parts) {
    const bool is_last = axis == IndexCount(nest);
    if (is_last || parts.size() + 3 > kMostParts) return parts.push_back(part);
    const auto borders = IsNarrow(part, axis) ? std::nullopt : BordersOf(nest, part, axis);
    if (!borders || LengthOf(nest) * static_cast<int>(parts.size() + 3) > kMostOperationsOfNest) {
      Part whole = part;
      whole.cuts.clear();
      return Split(nest, whole, axis + 1, parts);
    }
    const auto [lo, hi] = part.values[axis];
    Part between = part, behind = part;
    for (const auto* places : {&borders->lower, &borders->upper}) {
      if (places->empty()) continue;
      between.cuts.push_back(places->front());
      behind.cuts.push_back(places->front());
    }
    if (!borders->lower.empty()) {
      const LinearForm& place = borders->lower[0];
      const Operand begin = Max(lo, ValueOf(place));
      between.ends[axis].first = place;
      between.values[axis].first = begin;
      Part before = part;
      before.cuts.push_back(place);
      before.ends[axis].last = place;
      before.values[axis].second = Min(begin, hi);
      SplitFarther(nest, before, axis, parts);
    }
    if (!borders->upper.empty()) {
      const LinearForm& place = borders->upper[0];
      const Operand end = Min(hi, ValueOf(place));
      between.ends[axis].last = place;
      between.values[axis].second = end;
      behind.ends[axis].first = place;
      const Operand done = Min(between.values[axis].first, hi);
      behind.values[axis].first = Max(done, end);
    }
    Split(nest, between, axis, parts);
    if (!borders->upper.empty()) SplitFarther(nest, behind, axis, parts);
  }

  // The borders that lie in the part, as far as counts tell that are not negative.
  std::optional<Borders> BordersOf(const Binding& nest, const Part& part, size_t axis) {
    auto borders = finder_.OfPart(nest, part.ends, axis);
    if (!borders) return std::nullopt;
    const BorderFinder::Ends& ends = part.ends[axis];
    const auto is_outside = [&](const LinearForm& place) {
      return !IsNear(place) || IsSurelyNone(Difference(place, ends.first)) ||
             IsSurelyNone(Difference(ends.last, place)) ||
             std::any_of(part.cuts.begin(), part.cuts.end(),
                         [&](const LinearForm& cut) { return SameForm(cut, place); });
    };
    std::erase_if(borders->lower, is_outside);
    std::erase_if(borders->upper, is_outside);
    if (borders->lower.empty() && borders->upper.empty()) return std::nullopt;
    return borders;
  }

  // True for a place that is counted from lengths of arrays: what else a call gives may lie so far
  // that the place wraps around, and what the border divides would not be what it decides.
  bool IsNear(const LinearForm& place) const {
    return std::abs(place.constant) <= kFarthest &&
           std::all_of(place.terms.begin(), place.terms.end(), [&](const auto& term) {
             return lengths_.contains(term.first) && std::abs(term.second) <= kMostTimes;
           });
  }

  // Of few indexes along the axis.
  static bool IsNarrow(const Part& part, size_t axis) {
    const LinearForm width = Difference(part.ends[axis].last, part.ends[axis].first);
    return width.IsConstant() && width.constant <= kNarrow;
  }

  // A narrow part is as it is.
  void SplitFarther(const Binding& nest, const Part& part, size_t axis, std::vector<Part>& parts) {
    IsNarrow(part, axis) ? parts.push_back(part) : Split(nest, part, axis, parts);
  }

  Operand ValueOf(const LinearForm& place) {
    return Written(builder(), place, [&](const Var* var) { return Apply(Operand(var)); });
  }

  Operands ExtentsOf(const Binding& nest, const Part& part) {
    Operands extents;
    for (size_t axis = 0; axis < part.values.size(); ++axis) {
      const auto& [lo, hi] = part.values[axis];
      const Operand whole = Apply(nest.operands[axis]);
      const bool is_whole = lo.IsInt(0) && hi == whole;
      extents.push_back(is_whole ? whole : Max(Int(0), builder().Sub(hi, lo)));
    }
    return extents;
  }

  // Indexes of a part, and those of the nest that they are.
  std::pair<std::vector<const Var*>, Operands> Indexes(ir::Builder& body, const Binding& nest,
                                                       const Part& part) {
    std::vector<const Var*> params;
    Operands index;
    for (size_t axis = 0; axis < part.values.size(); ++axis) {
      params.push_back(body.NewVar(ir::DType::kI64, nest.blocks[0]->params[axis]->hint));
      index.push_back(body.Add(part.values[axis].first, params[axis]));
    }
    return {params, index};
  }

  // The first one that is wide stands for the nest in reports.
  static ir::Attributes PartOf(const Binding& nest, const std::vector<Part>& parts, size_t number) {
    const auto is_wide = [](const Part& part) {
      for (size_t axis = 0; axis < part.ends.size(); ++axis) {
        if (IsNarrow(part, axis)) return false;
      }
      return true;
    };
    const size_t wide = std::find_if(parts.begin(), parts.end(), is_wide) - parts.begin();
    const bool stands_for_all = number == (wide == parts.size() ? 0 : wide);
    const ir::Attributes attrs = nest.attrs.Without(Attr::kFortran);
    return stands_for_all ? attrs : attrs.With(Attr::kPart, int64_t{1});
  }

  void WriteNests(const Binding& nest, const std::vector<Part>& parts) {
    const ir::Attributes order =
        ir::IsFortran(nest) ? ir::Attributes{{Attr::kFortran, int64_t{1}}} : ir::Attributes{};
    for (const Var* result : nest.results)
      builder().Emit(OpCode::kAlloc, {result}, Apply(nest.operands), order);
    ++depth_;
    const Block* block = VisitBlock(nest.blocks[0]);
    --depth_;
    for (size_t number = 0; number < parts.size(); ++number) {
      ir::Builder body = builder().Nested();
      const auto [params, index] = Indexes(body, nest, parts[number]);
      const Operands values = ir::InlineBlock(body, *block, index);
      for (size_t k = 0; k < values.size(); ++k) body.Store(nest.results[k], index, values[k]);
      builder().Emit(OpCode::kForeach, {}, ExtentsOf(nest, parts[number]),
                     PartOf(nest, parts, number), {body.Finish(params, {})});
    }
  }

  void WriteReductions(const Binding& nest, const std::vector<Part>& parts) {
    const size_t count = nest.results.size();
    const bool has_inits = nest.operands.size() > IndexCount(nest);
    ++depth_;
    const Block* block = VisitBlock(nest.blocks[0]);
    const Block* combine = VisitBlock(nest.blocks[1]);
    --depth_;
    Operands totals;
    for (size_t number = 0; number < parts.size(); ++number) {
      ir::Builder body = builder().Nested();
      const auto [params, index] = Indexes(body, nest, parts[number]);
      const Operands values = ir::InlineBlock(body, *block, index);
      Operands operands = ExtentsOf(nest, parts[number]);
      std::vector<const Var*> results;
      for (size_t k = 0; k < count; ++k) {
        const bool is_first = number == 0 && has_inits;
        operands.push_back(is_first ? Apply(nest.operands[IndexCount(nest) + k])
                                    : Operand(*IdentityOf(nest, k)));
        results.push_back(builder().NewVar(nest.results[k]->type, nest.results[k]->hint));
      }
      builder().Emit(OpCode::kIreduce, results, operands, PartOf(nest, parts, number),
                     {body.Finish(params, values), ir::CloneBlock(arena(), *combine)});
      if (number == 0) {
        totals.assign(results.begin(), results.end());
        continue;
      }
      Operands both = totals;
      both.insert(both.end(), results.begin(), results.end());
      totals = ir::InlineBlock(builder(), *combine, both);
    }
    for (size_t k = 0; k < count; ++k) Replace(nest.results[k], totals[k]);
  }

  const Roots roots_;
  const WrappingForms forms_;
  BorderFinder finder_;
  ir::VarSet lengths_;  // of arguments, and of what filters keep
  Context& context_;
  int depth_ = 0;  // of nests around what is visited
};

}  // namespace

ir::Program SplitNests(const ir::Program& program, Context& context) {
  bool has_split = false;
  const ir::Program split = ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* result =
        NestSplitter(program.arena.get(), *function, context).Run(function);
    has_split |= result != function;
    return result;
  });
  // What is so between the borders is seen where there are any.
  return has_split ? ProveBounds(split, context) : program;
}

}  // namespace parakeet::passes
