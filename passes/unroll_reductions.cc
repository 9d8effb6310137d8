// Writes out reductions of few elements that stand in maps, so that what all elements of the map
// take of them (the weights of a convolution) stays in registers.
//
// Before:
//   %r: [n]f64 = imap (%i) in (%n) { %s = ireduce (%k) in (3) add from 0.0 tree(block 0, lanes 1) {
//   %at = add %i, %k  %a = load %x[%at]  %b = load %w[%k]  %c = mul %a, %b  yield %c } yield %s }
// After:
//   %r: [n]f64 = imap (%i) in (%n) { %at = add %i, 0  %a = load %x[%at]  %b = load %w[0]
//   %p = fma %a, %b, 0.0 ... yield %s }
//
// Where an extent is the length of a parameter's axis and the caller says how long that is
// (Options::lengths), it is that constant. Where the caller does not, and the length is one of an
// array that every element reads at the same places, or the reduction is spread over lanes, of
// which a short row fills few, the pass says that it would like to know
// (Context::better_with_lengths).
//
// Assumes: choose_trees has run: what is written out combines in the order of its tree, with
// lengths known or not.
// Refuses: reductions of arrays, of elements that hold loops, of many or dear elements, of more
// than the lanes of their tree.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/combines.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/known_lengths.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/settled_extremes.h"
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

constexpr int64_t kMostElements = 64;
constexpr int64_t kMostCost = 256;  // Of all elements together: a loop costs those of more little.
constexpr int64_t kMostKnown = kMostKnownLengths[0];

bool IsNest(const Binding& b) {
  return b.op == OpCode::kImap || b.op == OpCode::kForeach || b.op == OpCode::kIfilter;
}

class ReductionUnroller : public LoopWriter {
 public:
  ReductionUnroller(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena),
        forms_(function),
        reader_(*function.body, {}),
        lengths_(function, context.options),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (IsNest(*b)) return VisitNest(*b);
    if (b->op != OpCode::kIreduce || nests_.empty() || !IsPlain(*b)) return Mutator::Visit(b);
    const auto extents = ExtentsOf(*b);
    if (extents && IsShort(*b, *extents)) return WriteOut(*b, *extents);
    if (!extents) LanesOf(*b) > 1 ? WishForRows(*b) : Wish(*b);
    Mutator::Visit(b);
  }

 private:
  void VisitNest(const Binding& b) {
    nests_.push_back(&b);
    Mutator::Visit(&b);
    nests_.pop_back();
  }

  // True for scalars made by scalar code and loads, and combined in order.
  static bool IsPlain(const Binding& b) {
    if (b.attrs.Int(Attr::kBlock) != 0 || b.attrs.Has(Attr::kStep)) return false;
    if (LanesOf(b) > 1 && !CombinesInLanes(b) && !CombinesInAnyOrder(b)) return false;
    const Block& element = *b.blocks[0];
    return std::all_of(b.results.begin(), b.results.end(),
                       [](const Var* result) { return result->type.IsScalar(); }) &&
           std::all_of(element.bindings.begin(), element.bindings.end(), [](const Binding* inner) {
             return ir::IsScalarOp(inner->op) || inner->op == OpCode::kLoad;
           });
  }

  static int64_t LanesOf(const Binding& b) { return b.attrs.Int(Attr::kLanes, 1); }

  // True where the lanes of a single axis begin with what changes nothing.
  static bool CombinesInLanes(const Binding& b) {
    for (size_t k = 0; k < b.results.size(); ++k) {
      const auto op = ir::CombineOp(*b.blocks[1], static_cast<int>(k));
      if (!op || !ir::IdentityOf(*op, b.results[k]->type.dtype())) return false;
    }
    return b.blocks[0]->params.size() == 1;
  }

  // As an extreme and its place are, which lanes keep as well as a walk in order does.
  static bool CombinesInAnyOrder(const Binding& b) {
    const ir::CombineTraits traits = ir::TraitsOf(*b.blocks[1]);
    return traits.commutes && traits.is_idempotent && !traits.identities.empty() &&
           b.blocks[0]->params.size() == 1;
  }

  std::optional<std::vector<int64_t>> ExtentsOf(const Binding& b) const {
    std::vector<int64_t> extents;
    for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis) {
      const auto length = lengths_.Of(b.operands[axis]);
      if (!length) return std::nullopt;
      extents.push_back(*length);
    }
    return extents;
  }

  static bool IsShort(const Binding& b, const std::vector<int64_t>& extents) {
    if (LanesOf(b) > 1 && extents[0] > LanesOf(b)) return false;
    int64_t elements = 1;
    for (const int64_t extent : extents) {
      if (extent < 1 || extent > kMostElements) return false;
      elements *= extent;
      if (elements > kMostElements) return false;
    }
    return elements * CostOf(*b.blocks[0]) <= kMostCost;
  }

  // The elements in order, as the loops would combine them.
  void WriteOut(const Binding& b, const std::vector<int64_t>& extents) {
    context_.Note(b.span, "written out", Topic::kNests, Verdict::kDone);
    const Operands operands = Apply(b.operands);
    const Operands inits(operands.begin() + extents.size(), operands.end());
    const bool in_any_order = LanesOf(b) > 1 && !CombinesInLanes(b);
    const Operands total = in_any_order ? InOrder(b, extents, inits) : AsInTree(b, extents, inits);
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], total[k]);
  }

  // What is held came first, and need not be asked its place.
  Operands InOrder(const Binding& b, const std::vector<int64_t>& extents, const Operands& inits) {
    const auto settled = SettleExtremes(arena(), reader_, b, extents.size());
    Block element = *b.blocks[0];
    if (settled) element.results = settled->elements;
    const Block& combine = settled ? *settled->take : *b.blocks[1];
    Operands total = inits;
    Operands index(extents.size(), Int(0));
    do {
      const Operands one = VisitBody(*ir::CloneBlock(arena(), element), index);
      total = total.empty() ? one : CombineWith(combine, total, one);
    } while (Advance(index, extents));
    return total;
  }

  Operands AsInTree(const Binding& b, const std::vector<int64_t>& extents, const Operands& inits) {
    // A short run of a tree is in order too, and combined with what it starts from at the end.
    const bool has_lanes = LanesOf(b) > 1;
    const bool in_lanes = has_lanes && extents[0] >= b.attrs.Int(Attr::kShort);
    Operands total = has_lanes ? Operands{} : inits;
    std::vector<Operands> lanes;
    Operands index(extents.size(), Int(0));
    do {
      const Operands element = VisitBody(*ir::CloneBlock(arena(), *b.blocks[0]), index);
      if (in_lanes) {
        lanes.push_back(element);
      } else {
        total = total.empty() ? element
                : has_lanes   ? Combine(*b.blocks[1], total, element)
                              : CombineWith(*b.blocks[1], total, element);
      }
    } while (Advance(index, extents));
    if (in_lanes) total = Fold(*b.blocks[1], std::move(lanes), LanesOf(b));
    return has_lanes && !inits.empty() ? Combine(*b.blocks[1], inits, total) : total;
  }

  // What lanes of which each has one element, or none, are folded to: half of them onto the other.
  Operands Fold(const Block& combine, std::vector<Operands> lanes, int64_t width) {
    for (size_t half = width / 2; half > 0; half /= 2) {
      for (size_t lane = half; lane < lanes.size(); ++lane)
        lanes[lane - half] = Combine(combine, lanes[lane - half], lanes[lane]);
      lanes.resize(std::min(lanes.size(), half));
    }
    return lanes[0];
  }

  // Without joining a product and a sum: lanes have rounded theirs, and so has a short run.
  Operands Combine(const Block& combine, const Operands& left, const Operands& right) {
    Operands results;
    for (size_t k = 0; k < left.size(); ++k) {
      const OpCode op = *ir::CombineOp(combine, static_cast<int>(k));
      results.push_back(builder().Scalar(op, {left[k], right[k]}));
    }
    return results;
  }

  // To the next index in C order; false behind the last.
  static bool Advance(Operands& index, const std::vector<int64_t>& extents) {
    for (size_t axis = extents.size(); axis-- > 0;) {
      const int64_t next = index[axis].constant().integer + 1;
      index[axis] = Int(next < extents[axis] ? next : 0);
      if (next < extents[axis]) return true;
    }
    return false;
  }

  // The extent has to be one that a caller could say.
  void WishForRows(const Binding& b) {
    if (CostOf(*b.blocks[0]) > kMostCost / kMostKnown) return;
    WishFor(b, lengths_.ParametersOf(b.operands[0]));
  }

  void WishFor(const Binding& b, std::set<size_t> parameters) {
    if (parameters.empty()) return;
    context_.Note(b.span, "it would be written out if its length were known", Topic::kNests);
    context_.better_with_lengths.merge(parameters);
  }

  // Each extent that is not known has to be one of an array that all elements of the nests read at
  // the same places.
  void Wish(const Binding& b) {
    if (CostOf(*b.blocks[0]) > kMostCost / 4) return;
    const std::vector<const Var*> shared = SharedArrays(b);
    std::set<size_t> wished;
    for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis) {
      const Operand& extent = b.operands[axis];
      if (lengths_.Of(extent)) continue;
      const auto of = std::find_if(shared.begin(), shared.end(),
                                   [&](const Var* array) { return IsSayable(extent, array); });
      if (of == shared.end()) return;
      wished.insert(*lengths_.NumberOf(*of));
    }
    WishFor(b, std::move(wished));
  }

  // The parameters that the elements of a reduction read where no index of a nest plays a part.
  std::vector<const Var*> SharedArrays(const Binding& b) const {
    ir::VarSet own = ir::DefinedVars(*nests_.front()->blocks[0]);
    for (const Var* param : b.blocks[0]->params) own.erase(param);
    std::vector<const Var*> shared;
    for (const Binding* load : b.blocks[0]->bindings) {
      if (load->op != OpCode::kLoad || !lengths_.NumberOf(load->operands[0].var())) continue;
      const bool is_shared =
          std::all_of(load->operands.begin() + 1, load->operands.end(), [&](const Operand& at) {
            const LinearForm form = forms_.Of(at);
            return std::none_of(form.terms.begin(), form.terms.end(),
                                [&](const auto& term) { return own.contains(term.first); });
          });
      if (is_shared) shared.push_back(load->operands[0].var());
    }
    return shared;
  }

  WrappingForms forms_;
  ExtremeReader reader_;
  KnownLengths lengths_;
  Context& context_;
  std::vector<const Binding*> nests_;  // Around what is visited, outermost first.
};

}  // namespace

ir::Program UnrollReductions(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ReductionUnroller(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
