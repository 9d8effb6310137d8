// Sums squares of differences from the means of columns in the traversal that makes the means.
//
// Before:
//   %z: [m]f64 = imap (%j) in (%m) { %s = ireduce (%i) in (%n) add { %x = load %a[%i, %j] ... } }
//   %c: [m]f64 = imap (%j) in (%m) { ... div %z[%j], %n.1 }
//   %v: [m]f64 = imap (%j) in (%m) {
//     %s.1 = ireduce (%i) in (%n) add { %x = load %a[%i, %j]  %u = sub %x, %c[%j]  mul %u, %u } }
// After:
//   %k: [m]f64 = if %n is 32 or more { ... the mean of 16 rows } else { ... zeros }
//   %z: [m]f64, %p: [m]f64, %q: [m]f64 = imap (%j) in (%m) {
//     ... the sums of %x, of %u * %u and of %u = sub %x, %k[%j] }
//   %c: [m]f64 = ...
//   %t: [m]f64 = imap (%j) in (%m) { %e = sub %k[%j], %c[%j]  ... %p + 2 %e %q + %n %e %e }
//   %v: [m]f64 = if all of %n %e %e <= 4 %t, finite { yield %t } else { yield ... as it was }
//
// As shift_moments does for the whole of an array, with what that says of rounding; here each of
// many columns has to be near, so more is let pass: three bits of a square may be lost. Of the 16
// rows, what differs from the first is added to it: of a column of one number the mean is that. A
// difference that is an array of its own, as in (a - a.mean(0)) / a.std(0), is computed again.
//
// Assumes: index form, in which arrays of sums stand by themselves, before what fuses them.
// Refuses: sums along memory, whose rows are in the cache when they are read again; elements that
// something stores to between; checks between.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "ir/dtype.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/loop_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Constant;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Substitution;
using ir::Type;
using ir::Var;

constexpr int64_t kSampledRows = 16;  // a power of two
constexpr double kShareOfRow = 1.0 / kSampledRows;
constexpr int64_t kFewestTerms = 2 * kSampledRows;
constexpr double kMostShare = 4.0;     // of n e e in the centred squares
constexpr size_t kLongestElement = 8;  // operations that are computed again
constexpr int64_t kStridesOfRows[] = {1, 5, 3, 7, 9};

size_t RankOf(const Binding& nest) { return nest.blocks[0]->params.size(); }

// True for what only computes values, without blocks inside: no checks.
bool IsPlain(const Block& block) {
  return std::all_of(block.bindings.begin(), block.bindings.end(),
                     [](const Binding* b) { return b->blocks.empty() && b->results.size() == 1; });
}

// The sum that is all an array's element is; null for other nests.
const Binding* SumOf(const Binding& nest) {
  if (nest.op != OpCode::kImap || nest.results.size() != 1 || nest.attrs.Has(Attr::kFortran))
    return nullptr;
  const Block& block = *nest.blocks[0];
  if (block.bindings.size() != 1 || block.bindings[0]->op != OpCode::kIreduce) return nullptr;
  const Binding& sum = *block.bindings[0];
  if (sum.results.size() != 1 || !sum.result()->type.IsScalar()) return nullptr;
  const DType dtype = sum.result()->type.dtype();
  const bool is_sum =
      (dtype == DType::kF32 || dtype == DType::kF64) && RankOf(sum) <= std::size(kStridesOfRows) &&
      sum.operands.size() == RankOf(sum) + 1 && sum.operands.back() == Operand(ir::ZeroOf(dtype)) &&
      ir::CombineOp(*sum.blocks[1]) == OpCode::kAdd && IsPlain(*sum.blocks[0]) &&
      sum.blocks[0]->results[0].IsVar();
  return is_sum && block.results[0] == Operand(sum.result()) ? &sum : nullptr;
}

bool SameExtents(const Binding& a, const Binding& b) {
  return RankOf(a) == RankOf(b) &&
         std::equal(a.operands.begin(), a.operands.begin() + RankOf(a), b.operands.begin());
}

const Binding* MakerIn(const Block& block, const Operand& value) {
  for (const Binding* b : block.bindings) {
    if (value.IsVar() && b->results.size() == 1 && b->result() == value.var()) return b;
  }
  return nullptr;
}

// Squares of differences, of each column.
struct Columns {
  size_t means, squares;  // places in the block: of the sums behind the centers, and of theirs
  const Block* body;      // of the sums of squares, with what is computed again
  Operand element;        // in it
  const Binding* center;  // a load in it
};

class ColumnShifter : public LoopWriter {
 public:
  ColumnShifter(ir::Arena* arena, const ir::Function& function, Context& context)
      : LoopWriter(arena), roots_(function), patterns_(function), context_(context) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    if (in_nest_) return Mutator::VisitBlock(block);
    std::map<size_t, Columns> by_means, by_squares;
    Find(*block, by_means, by_squares);
    if (by_means.empty()) return Mutator::VisitBlock(block);
    std::map<size_t, Shifted> shifted;  // by place of the means
    return BlockOf(block->params, [&] {
      for (size_t at = 0; at < block->bindings.size(); ++at) {
        const Binding* b = block->bindings[at];
        builder().set_span(b->span);
        if (const auto means = by_means.find(at); means != by_means.end()) {
          shifted[at] = Sum(*b, *block->bindings[means->second.squares], means->second);
        } else if (const auto squares = by_squares.find(at); squares != by_squares.end()) {
          Center(*b, squares->second, shifted.at(squares->second.means));
        } else {
          Visit(b);
        }
      }
      return Apply(block->results);
    });
  }

  void Visit(const Binding* b) override {
    const bool is_nest = b->op != OpCode::kIf && b->op != OpCode::kFor && b->op != OpCode::kWhile;
    const bool was_in_nest = std::exchange(in_nest_, in_nest_ || is_nest);
    Mutator::Visit(b);
    in_nest_ = was_in_nest;
  }

 private:
  // What a traversal makes beside the sums: the shifts, and sums of shifted elements and squares.
  struct Shifted {
    Operand is_long, shift, squares, sums;
  };
  using Indexes = std::vector<const Var*>;

  // --- Which there are ---

  void Find(const Block& block, std::map<size_t, Columns>& by_means,
            std::map<size_t, Columns>& by_squares) {
    std::map<const Var*, size_t> made_at;
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      if (SumOf(*block.bindings[at]) != nullptr) {
        const std::optional<Columns> found = ColumnsOf(block, at, made_at);
        if (found && by_means.emplace(found->means, *found).second) by_squares.emplace(at, *found);
      }
      for (const Var* made : block.bindings[at]->results) made_at[made] = at;
    }
  }

  std::optional<Columns> ColumnsOf(const Block& block, size_t at,
                                   const std::map<const Var*, size_t>& made_at) {
    const Binding& nest = *block.bindings[at];
    const Binding& sum = *SumOf(nest);
    const Block* body = WithDifferences(block, sum, at, made_at);
    const Binding* product = MakerIn(*body, body->results[0]);
    if (product == nullptr || product->op != OpCode::kMul ||
        product->operands[0] != product->operands[1])
      return std::nullopt;
    const Binding* difference = MakerIn(*body, product->operands[0]);
    if (difference == nullptr || difference->op != OpCode::kSub) return std::nullopt;
    for (const size_t side : {1, 0}) {
      const Binding* center = MakerIn(*body, difference->operands[side]);
      if (center == nullptr || center->op != OpCode::kLoad || !IsOfNest(*center, nest)) continue;
      const Columns columns{MeansBehind(block, *center, nest, made_at), at, body,
                            difference->operands[1 - side], center};
      if (columns.means < at && MayBeEarlier(block, columns, made_at)) return columns;
    }
    return std::nullopt;
  }

  // True where what a binding reads, and what it has made of that, is the same until that place.
  bool StaysUntil(const Block& block, size_t made, size_t end) const {
    const Effects effects = EffectsOf(*block.bindings[made], roots_);
    if (!effects.IsPure()) return false;
    ir::VarSet kept = effects.reads;
    for (const Var* result : block.bindings[made]->results) {
      const ir::VarSet& own = roots_.Of(result);
      kept.insert(own.begin(), own.end());
    }
    for (size_t at = made + 1; at < end; ++at) {
      if (Intersects(EffectsOf(*block.bindings[at], roots_).writes, kept)) return false;
    }
    return true;
  }

  // The body of the sum at that place, with elements that maps make of few computed in it.
  const Block* WithDifferences(const Block& block, const Binding& sum, size_t at,
                               const std::map<const Var*, size_t>& made_at) {
    const Block& body = *sum.blocks[0];
    ir::Builder builder(arena());
    Substitution values;
    for (const Binding* b : body.bindings) {
      const auto made = b->op == OpCode::kLoad ? made_at.find(b->operands[0].var()) : made_at.end();
      const Binding* map = made == made_at.end() ? nullptr : block.bindings[made->second];
      const bool is_along =
          std::any_of(b->operands.begin() + 1, b->operands.end(), [&](auto& index) {
            return index.IsVar() &&
                   std::count(body.params.begin(), body.params.end(), index.var()) > 0;
          });
      const bool again = map != nullptr && is_along && map->op == OpCode::kImap &&
                         map->results.size() == 1 && IsPlain(*map->blocks[0]) &&
                         map->blocks[0]->bindings.size() <= kLongestElement &&
                         StaysUntil(block, made->second, at);
      if (!again) {
        values[b->results[0]] =
            ir::InlineBlock(builder, Block{{}, {b}, {Operand(b->results[0])}}, values)[0];
        continue;
      }
      std::vector<Operand> place(b->operands.begin() + 1, b->operands.end());
      for (Operand& index : place) {
        const auto other = index.IsVar() ? values.find(index.var()) : values.end();
        if (other != values.end()) index = other->second;
      }
      values[b->result()] = ir::InlineBlock(builder, *map->blocks[0], place)[0];
    }
    const auto result = values.find(body.results[0].var());
    return result == values.end() ? &body : builder.Finish(body.params, {result->second});
  }

  // True for a load at indexes of the nest alone.
  static bool IsOfNest(const Binding& load, const Binding& nest) {
    const Indexes& params = nest.blocks[0]->params;
    return std::all_of(load.operands.begin() + 1, load.operands.end(), [&](const Operand& at) {
      return at.IsConstant() || std::count(params.begin(), params.end(), at.var()) > 0;
    });
  }

  // Where the sums over the same elements stand that the centers are made of.
  static size_t MeansBehind(const Block& block, const Binding& center, const Binding& nest,
                            const std::map<const Var*, size_t>& made_at) {
    std::vector<const Var*> open{center.operands[0].var()};
    ir::VarSet seen;
    while (!open.empty()) {
      const auto made = made_at.find(open.back());
      open.pop_back();
      if (made == made_at.end() || !seen.insert(made->first).second) continue;
      const Binding& maker = *block.bindings[made->second];
      const Binding* sum = SumOf(maker);
      if (sum != nullptr && SameExtents(maker, nest) && SameExtents(*sum, *SumOf(nest)) &&
          sum->result()->type == SumOf(nest)->result()->type)
        return made->second;
      if (maker.op != OpCode::kImap || !IsPlain(*maker.blocks[0])) continue;
      for (const Var* value : ir::FreeVars(maker)) {
        if (value->type.IsArray()) open.push_back(value);
      }
    }
    return std::numeric_limits<size_t>::max();
  }

  // True where the elements are there before the means, are the same, and lie along the columns.
  bool MayBeEarlier(const Block& block, const Columns& columns,
                    const std::map<const Var*, size_t>& made_at) const {
    const Block element{
        columns.body->params, NeededBindings(*columns.body, {columns.element}), {columns.element}};
    const Binding& nest = *block.bindings[columns.squares];
    const auto is_late = [&](const Var* value) {
      const auto made = made_at.find(value);
      return made != made_at.end() && made->second >= columns.means;
    };
    const ir::VarSet needed = ir::FreeVars(element);
    if (std::any_of(needed.begin(), needed.end(), is_late)) return false;
    Effects effects = EffectsOf(element, roots_);
    if (!effects.IsPure()) return false;
    for (size_t at = columns.means; at < columns.squares; ++at) {
      const Effects other = EffectsOf(*block.bindings[at], roots_);
      if (other.may_fail || Conflict(other, effects)) return false;
    }
    const Var* last = nest.blocks[0]->params.back();
    return std::any_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
      return b->op == OpCode::kLoad && patterns_.LiesNext(*b, last);
    });
  }

  // --- Where the means are made ---

  Shifted Sum(const Binding& means, const Binding& nest, const Columns& columns) {
    const Binding &sum = *SumOf(means), &squares = *SumOf(nest);
    const DType dtype = sum.result()->type.dtype();
    const Operands extents = TermsOf(sum);
    Shifted shifted;
    shifted.is_long = builder().Scalar(OpCode::kGe, {Product(extents), Int(kFewestTerms)});
    const auto sampled = [&] {
      return Operands{Nest(means, [&](const Indexes& at) {
        const auto row_at = [&](const Operand& row) {
          return ElementAt(nest, columns, at, PlaceOf(row, extents));
        };
        const Operand first = row_at(Int(0));
        const Indexes row = NewIndexes(1);
        const Block* rest = BlockOf(row, [&] { return Operands{Minus(row_at(row[0]), first)}; });
        const Operand sum_of_rest =
            builder().EmitOne(OpCode::kIreduce, dtype, {Int(kSampledRows), sum.operands.back()},
                              sum.attrs, {rest, ir::CloneBlock(arena(), *sum.blocks[1])});
        return Operands{Plus(first, Times(sum_of_rest, Constant::Float(kShareOfRow, dtype)))};
      })[0]};
    };
    const auto zeros = [&] {
      return Operands{Nest(means, [&](auto&) { return Operands{ir::ZeroOf(dtype)}; })[0]};
    };
    const ir::Attributes likely{{Attr::kLikely, int64_t{1}}};
    shifted.shift = Choose(shifted.is_long, sampled, zeros, likely)[0];
    const auto shifted_element = [&](const Indexes& at, const Indexes& term) {
      const Operand element = ElementAt(nest, columns, at, {term.begin(), term.end()});
      return Minus(element, LoadAt(shifted.shift, at));
    };
    const Operands totals = Nest(means, [&](const Indexes& at) {
      Substitution own;
      for (size_t axis = 0; axis < at.size(); ++axis) own[means.blocks[0]->params[axis]] = at[axis];
      const Operand plain = NewSum(sum, [&](const Indexes& term) {
        Substitution values = own;
        for (size_t k = 0; k < term.size(); ++k) values[sum.blocks[0]->params[k]] = term[k];
        return Inline(*sum.blocks[0], std::move(values))[0];
      });
      const Operand of_squares = NewSum(squares, [&](const Indexes& term) {
        const Operand u = shifted_element(at, term);
        return Times(u, u);
      });
      const Operand of_elements =
          NewSum(squares, [&](const Indexes& term) { return shifted_element(at, term); });
      return Operands{plain, of_squares, of_elements};
    });
    Replace(means.result(), totals[0]);
    shifted.squares = totals[1];
    shifted.sums = totals[2];
    return shifted;
  }

  // --- In the place of the squares ---

  void Center(const Binding& nest, const Columns& columns, const Shifted& shifted) {
    const Binding& sum = *SumOf(nest);
    const DType dtype = sum.result()->type.dtype();
    const Operand count = builder().Cast(Product(TermsOf(sum)), dtype);
    struct Parts {
      Operand total, moved;
    };
    const auto parts = [&](const Indexes& at) {
      Substitution values;
      for (size_t axis = 0; axis < at.size(); ++axis)
        values[nest.blocks[0]->params[axis]] = at[axis];
      const Block load{{}, {columns.center}, {Operand(columns.center->result())}};
      const Operand e = Minus(LoadAt(shifted.shift, at), Inline(load, std::move(values))[0]);
      const Operand moved = Times(count, Times(e, e));
      const Operand twice = Times(Times(Constant::Float(2.0, dtype), e), LoadAt(shifted.sums, at));
      return Parts{Plus(Plus(LoadAt(shifted.squares, at), twice), moved), moved};
    };
    const Operand totals =
        Nest(nest, [&](const Indexes& at) { return Operands{parts(at).total}; })[0];
    const Operand all_near = AllOf(nest, [&](const Indexes& at) {
      const Parts of = parts(at);
      const Operand share = Times(Constant::Float(kMostShare, dtype), of.total);
      const Operand infinity = Constant::Float(std::numeric_limits<double>::infinity(), dtype);
      return And(builder().Scalar(OpCode::kLe, {of.moved, share}),
                 builder().Scalar(OpCode::kLt, {of.total, infinity}));
    });
    const auto as_written = [&] {
      return Operands{Nest(nest, [&](const Indexes& at) {
        Substitution own;
        for (size_t axis = 0; axis < at.size(); ++axis)
          own[nest.blocks[0]->params[axis]] = at[axis];
        return Operands{NewSum(sum, [&](const Indexes& term) {
          Substitution values = own;
          for (size_t k = 0; k < term.size(); ++k) values[columns.body->params[k]] = term[k];
          return Inline(*columns.body, std::move(values))[0];
        })};
      })[0]};
    };
    context_.Note(nest.span, "summed in the traversal that makes the mean", Topic::kSiblings,
                  Verdict::kDone);
    const ir::Attributes seldom{{Attr::kLikely, int64_t{1}}, {Attr::kRare, int64_t{1}}};
    const Operands squares = Choose(
        And(shifted.is_long, all_near), [&] { return Operands{totals}; }, as_written, seldom);
    Replace(nest.result(), squares[0]);
  }

  // --- Words ---

  Operands TermsOf(const Binding& sum) {
    return Apply(Operands(sum.operands.begin(), sum.operands.end() - 1));
  }
  Operand Times(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kMul, {a, b});
  }
  Operand Plus(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kAdd, {a, b});
  }
  Operand Minus(const Operand& a, const Operand& b) {
    return builder().Scalar(OpCode::kSub, {a, b});
  }
  Operand And(const Operand& a, const Operand& b) { return builder().Scalar(OpCode::kAnd, {a, b}); }

  Operand LoadAt(const Operand& array, const Indexes& at) {
    return builder().Load(array, {at.begin(), at.end()});
  }

  // One of 16 from all over the terms.
  Operands PlaceOf(const Operand& row, const Operands& extents) {
    const auto in_turn = [&](int64_t stride, int64_t first) {
      const Operand at = builder().Add(builder().Mul(row, Int(stride)), Int(first));
      return builder().Scalar(OpCode::kAnd, {at, Int(kSampledRows - 1)});
    };
    Operands place;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      // In another order along each axis, and not at one place of each part.
      const Operand part = in_turn(kStridesOfRows[axis], 0);
      const Operand within = in_turn(kStridesOfRows[axis] + 6, 3);
      const Operand of_parts = builder().Add(builder().Mul(part, Int(kSampledRows)), within);
      place.push_back(builder().Quotient(builder().Mul(extents[axis], of_parts),
                                         Int(kSampledRows * kSampledRows)));
    }
    return place;
  }

  Operand ElementAt(const Binding& nest, const Columns& columns, const Indexes& at,
                    const Operands& term) {
    Substitution values;
    for (size_t axis = 0; axis < at.size(); ++axis) values[nest.blocks[0]->params[axis]] = at[axis];
    for (size_t k = 0; k < term.size(); ++k) values[columns.body->params[k]] = term[k];
    const Block element{{}, NeededBindings(*columns.body, {columns.element}), {columns.element}};
    return Inline(element, std::move(values))[0];
  }

  Operands Inline(const Block& block, Substitution values) {
    const Block plain{{}, block.bindings, block.results};
    for (const Var* value : ir::FreeVars(plain)) values.emplace(value, Apply(Operand(value)));
    return ir::InlineBlock(builder(), plain, std::move(values));
  }

  // Arrays over the indexes of `nest`, each of the elements that are written.
  Operands Nest(const Binding& nest, const std::function<Operands(const Indexes&)>& element) {
    const Operands extents = Apply(nest.operands);
    Indexes at = NewIndexes(extents.size());
    std::vector<Operand> elements;
    const Block* block = BlockOf(at, [&] { return elements = element(at); });
    std::vector<const Var*> results;
    for (const Operand& each : elements)
      results.push_back(builder().NewVar(Type::Array(ir::DTypeOf(each), extents)));
    builder().Emit(OpCode::kImap, results, extents, {}, {block});
    return {results.begin(), results.end()};
  }

  // Whether it is so at all of them.
  Operand AllOf(const Binding& nest, const std::function<Operand(const Indexes&)>& element) {
    Operands operands = Apply(nest.operands);
    Indexes at = NewIndexes(operands.size());
    operands.push_back(Operand::Bool(true));
    const Block* block = BlockOf(at, [&] { return Operands{element(at)}; });
    return builder().EmitOne(OpCode::kIreduce, DType::kBool, operands, {},
                             {block, ir::CombineBlock(arena(), OpCode::kAnd, DType::kBool)});
  }

  Operand NewSum(const Binding& sum, const std::function<Operand(const Indexes&)>& element) {
    Indexes term = NewIndexes(RankOf(sum));
    Operands operands = TermsOf(sum);
    operands.push_back(sum.operands.back());
    const Block* block = BlockOf(term, [&] { return Operands{element(term)}; });
    return builder().EmitOne(OpCode::kIreduce, sum.result()->type, std::move(operands), sum.attrs,
                             {block, ir::CloneBlock(arena(), *sum.blocks[1])});
  }

  Indexes NewIndexes(size_t count) {
    Indexes made;
    for (size_t k = 0; k < count; ++k) made.push_back(builder().NewVar(DType::kI64, "i"));
    return made;
  }

  const Roots roots_;
  const AccessPatterns patterns_;
  Context& context_;
  bool in_nest_ = false;
};

}  // namespace

ir::Program ShiftColumnMoments(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ColumnShifter(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
